"""Joint states of a bag as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..extras import require
from .bag import NANOSECONDS
from .table import Table


def read_joint_states(path: Path) -> Table:
    """The joint states of an MCAP file as quantity -> joint -> numbers (N,).

    The time counts from the first message, by its stamp.

    Raises
    ------
    InputError
        It cannot be read; it has no topic of joint states or several; or its messages name
        different joints.
    """
    require("bag")
    from rosbags.highlevel import AnyReader, AnyReaderError  # their import takes long
    from rosbags.rosbag2 import ReaderError
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    try:
        with AnyReader([path], default_typestore=store) as reader:
            topics = [one for one in reader.connections if one.msgtype.endswith("/JointState")]
            names = sorted({one.topic for one in topics})
            if len(names) != 1:
                found = f"has joint states on {', '.join(names)}" if names else "has no JointState"
                raise InputError(f"{path}: {found}; expected one topic of sensor_msgs/JointState")
            messages = [
                reader.deserialize(raw, connection.msgtype)
                for connection, _, raw in reader.messages(connections=topics)
            ]
    except (AnyReaderError, ReaderError, OSError, ValueError, AssertionError) as error:
        raise InputError(f"{path}: cannot be read as MCAP: {error}") from None
    if not messages:
        raise InputError(f"{path}: no message is on {names[0]}")
    return _table(messages, f"{path}: {names[0]}")


def _table(messages: list[Any], place: str) -> Table:
    joints = list(messages[0].name)
    for k, message in enumerate(messages):
        if list(message.name) != joints:
            raise InputError(
                f"{place}: message {k + 1} names {', '.join(message.name)}, the first one "
                f"{', '.join(joints)}; one file must hold the joint states of one sender"
            )
    stamps = np.array([(one.header.stamp.sec, one.header.stamp.nanosec) for one in messages])
    seconds = stamps[:, 0] - stamps[0, 0] + (stamps[:, 1] - stamps[0, 1]) / NANOSECONDS
    table = {"time": {"": seconds}}
    for quantity in ("position", "velocity", "effort"):
        sizes = {len(getattr(one, quantity)) for one in messages}
        if sizes == {len(joints)}:
            numbers = np.array([getattr(one, quantity) for one in messages], dtype=float)
            table[quantity] = {joint: numbers[:, k] for k, joint in enumerate(joints)}
        elif sizes != {0}:
            raise InputError(f"{place}: not every {quantity} has {len(joints)} numbers")
    return table
