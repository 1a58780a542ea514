"""Precision positions: four-bars whose coupler takes given poses, or whose rocker given angles.

Motion (Burmester 1888; Sandor and Erdman, Advanced Mechanism Design, 1984): a link that carries the
coupler's point m on a circle about the ground's point g holds it at one distance in all poses.
Three places of any m have a circle through them; four have one where, with the places P_k of m,

    det [|P_k|^2  P_kx  P_ky  1] = 0,

which makes m go along the circle point curve and g, the circle's centre, along the centre point
curve. Two such links are a four-bar; of all pairs that stay on one branch and whose crank passes
the poses in their order, one whose crank turns fully is taken, and of these the one with the best
transmission angle.

Function (Freudenstein 1955): with the crank at phi and the rocker at psi, from the ground's line,

    K_1 cos psi - K_2 cos phi + K_3 = cos(phi - psi),
    K_1 = d / a,  K_2 = d / c,  K_3 = (a^2 + c^2 + d^2 - b^2) / (2 a c)

with ground d, crank a, coupler b and rocker c: linear in three numbers, for three pairs. A negative
a or c is a crank or rocker that points the other way. For four pairs the line from which psi counts
is found too: the psi_0 at which the four equations agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import checked_numbers
from ..array import Array
from ..integration.methods import zero_between
from .fit import CurveFit
from .link import Points
from .linkages import FourBar

FARTHEST_PIVOT, SHORTEST_BAR = 6.0, 0.05
"""Links and distances of pivots, in sizes of the poses (from their middle to the farthest)."""

GRID, RAYS, RADII = 25, 180, 241
"""Points across the plane of the coupler that are tried for three poses; rays along which the
circle point curve of four is sought, and points of each."""

BISECTIONS = 60
"""Halvings of a step of a ray, to rounding."""

LEAST_SINE = 0.2
"""Of the transmission angle at the poses: 11.5 deg."""

ROCKER_ZEROS = 721
"""Values of psi_0 between which those sought are found."""

BETWEEN = 65
"""Crank angles from the first position to the last at which a four-bar must close."""

MET = 1e-7
"""Gap, in sizes of the poses or in rad, up to which a four-bar meets its positions."""


@dataclass(frozen=True, eq=False)
class PoseFit(CurveFit):
    """A four-bar whose coupler takes precision poses.

    tilt : from the coupler's x axis to that of the poses, rad. angles, angles_reached : (N,) of
    the poses, rad, wanted and by the four-bar's kinematics.
    """

    tilt: float
    angles: Array
    angles_reached: Array

    @property
    def turn_gap(self) -> float:
        """Largest difference of the angles, rad."""
        return _apart(self.angles, self.angles_reached)


@dataclass(frozen=True, eq=False)
class FunctionFit:
    """A four-bar whose rocker is at precision angles when its crank is.

    mechanism : its lengths. q : (N,) of its crank, rad. rocker, rocker_reached : (N,) rad, as
    given, and by the four-bar's kinematics. crank_zero, rocker_zero : from the ground's line to
    where the angles given count from, rad; 0 or pi except for the rocker's of four pairs.
    """

    mechanism: FourBar
    q: Array
    rocker: Array
    rocker_reached: Array
    crank_zero: float
    rocker_zero: float

    @property
    def turn_gap(self) -> float:
        """Largest difference of the rocker's angles, rad."""
        return _apart(self.rocker, self.rocker_reached)


