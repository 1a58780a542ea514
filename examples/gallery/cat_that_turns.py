"""Two bodies in free fall turn by moving against each other: momentum stays zero all the while."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros
from mbdyn_ros.array import Array

robot = mbdyn_ros.load(
    """<robot name="cat"><link name="front"><inertial><mass value="2"/>
    <inertia ixx=".02" iyy=".03" izz=".03" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <link name="hind"><inertial><origin xyz="-.2 0 0"/><mass value="2"/>
    <inertia ixx=".02" iyy=".03" izz=".03" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="back" type="universal"><parent link="front"/><child link="hind"/>
    <origin xyz="-.2 0 0"/><axis xyz="1 0 0"/></joint></robot>""",
    floating_base=True,
)


def bend(t: float, q: Array, v: Array) -> Array:
    """The back bends round in a circle, and never twists."""
    wanted = 0.9 * np.array([np.cos(6 * t), np.sin(6 * t)])
    return np.concatenate([np.zeros(6), 4 * (wanted - q[7:]) - 0.3 * v[6:]])


motion = mbdyn_ros.simulate(robot, robot.neutral(), np.zeros(8), 2.0, effort=bend)
momentum = robot.centroidal_momentum(motion.q, motion.v)[:, 3:]
x, y, z, w = motion.q[:, 3:7].T
roll = np.unwrap(np.arctan2(2 * (w * x + y * z), 1 - 2 * (x**2 + y**2)))

figure, (above, below) = plt.subplots(2, figsize=(7, 5))
above.plot(motion.time, np.degrees(roll))
below.plot(motion.time, momentum, label=["about x", "y", "z"])
above.set(
    xlabel="time (s)", ylabel="roll (degrees)", title="A cat turns without anything to push against"
)
below.set(xlabel="time (s)", ylabel="angular momentum (N m s)")
figure.legend(loc="outside right lower")
plt.savefig("cat_that_turns.png")
