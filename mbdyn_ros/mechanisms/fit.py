"""Path synthesis: the mechanism whose coupler curve comes nearest to given points.

Random designs of all shapes are compared with the path, whatever their size, place and turn (the
best similarity of two curves of complex numbers is one product of them); the best are moved on by
least squares over all lengths, the point on the coupler, the place of the whole mechanism, and the
crank's angle at every point of the path (Levenberg-Marquardt; Nielsen 1999 for the damping).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import checked_numbers
from ..errors import unknown
from ..model.model import Array
from .design import length_names
from .layout import GROUND
from .link import Bar, Points
from .mechanism import Mechanism

CANDIDATES, MOVED_ON, FINISHED = 4000, 32, 4
"""Random designs that are compared, those of them that are moved on, and those that are finished:
many come to the same."""

SPREAD = np.log(3.0)
"""Random lengths are from a third to three times those of the mechanism given."""

TURN_POINTS = 96
"""Instants of a turn of a candidate."""

LONGEST_PATH = 200
"""Points of a path; each costs a number to be found."""

MEETING = 1e-6
"""Share of a path's size within which its ends meet."""

NEAR_ENOUGH = 1e-9
"""Gap, in sizes of the path, below which no better design is looked for."""

EVALUATIONS = 300
"""Of each start by least squares."""

SHORTEST_LINK, LARGEST_LINK = 0.05, 5.0
"""Lengths of links, in sizes of the path (from its middle to its farthest point)."""

START_DAMPING = 1e-3
"""mu, of the squared norms of the columns."""

END_DAMPING = 1e20
"""At which steps are too short to change anything."""

FLAT_SLOPE = 1e-9
"""Derivatives, in sizes of the path, that count as no smaller than this."""

ROUGH, LEAST_GAIN = 1e-2, 1e-12
"""Share of the sum of squares by which the last step lowers it, to compare and to finish."""

DIFFERENCE = 1e-7
"""Step of the differences, for unknowns of order one."""

OPEN_GAP = 10.0
"""Gap, in sizes of the path, of a point where the mechanism cannot be assembled."""


@dataclass(frozen=True, eq=False)
class CurveFit:
    """A mechanism and the points of its coupler curve that are nearest to a path.

    mechanism : its lengths. part, at : the part that carries the point, and the place (along,
    across) on it, m. place, turn : of the mechanism's origin in the path's plane (x, y) m, and its
    x axis, rad. q : (N,) crank angles, rad. wanted, reached : (N, 2) m.
    """

    mechanism: Mechanism
    part: str
    at: tuple[float, float]
    place: tuple[float, float]
    turn: float
    q: Array
    wanted: Array
    reached: Array

    @cached_property
    def gaps(self) -> Array:
        """Distances (N,), m, of the points reached from those wanted."""
        return np.linalg.norm(self.reached - self.wanted, axis=1)

    @property
    def gap_rms(self) -> float:
        """Root of the mean square of the gaps, m."""
        return float(np.sqrt(np.mean(self.gaps**2)))

    def curve(self, points: int = 361) -> Array:
        """The whole coupler curve (points, 2), m, in the path's plane; NaN where it stops."""
        q = np.linspace(-np.pi, np.pi, points)[:, None]
        curve = self.mechanism.solved(q).point(self.part, self.at)
        moved = complex(*self.place) + np.exp(1j * self.turn) * curve
        return np.stack([moved.real, moved.imag], axis=-1)


