"""Drive a simulated arm, and hurt its nodes in turn: `python -m soak --seconds 600`.

The feed-forward node is killed, stopped and continued, and ended by each signal; the simulator is
stopped and continued, and a listener that has nothing to do with them; references end, jump, and
are nonsense; commands come in floods. After every fault the efforts must be zero: within a period
where a node can see it, else within the timeout (longer by what a busy machine keeps the simulator
from its joint states); the last command of a node that was ended must be zero, nonsense must be
refused, joint states must not pause, and a new reference must be followed.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from rclpy.executors import ExternalShutdownException
from ros_rig import Rig

from .faults import Soak
from .watch import resident

GROWTH = 2.0
"""MiB that the simulator may grow after it has met each fault once."""

GROWTH_BY_RESTART = 0.05
"""MiB besides for every node that came and went: the middleware alone, with rclpy and nothing of
ours, keeps so much of each that was killed."""

GAP = 0.5
"""s that joint states may pause, besides the time for which the machine kept us from looking: one
that is busy keeps the simulator too. Who is held up by another process is so for 1 s and more."""


def main() -> int:
    """Soak, print the numbers, and return 1 where one is not as it must be."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    end = time.monotonic() + parser.parse_args().seconds
    rig = Rig()
    took: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(rig, Path(folder))
        watch, wrong = soak.watch, soak.wrong
        try:
            soak.drive()
            memory, restarts = 0.0, 0
            for number, (name, fault) in enumerate(itertools.cycle(soak.faults.items())):
                if number <= len(soak.faults):  # what is made once is made
                    memory, restarts = resident(soak.simulator.pid), soak.restarts
                watch.excused = False
                soak.drive()
                since, watch.starved, watch.hindered = time.monotonic(), 0.0, 0.0
                allowed = fault()
                effort, command = watch.zero_after(since, limit=20.0)
                took[name].append((effort, command))
                busy = f"joint states overdue {watch.starved:.3f} s"
                if effort > allowed + watch.starved:
                    wrong.append(f"{name}: effort for {effort:.3f} s, {busy}")
                if command > allowed + watch.starved + watch.hindered:
                    wrong.append(f"{name}: commands for {command:.3f} s, {busy}")
                if time.monotonic() > end:
                    break
            grown = resident(soak.simulator.pid) - memory
            most = GROWTH + GROWTH_BY_RESTART * (soak.restarts - restarts)
        except (AssertionError, ExternalShutdownException) as error:
            print(f"soak: {error}")
            return 1
        finally:
            soak.close()
            rig.close()
    print(f"{'fault':28s}{'times':>6s}{'effort zero after, s':>24s}{'commands zero, s':>20s}")
    for name, times in took.items():
        efforts, commands = zip(*times, strict=True)
        print(f"{name:28s}{len(times):6d}{max(efforts):24.3f}{max(commands):20.3f}")
    print(
        f"joint states {watch.received}, lost {watch.lost}, out of order {watch.disordered}, "
        f"longest gap {1e3 * watch.longest_gap:.1f} ms ({1e3 * GAP:.0f} allowed), the simulator "
        f"grew by {grown:.1f} MiB (to {memory + grown:.1f} MiB; {most:.1f} allowed)"
    )
    for one in wrong:
        print(f"wrong: {one}")
    bad = wrong or watch.lost or watch.disordered
    return int(bool(bad or grown > most or watch.longest_gap > GAP))


if __name__ == "__main__":
    sys.exit(main())
