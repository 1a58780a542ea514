"""The report on a robot: its parts, its freedoms, and what looks wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..prepare.tree import WORLD
from .core import Core
from .home import independent_by
from .report_parts import ClusterReport, CouplingReport, JointReport, LoopReport, tree_text

INDEPENDENT_BY = {
    "description": "as in the description",
    "actuated": "the actuated ones",
    "driven": "those that the description drives",
    "chosen": "chosen here: the description names none",
    "all": "all",
}
"""Words for people about the choice of independent joints."""


@dataclass(frozen=True)
class Report:
    """Facts about a robot; `str(report)` is for people, `to_dict()` for programs.

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
        actuated ones of the description), "driven" (<ros2_control> and <transmission> have drives
        for them), "chosen" (by this library), "all" (there is no choice).
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
    unused: dict[str, int]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, ready for JSON."""
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
        if self.unused:
            listed = ", ".join(f"{what} ({count})" for what, count in self.unused.items())
            facts.append(("not used", listed))
        return facts


class Reports(Core):
    """The report on a robot."""

    def report(self) -> Report:
        """The report on the robot: its parts, its freedoms, and warnings."""
        return _report(self)


def _report(robot: Core) -> Report:
    """The report on a robot: its parts, its freedoms, and what looks wrong."""
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
        independent_by=independent_by(model, robot.system),
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
        unused=dict(model.unused),
        warnings=robot.warnings,
    )


def _loops(robot: Core) -> tuple[LoopReport, ...]:
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


def _couplings(robot: Core) -> tuple[CouplingReport, ...]:
    """Couplings and mimic joints, as equations."""
    bodies = robot.system.tree.bodies
    return tuple(
        CouplingReport(
            gear.name,
            {bodies[body].joint: factor for body, factor in gear.factors},
            gear.shift,
            {bodies[body].joint: more for body, more in gear.powers},
            tuple(law.text(bodies[body].joint) for body, law in gear.laws),
        )
        for cluster in robot.system.clusters
        for gear in cluster.gears
    )


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
