"""Better pins for an excavator, by gradients: less pressure over the same dig, the same reach."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import mbdyn_ros
from mbdyn_ros.array import Array

cylinders, ends = ("lift", "reach", "curl"), ("barrel_joint", "pin/successor")
names = [f"{one}_{end}/{axis}" for one in cylinders for end in ends for axis in "xz"]
robot = mbdyn_ros.example("excavator", variable=["bucket", *names])
joints = ["slew_joint", "boom_joint", "stick_joint", "bucket_joint"]
strokes = [robot.joint_names.index(f"{one}_rod_joint") for one in cylinders]
angles = [robot.joint_names.index(joint) for joint in joints]
t = np.linspace(0, 2 * np.pi, 48, endpoint=False)[:, None]
dig = np.array([0, 0.12, 0.15, 0.12]) * np.sin(t + [0, 0, 1, 2])
corners = np.stack(np.meshgrid(0, [-0.23, 0.23], [-0.19, 0.19], [-0.14, 0.14]), -1).reshape(-1, 4)
dig, corners = (robot.joint_state(q)[0][:, angles] for q in (dig, corners))
robot = robot.with_independent(joints, robot.home)
robot.set_payload("bucket", 300.0, com=(-0.1, 0, -0.3))
shift = [robot.parameter_labels().index(name) for name in names]
first, rest = robot.parameter_values()[shift], np.zeros(4)
area = 1e6 * np.pi / 4 * np.array([0.12, 0.10, 0.09]) ** 2  # mm^2, of the pistons


def build(lengths: Array) -> mbdyn_ros.Robot:
    numbers = robot.parameter_values()
    numbers[shift] = lengths
    robot.set_parameter_values(numbers)
    return robot


def pressure(lengths: Array) -> tuple[float, Array]:
    """A smooth largest pressure (MPa) over the dig, and its gradient."""
    p = build(lengths).inverse_dynamics(dig, rest, rest)[:, 1:] / area
    by_lengths = robot.inverse_dynamics_by_parameters(dig, rest, rest)[:, 1:, shift]
    peak = float(np.mean(p**8) ** (1 / 8))
    return peak, np.einsum("nk,nkp->p", (p / peak) ** 7 / area / p.size, by_lengths)


def room(lengths: Array) -> tuple[Array, Array]:
    """What is left of each stroke at the corners of the reach, both ways, and its slopes."""
    stroke = build(lengths).joint_state(corners)[0][:, strokes].ravel()
    slopes = robot.joint_position_by_parameters(corners)[:, strokes][..., shift].reshape(-1, 12)
    most = np.tile([0.3, 0.25, 0.18], len(corners))
    return np.append(most - stroke, most + stroke), np.vstack([-slopes, slopes])


kept = {"type": "ineq", "fun": lambda x: room(x)[0], "jac": lambda x: room(x)[1]}
near = np.column_stack([first - 0.2, first + 0.2])
found = minimize(pressure, first, jac=True, bounds=near, method="SLSQP", constraints=kept)
figure, axes = plt.subplots()
for lengths, style in ((first, ":"), (found.x, "-")):
    p = np.abs(build(lengths).inverse_dynamics(dig, rest, rest)[:, 1:] / area)
    for k, name in enumerate(cylinders):
        axes.plot(t, p[:, k], f"C{k}{style}", label=name if style == "-" else None)
axes.set(xlabel="part of the dig (rad)", ylabel="pressure (MPa)", title="A dig; dotted: before")
figure.legend(loc="outside right upper")
plt.savefig("excavator_design.png")
