"""Measured poses and joints: a table, and what of a robot it measures.

    position/shoulder_pan_joint,...,pose/tool0/x,pose/tool0/y,pose/tool0/z,pose/tool0/qx,...

Positions are those that the joints' sensors read. A target `pose/LINK/...` is a point of a link
(x, y, z, m), maybe with its turn (qx, qy, qz, qw, or roll, pitch, yaw, rad), in the axes of the
measurement; several points of one link are `pose/LINK:NAME/...`.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..arguments import checked_mapping, checked_numbers, require_link
from ..array import Array
from ..errors import InputError
from ..prepare.tree import WORLD
from ..recording.read import read_table
from ..recording.table import QUATERNION, XYZ, Table
from ..robot import Robot
from ..units import position_unit

RPY = "roll", "pitch", "yaw"

QUATERNION_LENGTH = 1e-3
"""Largest deviation from 1 of the length of a measured quaternion: tables have few digits."""

PLACES = "places"
OTHER_UNITS = {
    "joints seem to be read in degrees": {"rad": np.pi / 180},
    "joints that slide seem to be read in millimetres": {"m": 1e-3},
    "places seem to be measured in millimetres": {PLACES: 1e-3},
}
"""Factors of numbers in other units, by the unit of a joint, or for places."""

UNMOVED = 1e-6
"""Largest difference (rad or m) of joints that did not move."""


@dataclass(frozen=True, eq=False)
class Target:
    """A measured point of a link: places (N, 3) and maybe rotations (N, 3, 3)."""

    name: str
    link: str
    position: Array
    rotation: Array | None


@dataclass(frozen=True, eq=False)
class MeasuredPoses:
    """N configurations: q (N, nq) as read, targets, and readings (N,) of dependent joints.

    on_the_way : the joints that move a target. loops : places of the linkages of which joints are
    on the way or read.
    """

    source: str
    q: Array
    targets: tuple[Target, ...]
    readings: dict[str, Array]
    on_the_way: tuple[str, ...]
    loops: tuple[int, ...]


def read_poses(robot: Robot, data: str | os.PathLike[str] | Mapping[str, object]) -> MeasuredPoses:
    """Measured poses and joints of a file, or of a table {quantity: {column: numbers (N,)}}.

    Joints that move nothing that is measured need not be in it.

    Raises
    ------
    InputError
        A column that is needed is missing, a target is on no link, a number is not finite or a
        quaternion not unit, by row; or nothing beyond the independent joints is measured.
    """
    if isinstance(data, (str, os.PathLike)):
        table, source = read_table(data), str(data)
    else:
        source = f"{robot.model.source}: poses"
        table = _checked_table(data, source)
    _require_finite(table, source)
    targets = _targets(robot, table.get("pose", {}), source)
    positions = table.get("position", {})
    coordinates, tree = robot.system.coordinates, robot.system.tree
    if unknown := [name for name in positions if name not in coordinates.joint_labels]:
        raise InputError(
            f"{source}: position/{unknown[0]} is of no joint of {robot.model.name!r}; the joints "
            f"are {', '.join(coordinates.joint_labels)}"
        )
    following = {
        label: joint
        for joint in coordinates.dependent
        for label in coordinates.joint_blocks[joint].labels()[0]
    }
    readings = {name: x for name, x in positions.items() if name in following}
    if not targets and not readings:
        raise InputError(
            f"{source}: nothing is measured beyond the independent joints; add columns "
            "pose/LINK/x, /y and /z, or position/JOINT of joints that follow in loops: "
            f"{', '.join(following) or 'there are none'}"
        )
    moving = {body for one in targets for body in _path(robot, one.link)}
    joints_read = {following[label] for label in readings}
    read = {k for k, body in enumerate(tree.bodies) if body.joint in joints_read}
    loops = [
        k for k, one in enumerate(robot.system.linkages) if (moving | read) & {*one.cluster.coupled}
    ]
    coupled = {body for k in loops for body in robot.system.linkages[k].cluster.coupled}
    joints = dict.fromkeys(tree.bodies[body].joint for body in sorted(moving | coupled))
    needed = [
        label
        for joint, block in coordinates.blocks.items()
        if joint in joints
        for label in block.labels()[0]
    ]
    if missing := [label for label in needed if label not in positions]:
        raise InputError(
            f"{source}: has no column position/{missing[0]}, and what was measured depends on that "
            f"joint; it has {', '.join(f'position/{name}' for name in positions) or 'none'}"
        )
    rows = {len(x) for columns in (positions, table.get("pose", {})) for x in columns.values()}
    if len(rows) != 1:
        raise InputError(f"{source}: its columns have different lengths: {sorted(rows)}")
    q = np.tile(robot.home_position, (rows.pop(), 1))
    for label in needed:
        q[:, robot.position_labels.index(label)] = positions[label]
    if not needed or np.ptp(q, axis=0).max() < UNMOVED:
        raise InputError(
            f"{source}: the joints have the same positions in all {len(q)} rows, which cannot "
            "separate lengths from each other: measure in different configurations"
        )
    way = tuple(dict.fromkeys(tree.bodies[body].joint for body in sorted(moving)))
    return MeasuredPoses(source, q, targets, readings, way, tuple(loops))


def _checked_table(data: object, source: str) -> Table:
    table: Table = {}
    for quantity, columns in checked_mapping(source, data).items():
        named = columns if isinstance(columns, Mapping) else {"": columns}
        for name, given in named.items():
            numbers = checked_numbers(f"{source}: {quantity}/{name}", given)
            if numbers.ndim != 1:
                raise InputError(
                    f"{source}: {quantity}/{name} has shape {numbers.shape}; give (N,)"
                )
            table.setdefault(str(quantity), {})[str(name)] = numbers
    return table


def _require_finite(table: Table, source: str) -> None:
    for quantity in ("position", "pose"):
        for name, numbers in table.get(quantity, {}).items():
            wrong = np.flatnonzero(~np.isfinite(numbers))
            if wrong.size:
                raise InputError(
                    f"{source}: {quantity}/{name} is {numbers[wrong[0]]} in row {wrong[0] + 1}; "
                    "every number must be finite: leave that row out"
                )


def _targets(robot: Robot, columns: Mapping[str, Array], source: str) -> tuple[Target, ...]:
    found: dict[str, dict[str, Array]] = {}
    for label, numbers in columns.items():
        name, _, number = label.rpartition("/")
        if number not in (*XYZ, *QUATERNION, *RPY) or not name:
            raise InputError(
                f"{source}: pose/{label} is not pose/LINK/ and one of "
                f"{', '.join((*XYZ, *QUATERNION, *RPY))}"
            )
        found.setdefault(name, {})[number] = numbers
    return tuple(_target(robot, name, given, source) for name, given in found.items())


def _target(robot: Robot, name: str, given: dict[str, Array], source: str) -> Target:
    tree = robot.system.tree
    link = require_link(tree, name if name in tree.frames else name.rpartition(":")[0] or name,
                        source)  # fmt: skip
    if tree.frames[link][0] == WORLD:
        raise InputError(f"{source}: pose/{name} is of link {link!r}, which no joint moves")
    turns = [group for group in (QUATERNION, RPY) if set(group) & given.keys()]
    for group in (XYZ, *turns):
        if missing := [one for one in group if one not in given]:
            raise InputError(f"{source}: pose/{name}/{missing[0]} is missing; give {group}")
    if len(turns) > 1:
        raise InputError(f"{source}: pose/{name} has a quaternion and rpy; give one of them")
    position = np.column_stack([given[one] for one in XYZ])
    if not turns:
        return Target(name, link, position, None)
    from scipy.spatial.transform import Rotation  # slow to import

    numbers = np.column_stack([given[one] for one in turns[0]])
    if turns[0] is RPY:
        row = int(np.abs(numbers).max(axis=1).argmax())
        if np.abs(numbers[row]).max() > 2 * np.pi:
            raise InputError(
                f"{source}: roll, pitch or yaw of pose/{name} is {np.abs(numbers[row]).max():g} in "
                f"row {row + 1}, more than a turn: give rad, not degrees"
            )
        return Target(name, link, position, Rotation.from_euler("xyz", numbers).as_matrix())
    lengths = np.linalg.norm(numbers, axis=1)
    wrong = np.flatnonzero(np.abs(lengths - 1) > QUATERNION_LENGTH)
    if wrong.size:
        raise InputError(
            f"{source}: the quaternion of pose/{name} in row {wrong[0] + 1} has length "
            f"{lengths[wrong[0]]:.6g}, not 1; check the order {', '.join(QUATERNION)}"
        )
    return Target(name, link, position, Rotation.from_quat(numbers).as_matrix())


def _path(robot: Robot, link: str) -> list[int]:
    """The bodies that move a link."""
    tree, path = robot.system.tree, []
    body = tree.frames[link][0]
    while body != WORLD:
        path.append(body)
        body = tree.bodies[body].parent
    return path


def in_other_units(robot: Robot, measured: MeasuredPoses) -> Iterator[tuple[str, MeasuredPoses]]:
    """The measurements with some of their numbers taken for degrees or millimetres, in words."""
    labels = robot.position_labels
    units = {one: position_unit(robot.model, one) for one in (*labels, *measured.readings)}
    for count in range(1, 1 + len(OTHER_UNITS)):
        for chosen in itertools.combinations(OTHER_UNITS, count):
            factors = {unit: x for words in chosen for unit, x in OTHER_UNITS[words].items()}
            of = {label: factors.get(unit, 1.0) for label, unit in units.items()}
            other = replace(
                measured,
                q=measured.q * [of[label] for label in labels],
                readings={label: x * of[label] for label, x in measured.readings.items()},
                targets=tuple(
                    replace(one, position=one.position * factors.get(PLACES, 1.0))
                    for one in measured.targets
                ),
            )
            yield ", and ".join(chosen), other
