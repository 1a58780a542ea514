"""One body that bounces, leans, leaves its wall or turns; joints with friction and stops."""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from mbdyn_ros.model.model import Array

from .scene import Body, Case, G, Scene, Wall
from .single import R, ball, unit_vector


def bouncing() -> list[Case]:
    """Balls that fall on walls."""

    def falls(e: float, drop: float, t: float) -> float:
        clock, speed = np.sqrt(2 * drop / G), np.sqrt(2 * drop * G)
        while True:
            speed *= e
            if clock + 2 * speed / G > t:
                return R + speed * (t - clock) - G * (t - clock) ** 2 / 2
            clock += 2 * speed / G

    def dropped(e: float, t: float) -> Scene:
        return Scene([ball(place=(0, 0, R + 1.0))], [Wall(0.0, e)], t)

    fast = ball(place=(0, 0, R), velocity=(3.0, 0, -2.0))
    side, room = (
        1.0 - R,
        [Wall(), Wall(0, 1.0, (-1, 0, 0), (1, 0, 0)), Wall(0, 1.0, (1, 0, 0), (-1, 0, 0))],
    )
    folded = side - abs((0.3 + side + 3.0 * 2.5) % (4 * side) - 2 * side)
    lossy = [Wall(), *(Wall(0, 0.9, one.normal, one.point) for one in room[1:])]
    speed, clock = 2.0, side / 2.0
    while clock < 3.0:
        speed *= 0.9
        clock += 2 * side / speed
    rod = Body(
        "rod",
        [f"type='sphere' size='0.01' pos='{x} 0 0'" for x in (-0.5, 0.5)],
        inertia=(1e-3, 1 / 12, 1 / 12),
        turn=(0, 0.4, 0),
        place=(0, 0, 0.5 * np.sin(0.4) + 0.01),
        velocity=(0, 0, -2.0),
    )
    arm = 0.5 * np.cos(0.4)
    strike = 2 * 2.0 * arm / (1 / 12 + arm**2)
    return [
        Case(
            "ball bounces, e 0.7",
            falls(0.7, 1.0, 1.0),
            "m",
            dropped(0.7, 1.0),
            lambda e: float(e.place["ball"][2]),
        ),
        Case(
            "ball bounces 9 times, e 0.8",
            falls(0.8, 1.0, 3.0),
            "m",
            dropped(0.8, 3.0),
            lambda e: float(e.place["ball"][2]),
        ),
        Case(
            "ball bounces 10 s, e 1",
            falls(1.0, 1.0, 10.0),
            "m",
            dropped(1.0, 10.0),
            lambda e: float(e.place["ball"][2]),
        ),
        Case(
            "its energy",
            G * (1 + R),
            "J",
            dropped(1.0, 10.0),
            lambda e: float(0.5 * e.velocity["ball"] @ e.velocity["ball"] + G * e.place["ball"][2]),
        ),
        Case(
            "ball is at rest after bounces without end",
            0.0,
            "m/s",
            dropped(0.5, 1.4),
            lambda e: float(np.linalg.norm(e.velocity["ball"])),
        ),
        Case(
            "oblique bounce, slides, mu 0.1, e 0.6",
            3.0 - 0.1 * 1.6 * 2.0,
            "m/s",
            Scene([fast], [Wall(0.1, 0.6)], 0.1),
            lambda e: float(e.velocity["ball"][0]),
        ),
        Case(
            "oblique bounce, rolls off, mu 1",
            3.0 * 5 / 7,
            "m/s",
            Scene([fast], [Wall(1.0, 0.6)], 0.1),
            lambda e: float(e.velocity["ball"][0]),
        ),
        Case(
            "ball to and fro between walls, e 1",
            folded,
            "m",
            Scene([ball(place=(0.3, 0, R), velocity=(3.0, 0, 0))], room, 2.5),
            lambda e: float(e.place["ball"][0]),
        ),
        Case(
            "ball between walls, e 0.9: speed",
            speed,
            "m/s",
            Scene([ball(place=(0, 0, R), velocity=(2.0, 0, 0))], lossy, 3.0),
            lambda e: abs(float(e.velocity["ball"][0])),
        ),
        Case(
            "inclined rod strikes the floor, e 1",
            strike,
            "rad/s",
            Scene([rod], [Wall(0, 1.0)], 0.05),
            lambda e: abs(float(e.spin["rod"][1])),
        ),
    ]


