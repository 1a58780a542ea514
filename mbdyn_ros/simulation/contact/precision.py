"""How exactly contacts are distinguished: to the accuracy of the steps."""

from __future__ import annotations

from dataclasses import dataclass

from .impulses import SETTLED


@dataclass(frozen=True)
class Precision:
    """Limits under which distances (m or rad) and velocities at walls count as nothing.

    touching : distance of what touches. inside : depth at which a start is refused.
    graze : depth under which a point grazes and does not hit.
    closed : distance that is left where a step has landed on the wall.
    resting_speed : normal velocity (m/s or rad/s) of what touches and rests.
    settled : share of the velocities by which contacts with friction may miss their laws.
    """

    touching: float
    inside: float
    graze: float
    closed: float
    resting_speed: float
    settled: float


ADAPTIVE_STEPS = Precision(
    touching=1e-9, inside=1e-9, graze=1e-12, closed=1e-16, resting_speed=1e-9, settled=SETTLED
)
"""Of steps that adapt; where their tolerances are wider, so are the distances."""

STEPS_IN_C = Precision(
    touching=1e-7, inside=1e-6, graze=1e-9, closed=1e-9, resting_speed=1e-4, settled=1e-10
)
"""Of equal steps, which are compiled: there exactness costs next to nothing."""
