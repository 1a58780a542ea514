"""Branches of the tree robot's paper add up to the robot."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.branch_assembly import branches, text
from benchmarks.tree_impact import load


@pytest.mark.usefixtures("interpreted")
def test_branches_fill_the_equations_of_motion() -> None:
    robot, _ = load()
    random = np.random.default_rng(0)
    q, v = robot.random(random), random.normal(size=robot.nv)
    found = branches(robot, q, v)
    assert [one.links for one in found] == [
        ("link1", "link2", "link3", "link4"), ("link5", "link6", "link7"), ("link8",),
        ("link9", "link10"),
    ]  # fmt: skip
    assert found[1].copies == ("link1", "link2") and found[2].copies == ("link1", "link2", "link5")
    inertia, right = sum(one.inertia for one in found), sum(one.right for one in found)
    np.testing.assert_allclose(inertia, robot.mass_matrix(q), atol=1e-12)
    np.testing.assert_allclose(right, -robot.bias_vector(q, v), atol=1e-10)
    assert text(robot, found).splitlines()[-1].split()[:3] == ["q10", "4", "4"]
