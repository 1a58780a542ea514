"""The parts of a robot's report: joints, loops, couplings, and the tree of its links."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..model.model import Joint, Mimic, Model
from ..units import joint_unit
from .core import Core

if TYPE_CHECKING:
    from ..assembly.assembly import Assembly

CLOSED_FORM, LINEAR, NEWTON = "closed form", "linear", "Newton's method"
"""How the positions of dependent joints are found."""


@dataclass(frozen=True)
class JointReport:
    """A movable joint: limits in rad or m, rad/s or m/s, N m or N; None where unlimited.

    home : its position (rad or m) where the loops were closed; None where it has several.
    """

    name: str
    type: str
    parent: str
    child: str
    independent: bool
    actuated: bool
    home: float | None
    lower: float | None
    upper: float | None
    max_velocity: float | None
    max_effort: float | None
    damping: float
    friction: float
    armature: float
    spring_stiffness: float
    mimic: Mimic | None

    @staticmethod
    def of(robot: Core, joint: Joint) -> JointReport:
        """The report on a joint of a robot."""
        limits = joint.limits
        return JointReport(
            name=joint.name,
            type=joint.type,
            parent=joint.parent,
            child=joint.child,
            independent=joint.name in robot.independent_joints,
            actuated=joint.name in robot.actuated_joints,
            home=robot.home.get(joint.name),
            lower=_finite(limits.lower),
            upper=_finite(limits.upper),
            max_velocity=_finite(limits.velocity),
            max_effort=_finite(limits.effort),
            damping=joint.damping,
            friction=joint.friction,
            armature=joint.armature,
            spring_stiffness=joint.spring_stiffness,
            mimic=joint.mimic,
        )

    def row(self, plain: bool) -> dict[str, str]:
        """The cells of the table; `plain`: all joints are independent and actuated."""
        unit = joint_unit(self.type)
        reach = ""
        if self.lower is not None or self.upper is not None:
            reach = f"{_number(self.lower, '-inf')} .. {_number(self.upper, 'inf')} {unit}"
        follows = ""
        if self.mimic is not None:
            factor = "" if self.mimic.multiplier == 1 else f"{self.mimic.multiplier:g} "
            follows = factor + self.mimic.joint
            if self.mimic.offset:
                follows += f" {'+' if self.mimic.offset > 0 else '-'} {abs(self.mimic.offset):g}"
        role = "independent" if self.independent else "dependent"
        if self.actuated:
            role += ", actuated"
        return {
            "joint": self.name,
            "type": self.type,
            "role": "" if role == "independent, actuated" and plain else role,
            "home": "" if plain or self.home is None else _number(round(self.home, 12) + 0.0),
            "range": reach,
            "max velocity": _number(self.max_velocity),
            "max effort": _number(self.max_effort),
            "damping": _number(self.damping or None),
            "friction": _number(self.friction or None),
            "armature": _number(self.armature or None),
            "spring": _number(self.spring_stiffness or None),
            "follows": follows,
        }


@dataclass(frozen=True)
class LoopReport:
    """A closing joint between two links of the tree, and the tree's joints around the loop."""

    name: str
    type: str
    predecessor: str
    successor: str
    joints: tuple[str, ...]

    def row(self) -> dict[str, str]:
        """The cells of the table."""
        return {
            "loop": self.name,
            "type": self.type,
            "closes": f"{self.predecessor} ↔ {self.successor}",
            "joints around it": ", ".join(self.joints),
        }


@dataclass(frozen=True)
class CouplingReport:
    """A tie between joints: sum factor position + offset = 0 (rad or m).

    powers : coefficients of what squares, cubes and so on of positions add to the sum.
    laws : what laws of motion of positions add, in words.
    """

    name: str
    factors: dict[str, float]
    offset: float
    powers: dict[str, tuple[float, ...]] = field(default_factory=dict)
    laws: tuple[str, ...] = ()

    def row(self) -> dict[str, str]:
        """The cells of the table."""
        terms = [(factor, joint) for joint, factor in self.factors.items() if factor]
        for joint, more in self.powers.items():
            terms += [(one, f"{joint}^{k}") for k, one in enumerate(more, start=2) if one]
        words = ""
        for factor, joint in [*terms, *([(self.offset, "")] if self.offset else [])]:
            size = "" if joint and abs(factor) == 1 else f"{abs(factor):g} "
            words += f" {'-' if factor < 0 else '+'} {size}{joint}".rstrip()
        words += "".join(f" + {law}" for law in self.laws)
        return {"coupling": self.name, "equation": words.removeprefix(" + ").strip() + " = 0"}


