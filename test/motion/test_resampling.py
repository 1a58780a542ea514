"""Straight efforts between points stay within the tolerance, by dense sampling of the motion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

import mbdyn_ros
from mbdyn_ros.model.examples import CART, PENDULUM
from mbdyn_ros.motion import EffortTrajectory, resample_efforts

pytestmark = pytest.mark.usefixtures("interpreted")

RUBBING = CART.replace("</joint>", '<dynamics friction="5" damping="1"/></joint>')


@pytest.fixture(scope="module")
def crane() -> mbdyn_ros.Robot:
    return mbdyn_ros.load("urdf/manipulator.urdf")


def coarse(points: int = 5) -> tuple[np.ndarray, ...]:
    """The crane's motion from rest to rest at few points."""
    here, there = np.array([-0.15, 0.02, 0, -0.1]), np.array([0.25, 0.16, -0.1, 0.1])
    time = np.linspace(0, 2, points)
    s, way = time[:, None] / 2, there - here
    return (
        time,
        here + way * (10 * s**3 - 15 * s**4 + 6 * s**5),
        way * (30 * s**2 - 60 * s**3 + 30 * s**4) / 2,
        way * (60 * s - 180 * s**2 + 120 * s**3) / 4,
    )


def motion(made: tuple[np.ndarray | None, ...], at: np.ndarray) -> list[np.ndarray]:
    """Position, velocity and acceleration as joint_trajectory_controller interpolates.

    Its coefficients by the time since the point before (trajectory_interpolation of ros2_control's
    joint_trajectory_controller), written down anew.
    """
    time, q, v, a = made
    assert time is not None and q is not None and v is not None
    if a is None:
        spline = CubicHermiteSpline(time, q, v)
        return [spline(at, order) for order in range(3)]
    k = np.clip(np.searchsorted(time, at, side="right") - 1, 0, len(time) - 2)
    h, s = (time[k + 1] - time[k])[:, None], (at - time[k])[:, None]
    ends = np.stack([q[k], v[k] * h, a[k] * h * h, q[k + 1], v[k + 1] * h, a[k + 1] * h * h])
    basis = np.linalg.inv([
        [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0],
        [1] * 6, [0, 1, 2, 3, 4, 5], [0, 0, 2, 6, 12, 20],
    ])  # fmt: skip
    c = np.einsum("ij,jkn->ikn", basis, ends)
    x = s / h
    return [
        sum(c[i] * x**i for i in range(6)),
        sum(i * c[i] * x ** (i - 1) for i in range(1, 6)) / h,
        sum(i * (i - 1) * c[i] * x ** (i - 2) for i in range(2, 6)) / h**2,
    ]


def straight(made: EffortTrajectory, at: np.ndarray) -> np.ndarray:
    return np.stack([np.interp(at, made.time, one) for one in made.effort.T], axis=1)


def between(made: EffortTrajectory, count: int = 3000) -> np.ndarray:
    """Random times, except for the instants of jumps."""
    at = np.sort(np.random.default_rng(0).uniform(made.time[0], made.time[-1], count))
    k = np.searchsorted(made.time, at, side="right") - 1
    return at[np.diff(made.time)[k] > 2e-6]


@pytest.mark.sparse
@pytest.mark.parametrize("quintic", [True, False])
@pytest.mark.parametrize("tolerance", [1000.0, 30.0, 1.0])
def test_the_bound_holds(crane: mbdyn_ros.Robot, quintic: bool, tolerance: float) -> None:
    time, q, v, a = coarse()
    given = (time, q, v, a if quintic else None)
    made = resample_efforts(crane, *given, tolerance)
    at = between(made)
    states = motion(given, at)
    apart = np.abs(crane.inverse_dynamics(*states) - straight(made, at)).max()
    assert apart <= made.bound <= tolerance
    assert made.bound < 1.2 * apart, "the bound is not tight"
    assert made.added == len(made.time) - 5 > 0
    assert set(time) <= set(made.time)
    assert (made.acceleration is None) == (not quintic)
    again = motion((made.time, made.position, made.velocity, made.acceleration), at)
    for one, other, size in zip(states, again, (1e-9, 1e-8, 1e-6), strict=True):
        assert other == pytest.approx(one, abs=size), "the motion is another one"


def test_points_that_do(crane: mbdyn_ros.Robot) -> None:
    """Nothing is added where the points are near enough, and few where they are not."""
    given = coarse(200)
    made = resample_efforts(crane, *given, 50.0)
    assert made.added == 0
    assert made.effort == pytest.approx(crane.inverse_dynamics(*given[1:]), rel=1e-8, abs=1e-6)
    count = [resample_efforts(crane, *coarse(), size).added for size in (100.0, 1.0)]
    assert count[1] < 12 * count[0], "errors fall with the square of the intervals"


def test_dry_friction_jumps_where_a_joint_turns_back() -> None:
    robot = mbdyn_ros.load(RUBBING)
    given = ([0.0, 1.0, 2.0], [[0.0], [1.0], [0.2]], [[0.0], [0.3], [0.0]])
    made = resample_efforts(robot, *given, tolerance=0.1)
    arrays = tuple(np.array(one) for one in given)
    at = between(made)
    expected = robot.inverse_dynamics(*motion((*arrays, None), at))
    assert np.abs(expected - straight(made, at)).max() <= 0.1
    assert np.abs(np.diff(made.effort, axis=0)).max() > 9, "10 N at once"
    assert len(made.time) < 20


def test_pushes_count(crane: mbdyn_ros.Robot) -> None:
    wrenches = {"tool": [0.0, 0, -5000, 0, 0, 0]}
    made = resample_efforts(crane, *coarse(), tolerance=20.0, wrenches=wrenches)
    at = between(made, 2000)
    states = motion(coarse(), at)
    tiled = {"tool": np.tile(wrenches["tool"], (len(at), 1))}
    expected = crane.inverse_dynamics(*states, wrenches=tiled)
    assert np.abs(expected - straight(made, at)).max() <= made.bound <= 20


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tolerance": 0.0}, "tolerance must be a finite number above zero; it is 0.0"),
        ({"time": [0.0, 1.0, 1.0]}, "point 2 is at 1 s, not after the 1 s of the point before"),
        ({"time": [0.0, np.nan, 1.0]}, "point 1 is at nan s"),
        ({"time": [np.nan, 0.0, 1.0]}, "point 0 is at nan s"),
        ({"time": [0.0, 1.0]}, "there are 2 times, but"),
        ({"velocity": [[0.0], [np.nan], [0.0]]}, "point 1: velocity of .* is nan"),
        ({"tolerance": 1e-13, "most": 1000}, "take more than 1000 points"),
    ],
)
def test_bad_input(changes: dict[str, object], words: str) -> None:
    given: dict[str, object] = {
        "time": [0.0, 1.0, 2.0], "position": [[0.0], [1.0], [0.2]],
        "velocity": [[0.0], [1.0], [0.2]],
    }  # fmt: skip
    with pytest.raises(mbdyn_ros.InputError, match=words):
        resample_efforts(mbdyn_ros.load(PENDULUM), **{**given, **changes})  # type: ignore[arg-type]


def test_a_motion_that_opens_loops_between_its_points(crane: mbdyn_ros.Robot) -> None:
    q = np.zeros((2, 4))
    v = np.zeros((2, 4))
    v[:, 1] = 30.0
    with pytest.raises(mbdyn_ros.InputError, match="between points, at .* s: .*cannot be closed"):
        resample_efforts(crane, [0.0, 1.0], q, v, tolerance=10.0)
