"""The parallel-serial paper's recursion against the compiled programs, on cranes of all kinds."""

from __future__ import annotations

import itertools
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros.equations.formulation import Study
from mbdyn_ros.equations.textbook import formulations
from mbdyn_ros.equations.textbook.parallel_serial import Manipulator, triangles_of
from mbdyn_ros.model.model import Array

pytestmark = pytest.mark.usefixtures("interpreted")
URDFS = Path(__file__).parents[3] / "urdf"


def inertial(rng: np.random.Generator) -> str:
    """A body of random mass, centre and moments."""
    x, y, z = rng.uniform(-0.3, 0.3, 3)
    a, b, c = rng.uniform(0.5, 1.0, 3)
    return (
        f'<inertial><origin xyz="{x} {y} {z}"/><mass value="{rng.uniform(1, 9)}"/>'
        f'<inertia ixx="{a}" iyy="{b}" izz="{c}" ixy="0.05" ixz="-0.02" iyz="0.03"/></inertial>'
    )


def loop(
    k: int, base: str, rng: np.random.Generator, side: int, outward: int, barrel_side: int
) -> str:
    """An upper link and a cylinder on a base: |OA| = 1, |OP| = 0.6 at `side` times 70 degrees."""
    turn, (x, y, z) = rng.uniform(-3, 3), rng.uniform(-0.5, 0.5, 3)
    P = 0.6 * np.array([np.cos(np.radians(70)), side * np.sin(np.radians(70))])
    length, angle = np.hypot(*(P - [1, 0])), np.arctan2(P[1], P[0] - 1)
    links = "".join(
        f'<link name="{n}{k}">{inertial(rng)}</link>' for n in ("upper", "barrel", "rod")
    )
    flip = "0 0" if barrel_side > 0 else f"{np.pi} 0"
    along = barrel_side * angle
    slide = outward * np.array([np.cos(along), np.sin(along)])
    bx, by = 0.4 * np.array([np.cos(along), np.sin(along)])
    px, py = (length - 0.4) * np.array([np.cos(along), np.sin(along)])
    return f"""{links}<link name="frame{k}"/>
      <joint name="mount{k}" type="fixed"><origin xyz="{x} {y} {z}" rpy="{turn} 0.4 0.3"/>
        <parent link="{base}"/><child link="frame{k}"/></joint>
      <joint name="q{k}" type="continuous" independent="false"><axis xyz="0 0 1"/>
        <parent link="frame{k}"/><child link="upper{k}"/></joint>
      <joint name="q1{k}" type="continuous" independent="false"><axis xyz="0 0 1"/>
        <origin xyz="1 0 0" rpy="{flip} 0"/><parent link="frame{k}"/>
        <child link="barrel{k}"/></joint>
      <joint name="x{k}" type="prismatic"><axis xyz="{slide[0]} {slide[1]} 0"/>
        <origin xyz="{bx} {by} 0.05"/><parent link="barrel{k}"/><child link="rod{k}"/>
        <limit lower="-0.2" upper="0.2" effort="1e6" velocity="1"/></joint>
      <loop name="pin{k}" type="revolute"><axis xyz="0 0 1"/>
        <predecessor link="rod{k}"><origin xyz="{px} {py} -0.05"
          rpy="{flip} 0"/></predecessor>
        <successor link="upper{k}"><origin xyz="{P[0]} {P[1]} 0"/></successor></loop>"""