def fit_poses(mechanism: FourBar, poses: ArrayLike) -> PoseFit:
    """The four-bar whose coupler takes three or four poses, one after the other.

    Parameters
    ----------
    mechanism : masses of the links.
    poses : (3, 3) or (4, 3) x and y, m, and angle, rad.

    Raises
    ------
    InputError
        Another number of poses, or no four-bar was found that takes them on one branch.

    Examples
    --------
    >>> from mbdyn_ros.mechanisms import FourBar
    >>> fit = fit_poses(FourBar(), [[0, 0, 0], [0.1, 0.05, 0.3], [0.2, 0.02, 0.5]])
    >>> bool(fit.gaps.max() < 1e-9), fit.turn_gap < 1e-9
    (True, True)
    """
    given = _rows(mechanism, poses, "poses", "x and y, m, and angle, rad", 3)
    origin, turn = given[:, 0] + 1j * given[:, 1], np.exp(1j * given[:, 2])
    size = float(np.abs(origin - origin.mean()).max())
    if not size:
        raise mechanism.refusal("the poses are all at one place; a hinge there takes them")
    if _apart(given[1:, 2], given[:-1, 2]) < MET:
        raise mechanism.refusal(
            "the poses are all at one angle; a parallelogram, or a straight slide, takes them"
        )
    moving = _grid(size) if len(given) == 3 else _circle_points(origin, turn, size)
    P = origin[:, None] + turn[:, None] * moving  # (N, M) places of moving pivots
    g = _centers(P[:3])
    radius = np.abs(P[0] - g)
    fits = (np.abs(g - origin.mean()) < FARTHEST_PIVOT * size) & (radius < FARTHEST_PIVOT * size)
    fits &= radius > SHORTEST_BAR * size
    P, g = P[:, fits], g[fits]
    pairs, missing = _pairs(P, g)
    for one, other in pairs:
        found = _of_pair(
            mechanism, given, P[:, one], complex(g[one]), P[:, other], complex(g[other])
        )
        if max(found.gaps.max(), found.turn_gap * size) < MET * size and _closes(found):
            return found
    raise mechanism.refusal(
        f"no four-bar was found that takes the {len(given)} poses: of {len(g)} links that hold a "
        f"point of the coupler at one distance, no two {missing}; leave out a pose, or change one"
    )


def fit_function(mechanism: FourBar, pairs: ArrayLike) -> FunctionFit:
    """The four-bar whose rocker is at given angles when its crank is.

    Parameters
    ----------
    mechanism : its ground's length and masses.
    pairs : (3, 2) or (4, 2) angles of crank and rocker, rad. Of three pairs both count from the
        ground's line, either way, of four the rocker's from a line that is found.

    Raises
    ------
    InputError
        Another number of pairs, or no four-bar on one branch has them.

    Examples
    --------
    >>> import numpy as np
    >>> from mbdyn_ros.mechanisms import FourBar
    >>> fit = fit_function(FourBar(), np.radians([[30, 60], [60, 72], [90, 85]]))
    >>> fit.turn_gap < 1e-12
    True
    """
    given = _rows(mechanism, pairs, "pairs", "angles of crank and rocker, rad", 2)
    phi = given[:, 0]
    reasons = []
    for zero in [0.0] if len(given) == 3 else _zeros(given):
        psi = given[:, 1] + zero
        rows, right = _freudenstein(phi, psi)
        if np.linalg.matrix_rank(rows[:3]) < 3:
            reasons.append("two of the pairs say the same")
            continue
        K = np.linalg.solve(rows[:3], right[:3])
        d = float(mechanism.ground)
        with np.errstate(divide="ignore"):
            a, c = (d / K[:2]).tolist()
        square = a * a + c * c + d * d - 2 * a * c * K[2]
        if not (square > 0 and np.isfinite([a, c]).all()):
            reasons.append("Freudenstein's equation gives the coupler no length")
            continue
        crank, rocker = a * np.exp(1j * phi), d + c * np.exp(1j * psi)
        sides = np.sign(((rocker - crank) * (d - crank).conjugate()).imag).astype(int)
        made = _replaced(mechanism, d, abs(a), float(np.sqrt(square)), abs(c), int(sides[0]))
        crank_zero = np.pi if a < 0 else 0.0
        rocker_zero = math.remainder(zero + (np.pi if c < 0 else 0.0), 2 * np.pi)
        q = phi + crank_zero
        reached = np.angle(made.solved(q[:, None]).directions["rocker"]) - rocker_zero
        found = FunctionFit(made, q, given[:, 1], reached, crank_zero, rocker_zero)
        if found.turn_gap < MET and _closes(found):
            return found
        reasons.append("the pairs lie on both branches, or it does not close between them")
    raise mechanism.refusal(
        f"no four-bar has the {len(given)} pairs of angles: "
        f"{'; '.join(dict.fromkeys(reasons)) or 'the rocker angle has no usable reference line'}; "
        "change a pair"
    )


