"""The services of simulation_interfaces, where that package is installed."""

from __future__ import annotations

import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from rclpy.action import ActionClient
from ros_rig import ARM, GHOST, STONE, Rig, rig
from std_srvs.srv import SetBool, Trigger

from mbdyn_ros.ros.nodes.simulator import Simulator

__all__ = ["rig"]
pytestmark = pytest.mark.usefixtures("compiled")

srv = pytest.importorskip("simulation_interfaces.srv")
msg = pytest.importorskip("simulation_interfaces.msg")
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
    assert ask(rig, "reset_simulation", scope=kind.SCOPE_SPAWNED).result.result == OK
    q = node.session.motion.q.copy()
    assert ask(rig, "reset_simulation", scope=kind.SCOPE_TIME).result.result == OK
    assert node.session.motion.time == 0.0 and (node.session.motion.q == q).all()
    assert state() == PAUSED
    assert ask(rig, "reset_simulation").result.result == OK
    assert not node.session.motion.q.any() and state() == STOPPED
    assert rig.call(SetBool, "simulator/pause", data=True).success and state() == PAUSED
    assert rig.call(Trigger, "simulator/reset").success and state() == STOPPED
    features = set(ask(rig, "get_simulator_features").features.features)
    assert features - {50} == {0, 1, 9, 10, 11, 12, 14, 20, 21, 22, 23, 24, 25, 26, 31, 32, 33}


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


WORLD = """
members:
  - {name: arm, robot: arm.urdf, xyz: [0, 0, 3]}
  - {name: post, shape: box, size: [0.1, 0.1, 1], xyz: [2, 0, 0.5]}
surfaces: [{name: floor, type: plane, restitution: 0, friction: 0.5}]
"""
CRATE = """<robot name="crate"><link name="crate"><inertial><mass value="2"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="0.2"/></geometry></collision></link></robot>"""


@pytest.fixture
def node(rig: Rig, tmp_path: Any) -> Any:
    (tmp_path / "arm.urdf").write_text(ARM)
    (tmp_path / "world.yaml").write_text(WORLD)
    world = str(tmp_path / "world.yaml")
    return rig.add(Simulator, world=world, rate=100.0, start_paused=True)


def spawn(rig: Rig, text: str, place: tuple[float, ...] = (0, 0, 0), **fields: Any) -> Any:
    request = srv.SpawnEntity.Request(**fields)
    getattr(request, "entity_resource", request).resource_string = text
    where = request.initial_pose.pose.position
    where.x, where.y, where.z = map(float, place)
    return rig.call(srv.SpawnEntity, "simulator/spawn_entity", **fields_of(request))


def fields_of(message: Any) -> dict[str, Any]:
    return {name: getattr(message, name) for name in message.get_fields_and_field_types()}


def test_entities_come_and_go(rig: Rig, node: Any) -> None:
    """A crate falls on the floor while an arm moves; what was there goes on from where it is."""
    assert ask(rig, "step_simulation", steps=30).result.result == OK
    before = node.session.motion.q.copy()
    answer = spawn(rig, CRATE, (4, 0, 1.2), name="crate")
    assert (answer.result.result, answer.entity_name) == (OK, "crate"), answer.result
    assert list(node.session.motion.q[:3]) == list(before)
    assert node.session.motion.time == pytest.approx(0.3)
    assert ask(rig, "step_simulation", steps=10).result.result == OK
    state = ask(rig, "get_entity_state", entity="crate").state
    assert state.pose.position.z == pytest.approx(1.2 - 9.81 / 2 * 0.01, abs=1e-9)
    assert ask(rig, "step_simulation", steps=90).result.result == OK
    assert ask(rig, "get_entity_state", entity="crate").state.pose.position.z == pytest.approx(0.2)
    again = spawn(rig, CRATE, (6, 0, 1.2), name="crate", allow_renaming=True)
    assert (again.result.result, again.entity_name) == (OK, "crate_2")
    found = ask(rig, "get_entities").entities
    assert [name for name in found if "/" not in name] == ["arm", "post", "crate", "crate_2"]
    kinds = [
        ask(rig, "get_entity_info", entity=name).info.category.category
        for name in ("arm", "post", "crate", "arm/arm_upper")
    ]
    assert kinds == [1, 5, 0, 0]
    moved = srv.SetEntityState.Request().state
    moved.pose.position.x, moved.pose.position.z, moved.twist.linear.x = 5.0, 2.0, 1.0
    moved.pose.orientation.z = moved.pose.orientation.w = 0.5**0.5
    given = {"entity": "crate_2", "state": moved, "set_pose": True, "set_twist": True}
    assert ask(rig, "set_entity_state", **given).result.result == OK
    found = ask(rig, "get_entity_state", entity="crate_2").state
    assert (found.pose.position.x, found.pose.orientation.z) == pytest.approx((5.0, 0.5**0.5))
    assert found.twist.linear.x == pytest.approx(1.0)
    assert ask(rig, "set_entity_state", **{**given, "entity": "post"}).result.result == FAILED
    assert ask(rig, "delete_entity", entity="crate").result.result == OK
    assert ask(rig, "delete_entity", entity="crate").result.result == NOT_FOUND
    assert ask(rig, "delete_entity", entity="post").result.result == OK
    assert ask(rig, "get_entity_state", entity="crate_2").state.pose == found.pose
    assert list(node.session.members) == ["arm", "crate_2"]
    assert ask(rig, "reset_simulation", scope=4).result.result == OK
    assert list(node.session.members) == ["arm"] and node.session.motion.time > 0
    assert ask(rig, "reset_simulation").result.result == OK
    assert list(node.session.members) == ["arm", "post"] and node.session.motion.time == 0
    assert not node.session.motion.q.any() and node.fault == ""


