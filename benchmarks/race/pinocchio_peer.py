"""Pinocchio in the race."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from mbdyn_ros.bench.benchmark import Call, PinocchioPeer
from mbdyn_ros.model.model import Array

from .contestant import run
from .robots import Runner

FUNCTIONS = {
    "inverse_dynamics": "rnea(model, data, q, v, a)",
    "forward_dynamics": "aba(model, data, q, v, effort)",
    "mass_matrix": "crba(model, data, q)",
    "inverse_dynamics_derivatives": "computeRNEADerivatives(model, data, q, v, a)",
    "forward_dynamics_derivatives": "computeABADerivatives(model, data, q, v, effort)",
}


class Pinocchio:
    """Its Python binding."""

    name, version = "Pinocchio", pin.__version__

    def __init__(self, runner: Runner, programs: tuple[str, ...]) -> None:
        robot = runner.robot
        self.peer = PinocchioPeer(robot, runner.text, runner.q, runner.v, runner.a)
        names = {key: getattr(self.peer, key) for key in ("model", "data", "q", "v", "a", "effort")}
        self.calls = {
            program: Call(f"pin.{FUNCTIONS[program]}", {"pin": pin, **names})
            for program in programs
        }

    def answer(self, program: str) -> Array:
        """See `Contestant`."""
        result, data, embedding = run(self.calls[program]), self.peer.data, self.peer.embedding

        def symmetric(upper: Array) -> Array:
            return np.triu(upper) + np.triu(upper, 1).T

        if program == "inverse_dynamics_derivatives":
            parts = [data.dtau_dq, data.dtau_dv, symmetric(data.M)]
        elif program == "forward_dynamics_derivatives":
            parts = [data.ddq_dq, data.ddq_dv, symmetric(data.Minv)]
        else:
            whole = symmetric(result) if program == "mass_matrix" else result
            return embedding.T @ whole @ embedding if whole.ndim == 2 else embedding.T @ whole
        return np.hstack([embedding.T @ part @ embedding for part in parts])
