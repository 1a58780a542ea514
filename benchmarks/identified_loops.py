"""Looped robots identified from simulated sensors: are deviations honest, is friction right?

    python -m benchmarks.identified_loops [--runs 100] [--seconds 20] [robot ...]

Of every robot motions are designed (as `mbdyn excite` does), one for ten runs. A run records one
three times over as real sensors do: positions with noise and steps of an encoder, efforts that come
up to 6 ms late with 1 % noise and steps of a converter, viscous and Coulomb friction at every
actuator, of which the description knows nothing. The next motion, with the same friction, is held
out for the verdict. Of each robot: runs, the share of all base parameters that are determined
inside three of their standard deviations, their root mean square in these, the largest error of an
actuator's Coulomb friction, the largest error of held-out efforts, and the parts of the model that
were chosen, with how often.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
from scipy.interpolate import CubicSpline

import mbdyn_ros
from mbdyn_ros.array import Array
from mbdyn_ros.equations.actuation import joint_rates
from mbdyn_ros.errors import InputError, ModelWarning
from mbdyn_ros.identification import identify_machine
from mbdyn_ros.identification.excitation import Excitation, excitation
from mbdyn_ros.recording import Recording

from .race.robots import robot_file

SECONDS, PERIODS, RATE = 20.0, 3, 100.0
RUNS_OF_A_MOTION = 10
POSITION_NOISE, ENCODER = 1e-5, 2e-5
EFFORT_NOISE, CONVERTER = 0.01, 1e-3
LATEST, FINER = 0.006, 20
VISCOUS, COULOMB = 0.03, 0.05
"""Shares of the largest effort that friction has, at the largest speed and at any."""


def cassie_leg() -> mbdyn_ros.Robot:
    """The left leg of Cassie on a pelvis that stands, its spring stiff, of example-robot-data."""
    srdf = robot_file("cassie_v2.srdf")
    robot = mbdyn_ros.load(
        robot_file("cassie_v2.sdf"), floating_base=False, srdf=srdf, home="standing"
    )
    still = [one for one in robot.independent_joints if "right" in one or "shin" in one]
    return robot.locked({name: robot.home[name] for name in still})


LOOPS: dict[str, Callable[[], mbdyn_ros.Robot]] = {
    name: partial(mbdyn_ros.example, name)
    for name in (
        "boom", "four_bar", "slider_crank", "gripper", "parallelogram_arm", "crane", "excavator",
        "delta", "stewart",
    )
} | {"cassie_leg": cassie_leg}  # fmt: skip


@dataclass
class Scores:
    """The results of runs of one robot.

    inside : base parameters' errors in standard deviations. friction : relative errors of Coulomb
    friction, (runs, actuators). left : relative errors of held-out efforts. chosen : parts of
    models. refused : runs without a model, and why.
    """

    inside: list[Array] = field(default_factory=list)
    friction: list[Array] = field(default_factory=list)
    left: list[float] = field(default_factory=list)
    chosen: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)


def actuator_speeds(robot: mbdyn_ros.Robot, q: Array, v: Array) -> Array:
    """Speeds (N, efforts) of the actuators, m/s or rad/s."""
    rates = robot.calls.call(joint_rates, (q,))[:, list(robot.system.coordinates.effort)]
    return np.einsum("nij,nj->ni", rates, v)


def friction(robot: mbdyn_ros.Robot, motion: Excitation) -> tuple[Array, Array]:
    """Viscous and Coulomb friction (efforts,) of actuators that make a motion."""
    largest = np.abs(motion.effort).max(axis=0)
    speeds = np.abs(actuator_speeds(robot, motion.q, motion.v)).max(axis=0)
    return VISCOUS * largest / speeds, COULOMB * largest


def recorded(
    robot: mbdyn_ros.Robot, motion: Excitation, rubbing: tuple[Array, Array], periods: int,
    seed: int,
) -> Recording:  # fmt: skip
    """What sensors say of a motion over and over, with the viscous and Coulomb friction given."""
    random = np.random.default_rng(seed)
    q, v, a = (np.tile(one[:-1], (periods, 1)) for one in (motion.q, motion.v, motion.a))
    time_ = np.arange(len(q)) / RATE
    effort = robot.inverse_dynamics(q, v, a, friction=False)
    largest, speed = np.abs(effort).max(axis=0), actuator_speeds(robot, q, v)
    effort = effort + rubbing[0] * speed
    within = (np.arange(FINER) + 0.5) / FINER - 0.5  # a sensor's sample is the mean of its interval
    sensed = (time_[:, None] + within / RATE).ravel() - random.uniform(0, LATEST)
    sensed = np.clip(sensed, time_[0], time_[-1])
    effort, sign = (
        rows.reshape(len(time_), FINER, -1).mean(axis=1)
        for rows in (CubicSpline(time_, effort)(sensed), np.sign(CubicSpline(time_, speed)(sensed)))
    )
    effort += rubbing[1] * sign
    effort += EFFORT_NOISE * largest * random.normal(size=effort.shape)
    step = CONVERTER * largest
    noisy = q + POSITION_NOISE * random.normal(size=q.shape)
    return Recording(time_, np.round(noisy / ENCODER) * ENCODER, v,
                     np.round(effort / step) * step)  # fmt: skip


def scores(robot: mbdyn_ros.Robot, seeds: range, seconds: float = SECONDS) -> Scores:
    """Runs of a robot."""
    found = Scores()
    motion = cache(partial(excitation, robot, seconds, RATE))
    for seed in seeds:
        number = seed // RUNS_OF_A_MOTION
        rubbing = friction(robot, motion(number))
        recording = recorded(robot, motion(number), rubbing, PERIODS, 2 * seed)
        unseen = recorded(robot, motion(number + 1), rubbing, 1, 2 * seed + 1)
        try:
            one = identify_machine(robot, [recording], [unseen])
        except InputError as refusal:
            found.refused.append(str(refusal))
            continue
        error = (one.found - one.described) / one.deviation
        found.inside.append(error[np.isfinite(error)])
        found.friction.append(np.array([
            one.drives[name]["Coulomb"][0] / was - 1
            for name, was in zip(robot.effort_labels, rubbing[1], strict=True)
        ]))  # fmt: skip
        found.left.append(one.verdict.relative)
        found.chosen.update(list(one.brings)[1:])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robots", nargs="*", default=list(LOOPS))
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ModelWarning)
    every, runs = [], 0
    for name in options.robots:
        start = time.process_time()
        found = scores(LOOPS[name](), range(options.runs), options.seconds)
        errors, friction = np.concatenate(found.inside), np.abs(np.array(found.friction))
        every.append(errors)
        runs += len(found.inside)
        print(f"{name}: {len(found.inside)} runs, {np.mean(np.abs(errors) < 3):.2%} of "
              f"{len(errors)} inside 3 deviations (rms {np.sqrt(np.mean(errors**2)):.2f}, largest "
              f"{np.abs(errors).max():.1f}); Coulomb friction within {friction.max():.1%} (median "
              f"{np.median(friction):.2%}, {np.mean(friction < 0.03):.1%} within 3 %); "
              f"held out at most {max(found.left):.2%} left; "
              f"{dict(found.chosen)}; {len(found.refused)} refused {found.refused[:1]}; "
              f"{time.process_time() - start:.0f} s", flush=True)  # fmt: skip
    whole = np.concatenate(every)
    print(f"all: {runs} runs, {np.mean(np.abs(whole) < 3):.3%} of {len(whole)} inside 3 deviations")


if __name__ == "__main__":
    main()
