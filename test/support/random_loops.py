"""Random mechanisms with closed loops, as URDF text and a mechanism file.

A mechanism is drawn in its closed configuration: links stand anywhere in the world, joints have a
point and an axis there, and closing frames are put where they meet. Every joint also has a random
position there, so that nothing is special about zero. `Mechanism.pair` loads it with our library
and with the judge.
"""

from __future__ import annotations

import copy
import functools
import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from loop_judge import LoopJudge, State, across
from random_robots import RandomJoint, RandomLink, RandomRobot, random_inertia

import mbdyn_ros
from mbdyn_ros.equations.loops.planar_figure import PlanarFigure
from mbdyn_ros.equations.loops.stepwise import Stepwise
from mbdyn_ros.model import Model
from mbdyn_ros.robot.calls import Calls

Array = np.ndarray
FREE = {
    "fixed": "", "revolute": "t", "continuous": "t", "prismatic": "z", "cylindrical": "tz",
    "universal": "bc", "spherical": "abc", "planar": "txy",
}  # fmt: skip
"""What each closing joint may do: turn about its axis, slide along x, y, z, bend."""


def pose(rotation: Array, point: Array) -> Array:
    """A homogeneous matrix."""
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = rotation, point
    return result


def rpy(rotation: Array) -> tuple[float, ...]:
    return tuple(map(float, pin.rpy.matrixToRpy(rotation)))


def random_rotation(random: np.random.Generator) -> Array:
    return pin.exp3(random.normal(size=3) * 2)


