"""Walls that yield, move or resist turning."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from mbdyn_ros.model.model import Array

from .scene import Body, Case, G, Scene, Wall
from .single import R, ball, block


def thrown(**soft: float) -> tuple[list[Body], list[Wall]]:
    """A ball that flies at 1 m/s into a soft wall, on a smooth floor."""
    wall = Wall(normal=(-1, 0, 0), point=(0.5, 0, 0), soft=soft)
    return [ball(place=(0.5 - R - 0.05, 0, R), velocity=(1.0, 0, 0))], [Wall(), wall]


def laws() -> list[Case]:
    """One law at a time."""
    stiff, damping = 1e4, 20.0

    def pushed(t: float, y: Array) -> list[float]:
        return [y[1], -stiff * y[0] - damping * y[1]]

    def free(t: float, y: Array) -> float:
        return stiff * y[0] + damping * y[1]

    free.terminal, free.direction = True, -1.0  # type: ignore[attr-defined]
    left = solve_ivp(pushed, (0, 1), [0.0, 1.0], events=free, rtol=1e-12, atol=1e-14)
    share = 0.5  # s/m
    back = brentq(
        lambda v: share * 1.0 - np.log(1 + share) + share * v + np.log(1 - share * v), 0.1, 1.0
    )
    hertz = {"stiffness": 1e6, "dissipation": share, "exponent": 1.5}
    spring = {"stiffness": stiff}
    deep = G / stiff + np.sqrt((G / stiff) ** 2 + 2 * G * 0.2 / stiff)
    turn = np.sqrt(0.4 / G) + (np.pi / 2 + np.arctan2(G / 100, np.sqrt(0.4 * G))) / 100
    bed = [Wall(soft=spring)]
    mat = [Wall(0.5, soft={"stiffness": 2e3, "damping": 100.0})]
    belt = [Wall(0.3, velocity=(1.0, 0, 0))]
    crate = block((0.4, 0.2, 0.1), place=(0, 0, 0.05))
    slip = 1 / (0.3 * G)
    spins = ball(place=(0, 0, R), spin=(0, 0, 30.0))
    rolls = ball(place=(0, 0, R), velocity=(1.0, 0, 0), spin=(0, 1 / R, 0))
    slow = 5 / 7 * 0.01 * G / R
    return [
        Case(
            "ball on a spring: greatest depth",
            -deep,
            "m",
            Scene([ball(place=(0, 0, R + 0.2))], bed, turn),
            lambda e: float(e.place["ball"][2]) - R,
        ),
        Case(
            "spring and damper: speed back",
            -left.y[1, -1],
            "m/s",
            Scene(*thrown(stiffness=stiff, damping=damping), 0.2),
            lambda e: -float(e.velocity["ball"][0]),
        ),
        Case(
            "Hunt and Crossley: speed back",
            back,
            "m/s",
            Scene(*thrown(**hertz), 0.2),
            lambda e: -float(e.velocity["ball"][0]),
        ),
        Case(
            "block at rest on a mat: depth",
            -G / 8e3,
            "m",
            Scene([crate], mat, 2.0),
            lambda e: float(e.place["box"][2]) - 0.05,
        ),
        Case(
            "block on a belt: its way",
            1.0 - slip / 2,
            "m",
            Scene([crate], belt, 1.0),
            lambda e: float(e.place["box"][0]),
        ),
        Case(
            "ball put on a belt: 2/7 of its speed",
            2 / 7,
            "m/s",
            Scene([ball(place=(0, 0, R))], belt, 1.0),
            lambda e: float(e.velocity["ball"][0]),
        ),
        Case(
            "ball spins, friction 1 cm against turning",
            30 - 2.5 * 0.01 * G / R**2 * 0.5,
            "rad/s",
            Scene([spins], [Wall(0.5, turning=(0.01, 0))], 0.5),
            lambda e: float(e.spin["ball"][2]),
        ),
        Case(
            "ball spins out",
            0.0,
            "rad/s",
            Scene([spins], [Wall(0.5, turning=(0.01, 0))], 2.0),
            lambda e: float(np.linalg.norm(e.spin["ball"])),
        ),
        Case(
            "ball rolls out, friction 1 cm against rolling",
            1 / (2 * slow),
            "m",
            Scene([rolls], [Wall(0.5, turning=(0, 0.01))], 2.0),
            lambda e: float(e.place["ball"][0]),
        ),
    ]
