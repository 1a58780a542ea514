"""Operations of the equations of motion of trees, over their links and over their branches.

    python benchmarks/tree_operations.py [--plot docs/tree_operations.png] [--most 16] [--json]
        [--write docs/tree_operations.csv]

Figures 12 and 13 of "Dynamic modeling of tree-type robotic systems by combining 3x3 rotation and
4x4 transformation matrices": the formulas of its table 1, at four branches of growing length and
at a growing number of branches of four links. Against them what is counted here on trees of those
sizes whose hinges, masses and inertias are random: Gibbs and Appell's equations (inertia matrix and
right-hand side) as they are traced, and the accelerations themselves, both ways: by composite
bodies and Newton-Euler, and by articulated bodies. Programs take the cheaper one of these two.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import mbdyn_ros
from benchmarks.book_table import write_table
from mbdyn_ros.equations.algebra.spatial import SX
from mbdyn_ros.equations.formulation import Study
from mbdyn_ros.equations.programs import accelerations
from mbdyn_ros.equations.textbook import formulations
from mbdyn_ros.export.operation_count import TREE_MOTION
from mbdyn_ros.program.program import operations_of

BRANCHES, LINKS = 4, 4
"""What the figures keep: branches in figure 12, links of a branch in figure 13."""

OURS = ("Gibbs-Appell, traced", "accelerations by composite bodies", "by articulated bodies")

Counts = dict[str, tuple[float, float]]
"""Products and sums by formulation."""


def tree(links: int, branches: int) -> mbdyn_ros.Robot:
    """A tree of hinges on a fixed base, with random numbers."""
    random = np.random.default_rng(0)

    def text(values: object) -> str:
        return " ".join(f"{one:.6f}" for one in np.atleast_1d(np.asarray(values)))

    parts = ['<robot name="tree"><link name="base"/>']
    for b in range(branches):
        for k in range(links):
            name, parent = f"b{b}_{k}", f"b{b}_{k - 1}" if k else "base"
            root = random.normal(size=(3, 3))
            inertia = np.trace(root @ root.T) * np.eye(3) - root @ root.T
            entries = zip(("xx", "xy", "xz", "yy", "yz", "zz"), inertia[np.triu_indices(3)],
                          strict=True)  # fmt: skip
            numbers = " ".join(f'i{key}="{value:.6f}"' for key, value in entries)
            parts.append(
                f'<link name="{name}"><inertial><origin xyz="{text(random.normal(size=3))}"/>'
                f'<mass value="{random.uniform(1, 2):.6f}"/><inertia {numbers}/></inertial></link>'
                f'<joint name="j{name}" type="continuous"><parent link="{parent}"/>'
                f'<child link="{name}"/><axis xyz="{text(random.normal(size=3))}"/>'
                f'<origin xyz="{text(random.normal(size=3))}" rpy="{text(random.normal(size=3))}"/>'
                "</joint>"
            )
    return mbdyn_ros.load("".join(parts) + "</robot>")


def counted(links: int, branches: int) -> Counts:
    """The table's formulas at one size, and our counts."""
    result: Counts = {}
    for row in TREE_MOTION:
        assert row.sums is not None
        result[f"{row.principle} ({row.authors})"] = (
            branches * row.products(links), branches * row.sums(links)
        )  # fmt: skip
    study = Study(tree(links, branches).system)
    (equations,) = (
        one for one in formulations() if str(one) == "equations of motion by Gibbs-Appell"
    )
    traced = equations.expression(study), *both_ways(study)
    return result | dict(zip(OURS, (operations(study, one) for one in traced), strict=True))


def both_ways(study: Study) -> list[SX]:
    """The accelerations of a tree, by composite and by articulated bodies."""
    given = (study.q, study.z, study.v, study.effort)
    ways = accelerations(study.system, deep=False).values()
    return [build(*given, None, False) for build in ways]


def operations(study: Study, expression: Any) -> tuple[float, float]:
    """Products and sums of an expression."""
    found = operations_of(study.symbols, expression)
    return found["multiplications"], found["additions"]


def figures(most: int) -> dict[str, dict[int, Counts]]:
    """Both figures: counts over links of four branches, and over branches of four links."""
    sizes = range(1, most + 1)
    return {
        "12": {links: counted(links, BRANCHES) for links in sizes},
        "13": {branches: counted(LINKS, branches) for branches in sizes},
    }


def plot(result: dict[str, dict[int, Counts]], path: Path) -> None:
    """Products above, sums below; figure 12 on the left, 13 on the right."""
    from mbdyn_ros.view.figure import color_of, empty_figure, legend_beside, save_figure, tidy

    figure = empty_figure(13, 8)
    axes = figure.subplots(2, 2, sharex="col", sharey="row")
    words = {"12": f"links of each of {BRANCHES} branches", "13": f"branches of {LINKS} links each"}
    for column, (number, counts) in enumerate(result.items()):
        for row, what in enumerate(("products", "sums")):
            at = axes[row][column]
            for k, name in enumerate(next(iter(counts.values()))):
                at.plot(
                    list(counts), [one[name][row] for one in counts.values()], marker="o", ms=4,
                    color=color_of(k), ls="-" if name in OURS else "--", label=name,
                )  # fmt: skip
            at.set_yscale("log")
            tidy(at)
            at.tick_params(labelbottom=True, labelleft=True)
            at.set_ylabel(what)
            at.set_xlabel(words[number])
            at.set_title(f"figure {number}, {what}", loc="left", fontsize=10)
    legend_beside(axes[0][1])
    legend_beside(axes[1][1])
    save_figure(figure, path)


def rows(result: dict[str, dict[int, Counts]]) -> list[list[str]]:
    """The table of the book: products and sums at three sizes."""
    sizes = {
        "products, sums": None, "4 branches of 4 links": ("12", 4), "of 8 links": ("12", 8),
        "8 branches of 4 links": ("13", 8),
    }  # fmt: skip
    shown = [result[one[0]][one[1]] for one in sizes.values() if one]
    return [
        list(sizes),
        *([name, *(f"{one[name][0]:.0f}, {one[name][1]:.0f}" for one in shown)]
          for name in shown[0]),
    ]  # fmt: skip


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plot", type=Path, help="file for the figures")
    parser.add_argument("--most", type=int, default=16, help="most links, and most branches")
    parser.add_argument("--write", type=Path, help="file for the table of the book")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    arguments = parser.parse_args()
    result = figures(arguments.most)
    if arguments.json:
        print(json.dumps(result, indent=2))
    else:
        for number, counts in result.items():
            over = "links" if number == "12" else "branches"
            print(f"figure {number}: products, sums over {over}")
            for name in next(iter(counts.values())):
                cells = [f"{one[name][0]:.0f}, {one[name][1]:.0f}" for one in counts.values()]
                print(f"{name:48}" + "".join(f"{cell:>16}" for cell in cells))
    if arguments.plot is not None:
        plot(result, arguments.plot)
    if arguments.write is not None:
        write_table(arguments.write, rows(result))


if __name__ == "__main__":
    main()
