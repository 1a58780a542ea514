"""Ellipsoids: on walls, on other shapes, in files; against closed forms and MuJoCo."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbdyn_ros
from mbdyn_ros import Environment, Robot, Stepper, Surface
from mbdyn_ros.model.inertia import Inertia
from mbdyn_ros.model.pose import Pose
from mbdyn_ros.model.shapes import Box, Ellipsoid
from mbdyn_ros.simulation.contact.solids import Egg, Polytope, Rounded, Solid
from mbdyn_ros.simulation.stepped.solid_tables import SolidTables

AXES = np.array([0.3, 0.2, 0.1])
TEXT = (
    "<mujoco><worldbody><body name='egg'><freejoint/>"
    f"<geom type='ellipsoid' size='{' '.join(map(str, AXES))}' mass='2'/></body>"
    "</worldbody></mujoco>"
)
FLOOR = Surface.plane(friction=0.8, name="floor")


@pytest.fixture(scope="module")
def egg() -> Robot:
    """A free ellipsoid of 2 kg."""
    return mbdyn_ros.load(TEXT)


def height(turn: Rotation) -> float:
    """Of its middle above a floor that it touches."""
    return float(np.linalg.norm(AXES * turn.inv().apply([0, 0, 1.0])))


def test_its_inertia_is_that_of_an_even_body(egg: Robot) -> None:
    """As MuJoCo has it, too."""
    moments = Inertia.of_solid(Ellipsoid(tuple(AXES)), 2.0)
    assert moments is not None
    model = mujoco.MjModel.from_xml_string(TEXT)
    assert np.diag(moments.moments) == pytest.approx(model.body_inertia[1], rel=1e-12)
    assert egg.mass_matrix(egg.home_position)[3, 3] == pytest.approx(model.body_inertia[1, 0])


def test_it_rests_on_its_flat_side_and_rocks_by_energy(egg: Robot) -> None:
    """Undisturbed it stays; tilted on a rough floor it rolls, and its energy stays."""
    walls = Environment([FLOOR])
    assert len(walls.contact_points(egg)) == 1
    stepper = Stepper(egg, 1e-3, walls)
    stepper.set_state([0, 0, AXES[2], 0, 0, 0, 1], np.zeros(6))
    stepper.advance(500)
    assert stepper.q[2] == pytest.approx(AXES[2], abs=1e-9)
    turn = Rotation.from_rotvec([0, 0.3, 0])
    stepper.set_state([0, 0, height(turn), *turn.as_quat()], np.zeros(6))
    start, lowest = stepper.energy.sum(), np.inf
    for _ in range(1000):
        stepper.advance()
        now = Rotation.from_quat(stepper.q[3:7])
        assert stepper.q[2] == pytest.approx(height(now), abs=1e-8)
        lowest = min(lowest, now.as_rotvec()[1])
    assert stepper.energy.sum() == pytest.approx(start, rel=2e-5)
    assert lowest == pytest.approx(-0.3, abs=1e-3)


def test_it_rolls_in_events_as_in_steps(egg: Robot) -> None:
    """`simulate` leaves the floor by nothing, and both come to the same place."""
    turn, walls = Rotation.from_rotvec([0.2, 0.3, 0.1]), Environment([FLOOR])
    start = [0, 0, height(turn), *turn.as_quat()]
    motion = mbdyn_ros.simulate(egg, start, np.zeros(6), 0.6, environment=walls)
    stepper = Stepper(egg, 2e-4, walls)
    stepper.set_state(start, np.zeros(6))
    stepper.advance(3000)
    assert motion.relative_imbalance < 1e-9
    assert stepper.q == pytest.approx(motion.q[-1], abs=2e-4)


def test_distances_of_ellipsoids() -> None:
    """From a box by the support function, from a ball by the nearest point, inside too."""
    rng, middle = np.random.default_rng(0), np.zeros(3)
    box, ball, egg = Polytope.box((4.0, 4.0, 2.0)), Rounded(0.1), Egg(tuple(AXES))
    one = Solid("egg", 0, Pose(), egg)
    tables = SolidTables(
        ((one, Solid("box", 1, Pose(), box)), (one, Solid("ball", 1, Pose(), ball))), {0: 0, 1: 30}
    )
    for gap in (0.5, 1e-2, 1e-5, 0.0, -1e-6, -1e-3):
        turn = Rotation.random(random_state=rng)
        up = height(turn)
        place = Pose(turn.as_matrix(), np.array([0.2, -0.1, 1.0 + up + gap]))
        distance, normal, _ = tables.nearest(0, place, Pose())
        assert distance == pytest.approx(gap, abs=1e-9)
        assert normal == pytest.approx([0, 0, 1], abs=1e-6)
        normal = Rotation.random(random_state=rng).apply([0, 0, 1])
        foot = AXES**2 * normal / np.linalg.norm(AXES * normal)  # the point with that normal
        away = Pose(translation=foot + (gap + 0.1) * normal)
        distance, _, _ = tables.nearest(1, Pose(translation=middle), away)
        assert distance == pytest.approx(gap, abs=1e-9)


def test_an_ellipsoid_lies_on_a_box_and_a_ball_lies_on_it() -> None:
    """Forces of rest, in a world of three."""
    world = mbdyn_ros.World()
    world.add("table", Box((1.0, 1.0, 0.2)), xyz=(0, 0, -0.1))
    world.add("egg", Ellipsoid(tuple(AXES)), mass=2.0, xyz=(0, 0, AXES[2] + 1e-3))
    stepper = world.stepper(1e-3)
    stepper.advance(1000)
    assert world.robot.frame_pose(stepper.q, "egg")[2, 3] == pytest.approx(AXES[2], abs=1e-7)
    assert stepper.contacts[0].force == pytest.approx([0, 0, 2 * 9.81], abs=1e-4)


@pytest.mark.long
def test_curved_walls_meet_points_of_it(egg: Robot) -> None:
    """It falls into a bowl and comes to rest there: nothing is refused."""
    bowl = Surface.sphere(radius=2.0, name="bowl")
    walls = Environment([bowl])
    assert len(walls.contact_points(egg)) == 26
    stepper = Stepper(egg, 1e-3, walls)
    stepper.set_state([0, 0, -1.7, 0, 0, 0, 1], np.zeros(6))
    stepper.advance(2000)
    assert stepper.q[2] == pytest.approx(-2.0 + AXES[2], abs=0.01)


def test_files_have_ellipsoids(egg: Robot, tmp_path: Path) -> None:
    """Written and read again: URDF, SDF and MJCF."""
    for name, save in (("urdf", egg.save_urdf), ("sdf", egg.save_sdf), ("xml", egg.save_mjcf)):
        path = tmp_path / f"egg.{name}"
        save(path)
        (shape,) = mbdyn_ros.load(path).model.link("egg").collisions
        assert shape.geometry == Ellipsoid(tuple(AXES))
    flat = (tmp_path / "egg.urdf").read_text().replace("0.3 0.2 0.1", "0.3 0 0.1")
    with pytest.raises(mbdyn_ros.InputError, match="its radii is 0; give metres above 0"):
        Environment([FLOOR]).contact_points(mbdyn_ros.load(flat))
