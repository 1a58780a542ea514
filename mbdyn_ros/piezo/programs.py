"""The programs of piezo robots, about the link that carries the rotor."""

from __future__ import annotations

import casadi as ca

from ..equations.algebra.spatial import SX
from ..equations.efforts import reduced_efforts
from ..equations.programs import gravity_vector, mass_matrix, spring_vector
from ..equations.system import System
from ..program.declaration import program
from ..program.elimination import solve_ltl
from . import pulse_equations as pulses
from . import rotor_torque


@program("q", output="components", matrix=True, about="link")
def rotor_torques(system: System, q: SX, z: SX, link: str) -> SX:
    """X and Y (nv, 2) of the efforts X cos(wt) + Y sin(wt) of 1 N turning about z of a link."""
    embedding = system.embedding(q, z)
    return embedding.reduce(rotor_torque.rotor_torques(system.tree, embedding.joints, link))


@program("q force:1 torque", output="pulses", matrix=True, about="link")
def pulse_windows(system: System, q: SX, z: SX, force: SX, torque: SX, link: str) -> SX:
    """Pulses (6, nv), rows as in `pulse_equations.ROWS`, that give wanted mean torques (nv, 1)."""
    return pulses.windows(*_rotor_drive(system, q, z, force, link), torque).T


@program(
    "q wanted_q wanted_v gain:1 tolerance:1 force:1 speed:1",
    output="pulses", matrix=True, about="link",
)  # fmt: skip
def pulse_control(
    system: System,
    q: SX,
    z: SX,
    wanted_q: SX,
    wanted_v: SX,
    gain: SX,
    tolerance: SX,
    force: SX,
    speed: SX,
    link: str,
) -> SX:
    """Pulses (8, nv) that keep the joints on their path, rows as in `CONTROL_ROWS`.

    The displacement of a joint in one turn is that of the speed wanted_v + gain (wanted_q - q);
    none while it is within the tolerance of where it is wanted, and is to go no further in a turn.
    """
    amplitude, phase = _rotor_drive(system, q, z, force, link)
    inertia = ca.diag(mass_matrix(system, q, z))
    gravity = gravity_vector(system, q, z) + spring_vector(system, q, z)
    error = wanted_q - q
    turn = pulses.TURN / speed
    wanted_displacement = wanted_v * turn
    there = ca.fmax(ca.fabs(wanted_displacement), ca.fabs(error)) <= tolerance
    displacement = ca.if_else(there, 0, wanted_displacement + turn * gain * error)
    torque, given, short, able = pulses.torque_for_displacement(
        amplitude, gravity, inertia, displacement, speed
    )
    result = pulses.windows(amplitude, phase, torque)
    result[:, pulses.ROWS.index("saturated")] = short
    return ca.horzcat(result, given, able).T


@program("q v free force:1 phase:1", output="motion", matrix=True, about="link")
def pulsed_motion(
    system: System, q: SX, z: SX, v: SX, free: SX, force: SX, phase: SX, link: str
) -> SX:
    """Accelerations, and below them the rotor's torques (2, nv), while some joints are held.

    Of the joints that are free (1; held: 0), H_ff a_f = (Q - bias)_f; the others stand still.
    """
    embedding = system.embedding(q, z)
    rest = SX.zeros(v.shape[0])
    turning = ca.vertcat(ca.cos(phase), ca.sin(phase))
    torque = force * (rotor_torques(system, q, z, link) @ turning)
    drive = torque - reduced_efforts(system, embedding, v, rest, None, True)
    matrix = mass_matrix(system, q, z)
    held = ca.diag(free) @ matrix @ ca.diag(free) + ca.diag(1 - free)
    return ca.horzcat(solve_ltl(held, free * drive), torque).T


def _rotor_drive(system: System, q: SX, z: SX, force: SX, link: str) -> tuple[SX, SX]:
    """Amplitudes and phases (nv, 1) of the rotor's torques."""
    whole = SX.zeros(system.tree.nq)
    for k, row in enumerate(system.coordinates.q):
        whole[row] = q[k]
    reach = rotor_torque.levers(system.tree, whole, link)[list(system.coordinates.v)]
    components = force * rotor_torques(system, q, z, link)
    return pulses.amplitude_and_phase(components, force * reach)
