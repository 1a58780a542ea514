"""Fuzz for a while: `python -m fuzz --seconds 60` in the folder `test`.

Each case is known by its target and its seed. One that ends in anything but an answer or a
refusal in words is written into `fuzz_findings`, where `test_fuzz.py` tries it forever.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from interpreting import interpreting

from .cases import TARGETS, run_case, save_finding

SLOW = 20.0
"""s of CPU that no case may take."""


def main() -> int:
    """Run cases in turn; return how many were findings."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--targets", nargs="+", choices=sorted(TARGETS), default=sorted(TARGETS))
    options = parser.parse_args()
    end, seed = time.monotonic() + options.seconds, options.seed
    outcomes: Counter[str] = Counter()
    findings = 0
    with interpreting():
        while time.monotonic() < end:
            name = options.targets[seed % len(options.targets)]
            start = time.process_time()
            outcome = run_case(name, seed)
            spent = time.process_time() - start
            if spent > SLOW:
                outcome = f"took {spent:.0f} s of CPU"
            fault = outcome not in ("answered", "refused")
            outcomes[f"{name}: {'FINDING' if fault else outcome}"] += 1
            if fault:
                findings += 1
                print(f"{name} {seed}: {outcome}\n  {save_finding(name, seed, outcome)}")
            seed += 1
    for what, count in sorted(outcomes.items()):
        print(f"{count:8d}  {what}")
    return min(findings, 99)


if __name__ == "__main__":
    sys.exit(main())
