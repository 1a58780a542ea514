"""Bodies on bodies: collisions, stacks, wedges, planks, logs and a grasp."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

from .scene import Body, Case, G, Scene, Wall
from .single import R, ball, block

FREE: list[Wall] = []
LOG, HALF, MOMENT = 0.3, 0.05, (0.2**2 + 0.05**2) / 3
"""m, the radius of a fixed cylinder, and half the height of a plank; kg m^2 about its middle."""


def _rolled(rate: Callable[[float, float], float], angle: float, spin: float, time: float) -> float:
    """An angle (rad) whose acceleration is a function of it and of its rate, after a time (s)."""
    motion = solve_ivp(
        lambda t, y: [y[1], rate(*y)], (0, time), [angle, spin], rtol=1e-12, atol=1e-14
    )
    return float(motion.y[0, -1])


def _rocking(angle: float, spin: float) -> float:
    """Of the plank on the cylinder."""
    pull = G * (LOG * angle * np.cos(angle) - HALF * np.sin(angle))
    inertia = MOMENT + HALF**2 + LOG**2 * angle**2
    return float(-(pull + LOG**2 * angle * spin**2) / inertia)


def collisions() -> list[Case]:
    """Bodies that meet in flight, in which all fall alike."""
    one, two = ball("one", mass=2.0, velocity=(1.5, 0, 0)), ball("two", place=(0.5, 0, 0))
    mean, apart = 1.0, 0.4 * 1.5
    cradle = [ball(f"b{k}", place=(0.21 * k, 0, 0)) for k in range(5)]
    cradle[0] = ball("b0", place=(-0.1, 0, 0), velocity=(1.0, 0, 0))
    aside = ball("two", place=(0.5, 1.2 * R, 0))
    rod = Body(
        "rod", ["type='capsule' size='0.05 0.5'"], mass=2.0, inertia=(0.2, 0.2, 0.01),
        turn=(np.pi / 2, 0, 0), place=(0.5, 0, 0),
    )  # fmt: skip
    thrown = ball("one", velocity=(2.0, 0, 0), place=(0, 0.3, 0))
    impulse = 2 * 2.0 / (1 / 1.0 + 1 / 2.0 + 0.3**2 / 0.2)
    big = ball("big", 0.2, mass=3.0, place=(0, 0, 1.2))
    small = ball("small", 0.05, mass=0.5, place=(0, 0, 1.2 + 0.26))
    speed, late = np.sqrt(2 * G), 0.01 / (2 * np.sqrt(2 * G))
    lower, upper = speed - G * late, -speed - G * late
    common = (3.0 * lower + 0.5 * upper) / 3.5
    up = 2 * common - upper
    fall = np.sqrt(2 / G) + late
    # every bounce of a line of balls hands the speed on
    return [
        Case(
            "two balls, e 0.4: the first",
            mean - apart / 3,
            "m/s",
            Scene([one, two], FREE, 0.5, (0.0, 0.4)),
            lambda e: float(e.velocity["one"][0]),
        ),
        Case(
            "and the second",
            mean + 2 * apart / 3,
            "m/s",
            Scene([one, two], FREE, 0.5, (0.0, 0.4)),
            lambda e: float(e.velocity["two"][0]),
        ),
        Case(
            "five balls in line: the last",
            1.0,
            "m/s",
            Scene(cradle, FREE, 0.5, (0.0, 1.0)),
            lambda e: float(e.velocity["b4"][0]),
        ),
        Case(
            "oblique collision, smooth: along y",
            -1.5 * 4 / 3 * 0.6 * 0.8 * -1,
            "m/s",
            Scene([one, aside], FREE, 0.5, (0.0, 1.0)),
            lambda e: float(e.velocity["two"][1]),
        ),
        Case(
            "ball strikes a free rod: its turn",
            impulse * 0.3 / 0.2,
            "rad/s",
            Scene([thrown, rod], FREE, 0.3, (0.0, 1.0)),
            lambda e: abs(float(e.spin["rod"][1])),
        ),
        Case(
            "and the ball",
            2.0 - impulse,
            "m/s",
            Scene([thrown, rod], FREE, 0.3, (0.0, 1.0)),
            lambda e: float(e.velocity["one"][0]),
        ),
        Case(
            "small ball on a large one, e 1",
            up - G * (0.6 - fall),
            "m/s",
            Scene([big, small], [Wall(0, 1.0)], 0.6, (0.0, 1.0)),
            lambda e: float(e.velocity["small"][2]),
        ),
    ]


def loads() -> list[Case]:
    """Bodies that lie on each other."""
    boxes = [
        Body(f"b{k}", ["type='box' size='.1 .1 .1'"], place=(0, 0, 0.1 + 0.2 * k))
        for k in range(10)
    ]
    sin = 0.6
    low = [ball(f"b{k}", place=(s * 2 * R * sin, 0, R)) for k, s in enumerate((-1, 1))]
    top = ball("top", place=(0, 0, R + 2 * R * 0.8))
    gutter = [
        Wall(),
        *(Wall(normal=(s, 0, 0), point=(-s * (2 * R * sin + R), 0, 0)) for s in (1, -1)),
    ]
    plank = Body(
        "plank", ["type='box' size='2 .5 .05'"], mass=3.0, joint="type='slide' axis='1 0 0'"
    )
    on_top = ball(place=(0, 0, 0.05 + R))
    moving = Body("plank", plank.geom, mass=3.0, joint=plank.joint, velocity=(2.0, 0, 0))
    rides = block((0.4, 0.2, 0.1), place=(0, 0, 0.1))
    wedge = Body(
        "plank", ["type='box' size='2 .5 .05' euler='0 30 0'"], mass=3.0, joint=plank.joint
    )
    normal = np.array([0.5, 0, np.sqrt(0.75)])
    slides = ball(place=(0.05 + R) * normal)
    back = -G * 0.5 * np.sqrt(0.75) / (3.0 + 0.25)
    jaws = [
        Body(
            f"j{k}",
            [f"type='box' size='.05 .2 .2' pos='{s * 0.15} 0 0'"],
            joint="type='slide' axis='1 0 0'",
        )
        for k, s in enumerate((-1, 1))
    ]
    held = ball("box", 0.1)

    def grip(force: float, time: float) -> Scene:
        return Scene([*jaws, held], FREE, time, (0.5, 0.0), {"j0": force, "j1": -force})

    slip = 4.0 / (2 * 0.3 * G * (1 + 1 / 3))
    return [
        Case(
            "stack of ten boxes: force on the floor",
            10 * G,
            "N",
            Scene(boxes, [Wall(0.8)], 0.5, (0.8, 0.0)),
            lambda e: e.force["wall_0"],
        ),
        Case(
            "and under the highest",
            G,
            "N",
            Scene(boxes, [Wall(0.8)], 0.5, (0.8, 0.0)),
            lambda e: e.force["b8|b9"],
        ),
        Case(
            "ball on two balls: force on a wall",
            G / 2 * 0.75,
            "N",
            Scene([*low, top], gutter, 0.3, (0.0, 0.0)),
            lambda e: e.force["wall_1"],
        ),
        Case(
            "ball rolls on a plank that is pulled: the plank",
            6.0 / (3 + 2 / 7) / 2,
            "m",
            Scene([plank, on_top], FREE, 1.0, (0.8, 0.0), {"plank": 6.0}),
            lambda e: float(e.place["plank"][0]),
        ),
        Case(
            "and the ball",
            2 / 7 * 6.0 / (3 + 2 / 7) / 2,
            "m",
            Scene([plank, on_top], FREE, 1.0, (0.8, 0.0), {"plank": 6.0}),
            lambda e: float(e.place["ball"][0]),
        ),
        Case(
            "block on a moving plank: speed of both",
            1.5,
            "m/s",
            Scene([moving, rides], FREE, 1.0, (0.3, 0.0)),
            lambda e: float(e.velocity["box"][0]),
        ),
        Case(
            "and how far it slipped",
            slip,
            "m",
            Scene([moving, rides], FREE, 1.0, (0.3, 0.0)),
            lambda e: float(e.place["plank"][0] - e.place["box"][0]),
        ),
        Case(
            "ball drives a smooth wedge away",
            back / 2 * 0.25,
            "m",
            Scene([wedge, slides], FREE, 0.5, (0.0, 0.0)),
            lambda e: float(e.place["plank"][0]),
        ),
        Case(
            "ball held at 1.05 of the friction limit",
            0.0,
            "m",
            grip(1.05 * G, 1.0),
            lambda e: float(e.place["box"][2]),
        ),
        Case(
            "ball slips at 0.95 of it",
            -0.05 * G * 0.5**2 / 2,
            "m",
            grip(0.95 * G, 0.5),
            lambda e: float(e.place["box"][2]),
        ),
    ]


def logs() -> list[Case]:
    """What rolls on a box that is pulled, and on a cylinder that may only slide along itself."""
    lying = (np.pi / 2, 0, 0)
    pulled = Body(
        "plank", ["type='box' size='2 .5 .05'"], mass=3.0, joint="type='slide' axis='1 0 0'"
    )
    roller = Body("drum", ["type='cylinder' size='.1 .1'"], turn=lying, place=(0, 0, 0.05 + R))
    log = Body(
        "log",
        [f"type='cylinder' size='{LOG} .4' euler='90 0 0'"],
        joint="type='slide' axis='0 1 0'",
    )
    start, far = 0.1, LOG + R
    place = far * np.array([np.sin(start), 0, np.cos(start)])
    rolls = Body("drum", ["type='cylinder' size='.1 .1'"], turn=lying, place=place)
    rolled = _rolled(lambda y, _: G * np.sin(y) / (1.5 * far), start, 0.0, 0.5)
    plank = Body(
        "plank", ["type='box' size='.2 .1 .05'"], inertia=(0.01, MOMENT, 0.02),
        place=(0, 0, LOG + HALF), velocity=(HALF * 0.7, 0, 0), spin=(0, 0.7, 0),
    )  # fmt: skip
    return [
        Case(
            "cylinder rolls on a box that is pulled: the box",
            6.0 / (3 + 1 / 3) / 2,
            "m",
            Scene([pulled, roller], FREE, 1.0, (0.8, 0.0), {"plank": 6.0}),
            lambda e: float(e.place["plank"][0]),
        ),
        Case(
            "cylinder rolls off a fixed one: its angle",
            rolled,
            "rad",
            Scene([log, rolls], FREE, 0.5, (2.0, 0.0)),
            lambda e: float(np.arctan2(e.place["drum"][0], e.place["drum"][2])),
        ),
        Case(
            "plank rocks on a fixed cylinder",
            _rolled(_rocking, 0.0, 0.7, 1.0),
            "rad",
            Scene([log, plank], FREE, 1.0, (2.0, 0.0)),
            lambda e: float(e.turn["plank"].as_rotvec()[1]),
        ),
    ]
