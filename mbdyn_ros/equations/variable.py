"""Numbers of a robot that stay variable: symbols in its equations, inputs of its programs.

All others are folded. Inertias add up in the equations of motion, so those that stay fixed are
regrouped as ever (`model.regrouping`), and the variable ones are added where they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from ..array import Array
from ..model.pose import Pose
from ..model.regrouping import regrouped
from ..model.tree import Body, RigidInertia, Tree
from ..program.symbols import alone
from .algebra.spatial import SX, Transform, constant, symmetric_of
from .system import System
from .tree.composite_body import CompositeInertia
from .tree.regressor import PARAMETERS

GRAVITY, FRICTION = "gravity", "friction"
"""Names of what may vary besides the inertias of links."""


@dataclass(frozen=True)
class Layout:
    """Which numbers are variable; the parameters are theirs, in this order.

    links : ten each, as in `tree.regressor`. gravity : whether its three are. joints : two each,
    damping and dry friction.
    """

    links: tuple[str, ...] = ()
    gravity: bool = False
    joints: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.size > 0

    def has(self, name: str) -> bool:
        """Whether the link of that name, or "gravity" or "friction", is variable."""
        others = {GRAVITY: self.gravity, FRICTION: bool(self.joints)}
        return others[name] if name in others else name in self.links

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return 10 * len(self.links) + 3 * self.gravity + 2 * len(self.joints)

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each."""
        return (
            *(f"{link}/{name}" for link in self.links for name in PARAMETERS),
            *(f"gravity/{axis}" for axis in "xyz" if self.gravity),
            *(f"{joint}/{name}" for joint in self.joints for name in ("damping", "friction")),
        )

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each; those of friction for a turning and for a sliding joint."""
        return (
            *(unit for _ in self.links for unit in ("kg", *["kg m"] * 3, *["kg m^2"] * 6)),
            *["m/s^2"] * 3 * self.gravity,
            *("N m s or N s/m", "N m or N") * len(self.joints),
        )

    def of_link(self, link: str) -> slice:
        """Where the parameters of a link stand."""
        start = 10 * self.links.index(link)
        return slice(start, start + 10)

    @property
    def of_gravity(self) -> slice:
        """Where gravity stands."""
        start = 10 * len(self.links)
        return slice(start, start + 3 * self.gravity)

    def of_joint(self, joint: str) -> slice:
        """Where damping and friction of a joint stand."""
        start = self.of_gravity.stop + 2 * self.joints.index(joint)
        return slice(start, start + 2)


def without(system: System, layout: Layout) -> System:
    """The system where all that is variable is zero, in numbers."""
    tree = system.tree
    left: list[list[RigidInertia]] = [[] for _ in tree.bodies]
    for link, (index, own) in tree.parts.items():
        if link not in layout.links:
            left[index].append(own)
    changed = {tree.parts[link][0] for link in layout.links}
    bodies = [
        replace(body, inertia=RigidInertia.total(left[k])) if k in changed else body
        for k, body in enumerate(tree.bodies)
    ]
    if layout.joints:
        bodies = [replace(body, damping=0.0, friction=0.0) for body in bodies]
    parts = {
        link: (index, RigidInertia.total([]) if link in layout.links else own)
        for link, (index, own) in tree.parts.items()
    }
    gravity = 0 * system.gravity if layout.gravity else system.gravity
    return replace(system, tree=replace(tree, bodies=tuple(bodies), parts=parts), gravity=gravity)


def with_numbers(rest: System, layout: Layout, values: Array) -> System:
    """The system `without` what is variable, and these numbers (p,) for it."""

    def inertia(link: str) -> RigidInertia:
        return standard_inertia(rest.tree.frames[link][1], values[layout.of_link(link)])

    def friction(joint: str) -> tuple[float, float]:
        damping, dry = values[layout.of_joint(joint)].tolist()
        return damping, dry

    inertias = {link: inertia(link) for link in layout.links}
    frictions = {joint: friction(joint) for joint in layout.joints}
    tree = _filled(rest.tree, rest.tree, inertias, frictions)
    gravity = values[layout.of_gravity] if layout.gravity else rest.gravity
    return replace(rest, tree=tree, gravity=gravity)


@alone
def with_symbols(rest: System, layout: Layout) -> System:
    """The same with symbols for numbers."""
    symbols = SX.sym("parameters", layout.size)

    def inertia(link: str) -> RigidInertia:
        pose, own = rest.tree.frames[link][1], symbols[layout.of_link(link)]
        one = CompositeInertia(own[0], own[1:4], symmetric_of(own[4:]))
        turns = () if np.array_equal(pose.rotation, np.eye(3)) else (constant(pose.rotation),)
        if turns or pose.translation.any():
            one = one.inward(Transform(turns, constant(pose.translation)))
        return RigidInertia(one.mass, one.first, one.second)  # type: ignore[arg-type]

    def friction(joint: str) -> tuple[SX, SX]:
        return tuple(ca.vertsplit(symbols[layout.of_joint(joint)]))  # type: ignore[return-value]

    inertias = {link: inertia(link) for link in layout.links}
    frictions = {joint: friction(joint) for joint in layout.joints}
    return replace(
        rest,
        tree=_filled(rest.tree, rest.tree, inertias, frictions),
        gravity=symbols[layout.of_gravity] if layout.gravity else rest.gravity,  # type: ignore[arg-type]
        parameters=symbols,
        grouped=_filled(regrouped(rest.tree), rest.tree, inertias, frictions),
        known_by=f"{rest.digest()} {layout!r}",
    )


def standard_inertia(pose: Pose, own: Array) -> RigidInertia:
    """The inertia about a body's origin of a link that `pose` places in it, by its ten numbers."""
    mass, turn, p = float(own[0]), pose.rotation, pose.translation
    first = turn @ own[1:4]
    xx, xy, xz, yy, yz, zz = own[4:10]
    second = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
    arms = np.outer(first, p)
    second = second + (2 * first @ p + mass * p @ p) * np.eye(3)
    second -= arms + arms.T + mass * np.outer(p, p)
    return RigidInertia(mass, first + mass * p, second)


def _filled(
    tree: Tree,
    frames: Tree,
    inertias: dict[str, RigidInertia],
    frictions: Mapping[str, tuple[Any, Any]],
) -> Tree:
    """A tree with more inertia on the bodies of links, and friction at joints."""
    bodies: list[Body] = [
        replace(body, damping=frictions[body.joint][0], friction=frictions[body.joint][1])
        if body.joint in frictions
        else body
        for body in tree.bodies
    ]
    parts = dict(frames.parts)
    for link, own in inertias.items():
        index = parts[link][0]
        bodies[index] = replace(bodies[index], inertia=bodies[index].inertia + own)
        parts[link] = index, own
    return replace(tree, bodies=tuple(bodies), parts=parts)
