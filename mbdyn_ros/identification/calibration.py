"""Geometry of a robot from measured poses and redundant joints.

After Mooring, Roth and Driels, Fundamentals of Manipulator Calibration (1991), and Hollerbach and
Wampler, The Calibration Index (1996). The unknowns are numbers of origins, which a running program
takes; see `prediction` for the residuals, and `least_squares` for what they determine.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..array import Array, ArrayLike
from ..equations.programs import joint_position
from ..equations.variable import LENGTH_OR_ANGLE, closable_numbers
from ..errors import InputError, ModelWarning, brief, listed, suggestion
from ..model import edit
from ..model.model import Link, Model
from ..model.pose import Pose
from ..prepare.tree import COMPONENTS
from ..robot import Robot, checked_robot
from ..robot.described import described_model
from ..robot.inverse_kinematics import checked_pose
from ..robot.variable import checked_layout, variable_names
from .least_squares import (
    Problem,
    Solution,
    minimized,
    root_mean_squares,
    solve,
)
from .measured_poses import MeasuredPoses, in_other_units, read_poses
from .prediction import MEASUREMENT, ORIENTATION, POSITION, Prediction, first_frames, target_joint

Data = str | os.PathLike[str] | Mapping[str, object]
"""A file, or a table {quantity: {column: numbers (N,)}}."""

POOR_LENGTH, POOR_ANGLE, POOR_READING = 0.1, 0.2, 0.5
"""Deviation of places (share of the longest length), orientations (rad) and joints (share of their
own scatter) from which measurements do not fit a robot."""

HARDLY_MOVED = 1e-3
"""Deviation (rad or m) that fits a joint which hardly moves."""

BETTER = 0.2
"""Share to which other units must bring residuals that show which units were meant."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Geometry found: `robot` has it, and `robot.save_urdf` writes it.

    names, units : of the unknowns, numbers of origins as `load(..., variable=[...])` names them;
        those of the measurement's frame and of targets too, where they were unknown.
    described, found, deviation : (n,) values, m or rad, and standard deviations of what was found;
        NaN for what was held.
    held : by name of an unknown that stayed as described, the others from which it cannot be
        distinguished; none where nothing that was measured depends on it.
    noise : standard deviation of one measured number, by kind ("position" of targets, m,
        "orientation", rad, or a joint).
    before, after : by kind the residual of each row (N,), a distance (m or rad), as described (with
        the best frames of measurement and targets) and as found.
    outliers : rows, from 1, that were left out.
    test_before, test_after : as `before` and `after`, of the rows held out.
    measurement : (4, 4) the measurement's frame in the world; None where joints alone are measured.
    targets : (4, 4) in links, by name.
    """

    robot: Robot
    names: tuple[str, ...]
    units: tuple[str, ...]
    described: Array
    found: Array
    deviation: Array
    held: dict[str, tuple[str, ...]]
    noise: dict[str, float]
    before: dict[str, Array]
    after: dict[str, Array]
    outliers: tuple[int, ...]
    test_before: dict[str, Array]
    test_after: dict[str, Array]
    measurement: Array | None
    targets: dict[str, Array]

    def __repr__(self) -> str:
        """A line about it."""
        rows = len(next(iter(self.after.values())))
        return (
            f"<Calibration of {self.robot.model.name!r}: {len(self.names) - len(self.held)} of "
            f"{len(self.names)} numbers found from {rows - len(self.outliers)} of {rows} rows>"
        )


@brief
def calibrate(
    robot: Robot,
    poses: Data,
    variable: Sequence[str] | None = None,
    measurement: ArrayLike | None = None,
    targets: Mapping[str, ArrayLike] | None = None,
    test: Data | None = None,
) -> Calibration:
    """Lengths, offsets and angles of a robot that explain measured poses and joints best.

    Parameters
    ----------
    poses : a CSV file or a table with columns position/JOINT, as the sensors read them, and what
        was measured at each row: pose/LINK/x, y, z and maybe qx, qy, qz, qw (or roll, pitch, yaw),
        or position/JOINT of joints that follow in loops.
    variable : the unknowns, as in `load(..., variable=[...])`; by default the origins of the
        movable joints on the way to what was measured, and of loops with joints there all that
        the loops can follow.
    measurement : pose (4, 4) of the measurement's frame in the world; unknown by default.
    targets : by name as in the columns, the measured point (3,) or its frame (4, 4) in the link's
        axes; unknown by default.
    test : rows that were held out, for residuals alone.

    Raises
    ------
    InputError
        What is missing or wrong in the file, by column and row; loops that cannot be closed at a
        row; no more numbers than unknowns; or numbers that do not fit this robot, with the units
        that would.

    Examples
    --------
    >>> import mbdyn_ros, numpy as np
    >>> from mbdyn_ros.identification import calibrate
    >>> boom, stroke = mbdyn_ros.example("boom"), np.linspace(-0.2, 0.2, 20)
    >>> built = mbdyn_ros.example("boom", variable=["rod_pin/successor/x"])
    >>> built.set_origin("rod_pin/successor", [0.425, 0.0, -0.1])
    >>> angle = built.joint_state(stroke[:, None])[0][:, built.joint_names.index("boom_joint")]
    >>> read = {"position": {"rod_joint": stroke, "boom_joint": angle}}
    >>> calibrate(boom, read, ["rod_pin/successor/x"]).found.round(6)
    array([0.425])
    """
    if checked_robot(robot).floating_base:
        raise InputError(
            f"{robot.model.source}: the base floats: load the robot without floating_base. Its "
            "placement is the frame of the measurement"
        )
    measured = read_poses(robot, poses)
    known = {} if targets is None else _known_targets(measured, targets)
    frame = None if measurement is None else _pose(checked_pose(measurement, False))
    work = _with_frames(robot, measured, _unknowns(robot, measured, variable))
    prediction, problem = _in_their_units(work, measured, frame, known)
    solution = solve(problem)
    _require_determined(prediction, problem, solution)
    ends = problem.start, solution.value
    before, after = map(prediction.distances, ends)
    test_before, test_after = dict[str, Array](), dict[str, Array]()
    if test is not None:
        held_out = Prediction(work, read_poses(robot, test), prediction.frames)
        if held_out.kinds != prediction.kinds:
            raise InputError(f"{held_out.measured.source}: measures other columns than the poses")
        test_before, test_after = map(held_out.distances, ends)
    work.set_parameter_values(solution.value)
    names, frames = work.parameter_labels(), prediction.found_frames()
    shown = np.flatnonzero(~problem.fixed)
    return Calibration(
        robot=_without_frames(robot, work, measured),
        names=tuple(names[k] for k in shown),
        units=tuple(LENGTH_OR_ANGLE[names[k].rpartition("/")[2]] for k in shown),
        described=problem.start[shown],
        found=solution.value[shown],
        deviation=solution.deviation[shown],
        held={names[k]: tuple(names[j] for j in others) for k, others in solution.held.items()},
        noise=solution.noise,
        before=before,
        after=after,
        outliers=tuple(k + 1 for k in solution.outliers),
        test_before=test_before,
        test_after=test_after,
        measurement=frames.pop(MEASUREMENT, None),
        targets=frames,
    )


def _pose(matrix: Array) -> Pose:
    return Pose(matrix[:3, :3], matrix[:3, 3])


def _known_targets(measured: MeasuredPoses, given: Mapping[str, ArrayLike]) -> dict[str, Pose]:
    names = [one.name for one in measured.targets]
    for name in given:
        if name not in names:
            raise InputError(
                f"{measured.source}: no target is called {name!r}{suggestion(name, names)}; the "
                f"targets are {', '.join(names) or '(none)'}"
            )
    return {name: _pose(checked_pose(pose, True)) for name, pose in given.items()}


def _unknowns(
    robot: Robot, measured: MeasuredPoses, variable: Sequence[str] | None
) -> tuple[str, ...]:
    """The numbers of origins to find, by name."""
    source, system = robot.model.source, robot.system
    if variable is not None:
        layout = checked_layout(system, source, variable)
        numbers = variable_names(layout)
        of_origins = [f"{name}/{one}" for name, chosen in layout.origins for one in chosen]
        if numbers != of_origins or not numbers:
            raise InputError(
                f"{source}: calibrate finds numbers of origins, JOINT/x or JOINT/origin; "
                f"{listed(one for one in numbers if one not in of_origins) or 'nothing'} is none"
            )
    else:
        loops = [system.linkages[k] for k in measured.loops if not system.linkages[k].linear]
        looped = {body for one in loops for body in one.cluster.bodies}
        free = {
            body.joint for k, body in enumerate(system.tree.bodies)
            if body.joint in measured.on_the_way and k not in looped
        }  # fmt: skip
        numbers = [f"{name}/{one}" for name in system.origins if name in free for one in COMPONENTS]
        numbers += [one for loop in loops for one in closable_numbers(system, loop)]
    parts = {one.name for one in robot.model.joints if one.part_of}
    split = [one for one in numbers if one.rpartition("/")[0] in parts]
    if variable is not None and split:
        raise InputError(
            f"{source}: {split[0]} is of a joint that a loop took apart, and stays as it is"
        )
    return tuple(one for one in numbers if one not in split)


def _with_frames(robot: Robot, measured: MeasuredPoses, names: Sequence[str]) -> Robot:
    """The robot with links for the frames of measurement and targets, and variable origins."""
    model, frames = described_model(robot), _frames(robot, measured)
    for frame, link in frames.items():
        one = Model(frame, frame, (Link(frame),), (), source=model.source)
        model = edit.attached(model, one, link, joint=frame)
    variable = [*names, *(f"{frame}/{one}" for frame in frames for one in COMPONENTS)]
    return _made(robot, model, variable)


def _frames(robot: Robot, measured: MeasuredPoses) -> dict[str, str]:
    """The links of the measurement's frame and of targets, and what they are fastened to."""
    if not measured.targets:
        return {}
    targets = {target_joint(one.name): one.link for one in measured.targets}
    return {MEASUREMENT: robot.model.root, **targets}


