"""Dry (Coulomb) friction over one time step: impulses that stop a joint, or let it slide.

sign(v) is not a number at rest, and an integrator that evaluates it there chatters. Over a step
of length h, dry friction F may pass any impulse between -h F and h F: the one that stops the
joint where it can, else the greatest against the motion (Moreau's time stepping). The mass
matrix couples the joints, so the impulses p of all joints with friction are found together:

    v = free + A p,   |p_i| <= h F_i,   p_i = -h F_i sign(v_i) where v_i is not 0.

Bounded work matters more here than the last digit (for that see `stick_slip`).
"""

from __future__ import annotations

import numpy as np

from ..model.model import Array

PIVOTS, SWEEPS = 10, 10
"""Most steps of block pivoting, which usually needs two or three, and of the sweeps that serve
where it cycles."""


def friction_impulses(free: Array, inverse_mass: Array, bound: Array, guess: Array) -> Array:
    """Impulses p (k,) within +-bound that stop the joints where they can.

    Parameters
    ----------
    free : (k,) velocities without these impulses.
    inverse_mass : (k, k) velocity change by unit impulses, positive definite.
    bound : (k,) greatest impulse, h F.
    guess : (k,) where to start, such as the impulses of the last step.
    """
    sides = np.sign(guess) * (np.abs(guess) >= bound)  # 0 sticks, +-1 slides under +-bound
    impulse = guess
    for _ in range(PIVOTS):
        impulse = sides * bound
        sticks = np.flatnonzero(sides == 0)
        velocity = free + inverse_mass @ impulse
        if len(sticks):
            matrix = inverse_mass[np.ix_(sticks, sticks)]
            impulse[sticks] = np.linalg.solve(matrix, -velocity[sticks])
            velocity += inverse_mass[:, sticks] @ impulse[sticks]
        slides = (sides != 0) & (velocity * sides <= 0)
        next_sides = np.where(slides, sides, 0.0)
        beyond = (sides == 0) & (np.abs(impulse) > bound)
        next_sides[beyond] = np.sign(impulse[beyond])
        if (next_sides == sides).all():
            return impulse
        sides = next_sides
    return _sweep(free, inverse_mass, bound, np.clip(impulse, -bound, bound))


def _sweep(free: Array, inverse_mass: Array, bound: Array, impulse: Array) -> Array:
    """Improve impulses one by one (projected Gauss-Seidel)."""
    for _ in range(SWEEPS):
        for i, row in enumerate(inverse_mass):
            wanted = impulse[i] - (free[i] + row @ impulse) / row[i]
            impulse[i] = min(max(wanted, -bound[i]), bound[i])
    return impulse
