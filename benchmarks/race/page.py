"""What the race prints, and the page it writes."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

import casadi as ca
import numpy as np

from mbdyn_ros.codegen.compiler import find_compiler

from .ours import Bound
from .run import Result

TITLES = {
    "inverse_dynamics": "inverse dynamics",
    "forward_dynamics": "forward dynamics",
    "mass_matrix": "mass matrix",
    "inverse_dynamics_derivatives": "derivatives of inverse dynamics",
    "forward_dynamics_derivatives": "derivatives of forward dynamics",
}
PEER = "Pinocchio"
SMALL, HUMANOID = ("UR5", "Panda"), ("G1", "Talos")


def bar(result: Result) -> float | None:
    """The ratio to Pinocchio's time that we want to stay under."""
    if result.program.endswith("derivatives"):
        return 0.15 if not result.robot.startswith("chain") else None
    if result.program == "mass_matrix":
        return 0.2 if not result.robot.startswith("chain") else None
    if result.robot in SMALL:
        return 0.16
    return 0.25 if result.robot in HUMANOID else None


def judged(value: float, wanted: float | None) -> str:
    """A number beside its bar, with a mark where it misses."""
    if wanted is None:
        return f"{value:.3f}"
    return f"{value:.3f} (<= {wanted:g})" + ("" if value <= wanted else " MISSED")


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


def chains(results: Sequence[Result], program: str) -> list[Result]:
    """The chains' results of one program, shortest first."""
    found = (r for r in results if r.robot.startswith("chain") and r.program == program)
    return sorted(found, key=lambda result: result.nv)


def exponent(rows: Sequence[Result], library: str, least: int = 10) -> float:
    """p of time = c n^p from `least` joints on."""
    rows = [row for row in rows if row.nv >= least]
    times = [row.times[library].minimum for row in rows]
    return float(np.polyfit(np.log([row.nv for row in rows]), np.log(times), 1)[0])


def growth_exponents(results: Sequence[Result]) -> None:
    """Print how the time grows with the number of joints."""
    for program in ("inverse_dynamics", "forward_dynamics"):
        rows = chains(results, program)
        if len([row for row in rows if row.nv >= 10]) < 2:
            continue
        print(f"\nGrowth of {TITLES[program]}: time ~ n^p from 10 to {rows[-1].nv} joints")
        for library in rows[0].times:
            if all(library in row.times for row in rows):
                print(f"    {library:18} p = {exponent(rows, library):.2f}")


def write_page(results: Sequence[Result], versions: Mapping[str, str], folder: Path) -> None:
    """Write the tables of single calls as Markdown, and two plots."""
    folder.mkdir(parents=True, exist_ok=True)
    libraries = list(dict.fromkeys(name for result in results for name in result.times))
    lines = [
        "# Benchmarks",
        "",
        "Microseconds a call from Python: the minimum over blocks of calls that take turns in one "
        "process (and their median). All libraries read the same URDF, without meshes, friction "
        "and mimics, and gave the same answers before they were timed. Write this page anew with "
        "`python -m benchmarks.race --page docs` (after `pip install -e '.[bench]'`).",
        "",
        f"Machine: {processor()}, {os.cpu_count()} cores shared with others, {platform.system()}. "
        f"Compiler: {Path((find_compiler() or ('none',))[0]).name}. CasADi "
        f"{ca.CasadiMeta.version()}; "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
        + ".",
        "",
        "*bound* fills arrays in place and calls (`robot.bind`), *plain* is the method with all "
        "its checks. MuJoCo's calls run its whole pipeline. Drake's set the state in every call. "
        "adam gives a mass matrix and a bias force; what its users make of them is compiled with "
        "our flags. In brackets: the median. **Bold** where we lose.",
    ]
    for program in TITLES:
        rows = [result for result in results if result.program == program]
        shown = [name for name in libraries if any(name in row.times for row in rows)]
        if not rows:
            continue
        lines += ["", f"## {TITLES[program].capitalize()}", ""]
        lines.append("| robot | nv | " + " | ".join(shown) + " | ours / Pinocchio | wanted |")
        lines.append("|---" * (len(shown) + 4) + "|")
        lines += [page_row(row, shown) for row in rows]
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
    (folder / "benchmarks.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def page_row(row: Result, shown: Sequence[str]) -> str:
    """One robot's row of a table."""
    cells = [row.robot, str(row.nv)]
    fastest = row.times[Bound.name].minimum
    for name in shown:
        if name not in row.times:
            cells.append("")
            continue
        time = row.times[name]
        text = f"{time.minimum:.3g} ({time.median:.3g})"
        cells.append(f"**{text}**" if time.minimum < fastest else text)
    ratio, wanted = "", bar(row)
    if PEER in row.times:
        ratio = f"{row.ratio(PEER):.3f}"
        if wanted is not None and row.ratio(PEER) > wanted:
            ratio = f"**{ratio}**"
    return "| " + " | ".join([*cells, ratio, f"{wanted:g}" if wanted else ""]) + " |"


def processor() -> str:
    """What the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def plot_growth(growth: Mapping[str, Sequence[Result]], path: Path) -> None:
    """Time against the number of joints, double logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
    for axis, (program, rows) in zip(axes, growth.items(), strict=True):
        for k, name in enumerate(rows[-1].times):
            known = [row for row in rows if name in row.times]
            times = [row.times[name].minimum for row in known]
            axis.loglog([row.nv for row in known], times, "o-", ms=4, color=f"C{k}", label=name)
        axis.set_title(TITLES[program])
        axis.set_xlabel("joints of the chain")
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("time a call (µs)")
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
