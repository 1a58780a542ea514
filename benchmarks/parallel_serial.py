"""The experiments of the parallel-serial paper: round trip, independent solution, and speed.

    python benchmarks/parallel_serial.py [--plots docs] [--rounds 100] [--json]

The paper is "Analytical Forward Dynamics Modeling of Linearly Actuated Heavy-Duty Parallel-Serial
Manipulators" (its equation 53, figures 3 and 4). Both machines follow sinusoids for 10 s. The
independent solution is Pinocchio's tree with the loops' constraints solved by singular values
(`test/support/loop_judge.py`). Calls that are timed take turns in one process; each number is a
minimum.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mbdyn_ros
from mbdyn_ros import Robot
from mbdyn_ros.bench.benchmark import Call, time_calls
from mbdyn_ros.model.model import Array

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "test" / "support"), str(ROOT)]

from loop_judge import LoopJudge  # noqa: E402

from benchmarks.loop_peer import LoopPeer  # noqa: E402

DURATION, STEP = 10.0, 1e-3
ROUND_TRIP, AGREEMENT = 1e-14, 1e-10
"""The most that the mean of |FD(ID(a)) - a| and the relative mean error may be."""


@dataclass(frozen=True)
class Motion:
    """Sinusoids of one machine, and what the paper reports of its own.

    middle, amplitude (m or rad), frequency (Hz), phase (rad) : by independent joint.
    paper : mean round-trip error, in per cent; mean error to Simscape, in per cent.
    """

    name: str
    title: str
    middle: tuple[float, ...]
    amplitude: tuple[float, ...]
    frequency: tuple[float, ...]
    phase: tuple[float, ...]
    paper: tuple[float, float, float, float]

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """q, v, a (N, nv) at the times t (N,)."""
        rate = 2 * np.pi * np.array(self.frequency)
        angle = t[:, None] * rate + np.array(self.phase)
        size = np.array(self.amplitude)
        wave = size * np.sin(angle)
        return self.middle + wave, size * rate * np.cos(angle), -(rate**2) * wave


MOTIONS = (
    Motion(
        "boom", "boom, 1 DoF, 415 kg", (0.01,), (0.2,), (0.2,), (0.0,),
        (7.66e-16, 1.25e-11, 1.20e-6, 0.02),
    ),
    Motion(
        "manipulator", "manipulator, 4 DoF, 1063 kg", (0.0, 0.01, 0.0, 0.0), (1.0, 0.2, 0.2, 0.3),
        (0.1, 0.15, 0.2, 0.12), (0.0, 0.5, 1.0, 1.5), (5.21e-14, 2.42e-11, 9.59e-5, 0.04),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Accuracy:
    """Errors of forward dynamics at every time: sums over the joints, as in the paper."""

    motion: Motion
    joints: tuple[str, ...]
    times: Array
    positions: Array
    accelerations: Array
    round_trip: Array
    judged: Array

    @property
    def size(self) -> float:
        """Mean of the sum of absolute accelerations."""
        return float(np.abs(self.accelerations).sum(axis=1).mean())

    @property
    def row(self) -> tuple[float, float, float, float]:
        """As `Motion.paper`."""
        trip, gap = float(self.round_trip.mean()), float(self.judged.mean())
        return trip, 100 * trip / self.size, gap, 100 * gap / self.size


def accuracy(motion: Motion, step: float = STEP) -> Accuracy:
    """Run the paper's experiment on one machine, at times a step (s) apart."""
    path = ROOT / "urdf" / f"{motion.name}.urdf"
    robot = mbdyn_ros.load(path)
    judge = LoopJudge(path.read_text(encoding="utf-8"), robot.model, robot.joint_names)
    t = np.arange(0, DURATION + step / 2, step)
    q, v, a = motion.at(t)
    for k, name in enumerate(robot.independent_joints):
        limits = robot.model.joint(name).limits
        assert limits.lower < q[:, k].min() and q[:, k].max() < limits.upper, name
        assert np.abs(v[:, k]).max() < limits.velocity, name
    effort = robot.inverse_dynamics(q, v, a)
    found = robot.forward_dynamics(q, v, effort)
    whole, rates, _ = robot.joint_state(q, v)
    chosen = [robot.joint_names.index(name) for name in robot.independent_joints]
    gaps = np.zeros(len(t))
    for k in range(len(t)):
        state = judge.at(whole[k], rates[k])
        g, drift = state.embedding(chosen)
        needed = g.T @ (state.bias + state.mass @ drift)
        expected = np.linalg.solve(g.T @ state.mass @ g, effort[k] - needed)
        gaps[k] = np.abs(found[k] - expected).sum()
    trip = np.abs(found - a).sum(axis=1)
    return Accuracy(motion, robot.independent_joints, t, q, a, trip, gaps)


