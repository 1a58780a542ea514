"""The services of simulation_interfaces, where that package is installed."""

from __future__ import annotations

from typing import Any

import pytest
from ros_rig import ARM, STONE, Rig, rig

from mbdyn_ros.ros.nodes.simulator import Simulator

__all__ = ["rig"]

srv = pytest.importorskip("simulation_interfaces.srv")
OK, NOT_FOUND, WRONG_STATE, FAILED = 1, 2, 3, 4
STOPPED, PLAYING, PAUSED = 0, 1, 2


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
    assert ask(rig, "step_simulation", steps=250).result.result == OK
    assert node.session.motion.time == pytest.approx(2.5) and state() == PAUSED
    assert ask(rig, "step_simulation", steps=10**9).result.result == FAILED
    assert change(PLAYING) == OK and state() == PLAYING
    assert change(PLAYING) == srv.SetSimulationState.Response.ALREADY_IN_TARGET_STATE
    assert ask(rig, "step_simulation").result.result == WRONG_STATE
    assert change(9) == FAILED
    assert change(PAUSED) == OK
    kind = srv.ResetSimulation.Request
    assert ask(rig, "reset_simulation", scope=kind.SCOPE_SPAWNED).result.result == 0
    q = node.session.motion.q.copy()
    assert ask(rig, "reset_simulation", scope=kind.SCOPE_TIME).result.result == OK
    assert node.session.motion.time == 0.0 and (node.session.motion.q == q).all()
    assert ask(rig, "reset_simulation").result.result == OK
    assert not node.session.motion.q.any() and state() == STOPPED
    features = ask(rig, "get_simulator_features").features
    assert len(features.features) == 10


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
    assert node.fault == ""