def _without_frames(robot: Robot, work: Robot, measured: MeasuredPoses) -> Robot:
    model = edit.without(described_model(work), *_frames(robot, measured))
    return _made(robot, model, variable_names(robot._parameters.layout))


def _made(robot: Robot, model: Model, variable: Sequence[str]) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return Robot(model, robot.home, False, robot.gravity.tolist(), variable)


def _in_their_units(
    work: Robot, measured: MeasuredPoses, frame: Pose | None, targets: Mapping[str, Pose]
) -> tuple[Prediction, Problem]:
    """The prediction of the measurements, and the problem from the best frames of measurement and
    targets.

    Raises
    ------
    InputError
        In other units they would fit far better; or loops cannot be closed at a row.
    """
    prediction, problem = _as_described(work, measured, frame, targets)
    noise = root_mean_squares(problem, problem.start)
    misfit, kind = _misfit(prediction, noise)
    if misfit > 1:
        others = []
        for words, other in in_other_units(work, measured):
            there, same = _as_described(work, other, frame, targets)
            less = root_mean_squares(same, same.start)
            others.append((_misfit(there, less)[0], less[kind], words))
        least = min(one for one, _, _ in others)
        if least < min(1.0, BETTER * misfit):
            _, left, words = next(one for one in others if BETTER * one[0] <= least)
            unit = prediction.unit(kind)
            off = f"{kind} is {noise[kind]:.3g} {unit} off the description"
            if np.isnan(noise[kind]):
                off = "loops cannot be closed as the rows are"
            raise InputError(
                f"{measured.source}: {words}: {off}, and if so, {kind} would be only {left:.2g} "
                f"{unit} off. Give m and rad"
            )
    open_rows = np.flatnonzero(~np.isfinite(prediction(problem.start)[0]).all(axis=1))
    if open_rows.size:
        try:
            work.calls.call(joint_position, (measured.q[open_rows[0]],))
        except InputError as error:
            raise InputError(f"{measured.source}: row {open_rows[0] + 1}: {error}") from None
    return prediction, problem