def _rows(mechanism: FourBar, given: ArrayLike, name: str, columns: str, width: int) -> Array:
    rows = checked_numbers(f"{mechanism.name}: the {name}", given)
    if rows.shape not in ((3, width), (4, width)):
        raise mechanism.refusal(
            f"the {name} have shape {rows.shape}; give 3 or 4 rows of {columns}"
        )
    if not np.isfinite(rows).all():
        raise mechanism.refusal(f"the {name} hold NaN or infinity")
    return rows


def _apart(one: Array, other: Array) -> float:
    """Largest difference of angles, rad, whole turns aside; infinite where one is not known."""
    away = np.abs(np.angle(np.exp(1j * (one - other))))
    return float(np.where(np.isfinite(away), away, np.inf).max())


def _replaced(
    mechanism: FourBar, ground: float, crank: float, coupler: float, rocker: float, branch: int
) -> FourBar:
    return mechanism.replaced(
        ground=ground, crank_length=crank, coupler_length=coupler, rocker_length=rocker,
        branch=branch,
    )  # fmt: skip


def _grid(size: float) -> Points:
    """Moving pivots in the coupler's plane."""
    line = np.linspace(-2, 2, GRID) * size
    return (line[:, None] + 1j * line).ravel()


def _circle_points(origin: Points, turn: Points, size: float) -> Points:
    """Points of the circle point curve of four poses, where rays cross it."""
    rays = np.exp(2j * np.pi * np.arange(RAYS) / RAYS)
    radii = np.linspace(0, 3 * size, RADII)

    def determinant(moving: Points) -> Array:
        P = origin[:, None] + turn[:, None] * moving.ravel()
        P = P - P.mean(axis=0)
        rows = np.stack([np.abs(P) ** 2, P.real, P.imag, np.ones_like(P.real)], axis=-1)
        return np.asarray(np.linalg.det(rows.transpose(1, 0, 2))).reshape(moving.shape)

    values = determinant(radii[:, None] * rays)
    low, ray = np.nonzero(values[:-1] * values[1:] < 0)
    near, far, start = radii[low], radii[low + 1], values[low, ray]
    for _ in range(BISECTIONS):
        middle = (near + far) / 2
        same = start * determinant(middle * rays[ray]) > 0
        near, far = np.where(same, middle, near), np.where(same, far, middle)
    found: Points = (near + far) / 2 * rays[ray]
    return found


def _centers(P: Points) -> Points:
    """Centres (M,) of the circles through three places (3, M)."""
    a, b = P[1] - P[0], P[2] - P[0]
    across = 2 * (a.conjugate() * b).imag
    with np.errstate(divide="ignore", invalid="ignore"):
        center: Points = P[0] + 1j * (np.abs(b) ** 2 * a - np.abs(a) ** 2 * b) / across
    return center


