"""The unknowns of groups of links over a turn of the input: one branch, from the drawn position.

The branch of a design is that which the drawing becomes when its numbers go straight to those of
the design, and then the input turns, without passing a toggle.

Groups of links that no dyad solves take Newton's method, over many positions and designs at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..array import memory
from ..model.model import Array

NODES = 72
"""Input angles of the table, within a turn."""

CHANGES = 6
"""Steps from the drawn numbers to those of a design."""

MOST_APART = 1e-3
"""Most that the same solution may differ by, found by two methods as a guess only, rad or m."""

MOST_BESIDE = 64
"""Designs whose nodes are found all at once: what a slider or the mouse changes, not a sweep."""

MOST_FOUND = 4
"""Number of angles for which a table keeps solutions."""

WEIGHTS = ("_mass", "_inertia", "_center_along", "_center_across", "gravity")
"""Ends of numbers that positions do not depend on."""

FARTHEST_JUMP = 0.6
"""Most by which an unknown may be corrected, rad or m: more is another branch."""


@dataclass(frozen=True, eq=False)
class BranchTable:
    """Unknowns (NODES, m, ...) at input angles, rad, from `start` on; NaN out of reach.

    mechanism : the `DrawnMechanism` whose groups these are.
    sign : (...) of the determinant on the branch.
    """

    mechanism: Any
    start: float
    nodes: Array
    sign: Array

    @staticmethod
    def of(mechanism: Any, near: Array | None = None) -> BranchTable:
        """From the drawn position. near : nodes of a design like this one, where there is one."""
        start, drawn = _drawn(mechanism)
        shape = mechanism.vector().shape[:-1]
        z = np.broadcast_to(drawn.reshape(-1, *[1] * len(shape)), (len(drawn), *shape))
        base = mechanism.drawn_defaults.vector()
        change = mechanism.vector() - base
        z, determinant = settle(_gaps(mechanism, base, start), z)
        sign = np.sign(determinant)
        if change.any():
            for share in np.linspace(0.0, 1.0, CHANGES + 1)[1:]:
                z = _next(_gaps(mechanism, base + share * change, start), z, sign)
        nodes = None if near is None else _beside(mechanism, start, z, sign, near)
        if nodes is None:
            nodes = BranchTable._march(mechanism, start, z, sign)
        return BranchTable(mechanism, start, nodes, sign)

    @staticmethod
    def _march(mechanism: Any, start: float, z: Array, sign: Array) -> Array:
        """The nodes, one after the other from the first, in both directions up to the limits."""
        whole = mechanism.vector()
        nodes = np.full((NODES, *z.shape), np.nan)
        nodes[0] = z
        step = 2 * np.pi / NODES
        for sense in (1, -1):
            if sense < 0 and np.isfinite(nodes).all():
                break
            last = [z, z, z]
            for k in range(1, NODES):
                guess = _ahead(last, k)
                found = _next(_gaps(mechanism, whole, start + sense * k * step), guess, sign)
                last = [found, *last[:2]]
                row = nodes[sense * k]
                row[...] = np.where(np.isnan(row), found, row)
                if np.isnan(found).all():
                    break
        return nodes

    @property
    def closes(self) -> bool:
        """Whether there is any node within reach."""
        return bool(np.isfinite(self.nodes).any())

    @property
    def angles(self) -> Any:
        """Input angles of the nodes (NODES,), rad."""
        return np.linspace(0.0, 2 * np.pi, NODES, endpoint=False) + np.float64(self.start)

    def at(self, angle: Any) -> Array:
        """The unknowns (m, ...) at input angles (...)."""
        return self._found(np.asarray(angle, dtype=np.float64))[0]

    def margin(self, angle: Any) -> Array:
        """Squared determinant (...) of columns of length one: 0 at a toggle, NaN beyond."""
        return self._found(np.asarray(angle, dtype=np.float64))[1] ** 2

    @cached_property
    def _last(self) -> dict[object, tuple[Array, Array]]:
        return {}

    def _found(self, angle: Array) -> tuple[Array, Array]:
        key = angle.shape, angle.tobytes()
        if key not in self._last:
            if len(self._last) >= MOST_FOUND:
                self._last.pop(next(iter(self._last)))
            self._last[key] = self._find(angle)
        return self._last[key]

    def _find(self, angle: Array) -> tuple[Array, Array]:
        designs = self.nodes.shape[2:]
        shape = np.broadcast_shapes(angle.shape, designs)
        place = (np.broadcast_to(angle, shape) - self.start) * NODES / (2 * np.pi)
        gaps = _gaps(self.mechanism, self.mechanism.vector(), angle)
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


def _ahead(last: list[Array], count: int) -> Array:
    """The next of evenly spaced values, of which `count` are known, at most three; latest first."""
    if count < 3:
        return last[0] if count < 2 else 2 * last[0] - last[1]
    return 3 * (last[0] - last[1]) + last[2]


def _beside(mechanism: Any, start: float, first: Array, sign: Array, near: Array) -> Array | None:
    """The nodes of a few designs, all at once from those of another; None where a march may differ.

    They are the march's where they start as it does, and every one is where it looks for it.
    """
    designs = (1,) * (first.ndim - 1)
    if first[0].size > MOST_BESIDE or not np.isfinite(near).all():
        return None
    angles = start + np.arange(NODES) * (2 * np.pi / NODES)
    guess = near.T.reshape(-1, NODES, *designs) + (first - near[0].reshape(-1, *designs))[:, None]
    gaps = _gaps(mechanism, mechanism.vector(), angles.reshape(-1, *designs))
    nodes = np.moveaxis(_next(gaps, guess, sign), 0, 1)
    ahead = np.stack(
        [_ahead([nodes[k - 1], nodes[k - 2], nodes[k - 3]], k) for k in range(1, NODES)]
    )
    same = np.abs(nodes[0] - first).max() < MOST_APART
    return nodes if same and np.abs(nodes[1:] - ahead).max() < FARTHEST_JUMP else None


_tables: dict[tuple[Any, bytes], BranchTable] = {}
MOST_TABLES = 16
"""Tables that are kept: masses and gravity do not change one."""


def branch_table(mechanism: Any) -> BranchTable:
    """The table of a mechanism, or of another with the same lengths."""
    numbers = mechanism.numbers()
    lengths = [one for name, one in numbers.items() if not name.endswith(WEIGHTS)]
    key = type(mechanism), np.stack(np.broadcast_arrays(*lengths)).astype(np.float64).tobytes()
    if key not in _tables:
        if len(_tables) >= MOST_TABLES:
            _tables.pop(next(iter(_tables)))
        like = [one.nodes for (kind, _), one in _tables.items() if kind is key[0]]
        near = next((one for one in reversed(like) if one.ndim == 2), None)
        _tables[key] = BranchTable.of(mechanism, near)
    return _tables[key]


def _drawn(mechanism: Any) -> tuple[float, Array]:
    """The drawn angle of the input, and the unknowns there."""
    kinematics, home = mechanism.kinematics(), mechanism.drawn_home
    return home[kinematics.given_bodies[0]], np.array([*kinematics.unknowns_at(home).values()])


def _gaps(mechanism: Any, vector: Array, angle: Any) -> Gaps:
    """The gaps of designs with these numbers (..., p), at an input angle."""
    count, numbers = len(mechanism.unknowns), vector.shape[-1]

    def gaps(z: Array) -> tuple[Array, Array]:
        shape = z.shape[1:]
        many = int(np.prod(shape))
        value, slope = np.empty((many, count)), np.empty((many, count, count))
        given = (
            np.broadcast_to(vector, (*shape, numbers)),
            np.broadcast_to(angle, shape),
            np.moveaxis(z, 0, -1),
        )
        flat = [np.ascontiguousarray(one, dtype=np.float64).reshape(-1) for one in given]
        buffer, evaluate = mechanism.kinematics().gap_function(many).buffer()
        for k, array in enumerate(flat):
            buffer.set_arg(k, memory(array))
        buffer.set_res(0, memory(value))
        buffer.set_res(1, memory(slope))
        evaluate()
        blocks = slope.swapaxes(1, 2)  # CasADi's are by columns
        return value.reshape(*shape, count), blocks.reshape(*shape, count, count)

    return gaps


def _next(gaps: Any, guess: Array, sign: Array) -> Array:
    """The solution near a guess, NaN where it is on another branch."""
    z, determinant = settle(gaps, guess, GROUP_NEAR)
    lost = (np.sign(determinant) != sign) | (np.abs(z - guess).max(axis=0) > FARTHEST_JUMP)
    return np.where(lost, np.nan, z)


GROUP_ITERATIONS = 12
"""Newton's iterations; from a neighbour three suffice."""

