"""Does an identified robot, simulated with the recorded efforts, follow the recording?

    python -m benchmarks.identified_follows arm.urdf train.npz [train.npz ...] --test test.npz

The recorded efforts, less the offsets found, drive the robot as it was identified; all of them the
one that was described. A feedback keeps both near the recorded motion; what it has to correct is
the error of their efforts. Root mean square errors of every joint, rad or m.

Without `--stiffness` the feedback is slow, 10 rad/s of every joint's own inertia: light links, such
as those of a wrist, hang on springs of a few N m/rad then. With it, it is the joints' stiffness
(N m/rad or N/m) and a damping of 0.7, as impedance control has them.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicSpline

import mbdyn_ros
from mbdyn_ros.array import Array
from mbdyn_ros.errors import ModelWarning
from mbdyn_ros.identification import Identification, identify_machine
from mbdyn_ros.recording import Recording, read_recording
from mbdyn_ros.recording.conditioning import conditioned
from mbdyn_ros.recording.table import linear

BANDWIDTH, DAMPING = 10.0, 0.7
"""Of the feedback, rad/s: an error in acceleration of 1 leaves one of 1 / 100 in position; and the
damping ratio of stiff joints."""

TOLERANCE = 1e-4


def errors(
    robot: mbdyn_ros.Robot, recording: Recording, delay: float, seconds: float,
    stiffness: float = 0.0,
) -> Array:  # fmt: skip
    """Root mean square errors (nq,) along the first seconds of a recording.

    The efforts, recorded a delay (s) late, are joined by M a for an acceleration a of
    w^2 (q_d - q) + 2 w (v_d - v); or by k (q_d - q) + d (v_d - v) of stiff joints, k per joint and
    d = 2 D sqrt(k m) with m on the diagonal of M.
    """
    motion = conditioned(robot, recording)
    motion = motion.rows(slice(0, np.flatnonzero(motion.part == motion.part[0])[-1] + 1))
    time = motion.time - motion.time[0]
    wanted, speed = CubicSpline(time, motion.q), CubicSpline(time, motion.v)
    given = linear(recording.time - delay - motion.time[0], recording.effort)
    still = np.zeros(robot.nv)

    def effort(t: float, q: Array, v: Array) -> Array:
        feedback: Array
        if stiffness:
            damping = 2 * DAMPING * np.sqrt(stiffness * np.diag(robot.mass_matrix(q)))
            feedback = stiffness * (wanted(t) - q) + damping * (speed(t) - v)
        else:
            a = BANDWIDTH**2 * (wanted(t) - q) + 2 * BANDWIDTH * (speed(t) - v)
            feedback = robot.inverse_dynamics(q, v, a) - robot.inverse_dynamics(q, v, still)
        return given(t) + feedback

    end = min(seconds, float(time[-1]))
    times = np.linspace(0, end, 1 + round(50 * end))
    run = mbdyn_ros.simulate(
        robot, motion.q[0], motion.v[0], end, effort, rtol=TOLERANCE, atol=TOLERANCE, times=times,
        method="RK45", joint_limits=False,
    )  # fmt: skip
    result: Array = np.sqrt(np.mean((run.q - wanted(times)) ** 2, axis=0))
    return result


def without_offsets(found: Identification, recording: Recording) -> Recording:
    """A recording whose efforts lack the offsets found, which files of robots cannot hold."""
    offsets = [found.drives[one]["offset"][0] for one in found.robot.effort_labels]
    return replace(recording, effort=recording.effort - offsets)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robot")
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--test", required=True)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--stiffness", type=float, default=0.0, help="N m/rad or N/m")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ModelWarning)
    robot = mbdyn_ros.load(options.robot)
    *train, test = (read_recording(robot, one) for one in (*options.recordings, options.test))
    found = identify_machine(robot, train, [test])
    print(f"relative error of efforts {found.verdict.relative:.2%} of rows in motion, "
          f"{found.verdict.at_all_rows:.2%} of all")  # fmt: skip
    given = found.delay, options.seconds, options.stiffness
    identified = errors(found.robot, without_offsets(found, test), *given)
    described = errors(robot, test, *given)
    for label, one, other in zip(robot.position_labels, identified, described, strict=True):
        print(f"{label}: {one:.5f} identified, {other:.5f} described")


if __name__ == "__main__":
    main()
