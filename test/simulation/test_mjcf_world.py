"""Worlds read from an MJCF, against MuJoCo."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import mujoco
import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros import (
    Environment,
    InputError,
    ModelError,
    ModelWarning,
    Stepper,
    Surface,
    World,
    simulate,
)
from mbdyn_ros.simulation import read_environment

G = 9.81

SCENE = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="5 5 1" friction="0.5"/>
  <geom name="ramp" type="plane" size="5 5 1" pos="9 0 0" euler="0 -30 0" friction="0.1"/>
  <geom name="step" type="box" size=".5 .5 .1" pos="2 0 .1" friction=".3"/>
  <geom name="picture" type="box" size="9 9 9" contype="0" conaffinity="0"/>
  <body name="cube" pos="2 0 .3"><freejoint/><geom type="box" size=".1 .1 .1" friction=".2"/></body>
  <body name="sledge" pos="-1 0 .05"><freejoint name="s"/>
    <geom type="box" size=".1 .1 .05" friction=".1" priority="1"/></body>
  <body name="ice" pos="-1 1 .1"><freejoint name="i"/>
    <geom type="sphere" size=".1" condim="1" priority="2"/></body>
  <body name="ghost" pos="0 2 .5"><freejoint name="g"/>
    <geom size=".1" contype="2" conaffinity="2"/></body>
  <body name="arm" pos="0 0 1"><joint name="h" axis="0 1 0"/><joint name="r" type="slide"/>
    <geom type="capsule" size=".03 .3"/>
    <body name="hand" pos="0 0 .5" quat="1 1 0 0"><joint name="w" axis="0 1 0"/>
      <geom size=".04"/><site name="tip"/></body></body>
  <body name="post" pos="-3 0 0"><geom type="cylinder" size=".1 .5"/></body>
</worldbody>
<contact><exclude body1="cube" body2="arm"/></contact>
<keyframe>
  <key name="away" qpos="{away} .1 .2 .3"/>
  <key name="home" qpos="{home} .3 0 -.2"/>
</keyframe></mujoco>"""

STILL = "1 0 0 0"
TEXT = SCENE.format(
    away=f"2 1 .3 {STILL}  -1 2 .05 {STILL}  -1 1 .1 {STILL}  0 2 .5 {STILL}",
    home=f"2 0 .4 {STILL}  -1 .2 .05 .8 0 0 .6  -1 1 .1 {STILL}  0 2 .5 {STILL}",
)


@pytest.fixture
def world() -> Iterator[World]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        yield World.load(TEXT)


def test_bodies_are_where_the_keyframe_home_has_them(world: World) -> None:
    model = mujoco.MjModel.from_xml_string(TEXT)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 1)
    mujoco.mj_kinematics(model, data)
    for k in range(1, model.nbody):
        pose = world.robot.frame_pose(world.robot.home_position, model.body(k).name)
        np.testing.assert_allclose(pose[:3, 3], data.xpos[k], atol=1e-15)
        np.testing.assert_allclose(pose[:3, :3], data.xmat[k].reshape(3, 3), atol=1e-15)


def test_members_and_walls_have_the_names_of_the_file(world: World) -> None:
    assert [*world.members] == ["cube", "sledge", "ice", "ghost", "arm", "post", "scenery"]
    assert set(world.members["arm"].links) == {"h/moved", "arm", "hand", "tip"}
    assert len(world.members["arm"].q) == 3
    walls = world.environment.surfaces
    assert [wall.name for wall in walls] == ["floor", "ramp"]
    # 3 m before the ramp's origin, and at its height there
    down = np.tan(np.radians(30)) * 3
    np.testing.assert_allclose(walls[1].value([6.0, 2.0, -down]), 0.0, atol=1e-12)


def test_friction_is_that_of_mujoco(world: World) -> None:
    """Of every pair that MuJoCo finds touching, ours is what it has; and who does not touch."""
    environment = world.environment
    assert environment.links is not None
    model = mujoco.MjModel.from_xml_string(TEXT)
    data = mujoco.MjData(model)
    at = {"cube": 7 * 0, "sledge": 7, "ice": 14, "ghost": 21}
    names = [*at, "post"]
    for one in at:
        for other in [*names, "scenery", "floor", "ramp", "arm", "hand"]:
            if other == one:
                continue
            for start in at.values():  # all others far away
                data.qpos[start : start + 3] = 50 + start, 0, 50
            data.qpos[28:] = 0
            mujoco.mj_kinematics(model, data)
            place = {"scenery": [2, 0, 0.2], "floor": [0, 0, 0], "ramp": [9, 0, 0]}.get(other)
            data.qpos[at[one] : at[one] + 3] = data.body(other).xpos if place is None else place
            mujoco.mj_forward(model, data)
            found = {
                frozenset(_name(model, geom) for geom in contact.geom): contact
                for contact in data.contact
            }.get(frozenset((one, other)))
            if other in ("floor", "ramp"):
                law = environment.laws.get((one, other))
            else:
                pair = frozenset((one, other))
                law = None if pair in environment.links.disabled else environment.links.laws[pair]
            assert (law is None) == (found is None), (one, other)
            if law is not None and found is not None:
                assert law == (0.0, found.friction[0] if found.dim > 1 else 0.0), (one, other)


