"""Looped robots identified from simulated sensors: are deviations honest, is friction right?

    python -m benchmarks.identified_loops [--runs 100] [--seconds 30] [robot ...]

Every run draws a motion, and records it as real sensors do: positions with noise and steps of an
encoder, efforts that come up to 6 ms late with 1 % noise and steps of a converter, viscous and
Coulomb friction at every actuator, of which the description knows nothing. Of each robot: runs, the
share of all told base parameters inside three of their standard deviations, their root mean square
in these, the largest error of an actuator's Coulomb friction, and the parts of the model that were
chosen, with how often.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import mbdyn_ros
from mbdyn_ros.array import Array
from mbdyn_ros.equations.actuation import joint_rates
from mbdyn_ros.errors import InputError, ModelWarning
from mbdyn_ros.identification import identify_machine
from mbdyn_ros.recording import Recording

from .race.robots import robot_file

SECONDS, RATE, PERIOD, HARMONICS = 30.0, 100.0, 15.0, 5
POSITION_NOISE, ENCODER = 1e-5, 2e-5
EFFORT_NOISE, CONVERTER = 0.01, 1e-3
LATEST = 0.006
VISCOUS, COULOMB = 0.03, 0.05
"""Shares of the largest effort that friction has, at the largest speed and at any."""

DRAWS, SMALLER = 12, 0.8
"""Attempts at a motion that the loops can follow, each smaller than the one before."""


def cassie_leg() -> mbdyn_ros.Robot:
    """The left leg of Cassie on a pelvis that stands, its spring stiff, of example-robot-data."""
    srdf = robot_file("cassie_v2.srdf")
    robot = mbdyn_ros.load(
        robot_file("cassie_v2.sdf"), floating_base=False, srdf=srdf, home="standing"
    )
    still = [one for one in robot.independent_joints if "right" in one or "shin" in one]
    return robot.locked({name: robot.home[name] for name in still})


LOOPS: dict[str, tuple[Callable[[], mbdyn_ros.Robot], float]] = {
    name: (lambda name=name: mbdyn_ros.example(name), size)  # type: ignore[misc]
    for name, size in {
        "crane": 0.2, "excavator": 0.12, "boom": 0.2, "delta": 0.6, "stewart": 0.08,
        "four_bar": 0.8, "slider_crank": 0.8, "parallelogram_arm": 0.5, "gripper": 0.3,
    }.items()
} | {
    "cassie_leg": (cassie_leg, 0.15),
}  # fmt: skip
"""Robots, and how far their motions go from home (rad or m)."""


@dataclass
class Scores:
    """What runs of one robot tell.

    inside : base parameters' errors in standard deviations. friction : relative errors of Coulomb
    friction, (runs, actuators). chosen : parts of models. refused : runs without a model, and why.
    """

    inside: list[Array] = field(default_factory=list)
    friction: list[Array] = field(default_factory=list)
    chosen: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)


def drawn_motion(
    robot: mbdyn_ros.Robot, size: float, random: np.random.Generator, seconds: float = SECONDS
) -> tuple[Array, Array, Array, Array, Array]:
    """Times (N,), q, v, a and efforts (N, ...) without friction of a Fourier series about home."""
    time_ = np.arange(0, seconds, 1 / RATE)
    rates = 2 * np.pi * np.arange(1, HARMONICS + 1) / PERIOD
    order = np.arange(1, HARMONICS + 1)[:, None]
    sizes = random.normal(size=(HARMONICS, robot.nq)) / order / 2
    phases = random.uniform(0, 2 * np.pi, size=sizes.shape)
    angle = time_[:, None, None] * rates[:, None] + phases
    for k in range(DRAWS):
        whole = size * SMALLER**k * sizes
        q = robot.home_position + (whole * np.sin(angle)).sum(axis=1)
        v = (whole * rates[:, None] * np.cos(angle)).sum(axis=1)
        a = -(whole * rates[:, None] ** 2 * np.sin(angle)).sum(axis=1)
        effort = robot.inverse_dynamics(q, v, a, friction=False)
        if np.isfinite(effort).all():
            return time_, q, v, a, effort
    raise InputError(f"{robot.model.source}: no motion of {size:g} closes its loops")


def recorded(
    robot: mbdyn_ros.Robot, size: float, seed: int, seconds: float = SECONDS
) -> tuple[Recording, Array]:
    """What sensors say of a motion, and the Coulomb friction (efforts,) in it."""
    random = np.random.default_rng(seed)
    time_, q, v, _, effort = drawn_motion(robot, size, random, seconds)
    rows = list(robot.system.coordinates.effort)
    speed = np.einsum("nij,nj->ni", robot.calls.call(joint_rates, (q,)), v)[:, rows]
    largest = np.abs(effort).max(axis=0)
    dry = COULOMB * largest
    effort = effort + VISCOUS * largest * speed / np.abs(speed).max(axis=0) + dry * np.sign(speed)
    late = random.uniform(0, LATEST)
    effort = np.column_stack([np.interp(time_ - late, time_, one) for one in effort.T])
    effort += EFFORT_NOISE * largest * random.normal(size=effort.shape)
    step = CONVERTER * largest
    noisy = q + POSITION_NOISE * random.normal(size=q.shape)
    return Recording(time_, np.round(noisy / ENCODER) * ENCODER, v,
                     np.round(effort / step) * step), dry  # fmt: skip


def scores(
    robot: mbdyn_ros.Robot, size: float, seeds: range, seconds: float = SECONDS
) -> Scores:
    """Runs of a robot."""
    found = Scores()
    for seed in seeds:
        recording, dry = recorded(robot, size, seed, seconds)
        try:
            one = identify_machine(robot, [recording])
        except InputError as error:
            found.refused.append(str(error))
            continue
        error = (one.found - one.described) / one.deviation
        found.inside.append(error[np.isfinite(error)])
        found.friction.append(np.array([
            one.drives[name]["Coulomb"][0] / was - 1
            for name, was in zip(robot.effort_labels, dry, strict=True)
        ]))  # fmt: skip
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
        make, size = LOOPS[name]
        start, found = time.process_time(), scores(
            make(), size, range(options.runs), options.seconds
        )
        errors, friction = np.concatenate(found.inside), np.abs(np.array(found.friction))
        every.append(errors)
        runs += len(found.inside)
        print(f"{name}: {len(found.inside)} runs, {np.mean(np.abs(errors) < 3):.2%} of "
              f"{len(errors)} inside 3 deviations (rms {np.sqrt(np.mean(errors**2)):.2f}, largest "
              f"{np.abs(errors).max():.1f}); Coulomb friction within {friction.max():.1%} (median "
              f"{np.median(friction):.2%}, {np.mean(friction < 0.03):.1%} within 3 %); "
              f"{dict(found.chosen)}; {len(found.refused)} refused {found.refused[:1]}; "
              f"{time.process_time() - start:.0f} s", flush=True)  # fmt: skip
    whole = np.concatenate(every)
    print(f"all: {runs} runs, {np.mean(np.abs(whole) < 3):.3%} of {len(whole)} inside 3 deviations")


if __name__ == "__main__":
    main()