@dataclass
class Mechanism:
    """A mechanism under construction, and the texts it makes.

    home : position of every joint where the mechanism is closed (planar joints left out).
    stand : pose of the plane in which planar mechanisms are drawn.
    """

    random: np.random.Generator
    losses: bool = True
    links: list[RandomLink] = field(default_factory=list)
    joints: list[RandomJoint] = field(default_factory=list)
    poses: dict[str, Array] = field(default_factory=dict)
    loops: list[str] = field(default_factory=list)
    couplings: list[str] = field(default_factory=list)
    home: dict[str, float] = field(default_factory=dict)
    independent: list[str] | None = None
    actuated: list[str] | None = None
    floating_base: bool = False
    stand: Array = field(default_factory=lambda: np.eye(4))

    def __post_init__(self) -> None:
        self.stand = pose(random_rotation(self.random), self.random.normal(size=3) * 0.3)
        self.link("base", np.eye(4))

    def link(self, name: str, place: Array) -> str:
        self.links.append(random_inertia(name, self.random))
        self.poses[name] = place
        return name

    def joint(
        self, kind: str, parent: str, point: Array, axis: Array, name: str | None = None
    ) -> str:
        """A joint of that kind at a point of the world; returns its link, named as the joint."""
        random = self.random
        name = name or f"j{len(self.joints)}"
        child = pose(random_rotation(random), np.asarray(point, dtype=float))
        axis = np.asarray(axis) * random.choice([1.0, -1.0])
        local = child[:3, :3].T @ axis
        moved = np.eye(4)
        if kind != "planar":  # no home can be given of a planar joint
            value = float(random.uniform(-2, 2) if kind != "prismatic" else random.uniform(-1, 1))
            self.home[name] = value
            moved = pose(np.eye(3), local * value)
            if kind != "prismatic":
                moved = pose(pin.exp3(local * value), np.zeros(3))
        origin = np.linalg.inv(self.poses[parent]) @ child @ np.linalg.inv(moved)
        loss = random.uniform(0, 2, 2) * (random.random(2) < 0.3) * self.losses
        self.joints.append(
            RandomJoint(
                name, kind, parent, f"{name}_link", tuple(origin[:3, 3]), rpy(origin[:3, :3]),
                tuple(local), damping=float(loss[0]), friction=float(loss[1]),
            )
        )  # fmt: skip
        return self.link(f"{name}_link", child)

    # -- planar drawings -------------------------------------------------------------------------

    def spot(self, z: complex) -> Array:
        """A point of the plane, somewhere off it (axes are lines)."""
        return (self.stand @ [z.real, z.imag, self.random.normal() * 0.1, 1.0])[:3]

    @property
    def normal(self) -> Array:
        return self.stand[:3, 2]

    def pin(self, parent: str, z: complex, name: str | None = None) -> str:
        """A hinge across the plane."""
        return self.joint(
            str(self.random.choice(["revolute", "continuous"])),
            parent,
            self.spot(z),
            self.normal,
            name,
        )

    def slide(self, parent: str, z: complex, way: complex, name: str | None = None) -> str:
        """A slide in the plane."""
        axis = self.stand[:3, :3] @ [way.real, way.imag, 0.0] / abs(way)
        return self.joint("prismatic", parent, self.spot(z), axis, name)

    def close_pin(self, first: str, second: str, z: complex, name: str | None = None) -> None:
        """A closing hinge."""
        self.close("revolute", first, second, self.spot(z), self.normal, name)

    def close(
        self,
        kind: str,
        first: str,
        second: str,
        point: Array,
        axis: Array | None = None,
        name: str | None = None,
    ) -> None:
        """A closing joint at a point, its frames turned and moved as the joint allows."""
        random, free = self.random, FREE[kind]
        name = name or f"loop{len(self.loops)}"
        local = random.normal(size=3)
        local /= np.linalg.norm(local)
        rotation = random_rotation(random)
        if axis is not None:  # turn the frame so that its local axis is that one
            arc = np.cross(rotation @ local, axis)
            sine, cosine = np.linalg.norm(arc), (rotation @ local) @ axis
            if sine > 1e-9:
                rotation = pin.exp3(arc / sine * np.arctan2(sine, cosine)) @ rotation
            else:
                local = local * np.sign(cosine)
        one = pose(rotation, point)
        e1, e2 = across(local)
        turn, shift = np.eye(3), np.zeros(3)
        if "t" in free:
            turn = pin.exp3(local * random.uniform(-2.5, 2.5))
        if kind == "spherical":
            turn = random_rotation(random)
        if kind == "universal":  # about e1 of the first, then about e2 of the second
            turn = pin.exp3(e1 * random.uniform(-1, 1)) @ pin.exp3(e2 * random.uniform(-1, 1))
        for letter, direction in (("z", local), ("x", e1), ("y", e2)):
            if letter in free:
                shift = shift + direction * random.uniform(-0.3, 0.3)
        two = one @ pose(turn, shift)
        text = f"  - name: {name}\n    type: {kind}\n    axis: {numbers(local)}\n"
        for end, link, frame in (("predecessor", first, one), ("successor", second, two)):
            inside = np.linalg.inv(self.poses[link]) @ frame
            place = f"xyz: {numbers(inside[:3, 3])}, rpy: {numbers(rpy(inside[:3, :3]))}"
            text += f"    {end}: {{link: {link}, {place}}}\n"
        self.loops.append(text)

    # -- what it says -----------------------------------------------------------------------------

    def mechanism(self) -> str:
        """The mechanism file."""
        text = "loops:\n" + "".join(self.loops) if self.loops else ""
        if self.couplings:
            text += "couplings:\n" + "".join(self.couplings)
        for key in ("independent", "actuated"):
            names = getattr(self, key)
            if names is not None:
                text += f"{key}: [{', '.join(names)}]\n"
        home = ", ".join(f"{name}: {value!r}" for name, value in self.home.items())
        return text + f"home: {{{home}}}\n"

    def tree(self) -> RandomRobot:
        return RandomRobot(tuple(self.links), tuple(self.joints))

    def load(self, **options: object) -> mbdyn_ros.Robot:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
            return mbdyn_ros.load(
                self.tree().urdf(), self.mechanism(), floating_base=self.floating_base, **options
            )

    def choose(self, count: int, least: float = 0.1) -> bool:
        """Draw independent and actuated joints that determine the motion well at home."""
        model = self._model()
        judge = self.judge(model)
        state = judge.at(self.whole(judge))
        assert np.abs(state.residual).max(initial=0) < 1e-13, "drawn open"
        rows: dict[str, list[int]] = {joint.name: [] for joint in self.joints}
        for k, label in enumerate(judge.labels):
            rows[label.split("/")[0]].append(judge.base + k)
        tries = [
            names
            for size in range(1, count + 1)
            for names in itertools.combinations(rows, size)
            if sum(len(rows[name]) for name in names) == count
        ]
        self.random.shuffle(tries)
        base = [*range(judge.base)]
        good = [
            names
            for names in tries[:40]
            if state.regularity(base + [row for name in names for row in rows[name]]) > least
        ]
        if not good:
            return False
        order = list(good[0])
        self.random.shuffle(order)
        self.independent, self.actuated = order, list(good[-1])
        return True

    def whole(self, judge: LoopJudge) -> Array:
        """Tree positions at home for the judge."""
        joints = [self.home.get(name, 0.0) for name in judge.labels]
        return np.array([0.0] * 6 * self.floating_base + [1.0] * self.floating_base + joints)

    def judge(self, model: Model) -> LoopJudge:
        labels = []
        for joint in model.joints:
            if joint.nv:
                parts = ["/x", "/y", "/theta"] if joint.type == "planar" else [""]
                labels += [joint.name + part for part in parts]
        return LoopJudge(
            self.tree().without_planar().urdf(), model, tuple(labels), self.floating_base
        )

    def _model(self) -> Model:
        from mbdyn_ros.model.read.side_car import read_mechanism
        from mbdyn_ros.model.read.urdf import read_urdf

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
            return read_mechanism(self.mechanism(), read_urdf(self.tree().urdf()))

    def pair(self) -> LoopPair:
        return LoopPair(self)


