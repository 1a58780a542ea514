"""This library in the race: bound programs and plain methods."""

from __future__ import annotations

import numpy as np

from mbdyn_ros.bench.benchmark import Call
from mbdyn_ros.model.model import Array
from mbdyn_ros.program.program import declared

from .contestant import run
from .robots import Runner

LARGEST = {
    "mass_matrix": 60,
    "inverse_dynamics_derivatives": 40,
    "forward_dynamics_derivatives": 40,
}
"""Joints beyond which a matrix is left out: its size, and the time that its program takes to
compile, grows with the square."""


class Bound:
    """Compiled programs with arrays of their own."""

    name, version = "mbdyn_ros, bound", "this one"

    def __init__(self, runner: Runner, programs: tuple[str, ...]) -> None:
        self.calls: dict[str, Call] = {}
        for program in programs:
            if runner.robot.nv > LARGEST.get(program, np.inf):
                continue
            bound = runner.robot.bind(program)
            for key in declared(program).inputs:
                getattr(bound, key)[:] = getattr(runner, key)
            self.calls[program] = Call("call()", {"call": bound})

    def answer(self, program: str) -> Array:
        """See `Contestant`."""
        run(self.calls[program])
        result: Array = self.calls[program].names["call"].result
        return result


class Plain:
    """Methods of the robot: arguments checked, a new array returned."""

    name, version = "mbdyn_ros, plain", "this one"

    def __init__(self, runner: Runner, programs: tuple[str, ...]) -> None:
        self.calls = {}
        for program in programs:
            if runner.robot.nv > LARGEST.get(program, np.inf):
                continue
            inputs = declared(program).inputs
            names = {key: getattr(runner, key) for key in inputs}
            statement = f"robot.{program}({', '.join(inputs)})"
            self.calls[program] = Call(statement, {"robot": runner.robot, **names})

    def answer(self, program: str) -> Array:
        """See `Contestant`."""
        found = run(self.calls[program])
        return np.hstack(found) if isinstance(found, tuple) else found