def _as_described(
    work: Robot, measured: MeasuredPoses, frame: Pose | None, targets: Mapping[str, Pose]
) -> tuple[Prediction, Problem]:
    """The prediction, and the problem that starts at the description with the frames that fit."""
    prediction = Prediction(work, measured, first_frames(work, measured, frame, targets))
    names = work.parameter_labels()
    owner, number = np.array([one.rsplit("/", 1) for one in names]).T
    start, lengths = work.parameter_values(), np.isin(number, COMPONENTS[:3])
    nuisance = np.isin(owner, list(_frames(work, measured)))
    start[nuisance], fixed = 0.0, (owner == MEASUREMENT) & (frame is not None)
    for one in measured.targets:
        own = owner == target_joint(one.name)
        start[own & lengths] = prediction.frames.targets[one.name].translation
        fixed |= own & ((one.name in targets) | ((one.rotation is None) & ~lengths))
    scale = np.where(lengths, prediction.size, 1.0)
    problem = Problem(prediction, start, scale, prediction.kinds, fixed, nuisance)
    noise = root_mean_squares(problem, start)
    if nuisance.any() and np.isfinite(list(noise.values())).all():
        rows, geometry = np.ones(len(measured.q), dtype=bool), np.flatnonzero(~nuisance).tolist()
        problem = replace(
            problem, start=minimized(problem, start, noise, geometry, rows, "soft_l1")
        )
    return prediction, problem


def _misfit(prediction: Prediction, noise: Mapping[str, float]) -> tuple[float, str]:
    """How far off the kind of residual is that fits worst (from 1 on it is poor), and which."""
    poor = {POSITION: POOR_LENGTH * prediction.size, ORIENTATION: POOR_ANGLE}
    for kind, numbers in prediction.measured.readings.items():
        poor[kind] = POOR_READING * float(numbers.std()) + HARDLY_MOVED
    shares = {k: np.inf if np.isnan(one) else one / poor[k] for k, one in noise.items()}
    worst = max(shares, key=lambda kind: shares[kind])
    return shares[worst], worst


def _require_determined(prediction: Prediction, problem: Problem, solution: Solution) -> None:
    """Raise `InputError` where the measurements determine too little, or do not fit."""
    source, rows = prediction.measured.source, len(solution.residual) - len(solution.outliers)
    found = int((~np.isnan(solution.deviation)).sum())
    numbers = rows * len(problem.kinds)
    if numbers <= found:
        raise InputError(
            f"{source}: {rows} rows give {numbers} numbers for {(~problem.fixed).sum()} unknowns: "
            "measure more rows, or name fewer unknowns"
        )
    misfit, kind = _misfit(prediction, solution.noise)
    if misfit > 1:
        raise InputError(
            f"{source}: {kind} does not fit this robot: {solution.noise[kind]:.3g} "
            f"{prediction.unit(kind)} are left. Check units, signs and zeros of joints, the link, "
            "and that rows belong together"
        )
    if np.isnan(solution.deviation[~problem.nuisance]).all():
        raise InputError(
            f"{source}: the measurements determine none of the unknowns: move more joints, "
            "further apart"
        )
