"""Every formulation that is declared gives what the compiled programs give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import mbdyn_ros
from benchmarks.tree_operations import operations, tree
from mbdyn_ros.equations.formulation import Formulation, Study
from mbdyn_ros.equations.textbook import formulations
from mbdyn_ros.equations.textbook.denoc import RecursiveDenoc
from mbdyn_ros.export import closed_form_program  # noqa: F401  # declares formulations too

URDFS = Path(__file__).parents[3] / "urdf"
ROBOTS = ("four_bar.urdf", "boom.urdf", "manipulator.urdf", "tree_robot.urdf", "piezo_robot.yaml")

FREE = """<robot name="free"><link name="hull"><inertial><origin xyz="0.1 0 0.2"/><mass value="3"/>
  <inertia ixx="0.3" iyy="0.2" izz="0.4" ixy="0.01" ixz="0" iyz="0"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0 0.3 0"/><mass value="1"/>
  <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0.01"/></inertial></link>
  <joint name="hip" type="revolute"><axis xyz="0 0.6 0.8"/><parent link="hull"/>
  <child link="arm"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>"""


def load(name: str) -> mbdyn_ros.Robot:
    if name == "free":
        return mbdyn_ros.load(FREE, floating_base=True)
    robot = mbdyn_ros.load(URDFS / name.removeprefix("driven "))
    if name.startswith("driven "):
        moving = [replace(one, armature=0.3 + 0.2 * k) for k, one in enumerate(robot.model.joints)]
        robot = mbdyn_ros.Robot(replace(robot.model, joints=tuple(moving)))
    return robot


def evaluated(study: Study, one: Formulation, values: list[np.ndarray]) -> np.ndarray:
    function = ca.Function("f", study.symbols, [one.expression(study)])
    return np.array(function(*values))


@pytest.mark.sparse(of=6)
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", [*ROBOTS, "free", *(f"driven {name}" for name in ROBOTS)])
def test_formulations_agree(name: str) -> None:
    robot = load(name)
    study = Study(robot.system)
    applying = [one for one in formulations() if one.applies(study)]
    methods = {one.method for one in applying}
    assert {"Newton-Euler", "composite bodies", "DeNOC"} <= methods
    assert ("Gibbs-Appell" in methods) == (not robot.system.linkages)
    single = not robot.system.linkages and name != "free"
    assert ("recursive DeNOC" in methods) == single
    assert ("parallel-serial modules" in methods) == name.endswith(
        ("boom.urdf", "manipulator.urdf")
    )
    assert ("Lagrange-Euler, closed form" in methods) == name.endswith("piezo_robot.yaml")
    rng = np.random.default_rng(7)
    q = np.array(robot.system.home)[list(robot.system.coordinates.q)]
    for start in robot.system.coordinates.quaternions:
        q[start : start + 4] = [0.5, 0.5, -0.5, 0.5]
    v, a = rng.normal(size=(2, robot.nv))
    effort = robot.inverse_dynamics(q, v, a, friction=False)
    for one in applying:
        found = evaluated(study, one, [q, np.zeros(robot.system.nz), v, a, effort])
        if one.gives == "inverse_dynamics":
            right, found = effort, found[: robot.nv, 0]
        elif one.gives == "mass_matrix":
            if robot.system.linkages and one.method != "composite bodies":
                linear = np.array(robot.system.embedding_at_home)
                found = linear.T @ found @ linear
            right = robot.mass_matrix(q)
        elif one.gives == "forward_dynamics":
            right, found = a, found[:, 0]
        else:
            right, found = found[:, :-1] @ a, found[:, -1]
        np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-9, err_msg=str(one))


def test_each_has_a_name_of_its_own() -> None:
    names = [str(one) for one in formulations()]
    assert len(names) == len(set(names)) >= 9


def test_recursive_denoc_decomposes_the_inertia_and_grows_with_the_joints() -> None:
    """I = U D U^T; a link more costs as much at 12 links as at 8."""
    robot = load("driven piezo_robot.yaml")
    study = Study(robot.system)
    recursion = RecursiveDenoc(study.system.tree, study.joints, study.velocity)
    psi, D = recursion.decomposition()
    nv, B = robot.nv, recursion.B
    U = ca.SX.eye(nv)
    for j in range(nv):
        wrench = psi[j]
        for i in range(j - 1, -1, -1):  # in a chain
            wrench = B[i + 1].T @ wrench
            U[i, j] = recursion.p[i].T @ wrench / D[j]
    product = ca.Function("I", [study.q], [U @ ca.diagcat(*D) @ U.T])
    q = np.linspace(-1, 1, nv)
    np.testing.assert_allclose(np.array(product(q)), robot.mass_matrix(q), rtol=1e-11, atol=1e-14)

    counts = {}
    for links in (8, 9, 12, 13):
        study = Study(tree(links, 1).system)
        recursion = RecursiveDenoc(study.system.tree, study.joints, study.velocity)
        both = (recursion.inverse_dynamics(study.acceleration, study.gravity),
                recursion.forward_dynamics(study.driving, study.gravity))  # fmt: skip
        counts[links] = np.array([operations(study, one) for one in both])
    np.testing.assert_allclose(counts[9] - counts[8], counts[13] - counts[12], atol=2)
