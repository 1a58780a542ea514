"""Followers in flight: against motions in closed form, momentum and energy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import brentq

from mbdyn_ros import InputError
from mbdyn_ros.__main__ import main
from mbdyn_ros.mechanisms import MECHANISMS, mechanism_kind, read_drawing
from mbdyn_ros.mechanisms.lift_off import move_with_flights

SPEED, MASS, LIFT, STIFFNESS, PRELOAD, GRAVITY = 90.0, 0.4, 0.02, 600.0, 5.0, 9.81
HEAVY = 1e9
"""kg m^2: a cam whose speed nothing changes."""


def eccentric(inertia: float = HEAVY):
    """A flat face on a disk about another point than its centre: s = h (1 - cos theta) / 2."""
    drawing = read_drawing(f"""
        name: eccentric
        points: {{O: [0, 0], F: [0, 0.05]}}
        ground: [O]
        links:
          cam: {{points: [O], mass: 1.0, inertia: {inertia!r}}}
          follower: {{points: [F], slides_on: ground, along: y, mass: {MASS}}}
        cams:
          - {{driver: cam, driven: follower, flat: true, stiffness: {STIFFNESS}, preload: {PRELOAD},
             law: [{{over: 180, to: {LIFT}, by: harmonic}}, {{over: 180, to: 0, by: harmonic}}]}}
        inputs: [cam]
        """)
    return mechanism_kind(drawing)()


def test_the_first_flight_is_that_of_a_mass_on_a_spring() -> None:
    """It leaves where m s'' w^2 + k s + preload + m g is 0, swings freely, and lands."""
    w, half = SPEED, LIFT / 2
    static = PRELOAD + MASS * GRAVITY

    def push(theta: float) -> float:
        return MASS * half * np.cos(theta) * w**2 + STIFFNESS * half * (1 - np.cos(theta)) + static

    leaves = brentq(push, 0.5, math.pi)
    own = math.sqrt(STIFFNESS / MASS)
    middle = -static / STIFFNESS
    s0, v0 = half * (1 - np.cos(leaves)), half * np.sin(leaves) * w

    def gap(t: float) -> float:
        place = middle + (s0 - middle) * np.cos(own * t) + v0 / own * np.sin(own * t)
        return place - half * (1 - np.cos(leaves + w * t))

    times = np.linspace(1e-3, 2 * math.pi / w, 20001)
    gaps = np.array([gap(t) for t in times])
    down = int(np.argmax(gaps < 0))
    flight = brentq(gap, times[down - 1], times[down])
    motion = move_with_flights(eccentric(), 0.0, w, 0.15, method="DOP853", rtol=1e-10, atol=1e-12)
    first = motion.flights[0]
    assert first.angle == pytest.approx(leaves, abs=1e-7)
    assert first.start == pytest.approx(leaves / w, abs=1e-9)
    assert first.end - first.start == pytest.approx(flight, abs=1e-7)
    assert first.gap == pytest.approx(gaps[:down].max(), rel=1e-3)
    assert motion.gap.min() > -1e-9 and motion.effort.min() > -1e-6


@pytest.mark.sparse
@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("name", ["eccentric", "oscillating_cam"])
def test_landings_lose_what_newtons_law_says(e: float, name: str) -> None:
    """A free cam and its follower: energy falls by the losses and by nothing else."""
    mechanism = eccentric(2e-3) if name == "eccentric" else MECHANISMS[name]()
    (cam,), speed = mechanism.cams, 120.0 if name == "eccentric" else 500.0
    motion = move_with_flights(
        mechanism, 0.0, speed, 12 / speed, restitution=e, method="DOP853", rtol=1e-10, atol=1e-12
    )
    assert len(motion.flights) > 1

    free = mechanism.replaced(gravity=0.0)
    # inertias from energies in contact where s' is known: T = (I + m s'^2) w^2 / 2
    angles = np.array([[0.0], [1.0]])
    kinetic = free.energy(angles, np.ones((2, 1)))[0]
    slopes = cam.motion(angles[:, 0])[1]
    moving = 2 * (kinetic[1] - kinetic[0]) / (slopes[1] ** 2 - slopes[0] ** 2)
    turning = 2 * kinetic[0] - moving * slopes[0] ** 2
    *_, stiffness, slack = cam.coefficients(np.zeros(1))
    energy = 0.5 * (turning * motion.v[:, 0] ** 2 + moving * motion.v[:, 1] ** 2)
    energy += 0.5 * stiffness * (motion.q[:, 1] - slack) ** 2
    energy += _height(mechanism, cam, motion.q[:, 1])
    landed = [one for one in motion.flights if one.end < math.inf]
    lost = sum(one.loss for one in landed)
    assert energy[0] - energy[-1] == pytest.approx(lost, abs=1e-6 * energy[0])
    assert lost == pytest.approx(0.0, abs=1e-9) if e == 1.0 else lost > 0


def _height(mechanism, cam, places: np.ndarray) -> np.ndarray:
    """Potential energy by weight of the follower at its joint's places."""
    follower = mechanism.layout().parts[1]
    mass, middle = float(follower.piece.mass), follower.piece.middle
    if cam.arm is None:
        return mass * 9.81 * places
    return mass * 9.81 * float(middle[0]) * np.sin(places)


def test_a_slow_cam_is_never_left_and_others_are_refused() -> None:
    quiet = move_with_flights(eccentric(), 0.0, 5.0, 0.5)
    assert quiet.flights == () and quiet.effort.min() > 0
    with pytest.raises(InputError, match="restitution is 2"):
        move_with_flights(eccentric(), 0.0, 5.0, 0.5, restitution=2.0)
    with pytest.raises(InputError, match="one cam whose follower carries nothing else"):
        move_with_flights(MECHANISMS["four_bar"](), 0.0, 5.0, 0.5)
    call = ["mechanism", "disk_cam", "--fd", "--speed", "300", "--duration", "0.05"]
    answer = CliRunner().invoke(main, [*call, "--restitution", "0.3"])
    assert answer.exit_code == 0 and "leaves (s)" in answer.output, answer.output
    answer = CliRunner().invoke(main, [*call, "--restitution", "0.3", "--plot", "a.png"])
    assert answer.exit_code and "--output has the flights" in answer.output
