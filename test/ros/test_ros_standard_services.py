"""The services of simulation_interfaces, where that package is installed."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from rclpy.action import ActionClient
from ros_rig import ARM, STONE, Rig, rig
from std_srvs.srv import SetBool, Trigger

from mbdyn_ros.ros.nodes.simulator import Simulator

__all__ = ["rig"]
pytestmark = pytest.mark.usefixtures("compiled")

srv = pytest.importorskip("simulation_interfaces.srv")
action = pytest.importorskip("simulation_interfaces.action")
OK, NOT_FOUND, FAILED = 1, 2, 4
STOPPED, PLAYING, PAUSED, QUITTING = 0, 1, 2, 3
ALREADY = srv.SetSimulationState.Response.ALREADY_IN_TARGET_STATE
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6


def ask(rig: Rig, name: str, /, **fields: Any) -> Any:
    kind = getattr(srv, "".join(word.title() for word in name.split("_")))
    return rig.call(kind, f"simulator/{name}", **fields)


def test_the_simulation(rig: Rig) -> None:
    node = rig.add(Simulator, robot_description=ARM, rate=100.0, start_paused=True)
    states = srv.SetSimulationState.Request().state

    def change(state: int) -> int:
        states.state = state
        return int(ask(rig, "set_simulation_state", state=states).result.result)

    def state() -> int:
        return int(ask(rig, "get_simulation_state").state.state)

    assert state() == STOPPED
    assert change(PAUSED) == OK and state() == PAUSED and change(PAUSED) == ALREADY
    assert change(STOPPED) == OK and state() == STOPPED and change(STOPPED) == ALREADY
    assert ask(rig, "step_simulation", steps=250).result.result == OK
    assert node.session.motion.time == pytest.approx(2.5) and state() == PAUSED
    assert ask(rig, "step_simulation", steps=10**9).result.result == FAILED
    assert change(PLAYING) == OK and state() == PLAYING
    assert change(PLAYING) == ALREADY
    assert ask(rig, "step_simulation").result.result == FAILED
    assert change(9) == FAILED
    assert change(PAUSED) == OK
    kind = srv.ResetSimulation.Request
    assert ask(rig, "reset_simulation", scope=kind.SCOPE_SPAWNED).result.result == 0
    q = node.session.motion.q.copy()
    assert ask(rig, "reset_simulation", scope=kind.SCOPE_TIME).result.result == OK
    assert node.session.motion.time == 0.0 and (node.session.motion.q == q).all()
    assert state() == PAUSED
    assert ask(rig, "reset_simulation").result.result == OK
    assert not node.session.motion.q.any() and state() == STOPPED
    assert rig.call(SetBool, "simulator/pause", data=True).success and state() == PAUSED
    assert rig.call(Trigger, "simulator/reset").success and state() == STOPPED
    features = set(ask(rig, "get_simulator_features").features.features)
    assert features == {10, 11, 12, 20, 21, 22, 24, 25, 26, 31, 32, 33}


def test_steps_with_feedback(rig: Rig) -> None:
    """The action takes its steps, ends when it is canceled, and fails while time runs."""
    node = rig.add(Simulator, robot_description=ARM, rate=100.0, start_paused=True)
    client = ActionClient(rig.client, action.SimulateSteps, "simulator/simulate_steps")
    rig.wait(client.server_is_ready)
    reported: list[Any] = []

    def send(steps: int, cancel: bool = False) -> tuple[int, int, str]:
        reported.clear()
        goal = action.SimulateSteps.Goal(steps=steps)
        sent = client.send_goal_async(goal, lambda one: reported.append(one.feedback))
        rig.wait(sent.done)
        if cancel:
            rig.wait(lambda: reported)
            rig.wait(sent.result().cancel_goal_async().done)
        future = sent.result().get_result_async()
        rig.wait(future.done)
        answer = future.result()
        return answer.status, answer.result.result.result, answer.result.result.error_message

    assert send(250) == (SUCCEEDED, OK, "")
    assert node.session.motion.time == pytest.approx(2.5)
    done = [one.completed_steps for one in reported]
    assert done and done == sorted(set(done))  # a queue of 10 may lose some
    assert all(one.completed_steps + one.remaining_steps == 250 for one in reported)
    assert send(0) == (SUCCEEDED, OK, "")
    status, code, words = send(100_000, cancel=True)
    assert (status, code) == (CANCELED, FAILED) and "of 100000 steps" in words
    status, code, words = send(100_001)
    assert (status, code) == (ABORTED, FAILED) and "100000 at most" in words
    node.paused = False
    status, code, words = send(1)
    assert (status, code) == (ABORTED, FAILED) and "pause it first" in words
    client.destroy()


def test_quitting(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks is answered; then the process ends as by a signal."""
    ends: list[int] = []
    monkeypatch.setattr(signal, "raise_signal", ends.append)
    node = rig.add(Simulator, robot_description=ARM, rate=100.0)
    states = srv.SetSimulationState.Request().state
    states.state = QUITTING
    assert ask(rig, "set_simulation_state", state=states).result.result == OK
    assert node.paused and ask(rig, "get_simulation_state").state.state == QUITTING
    states.state = PLAYING
    assert ask(rig, "set_simulation_state", state=states).result.result == 103
    rig.wait(lambda: ends)
    assert ends == [signal.SIGTERM]


def test_entities(rig: Rig) -> None:
    """A link of an arm, and a stone that is thrown."""
    node = rig.add(
        Simulator, robot_description=STONE, floating_base=True, rate=100.0, start_paused=True
    )
    assert ask(rig, "get_entities").entities == ["stone", "stone/stone"]
    filters = srv.GetEntities.Request().filters
    filters.filter = "("
    assert ask(rig, "get_entities", filters=filters).result.result == FAILED
    state = srv.SetEntityState.Request().state
    state.pose.position.z, state.twist.linear.x = 2.0, 3.0
    given = {"entity": "stone", "state": state, "set_pose": True, "set_twist": True}
    answer = ask(rig, "set_entity_state", **given)
    assert answer.result.result == OK
    state.pose.orientation.w = 5.0
    assert ask(rig, "set_entity_state", **given).result.result == 101
    assert ask(rig, "step_simulation", steps=10).result.result == OK
    found = ask(rig, "get_entity_state", entity="stone").state
    assert found.pose.position.x == pytest.approx(0.3)
    assert found.pose.position.z == pytest.approx(2 - 9.81 / 2 * 0.01)
    assert found.twist.linear.z == pytest.approx(-0.981) and found.header.frame_id == "world"
    missing = ask(rig, "get_entity_state", entity="pebble").result
    assert missing.result == NOT_FOUND and "'pebble'" in missing.error_message
    every = ask(rig, "get_entities_states")
    assert every.entities == ["stone", "stone/stone"]
    assert [one.pose for one in every.states] == [found.pose] * 2
    filters.filter = "/"
    assert ask(rig, "get_entities_states", filters=filters).entities == ["stone/stone"]
    assert ask(rig, "get_entity_info", entity="stone").info.category.category == 1
    info = ask(rig, "get_entity_info", entity="stone/stone").info
    assert info.category.category == 0 and info.description == "link of stone"
    assert ask(rig, "get_entity_info", entity="pebble").result.result == NOT_FOUND
    assert node.fault == ""
