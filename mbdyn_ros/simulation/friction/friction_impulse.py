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

from ...model.model import Array

PIVOTS = 10
"""Most steps of block pivoting, which usually needs two or three; it may cycle."""

DEPENDENT_IMPULSES = 1e-12
"""Share of the largest eigenvalue under which impulses of several joints do the same."""


def friction_impulses(free: Array, inverse_mass: Array, bound: Array, guess: Array) -> Array:
    """Impulses p (k,) within +-bound that stop the joints where they can.

    Parameters
    ----------
    free : (k,) velocities without these impulses.
    inverse_mass : (k, k) velocity change by unit impulses; only semidefinite in a loop where
        more joints rub than are free.
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
            stop = np.linalg.lstsq(matrix, -velocity[sticks], rcond=DEPENDENT_IMPULSES)
            impulse[sticks] = stop[0]
            velocity += inverse_mass[:, sticks] @ impulse[sticks]
        slides = (sides != 0) & (velocity * sides <= 0)
        next_sides = np.where(slides, sides, 0.0)
        beyond = (sides == 0) & (np.abs(impulse) > bound)
        next_sides[beyond] = np.sign(impulse[beyond])
        if (next_sides == sides).all():
            return impulse
        sides = next_sides
    return boxed_impulses(inverse_mass, free, bound)


def boxed_impulses(matrix: Array, free: Array, bound: Array) -> Array:
    """Impulses (k,) within +-bound that minimize p^T A p / 2 + free^T p; A may be singular.

    With A = S S^T and free = S c they minimize |S^T p + c|^2.
    """
    from scipy.optimize import lsq_linear  # slow to import, and few robots need it

    values, vectors = np.linalg.eigh(matrix)
    kept = values > DEPENDENT_IMPULSES * values.max()
    root = np.sqrt(values[kept])
    columns = (vectors[:, kept] * root).T * bound
    right = -(vectors[:, kept].T @ free) / root
    share = lsq_linear(columns, right, (-1.0, 1.0), method="bvls", tol=1e-15).x
    result: Array = share * bound
    return result