FORMS = PlanarFigure | Stepwise


def walked(robot: mbdyn_ros.Robot) -> mbdyn_ros.Robot:
    """The same robot, with its planar loops closed by Newton's method."""
    robot = copy.copy(robot)
    linkages = tuple(
        replace(one, closed_form=None) if isinstance(one.closed_form, FORMS) else one
        for one in robot.system.linkages
    )
    robot._system = replace(robot.system, linkages=linkages)
    robot._start(Calls(robot.system, robot.model.source))
    return robot


class LoopPair:
    """A mechanism loaded by our library and by the judge, and the way between their states."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.robot = mechanism, mechanism.load()
        self.judge = mechanism.judge(self.robot.model)
        assert self.judge.labels == self.robot.system.coordinates.joint_labels
        base = [*range(self.judge.base)]
        places = {label: self.judge.base + k for k, label in enumerate(self.judge.labels)}
        skip = len(base)
        self.independent = base + [places[x] for x in self.robot.velocity_labels[skip:]]
        self.actuated = base + [places[x] for x in self.robot.effort_labels[skip:]]

    def whole(self, q: Array) -> Array:
        """Tree positions for the judge, by our `joint_state`."""
        return np.hstack([q[: 7 * (self.judge.base > 0)], self.robot.joint_state(q)[0]])

    def state(self, seed: int, reach: float = 0.4, least: float = 0.05) -> tuple[Array, ...]:
        """q, v, a, effort of a regular state that can be reached."""
        random, robot = np.random.default_rng(seed), self.robot
        v, a = random.normal(size=(2, robot.nv))
        effort = random.normal(size=len(robot.effort_labels)) * 10
        start = np.array([self._home(label) for label in robot.position_labels])
        way = random.uniform(-1, 1, robot.nq)
        for _ in range(12):
            q = start + reach * way
            if self.judge.base:
                q[3:7] = q[3:7] / np.linalg.norm(q[3:7])
            try:
                state = self.judge.at(self.whole(q))
            except mbdyn_ros.InputError:
                reach /= 2
                continue
            if min(state.regularity(self.independent), state.regularity(self.actuated)) > least:
                return q, v, a, effort
            reach /= 2
        raise AssertionError("home is singular")

    def _home(self, label: str) -> float:
        if label in self.robot.home:
            return self.robot.home[label]
        return 1.0 if label.endswith("/qw") else 0.0

    def judged(self, q: Array, v: Array) -> tuple[State, Array, Array]:
        """The judge's state and embedding (G, g) at our q, v."""
        x = self.whole(q)
        embedding, _ = self.judge.at(x).embedding(self.independent)
        state = self.judge.at(x, embedding @ v)
        return state, *state.embedding(self.independent)