def test_what_cannot_be_spawned(rig: Rig, node: Any) -> None:
    """Each is refused in words with the code of the standard, and the world stays as it is."""
    kinds, names = srv.SpawnEntity.Response, list(node.session.members)
    for text, fields, code, words in (
        (CRATE, {"name": "arm"}, kinds.NAME_NOT_UNIQUE, "the name 'arm' is taken"),
        (CRATE, {"name": "a b/c"}, kinds.NAME_INVALID, "'a b/c' is not a name of letters"),
        ("", {"name": "x"}, kinds.NO_RESOURCE, "neither a uri nor a resource_string"),
        ("<robot", {"name": "x"}, kinds.RESOURCE_PARSE_ERROR, "not well-formed"),
        ("<robot name='x'/>", {"name": "x"}, kinds.RESOURCE_PARSE_ERROR, "link"),
        ("box", {"name": "x"}, kinds.RESOURCE_PARSE_ERROR, "resource_string is not XML"),
        (CRATE, {"name": "x", "entity_namespace": "a"}, 0, "entity_namespace is 'a'"),
        (GHOST, {"name": "x"}, FAILED, "x_nothing"),
    ):
        answer = spawn(rig, text, (4, 0, 3), **fields)
        assert answer.result.result == code and words in answer.result.error_message, answer
        assert answer.entity_name == ""
    for place in ((2, 0, 0.5), (0, 0, 0.1)):  # in the post, in the floor
        answer = spawn(rig, CRATE, place, name="x")
        assert answer.result.result == FAILED, answer
        assert "'x_crate'" in answer.result.error_message, answer
        assert "inside" in answer.result.error_message
    answer = spawn(rig, CRATE, (float("nan"), 0, 0), name="x")
    assert answer.result.result == kinds.INVALID_POSE, answer
    still = CRATE[: CRATE.index("<inertial>")] + CRATE[CRATE.index("<collision>") :]
    answer = spawn(rig, still, (9, 0, 1), name="massless")
    assert answer.result.result == OK and "is fixed" in answer.result.error_message
    assert ask(rig, "delete_entity", entity="massless").result.result == OK
    assert list(node.session.members) == names and node.fault == ""
    uri = srv.SpawnEntity.Request(name="boom")
    getattr(uri, "entity_resource", uri).uri = "boom?floating_base=maybe"
    answer = rig.call(srv.SpawnEntity, "simulator/spawn_entity", **fields_of(uri))
    assert "a query is ?floating_base=true or =false" in answer.result.error_message


def test_gravity_that_is_set_during_a_spawn_holds(
    rig: Rig, node: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both take effect, one after the other, and the last gravity counts."""
    begun, may_end, replace = threading.Event(), threading.Event(), node.replace

    def slow(*change: Any) -> Any:
        begun.set()
        assert may_end.wait(60.0)
        return replace(*change)

    monkeypatch.setattr(node, "replace", slow)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(spawn, rig, CRATE, (4, 0, 1.2), name="crate")
        assert begun.wait(60.0)
        assert rig.set(node, gravity=[0.0, 0.0, -1.0]) == ""
        assert rig.set(node, gravity=[0.0, 0.0, -2.0]) == ""
        may_end.set()
        assert answer.result().result.result == OK
    rig.wait(lambda: node.session.robot.gravity[2] == -2.0)
    assert list(node.session.members) == ["arm", "post", "crate"] and node.fault == ""


@pytest.mark.skipif(not hasattr(srv, "SpawnEntities"), reason="of simulation_interfaces 2")
def test_several_are_spawned_at_once(rig: Rig, node: Any) -> None:
    """Those that can be, if they can stand next to each other."""
    kind = msg.SpawnEntity

    def some(*places: float) -> list[Any]:
        found = []
        for k, x in enumerate(places):
            one = kind(name=f"crate{k}")
            one.entity_resource.resource_string = CRATE
            one.initial_pose.pose.position.x, one.initial_pose.pose.position.z = x, 1.0
            found.append(one)
        return found

    asked = [*some(4.0, 6.0), kind(name="nothing")]
    answer = ask(rig, "spawn_entities", spawn_requests=asked)
    assert answer.result.result == answer.ENTITIES_SPAWN_FAILED
    assert [one.result.result for one in answer.results] == [OK, OK, 104]
    assert list(node.session.members) == ["arm", "post", "crate0", "crate1"]
    assert ask(rig, "reset_simulation").result.result == OK
    answer = ask(rig, "spawn_entities", spawn_requests=some(4.0, 4.1))
    assert [one.result.result for one in answer.results] == [FAILED, FAILED]
    assert all("inside" in one.result.error_message for one in answer.results)
    assert list(node.session.members) == ["arm", "post"]


def test_one_robot_is_not_a_world(rig: Rig) -> None:
    rig.add(Simulator, robot_description=ARM, rate=100.0, start_paused=True)
    answer = spawn(rig, CRATE, name="x")
    assert answer.result.result == 0 and "parameter world" in answer.result.error_message
    assert ask(rig, "get_spawnables").spawnables
