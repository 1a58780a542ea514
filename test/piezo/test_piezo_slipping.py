"""Contacts that slip, transducers that ring, rotors that are bodies: against equations by hand.

The judges are SciPy's integrators on equations of motion written here, with friction as a law with
events (one joint) or as a steep smooth function (two joints).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from piezo_windows import HOME, LIFT, TURN, open_windows
from scipy.integrate import solve_ivp

import mbdyn_ros
from mbdyn_ros.piezo import Contact, PiezoMotion, Rotor, RotorDrive, SlippingMotion
from mbdyn_ros.simulation.contact.impulses import Blocks, contact_impulses

pytestmark = pytest.mark.usefixtures("interpreted")
Array = np.ndarray
ROTOR = Rotor(0.01, 0.02, 300.0)  # 18 N
MASS, SLOPE = 0.5, 0.9


def slide_by_hand(contact: Contact, on: float, off: float, end: float) -> tuple[Array, Array]:
    """Times and positions of the lift of `LIFT` under the rotor, from stick to slip and back."""
    push, w = ROTOR.amplitude, ROTOR.speed

    def holding(t: Any) -> Any:
        ringing = np.clip(t, on / w, off / w) - on / w
        e = 1 - np.exp(-ringing / contact.ring_up)
        return contact.holding * (1 - e * np.exp(-np.maximum(t - off / w, 0) / contact.ring_down))

    def load(t: Any) -> Any:
        return push * np.cos(w * t) - MASS * 9.81 * np.sin(SLOPE)

    times, ways, t, x, v, sign = [0.0], [0.0], 0.0, 0.0, 0.0, 0.0
    while t < end:
        if sign == 0.0:
            fine = np.linspace(t, end, 400_000)
            breaks = np.abs(load(fine[1:])) > holding(fine[1:])
            if not breaks.any():
                break
            t = float(fine[1:][np.argmax(breaks)])
            v, sign = 0.0, float(np.sign(load(t)))
            continue

        def rate(t: float, y: Array, sign: float = sign) -> list[float]:
            return [y[1], (load(t) - sign * holding(t)) / MASS]

        def stops(t: float, y: Array, sign: float = sign) -> float:
            return float(y[1]) * sign

        stops.terminal, stops.direction = True, -1  # type: ignore[attr-defined]
        done = solve_ivp(rate, (t, end), [x, v], events=stops, rtol=1e-9, atol=1e-12,
                         max_step=5e-4)  # fmt: skip
        times += done.t.tolist()
        ways += done.y[0].tolist()
        t, (x, v) = float(done.t[-1]), done.y[:, -1].tolist()
        held = abs(load(t)) <= holding(t)
        sign = 0.0 if held else float(np.sign(load(t)))
    return np.array([*times, end]), np.array([*ways, x])


@pytest.mark.sparse
@pytest.mark.parametrize("ring", [(2e-4, 1e-4), (3e-3, 2e-3)])
def test_a_contact_slips_while_its_transducer_rings(ring: tuple[float, float]) -> None:
    """Soon or late: long ringing lets go after the peak of the force, and holds late."""
    contact = Contact(14.0, *ring)
    on, off, end = 5.2, 7.3, 8.5  # rad; the peak is at 2 pi
    motion = SlippingMotion(mbdyn_ros.load(LIFT), ROTOR, "cage", contact, step=0.01)
    motion.command(open_windows(("rail",), [on], [off - TURN]))
    times, ways = slide_by_hand(contact, on, off, end / ROTOR.speed)
    largest = np.abs(ways).max()
    for share in (0.75, 0.85, 0.95, 1.0):
        motion.advance(share * end / ROTOR.speed - motion.time)
        at = np.interp(motion.time, times, ways)
        assert motion.q[0] == pytest.approx(at, abs=5e-3 * largest)
    assert largest > 1e-4 and len(motion.pulses) == 1
    assert motion.envelope[0] < 1 - np.exp(-(off - on) / ROTOR.speed / ring[0])


def test_a_contact_slips_under_a_load_that_it_cannot_hold() -> None:
    """Gravity pulls 3.84 N, more than 3 N: it slips although no transducer is on."""
    motion = SlippingMotion(mbdyn_ros.load(LIFT), ROTOR, "cage", Contact(30.0))
    motion.advance(0.05)
    assert motion.q[0] == 0.0 == motion.v[0]
    weak = Rotor(1e-6, 1e-3, 300.0)
    motion = SlippingMotion(mbdyn_ros.load(LIFT), weak, "cage", Contact(3.0))
    motion.advance(0.05)
    fall = (3.0 / MASS - 9.81 * np.sin(SLOPE)) * 0.05**2 / 2
    assert motion.q[0] == pytest.approx(fall, rel=1e-4)


BAR = """<link name="{name}"><inertial><origin xyz="{c} 0 0"/><mass value="{m}"/>
  <inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