GROUP_SETTLED, GROUP_NEAR = 1e-13, 1e-5
"""Largest correction (rad or m) of a solution that stands, and of one that only leads to others."""

Gaps = Callable[[Array], tuple[Array, Array]]
"""Gaps (..., m) at unknowns (m, ...), and their derivatives (..., m, m)."""


def settle(gaps: Gaps, guess: Array, near: float = GROUP_SETTLED) -> tuple[Array, Array]:
    """The solution (m, ...) near a guess, and the determinant there, of columns of length one.

    NaN where there is none. The determinant is between -1 and 1, and 0 at a toggle.
    """
    z, last, slope = guess, np.full(guess.shape[1:], np.inf), None
    for _ in range(GROUP_ITERATIONS):
        value, slope = gaps(z)
        step = _solve(slope, value)
        last = np.abs(step).max(axis=-1)
        z = z - np.moveaxis(step, -1, 0)
        if not (last > near).any():
            break
    assert slope is not None
    with np.errstate(invalid="ignore", divide="ignore"):
        determinant = np.linalg.det(slope / np.linalg.norm(slope, axis=-2, keepdims=True))
    lost = ~(last < np.sqrt(near))
    return np.where(lost, np.nan, z), np.where(lost, np.nan, determinant)


def _solve(matrix: Array, right: Array) -> Array:
    """Solutions (..., m), NaN of what is singular or not finite."""
    solved: Any
    try:
        solved = np.linalg.solve(matrix, right[..., None])
    except np.linalg.LinAlgError:
        bad = ~(np.abs(np.linalg.det(matrix)) > 0)
        safe = np.where(bad[..., None, None], np.eye(matrix.shape[-1]), matrix)
        solved = np.linalg.solve(safe, np.where(bad[..., None], np.nan, right)[..., None])
    found: Array = solved[..., 0]
    return found
