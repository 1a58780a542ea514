"""Gradient of a motion: backwards through a rollout, for efforts that bring a crane to its goal."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import mbdyn_ros
from mbdyn_ros.array import Array

crane = mbdyn_ros.example("crane")  # two cylinders in closed loops, slew and telescope
dt, steps = 0.02, 50
start, rest = crane.home_position, np.zeros(crane.nv)
goal = start + [0.4, 0.05, 0.05, 0.1]  # rad and m
holding, scale = crane.gravity_vector(start), np.array([1e3, 1e3, 1e3, 30])  # N m and N


def motion(x: Array) -> tuple[Array, Array, Array]:
    """The efforts that x scales, and the positions and velocities that they lead to."""
    efforts = holding + scale * x.reshape(steps, -1)
    q, v = crane.rollout(start, rest, efforts, dt, integrator="semi_implicit")
    return efforts, q, v


def cost(x: Array) -> tuple[float, Array]:
    """How far the motion ends from the goal, how fast, at what effort; and the gradient of that."""
    efforts, q, v = motion(x)
    away = q[-1] - goal
    value = 1000 * away @ away + 100 * v[-1] @ v[-1] + 1e-3 * x @ x
    before = np.vstack([start, q[:-1]]), np.vstack([rest, v[:-1]])
    by_q, by_v, by_effort = crane.forward_dynamics_derivatives(*before, efforts)
    to_q, to_v, gradient = 2000 * away, 200 * v[-1], 2e-3 * x.reshape(steps, -1)
    for k in reversed(range(steps)):  # v' = v + dt a(q, v, effort), q' = q + dt v'
        to_v = to_v + dt * to_q
        gradient[k] += dt * scale * (by_effort[k].T @ to_v)
        to_q, to_v = to_q + dt * by_q[k].T @ to_v, to_v + dt * by_v[k].T @ to_v
    return value, gradient.ravel()


x, way = np.zeros(steps * crane.nv), np.random.default_rng(0).normal(size=steps * crane.nv)
difference = (cost(x + 1e-5 * way)[0] - cost(x - 1e-5 * way)[0]) / 2e-5  # along some way
assert abs(cost(x)[1] @ way - difference) < 1e-6 * abs(difference)
found = minimize(cost, x, jac=True, method="L-BFGS-B", options={"maxiter": 100})
assert found.fun < 0.01 * cost(x)[0]

figure, axes = plt.subplots(figsize=(7, 4))
shares = (motion(found.x)[1] - start) / (goal - start)
axes.plot(dt * np.arange(1, steps + 1), shares, label=crane.independent_joints)
axes.set(xlabel="time (s)", ylabel="share of the way", title="A crane on its way to the goal")
axes.legend()
plt.savefig("gradient_of_a_motion.png")
