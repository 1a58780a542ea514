"""What we want of a run of the race, where it was missed, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .ours import Bound, Plain
from .run import Result

TITLES = {
    "inverse_dynamics": "inverse dynamics",
    "forward_dynamics": "forward dynamics",
    "mass_matrix": "mass matrix",
    "inverse_dynamics_derivatives": "derivatives of inverse dynamics",
    "forward_dynamics_derivatives": "derivatives of forward dynamics",
}
PEER = "Pinocchio"
SMALL, HUMANOID = ("UR5", "Panda"), ("G1", "Talos")

PLAIN = 0.8
"""The ratio of a plain method's time to Pinocchio's that we want to stay under."""

GROWTH = 1.05
"""The exponent of growth, from 10 joints on, that we want to stay under."""

REASONS = {
    "inverse_dynamics_derivatives": "Nearly half of the time goes into products of coordinates, "
    "in vectors that are partly zero. The rest goes into poses, formulas and sums along the tree.",
    "forward_dynamics_derivatives": "The derivatives of inverse dynamics take half of the time. "
    "Solving with the mass matrix, for 2 nv + efforts columns, takes a quarter. Copying its blocks "
    "into the rows of the result takes a tenth.",
    "mass_matrix": "The whole matrix is written in every call, zeros and lower triangle too; "
    "Pinocchio leaves both as they are. Without them the G1 takes a sixth less.",
    "growth": "Short programs are straight lines that GCC orders for the processor; long ones are "
    "loops, whose passes wait for each other. The exponent also moves with the machine's speed.",
}
"""Why we miss our bars, by program."""


def bar(result: Result) -> float | None:
    """The ratio of our bound call's time to Pinocchio's that we want to stay under."""
    if result.program.endswith("derivatives"):
        return 0.15 if not result.is_chain else None
    if result.program == "mass_matrix":
        return 0.2 if not result.is_chain else None
    if result.robot in SMALL:
        return 0.16
    return 0.25 if result.robot in HUMANOID else None


def judged(value: float, wanted: float | None) -> str:
    """A number next to its bar, with a mark where it misses."""
    if wanted is None:
        return f"{value:.3f}"
    return f"{value:.3f} (<= {wanted:g})" + ("" if value <= wanted else " MISSED")


def chains(results: Sequence[Result], program: str) -> list[Result]:
    """The chains' results of one program, shortest first."""
    found = (r for r in results if r.is_chain and r.program == program)
    return sorted(found, key=lambda result: result.nv)


def exponent(rows: Sequence[Result], library: str, least: int = 10) -> float:
    """p of time = c n^p from `least` joints on."""
    rows = [row for row in rows if row.nv >= least]
    times = [row.times[library].minimum for row in rows]
    return float(np.polyfit(np.log([row.nv for row in rows]), np.log(times), 1)[0])


@dataclass(frozen=True)
class Miss:
    """A figure above its bar.

    kind : what figure it is. where : of which robot. reason : key of `REASONS`.
    """

    kind: str
    where: str
    value: float
    wanted: float
    reason: str


def misses(results: Sequence[Result]) -> Iterator[Miss]:
    """Every figure of a run that is above its bar."""
    for result in results:
        title, robot, program = TITLES[result.program], result.robot, result.program
        figures = {}
        if PEER in result.times:
            figures[f"{title}, ratio to {PEER}"] = result.ratio(PEER), bar(result), program
            if Plain.name in result.times:
                kind = f"{title}, plain method, ratio to {PEER}"
                figures[kind] = result.ratio(PEER, Plain.name), PLAIN, "plain"
        for library in result.times:
            if library not in (PEER, Bound.name, Plain.name):
                figures[f"{title}, ratio to {library}"] = result.ratio(library), 1.0, program
        for kind, (value, wanted, reason) in figures.items():
            if wanted is not None and value > wanted:
                yield Miss(kind, robot, value, wanted, reason)
    for program in ("inverse_dynamics", "forward_dynamics"):
        rows = [row for row in chains(results, program) if row.nv >= 10]
        if len(rows) > 1 and (value := exponent(rows, Bound.name)) > GROWTH:
            kind = f"{TITLES[program]}, exponent of growth"
            yield Miss(kind, f"10 to {rows[-1].nv} joints", value, GROWTH, "growth")


def losses(results: Sequence[Result]) -> list[str]:
    """Lines of Markdown: every miss of the run, by the reason that they share."""
    found: dict[str, dict[str, list[str]]] = {}
    for miss in misses(results):
        figure = f"{miss.where} {miss.value:.3f} (<= {miss.wanted:g})"
        found.setdefault(miss.reason, {}).setdefault(miss.kind, []).append(figure)
    if not found:
        return ["Nowhere in this run: every figure is under its bar."]
    lines = []
    for reason, kinds in found.items():
        listed = "; ".join(f"{kind}: {', '.join(figures)}" for kind, figures in kinds.items())
        why = REASONS.get(reason, "The reason is not known.")
        lines.append(f"- {listed[0].upper()}{listed[1:]}. **Why:** {why}")
    return lines
