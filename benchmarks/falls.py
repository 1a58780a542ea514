"""Passive robots that fall, fold up, slide and come to rest: how `simulate` comes through.

    python -m benchmarks.falls [words ...]

24 falls of two quadrupeds for a second (with and without springs at the joints, three frictions,
level and tilted floor), and drops of five robots for five seconds (e = 0 and 0.4); only those whose
names have all the words. Of each: time of the processor per simulated second (less of two runs),
depth of the deepest point, how far energy ever rose above an earlier one and what of it no work
explains, as shares of the energy that moves, the fastest joint at the end, the simulated time
spent in equal steps, impacts and steps.
"""

from __future__ import annotations

import itertools
import sys
import time
import warnings
from dataclasses import dataclass

import numpy as np

import mbdyn_ros
from mbdyn_ros import Environment, Robot, SimulationError, Surface, Trajectory
from mbdyn_ros.model.model import Array
from mbdyn_ros.simulation.contact.contacts import Contacts

from .race.robots import robot_file

SAMPLES = 200
"""Instants a simulated second at which depth and energy are looked at."""

ROUNDS = 2
"""How often each is run; the quicker one counts."""

TILT = 0.2
"""Slope of the tilted floor, rad."""

UNTIL_REST = 8.0
"""s. The arms of a limp G1 roll for up to 6.7 s, which tells roundings of its fall apart."""

FILES = {
    "solo12": ("solo12.urdf", 3.0),
    "a1": ("a1.urdf", 20.0),
    "anymal": ("anymal.urdf", 0.0),
    "go1": ("go1.urdf", 0.0),
    "hyq": ("hyq_no_sensors.urdf", 0.0),
    "talos": ("talos_reduced.urdf", 0.0),
    "g1": ("g1_29dof_rev_1_0.urdf", 0.0),
}
"""Robots of example-robot-data, and how stiff the springs at their joints are (N m/rad)."""


@dataclass(frozen=True)
class Fall:
    """A robot that falls on a floor.

    springs : whether its joints have springs. e, friction, tilt : of the floor.
    height : of the lowest point above it at the start, m. duration : s.
    """

    robot: str
    springs: bool
    friction: float
    tilt: float
    e: float
    height: float
    duration: float

    @property
    def name(self) -> str:
        """Words for it."""
        springs = "springs" if self.springs else "limp"
        floor = "tilted" if self.tilt else "level"
        return f"{self.robot} {springs} mu={self.friction:g} {floor} e={self.e:g}"


def cases() -> list[Fall]:
    """All falls and drops."""
    grid = itertools.product(("solo12", "a1"), (False, True), (0.0, 0.5, 0.8), (0.0, TILT))
    falls = [Fall(*one, e=0.3, height=0.2, duration=1.0) for one in grid]
    return falls + [
        Fall(robot, False, 0.8, 0.0, e, 0.5, UNTIL_REST)
        for robot in ("anymal", "go1", "hyq", "talos", "g1")
        for e in (0.0, 0.4)
    ]


def bent(robot: Robot) -> Array:
    """A pose with every joint in the middle of its range, within a radian, and a leaning base."""
    q = np.zeros(robot.nq)
    q[3:7] = 0.1, 0.15, 0.05, 0.0
    q[6] = np.sqrt(1 - q[3:6] @ q[3:6])
    for k, label in enumerate(robot.position_labels[7:], 7):
        limits = robot.model.joint(label).limits
        low, high = np.clip([limits.lower, limits.upper], -1.0, 1.0)
        low, high = max(low, limits.lower), min(high, limits.upper)
        q[k] = 0.5 * (low + high) + 0.1 * np.sin(3.0 * k)
        q[k] = np.clip(q[k], limits.lower, limits.upper)
    return q


class Spring:
    """Springs between the joints of a robot, relaxed at q0."""

    def __init__(self, stiffness: float, q0: Array, nv: int) -> None:
        self._stiffness, self._rest, self._effort = stiffness, q0[7:].copy(), np.zeros(nv)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        self._effort[6:] = self._stiffness * (self._rest - q[7:])
        return self._effort

    def energy(self, q: Array) -> Array:
        """J at q (N, nq)."""
        far = q[:, 7:] - self._rest
        return 0.5 * self._stiffness * (far**2).sum(axis=1)


@dataclass(frozen=True)
class Outcome:
    """A fall that was simulated.

    took : s of the processor per simulated second. deepest : the lowest distance, m. rise : how far
    energy, that of springs too, rose above an earlier one; balance : what no work explains; both as
    shares of the energy that moved.
    """

    motion: Trajectory
    took: float
    deepest: float
    rise: float
    balance: float

    def __str__(self) -> str:
        motion = self.motion
        equal = sum(one.end - one.start for one in motion.stretches)
        return (
            f"{self.took:6.2f} {self.deepest:9.1e} {self.rise:9.1e} {self.balance:9.1e} "
            f"{np.abs(motion.v[-1]).max():9.1e} {equal:7.3f} ({len(motion.stretches)}) "
            f"{len(motion.impacts):7d} {motion.steps:6d}"
        )


def simulated(fall: Fall, robots: dict[str, Robot]) -> Outcome:
    """Simulate a fall; robots that are loaded are kept by name.

    Raises
    ------
    SimulationError
        It does not come through.
    """
    file, stiffness = FILES[fall.robot]
    if fall.robot not in robots:
        robots[fall.robot] = mbdyn_ros.load(robot_file(file), floating_base=True)
    robot = robots[fall.robot]
    normal = np.array([np.sin(fall.tilt), 0.0, np.cos(fall.tilt)])
    floor = Surface.plane(normal=normal, restitution=fall.e, friction=fall.friction, name="floor")
    walls = Environment([floor])
    q, v, contacts = bent(robot), np.zeros(robot.nv), Contacts(robot, walls)
    q[:3] += (fall.height - contacts.distances(q, v)[0].min()) * normal
    spring = Spring(stiffness, q, robot.nv) if fall.springs else None
    times = np.linspace(0.0, fall.duration, round(SAMPLES * fall.duration) + 1)
    start = time.process_time()
    motion = mbdyn_ros.simulate(
        robot, q, v, fall.duration, spring, environment=walls, times=times
    )
    took = (time.process_time() - start) / fall.duration
    energy = motion.energy.sum(axis=1) + (spring.energy(motion.q) if spring else 0.0)
    moved = np.ptp(energy) + motion.energy[:, 0].max()
    states = zip(motion.q, motion.v, strict=True)
    return Outcome(
        motion,
        took,
        min(0.0, *(contacts.distances(*state)[0].min() for state in states)),
        (energy - np.minimum.accumulate(energy)).max() / moved,
        np.abs(motion.imbalance).max() / moved,
    )


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
    warnings.simplefilter("ignore", mbdyn_ros.SimulationWarning)
    robots: dict[str, Robot] = {}
    columns = f"{'depth':>9} {'rise':>9} {'balance':>9} {'speed':>9} {'equal steps':>11} impacts"
    print(f"{'':34} {'CPU':>6} {columns}  steps")
    for fall in cases():
        if not all(word in fall.name.split() for word in sys.argv[1:]):
            continue
        try:
            rounds = [simulated(fall, robots) for _ in range(ROUNDS)]
        except SimulationError as error:
            print(f"{fall.name:34} stops: {error}", flush=True)
        else:
            print(f"{fall.name:34} {min(rounds, key=lambda one: one.took)}", flush=True)


if __name__ == "__main__":
    main()
