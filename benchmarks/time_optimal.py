"""Time-optimal motions against other programs: toppra, a second-order cone program, MoveIt's rule.

    python -m benchmarks.time_optimal [--paths 20]

Needs `pip install toppra cvxpy clarabel`, which nothing else here does.

- UR5 and Panda on random splines of five points, with velocities, accelerations of 20 rad/s^2 and
  efforts as limits: the duration against toppra's (interpolating scheme, solver "seidel", efforts
  by Pinocchio) on ten times its grid, and the time of the processor of both on the same grid,
  in turns, in one thread with `MBDYN_ROS_THREADS=1`.
- Crane, excavator, delta and Stewart platform: the duration against that of the convex program
  of Verscheure et al. (IEEE Trans. Automatic Control 54 (2009) 2318), on 1000 intervals with
  midpoints, solved by clarabel. Its efforts come of Pinocchio and the null space of the loops.
- No limit is passed: efforts by those judges at ten times the grid.
- MoveIt's rule of lowering accelerations (UR5 with a payload), and constant speed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

import mbdyn_ros
from mbdyn_ros.array import Array
from mbdyn_ros.errors import MbdynError
from mbdyn_ros.model.read.installed import find_robot
from mbdyn_ros.motion.joint_path import path_through
from mbdyn_ros.motion.path_limits import MotionLimits, PathLimits
from mbdyn_ros.motion.path_speed import fastest
from mbdyn_ros.motion.timed_path import TimedPath, constant_speed, lowered_limits, time_optimal
from mbdyn_ros.robot import Robot

sys.path.append(str(Path(__file__).resolve().parents[1] / "test" / "support"))
from loop_judge import LoopJudge  # noqa: E402

INTERVALS, ACCELERATION = 200, 20.0
LOOPS = ("crane", "excavator", "delta", "stewart")


def random_path(robot: Robot, rng: np.random.Generator, limits: MotionLimits) -> Array:
    """Five points within the limits, at which the robot can be held, on a spline of such points."""
    low, high = np.clip(robot.position_limits, -2.0, 2.0)
    while True:
        points = robot.home_position + 0.6 * (
            rng.uniform(low, high, (5, robot.nq)) - robot.home_position
        )
        try:
            time_optimal(robot, points, limits, intervals=INTERVALS, excess=np.inf)
        except MbdynError:
            continue
        return points


def of_toppra(robot: Robot, points: Array) -> Callable[[Array], float]:
    """The duration that toppra finds on a grid."""
    import toppra
    from toppra import algorithm, constraint

    toppra.setup_logging("ERROR")
    model = pin.buildModelFromUrdf(str(find_robot(robot.model.name.split("_")[0])))
    data = model.createData()
    path = toppra.SplineInterpolator(path_through(points).waypoints, points)
    both = np.array([[-1.0], [1.0]])
    scheme = constraint.DiscretizationType.Interpolation

    def duration(grid: Array) -> float:
        limits = [
            constraint.JointVelocityConstraint((both * robot.velocity_limits).T),
            constraint.JointAccelerationConstraint(
                (both * np.full(robot.nv, ACCELERATION)).T, discretization_scheme=scheme
            ),
            constraint.JointTorqueConstraint(
                lambda q, v, a: pin.rnea(model, data, q, v, a), (both * robot.effort_limits).T,
                np.zeros(robot.nv), discretization_scheme=scheme,
            ),
        ]  # fmt: skip
        _, speed, _ = algorithm.TOPPRA(
            limits, path, gridpoints=grid, solver_wrapper="seidel",
            parametrizer="ParametrizeConstAccel",
        ).compute_parameterization(0, 0)  # fmt: skip
        return float(2 * np.sum(np.diff(grid) / (speed[1:] + speed[:-1])))

    return duration


def arms(name: str, count: int) -> None:
    """An arm against toppra and constant speed."""
    robot, rng = mbdyn_ros.example(name), np.random.default_rng(0)
    limits = MotionLimits(acceleration=ACCELERATION)
    bounds = PathLimits(robot, limits)
    gaps, constant, passed = [], [], []
    ratios: list[list[float]] = [[], []]
    for _ in range(count):
        points = random_path(robot, rng, limits)
        timed = time_optimal(robot, points, limits)
        path, theirs = path_through(points), of_toppra(robot, points)
        gaps.append(timed.duration / theirs(path.grid(10 * INTERVALS)) - 1)
        for ratio, grid in zip(ratios, map(path.grid, (INTERVALS, 5 * INTERVALS)), strict=True):
            best = [np.inf, np.inf]
            for _ in range(15):
                begin = time.process_time()
                fastest(bounds, path, grid, 0.0, 0.0, np.inf)
                middle = time.process_time()
                theirs(grid)
                end = time.process_time()
                best = [min(best[0], middle - begin), min(best[1], end - middle)]
            ratio.append(best[1] / best[0])
        own = time_optimal(robot, points)
        constant.append(timed.duration / constant_speed(timed))
        passed.append(excess(robot, own, tree_efforts(robot, name)))
    print(
        f"{name}, {count} paths: duration {100 * np.min(gaps):+.3f} to {100 * np.max(gaps):+.3f} % "
        f"of toppra's on ten times its grid; {np.median(ratios[0]):.0f} times as fast at 200 "
        f"intervals ({np.min(ratios[0]):.0f} to {np.max(ratios[0]):.0f}), "
        f"{np.median(ratios[1]):.0f} at 1000 ({np.min(ratios[1]):.0f} to "
        f"{np.max(ratios[1]):.0f}); "
        f"of the duration at constant speed {100 * np.median(constant):.0f} %; limits passed by "
        f"{100 * np.max(passed):.3f} %"
    )


def lowered(count: int) -> None:
    """The UR5 with 5 kg at its tool on short paths, most of whose time an effort limits."""
    robot, rng = mbdyn_ros.example("ur5", variable=["tool0"]), np.random.default_rng(2)
    robot.set_payload("tool0", 5.0, (0.0, 0.0, 0.1))
    shorter: list[float] = []
    while len(shorter) < count:
        points = random_path(robot, rng, MotionLimits())
        timed = time_optimal(robot, points[0] + 0.4 * (points - points[0]))
        spans = [one.end - one.start for one in timed.limiting() if "effort" in one.limit]
        if sum(spans) > timed.duration / 2:
            shorter.append(100 * (1 - timed.duration / lowered_limits(timed)))
    print(
        f"ur5 with 5 kg, {count} paths limited by efforts for most of their time: shorter than by "
        f"lowering by {np.median(shorter):.0f} % ({np.min(shorter):.0f} to {np.max(shorter):.0f})"
    )


Efforts = Callable[[Array, Array, Array], Array]


def tree_efforts(robot: Robot, name: str) -> Efforts:
    """Efforts (m,) by Pinocchio's Newton-Euler recursion."""
    model = pin.buildModelFromUrdf(str(find_robot(name)))
    data = model.createData()
    return lambda q, v, a: pin.rnea(model, data, q, v, a)


