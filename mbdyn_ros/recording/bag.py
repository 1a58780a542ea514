"""Bags written (MCAP, for `ros2 bag play` and Foxglove) and read. No ROS is needed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, writing
from ..extras import require
from ..model.model import Array
from ..motion.free_bodies import FreeBody
from ..prepare.coordinates import scalar_motions
from ..robot import Robot
from ..simulation.trajectory import Trajectory
from .table import QUATERNION, XYZ, Table

NANOSECONDS = 10**9


def write_bag(
    robot: Robot, trajectory: Trajectory, path: str | os.PathLike[str], description: str = ""
) -> None:
    """Write a bag: a single file where the path ends in .mcap, else a rosbag2 folder.

    Topics
    ------
    /joint_states (sensor_msgs/JointState) : joints of one freedom and hinges of universal ones,
        those that follow others too; header.frame_id is the root link.
    /robot_description (std_msgs/String) : the URDF, latched, once.
    /tf (tf2_msgs/TFMessage) : world -> root link of a floating base, root link -> what floats on
        it.

    Parameters
    ----------
    description : URDF text for /robot_description; left out where empty.

    Raises
    ------
    InputError
        The path is taken already, or cannot be written.
    """
    require("bag")
    from rosbags.rosbag2 import StoragePlugin, Writer  # their import takes long
    from rosbags.typesys import Stores, get_typestore

    target = Path(path)
    if target.exists():
        raise InputError(
            f"{target} already exists and bags are never overwritten; choose another name"
        )
    store = get_typestore(Stores.ROS2_JAZZY)
    with writing(target):
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".bag-") as folder:
            bag = Path(folder, target.stem)
            with Writer(bag, version=8, storage_plugin=StoragePlugin.MCAP) as writer:
                _write_messages(writer, store, robot, trajectory, description)
            shutil.move(bag / f"{bag.name}.mcap" if target.suffix == ".mcap" else bag, target)


def _write_messages(
    writer: Any, store: Any, robot: Robot, trajectory: Trajectory, description: str
) -> None:
    types = store.types
    header, stamp = types["std_msgs/msg/Header"], types["builtin_interfaces/msg/Time"]

    def topic(name: str, kind: str, latched: bool = False) -> Any:
        return writer.add_connection(
            name, kind, typestore=store, offered_qos_profiles=[_qos(latched)]
        )

    def send(connection: Any, time: int, message: Any) -> None:
        writer.write(connection, time, store.serialize_cdr(message, connection.msgtype))

    def header_at(time: int, frame: str) -> Any:
        return header(stamp=stamp(*divmod(time, NANOSECONDS)), frame_id=frame)

    if description:
        text = types["std_msgs/msg/String"](data=description)
        send(topic("/robot_description", "std_msgs/msg/String", latched=True), 0, text)
    names, position, velocity, effort = joint_columns(robot, trajectory)
    states = topic("/joint_states", "sensor_msgs/msg/JointState")
    joint_state = types["sensor_msgs/msg/JointState"]
    free = FreeBody.every(robot)
    frames = topic("/tf", "tf2_msgs/msg/TFMessage") if free else None
    fixed = "world" if robot.floating_base else robot.model.root
    for k, seconds in enumerate(trajectory.time.tolist()):
        time = round(seconds * NANOSECONDS)
        message = joint_state(
            header=header_at(time, robot.model.root),
            name=names, position=position[k], velocity=velocity[k], effort=effort[k],
        )  # fmt: skip
        send(states, time, message)
        if frames is not None:
            transforms = []
            for body in free:
                numbers = body.pose(trajectory.q[k]).tolist()
                pose = types["geometry_msgs/msg/Transform"](
                    translation=types["geometry_msgs/msg/Vector3"](*numbers[:3]),
                    rotation=types["geometry_msgs/msg/Quaternion"](*numbers[3:]),
                )
                transforms.append(
                    types["geometry_msgs/msg/TransformStamped"](
                        header=header_at(time, fixed), child_frame_id=body.link, transform=pose
                    )
                )
            send(frames, time, types["tf2_msgs/msg/TFMessage"](transforms=transforms))


def joint_columns(robot: Robot, trajectory: Trajectory) -> tuple[list[str], Array, Array, Array]:
    """Names (n,), positions, velocities and efforts (N, n) of `scalar_motions`.

    The effort of a joint that is not actuated is 0.
    """
    positions, velocities = trajectory.joint_position, trajectory.joint_velocity
    names, in_q, in_v = scalar_motions(robot.system.coordinates.joint_blocks)
    effort = np.zeros((len(trajectory), len(names)))
    for k, name in enumerate(names):
        if name in trajectory.effort_labels:
            effort[:, k] = trajectory.effort[:, trajectory.effort_labels.index(name)]
    rows = np.ascontiguousarray  # as the serializer wants them
    return names, rows(positions[:, in_q]), rows(velocities[:, in_v]), effort


def _qos(latched: bool) -> Any:
    """Reliable; latched topics keep their one message for those who come late."""
    from rosbags.interfaces import (
        Qos,
        QosDurability,
        QosHistory,
        QosLiveliness,
        QosReliability,
        QosTime,
    )

    forever = QosTime(0, 0)
    return Qos(
        history=QosHistory.KEEP_LAST,
        depth=1 if latched else 10,
        reliability=QosReliability.RELIABLE,
        durability=QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE,
        deadline=forever,
        lifespan=forever,
        liveliness=QosLiveliness.AUTOMATIC,
        liveliness_lease_duration=forever,
        avoid_ros_namespace_conventions=False,
    )


STATES = {
    "JointState": ("name", lambda one: (one.position, one.velocity, one.effort)),
    "JointTrajectoryControllerState": (
        "joint_names",
        lambda one: _of_point(one.feedback if hasattr(one, "feedback") else one.actual),
    ),
    "DynamicJointState": ("joint_names", lambda one: _of_interfaces(one.interface_values)),
}
"""Types of messages with the state of joints, best first: the field of names, and how positions,
velocities and efforts are found."""


def _of_point(point: Any) -> tuple[Any, ...]:
    return point.positions, point.velocities, point.effort


def _of_interfaces(values: list[Any]) -> tuple[Any, ...]:
    found = [dict(zip(one.interface_names, one.values, strict=True)) for one in values]
    return tuple(
        [one[what] for one in found] if all(what in one for one in found) else []
        for what in QUANTITIES
    )


QUANTITIES = "position", "velocity", "effort"


def read_joint_states(path: Path, links: Sequence[str] = ()) -> Table:
    """The states of joints in an MCAP file or bag, as quantity -> joint -> numbers (N,).

    They are of the first type of `STATES` that is there; of its topics the only one, or that of
    `joint_states`. The time counts from the first message, by its stamp. Of these links, what /tf
    says of them: quantity `pose`, columns LINK/x, ... LINK/qw, between its messages linear.

    Raises
    ------
    InputError
        It cannot be read; or it has no topic of joint states or several.
    """
    require("bag")
    from rosbags.highlevel import AnyReader, AnyReaderError  # their import takes long
    from rosbags.rosbag1 import ReaderError as FirstReaderError
    from rosbags.rosbag2 import ReaderError
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    if path.suffix.lower() == ".db3":
        if not (path.parent / "metadata.yaml").exists():
            raise InputError(f"{path}: is part of a bag whose metadata.yaml is not next to it; "
                             "restore it with `ros2 bag reindex`")  # fmt: skip
        path = path.parent
    try:
        with AnyReader([path], default_typestore=store) as reader:
            kind, topics = "JointState", list[Any]()
            for kind in STATES:
                topics = [one for one in reader.connections if one.msgtype.endswith(f"/{kind}")]
                if topics:
                    break
            names = sorted({one.topic for one in topics})
            if common := [one for one in names if one.endswith("joint_states")]:
                names = common if len(common) == 1 else names
            if len(names) != 1:
                known = ", ".join(STATES)
                found = f"has {kind} on {', '.join(names)}" if names else f"has none of {known}"
                raise InputError(f"{path}: {found}; expected one topic of sensor_msgs/JointState")
            topics = [one for one in topics if one.topic == names[0]]
            if undefined := {one.msgtype for one in topics} - set(reader.typestore.fielddefs):
                raise InputError(
                    f"{path}: has no definition of {undefined.pop()}, as bags from before ROS 2 "
                    "Iron; convert it to MCAP with `ros2 bag convert` where that type is installed"
                )
            messages, received, frames = list[Any](), list[int](), list[Any]()
            moved = [one for one in reader.connections if links and one.topic == "/tf"]
            for connection, time, raw in reader.messages(connections=[*topics, *moved]):
                message: Any = reader.deserialize(raw, connection.msgtype)
                if connection in moved:
                    frames += message.transforms
                    continue
                messages.append(message)
                received.append(time)
    except (
        AnyReaderError, ReaderError, FirstReaderError, OSError, ValueError, AssertionError
    ) as error:  # fmt: skip
        raise InputError(f"{path}: cannot be read as MCAP or as a bag: {error}") from None
    if not messages:
        raise InputError(f"{path}: no message is on {names[0]}")
    table = _table(messages, received, kind, f"{path}: {names[0]}")
    poses = _poses(frames, links, table["time"][""], _stamp(messages[0]))
    return {**table, "pose": poses} if poses else table


def _stamp(message: Any) -> int:
    """Nanoseconds."""
    return int(message.header.stamp.sec) * NANOSECONDS + int(message.header.stamp.nanosec)


def _poses(
    frames: Sequence[Any], links: Sequence[str], time: Array, start: int
) -> dict[str, Array]:
    """Columns of the poses of links at times (s) after a start (ns)."""
    found: dict[str, Array] = {}
    for link in links:
        own = [one for one in frames if one.child_frame_id == link]
        if not own:
            continue
        at = np.array([_stamp(one) - start for one in own]) / NANOSECONDS
        rows = np.array([
            [*(getattr(one.transform.translation, axis) for axis in XYZ),
             *(getattr(one.transform.rotation, axis) for axis in "xyzw")]
            for one in own
        ])  # fmt: skip
        signs = np.sign(np.sum(rows[1:, 3:] * rows[:-1, 3:], axis=1))  # q and -q are one turn
        rows[1:, 3:] *= np.cumprod(np.where(signs < 0, -1.0, 1.0))[:, None]
        columns = np.array([np.interp(time, at, column) for column in rows.T])
        columns[3:] /= np.linalg.norm(columns[3:], axis=0)
        found.update(zip((f"{link}/{axis}" for axis in (*XYZ, *QUATERNION)), columns, strict=True))
    return found


def _table(messages: list[Any], received: list[int], kind: str, place: str) -> Table:
    """Numbers of all joints at the times of those messages that have most of them.

    Several senders may share a topic, each with joints of its own: those of the others are
    interpolated. Stamps that stand still give way to the times (ns) at which messages came.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for k, message in enumerate(messages):
        groups.setdefault(tuple(getattr(message, STATES[kind][0])), []).append(k)
    stamps = np.array([
        (one.header.stamp.sec, one.header.stamp.nanosec) for one in messages
    ], dtype=np.int64)  # fmt: skip
    time = (stamps[:, 0] - stamps[0, 0]) + (stamps[:, 1] - stamps[0, 1]) / NANOSECONDS
    if len(time) > 1 and not np.ptp(time):
        time = (np.array(received) - received[0]) / NANOSECONDS
    main = max(groups, key=lambda one: len(one) * len(groups[one]))
    at = time[groups[main]]
    table: Table = {"time": {"": at - at[0]}}
    for joints, places in sorted(groups.items(), key=lambda one: one[0] != main):
        states = zip(*(STATES[kind][1](messages[k]) for k in places), strict=True)
        for quantity, rows in zip(QUANTITIES, states, strict=True):
            sizes = {len(one) for one in rows}
            if sizes == {len(joints)}:
                numbers = np.array(rows, dtype=float)
                own = table.setdefault(quantity, {})
                for k, joint in enumerate(joints):
                    if joints == main:
                        own[joint] = numbers[:, k]
                    elif joint not in own:
                        own[joint] = np.interp(at, time[places], numbers[:, k])
            elif sizes != {0}:
                raise InputError(f"{place}: not every {quantity} has {len(joints)} numbers")
    return {what: one for what, one in table.items() if one}
