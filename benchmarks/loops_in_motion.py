"""Forward dynamics of closed loops along a motion, against Pinocchio's `constraintDynamics`.

    python benchmarks/loops_in_motion.py [robot ...] [--rounds 15] [--json]

A controller at 1 kHz has a new q in every call, so both sides get one: the states of a second of
sinusoids, one after the other. What each side is given:

- we: q and v of the independent joints, and the efforts of the driven ones. The call finds the
  positions and velocities of all other joints, too;
- Pinocchio: positions and velocities of *all* joints, which somebody else has found, and the
  efforts; point contacts at the pins, `ProximalSettings(1e-12, 1e-10, 20)`.

Our bound arrays are filled in place, which a `write` alone is timed for and taken off. All
calls take turns in one process; each number is the minimum of many rounds.
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
from mbdyn_ros.array import Array
from mbdyn_ros.bench.benchmark import Call, time_calls

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.loop_peer import LoopPeer  # noqa: E402
from benchmarks.loop_robots import ROBOTS  # noqa: E402

RATE, STATES = 1000.0, 1000
"""States a second, and how many."""

SWINGS = {
    "five_bar": 0.3, "palletiser": 0.2, "excavator": 0.15, "three_rrr": 0.2, "delta": 0.3,
    "stewart": 0.15, "scissor": 0.2,
}  # fmt: skip
"""How far (rad or m) each driven joint swings to either side of home, at 0.5 to 1 Hz."""

BARS = {
    "five_bar": 0.1, "palletiser": 0.15, "excavator": 0.08, "three_rrr": 0.2, "delta": 0.6,
    "stewart": 0.6, "scissor": 0.3,
}  # fmt: skip
"""What our time is to be of Pinocchio's at most."""


@dataclass(frozen=True)
class Row:
    """Microseconds a call of one robot, at a new q in every call and at one q again and again.

    agreement : the largest difference of accelerations, by the largest acceleration.
    """

    name: str
    moving: float
    still: float
    constraint_dynamics: float
    agreement: float

    @property
    def ratio(self) -> float:
        """Our time along the motion to Pinocchio's."""
        return self.moving / self.constraint_dynamics


def motion(robot: Robot, swing: float) -> tuple[Array, Array]:
    """q and v (N, nv) along a second of sinusoids from home."""
    t = np.arange(STATES)[:, None] / RATE
    rate = 2 * np.pi * np.linspace(0.5, 1.0, robot.nv)
    home = np.array([robot.home[joint] for joint in robot.independent_joints])
    return home + swing * np.sin(rate * t), swing * rate * np.cos(rate * t)


def measure(name: str, rounds: int) -> Row:
    """Time one robot against Pinocchio."""
    text = ROBOTS[name]()
    robot = mbdyn_ros.load(text)
    q, v = motion(robot, SWINGS[name])
    effort = robot.inverse_dynamics(q[0], v[0], np.zeros(robot.nv))
    peer = LoopPeer(robot, text, q, v, effort, 1e-10, 20)
    bound, still = robot.bind("forward_dynamics"), robot.bind("forward_dynamics")
    for one in (bound, still):
        one.q[:], one.v[:], one.effort[:] = q[-1], v[-1], effort
    found = []
    for bound.q[:], bound.v[:] in zip(q, v, strict=True):
        bound()
        found.append(bound.result.copy())
    theirs = peer.accelerations()
    write = "for q[:] in states: "
    calls = {
        "moving": Call(f"{write}call()", {"q": bound.q, "states": list(q), "call": bound}),
        "write": Call(f"{write}pass", {"q": bound.q, "states": list(q)}),
        "still": Call("for _ in states: call()", {"states": list(q), "call": still}),
        "theirs": peer.call("constraintDynamics"),
    }
    seconds = time_calls(calls, rounds)
    each = {key: 1e6 * value / STATES for key, value in seconds.items()}
    gap = float(np.abs(theirs - found).max() / np.abs(theirs).max())
    return Row(name, each["moving"] - each["write"], each["still"], each["theirs"], gap)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("robots", nargs="*", help=f"of {', '.join(ROBOTS)}; all if none is named")
    parser.add_argument("--rounds", type=int, default=15, help="timed motions of each call")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
    rows = [measure(name, arguments.rounds) for name in arguments.robots or ROBOTS]
    if arguments.json:
        print(json.dumps([{**vars(row), "ratio": row.ratio} for row in rows], indent=2))
        return
    print("Forward dynamics along a motion at 1 kHz, bound, a new q in every call; microseconds")
    print("(ours finds the passive joints; Pinocchio's constraintDynamics is given them)")
    print(f"  {'':12}{'ours':>8}{'same q':>9}{'Pinocchio':>11}   ours / Pinocchio")
    for row in rows:
        mark = "" if row.ratio <= BARS[row.name] else " MISSED"
        print(
            f"  {row.name:12}{row.moving:8.3f}{row.still:9.3f}{row.constraint_dynamics:11.3f}"
            f"   {row.ratio:.3f} (<= {BARS[row.name]:g}){mark}; "
            f"answers agree to {row.agreement:.0e}"
        )


if __name__ == "__main__":
    main()
