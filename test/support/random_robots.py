"""Random robots as URDF text, with everything in them that a URDF allows and a peer got wrong.

`robots()` is a Hypothesis strategy: what is drawn is the structure, so that a failure shrinks to
few plain joints; the numbers follow from a drawn seed. `Pair` loads a robot with our library and
with Pinocchio.
"""

from __future__ import annotations

import itertools
import tempfile
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from judge import Judge
from night import is_night

import mbdyn_ros
from mbdyn_ros.equations.algebra.spatial import SX, constant
from mbdyn_ros.equations.loops.embedding import Embedding
from mbdyn_ros.model import Model, read_urdf

Array = np.ndarray


LONG = 300
"""Examples of a property in the profile "long"."""


def explore(examples: int, long: int = LONG) -> settings:
    """Settings of a property test: as many examples, the same ones every time.

    `make test-all` explores `long` ones.
    """
    return settings(
        max_examples=max(long, examples) if is_night() else examples,
        derandomize=True,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


@dataclass(frozen=True)
class RandomLink:
    """A link; mass 0 means that it has no `<inertial>`."""

    name: str
    mass: float = 0.0
    center: tuple[float, ...] = (0.0, 0.0, 0.0)
    turn: tuple[float, ...] = (0.0, 0.0, 0.0)
    moments: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def urdf(self) -> str:
        if not self.mass:
            return f'  <link name="{self.name}"/>\n'
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        moments = " ".join(f'{k}="{m!r}"' for k, m in zip(keys, self.moments, strict=True))
        return (
            f'  <link name="{self.name}"><inertial>'
            f'<origin xyz="{words(self.center)}" rpy="{words(self.turn)}"/>'
            f'<mass value="{self.mass!r}"/><inertia {moments}/></inertial></link>\n'
        )


@dataclass(frozen=True)
class RandomJoint:
    """A joint; `mimic` is (joint, multiplier, offset)."""

    name: str
    type: str
    parent: str
    child: str
    xyz: tuple[float, ...] = (0.0, 0.0, 0.0)
    rpy: tuple[float, ...] = (0.0, 0.0, 0.0)
    axis: tuple[float, ...] = (1.0, 0.0, 0.0)
    damping: float = 0.0
    friction: float = 0.0
    mimic: tuple[str, float, float] | None = None

    def urdf(self) -> str:
        text = f'  <joint name="{self.name}" type="{self.type}">'
        text += f'<parent link="{self.parent}"/><child link="{self.child}"/>'
        if any(self.xyz) or any(self.rpy):
            text += f'<origin xyz="{words(self.xyz)}" rpy="{words(self.rpy)}"/>'
        if self.type not in ("fixed", "floating"):
            text += f'<axis xyz="{words(self.axis)}"/>'
        if self.type in ("revolute", "prismatic"):
            text += '<limit lower="-9" upper="9" velocity="9" effort="9"/>'
        if self.damping or self.friction:
            text += f'<dynamics damping="{self.damping!r}" friction="{self.friction!r}"/>'
        if self.mimic is not None:
            leader, multiplier, offset = self.mimic
            text += f'<mimic joint="{leader}" multiplier="{multiplier!r}" offset="{offset!r}"/>'
        return text + "</joint>\n"


@dataclass(frozen=True)
class RandomRobot:
    """Links and joints in document order."""

    links: tuple[RandomLink, ...]
    joints: tuple[RandomJoint, ...]

    def urdf(self) -> str:
        elements = "".join(element.urdf() for element in (*self.joints, *self.links))
        return f'<robot name="random">\n{elements}</robot>\n'

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        """What Hypothesis prints of a failure."""
        printer.text(self.urdf())  # type: ignore[attr-defined]

    @property
    def weight(self) -> float:
        """What efforts of this robot are large as: its weight on a lever of 1 m."""
        return 9.81 * sum(link.mass for link in self.links)

    def without_planar(self) -> RandomRobot:
        """The same with every planar joint written as two slides and a turn.

        Pinocchio moves planar joints in the plane z = 0 whatever their axis, and in body axes.
        """
        links, joints = list(self.links), []
        for joint in self.joints:
            if joint.type != "planar":
                joints.append(joint)
                continue
            x, y = plane(joint.axis)
            middle = [f"{joint.child} moved along {way}" for way in "xy"]
            links += [RandomLink(name) for name in middle]
            steps = zip(
                ("x", "y", "theta"),
                ("prismatic", "prismatic", "continuous"),
                (x, y, joint.axis),
                itertools.pairwise((joint.parent, *middle, joint.child)),
                strict=True,
            )
            origin = {"xyz": joint.xyz, "rpy": joint.rpy}
            for label, kind, axis, (parent, child) in steps:
                step = RandomJoint(f"{joint.name}/{label}", kind, parent, child, axis=axis)
                loss = {"damping": joint.damping, "friction": joint.friction}
                joints.append(replace(step, **loss, **origin))
                origin = {}
        return RandomRobot(tuple(links), tuple(joints))


def words(values: tuple[float, ...]) -> str:
    """Numbers as an attribute, every bit of them."""
    return " ".join(repr(float(value)) for value in values)


def plane(axis: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Where a planar joint's x and y point: as z is turned onto its axis by the shortest way.

    An axis that points down is reached from -z, behind a half turn about x.
    """
    unit = np.array(axis) / np.linalg.norm(axis)
    half = np.diag([1.0, -1.0, -1.0]) if unit[2] < 0 else np.eye(3)
    target = half @ unit
    across = np.cross([0.0, 0.0, 1.0], target)
    rotation = half @ turn_about(across, np.arctan2(np.linalg.norm(across), target[2]))
    return tuple(rotation[:, 0]), tuple(rotation[:, 1])


def turn_about(axis: Array, angle: float) -> Array:
    """The rotation (3, 3) by an angle (rad) about a vector; none about zero."""
    length = np.linalg.norm(axis)
    return pin.exp3(np.asarray(axis) / length * angle) if length else np.eye(3)


QUARTER = np.pi / 2
PLACES = ["none", "moved", "quarter turns", "along the last axis", "anywhere"]
AXES = ["z", "negative", "cartesian", "parallel", "almost parallel", "at the threshold", "any"]
KINDS = ["revolute", "prismatic", "continuous", "fixed", "planar", "floating"]


def random_inertia(name: str, random: np.random.Generator) -> RandomLink:
    """A link made of point masses, so that its inertia is one that a body can have."""
    points = random.normal(size=(5, 3)) * 0.2
    masses = random.uniform(0.1, 1.0, 5)
    moments = sum(
        m * (np.dot(p, p) * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True)
    )
    return RandomLink(
        name,
        float(masses.sum()),
        tuple(random.normal(size=3) * 0.3),
        tuple(random.choice([0.0, QUARTER, random.uniform(-3, 3)], 3)),
        tuple(float(moments[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))),
    )


@st.composite
def robots(
    draw: st.DrawFn,
    joints: int = 12,
    kinds: tuple[str, ...] = tuple(KINDS),
    mimics: bool = True,
    massless: bool = True,
) -> RandomRobot:
    """Trees of up to `joints` joints; outermost links have mass, and most others."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, joints))
    rotations, last_axis = [np.eye(3)], [np.array([0.0, 0.0, 1.0])]  # at q = 0, in the world
    found: list[RandomJoint] = []
    for i in range(count):
        branch = draw(st.sampled_from([0, 0, 0, 1, 2, 5]))
        parent = max(0, i - branch)
        kind = draw(st.sampled_from(kinds))
        place, way = draw(st.sampled_from(PLACES)), draw(st.sampled_from(AXES))
        xyz, rpy = np.zeros(3), np.zeros(3)
        if place == "along the last axis":
            xyz = rotations[parent].T @ last_axis[parent] * random.normal()
        elif place != "none":
            xyz = random.normal(size=3) * 0.5
        if place == "quarter turns":
            rpy = random.integers(-4, 5, 3) * QUARTER
        elif place == "anywhere":
            rpy = random.uniform(-np.pi, np.pi, 3)
        rotation = rotations[parent] @ pin.rpy.rpyToMatrix(rpy)
        axis = np.array([0.0, 0.0, 1.0])
        if way == "negative":
            axis = np.array([0.0, -1.0, 0.0])
        elif way == "cartesian":
            axis = np.eye(3)[random.integers(3)] * random.choice([1.0, -1.0, 2.0])
        elif way == "any":
            axis = random.normal(size=3) * 10.0 ** random.uniform(-3, 3)
        elif way != "z":
            angle = {"parallel": 0.0, "almost parallel": random.choice([1e-9, 1e-4])}
            across = np.cross(last_axis[parent], random.normal(size=3))
            turn = turn_about(across, angle.get(way, random.uniform(0.19, 0.21)))
            axis = rotation.T @ turn @ last_axis[parent] * random.choice([1.0, -0.5])
        if kind == "planar":  # where its x points depends on the sign of z
            axis = np.where(np.abs(axis) < 1e-12 * np.linalg.norm(axis), 0.0, axis)
        rotations.append(rotation)
        moving = kind in ("revolute", "continuous", "prismatic")
        last_axis.append(rotation @ axis / np.linalg.norm(axis) if moving else last_axis[parent])
        loss = random.uniform(0, 2, 2) * (random.random(2) < 0.3)
        loss = loss * (kind not in ("fixed", "floating"))
        ends = f"link{parent}", f"link{i + 1}"
        joint = RandomJoint(f"joint{i}", kind, *ends, tuple(xyz), tuple(rpy), tuple(axis))
        found.append(replace(joint, damping=float(loss[0]), friction=float(loss[1])))

    if mimics:
        single = [k for k, joint in enumerate(found) if joint.type in KINDS[:3]]
        for k in single[1:]:
            if draw(st.sampled_from([False, False, False, True])):
                leader = found[single[draw(st.integers(0, single.index(k) - 1))]].name
                numbers = random.choice([1.0, -1.0, 0.5, random.normal()]), random.normal()
                found[k] = replace(found[k], mimic=(leader, float(numbers[0]), float(numbers[1])))

    inner = {joint.parent for joint in found}
    links = []
    for k in range(count + 1):
        name = f"link{k}"
        if massless and name in inner and draw(st.sampled_from([False, False, False, True])):
            links.append(RandomLink(name))
        else:
            links.append(random_inertia(name, random))
    if draw(st.booleans()):
        random.shuffle(found)
        random.shuffle(links)
    return RandomRobot(tuple(links), tuple(found))


def number(expression: SX) -> Array:
    """The numbers (rows, columns) of an expression without symbols."""
    return np.array(ca.evalf(ca.densify(expression)))


def model_of(text: str) -> Model:
    """The model, warnings aside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        return read_urdf(text)


class Pair:
    """One robot, loaded by this library (`.robot`, `.tree`) and by Pinocchio (`.judge`)."""

    def __init__(self, source: RandomRobot | str, floating_base: bool = False) -> None:
        text = source if isinstance(source, str) else source.urdf()
        judged = source if isinstance(source, str) else source.without_planar().urdf()
        self.weight = 1.0 if isinstance(source, str) else source.weight
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
            self.robot = mbdyn_ros.load(text, floating_base=floating_base)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "judged.urdf")
            path.write_text(judged, encoding="utf-8")
            self.judge = Judge(str(path), model_of(judged), floating_base)
        self.system = self.robot.system
        self.tree = self.system.tree
        assert (self.robot.nq, self.robot.nv) == (self.judge.nq, self.judge.nv)

    def state(self, seed: int = 0) -> tuple[Array, Array, Array]:
        return self.judge.random_state(seed)

    def embedding(self, q: Array) -> Embedding:
        """The joints at a position, as numbers."""
        return self.system.embedding(constant(q), SX(0, 1))

    def coriolis(self, q: Array, v: Array) -> Array:
        """Pinocchio's Coriolis matrix, times v, reduced."""
        judge = self.judge
        rate = judge.matrix @ v
        full = pin.computeCoriolisMatrix(judge.pin, judge.data, judge.position(q), rate)
        return judge.matrix.T @ (full @ rate)

    def jacobian(self, q: Array, link: str) -> Array:
        """Pinocchio's Jacobian, also of a robot with one coordinate or none."""
        judge = self.judge
        place = judge.position(q), judge.pin.getFrameId(link, pin.BODY), pin.LOCAL_WORLD_ALIGNED
        full = pin.computeFrameJacobian(judge.pin, judge.data, *place)
        return np.reshape(full, (6, -1)) @ judge.matrix

    def external(self, wrenches: dict[str, Array]) -> pin.StdVec_Force:
        """Wrenches on links, at Pinocchio's joints."""
        result = pin.StdVec_Force()
        forces = [pin.Force.Zero() for _ in range(self.judge.pin.njoints)]
        for link, wrench in wrenches.items():
            frame = self.judge.pin.frames[self.judge.pin.getFrameId(link, pin.BODY)]
            forces[frame.parentJoint] += frame.placement.act(pin.Force(np.asarray(wrench)))
        result.extend(forces)
        return result


def assert_close(
    ours: object, theirs: object, tolerance: float = 1e-10, floor: float = 1e-300
) -> None:
    """Refuse gaps beyond `tolerance`, relative to the largest element or to `floor`."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    scale = max(np.abs(theirs).max(initial=0.0), floor)
    gap = np.abs(ours - theirs).max(initial=0.0) / scale
    assert gap <= tolerance, f"relative gap {gap:.2e}:\n{ours}\n{theirs}"
