"""Paths q(s) of the independent joints: which way, not how fast."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..array import Array, as_numbers
from ..compiler.gcc import CompilationError
from ..compiler.kernel import address
from ..compiler.runtime.library import reachability, structure
from ..errors import InputError, SimulationError

STRUCTURES = {
    "path_states": ("path_rows.cpp", "path"),
    "path_rows": ("path_rows.cpp", "row_limits"),
    "pass_limits": ("reachability.cpp", "limits"),
}
"""Header and name of the structure that a function takes."""

Field = np.ndarray[Any, Any] | float | None
"""A number, or a contiguous array."""


class Call:
    """A function of the library with fields of its structure that stay.

    Raises
    ------
    SimulationError
        There is no C++ compiler.
    """

    def __init__(self, name: str, **kept: Field) -> None:
        self._kept = kept  # alive
        self._fields = structure(*STRUCTURES[name])()
        self._set(self._fields, kept)
        try:
            self._function = getattr(reachability(), name)
        except CompilationError as error:
            raise SimulationError(f"time-optimal motions need compiled code: {error}") from error

    def __call__(self, **fields: Field) -> Any:
        """Call it with the other fields."""
        given = type(self._fields).from_buffer_copy(self._fields)
        self._set(given, fields)
        return self._function(ctypes.byref(given))

    @staticmethod
    def _set(given: ctypes.Structure, fields: dict[str, Field]) -> None:
        for name, one in fields.items():
            setattr(given, name, address(one) if isinstance(one, np.ndarray) else one)


SAMPLES_OF_A_FUNCTION = 400
"""Parts of a path given as a function, at whose ends it is asked for."""

SAME_POINT = 1e-9
"""rad or m between points of a path that count as one."""

BLEND_SPEEDS = np.array([1.0, 0.5, 0.0])
"""Where the control points of a blend are on either side of its corner, in parts of its length.

They are on the straight lines and evenly spaced, so curvature is 0 where blend and lines meet.
"""

BLEND_SAG = 7 / 64
"""Distance between corner and blend, in parts of its length and of the change of direction: the
middle of a Bezier curve of degree 5 is (P0 + 5 P1 + 10 P2 + 10 P3 + 5 P4 + P5) / 32."""


@dataclass(frozen=True, eq=False)
class JointPath:
    """A path of polynomials of s, whose second derivatives are continuous.

    position : of the joints (n,) at s, a piecewise polynomial of SciPy.
    waypoints : s of the points it was made of. first : how many of these came before, in a path of
        several parts.
    """

    position: Any
    waypoints: Array
    first: int = 0
    _states: Call = field(init=False, repr=False)

    def __post_init__(self) -> None:
        coefficients = np.ascontiguousarray(self.position.c)
        order, pieces, joints = coefficients.shape
        states = Call(
            "path_states", joints=joints, pieces=pieces, order=order,
            ends=np.ascontiguousarray(self.position.x), coefficients=coefficients,
        )  # fmt: skip
        object.__setattr__(self, "_states", states)

    @property
    def length(self) -> float:
        """s at the end; it begins at 0."""
        return float(self.waypoints[-1])

    def at(self, s: Array) -> tuple[Array, Array, Array]:
        """Positions and their first and second derivatives by s, (N, n) each."""
        q, v, a = self.states(s)
        return q[0], v[2], a[2]

    def states(self, s: Array) -> Array:
        """Positions q, v = (0, 0, q') and a = (0, q', q''), three of each (3, 3, N, n)."""
        s = np.ascontiguousarray(s, dtype=np.float64)
        states = np.empty((3, 3, len(s), self.position.c.shape[2]))
        self._states(points=len(s), s=s, state=states)
        return states

    def rates(self, s: Array) -> tuple[Array, Array, Array]:
        """First, second and third derivatives of the positions by s, (N, n) each."""
        _, first, second = self.at(s)
        return first, second, self.position(s, 3)

    def grid(self, least: int) -> Array:
        """At least this many intervals, evenly spaced between the pieces' ends."""
        knots = np.unique(self.position.x)
        spans = np.diff(knots)
        counts = np.ceil(least * spans / self.length).astype(int)
        first = np.cumsum(counts) - counts
        share = np.arange(counts.sum()) - np.repeat(first, counts)
        inside = np.repeat(knots[:-1], counts) + share * np.repeat(spans / counts, counts)
        return np.append(inside, self.length)

    def place(self, s: float) -> str:
        """Where an s is, in words."""
        k = int(np.clip(np.searchsorted(self.waypoints, s, side="right") - 1, 0, None))
        k = min(k, len(self.waypoints) - 2)
        start, end = self.waypoints[k : k + 2]
        share = (s - start) / (end - start)
        if share < 1e-6 or share > 1 - 1e-6:
            return f"at waypoint {self.first + k + round(share)}"
        return f"{100 * share:.0f} % of the way from waypoint {self.first + k} to the next"


