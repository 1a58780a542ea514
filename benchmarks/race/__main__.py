"""The race of single calls: `python -m benchmarks.race --help`."""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import asdict
from pathlib import Path

import mbdyn_ros

from .page import growth_exponents, print_results, write_page
from .robots import ENTRIES
from .run import Result, peers, race


def main() -> None:
    """Run the race and print it."""
    names = [entry.name for entry in ENTRIES]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.race",
        description="Times of single calls against those of Pinocchio, MuJoCo, Drake and adam.",
    )
    parser.add_argument("robots", nargs="*", default=names, help=f"some of: {', '.join(names)}")
    parser.add_argument("--rounds", type=int, default=100, help="timed blocks of each call")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    parser.add_argument("--page", type=Path, help="folder to write benchmarks.md and its plots to")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.robots if name not in names]:
        parser.error(f"no robot {unknown[0]!r}; there are {', '.join(names)}")
    warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
    versions = {peer.name: peer.version for peer in peers()}
    results: list[Result] = []
    chosen = [entry for entry in ENTRIES if entry.name in arguments.robots]
    chains = [entry for entry in chosen if entry.joints]
    # Chains of all lengths take turns: how time grows must not hang on when each had its turn.
    groups = [*([entry] for entry in chosen if not entry.joints), chains]
    for entries in (group for group in groups if group):
        found = race(entries, arguments.rounds)
        results += found
        if not arguments.json:
            print_results(found)
    if arguments.json:
        print(json.dumps([asdict(result) for result in results], indent=2))
    else:
        growth_exponents(results)
    if arguments.page:
        write_page(results, versions, arguments.page)


if __name__ == "__main__":
    main()
