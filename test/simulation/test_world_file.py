"""Worlds in YAML files, and numbers of worlds that change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robot_text import hinge_text

import mbdyn_ros
from mbdyn_ros import LinkContacts, ModelError, Surface, World
from mbdyn_ros.model.shapes import Box, Sphere
from mbdyn_ros.robot.described import arguments_text

FILE = """
gravity: [0, 0, -1.62]
members:
  - {name: arm, robot: arm.urdf, xyz: [1, 0, 2], rpy: [0, 0, 1.5], home: {hinge: 0.3}}
  - {name: crate, shape: box, size: [0.4, 0.3, 0.2], mass: 2, xyz: [0, 0, 0.6], own_contacts: no}
  - {name: table, shape: box, size: [1, 1, 0.5], xyz: [0, 0, 0.25]}
surfaces: [{name: floor, type: plane, restitution: 0.2, friction: 0.7}]
links: {restitution: 0.1, friction: 0.4}
joint_limits: false
"""


def test_a_file_is_what_it_says(tmp_path: Path) -> None:
    """Step by step the same as the world that is put together in Python."""
    (tmp_path / "arm.urdf").write_text(hinge_text())
    path = tmp_path / "world.yaml"
    path.write_text(FILE.replace(", own_contacts: no", ""))
    read = World.load(path)
    floor = Surface.plane(restitution=0.2, friction=0.7, name="floor")
    made = World([floor], LinkContacts(0.1, 0.4, convex=True), (0, 0, -1.62))
    arm = mbdyn_ros.load(hinge_text(), home={"hinge": 0.3})
    made.add("arm", arm, xyz=(1, 0, 2), rpy=(0, 0, 1.5))
    made.add("crate", Box((0.4, 0.3, 0.2)), mass=2, xyz=(0, 0, 0.6))
    made.add("table", Box((1, 1, 0.5)), xyz=(0, 0, 0.25))
    assert repr(read) == repr(made) and read.environment.joint_limits is not None
    both = [one.stepper(1e-3) for one in (read, made)]
    for stepper in both:
        assert stepper.q[0] == 0.3
        stepper.advance(300)
    np.testing.assert_array_equal(both[0].q, both[1].q)
    assert both[0].contacts and both[0].q[3] != 0.0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("name: crate", "name: arm", r"world.yaml:5: two members have the name 'arm'"),
        ("shape: box", "shape: bocks", r"world.yaml:5: member \"crate\": there is no shape"),
        ("own_contacts: no", "mas: 2", r"\"crate\": a box has no \"mas\" \(did you mean \"mass\""),
        ("own_contacts: no", "robot: b", r"\"crate\": is either a robot or a shape"),
        ("mass: 2", "mass: 0", r"world.yaml:5: crate: mass must be a finite number above zero"),
        ("0.3, 0.2]", "0.3, 0]", r"crate: size must be above 0; got 0"),
        ("arm.urdf", "leg.urdf", r"world.yaml:4: member \"arm\": there is no file leg.urdf"),
        ("hinge: 0.3", "hinges: 0.3", r"member \"arm\": .*hinges"),
        ("name: table, ", "", r"world.yaml:6: this member has no name"),
        ("members:", "member:", r"a world has no \"member\" \(did you mean \"members\""),
    ],
)
def test_what_cannot_be_is_refused_by_line(old: str, new: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(hinge_text())
    path = tmp_path / "world.yaml"
    text = FILE.replace(old, new, 1).replace(", own_contacts: no", "")
    path.write_text(text)
    with pytest.raises(ModelError, match=words):
        World.load(path)


def test_variable_numbers_stay_variable() -> None:
    """Those of a robot that comes into a world, also when others come and go after it."""
    numbers = {"variable": ["rod", "friction", "hinge/x"]}
    alone, world = mbdyn_ros.load(hinge_text(), **numbers), World()
    world.add("first", mbdyn_ros.load(hinge_text(), **numbers))
    world.add("ball", Sphere(0.1), mass=1)
    whole = world.robot
    assert "['first_rod', 'friction', 'first_hinge/x']" in "".join(arguments_text(whole))
    for robot, prefix in ((alone, ""), (whole, "first_")):
        robot.set_payload(f"{prefix}rod", 3.0, (0.2, 0.0, 0.0))
        robot.set_friction(f"{prefix}hinge", 0.4, 0.0)
    q, v = whole.neutral(), np.zeros(whole.nv)
    q[0], v[0] = 0.3, 2.0
    expected = alone.inverse_dynamics([0.3], [2.0], [0.0])
    np.testing.assert_allclose(whole.inverse_dynamics(q, v, 0 * v)[:1], expected, rtol=1e-13)
    world.remove("ball")
    assert "['first_rod', 'friction']" in "".join(arguments_text(world.robot))
    left = world.varied(["friction", "gravity", "first_rod"], (0.0, 0.0, -1.0)).robot
    left.set_gravity((0.0, 0.0, -9.81))
    found = left.inverse_dynamics([0.3], [2.0], [0.0])
    np.testing.assert_allclose(found, expected, rtol=1e-13)