def path_through(points: Array) -> JointPath:
    """The cubic spline through points (N, n), by the lengths of the chords between them."""
    from scipy.interpolate import CubicSpline

    s = _chords(points)
    return JointPath(CubicSpline(s, points), s)


def straight_parts(points: Array) -> list[JointPath]:
    """A straight line between every two neighbours of points (N, n)."""
    return [
        JointPath(path_through(points[k : k + 2]).position, _chords(points[k : k + 2]), k)
        for k in range(len(_chords(points)) - 1)
    ]


def blended_path(points: Array, tolerance: float) -> JointPath:
    """Straight lines between points (N, n) whose corners are rounded, within a tolerance.

    tolerance : rad or m, of all joints together (as a norm). Blends take at most half of a line.
    """
    from scipy.interpolate import BPoly, PPoly

    s = _chords(points)
    lengths = np.diff(s)
    ways = np.diff(points, axis=0) / lengths[:, None]
    controls, spans, passed = [], [], [0.0]
    done = 0.0
    for k, way in enumerate(ways):
        rest = lengths[k] - done
        blend = 0.0
        if k + 1 < len(ways):
            turn = float(np.linalg.norm(ways[k + 1] - way))
            blend = min(tolerance / (BLEND_SAG * max(turn, 1e-9)), *lengths[k : k + 2] / 2)
        start = points[k] + done * way
        straight = rest - blend
        if straight > SAME_POINT:
            controls.append(start + np.linspace(0, straight, 6)[:, None] * way)
            spans.append(straight)
        if blend:
            before = points[k + 1] - blend * BLEND_SPEEDS[:, None] * way
            after = points[k + 1] + blend * BLEND_SPEEDS[::-1, None] * ways[k + 1]
            controls.append(np.concatenate([before, after]))
            spans.append(2.5 * blend)  # as fast by s as the lines: 5 (P1 - P0) = 2.5 blend way
            passed.append(sum(spans) - 1.25 * blend)
        done = blend
    passed.append(sum(spans))
    breaks = np.concatenate([[0.0], np.cumsum(spans)])
    curve = PPoly.from_bernstein_basis(BPoly(np.stack(controls, axis=1), breaks))
    return JointPath(curve, np.array(passed))


def path_of(function: Callable[[float], Sequence[float]], labels: Sequence[str]) -> JointPath:
    """The path that a function of s between 0 and 1 gives: its cubic spline."""
    from scipy.interpolate import CubicSpline

    s = np.linspace(0.0, 1.0, SAMPLES_OF_A_FUNCTION + 1)
    points = as_numbers([function(float(one)) for one in s])
    if points.shape != (len(s), len(labels)) or not np.isfinite(points).all():
        raise InputError(
            f"the path must give {len(labels)} finite numbers ({', '.join(labels)}) for every s "
            "between 0 and 1"
        )
    ways = np.linalg.norm(np.diff(points, axis=0), axis=1)
    usual = float(np.median(ways))
    k = int(np.argmax(ways))
    around = np.delete(ways, k)[max(k - 2, 0) : k + 2]
    if ways[k] > 20 * max(float(around.max()), usual, SAME_POINT):
        raise InputError(
            f"the path jumps by {ways[k]:.3g} (rad or m) between s = {s[k]:g} and {s[k + 1]:g}; "
            "make it continuous, or part it there"
        )
    return JointPath(CubicSpline(s, points), s[[0, -1]])


def _chords(points: Array) -> Array:
    """Lengths (N,) along the chords up to each point; equal neighbours are refused."""
    ways = np.linalg.norm(np.diff(points, axis=0), axis=1)
    same = np.flatnonzero(ways <= SAME_POINT)
    if len(same):
        k = int(same[0])
        raise InputError(f"waypoints {k} and {k + 1} are the same point; leave one of them out")
    return np.concatenate([[0.0], np.cumsum(ways)])
