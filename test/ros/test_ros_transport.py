"""No process that is stopped holds up a node: its messages go past the shared memory."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from ros_rig import ARM, Forks, Rig, rig
from sensor_msgs.msg import JointState

from mbdyn_ros.ros.node.process import CHOICES, RANGE, past_shared_memory

__all__ = ["rig"]

KEPT = ("FASTDDS_BUILTIN_TRANSPORTS", "FASTDDS_DEFAULT_PROFILES_FILE", RANGE)


@pytest.fixture
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who has chosen no transport."""
    for name in (*CHOICES, RANGE, "ROS_STATIC_PEERS"):
        monkeypatch.delenv(name, raising=False)


def locks(process: int) -> list[str]:
    """The shared memory of Fast DDS that a process has open."""
    maps = Path(f"/proc/{process}/maps").read_text().splitlines()
    return [line.split()[-1] for line in maps if "/fastdds_" in line]


@pytest.mark.sparse
@pytest.mark.parametrize("reach", ["LOCALHOST", "SUBNET"])
@pytest.mark.usefixtures("unset", "compiled")
def test_a_node_takes_no_lock_of_others(
    rig: Rig, forks: Forks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reach: str
) -> None:
    """And is heard by those who use the shared memory, as this process does."""
    monkeypatch.setenv(RANGE, reach)
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    states = rig.listen(JointState, "joint_states")
    process = forks.start("simulator", "-p", f"urdf:={path}", "-p", "rate:=100.0")
    rig.wait(lambda: states)
    assert not locks(process)
    assert locks(os.getpid())
    os.kill(process, signal.SIGTERM)
    code, output = forks.ended()
    assert code == 0, output


def environment() -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in KEPT}


@pytest.mark.usefixtures("unset")
def test_what_the_user_chose_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    before = environment()
    with past_shared_memory():
        assert environment() != before
    assert environment() == before
    for name in CHOICES:
        with monkeypatch.context() as chosen:
            chosen.setenv(name, "1")
            before = environment()
            with past_shared_memory():
                assert environment() == before


@pytest.mark.usefixtures("unset")
def test_peers_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RANGE, "LOCALHOST")
    monkeypatch.setenv("ROS_STATIC_PEERS", "10.0.0.7;robot.local")
    with past_shared_memory():
        profile = Path(os.environ["FASTDDS_DEFAULT_PROFILES_FILE"])
        text = profile.read_text()
    assert all(f"<address>{one}<" in text for one in ("127.0.0.1", "10.0.0.7", "robot.local"))
    assert not profile.exists()
