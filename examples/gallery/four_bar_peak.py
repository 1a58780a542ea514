"""A four-bar of least peak torque: lengths and a counterweight by gradients, its swing kept."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import mbdyn_ros
from mbdyn_ros.array import Array

lengths = ["rocker_joint/x", "coupler_pin/predecessor/x", "coupler_pin/successor/x"]
robot = mbdyn_ros.example("four_bar", variable=["crank", *lengths])
labels = robot.parameter_labels()
free = [labels.index(name) for name in [*lengths, "crank/mcx"]]
first, rocker = robot.parameter_values(), robot.joint_names.index("rocker_joint")
q = np.linspace(0, 2 * np.pi, 181)[:, None]
v, a = np.full_like(q, 15.0), np.zeros_like(q)  # rad/s, at constant speed


def build(x: Array) -> None:
    numbers = first.copy()
    numbers[free] = x
    robot.set_parameter_values(numbers)


def torque(x: Array) -> tuple[float, Array]:
    """A smooth largest torque (N m), and its gradient."""
    build(x)
    tau = robot.inverse_dynamics(q, v, a)[:, 0]
    by_x = robot.inverse_dynamics_by_parameters(q, v, a)[:, 0, free]
    peak = float(np.mean(tau**12) ** (1 / 12))
    return peak, np.sign(tau) * (np.abs(tau) / peak) ** 11 @ by_x / tau.size


def swing(x: Array) -> float:
    """The rocker's angle between its dead centres (rad)."""
    build(x)
    return np.ptp(robot.joint_state(q)[0][:, rocker])


def swing_slopes(x: Array) -> Array:
    """Its gradient: at its ends the rocker rests, so their places on the way do not count."""
    build(x)
    angle, by_x = robot.joint_state(q)[0][:, rocker], robot.joint_position_by_parameters(q)
    return (by_x[angle.argmax()] - by_x[angle.argmin()])[rocker, free]


start = first[free]
kept = {"type": "eq", "fun": lambda x: swing(x) - swing(start), "jac": swing_slopes}
within = [(0.28, 0.36), (0.26, 0.34), (0.21, 0.29), (-0.02, 0.02)]
found = minimize(torque, start, jac=True, method="SLSQP", constraints=kept, bounds=within)

figure, axes = plt.subplots()
for x, label in ((start, "as described"), (found.x, "least peak")):
    print(f"{label}: swing {np.degrees(swing(x)):.2f} degrees, numbers {x.round(4)}")
    tau = robot.inverse_dynamics(q, v, a)[:, 0]
    axes.plot(np.degrees(q), tau, label=f"{label}: {np.abs(tau).max():.2f} N m")
axes.set(xlabel="angle of the crank (degrees)", ylabel="torque (N m)", title="At 15 rad/s")
figure.legend(loc="outside right upper")
plt.savefig("four_bar_peak.png")
