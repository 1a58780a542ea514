"""500 drops of robots of other people, limp, in equal steps: on a plane, a slope, stairs, waves and
ground of heights."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest
from corpus import urdf_file, urdf_files

import mbdyn_ros
from mbdyn_ros import Environment, Robot, Surface, World
from mbdyn_ros.model.shapes import Box
from mbdyn_ros.simulation.contact.height_field import height_field

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not urdf_files(), reason="example-robot-data is not installed"),
    pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning"),
    pytest.mark.filterwarnings("ignore:.*hulls of meshes:mbdyn_ros.SimulationWarning"),
]

ROBOTS = (
    "solo12", "a1", "go1", "go2", "hyq_no_sensors", "b1", "g1_29dof_rev_1_0", "talos_reduced",
    "panda", "ur5_robot",
)  # fmt: skip
STARTS = 10
STEP, DURATION = 2.5e-4, 1.5
"""s. Limp legs of small robots whip at 300 rad/s, of which RK4 in steps of 1 ms gains 1e-4 in free
flight."""
HEIGHT = 2.0
"""m, of the bases at the start."""
MOST_RISE, DEEPEST = 1e-6, 1e-6
"""Share of the energy that moves, and m."""

Scene = tuple[Robot, Environment]


def scene(world: World, robot: Robot) -> Scene:
    """A world with a robot, whose shapes touch as wholes, meshes as their hulls."""
    world.add("robot", robot)
    walls = world.environment
    return world.robot, Environment(walls.surfaces, joint_limits=False, links=walls.links)


def on_surface(surface: Surface) -> Callable[[Robot], Scene]:
    """A robot above a surface."""
    return lambda robot: scene(World([surface]), robot)


def on_stairs(robot: Robot) -> Scene:
    """A robot above nine steps of a staircase, above a floor."""
    world = World([Surface.plane((0, 0, -1.0), friction=0.6, name="floor")])
    for k in range(9):
        world.add(f"step{k}", Box((0.3, 4.0, 0.4)), xyz=(0.3 * (k - 4), 0, 0.1 * (k - 4)))
    return scene(world, robot)


def hills() -> Surface:
    """Ground through random heights."""
    heights = 0.08 * np.random.default_rng(5).normal(size=(16, 16))
    return height_field(heights, 0.5, (-3.75, -3.75, 0), friction=0.6)


SLOPE = Surface.plane(normal=(0.3, 0.1, 1.0), friction=0.6, name="slope")
WAVES = Surface(
    lambda x: x[2] - 0.06 * ca.sin(3 * x[0]) * ca.cos(2 * x[1]), friction=0.6, name="waves"
)
GROUNDS: dict[str, Callable[[Robot], Scene]] = {
    "plane": on_surface(Surface.plane(friction=0.6, name="floor")),
    "slope": on_surface(SLOPE),
    "stairs": on_stairs,
    "waves": on_surface(WAVES),
    "heights": on_surface(hills()),
}


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", ROBOTS)
def test_none_fails_or_gains_energy(name: str, ground: str) -> None:
    """From ten attitudes, turning and travelling; none goes into the ground or passes it unseen."""
    random = np.random.default_rng([ROBOTS.index(name), list(GROUNDS).index(ground)])
    robot, walls = GROUNDS[ground](mbdyn_ros.load(urdf_file(f"{name}.urdf"), floating_base=True))
    stepper = mbdyn_ros.Stepper(robot, STEP, walls)
    for _ in range(STARTS):
        q, v, turn = robot.home_position, np.zeros(robot.nv), random.normal(size=4)
        q[:3], q[3:7] = (*random.uniform(-0.5, 0.5, 2), HEIGHT), turn / np.linalg.norm(turn)
        v[:6] = random.normal(size=6)
        stepper.set_state(q, v)
        energies = [stepper.energy.sum()]
        for _ in range(round(DURATION / STEP / 20)):
            stepper.advance(20)
            energies.append(stepper.energy.sum())
        rise = np.max(energies - np.minimum.accumulate(energies))
        assert rise <= MOST_RISE * np.ptp(energies)
    assert stepper.deepest < DEEPEST and not stepper.unseen