def numbers(values: object) -> str:
    return "[" + ", ".join(repr(float(value)) for value in np.asarray(values)) + "]"


# -- planar mechanisms ---------------------------------------------------------------------------


def meet(one: complex, two: complex, r1: float, r2: float, side: float) -> complex | None:
    """Where circles about two points meet, left of the way from the first to the second."""
    d = abs(two - one)
    along = (d * d + r1 * r1 - r2 * r2) / (2 * d)
    if r1 * r1 - along * along < 0.05 * min(r1, r2) ** 2:
        return None
    return one + (two - one) / d * complex(along, side * np.sqrt(r1 * r1 - along * along))


def near(m: Mechanism, z: complex, reach: float = 0.5) -> complex:
    return z + complex(*m.random.uniform(-reach, reach, 2))


FOUR_BARS = {
    "crank-rocker": (0.4, 1.0, 0.8, 0.9),
    "double-crank": (0.8, 0.9, 1.0, 0.4),
    "double-rocker": (0.9, 0.4, 0.8, 1.0),
    "triple-rocker": (0.9, 0.8, 0.5, 1.3),
}
"""Lengths of crank, coupler, rocker and ground that make each kind (Grashof's condition)."""


def four_bar(
    m: Mechanism,
    lengths: tuple[float, ...],
    ground: str = "base",
    at: complex = 0j,
    cut: int = 2,
) -> tuple[str, str, str]:
    """A four-bar on `ground`, cut at its third or fourth hinge: crank, coupler, rocker."""
    a, b, c, d = (length * m.random.uniform(0.95, 1.05) for length in lengths)
    while True:
        slope, angle = m.random.uniform(-np.pi, np.pi, 2)
        o4 = at + d * np.exp(1j * slope)
        one = at + a * np.exp(1j * angle)
        two = meet(one, o4, b, c, m.random.choice([-1.0, 1.0]))
        if two is not None:
            break
    crank = m.pin(ground, at)
    coupler = m.pin(crank, one)
    if cut == 2:
        rocker = m.pin(ground, o4)
        ends = [coupler, rocker]
        spot = two
    else:
        rocker = m.pin(coupler, two)
        ends, spot = [rocker, ground], o4
    m.random.shuffle(ends)
    m.close_pin(*ends, spot)
    return crank, coupler, rocker


def planar_kind(kind: str) -> Callable[[Mechanism], int]:
    def build(m: Mechanism) -> int:
        four_bar(m, FOUR_BARS[kind], cut=int(m.random.choice([2, 3])))
        return 1

    return build


def cylinder(
    m: Mechanism, ground: str, carried: str, at: complex, end: complex, kind: str = "revolute"
) -> None:
    """Barrel on `ground`, rod that pushes `carried`."""
    barrel = m.pin(ground, at)
    rod = m.slide(barrel, near(m, at, 0.1), end - at)
    ends = [rod, carried]
    m.random.shuffle(ends)
    m.close(kind, *ends, m.spot(end), m.normal)


def triangle(m: Mechanism) -> int:
    boom = m.pin("base", 0j)
    cylinder(m, "base", boom, near(m, 0.2 - 0.8j, 0.2), near(m, 0.9 - 0.1j, 0.2))
    return 1


