"""A quadruped is dropped on a floor and bounces to rest: exactly, and in steps of a simulator.

    python examples/quadruped_drop.py [--robot a1] [--plot docs/quadruped_drop.png] [--json]

The robots are those of the package example-robot-data. Springs and dampers hold the joints where
the robot stands; all impacts and what rests follow from the floor's restitution and friction.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from importlib.metadata import files
from pathlib import Path
from typing import Any

import numpy as np

import mbdyn_ros
from mbdyn_ros import Environment, Surface, Trajectory
from mbdyn_ros.model.model import Array
from mbdyn_ros.simulation import StoppedSimulationError
from mbdyn_ros.simulation.stepped.prepared_stepper import PreparedStepper

HEIGHT, DURATION, STEP = 0.15, 2.0, 1e-3
RESTITUTION, FRICTION = 0.4, 0.8

CLOSE = np.sqrt(2 * HEIGHT / 9.81) + np.linspace(-0.5e-3, 4e-3, 901)
"""Instants (s) about the first impacts, for the plot."""


@dataclass(frozen=True)
class Quadruped:
    """A robot: its description, its stance (rad, hip to knee), and the springs of its joints.

    kp, kd : N m/rad and N m s/rad.
    """

    path: str
    foot: str
    front: tuple[float, float, float]
    hind: tuple[float, float, float]
    kp: float
    kd: float


ROBOTS = {
    "solo12": Quadruped("solo_description/robots/solo12.urdf", "FOOT",
                        (0, 0.8, -1.6), (0, -0.8, 1.6), 3.0, 0.06),
    "a1": Quadruped("a1_description/urdf/a1.urdf", "foot", (0, 0.8, -1.6), (0, 0.8, -1.6), 60, 2),
}  # fmt: skip


class Drop:
    """The robot, its floor, its start, and the efforts that hold its joints."""

    def __init__(self, name: str) -> None:
        self.quadruped = ROBOTS[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.robot = mbdyn_ros.load(description(self.quadruped.path), floating_base=True)
        links = [link.name for link in self.robot.model.links]
        self.feet = [link for link in links if link.endswith(self.quadruped.foot)]
        floor = Surface.plane(restitution=RESTITUTION, friction=FRICTION, name="floor")
        self.walls = Environment([floor], [(foot, (0.0, 0.0, 0.0)) for foot in self.feet])
        self.stand = np.array([*self.quadruped.front * 2, *self.quadruped.hind * 2])
        self.start = np.array([0, 0, 0, 0, 0, 0, 1, *self.stand])
        self.start[2] = HEIGHT - min(self.height(self.start))

    def height(self, q: Array) -> list[float]:
        """Heights of the feet, m."""
        return [float(self.robot.frame_pose(q, foot)[2, 3]) for foot in self.feet]

    def hold(self, t: float, q: Array, v: Array) -> Array:
        """Efforts (n,): none on the base, springs and dampers in the joints."""
        springs = self.quadruped.kp * (self.stand - q[7:]) - self.quadruped.kd * v[6:]
        return np.concatenate([np.zeros(6), springs])


def description(path: str) -> Path:
    """A file of example-robot-data."""
    for file in files("example-robot-data") or ():
        if str(file).endswith(f"robots/{path}"):
            return Path(str(file.locate())).resolve()
    raise SystemExit(f"example-robot-data has no {path}")


def exactly(drop: Drop) -> dict[str, Any]:
    """The drop by `simulate`."""
    began = time.perf_counter()
    stopped = ""
    try:
        trajectory = mbdyn_ros.simulate(
            drop.robot, drop.start, np.zeros(18), DURATION, drop.hold, 1e-8, 1e-10,
            environment=drop.walls, times=np.union1d(np.linspace(0, DURATION, 1001), CLOSE),
        )  # fmt: skip
    except StoppedSimulationError as error:
        trajectory, stopped = error.trajectory, str(error).split(". The state")[0]
    result = outcome(drop, trajectory.impacts, trajectory.q[-1], trajectory.v[-1])
    result["seconds"] = time.perf_counter() - began
    result["unexplained"] = float(np.abs(trajectory.imbalance).max())
    return {**result, "stopped": stopped, "trajectory": trajectory}


def in_steps(drop: Drop) -> dict[str, Any]:
    """The drop in steps, as the node `simulator` does it, at 1 kHz."""
    motion = PreparedStepper(drop.robot, STEP, environment=drop.walls)
    motion.set_state(drop.start, np.zeros(18))
    before, work = sum(motion.energy), 0.0
    times: list[float] = []
    standing: list[float] = []
    for _ in range(round(DURATION / STEP)):
        motion.effort[:] = drop.hold(motion.time, motion.q, motion.v)
        q = motion.q.copy()
        began = time.perf_counter()
        motion.advance()
        (times if motion.time < 0.9 * fall() else standing).append(time.perf_counter() - began)
        work += float(motion.effort[6:] @ (motion.q - q)[7:])
    result = outcome(drop, motion.take_impacts(), motion.q, motion.v)
    result["unexplained"] = abs(sum(motion.energy) + motion.lost - work - before)
    result["lost"] = motion.lost
    result["flight_us"] = 1e6 * float(np.median(times))
    result["standing_us"] = 1e6 * float(np.median(standing[len(standing) // 2 :]))
    result["slow_share"] = float(np.mean(np.array(times + standing) > STEP))
    return result


def fall() -> float:
    """Time of the first impact, s."""
    return float(np.sqrt(2 * HEIGHT / 9.81))


def outcome(drop: Drop, impacts: Any, q: Array, v: Array) -> dict[str, Any]:
    """The results that both runs have."""
    return {
        "impacts": [
            (one.time, one.points, float(one.impulses.sum()), one.loss) for one in impacts
        ],
        "base_height": float(q[2]),
        "feet": drop.height(q),
        "speed": float(np.linalg.norm(v)),
    }


def plot(drop: Drop, trajectory: Trajectory, path: str) -> None:
    """Heights, joints and energy over time."""
    from mbdyn_ros.view.figure import INK, color_of, empty_figure, legend_beside, save_figure, tidy

    figure = empty_figure(10, 9.5)
    bounces, heights, joints, energy = figure.subplots(4, 1)
    t = trajectory.time
    poses = {foot: drop.robot.frame_pose(trajectory.q, foot)[:, 2, 3] for foot in drop.feet}
    heights.plot(t, trajectory.q[:, 2], color=INK, label="base")
    for k, (foot, z) in enumerate(poses.items()):
        style = {"color": color_of(k), "ls": ("-", "--")[k % 2], "label": foot}
        heights.plot(t, z, **style)
        bounces.plot(1e3 * t, 1e3 * z, **style)
    bounces.set_ylabel("height of feet (mm)")
    bounces.set_title("the bounces", loc="left", fontsize="medium")
    bounces.set_xlim(1e3 * CLOSE[0], 1e3 * CLOSE[-1])
    bounces.set_ylim(-0.02, 0.6)
    heights.set_ylabel("height (m)")
    for k, label in enumerate(trajectory.position_labels[7:10]):
        joints.plot(t, trajectory.q[:, 7 + k], color=color_of(k), label=label)
    joints.set_ylabel("joints of a leg (rad)")
    kinetic, potential = trajectory.energy.T
    work, loss = trajectory.work.T
    for k, (numbers, label) in enumerate((
        (kinetic, "kinetic"), (potential - potential[-1], "potential"),
        (work, "work of springs and dampers"), (loss, "lost in impacts and friction"),
    )):  # fmt: skip
        energy.plot(t, numbers, color=color_of(k), label=label)
    energy.set_ylabel("energy (J)")
    for axes in (bounces, heights, joints, energy):
        scale, unit = (1e3, "ms") if axes is bounces else (1, "s")
        for impact in trajectory.impacts:
            axes.axvline(scale * impact.time, color="0.8", linewidth=0.8, zorder=0)
        axes.set_xlabel(f"time ({unit})")
        legend_beside(axes)
        tidy(axes)
        if axes is not bounces:
            axes.set_xlim(0, t[-1])
    figure.suptitle(f"{drop.robot.model.name} dropped from {HEIGHT:g} m: {RESTITUTION:g} of the "
                    f"speed comes back, friction {FRICTION:g}")
    save_figure(figure, path)


def show(words: str, result: dict[str, Any]) -> None:
    """Print one of the runs."""
    print(f"{words}:")
    for when, points, impulse, loss in result["impacts"][:12]:
        print(f"  {when:.6f} s  feet {points}  {impulse:9.6f} N s  {loss:9.6f} J")
    if len(result["impacts"]) > 12:
        print(f"  and {len(result['impacts']) - 12} impacts more, the last one at "
              f"{result['impacts'][-1][0]:.6f} s")
    print(f"  base at {result['base_height']:.6f} m, feet at "
          f"{max(map(abs, result['feet'])):.1e} m, speed {result['speed']:.1e}, "
          f"unexplained energy {result['unexplained']:.1e} J")
    if result.get("stopped"):
        print(f"  {result['stopped']}")


def main() -> None:
    """Run both and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robot", choices=ROBOTS, default="a1")
    parser.add_argument("--plot")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    drop = Drop(arguments.robot)
    stepped = in_steps(drop)
    exact = exactly(drop)
    trajectory = exact.pop("trajectory")
    if arguments.plot:
        plot(drop, trajectory, arguments.plot)
    if arguments.json:
        print(json.dumps({"exact": exact, "steps": stepped}))
        return
    show(f"{drop.robot.model.name}, event-driven, {exact['seconds']:.2f} s", exact)
    show("in steps of 1 ms", stepped)
    print(f"  a step takes {stepped['flight_us']:.0f} us in flight, {stepped['standing_us']:.0f} "
          f"us on four feet; {stepped['slow_share']:.2%} took longer than 1 ms")


if __name__ == "__main__":
    main()
