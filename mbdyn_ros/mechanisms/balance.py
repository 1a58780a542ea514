"""Balancing: counterweights on the links of a mechanism that take away its shaking force.

The shaking force is -d^2/dt^2 sum m c over all parts. Every part has a first moment p_k about its
joint, and sum m c = sum (m_k o_k + p_k e_k), o_k its joint's place and e_k its direction as complex
numbers. It stands still, and the force vanishes at any speed, where counterweights with first
moments u_k make the factors of what moves independently zero (Berkof and Lowen 1969). Here u are
found by least squares over many positions: zero where they can be, least where not, as of a
mechanism with a slide unless the links before it carry counterweights too (Tepper and Lowen 1972).

A counterweight at radius r has the mass |u| / r. Its inertia |u| r adds to the shaking moment and
to the driving torque: a small radius means more mass and less of both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import suggestion
from ..model.model import Array
from .analysis import Analysis
from .crank_motion import CrankMotion
from .layout import GROUND, Part
from .link import Bar
from .mechanism import Mechanism

BALANCE_POINTS = 120
"""Positions at which the centre of mass is looked at."""

BALANCE_ROUNDS = 200
"""Of the masses of counterweights whose joints move."""

ALONG = 1e-13
"""Sine of an angle that is zero up to rounding."""

BALANCED, HELPFUL = 1e-12, 0.9
"""Way of the common centre of mass, as a share of what it was: none, and less by a counterweight
that is worth its mass."""


@dataclass(frozen=True)
class Counterweight:
    """A point mass on a part. mass : kg. along, across : m, place on the part."""

    part: str
    mass: float
    along: float
    across: float


@dataclass(frozen=True, eq=False)
class Balance:
    """A balanced mechanism.

    mechanism : with the counterweights in its masses, centres and inertias. start : without.
    """

    start: Mechanism
    mechanism: Mechanism
    counterweights: tuple[Counterweight, ...]

    @property
    def settings(self) -> dict[str, float]:
        """The settings of the balanced mechanism that are not as before."""
        before = self.start.settings
        return {
            name: float(value)
            for name, value in self.mechanism.settings.items()
            if value != before[name]
        }

    def compared(self, motion: CrankMotion) -> tuple[Analysis, Analysis]:
        """A motion without the counterweights, and with them."""
        return Analysis(self.start, motion), Analysis(self.mechanism, motion)


def balance(
    mechanism: Mechanism,
    parts: Sequence[str] = (),
    radius: float | Mapping[str, float] | None = None,
    moment: float = 0.0,
) -> Balance:
    """Balance the shaking force by counterweights.

    Parameters
    ----------
    parts : links that carry one; by default all that turn on the ground, and of the others those
        that are needed to take the force away.
    radius : m, of the counterweights, or by part; by default half the length of each link.
    moment : length, m, by which the shaking moment is divided to add to the force. Above 0
        the force is not zero any more, but both together are least.

    Raises
    ------
    InputError
        No such part, it has no centre of mass to move, or a radius is none.

    Examples
    --------
    >>> from mbdyn_ros.mechanisms import FourBar, constant_speed
    >>> found = balance(FourBar())
    >>> before, after = found.compared(constant_speed(20.0))
    >>> bool(np.abs(after.shaking[:, :2]).max() < 1e-12 * np.abs(before.shaking[:, :2]).max())
    True
    """
    chosen, q = _chosen(mechanism, parts), mechanism.all_over(BALANCE_POINTS, 18, 1e-3)
    radii = {name: _radius(mechanism, name, radius) for name in _bars(mechanism)}
    first, rest = _first_moments(mechanism, chosen, radii, q)
    for name in [] if parts else [one for one in radii if one not in chosen]:
        if rest <= BALANCED:
            break
        more, less = _first_moments(mechanism, [*chosen, name], radii, q)
        if less < HELPFUL * rest:
            chosen, first, rest = [*chosen, name], more, less
    if moment > 0:
        first = _with_moment(mechanism, chosen, first, radii, moment, q)
    weights = _weights(chosen, first, radii)
    return Balance(mechanism, loaded(mechanism, weights), weights)


def _first_moments(
    mechanism: Mechanism, chosen: Sequence[str], radii: Mapping[str, float], q: Array
) -> tuple[Array, float]:
    """First moments (k,) of counterweights on these links, as along + i across, and what is left.

    That is the travel of the common centre of mass, as a share of that without counterweights.
    """
    pose = mechanism.pose(q)
    turned, origins = (
        np.stack([one[part] for part in chosen], axis=1) for one in (pose.directions, pose.origins)
    )
    matrix = np.column_stack([turned, np.ones(len(q))])
    fixed = sum(
        float(part.piece.mass) * pose.point(part.name, part.piece.middle)
        for part in mechanism.layout().parts
    )
    first, reach = np.zeros(len(chosen), dtype=complex), np.array([radii[one] for one in chosen])
    for _ in range(BALANCE_ROUNDS):
        moved = fixed + origins @ (np.abs(first) / reach)
        found = np.linalg.lstsq(matrix, -moved, rcond=None)[0]
        left = np.abs(matrix @ found + moved).max() / np.abs(fixed - np.mean(fixed)).max()
        settled = np.abs(found[:-1] - first).max() <= 1e-15 * np.abs(found).max()
        first = found[:-1]
        if settled:
            break
    return first, float(left)


def loaded(mechanism: Mechanism, weights: Sequence[Counterweight]) -> Mechanism:
    """The mechanism with counterweights on its links."""
    pieces = {part.name: part.piece for part in mechanism.layout().parts}
    settings: dict[str, float] = {}
    for one in weights:
        piece = pieces[one.part]
        old, place = complex(*piece.middle), complex(one.along, one.across)
        mass = float(piece.mass) + one.mass
        middle = (float(piece.mass) * old + one.mass * place) / mass
        inertia = float(piece.moment) + float(piece.mass) * one.mass / mass * abs(place - old) ** 2
        settings |= {
            f"{one.part}_mass": mass, f"{one.part}_inertia": inertia,
            f"{one.part}_center_along": middle.real, f"{one.part}_center_across": middle.imag,
        }  # fmt: skip
    return mechanism.replaced(**settings)


def _weights(
    chosen: Sequence[str], first: Array, radii: Mapping[str, float]
) -> tuple[Counterweight, ...]:
    """Point masses with these first moments."""
    weights = []
    for part, u in zip(chosen, first.tolist(), strict=True):
        if abs(u) > 0:
            unit = u / abs(u)
            across = unit.imag if abs(unit.imag) > ALONG else 0.0
            place = complex(unit.real, across) * radii[part]
            weights.append(Counterweight(part, abs(u) / radii[part], place.real, place.imag))
    return tuple(weights)


def _with_moment(
    mechanism: Mechanism, chosen: Sequence[str], first: Array, radii: Mapping[str, float],
    moment: float, q: Array,
) -> Array:  # fmt: skip
    """First moments that make force and moment together least, at constant unit speed."""
    from scipy.optimize import least_squares  # its import takes longer than ours

    motion = CrankMotion(np.arange(float(len(q))), q, np.ones_like(q), np.zeros_like(q))

    def both(x: Array) -> Array:
        weights = _weights(chosen, x.view(complex), radii)
        shaking = Analysis(loaded(mechanism, weights), motion).shaking
        return (shaking * [1.0, 1.0, 1.0 / moment]).ravel()

    start = np.ascontiguousarray(first).view(float)
    solved: Array = least_squares(both, start, x_scale=np.abs(first).max(), xtol=1e-12).x
    return solved.view(complex)


def _bars(mechanism: Mechanism) -> dict[str, Part]:
    return {part.name: part for part in mechanism.layout().parts if isinstance(part.piece, Bar)}


def _chosen(mechanism: Mechanism, parts: Sequence[str]) -> list[str]:
    bars = _bars(mechanism)
    for name in parts:
        if name not in bars:
            raise mechanism.refusal(
                f"balance: there is no link {name!r}{suggestion(name, bars)}; counterweights go on "
                f"{', '.join(bars)}"
            )
    chosen = list(parts) or [name for name, part in bars.items() if part.parent == GROUND]
    if not chosen:
        raise mechanism.refusal(
            f"balance: no link turns on the ground; name those that bear counterweights, of "
            f"{', '.join(bars)}"
            if bars
            else "balance: it has no links that could bear counterweights, only wheels and blocks"
        )
    return chosen


def _radius(mechanism: Mechanism, part: str, radius: float | Mapping[str, float] | None) -> float:
    given = radius.get(part) if isinstance(radius, Mapping) else radius
    if given is None:
        return float(mechanism.settings[f"{part}_length"]) / 2
    if not (math.isfinite(given) and given > 0):
        raise mechanism.refusal(f"balance: the radius on {part} is {given}; give one above 0 m")
    return float(given)
