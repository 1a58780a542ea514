"""Where a delta robot reaches, and how well: the condition of its Jacobian in a plane."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

robot = mbdyn_ros.example("delta")
start, places, conditions = robot.home_position, [], []
for east in np.linspace(-0.45, 0.45, 21):
    for north in np.linspace(-0.45, 0.45, 21):
        goal = np.array([east, north, -0.55])
        found = robot.inverse_kinematics(
            "platform", goal, position_only=True, start=start, starts=1
        )
        if found.success:
            start = found.q
            places.append((east, north))
            conditions.append(np.linalg.cond(robot.jacobian(found.q, "platform")[:3]))

figure, axes = plt.subplots(figsize=(6, 5))
x, y = np.array(places).T
shown = axes.scatter(x, y, c=conditions, cmap="cividis", marker="s", s=60)
figure.colorbar(shown, label="condition of the Jacobian (1: as fast in all directions)")
axes.set_aspect("equal")
axes.set(xlabel="x (m)", ylabel="y (m)", title="A delta robot, 0.55 m below its motors")
plt.savefig("delta_reach.png")
