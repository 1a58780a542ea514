"""Robots with planar and other overconstrained loops, and what rounding makes of their files."""

from __future__ import annotations

import copy
import functools
import re
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pinocchio as pin
from random_loops import FOUR_BARS, KINDS, Mechanism, cylinder, draw, pose

import mbdyn_ros
from mbdyn_ros import Robot

Array = np.ndarray
NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?|-?\d+e[-+]?\d+")


def rounded_texts(m: Mechanism, decimals: int) -> tuple[str, str]:
    """URDF and mechanism file with all lengths, angles and axes rounded, as CAD programs do."""

    def shorter(found: re.Match[str]) -> str:
        return NUMBER.sub(lambda one: f"{float(one[0]):.{decimals}f}", found[0])

    urdf = re.sub(r'(xyz|rpy)="[^"]*"', shorter, m.tree().urdf())
    return urdf, re.sub(r"(xyz|rpy|axis|home): [\[{][^\]}]*[\]}]", shorter, m.mechanism())


def load_rounded(m: Mechanism, decimals: int) -> Robot:
    """The robot of the rounded files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        return mbdyn_ros.load(*rounded_texts(m, decimals), floating_base=m.floating_base)


def scaled(m: Mechanism, factor: float) -> Mechanism:
    """The mechanism with all lengths multiplied; its links keep their masses."""
    m = copy.deepcopy(m)
    m.links = [
        replace(
            link,
            center=tuple(factor * x for x in link.center),
            moments=tuple(factor * factor * x for x in link.moments),
        )
        for link in m.links
    ]
    slides = [joint.name for joint in m.joints if joint.type == "prismatic"]
    m.joints = [replace(one, xyz=tuple(factor * x for x in one.xyz)) for one in m.joints]
    m.home |= {name: factor * m.home[name] for name in slides}

    def longer(found: re.Match[str]) -> str:
        return NUMBER.sub(lambda one: repr(factor * float(one[0])), found[0])

    m.loops = [re.sub(r"xyz: \[[^\]]*\]", longer, text) for text in m.loops]
    return m


def mechanism(kind: str) -> Mechanism:
    """A mechanism of `ROBOTS` with its numbers exact."""
    return draw(kind, 0) if kind in KINDS else copy.deepcopy(_drawn(kind))


@functools.cache
def _drawn(kind: str) -> Mechanism:
    for seed in range(60):
        m = Mechanism(np.random.default_rng([seed, *map(ord, kind)]), losses=False)
        if m.choose(DRAWN[kind](m), 0.05):
            return m
    raise AssertionError(f"no regular {kind} found")


def five_bar(m: Mechanism) -> int:
    """Two arms that meet, on a lift and with a spindle."""
    lift = m.joint("prismatic", "base", np.zeros(3), m.normal)
    left = m.pin(m.pin(lift, 0j), 0.3 + 0.7j)
    right = m.pin(m.pin(lift, 0.9 + 0j), 1.2 + 0.6j)
    m.close_pin(left, right, 0.7 + 1.2j)
    m.pin(left, 0.7 + 1.2j)
    return 4


def palletiser(m: Mechanism) -> int:
    """An arm of two links, whose upper one a parallelogram drives and two more keep upright."""
    elbow, wrist, crank = 0.2 + 0.8j, 1.0 + 0.6j, -0.3 + 0.1j
    aside, upright = -0.1 - 0.2j, 0.05 + 0.2j
    turn = m.joint("revolute", "base", np.zeros(3), m.stand[:3, 1])
    lower = m.pin(turn, 0j)
    upper = m.pin(lower, elbow)
    rod = m.pin(m.pin(turn, 0j), crank)
    m.close_pin(rod, upper, elbow + crank)
    plate = m.pin(lower, elbow)
    m.close_pin(m.pin(turn, aside), plate, elbow + aside)
    hand = m.pin(upper, wrist)
    m.close_pin(m.pin(plate, elbow + upright), hand, wrist + upright)
    return 3


def excavator(m: Mechanism) -> int:
    """Boom, stick and a bucket that a six-bar tips, each with its cylinder."""
    swing = m.joint("continuous", "base", np.zeros(3), m.stand[:3, 1])
    boom = m.pin(swing, 0j)
    cylinder(m, swing, boom, 0.4 - 0.3j, 1.0 + 0.5j)
    stick = m.pin(boom, 2.0 + 1.0j)
    cylinder(m, boom, stick, 1.0 + 0.9j, 1.8 + 1.4j)
    bucket = m.pin(stick, 2.6 - 0.2j)
    rocker = m.pin(stick, 2.5 + 0.1j)
    cylinder(m, stick, rocker, 2.1 + 1.3j, 2.75 + 0.25j)
    m.close_pin(m.pin(rocker, 2.8 + 0.2j), bucket, 2.85 - 0.15j)
    return 4


def three_rrr(m: Mechanism) -> int:
    """A platform on three planar legs."""
    grounds = [np.exp(2j * np.pi * k / 3) for k in range(3)]
    elbows = [0.8 * g * np.exp(0.6j) for g in grounds]
    tips = [0.3 * g * np.exp(0.3j) for g in grounds]
    legs = [m.pin(m.pin("base", g), e) for g, e in zip(grounds, elbows, strict=True)]
    platform = m.pin(legs[0], tips[0])
    for leg, tip in zip(legs[1:], tips[1:], strict=True):
        m.close_pin(leg, platform, tip)
    return 3


def gripper(m: Mechanism) -> int:
    """Four fingers around a nut: a planar loop each, in planes of their own."""
    turn, point = m.stand[:3, :3], m.stand[:3, 3]
    nut = m.joint("prismatic", "base", point, turn[:, 2])
    for k in range(4):
        around = pin.exp3(turn[:, 2] * (k * np.pi / 2))
        out, axis = around @ turn[:, 0], around @ turn[:, 1]

        def at(r: float, z: float, out: Array = out) -> Array:
            return point + r * out + z * turn[:, 2]

        finger = m.joint("revolute", "base", at(0.08, 0.1), axis)
        link = m.joint("revolute", nut, at(0.03, 0.0), axis)
        m.close("revolute", link, finger, at(0.1, 0.04), axis)
    return 1


def parallelogram(m: Mechanism) -> int:
    """A parallelogram with an arm on its coupler."""
    crank = m.pin("base", 0j)
    coupler = m.pin(crank, 0.3 + 0.6j)
    m.close_pin(m.pin("base", 0.8 + 0.1j), coupler, 1.1 + 0.7j)
    m.pin(coupler, 1.4 + 0.9j)
    return 2


def bennett(m: Mechanism) -> int:
    """Four skew hinges that move although they should not."""
    (a, b), alpha = (0.6, 0.9), 0.7
    beta = np.arcsin(b * np.sin(alpha) / a)
    theta = 1.1
    phi = 2 * np.arctan2(
        np.sin((beta + alpha) / 2), np.sin((beta - alpha) / 2) * np.tan(theta / 2)
    )
    frames, link = [m.stand], "base"
    for angle, length, twist in ((theta, a, alpha), (phi, b, beta), (-theta, a, alpha)):
        turn = pin.exp3(np.array([0, 0, angle])) @ pin.exp3(np.array([twist, 0, 0]))
        step = pose(turn, pin.exp3(np.array([0, 0, angle])) @ [length, 0, 0])
        frames.append(frames[-1] @ step)
    for frame in frames[:3]:
        link = m.joint("revolute", link, frame[:3, 3], frame[:3, 2])
    m.close("revolute", link, "base", frames[3][:3, 3], frames[3][:3, 2])
    return 1


def sarrus(m: Mechanism) -> int:
    """A platform lifted by two pairs of links in planes at right angles."""
    x, y, z = m.stand[:3, :3].T
    point = m.stand[:3, 3]

    def leg(out: Array, axis: Array) -> str:
        lower = m.joint("revolute", "base", point + 0.4 * out, axis)
        return m.joint("revolute", lower, point + 0.7 * out + 0.4 * z, axis)

    platform = m.joint("revolute", leg(x, y), point + 0.3 * x + 0.8 * z, y)
    m.close("revolute", leg(y, x), platform, point + 0.3 * y + 0.8 * z, x)
    return 1


def spherical(m: Mechanism) -> int:
    """A wrist on three legs; all axes meet in one point."""

    def hinge(parent: str, angle: float, height: float) -> tuple[str, Array, Array]:
        axis = np.array([np.cos(angle), np.sin(angle), height])
        axis = m.stand[:3, :3] @ axis / np.linalg.norm(axis)
        point = m.stand[:3, 3] + 0.2 * axis
        return parent, point, axis

    legs = []
    for k in range(3):
        angle = 2 * np.pi * k / 3
        crank = m.joint("revolute", *hinge("base", angle, -0.8))
        legs.append(m.joint("revolute", *hinge(crank, angle + 0.9, 0.1)))
    platform = m.joint("revolute", *hinge(legs[0], 0.3, 0.9))
    for k in (1, 2):
        parent, point, axis = hinge(legs[k], 2 * np.pi * k / 3 + 0.3, 0.9)
        m.close("revolute", parent, platform, point, axis)
    return 3


def delta(m: Mechanism) -> int:
    """A platform on three arms with rods between universal joints."""
    tips, ends = [], []
    up, start = m.stand[:3, 2], m.stand[:3, 3]
    for k in range(3):
        turn = m.stand[:3, :3] @ pin.exp3(np.array([0, 0, 2 * np.pi * k / 3 + 0.1 * k]))
        out, aside = turn[:, 0], turn[:, 1]
        arm = m.joint("revolute", "base", start + 0.3 * out, aside)
        knee = start + 0.8 * out - 0.1 * up
        bend = m.joint("revolute", arm, knee, aside)
        rod = m.joint("revolute", bend, knee, np.cross(aside, up + 0.3 * out) / np.sqrt(1.09))
        tips.append((rod, aside))
        ends.append(start + 0.15 * out - 0.9 * up)
    (rod, aside), end = tips[0], ends[0]
    first = m.joint("revolute", rod, end, aside)
    platform = m.joint("revolute", first, end, np.cross(aside, up))
    for (rod, _), end in zip(tips[1:], ends[1:], strict=True):
        m.close("spherical", rod, platform, end)
    return 11 - 6


def three_upu(m: Mechanism) -> int:
    """A platform on three telescopes between universal joints: it turns about none of its axes."""
    turn, start = m.stand[:3, :3], m.stand[:3, 3]
    tips = []
    for angle in (0.3, 2.4, 4.5):
        foot = np.array([np.cos(angle), np.sin(angle), 0.0])
        end = 0.5 * foot + np.array([0.02, 0.03, 1.0])
        along = (end - foot) / np.linalg.norm(end - foot)
        aside = np.cross([0.0, 0.0, 1.0], foot)
        across = np.cross(aside, along) / np.linalg.norm(np.cross(aside, along))
        aside, across, along = turn @ aside, turn @ across, turn @ along
        foot, end = start + turn @ foot, start + turn @ end
        fork = m.joint("revolute", m.joint("revolute", "base", foot, aside), foot, across)
        tube = m.joint("prismatic", fork, 0.5 * (foot + end), along)
        tips.append((m.joint("revolute", tube, end, across), end, aside))
    tip, end, aside = tips[0]
    platform = m.joint("revolute", tip, end, aside)
    for tip, end, aside in tips[1:]:
        m.close("revolute", tip, platform, end, aside)
    return 3


DRAWN: dict[str, Callable[[Mechanism], int]] = {
    "five-bar": five_bar,
    "palletiser": palletiser,
    "excavator": excavator,
    "3-RRR": three_rrr,
    "gripper": gripper,
    "parallelogram": parallelogram,
    "Bennett": bennett,
    "Sarrus": sarrus,
    "spherical wrist": spherical,
    "delta": delta,
}

ROBOTS = (
    *DRAWN, *FOUR_BARS, "triangle", "slider-crank", "chain", "branches", "Watt", "Stephenson",
    "nested", "floating", "odd planar", "mimic",
)  # fmt: skip
"""More than twenty robots with loops, most of them overconstrained; link frames turned anyhow."""
