"""What was understood of a robot: its parts, its freedoms, and what looks wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.model import Joint, Mimic
from ..model.tree import WORLD
from ..model.tree_text import tree_text
from ..units import joint_unit

if TYPE_CHECKING:
    from ..equations.loops.assembly import Assembly
    from .robot import Robot


INDEPENDENT_BY = {
    "description": "as the description says",
    "actuated": "the actuated ones",
    "chosen": "chosen here: the description names none",
    "all": "all",
}
"""Who says which joints are independent, and what people read of it."""

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
    mimic: Mimic | None

    @staticmethod
    def of(robot: Robot, joint: Joint) -> JointReport:
        """What the description says about a joint, and what became of it."""
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
    """A linear tie between joints: sum factor position + offset = 0 (rad or m)."""

    name: str
    factors: dict[str, float]
    offset: float

    def row(self) -> dict[str, str]:
        """The cells of the table."""
        terms = [(factor, joint) for joint, factor in self.factors.items()]
        words = ""
        for factor, joint in [*terms, *([(self.offset, "")] if self.offset else [])]:
            size = "" if joint and abs(factor) == 1 else f"{abs(factor):g} "
            words += f" {'-' if factor < 0 else '+'} {size}{joint}".rstrip()
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
    def of(robot: Robot, assembly: Assembly) -> ClusterReport:
        """What became of a constrained cluster."""
        linkage, tree = assembly.linkage, robot.system.tree
        cluster = linkage.cluster
        joints = [tree.bodies[body].joint for body in cluster.tied]
        positions = CLOSED_FORM if linkage.closed_form is not None else NEWTON
        residual = np.array(robot.system.residuals[linkage](assembly.home))

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
    independent_by : who says which are independent: "description", "actuated" (they are the
        actuated ones of the description), "chosen" (by this library), "all" (there is no choice).
    closed_loops, loops : number of them, and the joints that close them.
    couplings : gears and mimic joints.
    clusters : joints that loops and couplings move together.
    rows, rank, redundant : constraint rows of all clusters.
    home : position (rad or m) by joint name, with all loops closed.
    closure_gap : largest residual there (m, or sine of an angle).
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
    independent_by: str
    dependent: tuple[str, ...]
    actuated: tuple[str, ...]
    closed_loops: int
    loops: tuple[LoopReport, ...]
    couplings: tuple[CouplingReport, ...]
    clusters: tuple[ClusterReport, ...]
    rows: int
    rank: int
    redundant: int
    home: dict[str, float]
    closure_gap: float
    massless_links: tuple[str, ...]
    tree: str
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        facts = self._facts()
        width = max(len(name) for name, _ in facts)
        parts = ["\n".join([self.name, *(f"  {name:{width}}  {text}" for name, text in facts)])]
        plain = not self.dependent and self.actuated == self.independent
        tables: list[list[dict[str, str]]] = [
            [one.row(plain) for one in self.joints],
            [one.row() for one in self.loops],
            [one.row() for one in self.couplings],
            [one.row() for one in self.clusters],
        ]
        parts += [_table(rows) for rows in tables if rows]
        parts.append(self.tree)
        if self.warnings:
            parts.append("\n".join(f"warning: {text}" for text in self.warnings))
        return "\n\n".join(parts)

    def _facts(self) -> list[tuple[str, str]]:
        """The first lines: names and words."""
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
        ]
        if self.couplings:
            facts.append(("couplings", str(len(self.couplings))))
        if self.clusters:
            words = f"{self.rank} independent, {self.redundant} redundant"
            facts.append(("constraints", f"{self.rows}: {words}"))
        facts.append(("mobility", f"{self.mobility} (nq {self.nq}, nv {self.nv})"))
        why = f" ({INDEPENDENT_BY[self.independent_by]})" if self.clusters else ""
        facts.append(("independent", (", ".join(self.independent) or "-") + why))
        facts.append(("dependent", ", ".join(self.dependent) or "-"))
        same = self.actuated == self.independent and self.independent
        facts.append(
            ("actuated", "all independent ones" if same else ", ".join(self.actuated) or "-")
        )
        if self.massless_links:
            facts.append(("massless", ", ".join(self.massless_links)))
        return facts


def report(robot: Robot) -> Report:
    """Say what was understood of a robot."""
    model, tree = robot.model, robot.system.tree
    joints = tuple(JointReport.of(robot, joint) for joint in model.joints if joint.nv)
    clusters = tuple(ClusterReport.of(robot, one) for one in robot._assemblies)
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
        independent_by=_independent_by(robot),
        dependent=robot.dependent_joints,
        actuated=robot.actuated_joints,
        closed_loops=len(model.loops),
        loops=_loops(robot),
        couplings=_couplings(robot),
        clusters=clusters,
        rows=sum(one.rows for one in clusters),
        rank=sum(one.rank for one in clusters),
        redundant=sum(one.redundant for one in clusters),
        home=dict(robot.home),
        closure_gap=max((one.gap for one in clusters), default=0.0),
        massless_links=robot.massless_links,
        tree=tree_text(model),
        warnings=robot.warnings,
    )


def _independent_by(robot: Robot) -> str:
    """See `Report.independent_by`."""
    if robot.model.independent is not None:
        return "description"
    if not robot.dependent_joints:
        return "all"
    if all(robot.model.joint(name).mimic is not None for name in robot.dependent_joints):
        return "description"
    actuated = robot.model.actuated
    if actuated is not None and set(robot.independent_joints) <= set(actuated):
        return "actuated"
    return "chosen"


def _loops(robot: Robot) -> tuple[LoopReport, ...]:
    """The loops in document order; one between links of one body has no joints around it."""
    bodies = robot.system.tree.bodies
    around = {
        closure.name: tuple(dict.fromkeys(bodies[body].joint for body in closure.bodies))
        for cluster in robot.system.clusters
        for closure in cluster.closures
    }
    return tuple(
        LoopReport(one.name, one.type, one.predecessor, one.successor, around.get(one.name, ()))
        for one in robot.model.loops
    )


def _couplings(robot: Robot) -> tuple[CouplingReport, ...]:
    """Couplings and mimic joints, as equations."""
    bodies = robot.system.tree.bodies
    return tuple(
        CouplingReport(
            gear.name, {bodies[body].joint: factor for body, factor in gear.factors}, gear.shift
        )
        for cluster in robot.system.clusters
        for gear in cluster.gears
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _number(value: float | None, missing: str = "") -> str:
    return missing if value is None else f"{value:.5g}"


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    """Rows of cells under an underlined header; columns without content are left out."""
    header = [name for name in rows[0] if any(row[name] for row in rows)]
    cells = [header, *([row[name] or "-" for name in header] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])
