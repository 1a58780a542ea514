"""The optimal control of a boom on a cylinder: CasADi and IPOPT on the exact equations."""

from typing import Any

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

robot = mbdyn_ros.example("boom")
dynamics: Any = robot.casadi("inverse_dynamics")
steps, duration = 40, 1.5
dt = duration / steps
problem: Any = ca.Opti()
q, v, a = problem.variable(steps + 1), problem.variable(steps + 1), problem.variable(steps)
low, high = robot.position_limits[:, 0] * 0.8
for k in range(steps):
    problem.subject_to(v[k + 1] == v[k] + dt * a[k])
    problem.subject_to(q[k + 1] == q[k] + dt * v[k] + dt**2 / 2 * a[k])
problem.subject_to([q[0] == low, q[steps] == high, v[0] == 0, v[steps] == 0])
force = ca.vertcat(*[dynamics(q[k], v[k], a[k]) for k in range(steps)])
problem.minimize(ca.sumsqr(force / 1e4) + 1e-3 * ca.sumsqr(a))
problem.set_initial(q, np.linspace(low, high, steps + 1))
problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
answer = problem.solve()

time = dt * np.arange(steps)
figure, (above, below) = plt.subplots(2, figsize=(7, 5))
above.plot(time, answer.value(q)[:-1] * 1e3)
below.step(time, answer.value(force) / 1e3)
above.set(
    xlabel="time (s)",
    ylabel="stroke (mm)",
    title="From stop to stop with the least squares of force",
)
below.set(xlabel="time (s)", ylabel="force of the cylinder (kN)")
plt.savefig("boom_by_ipopt.png")
