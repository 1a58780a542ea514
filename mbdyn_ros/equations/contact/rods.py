"""Two links that touch: balls and capsules, which are rods with round ends."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from ...model.model import Array
from ..algebra.spatial import SX, constant
from .signed_distance import length

PARALLEL = 1e-12
"""Share of the product of two lengths squared under which rods count as parallel."""


class Rod(NamedTuple):
    """A segment (m) in a body's frame, thick by a radius (m); a ball where it begins and ends.

    link : name of the link whose shape it is.
    """

    body: int
    start: Array
    end: Array
    radius: float
    link: str = ""


class Couple(NamedTuple):
    """Two rods of different bodies."""

    one: Rod
    other: Rod


def between(couple: Couple, T: SX, S: SX) -> tuple[SX, SX, SX]:
    """Their distance (m), the normal from the other to the one, and the place in between.

    Parameters
    ----------
    T, S : transforms (3, 4) of both bodies into the world.
    """
    points = [
        [pose @ constant([*place, 1.0]) for place in (rod.start, rod.end)]
        for rod, pose in zip(couple, (T, S), strict=True)
    ]
    (start, end), (first, last) = points
    u, w, r = end - start, last - first, start - first
    long, wide = ca.sumsqr(u), ca.sumsqr(w)
    b, c, f = ca.dot(u, w), ca.dot(u, r), ca.dot(w, r)
    is_ball, is_round = (bool((rod.start == rod.end).all()) for rod in couple)
    s, t = SX(0), SX(0)
    if not is_round:
        s_on_line = SX(0)
        if not is_ball:
            share = long * wide - b * b
            apart = share > PARALLEL * long * wide
            s_on_line = ca.if_else(apart, (b * f - c * wide) / ca.if_else(apart, share, 1), 0.5)
        t = _clamped((b * _clamped(s_on_line) + f) / wide)
    if not is_ball:
        s = _clamped((b * t - c) / long)
    gap = start + s * u - first - t * w
    distance = length(gap)
    n = gap / distance
    radii = couple.one.radius + couple.other.radius
    return distance - radii, n, first + t * w + couple.other.radius * n


def _clamped(share: SX) -> SX:
    return ca.fmin(ca.fmax(share, 0), 1)


def couple_bytes(couple: Couple) -> bytes:
    """Bytes that identify a couple."""
    return b"".join(
        np.array([rod.body, rod.radius]).tobytes() + rod.start.tobytes() + rod.end.tobytes()
        for rod in couple
    )
