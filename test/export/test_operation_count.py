"""Counts of operations: by hand on the smallest robots, and the literature's tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from chains import chain
from click.testing import CliRunner

import mbdyn_ros
from benchmarks.tree_operations import OURS, counted
from mbdyn_ros.__main__ import main
from mbdyn_ros.export.operation_count import formulation_counts, literature_tables
from mbdyn_ros.prepare.tree import build_tree

URDFS = Path(__file__).parents[2] / "urdf"


@pytest.fixture(scope="module")
def piezo() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(URDFS / "piezo_robot.yaml")


@pytest.fixture(scope="module")
def counts(piezo: mbdyn_ros.Robot) -> dict[str, dict[str, int]]:
    return piezo.operation_counts()


def rail(mass: float) -> str:
    return f"""<robot name="r"><link name="w"/><link name="cart"><inertial><mass value="{mass}"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="rail" type="prismatic"><parent link="w"/><child link="cart"/></joint></robot>"""


def test_a_cart_counted_by_hand() -> None:
    """effort = m a; a = effort / m, by a division or a product with 1/m."""
    counts = mbdyn_ros.load(rail(3.0)).operation_counts()
    for name in ("inverse_dynamics", "inverse_dynamics by Newton-Euler"):
        assert list(counts[name].values()) == [1, 0, 0, 0]
    for way in ("DeNOC", "Gibbs-Appell", "Lagrange-Euler"):
        assert counts[f"inverse_dynamics by {way}"]["multiplications"] >= 1
    assert sum(counts["forward_dynamics"].values()) <= 2
    assert not any(counts["mass_matrix by composite bodies"].values())


RECURSIVE = "recursive DeNOC", "recursive DeNOC, U D U^T"


@pytest.mark.filterwarnings("ignore:.*no mass resists")
def test_every_formulation_that_applies() -> None:
    def ways(robot: mbdyn_ros.Robot) -> set[str]:
        return {name.split(" by ")[1] for name in robot.operation_counts() if " by " in name}

    forward = {"composite bodies and Newton-Euler", "articulated bodies"}
    everywhere = {"Newton-Euler", "composite bodies", "DeNOC", *forward}
    assert ways(mbdyn_ros.load(rail(1.0))) == everywhere | {
        "Gibbs-Appell", "Lagrange-Euler", "Lagrange-Euler, closed form",
        "Lagrange-Euler, dictionary of monomials", *RECURSIVE,
    }  # fmt: skip
    assert ways(mbdyn_ros.load(rail(1.0), floating_base=True)) == everywhere | {"Gibbs-Appell"}
    assert ways(mbdyn_ros.load(URDFS / "boom.urdf")) == everywhere | {"parallel-serial modules"}


@pytest.mark.long
def test_long_chains_by_recursions_alone() -> None:
    names = formulation_counts(chain(30).system)
    assert {name.split(" by ")[1] for name in names} == {
        "Newton-Euler", "composite bodies", "articulated bodies", *RECURSIVE,
    }  # fmt: skip


@pytest.mark.long
def test_the_compiled_forward_dynamics_is_the_cheapest(counts: dict[str, dict[str, int]]) -> None:
    found = {name: sum(one.values()) for name, one in counts.items() if "forward_dynamics" in name}
    whole = found.pop("forward_dynamics")
    del found["forward_dynamics_derivatives"]
    assert whole == min(found.values())


def test_the_papers_tables(piezo: mbdyn_ros.Robot, counts: dict[str, dict[str, int]]) -> None:
    """Numbers that the papers work out for six joints; table 1 at 4.5 links a branch."""
    inverse, matrix = literature_tables(piezo.system.tree, counts).values()
    assert [line[2] for line in inverse[:5]] == [852, 521, 489, 475, 371]
    assert [line[2:] for line in matrix[:4]] == [(741, 598), (710, 629), (482, 426), (144, 186)]
    ours = {line[1]: line[2:] for line in inverse + matrix if line[0] == "mbdyn_ros"}
    assert ours["Newton-Euler"][0] <= 150
    products, sums = ours["composite bodies"]
    assert products is not None and products < 144
    assert sums is not None and sums < 186
    closed = {line[2:] for line in inverse + matrix if line[1].endswith("Euler, closed form")}
    assert closed == {(371, None), (144, 186), (335, 269), (100, 68)}
    tree = build_tree(mbdyn_ros.load(URDFS / "tree_robot.urdf").model)
    ((title, lines),) = literature_tables(tree, {}).items()
    assert title == "Equations of motion, branches of 4, 4, 5, 5 links"
    branches = np.array([4, 4, 5, 5])  # O1 to O5, O9, O8 and O11
    for line, products, sums in zip(
        lines,
        ((340, 1296, 504), (186, 57, -162), (253.5, 815.5, 297)),
        ((231.5, 1055.5, 350), (148, 145, -215), (146, 643, 165)),
        strict=True,
    ):
        assert line[2:] == tuple(sum(np.polyval(one, branches)) for one in (products, sums))
    assert [line[2] for line in lines] == [53224, 15630, 36654]


@pytest.mark.long
def test_command_line() -> None:
    done = CliRunner().invoke(main, ["ops", str(URDFS / "four_bar.urdf"), "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["counts"]["inverse_dynamics"]["multiplications"] > 50
    assert document["literature"] == {}
    done = CliRunner().invoke(main, ["ops", "-"], input=rail(1.0))
    assert "inverse_dynamics by Newton-Euler" in done.stdout
    assert "Balafoutis" in done.stdout


def test_trees_grow_as_the_papers_figures() -> None:
    """Figures 12 and 13: linear in the branches, and ours below all of the paper's.

    So short branches cost less by composite bodies than by articulated ones.
    """
    sizes = {size: counted(*size) for size in ((2, 1), (2, 3), (3, 1))}
    for count in sizes.values():
        *papers, traced, composite, articulated = count.values()
        assert min(one[0] for one in papers) > traced[0] > articulated[0] > composite[0]
    for name, (products, sums) in sizes[2, 1].items():
        if name == OURS[-1]:  # except for products that vanish by chance
            assert sizes[2, 3][name] == pytest.approx((3 * products, 3 * sums), rel=0.03)
            continue
        assert sizes[2, 3][name] == (3 * products, 3 * sums)
