"""Robots and free bodies in one world: one robot to compute with, one environment to touch.

A YAML file of a world has robots and bodies with their places, and the walls around them.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeGuard, get_args

import numpy as np
import yaml

from ..arguments import checked_text, positive_number
from ..array import Array, as_numbers
from ..errors import InputError, MbdynError, ModelError, shown, suggestion
from ..model.inertia import Inertia
from ..model.model import Link, Model
from ..model.read.description import SUFFIXES
from ..model.read.installed import find_robot
from ..model.read.mjcf.scene import read_scene
from ..model.read.source_text import TEXT, Source
from ..model.read.yaml_source import BEGINS, YamlSource
from ..model.shapes import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Ellipsoid,
    Geometry,
    Mesh,
    Sphere,
    Visual,
)
from ..robot import Robot, load
from ..robot.described import described_model
from .contact.environment import Environment
from .contact.environment_file import KEYS, environment_arguments
from .contact.link_contacts import LinkContacts
from .contact.surfaces import Surface
from .given_motion import GivenMotion, moving_body
from .stepped.stepper import Stepper

NUMBER, VECTOR = YamlSource.number, YamlSource.vector
ROUND: dict[str, Callable[..., Any]] = {"radius": NUMBER, "length": NUMBER}

SHAPES: dict[str, tuple[Callable[..., Geometry], dict[str, Callable[..., Any]]]] = {
    "box": (Box, {"size": VECTOR}),
    "sphere": (Sphere, {"radius": NUMBER}),
    "cylinder": (Cylinder, ROUND),
    "capsule": (Capsule, ROUND),
    "ellipsoid": (Ellipsoid, {"half_axes": VECTOR}),
}
"""The shape of each name, and its keys with their readers."""

MOTIONS: dict[str, tuple[Callable[..., GivenMotion], dict[str, Callable[..., Any]]]] = {
    "steady": (GivenMotion.steady, {"speed": NUMBER}),
    "sine": (GivenMotion.sine, {"amplitude": NUMBER, "frequency": NUMBER, "phase": NUMBER}),
    "waypoints": (
        GivenMotion.waypoints, {"times": YamlSource.numbers, "positions": YamlSource.numbers}
    ),
}  # fmt: skip
"""The given motion of each name, and its keys with their readers."""

AXES: dict[str, Callable[..., Any]] = {"along": VECTOR, "about": VECTOR}
NOT_NEEDED = "phase"

PLACE: dict[str, Callable[..., Any]] = {"xyz": VECTOR, "rpy": VECTOR}
OF_ROBOT = ("mechanism", "home", "floating_base", "own_contacts")


@dataclass(frozen=True)
class WorldFile:
    """The contents of the file of a world.

    members : the arguments of `World.add`, with the place in the file for messages.
    gravity : m/s^2; None where it says nothing. environment : arguments of `Environment`.
    """

    members: tuple[tuple[str, Mapping[str, Any]], ...]
    gravity: tuple[float, ...] | None
    environment: Mapping[str, Any]


def is_yaml(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a source is YAML: a file that ends in .yaml or .yml, or such text."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    text = os.fspath(source)
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return False
    return "\n" in text or bool(BEGINS.match(text)) or text.lower().endswith(SUFFIXES)


def read_world(source: str | os.PathLike[str]) -> WorldFile:
    """Read the YAML file of a world.

    Raises
    ------
    ModelError
        What cannot be read or makes no sense; the message gives file and line.
    """
    document = YamlSource(source, "world", "members")
    values = document.mapping(document.root, "a world", ("members", "gravity", *KEYS))
    gravity = values.get("gravity")
    return WorldFile(
        tuple(_read_member(document, node) for node in document.records(values, "members")),
        None if gravity is None else document.vector(gravity, "gravity"),
        environment_arguments(document, values, convex=True),
    )


def _read_member(document: YamlSource, node: yaml.Node) -> tuple[str, Mapping[str, Any]]:
    fields = document.mapping(node, "a member")
    if "name" not in fields:
        raise document.error(node, "this member has no name; give it one")
    name = document.text(fields.pop("name"), "the name of a member")
    what = f'member "{name}"'
    if ("robot" in fields) == ("shape" in fields):
        raise document.error(node, f"{what}: is either a robot or a shape; give one of both")
    place = {key: PLACE[key](document, fields.pop(key), key) for key in PLACE if key in fields}
    read = _read_robot if "robot" in fields else _read_shape
    try:
        arguments = read(document, node, what, fields)
    except ModelError:
        raise
    except MbdynError as error:
        raise document.error(node, f"{what}: {error}") from error
    where = f"{document.name}:{document.line(node)}"
    return where, {"name": name, **place, **arguments}


def _read_robot(
    document: YamlSource, node: yaml.Node, what: str, fields: dict[str, yaml.Node]
) -> dict[str, Any]:
    _require_known(document, what, "robot", fields, (*PLACE, "robot", *OF_ROBOT))
    folder = Path(document.name).parent if document.name != TEXT else Path()

    def file(key: str) -> Path | None:
        return folder / document.text(fields[key], f"{what}: its {key}") if key in fields else None

    def truth(key: str) -> bool:
        return key in fields and document.truth(fields[key], f"{what}: its {key}")

    path = file("robot")
    assert path is not None
    robot: Robot = load(
        path if path.is_file() else find_robot(document.text(fields["robot"], what)),
        file("mechanism"),
        _read_home(document, what, fields["home"]) if "home" in fields else None,
        truth("floating_base") or None,
    )
    return {"what": robot, "own_contacts": truth("own_contacts")}


def _read_home(document: YamlSource, what: str, node: yaml.Node) -> Any:
    """The name of a configuration, or positions by joint."""
    if isinstance(node, yaml.ScalarNode):
        return document.text(node, f"{what}: its home")
    return {
        joint: document.numbers(value, joint)
        if isinstance(value, yaml.SequenceNode)
        else document.number(value, joint)
        for joint, value in document.mapping(node, f"{what}: its home").items()
    }


def _read_shape(
    document: YamlSource, node: yaml.Node, what: str, fields: dict[str, yaml.Node]
) -> dict[str, Any]:
    kind = document.text(fields.pop("shape"), f"{what}: its shape")
    if kind not in SHAPES:
        raise document.unknown_name(node, f"{what}: there is no shape", kind, SHAPES)
    make, readers = SHAPES[kind]
    _require_known(document, what, kind, fields, (*PLACE, "mass", "motion", *readers))
    motion = _read_motions(document, what, fields.pop("motion")) if "motion" in fields else None
    missing = [key for key in readers if key not in fields]
    if missing:
        raise document.error(node, f"{what}: has no {missing[0]}; add {missing[0]}: ...")
    numbers = {
        key: readers.get(key, NUMBER)(document, value, f"{what}: its {key}")
        for key, value in fields.items()
    }
    mass = numbers.pop("mass", None)
    return {"what": make(**numbers), "mass": mass, "motion": motion}


def _read_motions(document: YamlSource, what: str, node: yaml.Node) -> list[GivenMotion]:
    """One given motion, or a list of them."""
    several = isinstance(node, yaml.SequenceNode)
    what = f"{what}: its motion"
    return [
        _read_motion(document, what, one)
        for one in (document.sequence(node, what) if several else [node])
    ]


def _read_motion(document: YamlSource, what: str, node: yaml.Node) -> GivenMotion:
    fields = document.mapping(node, what)
    law = document.text(fields.pop("law"), f"{what}: its law") if "law" in fields else ""
    if law not in MOTIONS:
        raise document.unknown_name(node, f"{what}: there is no law", law, MOTIONS)
    make, needed = MOTIONS[law]
    readers = {**needed, **AXES}
    _require_known(document, what, law, fields, tuple(readers))
    missing = [key for key in needed if key not in fields and key != NOT_NEEDED]
    if missing:
        raise document.error(node, f"{what}: has no {missing[0]}; add {missing[0]}: ...")
    return make(
        **{key: readers[key](document, one, f"{what}: its {key}") for key, one in fields.items()}
    )


def _require_known(
    document: YamlSource, what: str, kind: str, fields: dict[str, yaml.Node], known: tuple[str, ...]
) -> None:
    for key, node in fields.items():
        if key not in known:
            raise document.unknown_key(node, f"{what}: a {kind}", key, known)


GROUND = "world"
"""The link on which all members stand."""

TOUCHING = LinkContacts(convex=True)
"""How members touch each other by default."""

Placed = Sequence[float]


@dataclass(frozen=True)
class Member:
    """Of a member of a world, where its numbers stand: indices into q, v and the efforts."""

    links: tuple[str, ...]
    q: Array
    v: Array
    effort: Array


class World:
    """Robots, free bodies and walls, with contacts between all of them.

    `robot` is all of them as one, which every quantity, `Stepper`, `simulate` and rollout takes,
    and `environment` what they touch. Names begin with that of the member and an underscore; a
    body of one shape has the name itself.

    Parameters
    ----------
    surfaces : the walls.
    links : how members touch each other; None: they pass through each other.
    gravity : m/s^2; by default that of the Earth.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.shapes import Box, Sphere
    >>> world = mbdyn_ros.World([mbdyn_ros.Surface.plane()])
    >>> world.add("table", Box((1, 1, 0.4)), xyz=(0, 0, 0.2))
    >>> world.add("ball", Sphere(0.05), mass=0.2, xyz=(0, 0, 0.5))
    >>> stepper = world.stepper(1e-3)
    >>> stepper.advance(1000)
    >>> print(round(world.robot.frame_pose(stepper.q, "ball")[2, 3], 6))
    0.45
    """

    def __init__(
        self,
        surfaces: Sequence[Surface] = (),
        links: LinkContacts | None = TOUCHING,
        gravity: Placed | None = None,
    ) -> None:
        self._surfaces, self._links = tuple(surfaces), links
        self._options: dict[str, Any] = {}
        """Other arguments of `Environment`."""
        self._robot = Robot(Model(GROUND, GROUND, (Link(GROUND),), ()), gravity=gravity)
        self._members: dict[str, tuple[str, ...]] = {}
        """Links of the members; the first one carries the others."""
        self._own_contacts: set[str] = set()
        self._wall_laws: dict[tuple[str, str], tuple[float, float]] = {}

    @classmethod
    def load(cls, source: Source, restitution: float = 0.0) -> World:
        """The world of a file: YAML that lists members and walls (docs/contact.md), or an MJCF.

        Of an MJCF, planes of its world are walls, its other shapes the link `scenery`. Bodies are
        where the keyframe home has them, else the first one, else as written; what is free counts
        from there. Names are those of the file. Friction is MuJoCo's for every link on every wall
        and on links of other members; what its masks and `<exclude>` keep apart passes through each
        other.

        Parameters
        ----------
        source : path of the file, or its text.
        restitution : of all contacts of an MJCF, for which MuJoCo has stiffness and damping.

        Raises
        ------
        ModelError
            It is neither, or cannot be read.

        Examples
        --------
        >>> import mbdyn_ros
        >>> world = mbdyn_ros.World.load('''<mujoco><worldbody>
        ...   <geom type="plane" size="5 5 1" friction="0.5"/>
        ...   <body name="ball" pos="0 0 1"><freejoint/><geom size="0.1"/></body>
        ... </worldbody></mujoco>''')
        >>> world, world.environment.surfaces
        (World(ball), (Surface('floor', restitution=0.0, friction=0.8),))
        """
        return cls._of_yaml(source) if is_yaml(source) else cls._of_scene(source, restitution)

    @classmethod
    def _of_scene(cls, source: Source, restitution: float) -> World:
        scene = read_scene(source)
        walls = {
            plane.name: (plane.pose.translation.tolist(), plane.pose.rotation[:, 2].tolist())
            for plane in scene.planes
        }
        on_links, on_planes = (
            {pair: (restitution, mu) for pair, mu in friction.items()}
            for friction in (scene.on_links, scene.on_planes)
        )
        world = cls(
            [Surface.plane(*place, restitution, name=name) for name, place in walls.items()],
            LinkContacts(restitution, disabled=scene.apart, convex=True, laws=on_links),
        )
        world._robot = Robot(scene.model)
        world._members, world._wall_laws = dict(scene.members), on_planes
        return world

    @classmethod
    def _of_yaml(cls, source: str | os.PathLike[str]) -> World:
        file = read_world(source)
        options = dict(file.environment)
        world = cls(options.pop("surfaces"), options.pop("links", TOUCHING), file.gravity)
        world._wall_laws = options.pop("laws")
        world._options = options
        for place, member in file.members:
            try:
                world.add(**member)
            except InputError as error:
                raise ModelError(f"{place}: {error}") from error
        return world

    def __repr__(self) -> str:
        return f"World({', '.join(self._members) or 'empty'})"

    def add(
        self,
        name: str,
        what: Robot | Geometry | str | os.PathLike[str],
        xyz: Placed = (0.0, 0.0, 0.0),
        rpy: Placed = (0.0, 0.0, 0.0),
        mass: float | None = None,
        own_contacts: bool = False,
        motion: GivenMotion | Sequence[GivenMotion] | None = None,
    ) -> None:
        """Put a robot or a body into the world.

        Parameters
        ----------
        what : a robot, the file of one, or a shape (of `mbdyn_ros.model.shapes`). A robot stands
            where it is put unless it was loaded with a floating base.
        xyz, rpy : place (m) and angles (rad) of its root link. Positions of what floats count from
            there.
        mass : of a shape, kg, evenly spread; one without mass is fixed.
        own_contacts : whether links of the robot touch each other too; shapes of many robots
            overlap where they stand.
        motion : of a shape without mass, as a function of time; several are made outwards, one
            after the other. Its coordinate is `NAME_time` (s), its velocity 1.

        Raises
        ------
        InputError
            The name is taken, a mass is not above zero or is that of a robot, or what has a motion
            is a robot or has a mass.
        """
        name = checked_text("name", name)
        if not name:
            raise InputError("a member has the name ''; give it one")
        if name in self._members:
            raise InputError(f"two members have the name {name!r}; give each its own name")
        if isinstance(what, get_args(Geometry)):
            _require_size(name, what)
        prefix, free = f"{name}_", mass is not None
        if motion is not None:
            if mass is not None or not isinstance(what, get_args(Geometry)):
                raise InputError(f"{name}: a motion is given for a shape without mass")
            motions = list(motion) if isinstance(motion, Sequence) else [motion]
            if not motions or not all(isinstance(one, GivenMotion) for one in motions):
                raise InputError(f"{name}: motion is {shown(motion)}; give GivenMotions")
            other, prefix = Robot(moving_body(name, what, motions)), ""
        elif isinstance(what, get_args(Geometry)):
            other, prefix = Robot(_body(name, what, mass)), ""
        elif mass is not None:
            raise InputError(f"{name}: a mass is that of a shape; a robot has its own")
        else:
            other = what if isinstance(what, Robot) else load(what)  # type: ignore[arg-type]
            free = other.floating_base
        self._robot = self._robot.attached(other, GROUND, xyz, rpy, prefix, name, free)
        root = other.model.root
        links = (root, *(link for link in other.links if link != root))
        self._members[name] = tuple(prefix + link for link in links)
        if own_contacts:
            self._own_contacts.add(name)

    def remove(self, name: str) -> None:
        """Take a member out again.

        Raises
        ------
        InputError
            There is none of that name.
        """
        if name not in self._members:
            known = ", ".join(self._members) or "none"
            raise InputError(
                f"there is no member {name!r}{suggestion(name, self._members)}; there are {known}"
            )
        gone = self._members.pop(name)
        self._robot = self._robot.without(gone[0])
        self._own_contacts.discard(name)
        self._wall_laws = {
            pair: law for pair, law in self._wall_laws.items() if pair[0] not in gone
        }
        if self._links is not None:
            self._links = self._links.without(gone)

    def copy(self) -> World:
        """Another world of the same members, which come and go on their own."""
        other = copy.copy(self)
        other._members, other._wall_laws = dict(self._members), dict(self._wall_laws)
        other._own_contacts = set(self._own_contacts)
        return other

    def varied(self, variable: Sequence[str], gravity: Placed) -> World:
        """The same world with numbers that may change, as in `load`, and another gravity (m/s^2).

        Raises
        ------
        InputError
            A name is neither that of a link that moves nor one of those of `load`.
        """
        other, robot = self.copy(), self._robot
        model = replace(described_model(robot), home={})
        other._robot = Robot(model, robot.home, False, gravity, variable)
        return other

    @property
    def robot(self) -> Robot:
        """All members as one robot."""
        return self._robot

    @property
    def environment(self) -> Environment:
        """The walls, and that members touch each other where there are several."""
        within = [
            pair
            for name in self._members.keys() - self._own_contacts
            for pair in combinations(self._members[name], 2)
        ]
        links = None if self._links is None else self._links.apart(within)
        if links is not None and not links.concern(self._robot):
            links = None
        return Environment(self._surfaces, links=links, laws=self._wall_laws, **self._options)

    @property
    def members(self) -> MappingProxyType[str, Member]:
        """Of every member by name, its links and where its numbers stand."""
        return MappingProxyType({name: self._member(name) for name in self._members})

    def _member(self, name: str) -> Member:
        links = self._members[name]
        joints = [one.name for one in self._robot.model.joints if one.child in links]
        labels = (
            self._robot.position_labels, self._robot.velocity_labels, self._robot.effort_labels,
        )  # fmt: skip
        return Member(links, *(_places(some, joints) for some in labels))

    def stepper(self, step: float, **options: Any) -> Stepper:
        """The motion of all in equal steps (s) from home; `options` are those of `Stepper`."""
        stepper = Stepper(self._robot, step, self.environment, **options)
        stepper.set_state(self._robot.home_position, self._robot.home_velocity)
        return stepper


def _places(labels: Sequence[str], joints: Sequence[str]) -> Array:
    """Which labels are those of these joints: `joint`, or `joint/x` of one with several."""
    known = set(joints)
    found = [k for k, one in enumerate(labels) if one in known or one.rpartition("/")[0] in known]
    return np.array(found, dtype=np.intp)


def _require_size(name: str, shape: Geometry) -> None:
    """Refuse a shape with a length that is not above 0; scales of meshes mirror them."""
    for what, value in () if isinstance(shape, Mesh) else vars(shape).items():
        lengths = as_numbers(value).ravel()
        bad = lengths[~(np.isfinite(lengths) & (lengths > 0))]
        if len(bad):
            raise InputError(f"{name}: {what} must be above 0; got {bad[0]:g}")


def _body(name: str, shape: Geometry, mass: float | None) -> Model:
    """The model of a body of one shape."""
    inertia = None
    if mass is not None:
        inertia = Inertia.of_solid(shape, positive_number(f"{name}: mass", mass))
        if inertia is None:
            raise InputError(
                f"{name}: {shown(shape)} has no inertia of its own; give a robot file with "
                "<inertial>"
            )
    link = Link(name, inertia, collisions=(Collision(shape),), visuals=(Visual(shape),))
    return Model(name, name, (link,), ())
