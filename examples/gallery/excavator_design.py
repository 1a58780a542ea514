"""Better pins for an excavator: a quarter less pressure over a dig, by gradients of its lengths."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import mbdyn_ros
from mbdyn_ros.array import Array

names = [f"{cylinder}_{end}/{axis}" for cylinder in ("lift", "reach", "curl")
         for end in ("barrel_joint", "pin/successor") for axis in "xz"]  # fmt: skip
robot = mbdyn_ros.example("excavator", variable=["bucket", *names])
joints = ["slew_joint", "boom_joint", "stick_joint", "bucket_joint"]
strokes = [robot.joint_names.index(f"{one}_rod_joint") for one in ("lift", "reach", "curl")]
angles = [robot.joint_names.index(joint) for joint in joints]

# What the bucket does stays: a dig, and the corners of what the cylinders reach, both as angles.
t = np.linspace(0, 2 * np.pi, 48, endpoint=False)[:, None]
dig = np.array([0, 0.12, 0.15, 0.12]) * np.sin(t + [0, 0, 1, 2])
corners = np.stack(np.meshgrid(0, [-0.23, 0.23], [-0.19, 0.19], [-0.14, 0.14]), -1).reshape(-1, 4)
dig, corners = (robot.joint_state(q)[0][:, angles] for q in (dig, corners))
robot = robot.with_independent(joints, robot.home)
robot.set_payload("bucket", 300.0, com=(-0.1, 0, -0.3))
shift = [robot.parameter_labels().index(name) for name in names]
first, rest = robot.parameter_values()[shift], np.zeros(4)
area = np.pi / 4 * np.array([0.12, 0.10, 0.09]) ** 2  # m^2, of the pistons
limits = np.array([robot.model.joint(robot.joint_names[k]).limits.upper for k in strokes])


def build(lengths: Array) -> None:
    """Give the pins other places."""
    numbers = robot.parameter_values()
    numbers[shift] = lengths
    robot.set_parameter_values(numbers)


def pressure(lengths: Array) -> tuple[float, Array]:
    """A smooth largest pressure (MPa) over the dig, and its gradient."""
    build(lengths)
    p = robot.inverse_dynamics(dig, rest, rest)[:, 1:] / area / 1e6
    slopes = robot.inverse_dynamics_by_parameters(dig, rest, rest)[:, 1:, shift]
    slopes = slopes / area[:, None] / 1e6
    peak = float(np.mean(p**8) ** (1 / 8))
    return peak, np.einsum("nk,nkp->p", np.sign(p) * (np.abs(p) / peak) ** 7, slopes) / p.size


def room(lengths: Array) -> Array:
    """What is left of each stroke at the corners of the reach, both ways."""
    build(lengths)
    stroke = robot.joint_state(corners)[0][:, strokes]
    return np.concatenate([limits - stroke, limits + stroke]).ravel()


def room_slopes(lengths: Array) -> Array:
    build(lengths)
    slopes = robot.joint_position_by_parameters(corners)[:, strokes][..., shift]
    return np.concatenate([-slopes, slopes]).reshape(-1, len(names))


found = minimize(
    pressure, first, jac=True, method="SLSQP", options={"maxiter": 60},
    bounds=np.column_stack([first - 0.2, first + 0.2]),
    constraints={"type": "ineq", "fun": room, "jac": room_slopes},
)  # fmt: skip

figure, axes = plt.subplots()
for lengths, style in ((first, ":"), (found.x, "-")):
    build(lengths)
    p = np.abs(robot.inverse_dynamics(dig, rest, rest)[:, 1:] / area / 1e6)
    print(f"largest pressure {p.max():.2f} MPa, smooth {pressure(lengths)[0]:.2f} MPa")
    for k, name in enumerate(("lift", "reach", "curl")):
        axes.plot(t, p[:, k], f"C{k}{style}", label=name if style == "-" else None)
axes.set(xlabel="part of the dig (rad)", ylabel="pressure (MPa)", title="A dig; dotted: before")
figure.legend(loc="outside right upper")
plt.savefig("excavator_design.png")
