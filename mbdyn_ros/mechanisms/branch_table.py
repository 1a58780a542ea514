"""The unknowns of groups of links over a turn of the input: one branch, from the drawn position.

The branch of a design is that which the drawing becomes when its numbers go straight to those of
the design, and then the input turns, without a toggle on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..equations.algebra.complex_plane import Complex
from ..model.model import Array
from .layout import Direction
from .loop_group import settle
from .skeleton import drawn_position

if TYPE_CHECKING:
    from .drawn import DrawnMechanism

NODES = 90
"""Input angles of the table, within a turn."""

CHANGES = 6
"""Steps from the drawn numbers to those of a design."""

FARTHEST_JUMP = 0.6
"""Most by which an unknown may be corrected, rad or m: more is another branch."""


@dataclass(frozen=True, eq=False)
class BranchTable:
    """Unknowns (NODES, m, ...) at input angles, rad, from `start` on; NaN out of reach.

    sign : (...) of the determinant on the branch.
    """

    mechanism: DrawnMechanism
    start: float
    nodes: Array
    sign: Array

    @staticmethod
    def of(mechanism: Any) -> BranchTable:
        """From the drawn position."""
        start, drawn = _drawn(mechanism)
        shape = mechanism.vector().shape[:-1]
        z = np.broadcast_to(drawn.reshape(-1, *[1] * len(shape)), (len(drawn), *shape))
        base = mechanism.drawn_defaults.vector()
        change = mechanism.vector() - base
        z, determinant = settle(_gaps(mechanism, base + 0.0 * change, start), z)
        sign = np.sign(determinant)
        if change.any():
            for share in np.linspace(0.0, 1.0, CHANGES + 1)[1:]:
                z = _next(_gaps(mechanism, base + share * change, start), z, sign)
        nodes = np.full((NODES, *z.shape), np.nan)
        nodes[0] = z
        step = 2 * np.pi / NODES
        for sense in (1, -1):
            if sense < 0 and np.isfinite(nodes).all():
                break
            before, here = None, z
            for k in range(1, NODES):
                guess = here if before is None else 2 * here - before
                found = _next(_gaps(mechanism, None, start + sense * k * step), guess, sign)
                before, here = here, found
                row = nodes[sense * k]
                row[...] = np.where(np.isnan(row), found, row)
                if np.isnan(found).all():
                    break
        return BranchTable(mechanism, start, nodes, sign)

    def at(self, angle: Any) -> Array:
        """The unknowns (m, ...) at input angles (...)."""
        return self._found(np.asarray(angle, dtype=np.float64))[0]

    def margin(self, angle: Any) -> Array:
        """Squared determinant (...) of columns of length one: 0 at a toggle, NaN beyond."""
        return self._found(np.asarray(angle, dtype=np.float64))[1] ** 2

    @cached_property
    def _last(self) -> dict[bytes, tuple[Array, Array]]:
        return {}

    def _found(self, angle: Array) -> tuple[Array, Array]:
        key = angle.tobytes()
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._find(angle)
        return self._last[key]

    def _find(self, angle: Array) -> tuple[Array, Array]:
        designs = self.nodes.shape[2:]
        shape = np.broadcast_shapes(angle.shape, designs)
        place = (np.broadcast_to(angle, shape) - self.start) * NODES / (2 * np.pi)
        gaps = _gaps(self.mechanism, None, angle)
        best = None
        for k in (np.round(place), np.floor(place), np.ceil(place)):
            index = k.astype(int) % NODES
            if designs:
                guess = self.nodes[index, :, np.arange(designs[0])]
            else:
                guess = self.nodes[index]
            guess = np.moveaxis(guess, -1, 0)
            z, determinant = settle(gaps, guess)
            off = (np.sign(determinant) != self.sign) | (
                np.abs(z - guess).max(axis=0) > FARTHEST_JUMP
            )
            z, determinant = np.where(off, np.nan, z), np.where(off, np.nan, determinant)
            if best is None:
                best = z, determinant
            else:
                lost = np.isnan(best[1])
                best = np.where(lost, z, best[0]), np.where(lost, determinant, best[1])
            if np.isfinite(best[1]).all():
                break
        assert best is not None
        return best


def _drawn(mechanism: Any) -> tuple[float, Array]:
    """The drawn angle of the input, and the unknowns there."""
    position = drawn_position(mechanism.drawing)
    values = []
    for name in mechanism.unknowns:
        one = position[name.removeprefix("unknown ")]
        values.append(np.arctan2(one.im, one.re) if isinstance(one, Complex) else one)
    crank = position[mechanism.inputs[0]]
    return float(np.arctan2(crank.im, crank.re)), np.array(values, dtype=np.float64)


def _gaps(mechanism: Any, vector: Array | None, angle: Any) -> Any:
    """The gaps of a design, or of that with other numbers, at an input angle."""
    if vector is not None:
        names = list(mechanism.numbers())
        mechanism = type(mechanism).of_numbers(
            dict(zip(names, np.moveaxis(vector, -1, 0), strict=True))
        )
    return mechanism.gaps_at([Direction(np.cos(angle), np.sin(angle), angle)])


def _next(gaps: Any, guess: Array, sign: Array) -> Array:
    """The solution near a guess, NaN where it is on another branch."""
    z, determinant = settle(gaps, guess)
    lost = (np.sign(determinant) != sign) | (np.abs(z - guess).max(axis=0) > FARTHEST_JUMP)
    return np.where(lost, np.nan, z)

