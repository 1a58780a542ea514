"""What was understood of a robot: its parts, its freedoms, and what looks wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .model.model import Joint, Mimic
from .model.tree import WORLD
from .units import joint_unit
from .view.tree_text import tree_text

if TYPE_CHECKING:
    from .robot import Robot


@dataclass(frozen=True)
class JointReport:
    """A movable joint: limits in rad or m, rad/s or m/s, N m or N; None where unlimited."""

    name: str
    type: str
    parent: str
    child: str
    lower: float | None
    upper: float | None
    max_velocity: float | None
    max_effort: float | None
    damping: float
    friction: float
    mimic: Mimic | None

    @staticmethod
    def of(joint: Joint) -> JointReport:
        """What the description says about a joint."""
        limits = joint.limits
        return JointReport(
            name=joint.name,
            type=joint.type,
            parent=joint.parent,
            child=joint.child,
            lower=_finite(limits.lower),
            upper=_finite(limits.upper),
            max_velocity=_finite(limits.velocity),
            max_effort=_finite(limits.effort),
            damping=joint.damping,
            friction=joint.friction,
            mimic=joint.mimic,
        )

    def row(self) -> tuple[str, ...]:
        """The cells of the table."""
        unit = joint_unit(self.type)
        reach = "-"
        if self.lower is not None or self.upper is not None:
            reach = f"{_number(self.lower, '-inf')} .. {_number(self.upper, 'inf')} {unit}"
        follows = "-"
        if self.mimic is not None:
            factor = "" if self.mimic.multiplier == 1 else f"{self.mimic.multiplier:g} "
            follows = factor + self.mimic.joint
            if self.mimic.offset:
                follows += f" {'+' if self.mimic.offset > 0 else '-'} {abs(self.mimic.offset):g}"
        return (
            self.name, self.type, f"{self.parent} → {self.child}", reach,
            _number(self.max_velocity), _number(self.max_effort),
            _number(self.damping or None), _number(self.friction or None), follows,
        )  # fmt: skip


@dataclass(frozen=True)
class LoopReport:
    """A closing joint between two links of the tree."""

    name: str
    type: str
    predecessor: str
    successor: str


HEADER = (
    "joint", "type", "parent → child", "range", "max velocity", "max effort", "damping", "friction",
    "follows",
)  # fmt: skip


@dataclass(frozen=True)
class Report:
    """What was understood of a robot; `str(report)` is for people, `to_dict()` for programs.

    Attributes
    ----------
    name, source, root : of the description.
    floating_base : whether the root link moves freely.
    gravity : (3,) m/s^2.
    links, moving_bodies : numbers of links, and of bodies after fixed joints were lumped.
    moving_mass : kg, of all that moves.
    mobility : number of freedoms, nv.
    nq, nv : numbers of coordinates.
    joints : the movable ones, in document order.
    fixed_joints : number of joints that do not move.
    independent, dependent, actuated : joint names.
    closed_loops, loops : number of them, and the joints that close them.
    massless_links : links that can move without moving mass.
    tree : a picture in characters.
    warnings : what looks wrong but could be computed.
    """

    name: str
    source: str
    root: str
    floating_base: bool
    gravity: tuple[float, float, float]
    links: int
    moving_bodies: int
    moving_mass: float
    mobility: int
    nq: int
    nv: int
    joints: tuple[JointReport, ...]
    fixed_joints: int
    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    actuated: tuple[str, ...]
    closed_loops: int
    loops: tuple[LoopReport, ...]
    massless_links: tuple[str, ...]
    tree: str
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        x, y, z = self.gravity
        base = "moves freely in the world" if self.floating_base else "is fixed to the world"
        facts = [
            ("source", self.source),
            ("root", f"{self.root}, which {base}"),
            ("gravity", f"({x:g}, {y:g}, {z:g}) m/s^2"),
            ("links", f"{self.links}, in {self.moving_bodies} moving bodies"),
            ("moving mass", f"{self.moving_mass:.6g} kg"),
            ("joints", f"{len(self.joints)} movable, {self.fixed_joints} fixed"),
            ("closed loops", str(self.closed_loops)),
            ("mobility", f"{self.mobility} (nq {self.nq}, nv {self.nv})"),
            ("independent", ", ".join(self.independent) or "-"),
            ("dependent", ", ".join(self.dependent) or "-"),
            ("actuated", ", ".join(self.actuated) or "-"),
            ("massless", ", ".join(self.massless_links) or "-"),
        ]
        width = max(len(name) for name, _ in facts)
        parts = ["\n".join([self.name, *(f"  {name:{width}}  {text}" for name, text in facts)])]
        if self.joints:
            parts.append(_table([HEADER, *(joint.row() for joint in self.joints)]))
        closing = [
            f"loop {one.name} ({one.type}): {one.predecessor} ↔ {one.successor}"
            for one in self.loops
        ]
        parts.append("\n".join([self.tree, *closing]))
        if self.warnings:
            parts.append("\n".join(f"warning: {text}" for text in self.warnings))
        return "\n\n".join(parts)


def report(robot: Robot) -> Report:
    """Say what was understood of a robot."""
    model, tree = robot.model, robot._system.tree
    joints = tuple(JointReport.of(joint) for joint in model.joints if joint.nv)
    moving = {index for index, _ in tree.frames.values() if index != WORLD}
    x, y, z = robot.gravity.tolist()
    return Report(
        name=model.name,
        source=model.source,
        root=model.root,
        floating_base=robot.floating_base,
        gravity=(x, y, z),
        links=len(model.links),
        moving_bodies=len(moving),
        moving_mass=sum(body.inertia.mass for body in tree.bodies),
        mobility=robot.nv,
        nq=robot.nq,
        nv=robot.nv,
        joints=joints,
        fixed_joints=len(model.joints) - len(joints),
        independent=robot.independent_joints,
        dependent=robot.dependent_joints,
        actuated=robot.actuated_joints,
        closed_loops=len(model.loops),
        loops=tuple(
            LoopReport(one.name, one.type, one.predecessor, one.successor) for one in model.loops
        ),
        massless_links=robot.massless_links,
        tree=tree_text(model),
        warnings=robot.warnings,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _number(value: float | None, missing: str = "-") -> str:
    return missing if value is None else f"{value:.5g}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells in columns, the first row underlined."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])
