"""Choices of coordinates: how good independent joints are, and from one choice to another.

The robot stays where it is and moves as it does. Other coordinates may take seconds to build, in
a thread of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

import numpy as np

from ..array import Array
from ..assembly.chart import Chart, charts
from ..equations import programs
from ..equations.programs import motion_rate
from ..errors import MbdynError, SimulationError
from ..robot import Robot


class VelocityMap:
    """G of one robot, by its program of joint velocities."""

    def __init__(self, robot: Robot) -> None:
        self._velocity = robot.bind("joint_velocity")

    def velocity(self, q: Array, v: Array) -> Array:
        """Velocities of the whole tree; the next call overwrites them."""
        self._velocity.q[:], self._velocity.v[:] = q, v
        self._velocity()
        return self._velocity.result

    def at(self, q: Array) -> Array:
        """G (tree nv, nv): a column for every unit velocity."""
        units = np.eye(len(self._velocity.v))
        result = np.empty((len(self._velocity.result), len(units)))
        for k, unit in enumerate(units):
            result[:, k] = self.velocity(q, unit)
        return result


SAME_CONFIGURATION = 1e-6
"""Distance (rad or m) of joints that are at the same place, on the same branch.

Loops are closed to 1e-12, which near a dead centre, at a quality of 1e-4, may be 1e-8 in the
joints. Where coordinates change the branches are 1e-2 and more apart.
"""

SIMULATED = (
    programs.joint_position,
    programs.joint_velocity,
    programs.joint_acceleration,
    programs.energy,
    programs.forward_dynamics,
    motion_rate,
)
"""Programs that simulations run."""

POOR = 0.1
"""Share of the best choice's quality under which joints are given up as coordinates.

The new ones are ten times better, so that there is no way straight back.
"""

SINGULAR = 1e-4
"""Regularity that counts as a change point: so near, 16 digits no longer give the motion to
the tolerances. A four-bar comes there if its lengths miss those of a change point by 1e-8.
"""


def suits(robot: Robot, tree_position: Array) -> bool:
    """Whether the robot's independent joints are good coordinates at tree positions."""
    for chart in charts(robot.system):
        rows = chart.matrix(tree_position)
        if chart.quality(rows) < POOR * chart.quality_of(rows, chart.best(rows)):
            return False
    return True


def better_joints(
    linkages: Sequence[Chart], chosen: Sequence[str], tree_position: Array, share: float
) -> tuple[list[str], float]:
    """The independent joints, exchanged where they have less than a share of the best quality.

    Returns
    -------
    The joints, and the least share among those that were exchanged, else 1.

    Raises
    ------
    SimulationError
        A linkage is at a change point; the message names its joints.
    """
    joints, worst = list(chosen), 1.0
    for chart in linkages:
        rows = chart.matrix(tree_position)
        norm, least = chart.size_and_least(rows)
        if least >= share * norm:
            continue
        best = chart.best(rows)
        quality = chart.quality_of(rows, best)
        if not quality >= SINGULAR:
            raise SimulationError(chart.at_change_point())
        ratio = chart.quality(rows) / quality
        exchanged = chart.exchanged(best, joints)
        if ratio < share and exchanged is not None:
            joints, worst = exchanged, min(worst, ratio)
    return joints, worst


Built = TypeVar("Built")


class Preparation(Generic[Built]):
    """Builds one thing from now on; the thread ends with the process.

    joints : the independent joints that it is for.
    """

    def __init__(self, joints: list[str], build: Callable[[], Built]) -> None:
        self.joints = joints
        self._future: Future[Built] = Future()

        def run() -> None:
            try:
                self._future.set_result(build())
            except BaseException as error:  # whoever asks for the result meets it
                self._future.set_exception(error)

        threading.Thread(target=run, name="coordinates", daemon=True).start()

    @property
    def done(self) -> bool:
        """Whether `result` returns at once."""
        return self._future.done()

    def result(self) -> Built:
        """The thing built, once it is; raises the error that building it raised."""
        return self._future.result()


def same_place(one: Array, other: Array) -> bool:
    """Whether joints are at the same place; NaN is nowhere."""
    return bool(np.abs(one - other).max(initial=0.0) < SAME_CONFIGURATION)


def closes(robot: Robot, tree_position: Array) -> bool:
    """Whether a robot's loops close at tree positions, on its branch and with these turns."""
    q = tree_position[list(robot.system.coordinates.q)]
    try:
        found = robot.calls.call(programs.joint_position, (q,))
    except MbdynError:
        return False
    return same_place(found, tree_position)


def with_joints(robot: Robot, joints: list[str], tree_position: Array) -> Robot:
    """The robot with other independent joints, at home where it stands now."""
    coordinates = robot.system.coordinates
    places = zip(coordinates.joint_labels, coordinates.joint_rows[0], strict=True)
    names = set(robot.joint_names)
    home = {label: float(tree_position[row]) for label, row in places if label in names}
    other = robot.with_independent(joints, home)
    if robot.system.nz:  # which takes seconds, so it is done side by side
        other.calls.load(*((one,) for one in SIMULATED if robot.calls.has(one)))
    return other


def translated_velocity(robot: Robot, other: Robot, tree_position: Array, v: Array) -> Array:
    """Velocities (nv,) of `other` that move the joints as v (nv,) of `robot` does."""
    directions = VelocityMap(other).at(tree_position[list(other.system.coordinates.q)])
    own: Array = directions[list(robot.system.coordinates.v)]
    return np.asarray(np.linalg.solve(own, v), dtype=np.float64)