def turning() -> list[Case]:
    """Ladders, domes, corners, spinning feet, and joints with friction and stops."""
    lean = 0.3

    def rate(angle: float) -> float:
        return np.sqrt(3 * G * (np.cos(lean) - np.cos(angle)))

    start = lean + 0.05
    time = quad(lambda a: 1 / rate(a), start, 0.6)[0]
    ladder = Body(
        "rod",
        [f"type='sphere' size='0.01' pos='0 0 {z}'" for z in (-0.5, 0.5)],
        inertia=(1 / 12, 1 / 12, 1e-3),
        turn=(0, -start, 0),
        place=(0.5 * np.sin(start) + 0.01, 0, 0.5 * np.cos(start) + 0.01),
        velocity=(0.5 * np.cos(start) * rate(start), 0, -0.5 * np.sin(start) * rate(start)),
        spin=(0, -rate(start), 0),
    )
    corner = [Wall(), Wall(normal=(1, 0, 0))]
    whole, polar = 1.0 + R, 0.2
    dome = ball(place=(whole * np.sin(polar), 0, whole * np.cos(polar)))
    leave = np.sqrt(G * whole * np.cos(polar) * 2 / 3) * np.cos(polar) * 2 / 3
    sides = [Wall(normal=unit_vector(np.array([np.sin(a), 0, np.cos(a)]))) for a in (0.4, -0.9)]
    wedged = ball(place=_between(0.4, -0.9))
    feet = [
        f"type='sphere' size='0.01' pos='{0.2 * np.cos(a)} {0.2 * np.sin(a)} 0'"
        for a in 2 * np.pi / 3 * np.arange(3)
    ]
    stool = Body("rod", feet, inertia=(0.02, 0.02, 0.03), place=(0, 0, 0.01), spin=(0, 0, 10.0))
    slider = {"joint": "type='slide' axis='1 0 0' frictionloss='3'"}
    rub = Body("box", ["type='box' size='.1 .1 .1'"], velocity=(2.0, 0, 0), **slider)  # type: ignore[arg-type]
    stop = "type='slide' axis='0 0 1' limited='true' range='-1 9'"
    falls = Body("box", ["type='box' size='.1 .1 .1'"], joint=stop, velocity=(-1.0, 0, 0))
    swing = Body(
        "box",
        ["type='sphere' size='.01' pos='0 0 -1'"],
        joint="type='hinge' axis='0 1 0' frictionloss='1'",
        place=(1.2, 0, 0),
    )
    edge = brentq(lambda a: G * (np.cos(a) - np.cos(1.2)) - (1.2 - a) * 1.0, -1.2, 0.5)
    skids = [
        f"type='sphere' size='0.01' pos='{x} {y} -0.1'" for x in (-0.5, 0.5) for y in (-0.2, 0.2)
    ]
    car = Body(
        "box", skids, mass=10.0, inertia=(0.5, 1.0, 1.2), place=(0, 0, 0.11), velocity=(30.0, 0, 0)
    )
    return [
        Case(
            "smooth ladder slides down",
            np.sin(0.6) / 2 + 0.01,
            "m",
            Scene([ladder], corner, time),
            lambda e: float(e.place["rod"][0]),
        ),
        Case(
            "it leaves the wall: speed away",
            np.cos(lean) * np.sqrt(G * np.cos(lean)) / 3,
            "m/s",
            Scene([ladder], corner, time + 0.14),
            lambda e: float(e.velocity["rod"][0]),
        ),
        Case(
            "ball leaves a smooth dome: speed away",
            leave,
            "m/s",
            Scene([dome], [Wall(radius=1.0)], 1.2),
            lambda e: float(e.velocity["ball"][0]),
        ),
        Case(
            "ball between two slopes: one force",
            G * np.sin(0.9) / np.sin(1.3),
            "N",
            Scene([wedged], sides, 0.5),
            lambda e: e.force["wall_0"],
        ),
        Case(
            "and the other",
            G * np.sin(0.4) / np.sin(1.3),
            "N",
            Scene([wedged], sides, 0.5),
            lambda e: e.force["wall_1"],
        ),
        Case(
            "stool with three feet spins down",
            10 - 0.2 * G * 0.2 / 0.03 * 0.5,
            "rad/s",
            Scene([stool], [Wall(0.2)], 0.5),
            lambda e: float(e.spin["rod"][2]),
        ),
        Case(
            "stool stops turning",
            0.0,
            "rad/s",
            Scene([stool], [Wall(0.2)], 1.0),
            lambda e: float(np.linalg.norm(e.spin["rod"])),
        ),
        Case(
            "joint with dry friction slides out",
            2.0 / 3.0,
            "m",
            Scene([rub], [], 2.0),
            lambda e: float(e.place["box"][0]),
        ),
        Case(
            "pendulum with dry friction turns back at",
            edge,
            "rad",
            Scene([swing], [], _half_swing(edge)),
            lambda e: float(e.place["box"][0]),
        ),
        Case(
            "body falls on its stop, e 0",
            -1.0,
            "m",
            Scene([falls], [], 1.0),
            lambda e: float(e.place["box"][0]),
        ),
        Case(
            "weight of a car at 30 m/s",
            10 * G,
            "N",
            Scene([car], [Wall()], 0.5),
            lambda e: e.force["wall_0"],
        ),
    ]


def _half_swing(edge: float) -> float:
    """Time (s) from 1.2 rad to the first return."""

    def slope(t: float, y: Array) -> list[float]:
        return [y[1], -G * np.sin(y[0]) + 1.0]

    def stops(t: float, y: Array) -> float:
        return y[1]

    stops.terminal, stops.direction = True, 1.0  # type: ignore[attr-defined]
    return float(solve_ivp(slope, (0, 4), [1.2, 0.0], events=stops, rtol=1e-11, atol=1e-12).t[-1])


def _between(one: float, other: float) -> Array:
    """Where a ball touches two slopes."""
    normals = np.array([[np.sin(a), np.cos(a)] for a in (one, other)])
    x, z = np.linalg.solve(normals, [R, R])
    return np.array([x, 0.0, z])