def fit_curve(
    mechanism: Mechanism,
    path: ArrayLike,
    part: str | None = None,
    seed: int = 0,
    candidates: int = CANDIDATES,
    starts: int = MOVED_ON,
) -> CurveFit:
    """The design of a kind whose coupler curve comes nearest to a path.

    Parameters
    ----------
    mechanism : of the kind wanted; its lengths set the shapes that are tried, its masses stay.
    path : (N, 2) m, in their order, 3 to 200 points; the first again at the end closes it.
    part : that carries the point; by default the first that does not hang on the ground.
    seed : of the random designs; another may find a better one.
    candidates, starts : random designs that are compared, and the best of them that are moved on.

    Raises
    ------
    InputError
        No path, no such part, or no design of the kind goes round.

    Examples
    --------
    >>> import numpy as np
    >>> from mbdyn_ros.mechanisms import FourBar
    >>> turn = np.linspace(0, 2 * np.pi, 13)
    >>> egg = np.stack([0.3 * np.cos(turn), 0.2 * np.sin(turn)], axis=1)
    >>> fit_curve(FourBar(), egg, candidates=300, starts=1).gap_rms < 5e-3
    True
    """
    if len(mechanism.inputs) != 1:
        raise mechanism.refusal("it has two inputs and can draw any curve within its reach")
    if mechanism.layout().cams:
        raise mechanism.refusal("a cam's follower goes by its law to and fro; fit a linkage")
    wanted = _path(mechanism, path)
    carrier = _carrier(mechanism, part)
    problem = _Problem(mechanism, carrier, wanted)
    found = [
        problem.moved_on(start, ROUGH)
        for start in problem.starts(np.random.default_rng(seed), candidates, starts)
    ]
    found.sort(key=lambda one: one[0])
    if not found:
        raise mechanism.refusal("no design like it turns fully; give it other lengths")
    finished: list[tuple[float, Array]] = []
    for _, unknowns in found[:FINISHED]:
        finished.append(problem.moved_on(unknowns, LEAST_GAIN))
        if finished[-1][0] < (NEAR_ENOUGH * problem.size) ** 2:
            break
    return problem.fit(min(finished, key=lambda one: one[0])[1])


