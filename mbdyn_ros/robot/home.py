"""Home and the independent joints: what a description leaves open, in words.

Where loops were closed, the other ways that were seen, limits that were passed, and who chose q.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..array import Array
from ..assembly.closure_gap import excess
from ..equations.system import System
from ..errors import InputError, suggestion
from ..model.model import Model
from ..units import joint_unit

if TYPE_CHECKING:
    from ..assembly.assembly import Assembly

NO_STATE = "a Robot holds no state: pass {0} to its methods, or step it with mbdyn_ros.Stepper"
INSTEAD = {
    "gravity": "call robot.set_gravity([x, y, z])",
    "home": "use robot.with_home({joint: position}) or load(..., home={joint: position})",
    "home_position": "use robot.with_home({joint: position}) or load(..., home={joint: position})",
    "home_velocity": "give velocities to set_state or simulate",
    "floating_base": "use load(..., floating_base=True or False)",
    "model": "load the other description",
    "joint_names": "use robot.renamed(joints={old: new})",
    "links": "use robot.renamed(links={old: new})",
    "independent_joints": "use robot.with_independent(joints, home)",
    "dependent_joints": "use robot.with_independent(joints, home)",
    "actuated_joints": "list them under `actuated` in a side-car file: load(..., mechanism=file)",
    "nq": "it follows from the joints; robot.locked({joint: position}) removes some",
    "nv": "it follows from the joints; robot.locked({joint: position}) removes some",
    "position_limits": "use robot.with_joint(joint, lower=..., upper=...)",
    "velocity_limits": "use robot.with_joint(joint, velocity=...)",
    "effort_limits": "use robot.with_joint(joint, effort=...)",
    "total_mass": "call robot.set_inertia(link, mass, com, inertia) or robot.set_payload",
    "q": NO_STATE.format("q"),
    "v": NO_STATE.format("v"),
    "a": NO_STATE.format("a"),
    "effort": NO_STATE.format("the efforts"),
}
"""The remedy by the name of the attribute."""

INTERNAL = frozenset(
    {"calls", "require_mass", "require_single", "say_choice", "system", "walked_joints"}
)
"""Attributes for the rest of the library, which `dir` leaves out, as deprecated names."""


def assignment_refusal(name: str, known: Collection[str]) -> str:
    """The message for an assignment to robot.`name`; `known` are the attributes of the class."""
    remedy = INSTEAD.get(name)
    if remedy is None:
        remedy = "a Robot does not change by assignment; its set_... and with... methods change it"
        if name not in known:
            remedy += suggestion(name, [*INSTEAD, *known])
    return f"robot.{name} cannot be set: {remedy}"


EARTH = (0.0, 0.0, -9.81)
"""Gravity (m/s^2) where a description has none."""


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
    """A remark on independent joints that were chosen by default; else empty."""
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
    """The independent joints in closed loops or gears, in order."""
    bodies = system.tree.bodies
    coupled = {bodies[k].joint for one in system.linkages for k in one.cluster.coupled}
    return [name for name in system.coordinates.independent if name in coupled]


class Home(dict[str, float]):
    """Positions by joint name that cannot be changed in place: nothing would be computed with them.

    Raises
    ------
    InputError
        They are changed.
    """

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise InputError(f"robot.home cannot be changed in place: {INSTEAD['home']}")

    __setitem__ = __delitem__ = __ior__ = _refuse  # type: ignore[assignment]
    clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Home], tuple[dict[str, float]]]:
        return Home, (dict(self),)


LISTED_WAYS = 3
"""Most other ways to close a loop, and joints in each, that are listed."""


def named_home(model: Model, name: str) -> Mapping[str, float]:
    """The configuration of that name that the files give.

    Raises
    ------
    InputError
        They give none of that name; the message lists those that there are.
    """
    if name not in model.homes:
        known = ", ".join(model.homes) or "none; give positions by joint name"
        raise InputError(
            f"{model.source}: there is no home {name!r}{suggestion(name, model.homes)}; the files "
            f"name {known}"
        )
    return model.homes[name]


def home_warnings(model: Model, system: System, assemblies: Sequence[Assembly]) -> Iterator[str]:
    """Warnings about the home configuration of every loop."""
    for assembly in assemblies:
        if assembly.others:
            yield _other_branches(model, system, assembly)
        if not assembly.linkage.linear:
            yield from _beyond_limits(model, system, assembly)


def _beyond_limits(model: Model, system: System, assembly: Assembly) -> Iterator[str]:
    """Words about joints that the closed loop has beyond their limits."""
    linkage = assembly.linkage
    for place in (*linkage.dependent, *linkage.independent):
        name = system.tree.bodies[linkage.cluster.coupled[place]].joint
        joint, x = model.joint(name), float(assembly.home[place])
        if joint.nv != 1:
            continue
        if over := excess(x, joint.limits.lower, joint.limits.upper):
            unit = joint_unit(joint.type)
            why = "no closing within the limits was found"
            if place in linkage.independent:
                why = "home puts it there"
            yield (
                f"{model.source}: loop {linkage.cluster.name!r} is closed at home with joint "
                f"{name!r} at {x:.4g} {unit}, {abs(over):.3g} {unit} beyond its limit "
                f"{x - over:g}: {why}. Check the frames of the loop, the limit, or home"
            )


def _other_branches(model: Model, system: System, assembly: Assembly) -> str:
    """Words about other ways to close a loop than the one that home was found on."""
    bodies, cluster = system.tree.bodies, assembly.linkage.cluster
    names = [bodies[body].label for body in cluster.coupled]

    def places(x: Array, joints: list[int]) -> str:
        return ", ".join(f"{names[k]} = {x[k]:.4g}" for k in joints)

    seen = []
    for other in assembly.others[:LISTED_WAYS]:
        differing = np.argsort(-np.abs(other - assembly.home), kind="stable")[:LISTED_WAYS].tolist()
        here = places(assembly.home, differing)
        seen.append(f"{places(other, differing)} (instead of {here})")
    more = len(assembly.others) - len(seen)
    return (
        f"{model.source}: loop {cluster.name!r} closes in more than one way, and no home "
        f"says which is meant: the nearest to zero is taken. Also seen: {'; '.join(seen)}"
        f"{f'; and {more} more' if more else ''}. Name such positions in home to have another"
    )