def plain_tree(text: str) -> str:
    """A description whose floating joints are chains of six joints, named as the library does."""
    robot = ElementTree.fromstring(text)
    for joint in robot.findall("joint[@type='floating']"):
        name, child = joint.attrib["name"], joint.find("child").attrib["link"]  # type: ignore[union-attr]
        joint.attrib["type"] = "fixed"
        previous = joint.find("child").attrib["link"] = f"{name}/0"  # type: ignore[union-attr]
        ElementTree.SubElement(robot, "link", name=previous)
        parts = ("x", "y", "z", "yaw", "pitch", "roll")
        for k, (part, axis) in enumerate(zip(parts, "xyzzyx", strict=True), start=1):
            one = ElementTree.SubElement(
                robot, "joint", name=f"{name}/{part}", type="prismatic" if k < 4 else "continuous"
            )
            following = child if part == "roll" else f"{name}/{k}"
            if part != "roll":
                ElementTree.SubElement(robot, "link", name=following)
            ElementTree.SubElement(one, "parent", link=previous)
            ElementTree.SubElement(one, "child", link=following)
            ElementTree.SubElement(one, "axis", xyz=" ".join(str(int(x == axis)) for x in "xyz"))
            ElementTree.SubElement(one, "limit", effort="1", velocity="1", lower="-9", upper="9")
            previous = following
    return ElementTree.tostring(robot, encoding="unicode")


