"""A robot as a model again, with the numbers that hold now: what edits begin with and files get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..array import Array
from ..equations.variable import AT_JOINTS
from ..errors import InputError
from ..model.inertia import standard_parameters
from ..model.model import Inertia, Joint, Link, Model, Pose
from ..model.split_joints import parts
from ..model.write.elements import quaternion
from ..prepare.coordinates import joint_blocks
from .core import Core
from .home import EARTH
from .variable import UPPER, variable_names


def described_model(robot: Core) -> Model:
    """The description that a robot was made of, with what was set since.

    Payloads are part of their links, and what was set part of its link or joint; home,
    gravity and whether the base floats are those given to `load`.

    Raises
    ------
    InputError
        Something was set that has one value a row.
    """
    model, given = robot._described, robot._parameters
    links = {link: inertia_of(link, given.of_link(link)) for link in _changed_links(robot)}
    x, y, z = robot.gravity.tolist()
    gravity = (x, y, z)
    acting: dict[str, dict[str, Any]] = {}
    for joint, numbers in _changed_at_joints(robot):
        acting.setdefault(joint, {}).update(numbers)
    frames: dict[str, dict[str, Any]] = {}
    for name, pose in _changed_origins(robot):
        owner, _, end = name.rpartition("/")
        if any(joint.name == name for joint in model.joints):
            acting.setdefault(name, {})["origin"] = pose
        else:
            frames.setdefault(owner, {})[f"{end}_frame"] = pose
    return replace(
        model,
        links=tuple(
            replace(link, inertia=links[link.name]) if link.name in links else link
            for link in model.links
        ),
        joints=tuple(
            replace(joint, **acting[joint.name]) if joint.name in acting else joint
            for joint in model.joints
        ),
        loops=tuple(replace(loop, **frames.get(loop.name, {})) for loop in model.loops),
        home={**model.home, **robot._rough},
        gravity=None if gravity == EARTH else gravity,
        floating_base=robot.floating_base,
    )


def arguments_text(robot: Core) -> Iterator[str]:
    """Words about arguments of `load` that no file says."""
    if names := variable_names(robot._parameters.layout):
        yield f"which numbers are variable: load(..., variable={names})"


def home_positions(robot: Core, model: Model) -> dict[str, Array]:
    """Positions (nq,) of the joints of a model of the robot, at its closed home.

    model : the robot's, its joints whole.
    """
    blocks = joint_blocks(robot.model.joints)
    base = robot._system.home.size - sum(block.q.stop - block.q.start for block in blocks.values())
    at = {name: robot._system.home[base:][block.q] for name, block in blocks.items()}
    return {
        joint.name: at[joint.name] if joint.name in at else _from_parts(robot, joint, at)
        for joint in model.joints
        if joint.nv
    }


def _from_parts(robot: Core, joint: Joint, at: Mapping[str, Array]) -> Array:
    """The positions of a joint that a loop took apart, from those of its parts."""
    names = parts(joint)
    if joint.nq == len(names):
        return np.concatenate([at[name] for name in names])
    pose, first = Pose(), robot.model.joint(names[0])
    for name in names:
        part = robot.model.joint(name)
        pose = pose @ (Pose() if part is first else part.origin) @ part.pose(at[name])
    w, x, y, z = quaternion(pose.rotation)
    return np.array([*pose.translation[: joint.nq - 4], x, y, z, w])


def _changed_links(robot: Core) -> Iterator[str]:
    given = robot._parameters
    for link, numbers in given.own.items():
        payload = given.payload.get(link)
        if payload is not None and payload.any():
            yield link
        elif not _same(numbers, robot.model.link(link)):
            yield link


def _same(numbers: Array, link: Link) -> bool:
    return bool(np.array_equal(numbers, standard_parameters(link.inertia)))


def _changed_at_joints(robot: Core) -> Iterator[tuple[str, dict[str, float]]]:
    """By joint what acts on it now, where it was set, by the names of `Joint`."""
    known = {joint.name for joint in robot._described.joints}
    for group, by_joint in robot._parameters.at_joints.items():
        for body in robot._parameters.described.tree.bodies:
            joint, names = body.joint, AT_JOINTS[group]
            numbers = by_joint.get(joint)
            if numbers is None or np.array_equal(numbers, [getattr(body, one) for one in names]):
                continue
            _require_single(f"the {group} of joint {joint!r}", numbers)
            if joint not in known:
                raise InputError(
                    f"{robot.model.source}: the {group} of {joint!r} was set, which is one of the "
                    f"motions of a joint that a loop took apart; a description gives that joint "
                    f"one {group}. Set it at 0 again"
                )
            yield joint, dict(zip(names, numbers.tolist(), strict=True))


def _changed_origins(robot: Core) -> Iterator[tuple[str, Pose]]:
    """By name the pose of every origin that was set elsewhere."""
    given, known = robot._parameters, {joint.name for joint in robot._described.joints}
    part_of = {joint.name: joint.part_of for joint in robot.model.joints if joint.part_of}
    for name, origin in given.described.origins.items():
        six = given.origins[name]
        if np.array_equal(six, np.broadcast_to(origin.six, six.shape)):
            continue
        _require_single(f"the origin of {name!r}", six)
        whole = part_of.get(name, name)
        if whole != name and whole in known:
            if name != parts(robot._described.joint(whole))[0]:
                raise InputError(
                    f"{robot.model.source}: the origin of {name!r} was set, which is one of the "
                    f"motions of joint {whole!r}, which a loop took apart; a description gives "
                    "that joint one origin, where its first motion begins. Set it as described "
                    "again"
                )
            name = whole
        yield name, origin.at(six)


def inertia_of(link: str, numbers: Array) -> Inertia:
    """The inertia with these ten numbers, about the link's origin."""
    _require_single(f"the inertia or payload of link {link!r}", numbers)
    mass, first = float(numbers[0]), numbers[1:4]
    center = first / mass if mass else np.zeros(3)
    moments = np.zeros((3, 3))
    moments[UPPER] = numbers[4:]
    moments = moments + np.triu(moments, 1).T
    about = np.dot(center, center) * np.eye(3) - np.outer(center, center)
    return Inertia(mass, center, moments - mass * about)


def _require_single(what: str, numbers: Array) -> None:
    if numbers.ndim > 1:
        raise InputError(
            f"{what} has {len(numbers)} values, one a row of a batch; a description has one. Set "
            "the one that is meant"
        )
