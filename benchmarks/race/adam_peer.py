"""adam in the race: its CasADi programs, compiled as ours are, called by CasADi's buffers."""

from __future__ import annotations

import tempfile
from importlib.metadata import version
from pathlib import Path

import casadi as ca
import numpy as np
from adam.casadi import KinDynComputations

from mbdyn_ros.bench.benchmark import Call
from mbdyn_ros.compiler.cache import compile_library
from mbdyn_ros.model.model import Array

from .contestant import run
from .robots import Runner

MOST_JOINTS = 20
"""Joints beyond which its programs take minutes to compile."""


class Adam:
    """Its mass matrix M and bias h, and what its users make of them: M a + h, and M a = effort - h.

    Programs for a fixed base leave the rows of the base out.
    """

    name, version = "adam, compiled", version("adam-robotics")

    def __init__(self, runner: Runner, programs: tuple[str, ...]) -> None:
        self.calls: dict[str, Call] = {}
        robot = runner.robot
        if robot.nv > MOST_JOINTS:
            return
        self._folder = tempfile.TemporaryDirectory(prefix="mbdyn-race-")
        file = Path(self._folder.name, "robot.urdf")
        file.write_text(runner.text, encoding="utf-8")
        names, gravity = list(robot.independent_joints), np.array([0, 0, -9.81, 0, 0, 0])
        dynamics = KinDynComputations(str(file), names, gravity=gravity)
        q, v, x = (ca.SX.sym(key, len(names)) for key in ("q", "v", "x"))
        base = ca.SX.zeros(6) if not runner.entry.floating_base else ca.SX.sym("x", 6)
        skip = 0 if runner.entry.floating_base else 6
        try:
            mass = dynamics.mass_matrix_fun()(np.eye(4), q)[skip:, skip:]
            bias = dynamics.bias_force_fun()(np.eye(4), q, np.zeros(6), v)[skip:]
        except RuntimeError:  # adam 0.5.0 fails on prismatic joints
            return
        x = x if skip else ca.vertcat(base, x)
        results = {
            "inverse_dynamics": mass @ x + bias,
            "forward_dynamics": ca.solve(mass, x - bias),
            "mass_matrix": mass,
        }
        values = {"inverse_dynamics": runner.a, "forward_dynamics": runner.effort}
        joints = slice(7 * runner.entry.floating_base, None)
        rates = slice(6 * runner.entry.floating_base, None)
        for program in (name for name in programs if name in results):
            state = [runner.q[joints], runner.v[rates], values.get(program, runner.a)]
            self.calls[program] = self._call(program, [q, v, x], results[program], state)

    def _call(self, name: str, symbols: list[ca.SX], result: ca.SX, values: list[Array]) -> Call:
        """Compile a program with our flags and tie it to arrays."""
        function = ca.Function(name, symbols, [ca.densify(result)], {"cse": True})
        generator = ca.CodeGenerator("adam.c", {"with_header": False})
        generator.add(function)
        library = Path(self._folder.name, f"{name}.so")
        compile_library(generator.dump(), library)
        buffer, evaluate = ca.external(name, str(library)).buffer()
        arrays, found = [value.copy() for value in values], np.zeros(function.numel_out(0))
        for k, array in enumerate(arrays):
            buffer.set_arg(k, memoryview(array))
        buffer.set_res(0, memoryview(found))
        return Call("call()", {"call": evaluate, "held": (buffer, arrays), "result": found})

    def answer(self, program: str) -> Array:
        """See `Contestant`."""
        run(self.calls[program])
        found: Array = self.calls[program].names["result"]
        if program == "mass_matrix":
            size = int(np.sqrt(len(found)))
            return found.reshape(size, size)
        return found