def loop_efforts(robot: Robot, name: str) -> Efforts:
    """Efforts (m,) of actuators by Pinocchio's tree and the null space of its loop constraints."""
    text = plain_tree(find_robot(name).read_text())
    judge = LoopJudge(text, robot.model, robot.joint_names)
    names = list(robot.joint_names)
    own = [names.index(one) for one in robot.independent_joints]
    driven = [names.index(one) for one in robot.actuated_joints]

    def efforts(q: Array, v: Array, a: Array) -> Array:
        x, rate, _ = robot.joint_state(q, v, a)
        state = judge.at(x, rate)
        embedding, drift = state.embedding(own)
        work = embedding.T @ state.efforts(embedding @ a + drift)
        return np.linalg.solve(embedding[driven].T, work)

    return efforts


def excess(robot: Robot, timed: TimedPath, efforts: Efforts) -> float:
    """By which share limits of efforts and velocities are passed at ten times the grid."""
    worst = 0.0
    moments = np.linspace(0, timed.duration, 10 * sum(len(one.x) for one in timed.fastest))
    for q, v, a in zip(*timed.state(moments), strict=True):
        worst = max(worst, float((np.abs(efforts(q, v, a)) / robot.effort_limits).max()),
                    float((np.abs(v) / robot.velocity_limits).max()))  # fmt: skip
    return worst - 1


def cone_program(robot: Robot, points: Array, efforts: Efforts, count: int = 1000) -> float:
    """The least duration by the convex program of Verscheure et al."""
    import cvxpy as cp

    path = path_through(points)
    s = np.linspace(0.0, path.length, count + 1)
    step, middle = s[1], (s[1:] + s[:-1]) / 2
    zero = np.zeros(robot.nv)
    x, u, root = cp.Variable(count + 1), cp.Variable(count), cp.Variable(count + 1)
    mean = (x[1:] + x[:-1]) / 2
    kept = [x[0] == 0, x[-1] == 0, x >= 0, x[1:] - x[:-1] == 2 * step * u, cp.square(root) <= x]
    terms = []
    for q, way, curve in zip(*path.at(middle), strict=True):
        c = efforts(q, zero, zero)
        terms.append((efforts(q, zero, way) - c, efforts(q, way, curve) - c, c))
    a, b, c = (np.array(one) for one in zip(*terms, strict=True))
    for k, limit in enumerate(robot.effort_limits):
        kept.append(
            cp.abs(cp.multiply(a[:, k], u) + cp.multiply(b[:, k], mean) + c[:, k]) / limit <= 1
        )
    fastest_of = np.abs(path.at(s)[1]) / robot.velocity_limits
    kept.append(x <= 1 / fastest_of.max(axis=1) ** 2)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.inv_pos(root[1:] + root[:-1]))), kept)
    problem.solve(solver=cp.CLARABEL)
    speed = np.sqrt(np.maximum(x.value, 0.0))
    speed[[0, -1]] = 0.0  # not 1e-4, the root of the solver's tolerance
    return float(np.sum(2 * step / (speed[1:] + speed[:-1])))


def loops(name: str, count: int) -> None:
    """A robot with loops against the cone program."""
    robot, rng = mbdyn_ros.example(name), np.random.default_rng(1)
    low, high = np.where(np.isfinite(robot.position_limits), robot.position_limits, [[-1], [1]])
    efforts, gaps, passed, spent = loop_efforts(robot, name), [], [], []
    while len(gaps) < count:
        points = robot.home_position + 0.35 * (
            rng.uniform(low, high, (4, robot.nq)) - robot.home_position
        )
        try:
            timed = time_optimal(robot, points)
        except MbdynError:
            continue
        begin = time.perf_counter()
        time_optimal(robot, points)
        spent.append(time.perf_counter() - begin)
        gaps.append(timed.duration / cone_program(robot, points, efforts) - 1)
        passed.append(excess(robot, timed, efforts))
    print(
        f"{name}, {count} paths: duration {100 * np.min(gaps):+.3f} to {100 * np.max(gaps):+.3f} % "
        f"of the cone program's, {1e3 * np.min(spent):.0f} ms; limits passed by "
        f"{100 * np.max(passed):.3f} %"
    )


def main() -> None:
    """Print all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paths", type=int, default=20)
    count = parser.parse_args().paths
    for name in ("ur5", "panda"):
        arms(name, count)
    lowered(count)
    for name in LOOPS:
        loops(name, max(1, count // 5))


if __name__ == "__main__":
    main()
