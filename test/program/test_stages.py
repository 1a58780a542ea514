"""Programs in stages give what the same formulation gives written out."""

from __future__ import annotations

import ctypes
import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from corpus import urdf_file

import mbdyn_ros
from mbdyn_ros import Robot
from mbdyn_ros.compiler import gcc
from mbdyn_ros.compiler.cache import compile_library
from mbdyn_ros.compiler.kernel import MANY, CompiledProgram
from mbdyn_ros.compiler.options import Options
from mbdyn_ros.compiler.pipeline import c_source
from mbdyn_ros.compiler.runtime.library import runtime
from mbdyn_ros.program.program import Program, declared
from mbdyn_ros.program.stages import Staged

NAMES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
FLOATING = """<robot name="loose"><link name="world"/>
  <link name="cart"><inertial><origin xyz="0.1 0.2 0"/><mass value="3"/>
    <inertia ixx="0.4" iyy="0.5" izz="0.6" ixy="0.01" ixz="0.02" iyz="0"/></inertial></link>
  <link name="egg"><inertial><origin xyz="0 0.1 0.3"/><mass value="2"/>
    <inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0" ixz="0.01" iyz="0.02"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0.3 0 0"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="rail" type="prismatic"><parent link="world"/><child link="cart"/>
    <axis xyz="0.6 0 0.8"/><dynamics damping="2"/></joint>
  <joint name="loose" type="floating"><parent link="cart"/><child link="egg"/>
    <origin xyz="0.1 0 0.2" rpy="0.3 0 0.1"/></joint>
  <joint name="elbow" type="revolute"><parent link="egg"/><child link="arm"/>
    <origin xyz="0 0.2 0.1" rpy="0 0.7 0"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/><dynamics damping="0.5"/></joint>
</robot>"""
"""A floating joint below a moving body."""

OUT_OF_ORDER = re.sub(
    r'(<joint name="rail".*?</joint>)(.*)(<joint name="elbow".*?</joint>)',
    r"\3\2\1",
    FLOATING,
    flags=re.S,
)
"""The same with the last joint first, so that its coordinate comes before those that carry it."""

GRIPPER = """<robot name="gripper"><link name="world"/>{}{}</robot>""".format(
    "".join(
        f"""<link name="{name}"><inertial><origin xyz="{x} 0.02 0.01"/><mass value="{mass}"/>
        <inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0" iyz="0.02"/></inertial></link>"""
        for name, mass, x in (("upper", 2, 0.4), ("lower", 1, 0.3), ("finger", 0.2, 0.1),
                              ("thumb", 0.3, 0.1))
    ),
    "".join(
        f"""<joint name="to {child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
        <origin xyz="0.5 0 0.1" rpy="0.4 0 0.2"/><axis xyz="{axis}"/>
        <limit lower="-3" upper="3" effort="9" velocity="9"/><dynamics damping="0.5"/>{more}</joint>
        """
        for kind, parent, child, axis, more in (
            ("revolute", "world", "upper", "0 0 1", ""),
            ("revolute", "upper", "lower", "0 1 0", ""),
            ("prismatic", "lower", "finger", "0 0 1", ""),
            ("prismatic", "lower", "thumb", "0 0 -1", '<mimic joint="to finger" multiplier="2"/>'),
        )
    ),
)  # fmt: skip
"""An arm whose thumb follows its finger."""

ROBOTS = {
    "arm": lambda: mbdyn_ros.load(urdf_file("ur5_robot.urdf")),
    "gripper": lambda: mbdyn_ros.load(GRIPPER),
    "quadruped": lambda: mbdyn_ros.load(urdf_file("solo12.urdf"), floating_base=True),
    "egg on a cart": lambda: mbdyn_ros.load(FLOATING),
    "out of order": lambda: mbdyn_ros.load(OUT_OF_ORDER),
}


IN_STAGES = Options(written_out=0)


@pytest.fixture
def robot(request: pytest.FixtureRequest) -> Robot:
    robot = ROBOTS[request.param]()
    robot.calls.options = IN_STAGES
    return robot


EGG = pytest.mark.parametrize("robot", ["egg on a cart"], indirect=True)


def arguments(robot: Robot, count: int | None = None) -> list[np.ndarray]:
    random = np.random.default_rng(7)
    shape = () if count is None else (count,)
    q = random.uniform(-1, 1, (*shape, robot.nq))
    for start in (k for k, label in enumerate(robot.position_labels) if label.endswith("/qx")):
        turn = q[..., start : start + 4]
        turn /= np.linalg.norm(turn, axis=-1, keepdims=True)
    return [q, *random.normal(size=(2, *shape, robot.nv))]


def written_out(program: Program, inputs: list[np.ndarray]) -> np.ndarray:
    return np.array(program.function(*inputs)).T


@pytest.mark.sparse
@EGG
@pytest.mark.parametrize("name", [pytest.param(NAMES[0], marks=pytest.mark.long), NAMES[1]])
@pytest.mark.parametrize(
    "flags", [[], ["-mno-avx512f"], ["-mno-avx"]], ids=["all", "no AVX-512", "no AVX"]
)
def test_every_width_of_vectors(robot: Robot, name: str, flags: list[str], tmp_path: Path) -> None:
    ours = gcc.required_toolchain()
    narrow = dataclasses.replace(ours, flags=(*ours.flags, *flags))
    if flags and narrow.lanes == ours.lanes:
        pytest.skip("this machine has no wider vectors")
    options = dataclasses.replace(IN_STAGES, lanes=narrow.lanes)
    check_single_call(robot, name, tmp_path, narrow, options)


