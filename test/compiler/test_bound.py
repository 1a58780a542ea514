"""Bound programs and robots: what assignments, copies and pickles do, and who outlives whom."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from random_loops import draw

import mbdyn_ros
from mbdyn_ros.errors import InputError
from mbdyn_ros.model.examples import PENDULUM

pytestmark = pytest.mark.usefixtures("interpreted")

SLIGHT = 0.01
"""Position, velocity and acceleration that every robot here can have."""


def pickled(robot: mbdyn_ros.Robot) -> mbdyn_ros.Robot:
    again: mbdyn_ros.Robot = pickle.loads(pickle.dumps(robot))
    return again


def test_an_assignment_copies() -> None:
    """It once hid the array behind another, and the call ran with the old numbers."""
    robot = mbdyn_ros.load(PENDULUM)
    bound = robot.bind("inverse_dynamics")
    given, array = np.array([0.3]), bound.q
    bound.q, bound.v, bound.a = given, [2], (np.float32(-1.0),)
    bound()
    assert bound.q is array and bound.arguments[0] is array and array is not given
    assert bound.effort == robot.inverse_dynamics([0.3], [2.0], [-1.0])
    bound.q += 0.1
    assert bound.q is array and array == 0.4 and given == 0.3


@pytest.mark.parametrize("wrong", [0.3, [[0.3]], [0.3, 0.4], [], ["0.3"], [None], [0.3j], None])
def test_an_assignment_that_does_not_fit_is_refused(wrong: object) -> None:
    bound = mbdyn_ros.load(PENDULUM).bind("inverse_dynamics")
    with pytest.raises(InputError, match="^q of the bound inverse_dyn.* (has shape|must be)"):
        bound.q = wrong
    assert bound.q == 0


def test_an_array_that_is_not_there_is_refused() -> None:
    bound = mbdyn_ros.load(PENDULUM).bind("inverse_dynamics")
    with pytest.raises(InputError, match=r"has no array 'Q'; it has q, v, a, effort, result"):
        bound.Q = [0.3]
    with pytest.raises(InputError, match="has no array 'arguments'"):
        bound.arguments = ()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_has_arrays_of_its_own(copied: Callable[..., object]) -> None:
    bound = mbdyn_ros.load(PENDULUM).bind("inverse_dynamics")
    bound.q = [0.3]
    other = copied(bound)
    assert type(other) is type(bound) and other.q == 0.3
    other.q = [0.5]
    other()
    assert bound.q == 0.3 and bound.effort == 0 and other.effort != 0


def test_a_bound_is_not_pickled() -> None:
    with pytest.raises(InputError, match="cannot be pickled: pickle the robot, and bind it again"):
        pickle.dumps(mbdyn_ros.load(PENDULUM).bind("inverse_dynamics"))


def test_a_used_robot_is_copied() -> None:
    """With loops that are walked to, programs, and expressions of its own."""
    robot = draw("Stephenson", 1).load()
    assert robot.numerical_joints
    motion = np.full((3, robot.nv), SLIGHT)
    efforts = robot.inverse_dynamics(*motion)
    robot.casadi("mass_matrix")
    robot.operation_counts()
    for copied in (copy.copy, copy.deepcopy, pickled):
        other = copied(robot)
        assert np.array_equal(other.inverse_dynamics(*motion), efforts)
        assert other.report() == robot.report()
        other.casadi("mass_matrix")


def test_a_bound_outlives_its_robot() -> None:
    """What the interpreter calls back to for the walk stays too."""
    robot = draw("Stephenson", 1).load()
    motion = np.full((3, robot.nv), SLIGHT)
    efforts = robot.inverse_dynamics(*motion)
    bound = robot.bind("inverse_dynamics")
    del robot
    gc.collect()
    bound.q, bound.v, bound.a = motion
    bound()
    assert np.array_equal(bound.effort, efforts)


@pytest.mark.parametrize("program", ["inverse_dynamics", "mass_matrix"])
def test_arrays_stay_where_c_reads_them(program: str) -> None:
    """NumPy would give their memory away, and C go on with it."""
    bound = mbdyn_ros.load(PENDULUM).bind(program)
    for array in (*bound.arguments, bound.result):
        for check in (True, False):
            with pytest.raises(ValueError, match="does not own its data"):
                array.resize(100000, refcheck=check)