class _Problem:
    """The unknowns: logarithms of lengths, point on the part, place, turn, and crank angles."""

    def __init__(self, mechanism: Mechanism, part: str, wanted: Points) -> None:
        self.mechanism, self.part, self.wanted = mechanism, part, wanted
        settings = mechanism.settings
        self.names = [name for name in length_names(settings) if settings[name] > 0]
        self.base = np.array([float(settings[name]) for name in self.names])
        self.size = float(np.abs(wanted - wanted.mean()).max())
        self.bounds = np.log(self.size * np.array([SHORTEST_LINK, LARGEST_LINK]))  # of lengths

    def starts(self, random: np.random.Generator, candidates: int, most: int) -> Iterator[Array]:
        """Unknowns of the random designs that are most alike to the path."""
        count = len(self.names)
        lengths = self.base * np.exp(random.uniform(-SPREAD, SPREAD, (candidates, count)))
        reach = self.base.max()
        at = random.uniform(-1.5, 1.5, (candidates, 2)) * reach
        q = np.linspace(-np.pi, np.pi, TURN_POINTS + 1)[:, None]
        settings = dict(zip(self.names, lengths.T, strict=True))
        designs = self.mechanism.designs(**settings)
        curves = designs.solved(q[:, None, :]).point(self.part, (at[:, 0], at[:, 1]))
        whole = np.flatnonzero(np.isfinite(curves).all(axis=0))
        closed = abs(self.wanted[-1] - self.wanted[0]) <= MEETING * self.size
        target, shares = evenly(self.wanted)
        found = []
        for k in whole.tolist():
            begin, span = 0, TURN_POINTS
            if not closed:
                begin = int(random.integers(TURN_POINTS))
                span = int(random.integers(TURN_POINTS // 8, TURN_POINTS))
            rows = np.arange(begin, begin + span + 1)
            angles = q[0, 0] + rows * 2 * np.pi / TURN_POINTS
            arc = curves[rows % TURN_POINTS, k]
            for sense in (1, -1):
                found.append((*alike(arc[::sense], angles[::sense], target, closed), k))
        found.sort(key=lambda one: -one[0])
        for _, angles, scale, k in found[:most]:
            own = np.interp(shares, np.linspace(0, 1, PATH_POINTS), angles)
            curve = designs.solved(own[:, None, None]).point(self.part, (at[k, 0], at[k, 1]))
            middle = complex(curve[:, k].mean())
            place = complex(np.asarray(self.wanted).mean()) - scale * middle
            size = np.clip(np.log(lengths[k] * abs(scale)), *self.bounds)
            yield np.concatenate(
                [size, at[k] * abs(scale), [place.real, place.imag, np.angle(scale)], own]
            )

    def moved_on(self, x: Array, least_gain: float) -> tuple[float, Array]:
        """Sum of the squares of the gaps, m^2, and the unknowns, by Levenberg and Marquardt.

        A point moves with its own crank angle t_k alone, so each of these is eliminated by itself,
        dt_k = -b_k.(A_k dx + r_k) / (b_k.b_k + mu d_k^2), and the time grows with the points.
        """
        gap, (slopes, own) = self.gaps(x), self.slopes(x)
        cost, damping, growth = _square(gap), START_DAMPING, 2.0
        d, own_d = (np.full(count, FLAT_SLOPE * self.size) for count in (slopes.shape[1], len(own)))
        for _ in range(EVALUATIONS):
            d, own_d = np.maximum(d, np.linalg.norm(slopes, axis=0)), np.maximum(own_d, abs(own))
            weights = 1 / (abs(own) ** 2 + damping * own_d**2)
            along, ahead = (own.conj()[:, None] * slopes).real, (own.conj() * gap).real
            matrix = (slopes.conj().T @ slopes).real - (along.T * weights) @ along
            force = (slopes.conj().T @ gap).real - along.T @ (weights * ahead)
            shared = -np.linalg.solve(matrix + damping * np.diag(d**2), force)
            angles = -weights * (along @ shared + ahead)
            predicted = cost - _square(gap + slopes @ shared + own * angles)
            new = x + np.concatenate([shared, angles])
            new[: len(self.names)] = np.clip(new[: len(self.names)], *self.bounds)
            gap_there = self.gaps(new)
            gained = cost - _square(gap_there)
            if gained > 0:
                last = gained <= least_gain * cost
                x, gap, cost = new, gap_there, cost - gained
                if last:
                    break
                slopes, own = self.slopes(x)
                ratio = min(gained / max(predicted, gained / 2), 2.0)
                damping, growth = damping * max(1 / 3, 1 - (2 * ratio - 1) ** 3), 2.0
            else:
                damping, growth = damping * growth, 2 * growth
                if damping > END_DAMPING:
                    break
        return cost, x

    def gaps(self, x: Array) -> Points:
        """Gaps (N,) of all points, m, as complex numbers."""
        gap = self.reached(x[None])[:, 0] - self.wanted
        return np.where(np.isfinite(gap), gap, OPEN_GAP * self.size * (1 + 1j))

    def slopes(self, x: Array) -> tuple[Points, Points]:
        """Derivatives (N, n) by all unknowns but the angles, and (N,) each by its own angle.

        By differences of one batch: one difference serves all angles.
        """
        shared = len(x) - len(self.wanted)
        steps = DIFFERENCE * np.maximum(np.abs(x), 1.0)
        moved = np.tile(x, (shared + 2, 1))
        moved[np.arange(shared), np.arange(shared)] += steps[:shared]
        moved[shared, shared:] += steps[shared:]
        points = np.nan_to_num(self.reached(moved))
        change = points[:, :-1] - points[:, -1:]
        return change[:, :shared] / steps[:shared], change[:, shared] / steps[shared:]

    def reached(self, unknowns: Array) -> Points:
        """The points (N, M) of the curves of M rows of unknowns."""
        count = len(self.names)
        lengths = np.exp(unknowns[:, :count].T)
        design = self.mechanism.designs(**dict(zip(self.names, lengths, strict=True)))
        at, q = unknowns[:, count : count + 2].T, unknowns[:, count + 5 :].T
        x, y, turn = unknowns[:, count + 2 : count + 5].T
        curve = design.solved(q[..., None]).point(self.part, (at[0], at[1]))
        return x + 1j * y + np.exp(1j * turn) * curve

    def fit(self, x: Array) -> CurveFit:
        """The result."""
        count = len(self.names)
        lengths = dict(zip(self.names, np.exp(x[:count]).tolist(), strict=True))
        along, across, right, up, turn = x[count : count + 5].tolist()
        reached = self.reached(x[None])[:, 0]
        return CurveFit(
            self.mechanism.replaced(**lengths), self.part, (along, across), (right, up),
            math.remainder(turn, 2 * math.pi), x[count + 5 :],
            np.stack([self.wanted.real, self.wanted.imag], axis=-1),
            np.stack([reached.real, reached.imag], axis=-1),
        )  # fmt: skip


def _square(gaps: Points) -> float:
    return float(np.vdot(gaps, gaps).real)


def _path(mechanism: Mechanism, path: ArrayLike) -> Points:
    points = checked_numbers(f"{mechanism.name}: the path", path)
    if points.ndim != 2 or points.shape[1] != 2 or not 3 <= len(points) <= LONGEST_PATH:
        raise mechanism.refusal(
            f"the path has shape {points.shape}; give (N, 2), x and y in m, N from 3 to "
            f"{LONGEST_PATH}"
        )
    if not np.isfinite(points).all():
        raise mechanism.refusal("the path holds NaN or infinity")
    whole: Points = points[:, 0] + 1j * points[:, 1]
    if not np.abs(np.diff(whole)).sum() > 0:
        raise mechanism.refusal("the path is one point; give points that differ")
    return whole


def _carrier(mechanism: Mechanism, part: str | None) -> str:
    parts = mechanism.layout().parts
    if part is None:
        floating = [one for one in parts if one.parent != GROUND and isinstance(one.piece, Bar)]
        return (floating or list(parts))[0].name
    names = [one.name for one in parts]
    if part not in names:
        raise mechanism.refusal(unknown("part", part, names))
    return part


PATH_POINTS = 36
"""Points along each of two paths that are compared."""


def evenly(path: Points) -> tuple[Points, Array]:
    """Points at even distances along a path, and the share of its length at each of its own."""
    steps = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(path)))])
    shares = steps / steps[-1]
    return np.interp(np.linspace(0, 1, PATH_POINTS), shares, path), shares