def slider_crank(m: Mechanism) -> int:
    """Cut at the crosshead, at the ground (a slide closes it), or at the crank pin."""
    tip, end = near(m, 0.3j, 0.2), near(m, 1.1, 0.2)
    cut = m.random.choice(["crosshead", "crank pin", "guide"])
    crank = m.pin("base", 0j)
    if cut == "guide":
        slider = m.pin(m.pin(crank, tip), end)
        m.close("prismatic", slider, "base", m.spot(end), m.stand[:3, 0])
        return 1
    guide = m.slide("base", end, 1 + 0.2j)
    if cut == "crosshead":
        m.close_pin(m.pin(crank, tip), guide, end)
    else:
        m.close_pin(crank, m.pin(guide, end), tip)
    return 1


def chain(m: Mechanism) -> int:
    """A hinge, a cylinder, a four-bar, a slide and a four-bar, one after the other."""
    turn = m.joint("revolute", "base", m.random.normal(size=3), random_rotation(m.random)[2])
    boom = m.pin(turn, 0j)
    cylinder(m, turn, boom, -0.7j, 0.8 - 0.1j)
    _, coupler, _ = four_bar(m, FOUR_BARS["crank-rocker"], boom, 1 + 0j)
    slide = m.joint("prismatic", coupler, m.random.normal(size=3), random_rotation(m.random)[2])
    m.stand = pose(random_rotation(m.random), m.random.normal(size=3))
    four_bar(m, FOUR_BARS["double-rocker"], slide)
    return 5


def branches(m: Mechanism) -> int:
    """Loops on two branches, arms on a loop's links and between."""
    trunk = m.joint("continuous", "base", m.random.normal(size=3), random_rotation(m.random)[0])
    for _ in range(2):
        m.stand = pose(random_rotation(m.random), m.random.normal(size=3))
        _, coupler, _ = four_bar(m, FOUR_BARS["double-rocker"], trunk)
        m.joint("revolute", coupler, m.random.normal(size=3), random_rotation(m.random)[0])
    m.joint("prismatic", trunk, m.random.normal(size=3), random_rotation(m.random)[0])
    return 6


def watt(m: Mechanism) -> int:
    """Six bars: the second loop stands on the rocker and a point of the ground."""
    _, _, rocker = four_bar(m, FOUR_BARS["crank-rocker"])
    return dyad(m, rocker)


def stephenson(m: Mechanism) -> int:
    """Six bars: the second loop stands on the coupler and the ground."""
    _, coupler, _ = four_bar(m, FOUR_BARS["crank-rocker"])
    return dyad(m, coupler)


def dyad(m: Mechanism, carrier: str) -> int:
    one, two = near(m, 0.4 + 0.6j), near(m, 1.6)
    middle = meet(one, two, 1.2, 1.0, 1.0)
    assert middle is not None
    m.close_pin(m.pin(carrier, one), m.pin("base", two), middle)
    return 1


DYADS = ("RRR", "RRP", "RPR", "PRP", "PPR")
"""Joints of two links in a row, turning or sliding; the first and the last are on other links."""


def dyads(m: Mechanism, kinds: tuple[str, ...] = ()) -> int:
    """Drivers on a link that itself moves, and dyads of any kinds on any links there are.

    The drivers are the first joints after the trunk; kinds that are not named are drawn.
    """
    random = m.random
    trunk = m.joint("revolute", "base", random.normal(size=3), random_rotation(random)[0], "trunk")
    links = {trunk: 0j}
    for k in range(int(random.integers(1, 3))):
        at = near(m, 2.0 * k)
        if random.random() < 0.7:
            links[m.pin(trunk, at, f"driver{k}")] = at
        else:
            links[m.slide(trunk, at, near(m, 0j, 1.0), f"driver{k}")] = at
    drivers = len(links) - 1
    for kind in kinds or random.choice(DYADS, random.integers(2, 5)):
        first, second = random.choice(list(links), 2, replace=False)
        one, two = near(m, links[first], 0.4), near(m, links[second], 0.4)
        middle = meet(one, two, *abs(one - two) * random.uniform(0.7, 1.3, 2), 1.0)
        one, two = (one, two) if middle is not None else (0j, 1 + 0j)
        middle = 0.4 + 0.8j if middle is None else middle
        for link in two_links(m, kind, (first, one), middle, (second, two)):
            links[link] = middle
    return 1 + drivers


