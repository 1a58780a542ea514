"""One body on walls: blocks that slide, rest and rock, and what rolls."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from mbdyn_ros.model.model import Array

from .scene import Body, Case, End, G, Scene, Wall

R, SLOPE = 0.1, 0.3
"""m, of balls; rad."""

NORMAL = np.array([np.sin(SLOPE), 0.0, np.cos(SLOPE)])
DOWN = np.array([np.cos(SLOPE), 0.0, -np.sin(SLOPE)])
"""Of the slope: into free space, and the way down."""


def ball(name: str = "ball", radius: float = R, **more: object) -> Body:
    """An even ball."""
    inertia = np.full(3, 0.4 * float(more.get("mass", 1.0)) * radius**2)  # type: ignore[arg-type]
    given = {"inertia": inertia, **more}
    return Body(name, [f"type='sphere' size='{radius}'"], **given)  # type: ignore[arg-type]


def block(size: tuple[float, float, float], **more: object) -> Body:
    """A box (m along its edges)."""
    halves = " ".join(str(one / 2) for one in size)
    return Body("box", [f"type='box' size='{halves}'"], **more)  # type: ignore[arg-type]


def on_slope(body: Body, friction: float, duration: float = 1.0) -> Scene:
    return Scene([body], [Wall(friction, normal=NORMAL)], duration)


def way_down(end: End, name: str = "ball") -> float:
    return float(end.place[name] @ DOWN)


def unit_vector(v: Array) -> Array:
    """Along v."""
    result: Array = v / np.linalg.norm(v)
    return result


def blocks() -> list[Case]:
    """Boxes that slide, rest, tip and rock."""
    low = block((0.4, 0.2, 0.1), place=0.05 * NORMAL, turn=(0, SLOPE, 0))
    flat = {"place": (0, 0, 0.05), "velocity": (2.0, 0, 0)}
    level = [Wall(0.3)]
    slides = G * (np.sin(SLOPE) - 0.2 * np.cos(SLOPE)) / 2
    width, height = 0.2, 0.4
    tilt, alpha = 0.02, np.arctan2(width, height)
    lever = np.hypot(width, height) / 2
    thrown = block((0.4, 0.2, 0.1), place=(0, 0, 0.05), velocity=(1.2, -1.6, 0))
    rocking = Rotation.from_rotvec([0, tilt, 0])
    corner = rocking.apply([width / 2, 0, -height / 2])
    rocks = block(
        (width, 0.2, height), place=-corner * (0, 0, 1), turn=rocking.as_rotvec(),
    )  # fmt: skip

    def slope(t: float, y: Array) -> list[float]:
        return [y[1], -0.75 * G / lever * np.sin(alpha - y[0])]

    def lands(t: float, y: Array) -> float:
        return y[0]

    lands.terminal = True  # type: ignore[attr-defined]
    fall = solve_ivp(slope, (0, 1), [tilt, 0.0], events=lands, rtol=1e-12, atol=1e-14)
    after = -fall.y[1, -1] * (1 - 1.5 * np.sin(alpha) ** 2)
    wide = solve_ivp(
        slope, (0, 1), [1e-12, after], events=lands, rtol=1e-12, atol=1e-14, dense_output=True
    )
    soon = 0.5 * (wide.t_events[0][0] if len(wide.t_events[0]) else 0.1)
    rise = float(wide.sol(soon)[0])
    cg, share = 0.1, 0.3
    brakes = block((0.4, 0.2, 2 * cg), place=(0, 0, cg), velocity=(2.0, 0, 0))
    return [
        Case(
            "block slides down a slope, mu 0.2",
            slides,
            "m",
            on_slope(low, 0.2),
            lambda e: way_down(e, "box"),
        ),
        Case(
            "block rests at 1.02 of the friction limit",
            0.0,
            "m",
            on_slope(low, 1.02 * np.tan(SLOPE), 4.0),
            lambda e: way_down(e, "box"),
        ),
        Case(
            "block creeps at 0.98 of it",
            G * 0.02 * np.sin(SLOPE) * 2.0,
            "m",
            on_slope(low, 0.98 * np.tan(SLOPE), 2.0),
            lambda e: way_down(e, "box"),
        ),
        Case(
            "block slides and stops",
            4 / (0.6 * G),
            "m",
            Scene([block((0.4, 0.2, 0.1), **flat)], level, 2.0),
            lambda e: float(e.place["box"][0]),
        ),
        Case(
            "block still slides",
            1.0 - 0.15 * G * 0.25,
            "m",
            Scene([block((0.4, 0.2, 0.1), **flat)], level, 0.5),
            lambda e: float(e.place["box"][0]),
        ),
        Case(
            "oblique throw stops along its way (y)",
            -1.6 * 2.0 / (0.6 * G),
            "m",
            Scene([thrown], level, 2.0),
            lambda e: float(e.place["box"][1]),
        ),
        Case(
            "weight of a block at rest",
            G,
            "N",
            Scene([block((0.4, 0.2, 0.1), place=(0, 0, 0.05))], level, 0.5),
            lambda e: e.force["wall_0"],
        ),
        Case(
            "braking block keeps its attitude",
            2.0 - 0.3 * G * 0.5,
            "m/s",
            Scene([brakes], [Wall(share)], 0.5),
            lambda e: float(e.velocity["box"][0]),
        ),
        Case(
            "rocking block after an impact (Housner)",
            rise,
            "rad",
            Scene([rocks], [Wall(2.0)], fall.t[-1] + soon),
            lambda e: abs(float(e.turn["box"].as_rotvec()[1])),
        ),
    ]


def rolling() -> list[Case]:
    """Balls, cylinders and hoops."""
    t1, mu = 2 * 2.0 / (7 * 0.2 * G), 0.2
    bowled = 2.0 * t1 - mu * G * t1**2 / 2 + 10 / 7 * (1.5 - t1)
    slow = {"place": (0, 0, R), "velocity": (2.0, 0, 0)}
    sin, cos = np.sin(SLOPE), np.cos(SLOPE)
    cylinder = Body(
        "ball", [f"type='cylinder' size='{R} 0.1'"], place=R * NORMAL, turn=(np.pi / 2, 0, 0)
    )
    hoop = ball(inertia=np.full(3, R**2), place=R * NORMAL)
    even = ball(place=R * NORMAL)
    groove = [Wall(2.0, normal=unit_vector(NORMAL + s * np.array([0, 1.0, 0]))) for s in (1, -1)]
    in_groove = ball(place=np.sqrt(2) * R * NORMAL)
    back = ball(place=(0, 0, R), velocity=(1.0, 0, 0), spin=(0, -40.0, 0))
    wheel = Body(
        "ball",
        [f"type='sphere' size='{R}'"],
        inertia=np.full(3, 0.4 * R**2),
        place=(0, 0, R),
        velocity=(1.0, 0.5, 0),
        spin=(-0.5 / R, 1.0 / R, 7.0),
    )
    return [
        Case(
            "bowling ball: way after 1.5 s",
            bowled,
            "m",
            Scene([ball(**slow)], [Wall(mu)], 1.5),
            lambda e: float(e.place["ball"][0]),
        ),
        Case(
            "bowling ball: 5/7 of its speed",
            10 / 7,
            "m/s",
            Scene([ball(**slow)], [Wall(mu)], 1.5),
            lambda e: float(e.velocity["ball"][0]),
        ),
        Case(
            "ball with backspin returns",
            (5 * 1.0 - 2 * 40 * R) / 7,
            "m/s",
            Scene([back], [Wall(mu)], 2.0),
            lambda e: float(e.velocity["ball"][0]),
        ),
        Case("ball rolls down a slope, 5/7", 5 / 14 * G * sin, "m", on_slope(even, 0.5), way_down),
        Case(
            "cylinder rolls down a slope, 2/3", G * sin / 3, "m", on_slope(cylinder, 0.5), way_down
        ),
        Case("hollow ball, I = m r^2, 1/2", G * sin / 4, "m", on_slope(hoop, 0.5), way_down),
        Case(
            "ball slides down a slippery slope",
            G * (sin - 0.05 * cos) / 2,
            "m",
            on_slope(even, 0.05),
            way_down,
        ),
        Case(
            "its spin",
            2.5 * 0.05 * G * cos / R,
            "rad/s",
            on_slope(even, 0.05),
            lambda e: float(np.linalg.norm(e.spin["ball"])),
        ),
        Case(
            "ball rolls down a right-angled groove, 5/9",
            5 / 18 * G * sin,
            "m",
            Scene([in_groove], groove, 1.0),
            way_down,
        ),
        Case(
            "ball rolls on with any spin",
            3 * np.hypot(1.0, 0.5),
            "m",
            Scene([wheel], [Wall(0.5)], 3.0),
            lambda e: float(np.linalg.norm(e.place["ball"][:2])),
        ),
    ]
