"""The side-car file of a robot whose URDF may not be changed.

It lists joints, loops, couplings, independent and actuated joints, and a home.
"""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import yaml

from ...errors import ModelError, suggestion
from ..closing_types import closing_type
from ..model import Combination, Coupling, Loop, Model, Pose
from ..pose import rotation_from_rpy, snapped
from ..split_joints import joints_of_parts, split_joints
from .closures import HeldJoint, held_loop, held_type, standing
from .couplings import ZERO_FACTOR, ZERO_RATIO, couple_joints
from .side_car_joints import NUMBERS, read_actuators, read_axis, read_numbers, retyped
from .structure import Closing, check_closures, quoted
from .xml_source import IDENTITY, X_AXIS, in_degrees
from .yaml_source import YamlSource

KEYS = ("loops", "couplings", "independent", "actuated", "home", "joints", "actuators")
CUT_HINGES = ("closures", "dependent")
"""Keys of the `loop_closures.yaml` that exporters of CAD programs write along with a URDF."""
LOOP_KEYS = ("name", "type", "axis", "predecessor", "successor", *NUMBERS)


def read_mechanism(source: str | os.PathLike[str], model: Model) -> Model:
    """Add what a side-car file says to a model.

    Parameters
    ----------
    source : str or os.PathLike
        A path, or the YAML text (a str of several lines, or one that begins with a ``{``).
    model : Model
        The robot, as its URDF describes it. It is not changed.

    Returns
    -------
    Model
        `model` with the joints of the file in place of its own, loops and couplings after its
        own; `independent`, `actuated`, `actuators` and `home` are those of the file where it has
        them.

    Raises
    ------
    ModelError
        What cannot be read, or does not fit the robot; the message gives file, line, the value
        found and what to do.

    Notes
    -----
    The record is that of URDF+, and of the `loop_closures.yaml` that exporters of CAD programs
    write (`closures` with `link_a`, `link_b`, `point` and `axis` of the hinge that was cut, where
    the robot is with every joint at 0). A missing xyz (m), rpy (rad) or axis is zero, zero
    and (1, 0, 0); the type of a coupling means nothing.

    Examples
    --------
    >>> from mbdyn_ros.model import read_urdf
    >>> arm = read_urdf('''<robot name="arm"> <link name="base"/> <link name="upper"/>
    ...   <link name="lower"/>
    ...   <joint name="shoulder" type="continuous"> <parent link="base"/> <child link="upper"/>
    ...   <axis xyz="1 0 0"/> </joint>
    ...   <joint name="motor" type="continuous"> <parent link="base"/> <child link="lower"/>
    ...   <axis xyz="1 0 0"/> </joint>
    ... </robot>''')
    >>> arm = read_mechanism('''
    ... couplings: [{name: belt, predecessor: {link: upper}, successor: {link: lower}, ratio: -2}]
    ... independent: [shoulder]
    ... actuated: [motor]''', arm)
    >>> arm.couplings[0].ratio, arm.independent, arm.actuated
    (-2.0, ('shoulder',), ('motor',))
    """
    document = YamlSource(source)
    values = document.mapping(document.root, "a mechanism", (*KEYS, *CUT_HINGES))
    model = retyped(document, document.records(values, "joints"), model)
    closings = [_read_loop(document, node) for node in document.records(values, "loops")]
    closings += [
        _read_cut_hinge(document, node, model, number)
        for number, node in enumerate(document.records(values, "closures"), 1)
    ]
    couplings = [read_coupling(document, node) for node in document.records(values, "couplings")]
    own: list[tuple[str, Closing]] = [
        (
            f'{document.name}:{one.line}: loop "{one.name}"',
            one.written_loop if isinstance(one, HeldJoint) else one,
        )
        for one in closings
    ]
    coupled = [(f'{document.name}:{one.line}: coupling "{one.name}"', one) for one in couplings]
    own += coupled
    taken = {one.name: f"the loop in line {one.line} of {model.source}" for one in model.loops}
    for gear in model.couplings:
        taken[gear.name] = f"the coupling in line {gear.line} of {model.source}"
    held = [one for one in closings if isinstance(one, HeldJoint)]
    for one in held:
        if one.name in {joint.name for joint in model.joints}:
            raise ModelError(
                f'{document.name}:{one.line}: loop "{one.name}": the name is taken by a joint of '
                "the robot, and this loop has a position of that name; rename it"
            )
    check_closures(model.links, model.joints, own, taken)
    loops = [one.loop if isinstance(one, HeldJoint) else one for one in closings]
    model = dataclasses.replace(
        model,
        links=(*model.links, *(one.link for one in held)),
        joints=(*model.joints, *(one.joint for one in held)),
        loops=(*model.loops, *loops),
        couplings=(*model.couplings, *couplings),
    )
    model = couple_joints(model, coupled)
    model = split_joints(model, joints_of_parts(model, _named(document, values)))
    model = read_actuators(document, document.records(values, "actuators"), model)
    return dataclasses.replace(
        model,
        independent=read_joints(document, values, "independent", model) or model.independent,
        actuated=read_joints(document, values, "actuated", model) or model.actuated,
        home=read_home(document, values, model) or model.home,
        warnings=(*model.warnings, *_degrees(document, values)),
    )


