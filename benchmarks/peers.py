"""Our speed against Pinocchio's, and the time it takes to load and compile a robot.

    python benchmarks/peers.py [--rounds 200] [--json]

Calls take turns in one process; each number is the minimum of many blocks. Loading is timed in
fresh processes, with an empty cache and with a full one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from importlib.metadata import files
from pathlib import Path

import mbdyn_ros
from mbdyn_ros.benchmark import PROGRAMS, Benchmark, benchmark

SHORT = {"inverse_dynamics": "ID", "forward_dynamics": "FD", "mass_matrix": "M"}


@dataclass(frozen=True)
class Case:
    """A robot of the race: its file, and the ratios to Pinocchio it is to stay under."""

    name: str
    file: str
    floating_base: bool = False
    bind: tuple[float, ...] | None = None
    plain: float | None = None
    cold: float | None = None
    cached: float | None = None


CASES = (
    Case("UR5", "ur5_robot.urdf", bind=(0.2, 0.2, 0.25), plain=1.0, cold=1.5, cached=0.1),
    Case("Panda", "panda.urdf", bind=(0.2, 0.2, 0.25), plain=1.0),
    Case("Solo12", "solo12.urdf", floating_base=True, plain=1.0),
    Case(
        "G1", "g1_29dof_rev_1_0.urdf", floating_base=True,
        bind=(0.35, 0.35, 0.35), plain=1.0, cold=10.0,
    ),
)  # fmt: skip

LOADING = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
start = time.perf_counter()
import mbdyn_ros
imported = time.perf_counter()
robot = mbdyn_ros.load(sys.argv[1], floating_base=bool(int(sys.argv[2])))
names = sys.argv[3].split(",")
robot.compile(*names)
for name in names:
    robot.bind(name)()
print(json.dumps([imported - start, time.perf_counter() - imported]))
"""


def robot_file(name: str) -> Path:
    """A URDF of the package example-robot-data."""
    found = [file for file in files("example-robot-data") or [] if file.name == name]
    return Path(str(found[0].locate())).resolve()


def race(case: Case, rounds: int) -> Benchmark:
    """Time one robot beside Pinocchio."""
    path = robot_file(case.file)
    robot = mbdyn_ros.load(path, floating_base=case.floating_base)
    return benchmark(robot, path.read_text(encoding="utf-8"), rounds=rounds)


def load_seconds(case: Case, cache: str) -> tuple[float, float]:
    """Seconds to import, and to load a robot and have its three programs, in a fresh process."""
    arguments = [str(robot_file(case.file)), str(int(case.floating_base)), ",".join(PROGRAMS)]
    done = subprocess.run(
        [sys.executable, "-c", LOADING, *arguments],
        env={**os.environ, "XDG_CACHE_HOME": cache},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    importing, loading = json.loads(done.stdout)
    return importing, loading


def loading(case: Case) -> dict[str, float]:
    """Load and compile times, s: cold, from the cache (the minimum of five), and the import's."""
    with tempfile.TemporaryDirectory(prefix="mbdyn-bench-") as cache:
        _, cold = load_seconds(case, cache)
        warm = [load_seconds(case, cache) for _ in range(5)]
    return {
        "cold": cold,
        "cached": min(seconds for _, seconds in warm),
        "import": min(seconds for seconds, _ in warm),
    }


def judged(value: float | None, target: float | None) -> str:
    """A number beside its target, with a mark where it misses."""
    if value is None:
        return "-"
    if target is None:
        return f"{value:.3f}"
    return f"{value:.3f} (<= {target:g}){'' if value <= target else ' MISSED'}"


def print_race(case: Case, result: Benchmark) -> None:
    """One robot's rows: microseconds, ratios, targets."""
    remark = f"nv {result.nv}"
    if result.pinocchio_nv not in (None, result.nv):
        remark += f", Pinocchio's {result.pinocchio_nv}: its mimic joints are left free"
    if result.note:
        remark += f"; {result.note}"
    if result.agreement is not None:
        remark += f"; answers agree to {result.agreement:.0e}"
    print(f"\n{case.name} ({remark})")
    print(f"  {'':3}{'pin us':>8}{'bind us':>9}{'plain us':>9}   {'bind / pin':22}plain / pin")
    for k, row in enumerate(result.timings):
        pin = f"{row.pinocchio:8.3f}" if row.pinocchio is not None else f"{'-':>8}"
        bind = judged(row.bind_ratio, case.bind[k] if case.bind else None)
        plain = judged(row.plain_ratio, case.plain)
        times = f"{pin}{row.bind:9.3f}{row.plain:9.3f}"
        print(f"  {SHORT[row.program]:3}{times}   {bind:22}{plain}")


def main() -> None:
    """Run the race and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=200, help="timed blocks of each call")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
    document: dict[str, dict[str, object]] = {}
    if not arguments.json:
        print("Minimum of interleaved blocks in one process; ratios of our time to Pinocchio's.")
    for case in CASES:
        result = race(case, arguments.rounds)
        document[case.name] = result.to_dict()
        if not arguments.json:
            print_race(case, result)
    if not arguments.json:
        print("\nLoad, trace, compile ID, FD and M, and call each once, in a fresh process (s)")
        print(f"  {'':8}{'cold':24}{'cached':24}(import before)")
    for case in (case for case in CASES if case.cold is not None):
        seconds = loading(case)
        document[case.name]["loading"] = seconds
        if not arguments.json:
            cold = judged(seconds["cold"], case.cold)
            cached = judged(seconds["cached"], case.cached)
            print(f"  {case.name:8}{cold:24}{cached:24}{seconds['import']:.3f}")
    if arguments.json:
        print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
