"""What a mechanism's page computes and draws, without a browser."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros.mechanisms import MECHANISMS, FiveBar, FourBar, Link, Mechanism, SliderCrank
from mbdyn_ros.mechanisms.view.run import Drive, Run
from mbdyn_ros.view.scene.part_mesh import FACES, block_outline, rounded_outline, solid

DRIVE = Drive((10.0,), (0.0,))


def drive(kind: type[Mechanism]) -> Drive:
    return Drive((10.0,) * len(kind.inputs), (0.0,) * len(kind.inputs))


@pytest.mark.parametrize("kind", MECHANISMS.values(), ids=MECHANISMS)
def test_every_mechanism_runs(kind: type[Mechanism], interpreted: None) -> None:
    run = Run(kind(), drive(kind))
    assert run.swings is None and run.x[-1] == pytest.approx(360)
    lines = run.torque_lines()
    assert len(lines) == 2 * len(kind.inputs)
    for quantity in ("positions", "speeds", "accelerations"):
        turning, sliding = run.joint_lines(quantity)
        assert len(turning) + len(sliding) == len(run.mechanism.joint_names)
    forces, none = run.joint_lines("forces in joints")
    assert none == [] and all((line.y[1:170] >= 0).all() for line in forces)


def test_the_torque_is_the_robots(interpreted: None) -> None:
    """Against the URDF+ that is downloaded."""
    run = Run(SliderCrank(offset=0.02), DRIVE)
    robot = mbdyn_ros.load(run.mechanism.urdf())
    q = run.motion.q[::45]
    there = robot.inverse_dynamics(q, run.motion.v[::45], run.motion.a[::45])
    assert np.abs(there - run.torque[::45]).max() < 1e-9


def test_a_crank_between_toggles_swings(interpreted: None) -> None:
    run = Run(FourBar(crank=Link(0.3), ground=0.4), DRIVE)
    assert run.swings is not None and run.across == "time (s)"
    low, high = run.swings
    q, v = run.motion.q[:, 0], run.motion.v[:, 0]
    assert low < q.min() and q.max() < high
    assert np.abs(v).max() == pytest.approx(10.0, rel=1e-3)
    slope = np.gradient(q, run.motion.time, edge_order=2)
    assert np.abs(slope - v).max() < 0.01
    assert np.isfinite(run.torque).all()


def test_two_cranks_that_part_are_explained(interpreted: None) -> None:
    with pytest.raises(mbdyn_ros.InputError, match="cannot be assembled with the crank and"):
        Run(FiveBar(coupler=Link(0.1), second_coupler=Link(0.12)),
            Drive((10.0, -10.0), (0.0, math.pi)))  # fmt: skip


def test_csv_holds_what_the_charts_show(interpreted: None) -> None:
    run = Run(FourBar(), DRIVE)
    header, *rows = run.csv().splitlines()
    assert header.startswith("time,position/crank_joint") and "effort/crank_joint" in header
    assert len(rows) == 361
    assert float(rows[90].rpartition(",")[2]) == pytest.approx(run.torque[90, 0])


@pytest.mark.parametrize(
    "outline",
    [
        rounded_outline([(0, 0), (0.3, 0)], 0.02),
        rounded_outline([(0, 0), (0.3, 0), (0.1, 0.2)], 0.02),
        block_outline(0.1, 0.06),
    ],
)
def test_solids_are_closed_and_face_outwards(outline: np.ndarray) -> None:
    trimesh = pytest.importorskip("trimesh")
    mesh = trimesh.Trimesh(solid(outline, -0.01, 0.02), FACES)
    assert mesh.is_watertight and mesh.is_winding_consistent
    x, y = outline.T
    area = 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
    assert mesh.volume == pytest.approx(0.03 * area)