def two_links(
    m: Mechanism, kind: str, start: tuple[str, complex], middle: complex, end: tuple[str, complex]
) -> tuple[str, str]:
    """A dyad between two links, cut open at its last joint or at the one in its middle."""
    (first, one), (last, two) = start, end

    def joint(letter: str, parent: str, z: complex) -> str:
        return m.pin(parent, z) if letter == "R" else m.slide(parent, z, near(m, 0j, 1.0))

    def close(letter: str, parent: str, link: str, z: complex) -> None:
        axis = m.stand[:3, :3] @ np.array([*m.random.normal(size=2), 0.0])
        if letter == "R":
            m.close_pin(parent, link, z)
        else:
            m.close("prismatic", parent, link, m.spot(z), axis / np.linalg.norm(axis))

    link = joint(kind[0], first, one)
    if m.random.random() < 0.5:
        other = joint(kind[1], link, middle)
        close(kind[2], other, last, two)
    else:
        other = joint(kind[2], last, two)
        close(kind[1], link, other, middle)
    return link, other


def nested(m: Mechanism) -> int:
    """A five-bar with a cylinder across one of its corners."""
    crank = m.pin("base", 0j)
    elbow = near(m, 0.2 + 0.8j, 0.1)
    link = m.pin(crank, elbow)
    cylinder(m, crank, link, elbow * 0.4, elbow + 0.4 + 0.1j)
    tip = near(m, 1.1 + 1.0j, 0.1)
    rocker = m.pin("base", near(m, 1.4, 0.1))
    other = m.pin(rocker, near(m, 1.7 + 0.6j, 0.1))
    m.close_pin(link, other, tip)
    return 2


def floating_loop(m: Mechanism) -> int:
    """A floating base that carries a cylinder and a four-bar behind it."""
    m.floating_base = True
    boom = m.pin("base", 0j)
    cylinder(m, "base", boom, -0.7j, 0.8 - 0.1j)
    four_bar(m, FOUR_BARS["crank-rocker"], boom, 1 + 0j)
    return 2


def odd_planar(m: Mechanism) -> int:
    """A planar loop closed by a sphere or a cylindrical joint: solved by steps, or not."""
    boom = m.pin("base", 0j)
    kind = str(m.random.choice(["spherical", "cylindrical"]))
    cylinder(m, "base", boom, -0.7j, near(m, 0.8 - 0.1j, 0.2), kind)
    return 1


def through_planar_joint(m: Mechanism) -> int:
    """A loop with a planar joint on the way: it counts as three."""
    block = m.joint("planar", "base", m.spot(0j), m.normal)
    four = m.pin(block, 0.6 + 0.2j)
    other = m.pin("base", 1.2 - 0.5j)
    m.close_pin(four, other, 1.3 + 0.4j)
    return 3


# -- gears -----------------------------------------------------------------------------------------


def mimicked(m: Mechanism) -> int:
    """A five-bar whose cranks are geared by `<mimic>`: one cluster of a loop and a gear."""
    left, right = m.pin("base", 0j, "left"), m.pin("base", 1.3, "right")
    one, two = near(m, 0.1 + 0.7j, 0.1), near(m, 1.2 + 0.8j, 0.1)
    m.close_pin(m.pin(left, one), m.pin(right, two), near(m, 0.6 + 1.4j, 0.1))
    k = next(k for k, joint in enumerate(m.joints) if joint.name == "right")
    ratio = float(m.random.uniform(0.4, 1.5) * m.random.choice([-1, 1]))
    offset = m.home["right"] - ratio * m.home["left"]
    m.joints[k] = RandomJoint(**{**vars(m.joints[k]), "mimic": ("left", ratio, offset)})
    return 1


