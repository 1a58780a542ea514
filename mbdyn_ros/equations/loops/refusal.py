"""The one form in which loops are refused: what is wrong, the gap, the constraints, what to try."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.model import Array
from .closure_gap import ClosureGap
from .cluster_equations import ClusterEquations
from .rank import Rank
from .rounding import rank_at


@dataclass(frozen=True)
class Refusal:
    """Loops of a cluster that are refused, as they are at one configuration.

    what : the description and the loops. loop, gap : which is open widest there, and how far.
    rows, joints : how many there are; `rank` says how many rows count.
    """

    what: str
    loop: str
    gap: ClosureGap
    rows: int
    joints: int
    rank: Rank

    @classmethod
    def at(
        cls, what: str, equations: ClusterEquations, x: Array, rank: Rank | None = None
    ) -> Refusal:
        """Loops at positions x, with the rank there where nothing else is known of it."""
        loop, gap = equations.worst_gap(x)
        rows, joints = equations.scaled(x).shape
        return cls(what, loop, gap, rows, joints, rank_at(equations, x) if rank is None else rank)

    def text(self, problem: str, advice: str) -> str:
        """The message: a problem, as the loops' predicate, and the next thing to try."""
        return (
            f"{self.what} {problem}. Gap: {self.gap} in {self.loop!r}. "
            f"Constraints: {self._constraints}. Next: {advice}"
        )

    @property
    def _constraints(self) -> str:
        count, values = self.rank.count, self.rank.values
        if not count:
            return f"none of {self.rows} counts on {self.joints} joints"
        words = f"{count} of {self.rows} count on {self.joints} joints"
        words += f", the least {values[count - 1]:.2g} of the largest"
        if count < len(values):
            words += f", the others {values[count]:.2g} and less"
        return words
