"""When to free a joint so that a rotating force gives it a mean torque or a displacement.

The force drives joint i with Q_i(wt) = R_i cos(wt - psi_i). A joint that is freed only while wt is
within d of psi_i feels over a turn the mean torque

    1/(2 pi) integral_{-d}^{d} R_i cos(x) dx = (R_i / pi) sin(d),                            (a)

largest, R_i / pi, at d = pi / 2; around psi_i + pi it is the negative of this.

A joint that is held while its pulse is over starts every pulse at rest. Alone, with the inertia
H_ii and under gravity's torque -g_i, which moves it only while it is free, it ends the pulse with
the speed 2 (R_i sin(d) - g_i d) / (H_ii w); the torques are even about the middle of the pulse, so
it has come half of that times the pulse's time 2 d / w:

    displacement = 2 d (R_i sin(d) - g_i d) / (H_ii w^2).                                    (b)

Inverse dynamics solves (b) for d; (a) is the mean torque that it takes. Beyond the d at which
R_i cos(d) = g_i the torque drives the joint back: no pulse is wider.
"""

from __future__ import annotations

import math

import casadi as ca

from ..equations.algebra.spatial import SX

TURN = math.tau

AMPLITUDE_ROUNDING = 1e-12
"""Torques below this fraction of force times reach are rounding: the force cannot move there."""

NEWTON_STEPS = 6
"""Enough for 1e-9 of the largest displacement, from the solution for short pulses."""

ROWS = ("on", "off", "mean_torque", "saturated", "amplitude", "phase")
"""Columns of the result of `windows`."""

CONTROL_ROWS = (*ROWS, "displacement", "able")
"""Rows of the pulses of a controller: also the displacement of each joint in a
turn, rad or m, and whether the rotor can move it in that direction."""


def amplitude_and_phase(components: SX, levers: SX) -> tuple[SX, SX]:
    """R and psi (nv, 1) of X cos + Y sin; both 0 where R is rounding compared with the lever."""
    x, y = components[:, 0], components[:, 1]
    amplitude = ca.sqrt(x * x + y * y)
    moves = amplitude > AMPLITUDE_ROUNDING * levers
    return ca.if_else(moves, amplitude, 0), ca.if_else(moves, ca.atan2(y, x), 0)


def windows(amplitude: SX, phase: SX, wanted: SX) -> SX:
    """The pulses (nv, 6), columns as in `ROWS`, for wanted mean torques (nv, 1): eq. (a)."""
    reach = amplitude / math.pi
    size = ca.fabs(wanted)
    saturated = size > reach
    mean = ca.if_else(saturated, ca.if_else(wanted < 0, -reach, reach), wanted)
    share = size / ca.if_else(reach > 0, reach, 1)
    half = ca.if_else(saturated, math.pi / 2, ca.asin(ca.fmin(share, 1)))
    half = ca.if_else(reach > 0, half, 0)
    centre = phase + ca.if_else(wanted < 0, math.pi, 0)
    on, off = within_a_turn(centre - half), within_a_turn(centre + half)
    return ca.horzcat(on, off, mean, saturated, amplitude, phase)


def torque_for_displacement(
    amplitude: SX, gravity: SX, inertia: SX, displacement: SX, speed: SX
) -> tuple[SX, SX, SX, SX]:
    """Mean torques (nv, 1) for displacements per turn (nv, 1): eq. (b) solved for d, then (a).

    Parameters
    ----------
    amplitude, gravity, inertia : R, g and the diagonal of H, (nv, 1).
    displacement : rad or m. speed : of the rotor, rad/s.

    Returns
    -------
    torque; the displacement that it gives, at most that of one full pulse; whether that is less
    than wanted; whether a pulse can move the joint in that direction at all, or need not.
    """
    sign = ca.if_else(displacement < 0, -1, 1)
    load = sign * gravity  # of the joint, against the motion
    able = ca.logic_and(amplitude > 0, load < amplitude)
    idle = displacement == 0
    strength = ca.if_else(able, amplitude, 1)
    load = ca.if_else(able, load, 0)
    widest = ca.acos(ca.fmin(ca.fmax(load / strength, 0), 1))
    effect = inertia * speed * speed

    def drive(half: SX) -> SX:
        return strength * ca.sin(half) - load * half

    most = 2 * widest * drive(widest)
    demand = ca.fabs(displacement) * effect
    wanted = ca.fmin(demand, most)
    # sin(d) < d: this is never too wide; Newton's method goes on from there.
    half = ca.fmin(ca.sqrt(wanted / (2 * (strength - load))), widest)
    for _ in range(NEWTON_STEPS):
        slope = 2 * (drive(half) + half * (strength * ca.cos(half) - load))
        step = (wanted - 2 * half * drive(half)) / ca.if_else(slope > 0, slope, 1)
        half = ca.fmin(ca.fmax(half + step, 0), widest)
    torque = ca.if_else(able, sign * strength * ca.sin(half) / math.pi, 0)
    given = ca.if_else(able, sign * wanted / effect, 0)
    short = ca.if_else(able, demand > most, ca.logic_not(idle))
    return torque, given, short, ca.logic_or(able, idle)


def within_a_turn(angle: SX) -> SX:
    """Angles turned into [0, 2 pi)."""
    wrapped = angle - TURN * ca.floor(angle / TURN)
    return ca.if_else(ca.logic_or(wrapped >= TURN, wrapped < 0), 0, wrapped)