def plot(result: Accuracy, folder: Path) -> None:
    """Like figures 3 and 4 of the paper: positions, round trip, error to the other solution."""
    from mbdyn_ros.view.figure import INK, color_of, figure_of, legend_beside, save_figure, tidy

    figure = figure_of(3, size=(9.5, 2.5))
    axes = figure.subplots(3, 1)
    for k, name in enumerate(result.joints):
        unit = "rad" if name == "slew_joint" else "m"
        axes[0].plot(result.times, result.positions[:, k], color=color_of(k),
                     label=f"{name} ({unit})")  # fmt: skip
    angles = " or rad" if "slew_joint" in result.joints else ""
    axes[0].set_ylabel(f"actuator position\n(m{angles})")
    paper = result.motion.paper
    rows = (
        (result.round_trip, paper[0], "paper", "sum |FD(ID(a)) - a|"),
        (result.judged, paper[2], "paper, to Simscape", "sum |FD - independent|"),
    )
    for axis, (errors, level, label, title) in zip(axes[1:], rows, strict=True):
        axis.semilogy(result.times, np.maximum(errors, 1e-18), ".", ms=1, rasterized=True,
                      color=color_of(0))  # fmt: skip
        axis.axhline(errors.mean(), color=INK, label=f"our mean, {errors.mean():.1e}")
        axis.axhline(level, color=color_of(1), ls="--", label=f"{label}, {level:.1e}")
        axis.set_ylabel(f"{title}\n(m/s²{angles}{'/s²' if angles else ''})")
        axis.set_ylim(1e-18, 10 * level)
    axes[0].set_title(result.motion.title)
    for axis in axes:
        axis.set_xlabel("time (s)")
        tidy(axis)
        legend_beside(axis)
    save_figure(figure, folder / f"parallel_serial_{result.motion.name}.png")


# -- speed -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Speed:
    """Microseconds a call."""

    name: str
    inverse: float
    forward: float
    constraint_dynamics: float
    lcaba: float
    agreement: float

    @property
    def ratio(self) -> float:
        """Our forward dynamics to Pinocchio's."""
        return self.forward / self.constraint_dynamics


def speed(name: str, robot: Robot, text: str, rounds: int) -> Speed:
    """Time one robot against Pinocchio, at a state in motion."""
    random = np.random.default_rng(0)
    q = np.array([robot.home[joint] for joint in robot.independent_joints]) + 0.05
    v, a = 0.2 * random.normal(size=(2, robot.nv))
    inverse, forward = robot.bind("inverse_dynamics"), robot.bind("forward_dynamics")
    inverse.q[:], inverse.v[:], inverse.a[:] = q, v, a
    inverse()
    forward.q[:], forward.v[:], forward.effort[:] = q, v, inverse.effort
    forward()
    peer = LoopPeer(robot, text, q[None], v[None], inverse.effort, 1e-8, 10)
    calls = {
        "inverse": Call("call()", {"call": inverse}),
        "forward": Call("call()", {"call": forward}),
        "constraintDynamics": peer.call("constraintDynamics"),
        "lcaba": peer.call("lcaba"),
    }
    gap = float(np.abs(peer.accelerations()[0] - a).max() / np.abs(a).max())
    seconds = time_calls(calls, rounds)
    return Speed(name, *(1e6 * seconds[key] for key in calls), gap)


def chain(count: int) -> tuple[str, dict[str, float]]:
    """URDF+ of four-bars, each standing on the coupler of the last, and a rough home."""
    parts, home, ground = ['<robot name="chain"><link name="base"/>'], {}, "base"
    for k in range(count):
        for name, mass, x in (("crank", 0.5, 0.06), ("coupler", 1.2, 0.2), ("rocker", 0.9, 0.13)):
            parts.append(
                f'<link name="{name}{k}"><inertial><origin xyz="{x} 0.01 0.02"/>'
                f'<mass value="{mass}"/><inertia ixx="0.002" iyy="0.02" izz="0.02" ixy="0" '
                'ixz="0" iyz="0"/></inertial></link>'
            )
        x, z = (0.0, 0.0) if k == 0 else (0.2, 0.1)
        for name, parent, place, rough in (
            ("crank", ground, f"{x} 0 {z}", 0.9),
            ("coupler", f"crank{k}", "0.12 0 0", -0.1),
            ("rocker", ground, f"{x + 0.36} 0 {z + 0.08}", 1.8),
        ):
            home[f"{name}_joint{k}"] = rough
            parts.append(
                f'<joint name="{name}_joint{k}" type="continuous" '
                f'independent="{str(name == "crank").lower()}"><parent link="{parent}"/>'
                f'<child link="{name}{k}"/><origin xyz="{place}"/><axis xyz="0 -1 0"/></joint>'
            )
        parts.append(
            f'<loop name="pin{k}" type="revolute">'
            f'<predecessor link="coupler{k}"><origin xyz="0.34 0 0"/></predecessor>'
            f'<successor link="rocker{k}"><origin xyz="0.26 0 0"/></successor>'
            '<axis xyz="0 -1 0"/></loop>'
        )
        ground = f"coupler{k}"
    return "".join([*parts, "</robot>"]), home


