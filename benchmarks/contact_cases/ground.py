"""Balls on ground through heights: a slope, and a bowl that is a paraboloid."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from mbdyn_ros.model.model import Array

from .scene import Case, End, G, Scene, Wall
from .single import NORMAL, SLOPE, R, ball, way_down

STEEP, START = 0.5, 0.6
"""Height of the bowl over the square of the distance from its middle, 1/m; m from there."""


def center(x: float) -> tuple[Array, Array, Array]:
    """The place (2,) of a ball that touches the bowl at x, and its derivatives by x."""
    slope = 2 * STEEP * x
    size = np.sqrt(1 + slope * slope)
    place = np.array([x - R * slope / size, STEEP * x * x + R / size])
    along = np.array([1, slope]) * (1 - 2 * STEEP * R / size**3)
    change = 12 * STEEP**2 * R * slope / size**5 * np.array([1, slope])
    bend = np.array([0, 2 * STEEP]) * (1 - 2 * STEEP * R / size**3)
    return place, along, change + bend


def to_and_fro(rolls: bool, duration: float) -> float:
    """Where the ball is that was let go, m: one coordinate, by Lagrange's equation."""

    def rate(_: float, state: Array) -> list[float]:
        _, along, bend = center(state[0])
        mass = 1.4 if rolls else 1.0
        push = -G * along[1] / mass - along @ bend * state[1] ** 2
        return [state[1], push / (along @ along)]

    motion = solve_ivp(rate, (0, duration), [START, 0], method="DOP853", rtol=1e-13, atol=1e-14)
    return float(center(motion.y[0, -1])[0][0])


def grounds() -> list[Case]:
    """All of them."""
    x = 0.05 * np.arange(-30, 31)
    slope = -np.tan(SLOPE) * np.repeat(x[:, None], len(x), axis=1)
    bowl = STEEP * (x[:, None] ** 2 + x**2)
    (px, pz), *_ = center(START)

    def in_bowl(friction: float) -> Scene:
        return Scene([ball(place=(px, 0, pz))], [Wall(friction, heights=bowl)], 2.0)

    def across(end: End) -> float:
        return float(end.place["ball"][0])

    return [
        Case(
            "ball rolls down a slope of heights, 5/7",
            5 / 14 * G * np.sin(SLOPE),
            "m",
            Scene([ball(place=R * NORMAL)], [Wall(0.5, heights=slope)], 1.0),
            way_down,
        ),
        Case("ball slides in a bowl of heights", to_and_fro(False, 2.0), "m", in_bowl(0.0), across),
        Case("ball rolls in a bowl of heights", to_and_fro(True, 2.0), "m", in_bowl(2.0), across),
    ]
