"""The choices of a side-car file by joint name: independent and actuated joints, and home."""

from __future__ import annotations

import yaml

from ...errors import suggestion
from ..model import Model
from .structure import quoted
from .yaml_source import YamlSource


def read_joints(
    document: YamlSource, values: dict[str, yaml.Node], key: str, model: Model
) -> tuple[str, ...] | None:
    """The movable joints that a list names; None where there is no list."""
    if key not in values:
        return None
    names: list[str] = []
    for node in document.records(values, key):
        name = document.text(node, f"{key}: a joint")
        _check_joint(document, node, name, key, model)
        if name in names:
            raise document.error(node, f'{key}: names the joint "{name}" twice; keep one')
        names.append(name)
    if not names:
        raise document.error(
            values[key], f"{key}: names no joint; name some, or leave it out to have them chosen"
        )
    return tuple(names)


def read_home(document: YamlSource, values: dict[str, yaml.Node], model: Model) -> dict[str, float]:
    """The positions (rad or m) that a mapping gives by joint name."""
    if "home" not in values or document.is_empty(values["home"]):
        return {}
    home = {}
    for name, node in document.mapping(values["home"], "home").items():
        _check_joint(document, node, name, "home", model)
        if model.joint(name).nq != 1:
            raise document.error(
                node,
                f'home: joint "{name}" is {model.joint(name).type}; only a joint with one '
                "position has one in home",
            )
        home[name] = document.number(node, f'home: joint "{name}"')
    return home


def _check_joint(document: YamlSource, node: yaml.Node, name: str, key: str, model: Model) -> None:
    movable = [joint.name for joint in model.joints if joint.nv]
    if name in movable:
        return
    if name in (loop.name for loop in model.loops):
        problem = f'"{name}" closes a loop and has no position of its own'
    elif name in (joint.name for joint in model.joints):
        problem = f'joint "{name}" is fixed'
    else:
        problem = f'"{name}" is no joint of this robot{suggestion(name, movable)}'
    raise document.error(node, f"{key}: {problem}; the joints that move are {quoted(movable)}")
