"""Nearest points of convex shapes: against the library coal, near, touching and a little inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mbdyn_ros.model.pose import Pose
from mbdyn_ros.simulation.contact.solids import ConvexShape, Drum, Polytope, Rounded, Solid
from mbdyn_ros.simulation.stepped.solid_tables import SolidTables

coal = pytest.importorskip("coal")

COALS = 2e-6
"""m, to which coal finds distances of what is round."""


def random_shape(rng: np.random.Generator) -> tuple[ConvexShape, Any]:
    """A shape of ours, and the same of coal's."""
    size = rng.uniform(0.05, 0.5, 3)
    kind = rng.integers(5)
    if kind == 0:
        return Polytope.box(tuple(size)), coal.Box(*size)
    if kind == 1:
        corners = rng.normal(size=(rng.integers(6, 40), 3)) * size
        points = coal.StdVec_Vec3s()
        for corner in corners:
            points.append(corner)
        return Polytope(corners), coal.Convex.convexHull(points, True, "Qt")
    if kind == 2:
        return Drum(size[0], size[1]), coal.Cylinder(size[0], size[1])
    if kind == 3:
        return Rounded(size[0]), coal.Sphere(size[0])
    return Rounded(size[0], size[1]), coal.Capsule(size[0], size[1])


def coals(one: Any, at: Pose, other: Any, there: Pose) -> float:
    """The distance (m) that coal finds."""
    poses = [coal.Transform3s(pose.rotation, pose.translation) for pose in (at, there)]
    result = coal.DistanceResult()
    return float(coal.distance(one, poses[0], other, poses[1], coal.DistanceRequest(), result))


@pytest.mark.parametrize("seed", range(60))
def test_distances_are_coals(seed: int) -> None:
    """Apart they are those of coal; moved on along the normal as much less, and below zero."""
    rng = np.random.default_rng(seed)
    one, coals_one = random_shape(rng)
    other, coals_other = random_shape(rng)
    turns = Rotation.random(2, random_state=seed).as_matrix()
    way = rng.normal(size=3)
    way *= 1.05 * (one.reach + other.reach) / np.linalg.norm(way)
    there = Pose(turns[1], rng.normal(size=3))
    at = Pose(turns[0], there.translation + way)
    tables = SolidTables(
        ((Solid("one", 0, Pose(), one), Solid("other", 1, Pose(), other)),), {0: 0, 1: 0}
    )
    far, normal, _ = tables.nearest(0, at, there)
    assert far == pytest.approx(coals(coals_one, at, coals_other, there), abs=COALS)
    within = 1e-6 if isinstance(one, Drum) or isinstance(other, Drum) else 1e-9
    for gap in (1e-3, 1e-7, 0.0, -1e-9, -1e-4):
        moved = Pose(at.rotation, at.translation - (far - gap) * normal)
        distance, again, places = tables.nearest(0, moved, there, normal)
        assert distance == pytest.approx(gap, abs=within)
        np.testing.assert_allclose(again, normal, atol=1e-3)
        np.testing.assert_allclose((places[0] - places[1]) @ again, gap, atol=within)
        if abs(gap) > COALS:
            judged = coals(coals_one, moved, coals_other, there)
            assert judged == pytest.approx(gap, abs=20 * COALS)


def test_what_is_deep_inside_comes_out_by_the_way_that_is_found() -> None:
    box = Polytope.box((1.0, 1.0, 1.0))
    tables = SolidTables(((Solid("a", 0, Pose(), box), Solid("b", 1, Pose(), box)),), {0: 0, 1: 0})
    at = Pose(np.eye(3), np.array([0.1, -0.05, 0.8]))
    depth, normal, _ = tables.nearest(0, at, Pose())
    assert depth == pytest.approx(-0.2, abs=1e-12)
    np.testing.assert_allclose(normal, [0, 0, 1], atol=1e-12)