def _degrees(document: YamlSource, values: dict[str, yaml.Node]) -> list[str]:
    """Warnings of loop frames whose rpy looks like degrees."""
    warnings = []
    for node in document.records(values, "loops"):
        loop = document.mapping(node, "a loop", LOOP_KEYS)
        for role in ENDS:
            end = document.mapping(loop[role], role, ("link", "xyz", "rpy"))
            if "rpy" in end and (problem := in_degrees(document.vector(end["rpy"], "rpy"))):
                name, line = document.text(loop["name"], "its name"), document.line(end["rpy"])
                warnings.append(f'{document.name}:{line}: loop "{name}": {role}: {problem}')
    return warnings


def _named(document: YamlSource, values: dict[str, yaml.Node]) -> list[object]:
    """All that the choices of a file name, joints or not."""
    names: list[object] = [
        node.value
        for key in ("independent", "actuated")
        if key in values
        for node in document.records(values, key)
    ]
    if "home" in values and not document.is_empty(values["home"]):
        names += document.mapping(values["home"], "home")
    return names


def _read_loop(document: YamlSource, node: yaml.Node) -> Loop | HeldJoint:
    values = document.mapping(node, "a loop", LOOP_KEYS)
    name = read_name(document, node, values, "loop")
    what = f'loop "{name}"'
    kind = document.text(values["type"], f"{what}: its type") if "type" in values else None
    held = held_type(kind)
    try:
        closing = held or closing_type(kind, f"{what}: ")
    except ModelError as error:
        raise document.error(values.get("type", node), str(error)) from None
    axis = X_AXIS
    if closing.has_axis:
        axis = read_axis(document, values, f"{what}: its axis", axis)
    links, frames = [], []
    for role in ENDS:
        end = read_end(document, node, values, what, role, ("link", "xyz", "rpy"))
        links.append(document.text(end["link"], f"{what}: its {role} link"))
        frames.append(_read_pose(document, end, f"{what}: {role}"))
    if held is not None:
        numbers = read_numbers(document, node, values, held, f"{what}: ")
        return held_loop(held, name, links, frames, axis, numbers, document.line(node))
    return Loop(
        name, closing.name, links[0], links[1], frames[0], frames[1], axis, document.line(node)
    )


def _read_cut_hinge(document: YamlSource, node: yaml.Node, model: Model, number: int) -> Loop:
    """A hinge by a point of it and its axis, both in the root with every joint at 0."""
    values = document.mapping(node, "a closure", ("name", "link_a", "link_b", "point", "axis"))
    name = f"closure_{number}"
    if "name" in values:
        name = document.text(values["name"], "a closure: its name")
    what, names = f'closure "{name}"', {link.name for link in model.links}
    links = []
    for key in ("link_a", "link_b"):
        if key not in values:
            raise document.error(node, f"{what} has no {key}; give the link")
        link = document.text(values[key], f"{what}: its {key}")
        if link not in names:
            raise document.error(
                values[key],
                f'{what}: its {key} "{link}" is not a link of this robot{suggestion(link, names)}; '
                "correct the name",
            )
        links.append(link)
    if "point" not in values:
        raise document.error(node, f"{what} has no point; give [x, y, z] of the hinge")
    point = np.array(document.vector(values["point"], f"{what}: its point"))
    axis = read_axis(document, values, f"{what}: its axis", X_AXIS)
    turned = Pose(translation=point)
    frames = [snapped(standing(model.joints, link).inverse() @ turned) for link in links]
    return Loop(
        name, "revolute", links[0], links[1], frames[0], frames[1], axis, document.line(node)
    )


