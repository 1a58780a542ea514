"""The time it takes to load and compile a robot.

    python -m benchmarks.loading [--json]

Every robot is read, traced and compiled in fresh processes, with an empty cache and with a full
one, and its inverse dynamics, forward dynamics and mass matrix are called once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .race.bars import judged
from .race.robots import ENTRIES, Entry, urdf

PROGRAMS = ("inverse_dynamics", "forward_dynamics", "mass_matrix")

BARS = {"UR5": (1.5, 0.1), "G1": (10.0, None), "chain of 200": (15.0, None)}
"""Seconds that loading may take, cold and from the cache, by robot."""

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


@dataclass(frozen=True)
class Loading:
    """Seconds: with an empty cache, from the cache (the least of five), and of the import."""

    cold: float
    cached: float
    imports: float


def seconds(entry: Entry, file: Path, cache: str) -> tuple[float, float]:
    """Seconds to import, and to load a robot and have its programs, in a fresh process."""
    programs = PROGRAMS[:2] if entry.joints else PROGRAMS  # a chain's mass matrix is quadratic
    arguments = [str(file), str(int(entry.floating_base)), ",".join(programs)]
    done = subprocess.run(
        [sys.executable, "-c", LOADING, *arguments],
        env={**os.environ, "XDG_CACHE_HOME": cache},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    importing, loading = json.loads(done.stdout)
    return importing, loading


def load(entry: Entry) -> Loading:
    """Time one robot."""
    with tempfile.TemporaryDirectory(prefix="mbdyn-bench-") as folder:
        file = Path(folder, "robot.urdf")
        file.write_text(urdf(entry), encoding="utf-8")
        _, cold = seconds(entry, file, folder)
        warm = [seconds(entry, file, folder) for _ in range(5)]
    return Loading(cold, min(time for _, time in warm), min(time for time, _ in warm))


def main() -> None:
    """Time the robots that have a bar."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.loading", description="Time to load and compile robots."
    )
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    arguments = parser.parse_args()
    found = {entry.name: load(entry) for entry in ENTRIES if entry.name in BARS}
    if arguments.json:
        print(json.dumps({name: vars(row) for name, row in found.items()}, indent=2))
        return
    print("Load, trace, compile and call once, in a fresh process (s)")
    print(f"  {'':14}{'cold':24}{'cached':24}(import before)")
    for name, row in found.items():
        cold, cached = (
            judged(value, bar)
            for value, bar in zip((row.cold, row.cached), BARS[name], strict=True)
        )
        print(f"  {name:14}{cold:24}{cached:24}{row.imports:.3f}")


if __name__ == "__main__":
    main()
