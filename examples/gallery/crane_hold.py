"""What holds a crane, everywhere: forces of two cylinders in closed loops, over their strokes."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

crane = mbdyn_ros.example("crane")
lift, tilt = (crane.independent_joints.index(f"{name}_rod_joint") for name in ("lift", "tilt"))
lower, upper = crane.position_limits
first, second = np.meshgrid(
    np.linspace(lower[lift], upper[lift], 60), np.linspace(lower[tilt], upper[tilt], 60)
)
q = np.tile(crane.home_position, (first.size, 1))
q[:, lift], q[:, tilt] = first.ravel(), second.ravel()
force = crane.gravity_vector(q)[:, lift].reshape(first.shape)

figure, axes = plt.subplots()
lines = axes.contourf(first * 1e3, second * 1e3, force / 1e3, levels=14, cmap="cividis")
figure.colorbar(lines, label="force of the lift cylinder (kN)")
axes.set(
    xlabel="lift cylinder (mm)", ylabel="tilt cylinder (mm)", title="What holds the crane's boom"
)
plt.savefig("crane_hold.png")
