"""What all nodes get from their base class, shown by a node that counts."""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from robot_text import EMPTY

pytest.importorskip("rclpy")

from ros_rig import ARM, Rig, rig
from std_msgs.msg import String
from std_srvs.srv import Trigger

from mbdyn_ros.errors import InputError
from mbdyn_ros.robot import Robot
from mbdyn_ros.ros.messages.named_numbers import require_known
from mbdyn_ros.ros.node.description import GRAVITY, LATCHED, PRIORITY, SPECS
from mbdyn_ros.ros.node.health import Health
from mbdyn_ros.ros.node.parameters import Spec
from mbdyn_ros.ros.node.refusals import Refusals, in_words
from mbdyn_ros.ros.node.robot_node import RobotNode, key_values

__all__ = ["rig"]


class Counter(RobotNode):
    """Counts up by `step`, and cannot count beyond `most`."""

    NAME = "counter"
    PARAMETERS = (
        *SPECS, GRAVITY, PRIORITY,
        Spec("rate", 100.0, "counts per second, Hz", 1.0, 500.0),
        Spec("step", 1, "counted at once", 0, 9),
        Spec("most", 0, "count that is too much; 0: none is", 0, 10**9),
    )  # fmt: skip
    PROGRAMS = ("mass_matrix",)
    LOOP = "count"
    AT_FAULT = "not counting"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.said: list[str] = []
        self.count = 0
        self.begin()

    def on_robot(self, robot: Robot) -> None:
        if not robot.nv:
            raise InputError("nothing moves")
        self.said.append(f"robot {robot.model.name}")

    def open_inputs(self) -> None:
        self.said.append("inputs")
        self.offer("reset", Trigger, self._reset)

    def tick(self, now: float, skipped: int) -> None:
        assert self.lock.locked()
        if self.fault:
            return
        self.count += self.parameters["step"]
        if 0 < self.parameters["most"] < self.count:
            raise InputError(f"{self.count} is too much")

    def on_fault(self) -> None:
        self.said.append(self.fault)
        self.count = 0

    def on_parameters(self, names: Collection[str]) -> None:
        if self.parameters["step"] == 7:
            raise InputError("7 is unlucky")
        self.said.append(", ".join(names))

    def health(self) -> Health:
        health = super().health()
        health.values["count"] = self.count
        return health

    def _reset(self, request: Any) -> str:
        if self.parameters["step"] == 0:
            raise InputError("it would not count")
        return f"cleared: {self.clear_fault() or 'nothing'}"


def test_robot_inputs_loop(rig: Rig) -> None:
    node = rig.add(Counter, robot_description=ARM)
    assert node.said == ["robot arm", "inputs"]
    rig.wait(lambda: node.count > 3)
    assert node.health().values["fault"] == "none" and not node.health().errors
    node.stop()
    count = node.count
    time.sleep(0.05)
    assert node.count == count


XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="prefix" default=""/> <link name="base"/> <link name="hand"> <inertial>
  <mass value="1"/> <inertia ixx="1" iyy="1" izz="1"/> </inertial> </link>
  <joint name="$(arg prefix)wrist" type="continuous"> <parent link="base"/> <child link="hand"/>
  <axis xyz="1 0 0"/> </joint> </robot>"""
SRDF = """<robot name="arm"> <group_state name="up" group="all">
  <joint name="left_wrist" value="0.5"/> </group_state> </robot>"""


def test_a_robot_of_several_files(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf.xacro"
    file.write_text(XACRO)
    homes = []

    class Keeper(Counter):
        def on_robot(self, robot: Robot) -> None:
            homes.append(dict(robot.home))

    rig.add(Keeper, urdf=str(file), xacro=["prefix:=left_"], srdf=SRDF, home="up")
    assert homes == [{"left_wrist": 0.5}]
    # nodes that were refused live on in this process: next to those of other tests
    with pytest.raises(InputError, match="no home 'down'; the files name up"):
        rig.add(Keeper, "one", urdf=str(file), xacro=["prefix:=left_"], srdf=SRDF, home="down")
    with pytest.raises(InputError, match="parameter xacro: 'prefix=left_' is not an argument"):
        rig.add(Keeper, "two", urdf=str(file), xacro=["prefix=left_"])


def test_a_robot_that_comes_late_or_is_refused(rig: Rig) -> None:
    node = rig.add(Counter)
    assert "there is no robot yet" in node.health().warnings[-1]
    rig.wait(lambda: node.count > 3)  # what it does without a robot is its own matter
    sender = rig.publisher(String, "robot_description", LATCHED)
    sender.publish(String(data=ARM))
    rig.wait(lambda: node.said == ["inputs", "robot arm"])
    assert not any("robot" in one for one in node.health().warnings)
    sender.publish(String(data=EMPTY))
    refusal = "refused a robot_description: nothing moves; the old one is kept"
    rig.wait(lambda: refusal in node.health().warnings)
    assert node.description.source == ARM


def test_a_refused_parameter_stays_as_it_was(rig: Rig) -> None:
    node = rig.add(Counter, robot_description=ARM)
    assert rig.set(node, step=2, rate=50.0) == ""
    assert node.said[-1] == "step, rate"
    assert (node.parameters["step"], node.parameters["rate"], node.loop.rate) == (2, 50.0, 50.0)
    assert rig.set(node, rate=60.0, step=7) == "7 is unlucky"
    assert "10" in rig.set(node, step=10)
    refusal = "gravity[1] is 1e+308: it must be from -1e+06 to 1e+06"
    assert rig.set(node, gravity=[0.0, 1e308, 0.0]) == refusal
    assert (node.parameters["step"], node.parameters["rate"], node.loop.rate) == (2, 50.0, 50.0)
    assert node.get_parameter("step").value == 2


class Log:
    """Stands for a node and for its logger."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def get_logger(self) -> Log:
        return self

    def warning(self, line: str) -> None:
        self.lines.append(line)


def test_a_flood_of_refusals_costs_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    log, health = Log(), Health()
    refusals = Refusals(log, "command")  # type: ignore[arg-type]
    for k in range(1000):
        refusals.add(InputError(f"number {k}"))
    assert log.lines == ["refused a command: number 0"]
    refusals.report(health)
    assert health.warnings == ["refused a command: number 999"]
    assert health.values == {"refused commands": 1000}
    later = Health()
    refusals.report(later)  # one period of the diagnostics is easily missed
    assert later.warnings == health.warnings
    monkeypatch.setattr("mbdyn_ros.ros.node.refusals.SHOWN", 0.0)
    last = Health()
    refusals.report(last)
    assert not last.warnings and last.values == {"refused commands": 1000}


def test_very_long_texts_lose_their_middle() -> None:
    error = InputError(f"there is no joint {'x' * 10_000_000}; there are shoulder, elbow")
    words = in_words(error)
    assert len(words) < 5000
    assert words.startswith("there is no joint xxx") and words.endswith("there are shoulder, elbow")
    (value,) = key_values({"robot": "x" * 10_000_000})
    assert len(value.value) < 5000 and "9996000 characters left out" in value.value


def test_a_very_long_name_is_refused_by_its_beginning() -> None:
    with pytest.raises(InputError) as caught:
        require_known(["elbow", "x" * 10_000_000], ["elbow"], "joint")
    words = f"there is no joint '{'x' * 200}'... (10000000 characters); there are elbow"
    assert str(caught.value) == words


def test_a_fault_stays_until_it_is_cleared(rig: Rig) -> None:
    node = rig.add(Counter, robot_description=ARM, most=5)
    rig.wait(lambda: node.fault)
    assert node.said[-1] == node.fault == "6 is too much" and node.count == 0
    health = node.health()
    assert health.errors == ["6 is too much"] and health.values["fault"] == "6 is too much"
    assert rig.set(node, most=0, step=0) == ""
    response = rig.call(Trigger, "counter/reset")
    assert (response.success, response.message) == (False, "it would not count")
    assert node.fault
    assert rig.set(node, step=1) == ""
    assert rig.call(Trigger, "counter/reset").message == "cleared: 6 is too much"
    rig.wait(lambda: node.count > 10)
    assert rig.call(Trigger, "counter/reset").message == "cleared: nothing"
