"""The waist: programs declare themselves, and what compiles them knows no robot."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros.compiler.kernel import Bound
from mbdyn_ros.compiler.loading import load_kernel
from mbdyn_ros.equations.programs import mass_matrix
from mbdyn_ros.errors import InputError
from mbdyn_ros.program.program import Closing, Program, declared, offered, program

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "mbdyn_ros"


class Point:
    """Three numbers, and no robot."""

    parameters, with_home = None, False
    closing = Closing((), (), np.zeros(0), list, ca.Function)
    quaternions = ()

    def shape(self, name: str) -> tuple[int, int]:
        return 3, 1

    def digest(self) -> str:
        return "a point"


@program("q scale:1", output="squares", matrix=True, internal=True)
def squares(point: Point, q: ca.SX, z: ca.SX, scale: ca.SX) -> ca.SX:
    return scale * ca.horzcat(q, q**2)


@program("q v", output="momentum", internal=True)
def momentum(system: Any, q: ca.SX, z: ca.SX, v: ca.SX) -> ca.SX:
    return mass_matrix(system, q, z) @ v


def test_a_program_of_no_robot() -> None:
    bound = Bound(load_kernel(Program(squares, Point())))
    bound.q[:], bound.scale[:] = [1, 2, 3], 2
    bound()
    np.testing.assert_array_equal(bound.squares, [[2, 2], [4, 8], [6, 18]])


def test_a_program_of_ones_own_for_a_robot() -> None:
    """Single states, and many in vectors; loops are closed for it."""
    robot = mbdyn_ros.load(ROOT / "urdf" / "four_bar.urdf")
    q, v = np.random.default_rng(1).uniform(-0.1, 0.1, (2, 300, robot.nv))
    expected = np.einsum("kij,kj->ki", robot.mass_matrix(q), v)
    np.testing.assert_allclose(robot.calls.call(momentum, (q, v)), expected, rtol=1e-13)
    np.testing.assert_allclose(robot.calls.call(momentum, (q[0], v[0])), expected[0], rtol=1e-13)
    with pytest.raises(InputError, match="position has shape"):
        robot.calls.call(momentum, (q[0, :0], v[0]))


def test_an_unknown_program_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r'no program .mas_matrix. \(did you mean "mass_matrix"'):
        declared("mas_matrix")
    with pytest.raises(InputError, match="there are .*jacobian"):
        declared(None)
    with pytest.raises(InputError, match="no program 'momentum'"):
        declared("momentum")  # it is internal
    assert "momentum" not in offered() and "mass_matrix" in offered()


def test_a_formula_without_declaration_is_refused() -> None:
    def undeclared(system: Any, q: ca.SX, z: ca.SX) -> ca.SX:
        return q

    undeclared_formula: Any = undeclared
    with pytest.raises(InputError, match=r"undeclared.* is not a program: declare .*@program"):
        Program(undeclared_formula, Point())


def test_two_formulas_of_one_name_are_refused() -> None:
    def squares(point: Point, q: ca.SX, z: ca.SX) -> ca.SX:
        return q

    squares.__module__ = "elsewhere"
    with pytest.raises(TypeError, match="two formulas .*'squares'"):
        program("q", output="x")(squares)


def test_an_unknown_need_is_refused() -> None:
    with pytest.raises(TypeError, match=r"needs \['weight'\]; there are \['drives', 'mass', 'var"):
        program("q", output="x", needs="mass weight")(lambda point, q, z: q)


def test_keys_distinguish_programs_without_tracing() -> None:
    robot = mbdyn_ros.load(ROOT / "urdf" / "four_bar.urdf")
    inverse, jacobian = declared("inverse_dynamics"), declared("jacobian")
    made = [
        Program(inverse, robot.system),
        Program(inverse, robot.system, wrenches=True),
        Program(inverse, robot.system, friction=False),
        Program(jacobian, robot.system, "rocker"),
        Program(jacobian, robot.system, "coupler"),
        Program(momentum, robot.system),
        Program(squares, Point()),
    ]
    assert len({one.key for one in made}) == len(made)
    assert not any("equations" in vars(one) for one in made)
    assert made[0].key == Program(inverse, mbdyn_ros.load(robot.model.source).system).key


def test_the_compiler_knows_no_robot() -> None:
    for path in (PACKAGE / "compiler").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level > 1:
                room = (node.module or "").split(".")[0]
                assert room not in ("model", "equations", "robot"), path


def test_the_package_loads_without_applications_and_scipy() -> None:
    """They take longer to import than all the rest."""
    code = (
        "import sys, mbdyn_ros; late = {'scipy', 'mbdyn_ros.piezo', 'mbdyn_ros.mechanisms'}; "
        "assert not late & set(sys.modules), late & set(sys.modules); "
        "print(mbdyn_ros.piezo.Rotor.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "Rotor\n", done.stderr
