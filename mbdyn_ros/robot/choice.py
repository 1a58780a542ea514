"""The choice this library makes where a description leaves one open, told once in words."""

from __future__ import annotations

from ..equations.system import System
from ..model.model import Model


def independent_by(model: Model, system: System) -> str:
    """Who says which joints are independent; see `Report.independent_by`."""
    coordinates = system.coordinates
    if model.independent is not None:
        return "description"
    if not coordinates.dependent:
        return "all"
    if all(model.joint(name).mimic is not None for name in coordinates.dependent):
        return "description"
    if model.actuated is not None and set(coordinates.independent) <= set(model.actuated):
        return "actuated"
    if set(_in_loops(system)) <= {*model.driven, *(model.actuated or ())}:
        return "driven"
    return "chosen"


def choice_text(model: Model, system: System) -> str:
    """Words about a choice of independent joints that nobody made; empty where there is none."""
    if independent_by(model, system) != "chosen":
        return ""
    chosen = _in_loops(system)
    known = {*model.driven, *(model.actuated or ())}
    ours = ", ".join(name for name in chosen if name not in known)
    efforts = ", and efforts act at them" if model.actuated is None else ""
    return (
        f"{model.source}: nothing says which joints of its loops are independent. Chosen "
        f"here: {ours}; q, v and a count them{efforts}. To choose otherwise, write independent: "
        f"[{', '.join(system.coordinates.independent)}] with the joints you mean in a side-car "
        'file (mechanism), or independent="true" at these joints of the URDF'
    )


def _in_loops(system: System) -> list[str]:
    """The independent joints that stand in closed loops or gears, in order."""
    bodies = system.tree.bodies
    coupled = {bodies[k].joint for one in system.linkages for k in one.cluster.coupled}
    return [name for name in system.coordinates.independent if name in coupled]
