"""A boom on a cylinder as an action model of crocoddyl, with exact derivatives.

pip install crocoddyl
python -m examples.boom_by_crocoddyl
"""

from typing import Any

import crocoddyl
import numpy as np

import mbdyn_ros

boom = mbdyn_ros.example("boom")
n, dt, stages = boom.nv, 0.01, 100
goal = np.array([0.08, 0.0])


class Boom(crocoddyl.ActionModelAbstract):  # type: ignore[misc]
    """One semi-implicit step of the closed loop under a force, in units of its limit."""

    def __init__(self, weight: float) -> None:
        super().__init__(crocoddyl.StateVector(2 * n), n, 0)
        self.weight = weight
        self.u_lb, self.u_ub = -np.ones(n), np.ones(n)

    def calc(self, data: Any, x: Any, u: Any = None) -> None:
        """The next state, and the cost of this one."""
        force = np.zeros(n) if u is None else u
        v = x[n:] + dt * boom.forward_dynamics(x[:n], x[n:], force * boom.effort_limits)
        data.xnext = np.concatenate([x[:n] + dt * v, v])
        data.cost = 0.5 * (self.weight * np.sum((x - goal) ** 2) + 1e-2 * np.sum(force**2))

    def calcDiff(self, data: Any, x: Any, u: Any = None) -> None:
        """Derivatives of both, by those of the forward dynamics."""
        force = np.zeros(n) if u is None else u
        by_q, by_v, by_u = boom.forward_dynamics_derivatives(
            x[:n], x[n:], force * boom.effort_limits
        )
        rate = np.hstack([dt * by_q, np.eye(n) + dt * by_v])
        data.Fx = np.vstack([np.hstack([np.eye(n), np.zeros((n, n))]) + dt * rate, rate])
        data.Fu = np.vstack([dt * dt * by_u, dt * by_u]) * boom.effort_limits
        data.Lx, data.Lxx = self.weight * (x - goal), self.weight * np.eye(2 * n)
        data.Lu, data.Luu = 1e-2 * force, 1e-2 * np.eye(n)


start = np.array([-0.08, 0.0])
problem = crocoddyl.ShootingProblem(start, [Boom(1.0)] * stages, Boom(1e4))
solver = crocoddyl.SolverBoxFDDP(problem)
hold = boom.inverse_dynamics(start[:n], np.zeros(n), np.zeros(n)) / boom.effort_limits
solver.solve([start] * (stages + 1), [hold] * stages, 100)
print(f"{solver.iter} iterations, at the end {solver.xs[-1]}, force to {np.max(solver.us):.2f}")
