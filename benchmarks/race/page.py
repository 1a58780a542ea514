"""What the race prints, and the page it writes."""

from __future__ import annotations

import csv
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import casadi as ca

from mbdyn_ros.compiler.gcc import required_toolchain

from .bars import GROWTH, PEER, PLAIN, TITLES, bar, chains, exponent, judged, losses
from .ours import Bound, Plain
from .plots import plot_growth, plot_ratios
from .run import Result


def print_results(results: Sequence[Result]) -> None:
    """One robot: microseconds, minimum and median, and the ratio of ours."""
    print(f"\n{results[0].robot}, nv {results[0].nv}")
    for result in results:
        print(f"  {TITLES[result.program]}")
        for library, time in result.times.items():
            wanted = bar(result) if library == PEER else None
            ratio = f"ours / it {judged(result.ratio(library), wanted)}"
            line = f"    {library:18}{time.minimum:10.3f} us, median {time.median:9.3f}"
            print(line + ("" if library == Bound.name else f"   {ratio}"))
        if PEER in result.times and Plain.name in result.times:
            print(f"    plain method / {PEER} {judged(result.ratio(PEER, Plain.name), PLAIN)}")


def growth_exponents(results: Sequence[Result]) -> None:
    """Print how the time grows with the number of joints."""
    for program in ("inverse_dynamics", "forward_dynamics"):
        rows = chains(results, program)
        if len([row for row in rows if row.nv >= 10]) < 2:
            continue
        print(f"\nGrowth of {TITLES[program]}: time ~ n^p from 10 to {rows[-1].nv} joints")
        for library in rows[0].times:
            if all(library in row.times for row in rows):
                found = exponent(rows, library)
                text = judged(found, GROWTH) if library == Bound.name else f"{found:.3f}"
                print(f"    {library:18} p = {text}")


def write_page(results: Sequence[Result], versions: Mapping[str, str], folder: Path) -> None:
    """Write the page: its words, a file of each table, and two plots."""
    folder.mkdir(parents=True, exist_ok=True)
    libraries = list(dict.fromkeys(name for result in results for name in result.times))
    lines = [
        "# Benchmarks",
        "",
        "Microseconds a call from Python: the minimum over blocks of calls that take turns in one "
        "process. All libraries read the same URDF, without meshes, friction and mimics, and gave "
        "the same answers before they were timed. Write this page anew with "
        "`python -m benchmarks.race --page docs` (after `pip install -e '.[bench]'`).",
        "",
        f"Measured {date.today()}. Machine: {processor()}, {os.cpu_count()} cores shared with "
        f"others, {platform.system()}. Compiler: {Path(required_toolchain().command[0]).name}. "
        f"CasADi {ca.CasadiMeta.version()}; "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
        + ".",
        "",
        "*bound* fills arrays in place (`robot.bind`), *plain* is the method with all its checks. "
        "MuJoCo's calls run its whole pipeline; Drake's set the state in every call. **Bold** "
        f"where another library is faster, or a ratio to {PEER}'s time is larger than wanted, "
        f"{PLAIN:g} of plain methods.",
        "",
        "Elsewhere: [batches and rollouts](learning.md#batches-and-rollouts), "
        "[closed loops](parallel_serial.md).",
    ]
    if robots := [result for result in results if not result.is_chain]:
        lines += ["", "![times of other libraries over ours](benchmarks_ratios.png)"]
        plot_ratios(robots, libraries, folder / "benchmarks_ratios.png")
    for program in TITLES:
        rows = [one for one in results if one.program == program and not one.is_chain]
        shown = [name for name in libraries if any(name in row.times for row in rows)]
        if not rows:
            continue
        lines += ["", f"## {TITLES[program].capitalize()}", ""]
        header = ["robot", "nv", *shown, f"bound / {PEER}", f"plain / {PEER}"]
        table = f"benchmarks_{program}.csv"
        with (folder / table).open("w", encoding="utf-8", newline="") as file:
            written = csv.writer(file, lineterminator="\n")
            written.writerows([header, *(page_row(row, shown) for row in rows)])
        lines += [f"```{{rows}} {table}", "```"]
    growth = {program: chains(results, program) for program in tuple(TITLES)[:2]}
    if all(len(rows) > 2 for rows in growth.values()):
        lines += ["", "## Growth with the number of joints", ""]
        for program, rows in growth.items():
            fits = ", ".join(
                f"{name} {exponent(rows, name):.2f}"
                for name in libraries
                if all(name in row.times for row in rows)
            )
            lines.append(f"Exponent of {TITLES[program]}, 10 to {rows[-1].nv} joints: {fits}.")
        lines += ["", "![time against the number of joints](benchmarks_growth.png)"]
        plot_growth(growth, folder / "benchmarks_growth.png")
    lines += ["", "## Where we lose, and why", "", *losses(results)]
    (folder / "benchmarks.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def page_row(row: Result, shown: Sequence[str]) -> list[str]:
    """One robot's row of a table."""
    cells = [row.robot, str(row.nv)]
    fastest = row.times[Bound.name].minimum
    for name in shown:
        if name not in row.times:
            cells.append("")
            continue
        time = row.times[name]
        text = f"{time.minimum:.3g}"
        cells.append(f"**{text}**" if time.minimum < fastest else text)
    for ours, most in ((Bound.name, bar(row)), (Plain.name, PLAIN)):
        ratio = row.ratio(PEER, ours) if {PEER, ours} <= row.times.keys() else None
        text = "" if ratio is None else f"{ratio:.3f}"
        cells.append(f"**{text}**" if ratio and most and ratio > most else text)
    return cells


def processor() -> str:
    """What the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
