"""A crane with two closed loops swings a load with fatrop, the solver for chains of stages."""

from typing import Any

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

crane = mbdyn_ros.example("crane", variable=["tool"])
crane.set_payload("tool", 200.0)
efforts: Any = crane.casadi("inverse_dynamics")
n, stages, dt = crane.nv, 40, 0.05
start = crane.home_position
goal = start + np.array([0.6, 0.12, -0.08, 0.2])
limits = crane.effort_limits

# fatrop sees stages in the order x0, u0, x1, u1, ...: each next state, then what holds before it
problem: Any = ca.Opti()
states, inputs = [], []
for k in range(stages + 1):
    states.append(problem.variable(2 * n))
    if k < stages:
        inputs.append(problem.variable(n))
for k in range(stages):
    q, v, a = states[k][:n], states[k][n:], inputs[k]
    problem.subject_to(states[k + 1] == ca.vertcat(q + dt * v + dt**2 / 2 * a, v + dt * a))
    if k == 0:
        problem.subject_to(states[0] == ca.vertcat(start, np.zeros(n)))
    problem.subject_to(problem.bounded(-1, efforts(q, v, a) / limits, 1))
    problem.subject_to(problem.bounded(-crane.velocity_limits, v, crane.velocity_limits))
    problem.set_initial(states[k], np.concatenate([start + k / stages * (goal - start), 0 * goal]))
problem.subject_to(states[stages] == ca.vertcat(goal, np.zeros(n)))
problem.minimize(sum(ca.sumsqr(efforts(x[:n], x[n:], a) / limits) + 0.01 * ca.sumsqr(a)
                     for x, a in zip(states, inputs, strict=False)))  # fmt: skip
problem.solver("fatrop", {"structure_detection": "auto", "print_time": False, "expand": True},
               {"print_level": 0})  # fmt: skip
answer = problem.solve()
print(f"{answer.stats()['iter_count']} iterations")

x, a = (np.array([answer.value(one) for one in rows]) for rows in (states, inputs))
used = crane.inverse_dynamics(x[:-1, :n], x[:-1, n:], a) / limits
figure, (above, below) = plt.subplots(2, figsize=(7, 5))
above.plot(dt * np.arange(stages + 1), x[:, :n] - start, label=crane.independent_joints)
below.step(dt * np.arange(stages), 100 * used, where="post")
above.set(ylabel="moved (rad, m)", title="A crane swings 200 kg with the least squares of effort")
below.set(xlabel="time (s)", ylabel="used effort (%)")
figure.legend(loc="outside right upper")
plt.savefig("crane_by_fatrop.png")