def _read_pose(document: YamlSource, end: dict[str, yaml.Node], what: str) -> Pose:
    xyz = document.vector(end["xyz"], f"{what}: xyz") if "xyz" in end else (0.0, 0.0, 0.0)
    rpy = document.vector(end["rpy"], f"{what}: rpy") if "rpy" in end else (0.0, 0.0, 0.0)
    turned = np.array(rotation_from_rpy(*rpy)) if any(rpy) else IDENTITY.rotation
    return Pose(turned, np.array(xyz))


COUPLING_KEYS = ("name", "type", "predecessor", "successor", "ratio", "joints", "offset")


def read_coupling(document: YamlSource, node: yaml.Node) -> Coupling | Combination:
    """Read one record; with `joints`, factors by joint name, it is between these."""
    values = document.mapping(node, "a coupling", COUPLING_KEYS)
    name = read_name(document, node, values, "coupling")
    what = f'coupling "{name}"'
    if "joints" in values:
        return _read_combination(document, values, name, what, document.line(node))
    if "offset" in values:
        raise document.error(values["offset"], f"{what}: only a coupling of joints has an offset")
    links = []
    for role in ENDS:
        end = read_end(document, node, values, what, role, ("link",))
        links.append(document.text(end["link"], f"{what}: its {role} link"))
    if "ratio" not in values:
        raise document.error(node, f"{what}: has no ratio; add ratio: ...")
    ratio = document.number(values["ratio"], f"{what}: its ratio")
    if ratio == 0.0:
        raise document.error(values["ratio"], f"{what}: {ZERO_RATIO}")
    return Coupling(name, links[0], links[1], ratio, document.line(node))


def _read_combination(
    document: YamlSource, values: dict[str, yaml.Node], name: str, what: str, line: int
) -> Combination:
    for role in (*ENDS, "ratio"):
        if role in values:
            raise document.error(
                values[role],
                f"{what}: {role} couples links, while joints: couples joints; keep one of the two",
            )
    factors, powers = [], []
    for joint, node in document.mapping(values["joints"], f"{what}: its joints").items():
        said = f'{what}: the factor of "{joint}"'
        listed = isinstance(node, yaml.SequenceNode)
        numbers = document.numbers(node, said) if listed else (document.number(node, said),)
        if not any(numbers):
            raise document.error(node, f'{what}: "{joint}": {ZERO_FACTOR}')
        factors.append((joint, numbers[0]))
        if any(numbers[1:]):
            powers.append((joint, numbers[1:]))
    if not factors:
        raise document.error(values["joints"], f"{what}: joints: names no joint")
    offset = 0.0
    if "offset" in values:
        offset = document.number(values["offset"], f"{what}: its offset")
    return Combination(name, tuple(factors), offset, line, tuple(powers))


ENDS = ("predecessor", "successor")


def read_name(document: YamlSource, node: yaml.Node, values: dict[str, yaml.Node], tag: str) -> str:
    """The name of a loop or coupling; it must have one."""
    if "name" not in values:
        raise document.error(node, f"this {tag} has no name; give it one")
    return document.text(values["name"], f"the name of a {tag}")


def read_end(
    document: YamlSource,
    node: yaml.Node,
    values: dict[str, yaml.Node],
    what: str,
    role: str,
    known: tuple[str, ...],
) -> dict[str, yaml.Node]:
    """The record of a predecessor or successor; it must name a link."""
    if role not in values:
        raise document.error(node, f"{what}: names no {role}; add {role}: {{link: ...}}")
    end = document.mapping(values[role], f"{what}: {role}", known)
    if "link" not in end:
        raise document.error(values[role], f"{what}: its {role} names no link; add link: ...")
    return end


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
        problem = f'"{name}" is not a joint of this robot{suggestion(name, movable)}'
    raise document.error(node, f"{key}: {problem}; the joints that move are {quoted(movable)}")
