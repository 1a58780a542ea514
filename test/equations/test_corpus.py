"""Every real robot: our equations against Pinocchio's, fixed and floating base."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from corpus import label, readable_urdf_files

import mbdyn_ros

pytest.importorskip("pinocchio")
from judge import Judge  # noqa: E402

TOLERANCE = 1e-9


def assert_close(ours: object, theirs: object, what: str) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, what
    scale = np.abs(theirs).max(initial=1e-300)
    gap = np.abs(ours - theirs).max(initial=0.0) / scale
    assert gap <= TOLERANCE, f"{what}: relative gap {gap:.2e}"


ONE_OF_EACH = {path.parent.parent: path for path in reversed(readable_urdf_files())}.values()
"""The first file of every maker: its others are the same robot with and without hands."""

DOZENS_OF_JOINTS = {
    "alex_nub_hands", "baxter", "centauro", "human", "icub", "pr2", "romeo", "simple_humanoid",
    "talos_full_v2", "tiago", "tiago_pro",
}  # fmt: skip
"""Robots that take seconds each; where time is short, g1 stands for them."""

ON_ITS_BASE = [
    pytest.param(
        path,
        floating_base,
        id=f"{label(path)}-{'floating' if floating_base else 'fixed'}",
        marks=[]
        if floating_base == bool(place % 2)
        and path in ONE_OF_EACH
        and path.stem not in DOZENS_OF_JOINTS
        else pytest.mark.long,
    )
    for place, path in enumerate(readable_urdf_files())
    for floating_base in (False, True)
]
"""Every file on both bases; where time is short, each maker's first small file on one of them."""


@pytest.mark.sparse(of=6)
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("path", "floating_base"), ON_ITS_BASE)
def test_agrees_with_pinocchio(path: Path, floating_base: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        robot = mbdyn_ros.load(path, floating_base=floating_base)
    judge = Judge(str(path), robot.model, floating_base)
    assert (robot.nq, robot.nv) == (judge.nq, judge.nv)
    q, v, a = judge.random_state(seed=len(path.name))

    assert_close(robot.mass_matrix(q), judge.mass_matrix(q), "mass matrix")
    assert_close(robot.gravity_vector(q), judge.gravity_vector(q), "gravity")
    assert_close(robot.energy(q, v), judge.energy(q, v), "energy")
    effort = judge.inverse_dynamics(q, v, a)
    assert_close(robot.inverse_dynamics(q, v, a, friction=False), effort, "inverse dynamics")
    if robot.massless_links:
        assert np.linalg.cond(judge.mass_matrix(q)) > 1e11, "refused for no reason"
        with pytest.raises(mbdyn_ros.SingularMassMatrixError):
            robot.forward_dynamics(q, v, effort, friction=False)
    elif robot.nv:
        ours = robot.forward_dynamics(q, v, effort, friction=False)
        assert_close(ours, judge.forward_dynamics(q, v, effort), "forward dynamics")
    link = robot.model.links[-1].name
    assert_close(robot.frame_pose(q, link), judge.frame_pose(q, link), f"pose of {link}")
    if robot.nv:
        assert_close(robot.jacobian(q, link), judge.jacobian(q, link), f"Jacobian of {link}")
