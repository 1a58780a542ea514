"""Joint states read from and written into their bytes, against rclpy's own way."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

pytest.importorskip("rclpy")

from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from mbdyn_ros.ros.messages import joint_state_bytes
from mbdyn_ros.ros.messages.joint_state_bytes import JointStateBytes, JointStateReader, JointStates


def message(rng: random.Random) -> JointState:
    """Names of any length, fields of any number; not always of one another's."""
    ends = "", "é", "_joint"
    names = ["j" * rng.randrange(9) + rng.choice(ends) for _ in range(rng.randrange(9))]
    one = JointState(name=names)
    one.header.frame_id = "base_link"[: rng.randrange(10)]
    one.header.stamp.sec, one.header.stamp.nanosec = rng.randrange(-9, 2**31), rng.randrange(2**32)
    for field in ("position", "velocity", "effort"):
        size = rng.choice([0, len(names), len(names), rng.randrange(9)])
        setattr(one, field, [rng.uniform(-1e3, 1e3) for _ in range(size)])
    return one


def assert_read(reader: JointStateReader, one: JointState) -> None:
    read = reader.read(serialize_message(one))
    assert isinstance(read, JointStates)
    stamp = one.header.stamp
    assert read.header == ((stamp.sec, stamp.nanosec), one.header.frame_id)
    assert list(read.name) == one.name
    for field in ("position", "velocity", "effort"):
        assert list(getattr(read, field)) == getattr(one, field).tolist()


def test_as_rclpy_reads() -> None:
    """One after another of all forms; and again with other numbers in the same form."""
    rng, reader = random.Random(5), JointStateReader()
    for _ in range(300):
        one = message(rng)
        assert_read(reader, one)
        one.header.stamp.sec = 7
        one.velocity = [rng.uniform(-1, 1) for _ in one.velocity]
        assert_read(reader, one)


def test_forms_of_one_size() -> None:
    """As many bytes, other joints or other fields: nothing of the form before is left."""
    reader = JointStateReader()
    for names in (["ab", "cd"], ["ab", "ce"]):
        for field in ("position", "velocity", "effort"):
            assert_read(reader, JointState(name=names, **{field: [1.0, 2.0]}))


def test_no_number() -> None:
    data = serialize_message(JointState(name=["a"], position=[math.nan], effort=[math.inf]))
    read = JointStateReader().read(data)
    assert math.isnan(read.position[0]) and read.effort[0] == math.inf


def test_other_bytes_are_left_to_rclpy() -> None:
    """Other encodings, and what is cut off."""
    reader = JointStateReader()
    data = bytes(serialize_message(JointState(name=["a", "b"], position=[1.0, 2.0])))
    reader.read(data)
    foreign = b"\x00\x03" + data[2:]  # a list of parameters
    assert reader.read(data).position == (1.0, 2.0)
    for bad in (foreign, data[:-9], data[:20], data[:3], b""):
        try:
            expected = deserialize_message(bad, JointState)
        except Exception as error:
            with pytest.raises(type(error)):
                reader.read(bad)
        else:
            assert reader.read(bad) == expected


@pytest.mark.parametrize("plain", [True, False])
def test_as_rclpy_writes(
    plain: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """All forms, each with numbers twice; in another encoding the message itself is handed on."""
    if not plain:
        monkeypatch.setattr(joint_state_bytes, "serialize_message", lambda one: b"\x00\x07\x00\x00")
    rng = random.Random(6)
    for _ in range(100):
        one = message(rng)
        form = len(one.velocity) > 0, len(one.effort) > 0
        written = JointStateBytes(one.name, one.header.frame_id, *form)
        for _ in range(2):
            numbers = [np.array([rng.uniform(-9, 9) for _ in one.name]) for _ in range(3)]
            expected = JointState(header=one.header, name=one.name, position=numbers[0].tolist())
            written.position[:] = numbers[0]
            if form[0]:
                written.velocity[:] = expected.velocity = numbers[1].tolist()
            if form[1]:
                written.effort[:] = expected.effort = numbers[2].tolist()
            expected.header.stamp.sec, expected.header.stamp.nanosec = rng.randrange(9), 5
            sent = written.stamped(expected.header.stamp.sec, 5)
            assert isinstance(sent, bytes) == plain
            assert (deserialize_message(sent, JointState) if plain else sent) == expected
    assert capfd.readouterr().err.count("encoding 0x0007 is not plain CDR") == (not plain)
