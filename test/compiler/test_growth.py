"""Programs of long chains grow linearly: they are cut into functions, or become loops."""

from __future__ import annotations

import dataclasses
import re
import time

import numpy as np
import pytest
from chains import chain

import mbdyn_ros
from mbdyn_ros.compiler.block import Lane
from mbdyn_ros.compiler.from_casadi import function_code
from mbdyn_ros.compiler.kernel import MANY
from mbdyn_ros.compiler.options import Options
from mbdyn_ros.compiler.passes.angles import angles
from mbdyn_ros.compiler.passes.reciprocals import reciprocals
from mbdyn_ros.compiler.passes.roll import roll
from mbdyn_ros.compiler.pipeline import c_source, function_text
from mbdyn_ros.program.program import Program, declared

CUT = Options(longest_block=500, longest_vector_block=500)
"""Programs of moderate length are cut already."""


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_operations_and_text_grow_linearly(name: str) -> None:
    """Of programs without loops."""
    without_loops = dataclasses.replace(CUT, fewest_passes=10**6)
    operations, lines = [], []
    for joints in (16, 22, 28):  # fewer take another formulation
        robot = chain(joints)
        program = Program(declared(name), robot.system)
        operations.append(sum(program.operations.values()))
        text = c_source(program, options=without_loops)
        functions = re.findall(r"\n(?:static )?void \w+_\d+\(.*?\n}\n", text, re.DOTALL)
        lines.append(sum(text.count("\n") for text in functions))
        assert max(text.count("\n") for text in functions) < 4 * CUT.piece
    assert operations[2] - operations[1] == pytest.approx(operations[1] - operations[0], rel=0.01)
    assert lines[2] - lines[1] == pytest.approx(lines[1] - lines[0], rel=0.1)


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_a_chain_is_loops(name: str) -> None:
    """Another joint adds a row of numbers, and no more than its angle to the statements."""
    statements = []
    for joints in (15, 25):
        robot = chain(joints)
        function = Program(declared(name), robot.system).function
        text = function_text(function, "line", Lane.SINGLE, CUT)
        statements.append(text.count(";"))
    assert statements[1] - statements[0] <= 3 * 10


@pytest.mark.sparse(first=0)
@pytest.mark.parametrize(
    "name, joints, slides", [("inverse_dynamics", 30, (15,)), ("forward_dynamics", 18, ())]
)
def test_loops_compute_what_lines_do(name: str, joints: int, slides: tuple[int, ...]) -> None:
    """One state and many; other joints in between divide the loops."""
    robot = chain(joints, slides)
    robot.calls.options = CUT
    function = Program(declared(name), robot.system).function
    code = function_code(function, Lane.SINGLE)
    for one in (reciprocals, angles, roll):
        code = one(code, CUT)
    (block,) = code.blocks
    assert len(block.loops) >= 2 * (1 + len(slides))
    states = np.random.default_rng(1).uniform(-1, 1, (3, MANY, joints))
    method = getattr(robot, name)
    many = method(*states)
    for k in range(0, MANY, 16):
        expected = np.array(function(*states[:, k])).ravel()
        for found in (many[k], method(*states[:, k])):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * abs(expected).max())


@pytest.mark.long
def test_a_long_program_computes_what_a_short_one_does() -> None:
    """Forward dynamics undoes inverse dynamics, both in many pieces."""
    robot = chain(10)
    robot.calls.options = CUT
    random = np.random.default_rng(0)
    q, v, a = random.uniform(-1, 1, (3, 10))
    effort = robot.inverse_dynamics(q, v, a)
    mass, coriolis = robot.mass_matrix(q), robot.coriolis_vector(q, v)
    np.testing.assert_allclose(effort, mass @ a + coriolis + robot.gravity_vector(q), rtol=1e-9)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, effort), a, rtol=1e-7, atol=1e-7)


def test_loading_links_without_mass_grows_linearly() -> None:
    """A chain of planar joints: its mass matrix, on symbols, took 23 s of 80 of them."""

    def seconds(joints: int) -> float:
        parts = ['<robot name="chain"><link name="l0"/>']
        for k in range(1, joints + 1):
            parts.append(
                f'<link name="l{k}"/><joint name="j{k}" type="planar"><axis xyz="0 0 1"/>'
                f'<parent link="l{k - 1}"/><child link="l{k}"/></joint>'
            )
        start = time.process_time()
        robot = mbdyn_ros.load("".join(parts) + "</robot>")
        assert len(robot.massless_links) == joints
        return time.process_time() - start

    assert seconds(120) < 10 * seconds(30)