def crane(rng: np.random.Generator, kinds: tuple[tuple[int, int, int], ...]) -> mbdyn_ros.Robot:
    """A slewing column, loops one on the other, a telescope and a turning tool."""
    text = f"""<link name="world"/><link name="column">{inertial(rng)}</link>
      <joint name="slew" type="continuous"><axis xyz="0 0 1"/><parent link="world"/>
        <child link="column"/></joint>"""
    base = "column"
    for k, kind in enumerate(kinds):
        text += loop(k, base, rng, *kind)
        base = f"upper{k}"
    text += f"""<link name="tool">{inertial(rng)}</link>
      <joint name="telescope" type="prismatic"><axis xyz="0 0.6 0.8"/><parent link="{base}"/>
        <child link="tool"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""
    return mbdyn_ros.load(f'<robot name="crane">{text}</robot>')


SIGNS = tuple(itertools.product((1, -1), repeat=3))


@pytest.mark.sparse
@pytest.mark.parametrize("seed", range(4))
def test_random_cranes(seed: int) -> None:
    """Two loops on one another, of all kinds, against the clusters' recursion."""
    rng = np.random.default_rng(seed)
    robot = crane(rng, (SIGNS[2 * seed], SIGNS[2 * seed + 1]))
    signs = [(one.side, one.outward) for one in triangles_of(robot.system).values()]
    assert sorted(signs) == sorted(sign[:2] for sign in (SIGNS[2 * seed], SIGNS[2 * seed + 1]))
    study = Study(robot.system)
    manipulator = Manipulator(study)
    order = manipulator.coordinates
    efforts, found = manipulator.inverse(study.a).efforts, manipulator.forward(study.effort)
    inverse = ca.Function("inverse", study.symbols, [efforts])
    forward = ca.Function("forward", study.symbols, [found])
    for _ in range(20):
        q = rng.uniform(-0.2, 0.2, robot.nq)
        v, a = rng.normal(size=(2, robot.nv))
        right = robot.inverse_dynamics(q, v, a, friction=False)[order]
        mine = np.array(inverse(q, [], v, a, np.zeros(robot.nv)))[:, 0]
        np.testing.assert_allclose(mine, right, rtol=0, atol=1e-13 * np.abs(right).max())
        back = np.array(forward(q, [], v, a, right))[:, 0]
        condition = np.linalg.cond(robot.mass_matrix(q))
        bound = 4 * np.finfo(float).eps * condition * np.abs(a).max() + 1e-13
        np.testing.assert_allclose(back, a[order], rtol=0, atol=bound)


def assembled(
    robot: mbdyn_ros.Robot, q: Array, v: Array, efforts: Array
) -> list[tuple[Array, ...]]:
    study = Study(robot.system)
    made = Manipulator(study).assemblies(study.effort)
    whole = [value for one in made for value in (one.mu, one.b, one.beta_0, one.inertia, one.bias)]
    values = ca.Function("assemblies", study.symbols, whole)(q, [], v, np.zeros(len(v)), efforts)
    numbers = [np.array(value) for value in values]
    return [tuple(numbers[k : k + 5]) for k in range(0, len(numbers), 5)]


def test_the_scalar_equation_of_a_cylinder() -> None:
    """(35), (36): on the ground f = mu xdd + beta, where mu is the mass matrix."""
    robot = mbdyn_ros.load(URDFS / "boom.urdf")
    q, v = np.array([0.1]), np.array([0.2])
    ((mu, b, beta_0, inertia, _),) = assembled(robot, q, v, np.zeros(1))
    beta = (b.T @ [0, 0, 0, *-robot.gravity])[0] + beta_0[0]
    np.testing.assert_allclose(mu[0], robot.mass_matrix(q)[0], rtol=1e-13)
    bias = robot.inverse_dynamics(q, v, np.zeros(1), friction=False)
    np.testing.assert_allclose(beta, bias, rtol=1e-13)
    np.testing.assert_allclose(inertia, inertia.T, atol=1e-10)
    assert np.linalg.eigvalsh(inertia).min() > -1e-9


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["excavator.urdf", "four_bar.urdf", "ur5.urdf", "stewart.urdf"])
def test_other_machines_are_not_of_its_class(name: str) -> None:
    study = Study(mbdyn_ros.load(URDFS / name).system)
    applying = [one for one in formulations() if one.method == "parallel-serial modules"]
    assert len(applying) == 2
    assert not any(one.applies(study) for one in applying)
