"""Inertias from a recorded motion with noise: what efforts determine, and how well."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

robot, random = mbdyn_ros.example("ur5"), np.random.default_rng(1)
base = robot.base_parameters()
t = np.linspace(0, 10, 1500)[:, None]
w = np.array([2.0, 1.6, 2.4, 3.0, 3.6, 4.2])
amplitude = np.array([0.8, 0.5, 0.6, 0.8, 0.8, 0.8])
q = amplitude * np.sin(w * t) + [0, -1.2, 1.2, 0, 0, 0]
v, a = amplitude * w * np.cos(w * t), -amplitude * w**2 * np.sin(w * t)
deviation = np.array([0.3, 0.3, 0.2, 0.05, 0.05, 0.05])
noise = deviation * random.normal(size=(1500, 6))
measured = robot.inverse_dynamics(q, v, a, friction=False) + noise

columns = robot.regressor(q, v, a)[..., base.independent] / deviation[:, None]
rows = columns.reshape(-1, len(base.values))
found, *_ = np.linalg.lstsq(rows, (measured / deviation).ravel(), rcond=None)
deviation = np.sqrt(np.diag(np.linalg.inv(rows.T @ rows)))
order = np.argsort(-np.abs(base.values) / deviation)

figure, axes = plt.subplots(figsize=(7, 5))
axes.axhspan(-2, 2, color="0.92", zorder=0)
axes.scatter(np.arange(len(order)), ((found - base.values) / deviation)[order], s=18)
axes.set(
    xlabel="base parameters, the best determined first", ylabel="error (standard deviations)",
    title=f"{len(base.values)} base parameters of a UR5 from ten noisy seconds",
)  # fmt: skip
plt.savefig("identify_inertias.png")