def coupled(m: Mechanism) -> int:
    """A gear over three joints of a branched chain, a four-bar on a link that it moves.

    A gear has no constant, so its ratio is that of the positions drawn.
    """
    one = m.joint("revolute", "base", m.random.normal(size=3), random_rotation(m.random)[0], "a")
    two = m.joint("revolute", one, m.random.normal(size=3), random_rotation(m.random)[0], "b")
    three = m.joint("revolute", two, m.random.normal(size=3), random_rotation(m.random)[0], "c")
    m.joint("revolute", one, m.random.normal(size=3), random_rotation(m.random)[0], "d")
    ratio = m.home["d"] / (m.home["b"] + m.home["c"])
    m.couplings.append(
        "  - {name: gear, predecessor: {link: c_link}, successor: {link: d_link}, "
        f"ratio: {ratio!r}}}\n"
    )
    four_bar(m, FOUR_BARS["crank-rocker"], three)
    return 4


# -- spatial loops ---------------------------------------------------------------------------------


def spatial(kind: str, floating: bool = False) -> Callable[[Mechanism], int]:
    """A loop of enough joints in any directions, behind one joint and with another on it."""
    rows = 6 - len(FREE[kind])

    def build(m: Mechanism) -> int:
        random = m.random
        m.floating_base = floating
        mobility = int(random.integers(1, 3))
        trunk = m.joint("revolute", "base", random.normal(size=3), random_rotation(random)[0])
        inner = int(random.integers(0, rows + mobility + 1))
        tips = []
        for count in (inner, rows + mobility - inner):
            link = trunk
            for k in range(count):
                type_ = "prismatic" if k % 3 == 2 else "revolute"
                axis = random_rotation(random)[0]
                link = m.joint(type_, link, random.normal(size=3) * 0.6, axis)
            tips.append(link)
        m.close(kind, *tips, random.normal(size=3) * 0.6)
        m.joint("revolute", tips[0], random.normal(size=3), random_rotation(random)[0])
        return mobility + 2

    return build


KINDS: dict[str, Callable[[Mechanism], int]] = {
    **{kind: planar_kind(kind) for kind in FOUR_BARS},
    "triangle": triangle,
    "slider-crank": slider_crank,
    "chain": chain,
    "branches": branches,
    "Watt": watt,
    "Stephenson": stephenson,
    "dyads": dyads,
    "nested": nested,
    "floating": floating_loop,
    "odd planar": odd_planar,
    "planar joint": through_planar_joint,
    "mimic": mimicked,
    "coupling": coupled,
    **{f"spatial {kind}": spatial(kind) for kind in FREE if kind != "continuous"},
    "spatial floating": spatial("spherical", floating=True),
}
"""Every kind of mechanism: what draws it and says how many joints move it."""

BUILT_OF_OTHERS = {
    "double-crank", "double-rocker", "triple-rocker", "chain", "branches", "Watt",
    "spatial fixed", "spatial revolute", "spatial prismatic", "spatial cylindrical",
    "spatial spherical", "spatial floating",
}  # fmt: skip
"""Kinds whose derivatives take the ways of others: what turns, what bends and what slides."""


def kinds(*left_out: str) -> list[Any]:
    """Every kind, for a test that takes seconds a kind; those left out are `long`."""
    marks = {kind: [pytest.mark.long] for kind in left_out}
    return [pytest.param(kind, marks=marks.get(kind, [])) for kind in KINDS]


def draw(kind: str, seed: int, losses: bool = True) -> Mechanism:
    """A mechanism of a kind whose chosen joints determine its motion well at home."""
    return copy.deepcopy(_drawn(kind, seed, losses))


@functools.cache
def _drawn(kind: str, seed: int, losses: bool) -> Mechanism:
    for attempt in range(60):
        m = Mechanism(np.random.default_rng([seed, attempt, *map(ord, kind)]), losses)
        if m.choose(KINDS[kind](m)):
            return m
    raise AssertionError(f"no regular {kind} found")