@dataclass(frozen=True)
class ClusterReport:
    """Joints that loops and couplings move together.

    Attributes
    ----------
    constraints : names of its loops and couplings.
    links : that its joints move.
    joints, independent, dependent : names.
    rows, rank, redundant : constraint rows, how many of them count, and how many repeat others.
    mobility : freedoms that are left.
    positions : how the dependent ones are found: "closed form", "linear", "Newton's method".
    gap : largest residual of the rows at home (m, or sine of an angle).
    """

    constraints: tuple[str, ...]
    links: tuple[str, ...]
    joints: tuple[str, ...]
    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    rows: int
    rank: int
    redundant: int
    mobility: int
    positions: str
    gap: float

    @staticmethod
    def of(robot: Core, assembly: Assembly) -> ClusterReport:
        """The report on a constrained cluster of a robot."""
        linkage, tree = assembly.linkage, robot.system.tree
        cluster = linkage.cluster
        joints = [tree.bodies[body].joint for body in cluster.coupled]
        positions = CLOSED_FORM if linkage.closed_form is not None else NEWTON
        (residual,) = robot.system.residuals[linkage](assembly.home)

        def named(places: Sequence[int]) -> tuple[str, ...]:
            found = {joints[place] for place in places}
            return tuple(name for name in robot.joint_names if name in found)

        return ClusterReport(
            constraints=(
                *(loop.name for loop in cluster.closures),
                *(gear.name for gear in cluster.gears),
            ),
            links=tuple(
                link.name
                for link in robot.model.links
                if tree.frames[link.name][0] in cluster.bodies
            ),
            joints=named(range(len(joints))),
            independent=named(linkage.independent),
            dependent=named(linkage.dependent),
            rows=assembly.row_count,
            rank=assembly.rank,
            redundant=assembly.row_count - assembly.rank,
            mobility=len(linkage.independent),
            positions=LINEAR if linkage.linear else positions,
            gap=float(np.abs(residual).max(initial=0.0)),
        )

    def row(self) -> dict[str, str]:
        """The cells of the table."""
        return {
            "cluster": ", ".join(self.constraints),
            "joints": f"{len(self.joints)}",
            "rows": f"{self.rows}",
            "rank": f"{self.rank}",
            "redundant": f"{self.redundant}",
            "mobility": f"{self.mobility}",
            "independent": ", ".join(self.independent),
            "positions by": self.positions,
            "gap at home": f"{self.gap:.1e}",
        }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _number(value: float | None, missing: str = "") -> str:
    return missing if value is None else f"{value:.5g}"


def tree_text(model: Model) -> str:
    """The links from the root on, one a line, each after the joint that carries it.

    A link that a loop ties to another one says so after its name.

    Examples
    --------
    >>> from mbdyn_ros.model import Joint, Link, Loop, Model
    >>> links = (Link("base"), Link("arm"), Link("tool"), Link("lamp"))
    >>> joints = (Joint("turn", "revolute", "base", "arm"), Joint("grip", "fixed", "arm", "tool"),
    ...           Joint("lit", "fixed", "base", "lamp"))
    >>> loops = (Loop("wire", "spherical", "lamp", "tool"),)
    >>> print(tree_text(Model("demo", "base", links, joints, loops=loops)))
    base
    ├─ turn (revolute) → arm
    │  └─ grip (fixed) → tool
    └─ lit (fixed) → lamp ⇢ tool (wire, spherical)
    """
    carried: dict[str, list[Joint]] = {}
    for joint in model.joints:
        carried.setdefault(joint.parent, []).append(joint)
    lines = [_link(model, model.root)]
    # a stack, not a recursion: descriptions may be thousands of links deep
    stack = [("", joint, k == 0) for k, joint in enumerate(reversed(carried.get(model.root, [])))]
    while stack:
        indent, joint, last = stack.pop()
        branch = "└─ " if last else "├─ "
        lines.append(f"{indent}{branch}{joint.name} ({joint.type}) → {_link(model, joint.child)}")
        indent += "   " if last else "│  "
        heirs = reversed(carried.get(joint.child, []))
        stack += [(indent, heir, k == 0) for k, heir in enumerate(heirs)]
    return "\n".join(lines)


def _link(model: Model, name: str) -> str:
    inertia = model.link(name).inertia
    mass = f", {inertia.mass:.4g} kg" if inertia is not None and inertia.mass else ""
    ties = [
        f" ⇢ {loop.successor} ({loop.name}, {loop.type})"
        for loop in model.loops
        if loop.predecessor == name
    ]
    return name + mass + "".join(ties)
