"""Inertias from a recorded motion with noise: what efforts can tell, and how well they do."""

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
noise = random.normal(0, [0.3, 0.3, 0.2, 0.05, 0.05, 0.05], (1500, 6))
measured = robot.inverse_dynamics(q, v, a, friction=False) + noise

columns = robot.regressor(q, v, a)[..., base.independent].reshape(-1, len(base.values))
found, *_ = np.linalg.lstsq(columns, measured.ravel(), rcond=None)

figure, axes = plt.subplots(figsize=(7, 5))
axes.scatter(base.values, found, s=18)
axes.axline((0, 0), slope=1, color="0.6", zorder=0)
axes.set(
    xlabel="by the description (kg, kg m, kg m²)", ylabel="found",
    title=f"{len(base.values)} base parameters of a UR5 from ten noisy seconds",
)  # fmt: skip
plt.savefig("identify_inertias.png")