def _name(model: mujoco.MjModel, geom: int) -> str:
    body = int(model.geom_bodyid[geom])
    if body:
        return str(model.body(body).name)
    return "scenery" if model.geom(geom).name == "step" else str(model.geom(geom).name)


def test_a_sledge_and_a_ball_slide_as_their_priority_says(world: World) -> None:
    stepper = world.stepper(1e-3)
    v = np.zeros(world.robot.nv)
    for name in ("sledge", "ice"):
        v[world.members[name].v[0]] = 1.0
    stepper.set_state(world.robot.home_position, v)
    start = {name: world.robot.frame_pose(stepper.q, name)[:3, 3] for name in ("sledge", "ice")}
    stepper.advance(1100)
    way = {
        name: np.linalg.norm(world.robot.frame_pose(stepper.q, name)[:3, 3] - at)
        for name, at in start.items()
    }
    assert way["sledge"] == pytest.approx(1 / (2 * 0.1 * G), rel=1e-5)
    assert way["ice"] == pytest.approx(1.1, rel=1e-9)
    assert world.robot.frame_pose(stepper.q, "cube")[2, 3] == pytest.approx(0.3, abs=1e-9)


@pytest.mark.long
def test_members_of_a_scene_come_and_go(world: World) -> None:
    world.remove("arm")
    world.add("ur5", mbdyn_ros.example("ur5"), xyz=(0, -2, 1))
    world.remove("scenery")
    assert [*world.members][-2:] == ["post", "ur5"]
    stepper = world.stepper(1e-3)
    stepper.advance(400)
    assert world.robot.frame_pose(stepper.q, "cube")[2, 3] == pytest.approx(0.1, abs=1e-9)


def test_what_differs_from_mujoco_is_said() -> None:
    with pytest.warns(ModelWarning) as said:
        World.load(TEXT)
    words = [str(one.message) for one in said]
    assert any('in MuJoCo ghost passes through the plane "floor"' in one for one in words)
    hills = (
        '<mujoco><asset><hfield name="h" nrow="4" ncol="4" size="1 1 1 1"/></asset><worldbody>'
        '<geom name="hills" type="hfield" hfield="h"/><body name="b" pos="0 0 3"><freejoint/>'
        '<geom size=".1"/></body></worldbody></mujoco>'
    )
    with pytest.warns(ModelWarning, match='"hills": a mesh or height field of this kind is not'):
        world = World.load(hills)
    assert not world.environment.surfaces and world.environment.links is None
    with pytest.raises(
        ModelError, match="this is a <robot>: put robots into a world"
    ):
        World.load("<robot name='r'><link name='a'/></robot>")


BALL = """<mujoco><worldbody><body name="ball"><freejoint name="b"/>
  <geom size=".1" mass="1"/><site name="tip"/></body></worldbody></mujoco>"""


def test_a_link_has_a_law_of_its_own_on_a_wall() -> None:
    """Bounce by the law of the link; the file says the same; other links and walls are refused."""
    robot = mbdyn_ros.load(BALL)
    floor = Surface.plane(restitution=0.0, friction=0.4, name="floor")
    ours = Environment([floor], laws={("ball", "floor"): (0.5, 0.4)})
    read = read_environment(
        "surfaces:\n  - {name: floor, type: plane, restitution: 0, friction: 0.4}\n"
        "laws:\n  - {link: ball, surface: floor, restitution: 0.5}\n"
    )
    assert read.laws == ours.laws
    stepper = Stepper(robot, 1e-3, ours)
    q0 = [0, 0, 0.6, 0, 0, 0, 1]
    stepper.set_state(q0, np.zeros(6))
    trajectory = simulate(robot, q0, np.zeros(6), 0.5, environment=ours)
    speeds = []
    for _ in range(500):
        stepper.advance()
        speeds.append(stepper.v[2])
    assert max(speeds) == pytest.approx(0.5 * np.sqrt(2 * G * 0.5), abs=G * 1e-3)
    (impact,) = trajectory.impacts
    assert impact.restitution[0] == 0.5
    with pytest.raises(InputError, match="no surface 'florr' for link 'ball' .did you mean .floor"):
        Environment([floor], laws={("ball", "florr"): (0.5, 0.4)})
    with pytest.raises(InputError, match="no link 'bal'"):
        Stepper(robot, 1e-3, Environment([floor], laws={("bal", "floor"): (0.5, 0.4)}))
    with pytest.raises(InputError, match="laws: ball and floor: friction is -1"):
        Environment([floor], laws={("ball", "floor"): (0.0, -1.0)})
    with pytest.raises(ModelError, match="this law names no surface"):
        read_environment("surfaces:\n  - {name: f, type: plane}\nlaws:\n  - {link: a}\n")
