"""The contacts that rest on walls at one time, and the mode of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from ...array import Array
from ..contact.impulses import UNSETTLED
from ..contact.rows import Assembly, Flags, Indices

FORCE_NOISE = 1e-10
"""Share of the forces, or accelerations, that may be rounding error."""


class Mode(Enum):
    """Modes of a contact."""

    RESTS = "rests"  # without friction
    STICKS = "sticks"
    SLIDES = "slides"
    SEPARATES = "separates"


@dataclass(frozen=True, eq=False)
class Resting:
    """Contacts that are held now.

    contacts : (k,) their numbers. modes : of each, one of the first three.
    directions : (k, 2) unit vectors along the wall in which they slide, else zero or the last.
    """

    contacts: Indices
    modes: Sequence[Mode]
    directions: Array

    @staticmethod
    def none() -> Resting:
        """Free flight."""
        return Resting(np.zeros(0, dtype=np.intp), (), np.zeros((0, 2)))

    def __len__(self) -> int:
        return len(self.contacts)

    @cached_property
    def sticks(self) -> Flags:
        """(k,) which of them stick."""
        return np.array([mode is Mode.STICKS for mode in self.modes], dtype=bool)

    @cached_property
    def slides(self) -> Flags:
        """(k,) which of them slide."""
        return np.array([mode is Mode.SLIDES for mode in self.modes], dtype=bool)

    def by_contact(self) -> dict[int, Mode]:
        """The modes by the numbers of the contacts."""
        return dict(zip(self.contacts.tolist(), self.modes, strict=True))

    def only(self, kept: Flags) -> Resting:
        """The contacts of these that are `kept` (k,)."""
        modes = [mode for mode, keep in zip(self.modes, kept.tolist(), strict=True) if keep]
        return Resting(self.contacts[kept], modes, self.directions[kept])

    def choices(
        self, assembly: Assembly, matrix: Array, free: Array, force: Array
    ) -> list[Resting]:
        """Modes that forces by Coulomb's law allow the contacts, the likeliest first.

        Parameters
        ----------
        matrix, free : A (m, m) and b (m,) of the accelerations A f + b of the rows.
        force : f (m,).
        """
        blocks, directions = assembly.blocks, self.directions.copy()
        whole, most = matrix @ force + free, float(np.abs(free).max())
        normal, left = force[blocks.normal], whole[blocks.normal]
        modes, possible = list(self.modes), list(self.modes)
        for i, t in enumerate(blocks.tangent.tolist()):
            if t < 0:
                continue
            rub = float(np.linalg.norm(force[t : t + 2]))
            inside = rub < blocks.friction[i] * normal[i] * (1 - FORCE_NOISE)
            still = float(np.abs(whole[t : t + 2]).max()) <= 10 * UNSETTLED * most
            modes[i] = Mode.STICKS if inside else Mode.SLIDES
            possible[i] = Mode.STICKS if inside or still else Mode.SLIDES
            if not inside and rub > 0:
                directions[i] = -force[t : t + 2] / rub
        pushes = normal > FORCE_NOISE * normal.max(initial=0.0)
        rests = pushes | (left <= FORCE_NOISE * most)
        likely = Resting(self.contacts, modes, directions)
        result = [likely.only(rests)]
        if possible != modes and redundant(matrix):  # forces can be shared in many ways
            result.insert(0, Resting(self.contacts, possible, directions).only(rests))
        if not pushes[rests].all():
            result.append(likely.only(pushes))
        return result


def obeys(force: Array, assembly: Assembly) -> bool:
    """Whether forces (m,) push, and stay inside the cones of friction."""
    blocks = assembly.blocks
    noise = FORCE_NOISE * max(1e-6, float(np.abs(force).max()))
    normal = force[blocks.normal]
    if (normal < -noise).any():
        return False
    for n, t, mu in zip(normal, blocks.tangent, blocks.friction, strict=True):
        if t >= 0 and np.linalg.norm(force[t : t + 2]) > mu * n * (1 + FORCE_NOISE) + noise:
            return False
    return True


def redundant(matrix: Array) -> bool:
    """Whether rows depend on each other."""
    size = float(np.abs(matrix).max())
    return int(np.linalg.matrix_rank(matrix, tol=1e-10 * size)) < len(matrix)


def least(matrix: Array, right: Array) -> Array:
    """The least solution x of A x = b, by least squares where it has none."""
    if len(right) == 1:
        pivot = matrix[0]
        return np.asarray(right / pivot if pivot[0] else 0.0 * right, dtype=np.float64)
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-12)[0], dtype=np.float64)
