"""Numbers of a robot that stay variable: symbols in its equations, inputs of its programs.

All others are folded. Inertias add up in the equations of motion, so those that stay fixed are
regrouped as ever (`equations.regrouping`), and the variable ones are added where they are.

Where a loop has more rows than it needs, as one in a plane, lengths that would take it out of that
cannot be closed: the change r_p dp of its residual lies in no r_x dx of its joints.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from ..model.inertia import PARAMETERS, RigidInertia
from ..prepare.tree import COMPONENTS, ENDS, Body, Tree
from ..program.symbols import serialized
from .algebra.spatial import SX, Transform, constant, symmetric_of
from .geometry import placed, solved, symbolic_origin
from .loops.linkage import Linkage, rows_at_positions
from .loops.planar_linkage import Lengths
from .regrouping import regrouped
from .system import System
from .tree.composite_body import CompositeInertia

GRAVITY, FRICTION, ARMATURE, SPRINGS = "gravity", "friction", "armature", "springs"
"""Names of what may vary besides the inertias of links."""

AT_JOINTS = {
    FRICTION: ("damping", "friction"),
    ARMATURE: ("armature",),
    SPRINGS: ("spring_stiffness", "spring_reference"),
}
"""Numbers of `Joint` that vary together, at all joints that can have them."""

UNITS = {
    "damping": "N m s or N s/m",
    "friction": "N m or N",
    "armature": "kg m^2 or kg",
    "spring_stiffness": "N m/rad or N/m",
    "spring_reference": "rad or m",
}
"""Their units, for a turning and for a sliding joint."""

LENGTH_OR_ANGLE = dict(zip(COMPONENTS, ["m"] * 3 + ["rad"] * 3, strict=True))
"""Units of the components of an origin."""


NEARBY = 2
"""Number of values of the parameters, besides the described ones, where expressions differ."""


@dataclass(frozen=True)
class ParameterLayout:
    """Which numbers are variable; the parameters are theirs, in this order.

    links : ten each, as in `tree.regressor`. gravity : whether its three are. joints : those of
    `AT_JOINTS` that are, and the joints that have them. origins : those of `System.origins` of
    which some `COMPONENTS` are, and which.
    """

    links: tuple[str, ...] = ()
    gravity: bool = False
    joints: tuple[tuple[str, tuple[str, ...]], ...] = ()
    origins: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __bool__(self) -> bool:
        return self.size > 0

    def has(self, name: str) -> bool:
        """Whether the link of that name, gravity, what is at joints or a number of an origin is
        variable."""
        if name == GRAVITY:
            return self.gravity
        if name in self._of_origins:
            return True
        return name in dict(self.joints) if name in AT_JOINTS else name in self.links

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return self.of_gravity.stop + len(self._at_joints) + len(self._of_origins)

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each."""
        return (
            *(f"{link}/{name}" for link in self.links for name in PARAMETERS),
            *(f"gravity/{axis}" for axis in "xyz" if self.gravity),
            *(f"{joint}/{name}" for joint, name in self._at_joints),
            *self._of_origins,
        )

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each."""
        return (
            *(unit for _ in self.links for unit in ("kg", *["kg m"] * 3, *["kg m^2"] * 6)),
            *["m/s^2"] * 3 * self.gravity,
            *(UNITS[name] for _, name in self._at_joints),
            *(LENGTH_OR_ANGLE[name.rpartition("/")[2]] for name in self._of_origins),
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

    @functools.cached_property
    def _at_joints(self) -> tuple[tuple[str, str], ...]:
        """Joint and number, one for each parameter after gravity."""
        return tuple(
            (joint, name)
            for group, joints in self.joints
            for joint in joints
            for name in AT_JOINTS[group]
        )

    @functools.cached_property
    def _of_origins(self) -> tuple[str, ...]:
        """A name for each number of an origin."""
        return tuple(f"{origin}/{one}" for origin, chosen in self.origins for one in chosen)

    def of_origins(self, numbers: Any) -> dict[str, dict[str, Any]]:
        """By origin the numbers that vary, by component, out of those of all parameters."""
        start, found = self.size - len(self._of_origins), dict[str, dict[str, Any]]()
        for k, name in enumerate(self._of_origins, start):
            origin, _, component = name.rpartition("/")
            found.setdefault(origin, {})[component] = numbers[k]
        return found

    def at_joints(self, numbers: Any) -> dict[str, dict[str, Any]]:
        """By joint the numbers that vary, by name, out of those of all parameters."""
        found: dict[str, dict[str, Any]] = {}
        for k, (joint, name) in enumerate(self._at_joints, self.of_gravity.stop):
            found.setdefault(joint, {})[name] = numbers[k]
        return found


def without(system: System, layout: ParameterLayout) -> System:
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
    nothing = layout.at_joints([0.0] * layout.size)
    bodies = [replace(body, **nothing.get(body.joint, {})) for body in bodies]
    parts = {
        link: (index, RigidInertia.total([]) if link in layout.links else own)
        for link, (index, own) in tree.parts.items()
    }
    gravity = 0 * system.gravity if layout.gravity else system.gravity
    return replace(system, tree=replace(tree, bodies=tuple(bodies), parts=parts), gravity=gravity)


@serialized
def with_symbols(rest: System, layout: ParameterLayout) -> System:
    """The system `without` what is variable, and symbols (p, 1) for it."""
    symbols = SX.sym("parameters", layout.size)
    at = {}
    for name, chosen in layout.of_origins(symbols).items():
        origin = rest.origins[name]
        six = zip(COMPONENTS, origin.six.tolist(), strict=True)
        at[name] = symbolic_origin(origin, [chosen.get(one, number) for one, number in six])
    there = placed(rest, at) if at else rest
    if at:
        there = solved(there, rest, _lengths(rest, layout, symbols))

    def inertia(link: str) -> RigidInertia:
        pose, own = there.tree.frames[link][1], symbols[layout.of_link(link)]
        one = CompositeInertia(own[0], own[1:4], symmetric_of(own[4:]))
        rotation, shift = constant(pose.rotation), constant(pose.translation)
        turns = () if (rotation - SX.eye(3)).is_zero() else (rotation,)
        if turns or not shift.is_zero():
            one = one.to_parent(Transform(turns, shift))
        return one.rigid

    inertias = {link: inertia(link) for link in layout.links}
    at_joints = layout.at_joints(symbols)
    tree = _filled(there.tree, there.tree, inertias, at_joints)
    grouped = regrouped(tree) if at else regrouped(rest.tree)
    return replace(
        there,
        tree=tree,
        gravity=symbols[layout.of_gravity] if layout.gravity else rest.gravity,  # type: ignore[arg-type]
        parameters=symbols,
        grouped=grouped if at else _filled(grouped, rest.tree, inertias, at_joints),
        known_by=f"{rest.digest()} {layout!r}",
    )


def _lengths(rest: System, layout: ParameterLayout, symbols: SX) -> Lengths:
    """The parameters with samples: their values as described, and others near them."""
    now = np.zeros(layout.size)
    of = layout.of_origins(range(layout.size))
    for name, chosen in of.items():
        six = dict(zip(COMPONENTS, rest.origins[name].six.tolist(), strict=True))
        for component, place in chosen.items():
            now[place] = six[component]
    near = np.random.default_rng(0).uniform(0.05, 0.15, (NEARBY, layout.size))
    return Lengths(symbols, np.vstack([now, now + near * (1 + np.abs(now))]).T)


def _filled(
    tree: Tree,
    frames: Tree,
    inertias: dict[str, RigidInertia],
    at_joints: Mapping[str, Mapping[str, Any]],
) -> Tree:
    """A tree with more inertia on the bodies of links, and other numbers at joints."""
    bodies: list[Body] = [replace(body, **at_joints.get(body.joint, {})) for body in tree.bodies]
    parts = dict(frames.parts)
    for link, own in inertias.items():
        index = parts[link][0]
        bodies[index] = replace(bodies[index], inertia=bodies[index].inertia + own)
        parts[link] = index, own
    return replace(tree, bodies=tuple(bodies), parts=parts)


UNFOLLOWED = 1e-6
"""Residual (m or rad per m or rad) that is left where a loop cannot follow."""


@serialized
def closable_numbers(system: System, linkage: Linkage) -> tuple[str, ...]:
    """The numbers of the origins of a linkage's joints and loop frames that its loops can follow,
    near home."""
    cluster = linkage.cluster
    joints = {system.tree.bodies[body].joint for body in cluster.bodies}
    frames = {f"{one.name}/{end}" for one in cluster.closures for end in ENDS}
    names = [name for name in system.origins if name in joints | frames]
    p = SX.sym("p", 6 * len(names))
    at = {
        name: symbolic_origin(system.origins[name], ca.vertsplit(p[6 * k : 6 * k + 6]))
        for k, name in enumerate(names)
    }
    place = system.linkages.index(linkage)
    there = placed(system, at)
    x, rows = rows_at_positions(there.tree, there.linkages[place].cluster)
    changes = ca.Function(
        "changes", [x, p], [ca.jacobian(rows.residual, one) for one in (x, p)]
    )  # fmt: skip
    now = np.concatenate([system.origins[name].six for name in names])
    by_joints, by_numbers = map(np.array, changes(system.home[system.rows(linkage)], now))
    followed = by_joints @ np.linalg.lstsq(by_joints, by_numbers, rcond=None)[0]
    gap = np.linalg.norm(by_numbers - followed, axis=0)
    numbers = (f"{name}/{one}" for name in names for one in COMPONENTS)
    return tuple(one for one, left in zip(numbers, gap, strict=True) if left < UNFOLLOWED)
