"""Drive a simulated arm, and hurt its nodes in turn: `python -m soak --seconds 600`.

The node that drives, `torque_feedforward` and `computed_torque` in turn, is killed, stopped and
continued, and ended by each signal; the simulator is stopped and continued, and a listener that has
nothing to do with them; references end, jump, and are nonsense; commands come in floods. After
every fault the efforts must be zero: soon where a node can see it, else after the timeout; the last
command of a node that was ended must be zero, nonsense must be refused, joint states must not
pause, and a new reference must be followed. Times are judged by the nodes' own cycles between the
stamps of their messages, which a busy machine makes fewer, never more; a driver that such a machine
keeps from its joint states stops, says so, and is reset.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from heard_signals import let_children_hear
from rclpy.executors import ExternalShutdownException
from ros_rig import Rig

from .faults import RATE, SEEN, TIMEOUT, Soak
from .watch import resident

GROWTH = 2.0
"""MiB that the simulator may grow after it has met each fault once."""

SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")

GROWTH_BY_RESTART = 0.25 if SANITIZED else 0.05
"""MiB besides for every node that came and went: the middleware alone, with rclpy and nothing of
ours, keeps so much of each that was killed. The address sanitizer puts zones around each piece, and
keeps 256 MiB of what was freed: `ASAN_OPTIONS=quarantine_size_mb=4` leaves the growth visible."""

GAP = 0.5
"""s that joint states may pause, as `Watch.lived`: a busy machine keeps the simulator and us. Who
is held up by another process is so for 1 s and more."""

STOP = 20.0
"""s after which efforts that go on have no end."""


CYCLES = ("commands after it", "efforts after the last command", "efforts after zeros")
"""What is counted of each fault."""


def main() -> int:
    """Soak, print the numbers, and return 1 where one is not as it must be."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    end = time.monotonic() + parser.parse_args().seconds
    let_children_hear()
    rig = Rig()
    took: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(rig, Path(folder))
        watch, wrong = soak.watch, soak.wrong
        try:
            memory, restarts, name = 0.0, 0, "before any"
            soak.drive()
            for number, (name, fault) in enumerate(itertools.cycle(soak.faults.items())):
                if number <= len(soak.faults):  # what is made once is made
                    memory, restarts = resident(soak.simulator.pid), soak.restarts
                watch.excused = False
                soak.drive()
                since = time.time()
                most = (RATE * fault(), RATE * (TIMEOUT + SEEN), RATE * SEEN)
                watch.wait_for_rest(STOP)
                cycles = watch.cycles_after(since)
                took[name].append(cycles)
                wrong += [
                    f"{name}: {count} {what}, {bound:.0f} at most"
                    for what, count, bound in zip(CYCLES, cycles, most, strict=True)
                    if count > bound
                ]
                if time.monotonic() > end:
                    break
            grown = resident(soak.simulator.pid) - memory
            allowed = GROWTH + GROWTH_BY_RESTART * (soak.restarts - restarts)
        except (AssertionError, ExternalShutdownException) as error:
            faults = sum(map(len, took.values()))
            before = "".join(f"\n  wrong: {one}" for one in wrong)
            print(f"soak: fault {faults + 1}, {name}: {error}{before}\n  {soak.output()}")
            return 1
        finally:
            soak.close()
            rig.close()
    print(f"at most, of {RATE:g} Hz:\n{'fault':26s}{'times':>6s}{'  '.join(('', *CYCLES))}")
    for name, times in took.items():
        counts = zip(*times, strict=True)
        columns = (f"{max(one):{len(what) + 2}d}" for one, what in zip(counts, CYCLES, strict=True))
        print(f"{name:26s}{len(times):6d}{''.join(columns)}")
    print(
        f"joint states {watch.received}, lost {watch.lost}, out of order {watch.disordered}, "
        f"longest gap {1e3 * watch.longest_gap:.1f} ms ({1e3 * GAP:.0f} allowed), the simulator "
        f"grew by {grown:.1f} MiB (to {memory + grown:.1f} MiB; {allowed:.1f} allowed), drivers "
        f"reset {soak.resets}"
    )
    for one in wrong:
        print(f"wrong: {one}")
    bad = wrong or watch.lost or watch.disordered
    return int(bool(bad or grown > allowed or watch.longest_gap > GAP))


if __name__ == "__main__":
    sys.exit(main())