ARM = (
    '<robot name="arm"><link name="w"/>' + BAR.format(name="a", c=0.1, m=0.4, i=1e-3)
    + BAR.format(name="b", c=0.08, m=0.3, i=8e-4)
    + '<joint name="one" type="continuous"><axis xyz="0 0 1"/><parent link="w"/><child link="a"/>'
    '</joint><joint name="two" type="continuous"><origin xyz="0.2 0 0"/><axis xyz="0 0 1"/>'
    '<parent link="a"/><child link="b"/></joint>'
    '<link name="tip"/><joint name="flange" type="fixed"><origin xyz="0.15 0 0"/>'
    '<parent link="b"/><child link="tip"/></joint></robot>'
)  # fmt: skip


def arm_by_hand(friction: Callable[[float], Array]) -> Callable[[float, Array], Array]:
    """Rates of the two bars in a horizontal plane, under the rotor and friction of limits (2,)."""
    steep = 1e-3

    def rate(t: float, y: Array) -> Array:
        q, v = y[:2], y[2:]
        c, s = np.cos(q[1]), np.sin(q[1])
        m12 = 0.3 * 0.08**2 + 8e-4 + 0.3 * 0.2 * 0.08 * c
        m22 = 0.3 * 0.08**2 + 8e-4
        m11 = 0.4 * 0.1**2 + 1e-3 + 0.3 * (0.2**2 + 2 * 0.2 * 0.08 * c) + m22
        k = 0.3 * 0.2 * 0.08 * s
        bias = np.array([-k * (2 * v[0] * v[1] + v[1] ** 2), k * v[0] ** 2])
        x, along = (ROTOR.amplitude * f(ROTOR.speed * t) for f in (np.cos, np.sin))
        # of the force in the tip's axes about both pins
        torque = np.array([(0.15 + 0.2 * c) * along + 0.2 * s * x, 0.15 * along])
        rub = friction(t) * np.tanh(v / steep)
        a = np.linalg.solve([[m11, m12], [m12, m22]], torque - bias - rub)
        return np.concatenate([v, a])

    return rate


@pytest.mark.long
def test_two_contacts_slip_each_other() -> None:
    contact = Contact(2.0, 1e-3, 1e-3)
    motion_of = {}
    end, on, off = 9.0 / ROTOR.speed, 0.3, 2.6
    for step in (0.02, 0.005):
        motion = SlippingMotion(mbdyn_ros.load(ARM), ROTOR, "tip", contact, step=step)
        motion.set_state([0.3, 0.8])
        motion.command(open_windows(("one", "two"), [0.0, on], [0.0, off]))
        motion.advance(end)
        motion_of[step] = motion.q

    def friction(t: float) -> Array:
        turn = ROTOR.speed * t % TURN
        start = t - turn / ROTOR.speed
        e, now = 0.0, 0.0
        for begin in (0.0, start) if start > 0 else (0.0,):
            up, down = begin + on / ROTOR.speed, begin + off / ROTOR.speed
            if t > up:
                e = 1 - (1 - e * np.exp(-(up - now) / 1e-3)) * np.exp(-(min(t, down) - up) / 1e-3)
                now = min(t, down)
            if t > down:
                stop = min(t, begin + TURN / ROTOR.speed)
                e, now = e * np.exp(-(stop - down) / 1e-3), stop
        return np.array([2.0, 2.0 * (1 - e)])

    done = solve_ivp(arm_by_hand(friction), (0, end), [0.3, 0.8, 0, 0], method="BDF",
                     rtol=1e-6, atol=1e-9, max_step=5e-4)  # fmt: skip
    way = done.y[:2, -1] - [0.3, 0.8]
    assert np.abs(way).min() > 1e-4  # the first bar slips too, under the second one's inertia
    errors = [np.abs(q - done.y[:2, -1]).max() for q in motion_of.values()]
    assert errors[1] < 0.01 * np.abs(way).max() and errors[1] < errors[0]


