"""A double pendulum balances upright on one motor: exact derivatives make the regulator."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import solve_continuous_are

import mbdyn_ros

ROD = (
    '<link name="{0}"><inertial><origin xyz="0 0 .5"/><mass value="1"/>'
    '<inertia ixx=".09" iyy=".09" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="{1}" type="continuous"><parent link="{2}"/><child link="{0}"/>'
    '<origin xyz="0 0 {3}"/><axis xyz="0 1 0"/></joint>'
)
robot = mbdyn_ros.load(
    '<robot name="acrobot"><link name="base"/>'
    + ROD.format("lower", "free", "base", 0) + ROD.format("upper", "driven", "lower", 1)
    + "</robot>",
    mechanism="{independent: [free, driven], actuated: [driven]}",
)  # fmt: skip
zero = np.zeros(2)
by_q, by_v, by_effort = robot.forward_dynamics_derivatives(zero, zero, np.zeros(1))
system = np.block([[np.zeros((2, 2)), np.eye(2)], [by_q, by_v]])
drive = np.vstack([np.zeros((2, 1)), by_effort])
cost = solve_continuous_are(system, drive, np.eye(4), np.eye(1))
gain = drive.T @ cost

motion = mbdyn_ros.simulate(
    robot, [0.03, -0.02], [0.0, 0.0], 3.0, effort=lambda t, q, v: -gain @ np.concatenate([q, v])
)
figure, axes = plt.subplots()
axes.plot(motion.time, np.degrees(motion.q), label=["free joint", "driven joint"])
axes.set(xlabel="time (s)", ylabel="angle (degrees)", title="Two rods upright on one motor")
figure.legend(loc="outside right upper")
plt.savefig("balance_by_lqr.png")