def exponent(counts: list[int], seconds: list[float]) -> float:
    """p of time = c k^p, by least squares on logarithms."""
    return float(np.polyfit(np.log(counts), np.log(seconds), 1)[0])


# -- what it prints --------------------------------------------------------------------------------


def print_accuracy(results: list[Accuracy]) -> None:
    """The paper's tables against ours."""
    print("Mean error of forward dynamics over 10 s of sinusoids, summed over the joints")
    print(f"  {'':30}{'paper':>10}{'of |a|':>12}{'ours':>12}{'of |a|':>12}   mean |a|")
    for title, k, bar in (
        ("round trip FD(ID(a)) - a", 0, "<= 1e-14"),
        ("to an independent solution", 2, "<= 1e-10 of |a|"),
    ):
        print(f" {title}, {bar}")
        for result in results:
            theirs, ours = result.motion.paper[k : k + 2], result.row[k : k + 2]
            met = ours[0] <= ROUND_TRIP if k == 0 else ours[1] / 100 <= AGREEMENT
            print(
                f"  {result.motion.title:30}{theirs[0]:10.2e}{theirs[1]:10.2g} %"
                f"{ours[0]:12.2e}{ours[1]:10.2g} %   {result.size:.3f}" + ("" if met else " MISSED")
            )
    print(" (the paper's independent solution is Simscape, ours Pinocchio's tree with an SVD)")


def print_speed(rows: list[Speed], bars: dict[str, float]) -> None:
    """Microseconds a call, and ratios."""
    print("\nMicroseconds a call, bound; Pinocchio's constraintDynamics with point contacts")
    print(f"  {'':14}{'ID':>8}{'FD':>8}{'Pinocchio':>11}{'lcaba':>9}   FD / Pinocchio")
    for row in rows:
        bar = bars[row.name]
        marks = "" if row.ratio <= bar else " MISSED"
        marks += "" if row.inverse <= 1.02 * row.forward else " ID SLOWER THAN FD"
        print(
            f"  {row.name:14}{row.inverse:8.3f}{row.forward:8.3f}{row.constraint_dynamics:11.3f}"
            f"{row.lcaba:9.3f}   {row.ratio:.3f} (<= {bar:g}){marks}; "
            f"answers agree to {row.agreement:.0e}"
        )


def print_chains(counts: list[int], rows: list[Speed]) -> None:
    """Microseconds against the number of four-bars, and fitted exponents."""
    print("\nFour-bars in a chain, microseconds a call")
    columns = {
        "ID": [row.inverse for row in rows],
        "FD": [row.forward for row in rows],
        "constraintDynamics": [row.constraint_dynamics for row in rows],
        "lcaba": [row.lcaba for row in rows],
    }
    print(f"  {'k':>10}" + "".join(f"{name:>20}" for name in columns))
    for k, count in enumerate(counts):
        numbers = "".join(f"{values[k]:20.3f}" for values in columns.values())
        print(f"  {count:10}{numbers}")
    for label, first in (("exponent", 0), ("from k = 4", 2)):
        fits = "".join(
            f"{exponent(counts[first:], values[first:]):20.2f}" for values in columns.values()
        )
        print(f"  {label:>10}{fits}")


def main() -> None:
    """Run the experiments and print them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=100, help="timed blocks of each call")
    parser.add_argument("--plots", type=Path, help="folder to write the two figures to")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
    results = [accuracy(motion) for motion in MOTIONS]
    if arguments.plots:
        for result in results:
            plot(result, arguments.plots)
    if not arguments.json:
        print_accuracy(results)
    bars = {"four_bar": 0.25, "boom": 0.25, "manipulator": 0.2}
    rows = []
    for name in bars:
        path = ROOT / "urdf" / f"{name}.urdf"
        robot = mbdyn_ros.load(path)
        rows.append(speed(name, robot, path.read_text(encoding="utf-8"), arguments.rounds))
    if not arguments.json:
        print_speed(rows, bars)
    counts = [1, 2, 4, 8, 16, 32]
    chains = []
    for count in counts:
        text, home = chain(count)
        robot = mbdyn_ros.load(text, home=home)
        chains.append(speed(f"chain of {count}", robot, text, max(10, arguments.rounds // 2)))
    if not arguments.json:
        print_chains(counts, chains)
    else:
        document = {
            "accuracy": {result.motion.name: result.row for result in results},
            "paper": {result.motion.name: result.motion.paper for result in results},
            "speed": {row.name: vars(row) for row in [*rows, *chains]},
        }
        print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
