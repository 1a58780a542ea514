"""Stability of a sampled loop: eigenvalues of robot and controller, of one period to the next.

Near a state the robot obeys x' = A x + B u, with x the changes of positions and velocities and u
those of efforts. A controller that samples x at every period T and whose efforts come one period
later, each held for a period, closes the loop by

    x[k+1] = exp(A T) x[k] + (integral of exp(A t) B from 0 to T) u[k],    u[k+1] = F x[k],

(Astrom and Wittenmark, Computer-controlled systems, 1997, section 3.2), which dies out where all
eigenvalues are smaller than 1 in size. A derivation for gains that are constant; a robot that moves
fast is at another state soon.
"""

from __future__ import annotations

import math

import numpy as np

from ..array import Array
from ..errors import InputError
from ..robot import Robot


class InstabilityError(InputError):
    """Feedback, or a state, so large that the sampled loop has no numbers."""


SLOW_GROWTH = 1.0
"""1/s: what grows more slowly is left to whoever holds the robot. Efforts that hold it against
gravity come a period late, and let it drift."""


def loop_eigenvalues(
    robot: Robot, q: Array, v: Array, effort: Array, feedback: Array, period: float
) -> Array:
    """Eigenvalues (2 n + efforts,) of the sampled loop at a state, the largest first.

    Parameters
    ----------
    q, v, effort : the state (n,), (n,), and the efforts that the controller has there.
    feedback : (efforts, 2 n) derivatives of its efforts by q and v.
    period : s from sample to sample.

    Raises
    ------
    InputError
        A state or feedback so large that the loop has no numbers.
    """
    from scipy.linalg import expm  # slow to import

    n, m = robot.nv, len(feedback)
    by_q, by_v, by_effort = robot.forward_dynamics_derivatives(q, v, effort)
    flow = np.zeros((2 * n + m, 2 * n + m))
    flow[:n, n : 2 * n] = np.eye(n)
    flow[n : 2 * n] = np.hstack([by_q, by_v, by_effort])
    with np.errstate(over="ignore", invalid="ignore"):  # reported below
        loop = expm(flow * period)
    if not (np.isfinite(loop).all() and np.isfinite(feedback).all()):
        raise InstabilityError(
            f"{robot.model.source}: the loop sampled every {period:g} s has no eigenvalues at q = "
            f"{q.tolist()}, v = {v.tolist()}: its numbers are too large"
        )
    loop[2 * n :] = np.hstack([feedback, np.zeros((m, m))])
    found = np.linalg.eigvals(loop)
    return found[np.argsort(-np.abs(found))]


def growth(eigenvalues: Array, period: float) -> float:
    """Fastest growth rate (1/s) of a sampled loop; negative where it is stable."""
    largest = float(np.abs(eigenvalues).max(initial=0.0))
    return math.log(largest) / period if largest > 0 else -math.inf


def complaint(eigenvalues: Array, period: float) -> str:
    """A description of the instability of a sampled loop; empty where no warning is needed."""
    rate = growth(eigenvalues, period)
    if not rate > SLOW_GROWTH:
        return ""
    worst = complex(eigenvalues[0])
    turning = abs(math.atan2(worst.imag, worst.real)) / (2 * math.pi * period)
    how = f"swings at {turning:.3g} Hz and grows" if turning > 0 else "grows"
    return (
        f"the gains make the loop unstable at this state: at {1 / period:g} Hz and one period of "
        f"delay the eigenvalue {worst:.4g} has size {abs(worst):.4g}, more than 1: its motion "
        f"{how} by a factor of e in {1 / rate:.3g} s. Lower the gains, or raise the rate"
    )
