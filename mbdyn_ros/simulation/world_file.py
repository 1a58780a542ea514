"""The YAML file of a world: robots and bodies with their places, and the walls around them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import yaml

from ..errors import InputError, MbdynError, ModelError
from ..model.read.description import SUFFIXES
from ..model.read.installed import find_robot
from ..model.read.source_text import TEXT
from ..model.read.yaml_source import BEGINS, YamlSource
from ..model.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Sphere
from ..robot import Robot, load
from .contact.environment_file import KEYS, environment_arguments
from .given_motion import GivenMotion

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
    least = float(np.hstack(list(numbers.values())).min())
    if least <= 0:
        raise InputError(f"{', '.join(readers)} must be above 0; got {least:g}")
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