def alike(arc: Points, angles: Array, target: Points, closed: bool) -> tuple[float, Array, complex]:
    """How alike two paths are (1: the same shape), crank angles along it, scale and turn."""
    steps = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(arc)))])
    if not steps[-1] > 0:
        return 0.0, np.zeros(PATH_POINTS), 1 + 0j
    shares = np.linspace(0, 1, PATH_POINTS)
    angle = np.interp(shares, steps / steps[-1], angles)
    points = np.interp(shares, steps / steps[-1], arc)
    if closed:  # any point may be the first: all of them at once
        one, other = points[:-1] - points[:-1].mean(), target[:-1] - target[:-1].mean()
        products = np.fft.ifft(np.conj(np.fft.fft(one)) * np.fft.fft(other))
        shift = int(np.abs(products).argmax())
        product = products[shift]
        whole = np.roll(angle[:-1], shift)
        turns = 2 * np.pi * np.sign(angle[-1] - angle[0])
        whole[:shift] -= turns
        angle = np.append(whole, whole[0] + turns)
    else:
        one, other = points - points.mean(), target - target.mean()
        product = np.vdot(one, other)
    norms = np.linalg.norm(one) * np.linalg.norm(other)
    return float(abs(product) / norms), angle, complex(product / np.vdot(one, one).real)
