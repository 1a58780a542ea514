"""The forest crane along the paper's sinusoids: computed torque, virtual decomposition, valves.

    python -m benchmarks.crane_tracking [--plot docs/crane_tracking.png]

The crane carries 100 kg at its tool that no controller knows of; the gap is that of the tool from
its wanted place. "On valves" the efforts come of the hydraulic cylinders and the drive of
`urdf/manipulator_actuators.yaml`: the controller opens valves for the required velocity
v_r = w + rate (wanted q - q), by the orifice law under the efforts of inverse dynamics; the motion
goes at half its speed.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mbdyn_ros
from benchmarks.parallel_serial import MOTIONS
from mbdyn_ros.compiler.kernel import Bound
from mbdyn_ros.control import MODES
from mbdyn_ros.control.actuator_commands import ActuatorCommands
from mbdyn_ros.model.model import Array

URDF = Path(__file__).resolve().parent.parent / "urdf"
MOTION = MOTIONS[1]
LOAD, DURATION = 100.0, 10.0
GAINS = {
    "computed_torque": {"kp": 400.0, "kd": 40.0},
    "virtual_decomposition": {"rate": 20.0, "body_rate": 20.0, "damping": 0.0},
}
"""Both as stiff as each other: errors die out at 20 rad/s."""

VALVE_RATE = 8.0
"""Of the required velocity on valves, 1/s."""

PACE = 0.5
"""Of the motion on valves: at the whole speed of the sinusoids that of the tilt is wide open."""

LAG = 1 / (2 * np.pi * 15)
"""Of the spools, s: their command is that of so much later."""


@dataclass(frozen=True)
class Tracking:
    """A motion: times (N,) s, and the tool's distance from its wanted place (N,), m."""

    time: Array
    gap: Array

    @property
    def rms(self) -> float:
        """Root of the mean square of the gap over time, m."""
        return float(np.sqrt(np.trapezoid(self.gap**2, self.time) / self.time[-1]))


def wanted(t: float, pace: float = 1.0) -> tuple[Array, Array, Array]:
    """q, v, a (n,) of the paper's sinusoids, at a share of their speed."""
    q, v, a = MOTION.at(np.array([pace * t]))
    return q[0], pace * v[0], pace**2 * a[0]


def tracking(
    robot: mbdyn_ros.Robot, motion: mbdyn_ros.Trajectory, pace: float = 1.0
) -> Tracking:
    """The gap of a motion."""
    goal = MOTION.at(pace * motion.time)[0]
    places = [robot.frame_pose(q, "tool")[:, :3, 3] for q in (motion.q, goal)]
    return Tracking(motion.time, np.linalg.norm(places[0] - places[1], axis=1))


def follow(mode: str, duration: float = DURATION) -> Tracking:
    """The crane under one law, its efforts ideal."""
    known, loaded = (mbdyn_ros.load(URDF / "manipulator.urdf", variable=["tool"]) for _ in "ab")
    loaded.set_payload("tool", LOAD)
    law = Bound(known.calls.kernel(MODES[mode].law, None))
    for name, value in GAINS[mode].items():
        getattr(law, name)[:] = value

    def effort(t: float, q: Array, v: Array) -> Array:
        goal, law.wanted_v[:], law.wanted_a[:] = wanted(t)
        law.q[:], law.v[:], law.error[:] = q, v, goal - q
        law()
        return np.array(law.result)

    q, v, _ = wanted(0.0)
    run = mbdyn_ros.simulate(loaded, q, v, duration, effort=effort, rtol=1e-6, atol=1e-8)
    return tracking(known, run)


def on_valves(duration: float = DURATION, pace: float = PACE) -> Tracking:
    """The crane on its hydraulic cylinders and its electric drive."""
    files = URDF / "manipulator.urdf", URDF / "manipulator_actuators.yaml"
    known, loaded = (mbdyn_ros.load(files[0], mechanism=files[1], variable=["tool"]) for _ in "ab")
    loaded.set_payload("tool", LOAD)
    commands_of = ActuatorCommands(known)
    needed = known.bind("inverse_dynamics")

    def commands(t: float, q: Array, v: Array) -> Array:
        goal, speed, change = wanted(t, pace)
        required = speed + VALVE_RATE * (goal - q)
        needed.q[:], needed.v[:], needed.a[:] = q, required, change
        needed()
        return commands_of.at(needed.effort, required + LAG * change)

    q, v, _ = wanted(0.0, pace)
    run = mbdyn_ros.simulate(loaded, q, v, duration, commands=commands, rtol=1e-5, atol=1e-7)
    return tracking(known, run, pace)


def plot(found: dict[str, Tracking], target: str) -> None:
    """Gaps over time."""
    from mbdyn_ros.view.figure import color_of, figure_of, legend_beside, save_figure, tidy

    figure = figure_of(1, size=(9, 3.6))
    axis = figure.subplots()
    for k, (name, one) in enumerate(found.items()):
        axis.plot(one.time, 1e3 * one.gap, "--" if "virtual" in name else "-", color=color_of(k),
                  label=name.replace("_", " "))  # fmt: skip
    axis.set_xlabel("time (s)")
    axis.set_ylabel("tool from its wanted place (mm)")
    axis.set_ylim(bottom=0)
    tidy(axis)
    legend_beside(axis)
    axis.set_title("Forest crane with an unknown load of 100 kg", loc="left", fontsize=10)
    save_figure(figure, target)


def main() -> None:
    """Simulate, print, plot."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot")
    options = parser.parse_args()
    found = {mode: follow(mode) for mode in GAINS}
    found["on valves, half the speed"] = on_valves()
    for name, one in found.items():
        print(f"{name}: {1e3 * one.rms:.2f} mm rms, {1e3 * one.gap.max():.2f} mm at most")
    if options.plot:
        plot(found, options.plot)


if __name__ == "__main__":
    main()
