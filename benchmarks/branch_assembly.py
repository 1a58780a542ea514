"""Which branch fills which elements of the equations of motion of a tree.

    python benchmarks/branch_assembly.py [--plot docs/branch_assembly.png]

Figures 5 to 8 of "Dynamic modeling of tree-type robotic systems by combining 3x3 rotation and 4x4
transformation matrices". A branch is a path from the base to a link that carries none. Links that
an earlier branch has are massless copies in it, so that each has its mass once: the inertia
matrices and right-hand sides of the branches, of the coordinates on their paths, add up to those of
the robot.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import mbdyn_ros
from mbdyn_ros.equations.formulation import Study
from mbdyn_ros.equations.textbook.gibbs_appell import gibbs_appell
from mbdyn_ros.model.inertia import RigidInertia
from mbdyn_ros.model.model import Array
from mbdyn_ros.prepare.clusters import path_from
from mbdyn_ros.prepare.tree import WORLD

ROOT = Path(__file__).resolve().parent.parent
NOTHING = 1e-12
MASSLESS = RigidInertia(0.0, np.zeros(3), np.zeros((3, 3)))


@dataclass(frozen=True)
class Branch:
    """A branch of a tree.

    links : names of those that move and have mass here. copies : of massless ones. inertia : its
        share of I (nv, nv). right : its share of Re (nv,).
    """

    links: tuple[str, ...]
    copies: tuple[str, ...]
    inertia: Array
    right: Array

    def fills(self, row: int, column: int) -> bool:
        """Whether it has a share in an element of I or, in the column after these, of Re."""
        number = self.right[row] if column == len(self.right) else self.inertia[row, column]
        return abs(number) > NOTHING


def branches(robot: mbdyn_ros.Robot, q: Array, v: Array) -> list[Branch]:
    """The branches at a state without efforts, in the order of the description."""
    study = Study(robot.system)
    tree, seen = study.system.tree, set[int]()
    parents = {body.parent for body in tree.bodies}
    found = []
    tips = (k for k in range(len(tree.bodies)) if k not in parents)
    for tip in sorted(tips, key=lambda k: robot.links.index(tree.bodies[k].name)):
        path = path_from(tree, WORLD, tip)
        own = set(path) - seen
        seen |= own
        bodies = [
            body if k in own else replace(body, inertia=MASSLESS)
            for k, body in enumerate(tree.bodies)
        ]
        parts = gibbs_appell(
            replace(tree, bodies=tuple(bodies)), study.joints, study.velocity,
            ca.SX.zeros(tree.nv), study.gravity,
        )  # fmt: skip
        function = ca.Function("branch", [study.q, study.v], list(parts))
        inertia, right = (np.array(one) for one in function(q, v))
        massive = [k for k in path if tree.bodies[k].inertia.mass]
        links, copies = (
            tuple(tree.bodies[k].name for k in massive if (k in own) is real)
            for real in (True, False)
        )
        found.append(Branch(links, copies, inertia, right[:, 0]))
    return found


def plot(robot: mbdyn_ros.Robot, found: list[Branch], path: Path) -> None:
    """Figures 5 and 6 above, a branch each; 7 and 8 below: the branches that fill an element."""
    from mbdyn_ros.view.figure import color_of, empty_figure, save_figure

    count = len(found)
    figure = empty_figure(3.4 * count, 7.6)
    axes = figure.subplots(2, count, squeeze=False)
    shown = [(axes[0][m], [m], f"branch {m + 1}: {', '.join(one.links)}")
             for m, one in enumerate(found)]  # fmt: skip
    shown.append((axes[1][0], list(range(count)), "I and, on the right, Re of the robot"))
    for at, which, title in shown:
        at.set_title(title, loc="left", fontsize=9)
        nv = len(found[0].right)
        at.set_xlim(-0.5, nv + 1.5)
        at.set_ylim(nv - 0.5, -0.5)
        at.set_aspect("equal")
        at.set_xticks([])
        at.set_yticks(range(nv), robot.velocity_labels, fontsize=6)
        for row, column in np.ndindex(nv, nv + 1):
            fills = [m for m in which if found[m].fills(row, column)]
            for place, m in enumerate(fills):  # side by side
                at.add_patch(_box(column + (column == nv), row, place, len(fills), color_of(m)))
    for empty in axes[1][1:]:
        empty.set_axis_off()
    for m, one in enumerate(found):
        copies = f"; massless copies of {', '.join(one.copies)}" if one.copies else ""
        words = f"branch {m + 1}: {', '.join(one.links)}{copies}"
        line = axes[1][1].text(0, 0.9 - 0.15 * m, words, color=color_of(m), fontsize=9)
        line.set_in_layout(False)
    save_figure(figure, path)


def _box(column: int, row: int, place: int, count: int, color: str) -> Any:
    from matplotlib.patches import Rectangle

    corner = column - 0.45 + 0.9 * place / count, row - 0.45
    return Rectangle(corner, 0.9 / count, 0.9, color=color, lw=0)


def text(robot: mbdyn_ros.Robot, found: list[Branch]) -> str:
    """The branches that fill each element of I, and of Re in the last column, by their numbers."""
    nv = robot.nv
    cells = [
        ["".join(str(m + 1) for m, one in enumerate(found) if one.fills(row, column)) or "."
         for column in range(nv + 1)]
        for row in range(nv)
    ]  # fmt: skip
    lines = [f"branch {m + 1}: {', '.join(one.links)}" for m, one in enumerate(found)]
    names = robot.velocity_labels
    lines += [f"{name:10}" + "".join(f"{one:>6}" for one in row)
              for name, row in zip(names, cells, strict=True)]  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plot", type=Path, help="file for the figures")
    arguments = parser.parse_args()
    robot = mbdyn_ros.load(ROOT / "urdf" / "tree_robot.urdf")
    random = np.random.default_rng(0)
    found = branches(robot, robot.random(random), random.normal(size=robot.nv))
    print(text(robot, found))
    if arguments.plot is not None:
        plot(robot, found, arguments.plot)


if __name__ == "__main__":
    main()
