"""The joints that a coupling ties, on the links of a description."""

from __future__ import annotations

from .model import Combination, Coupling, Model


def carrying_joints(model: Model, link: str) -> list[str]:
    """The joints that carry a link and can move, from the link inwards."""
    names = []
    while (joint := model.joint_to(link)) is not None:
        names += [joint.name] if joint.nv else []
        link = joint.parent
    return names


def factors_of(model: Model, coupling: Coupling | Combination) -> list[tuple[str, float]]:
    """The joints of a coupling and their factors in its sum (whose offset is 0 between links)."""
    if isinstance(coupling, Combination):
        return list(coupling.factors)
    ends = coupling.successor, coupling.predecessor
    outer, inner = (carrying_joints(model, link) for link in ends)
    own = [(name, 1.0) for name in outer if name not in inner]
    return own + [(name, -coupling.ratio) for name in inner if name not in outer]