def _pairs(P: Points, g: Points) -> tuple[list[tuple[int, int]], str]:
    """Cranks and rockers that meet all conditions, the best first; and which none meets."""
    scored: list[tuple[bool, float, int, int]] = []
    names = "pass the poses in their order", "stay on one branch", "transmit at 11.5 deg and more"
    kept = [False] * len(names)
    for k in range(len(g)):
        coupler, rocker, ground = P - P[:, k : k + 1], P - g, g - g[k]
        crank = P[:, k] - g[k]
        with np.errstate(divide="ignore", invalid="ignore"):
            sine = (coupler.conjugate() * rocker).imag / np.abs(coupler) / np.abs(rocker)
            steps = np.angle(crank[1:] / crank[:-1])
        lengths = np.abs([np.full(len(g), crank[0]), ground, coupler[0], rocker[0]])
        turns = lengths[:2].min(axis=0) <= lengths[2:].min(axis=0)
        turns &= 2 * (lengths.min(axis=0) + lengths.max(axis=0)) < lengths.sum(axis=0)
        worst = np.abs(sine).min(axis=0)
        in_order = bool((steps > 0).all() or (steps < 0).all())
        good = (lengths.min(axis=0) > SHORTEST_BAR * lengths.max(axis=0)) & in_order
        on_branch = (np.sign(sine) == np.sign(sine[0])).all(axis=0)
        for i, condition in enumerate((good, on_branch, worst > LEAST_SINE)):
            good = good & condition
            kept[i] |= bool(good.any())
        scored += [(bool(turns[j]), float(worst[j]), k, int(j)) for j in np.flatnonzero(good)]
    missing = next((name for name, any_kept in zip(names, kept, strict=True) if not any_kept),
                   "close all the way between them")  # fmt: skip
    return [(k, j) for *_, k, j in sorted(scored, reverse=True)], missing


def _closes(found: PoseFit | FunctionFit) -> bool:
    """Whether the four-bar closes at all crank angles between its positions."""
    q = np.linspace(found.q.min(), found.q.max(), BETWEEN)[:, None]
    return bool(np.isfinite(found.mechanism.solved(q).directions["rocker"]).all())


def _of_pair(
    mechanism: FourBar, poses: Array, A: Points, a: complex, B: Points, b: complex
) -> PoseFit:
    """The four-bar of two links, and how near it comes by its own kinematics."""
    turn = float(np.angle(b - a))
    crank, coupler = A - a, B - A
    side = (coupler * (b - A).conjugate()).imag[0]
    a_b, a_A, A_B, b_B = (float(abs(one)) for one in (b - a, crank[0], coupler[0], B[0] - b))
    made = _replaced(mechanism, a_b, a_A, A_B, b_B, 1 if side > 0 else -1)
    origin = poses[:, 0] + 1j * poses[:, 1]
    at = (origin[0] - A[0]) / coupler[0] * A_B
    tilt = float(np.angle(np.exp(1j * poses[0, 2]) / coupler[0]))
    q = np.unwrap(np.angle(crank)) - turn
    pose = made.solved(q[:, None])
    reached = a + np.exp(1j * turn) * pose.point("coupler", (at.real, at.imag))
    return PoseFit(
        made, "coupler", (float(at.real), float(at.imag)), (a.real, a.imag), turn, q, poses[:, :2],
        np.stack([reached.real, reached.imag], axis=-1), tilt, poses[:, 2],
        np.angle(pose.directions["coupler"]) + turn + tilt,
    )  # fmt: skip


def _freudenstein(phi: Array, psi: Array) -> tuple[Array, Array]:
    """Rows of K_1, K_2, K_3, and right sides."""
    rows = np.stack([np.cos(psi), -np.cos(phi), np.ones_like(phi)], axis=-1)
    return rows, np.cos(phi - psi)


def _zeros(angles: Array) -> list[float]:
    """Every psi_0 at which four pairs agree, between changes of sign of the determinant."""

    def determinant(zero: float) -> float:
        rows, right = _freudenstein(angles[:, 0], angles[:, 1] + zero)
        return float(np.linalg.det(np.column_stack([rows, right])))

    line = np.linspace(-np.pi, np.pi, ROCKER_ZEROS).tolist()
    values = [determinant(one) for one in line]
    pairs = pairwise(zip(line, values, strict=True))
    return [zero_between(determinant, a, b) for (a, u), (b, v) in pairs if u * v < 0]
