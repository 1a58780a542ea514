"""The impulses that hold resting contacts over a fixed step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...array import Array
from ...equations.contact.impact import Blocks, contact_impulses
from ..contact.precision import FIXED_STEPS
from ..contact.rows import Assembly, Flags, Indices

SOFT = 1e-6
"""Share by which contacts that are redundant yield, so that their impulses are determined."""


@dataclass(frozen=True, eq=False)
class Push:
    """Impulses (m,) of held contacts, then of joints that rub, and what they do.

    rows : (m, nv). response : change of velocity (nv, m) by unit impulses.
    velocity : (nv,) with all of them.
    """

    assembly: Assembly
    rows: Array
    response: Array
    impulses: Array
    velocity: Array

    @property
    def pushing(self) -> Flags:
        """Which contacts (k,) push."""
        found: Flags = self.impulses[self.assembly.blocks.normal] > 0
        return found


class PushSolver:
    """Finds the impulses of each step from the forces of the last one."""

    def __init__(self) -> None:
        self._forces: dict[int, Array] = {}

    def forget(self) -> None:
        """Start from nothing."""
        self._forces.clear()

    def impulses(
        self, matrix: Array, free: Array, blocks: Blocks, held: Indices, step: float, rubbed: Array
    ) -> Array:
        """The impulses (m,): those of rest where that is possible.

        Parameters
        ----------
        matrix, free : A (m, m) and b (m,) of the velocities A f + b of the rows.
        held : the contacts. step : its length, s.
        rubbed : impulses of joints that rub, to start from.
        """
        f = np.asarray(np.linalg.lstsq(matrix, -free, rcond=1e-12)[0], dtype=np.float64)
        if not _obey(f, blocks) or np.abs(matrix @ f + free).max() > 1e-9 * np.abs(free).max():
            guess = np.zeros(len(free))
            for k, places in blocks_of(held, blocks):
                guess[places] = step * self._forces.get(k, np.zeros(3))[: len(places)]
            guess[len(free) - len(blocks.bound) :] = rubbed
            soft = matrix + np.diag(SOFT * matrix.diagonal())  # one solution, where many fit
            f = contact_impulses(soft, free, blocks, guess, FIXED_STEPS.settled)
        self._forces = {}
        for k, places in blocks_of(held, blocks):
            self._forces[k] = np.zeros(3)
            self._forces[k][: len(places)] = f[places] / step
        return f


def blocks_of(held: Indices, blocks: Blocks) -> list[tuple[int, list[int]]]:
    """Every contact, and where its normal and tangential impulses stand."""
    triples = zip(held.tolist(), blocks.normal.tolist(), blocks.tangent.tolist(), strict=True)
    return [(k, [n] if t < 0 else [n, t, t + 1]) for k, n, t in triples]


def _obey(f: Array, blocks: Blocks) -> bool:
    """Whether impulses push, and stay within what friction can give."""
    normal, t = f[blocks.normal], blocks.tangent
    if (normal < 0).any() or (np.abs(f[len(f) - len(blocks.bound) :]) > blocks.bound).any():
        return False
    cone = t >= 0
    across = np.hypot(f[t[cone]], f[t[cone] + 1])
    return bool((across <= blocks.friction[cone] * normal[cone]).all())