@EGG
def test_equations_solved_in_loops(robot: Robot, tmp_path: Path) -> None:
    """As those of long chains are."""
    in_loops = dataclasses.replace(IN_STAGES, unrolled=0)
    check_single_call(robot, NAMES[1], tmp_path, options=in_loops)


@pytest.mark.parametrize("robot", ["out of order"], indirect=True)
def test_coordinates_out_of_order(robot: Robot, tmp_path: Path) -> None:
    assert robot.velocity_labels[0] == "elbow"
    check_single_call(robot, NAMES[1], tmp_path)


@pytest.mark.parametrize("robot", ["gripper"], indirect=True)
def test_factors_of_coupled_joints(robot: Robot, tmp_path: Path) -> None:
    """The derivatives of their efforts are written out; the equations are solved in stages."""
    assert robot.nv < robot.system.tree.nv
    check_single_call(robot, NAMES[1], tmp_path)


def check_single_call(
    robot: Robot,
    name: str,
    tmp_path: Path,
    toolchain: gcc.Toolchain | None = None,
    options: Options = IN_STAGES,
) -> None:
    """What the compiled program gives, what was in its arrays before, and what it leaves alone."""
    program = Program(declared(name), robot.system)
    assert isinstance(program.equations, Staged)
    text = c_source(program, options=options)
    assert "tables.h" in text, "it was written out"
    compile_library(text, tmp_path / "program.so", toolchain)
    compiled = CompiledProgram(tmp_path / "program.so")
    inputs = arguments(robot)
    given = (ctypes.c_void_p * 4)(*(x.ctypes.data for x in inputs), None)
    guard = 12.5
    whole = np.full(program.shape[0] * program.shape[1] + 16, guard)
    result, one, none = ctypes.c_void_p(whole.ctypes.data + 64), ctypes.c_size_t(1), bytes(24)
    for _ in range(2):  # what the first leaves behind must not matter
        runtime().batch_of_few(compiled.address, one, given, none, result)
    assert (whole[:8] == guard).all() and (whole[-8:] == guard).all()
    theirs = written_out(program, inputs)
    ours = whole[8:-8].reshape(program.shape)
    scale = np.abs(theirs).max()
    tolerance = 1e-13 if name == NAMES[0] else 1e-15 * np.linalg.cond(robot.mass_matrix(inputs[0]))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=max(1e-13, tolerance) * scale)


@pytest.mark.sparse(of=10)
@pytest.mark.parametrize(
    "robot",
    [
        "gripper",
        "out of order",
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in ("arm", "quadruped", "egg on a cart")
        ),
    ],
    indirect=True,
)
@pytest.mark.parametrize("name", NAMES)
def test_batches(robot: Robot, name: str) -> None:
    inputs = arguments(robot, MANY + 3)
    inputs[1][5, 0] = np.nan
    call = getattr(robot, name)
    many = np.concatenate(call(*inputs), axis=-1)
    assert np.isnan(many[5]).any()
    for k in (0, 1, 4, 6, MANY + 2):
        single = np.concatenate(call(*(x[k] for x in inputs)), axis=-1)
        scale = np.abs(single).max()
        np.testing.assert_allclose(many[k], single, rtol=0, atol=1e-12 * scale)
    assert np.isfinite(np.delete(many, 5, axis=0)).all()
    program = Program(declared(name), robot.system)
    theirs = written_out(program, [x[0] for x in inputs])
    np.testing.assert_allclose(many[0], theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())


@EGG
def test_wrenches(robot: Robot) -> None:
    """Those from outside act on the carried bodies, wherever these are turned to."""
    inputs = arguments(robot)
    tree = robot.system.tree
    link = next(name for name, (i, _) in tree.frames.items() if i == len(tree.bodies) - 1)
    wrenches = {link: np.array([3.0, -2.0, 1.0, 0.5, -0.4, 0.3])}
    ours = np.hstack(robot.inverse_dynamics_derivatives(*inputs, wrenches))
    program = Program(declared(NAMES[0]), robot.system, wrenches=True)
    array = np.zeros((6, len(tree.bodies)))
    index, pose = tree.frames[link]
    force = pose.rotation @ wrenches[link][:3]
    torque = pose.rotation @ wrenches[link][3:] + np.cross(pose.translation, force)
    array[:, index] = [*force, *torque]
    theirs = written_out(program, [*inputs, array])
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13 * np.abs(theirs).max())
    assert np.abs(ours - np.hstack(robot.inverse_dynamics_derivatives(*inputs))).max() > 0.1


def test_zeros_between_branches_stay_zeros() -> None:
    """The mass matrix of four legs of three joints: no leg meets another."""
    program = Program(declared(NAMES[1]), ROBOTS["quadruped"]().system)
    assert isinstance(program.equations, Staged)
    elimination = program.equations.elimination
    assert elimination is not None
    legs = [6 + joint for _ in range(4) for joint in range(3)]
    assert [len(row) for row in elimination.columns] == [*range(6), *legs]


def test_short_programs_are_written_out() -> None:
    robot = mbdyn_ros.load(urdf_file("ur5_robot.urdf"))
    program = Program(declared(NAMES[0]), robot.system)
    assert isinstance(program.equations, Staged)
    assert not re.search("tables.h", c_source(program))