@pytest.mark.long
def test_a_rotor_with_a_motor_turns_and_shakes_its_link() -> None:
    """Link and rotor by Lagrange's equations: the reaction turns the link back while it starts."""
    drive = RotorDrive(stall=0.004, no_load=400.0, inertia=2e-7)
    rotor, arm, reach, inertia = Rotor(0.01, 0.005, 50.0), 0.15, 0.08, 8e-4 + 0.3 * 0.08**2
    one = (
        '<robot name="one"><link name="w"/>'
        + BAR.format(name="b", c=reach, m=0.3, i=8e-4)
        + '<joint name="two" type="continuous"><axis xyz="0 0 1"/><parent link="w"/>'
        '<child link="b"/></joint><link name="tip"/><joint name="flange" type="fixed">'
        f'<origin xyz="{arm} 0 0"/><parent link="b"/><child link="tip"/></joint></robot>'
    )
    motion = SlippingMotion(mbdyn_ros.load(one), rotor, "tip", Contact(1e-12), drive, step=0.02)
    motion.set_state([0.2])
    m, r = rotor.mass, rotor.radius

    def rate(t: float, y: Array) -> Array:
        _, phi, v, w = y
        c, s = np.cos(phi), np.sin(phi)
        m22 = m * r * r + 2e-7
        m12 = m22 + m * arm * r * c
        m11 = inertia + m * arm**2 + 2 * m * arm * r * c + m22
        motor = 0.004 * (1 - w / 400)
        right = [m * arm * r * s * (2 * v * w + w * w), motor - m * arm * r * s * v * v]
        return np.concatenate([[v, w], np.linalg.solve([[m11, m12], [m12, m22]], right)])

    done = solve_ivp(rate, (0, 0.3), [0.2, 0, 0, 50.0], rtol=1e-10, atol=1e-12)
    motion.advance(0.3)
    q, phi, v, w = done.y[:, -1]
    assert motion.speed == pytest.approx(w, rel=1e-3) and w > 150
    assert motion.q[0] == pytest.approx(q, abs=1e-3 * abs(q - 0.2))
    assert motion.angle == pytest.approx(phi, abs=0.02)
    assert motion.v[0] == pytest.approx(v, rel=2e-2)


@pytest.mark.long
def test_strong_contacts_and_quick_transducers_are_those_of_the_ideal_motion() -> None:
    robot = mbdyn_ros.load(LIFT)
    ideal = PiezoMotion(robot, ROTOR, "cage", step=0.02)
    real = SlippingMotion(robot, ROTOR, "cage", Contact(1e4), step=0.005)
    for motion in (ideal, real):
        motion.command(open_windows(("rail",), [5.5], [0.8]))
        motion.advance(4.2 * TURN / ROTOR.speed)
    assert real.q[0] == pytest.approx(ideal.q[0], rel=5e-3) and len(real.pulses) == 4
    assert real.pulses[0].achieved == pytest.approx(ideal.pulses[0].achieved, rel=1e-3)


def test_refusals() -> None:
    for call, message in (
        (lambda: Contact(0.0), "nothing would hold"),
        (lambda: Contact(1.0, -1.0), "ring_up of the contact is -1"),
        (lambda: RotorDrive(0.0, 1.0), "must be positive"),
        (lambda: SlippingMotion(mbdyn_ros.load(LIFT), ROTOR, "cage", Contact(1.0), step=0), "step"),
        (lambda: SlippingMotion(mbdyn_ros.load(LIFT), ROTOR, "x", Contact(1.0)), "no link 'x'"),
    ):
        with pytest.raises(mbdyn_ros.InputError, match=message):
            call()
    assert len(HOME) == 6


def test_friction_impulses_solve_their_problem() -> None:
    random = np.random.default_rng(5)
    for size in (1, 2, 5, 20):
        for _ in range(50):
            root = random.normal(size=(size, size))
            matrix = root @ root.T + 0.1 * np.eye(size)
            free, bound = random.normal(size=size), random.uniform(0.01, 1, size)
            guess = random.normal(size=size)
            impulse = contact_impulses(matrix, free, Blocks.dry(bound), guess)
            velocity = free + matrix @ impulse
            assert (np.abs(impulse) <= bound * (1 + 1e-12)).all()
            rests = np.abs(impulse) < bound * (1 - 1e-12)
            assert np.abs(velocity[rests]).max(initial=0) < 1e-9
            assert (velocity * impulse)[~rests].max(initial=0) <= 1e-9
