"""An arm draws a star on a wall: joints by inverse kinematics, within their limits."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

robot = mbdyn_ros.example("panda")
corners = np.exp(2j * np.pi * np.arange(6) * 2 / 5) * 0.15j
star = np.concatenate([np.linspace(*ends, 20) for ends in zip(corners, corners[1:], strict=False)])
pose = robot.frame_pose(robot.home_position, "panda_link8")
q, start = [], robot.home_position
for point in star:
    goal = pose.copy()
    goal[:3, 3] += [0, point.real, point.imag]
    found = robot.inverse_kinematics("panda_link8", goal, start=start)
    q.append(found.q)
    start = found.q
drawn = np.array([robot.frame_pose(one, "panda_link8")[:3, 3] for one in q])

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.plot(drawn[:, 1], drawn[:, 2])
left.set_aspect("equal")
left.set(xlabel="y (m)", ylabel="z (m)", title="What the hand draws")
right.plot(np.degrees(q), label=[f"joint {k + 1}" for k in range(7)])
right.set(xlabel="point", ylabel="angle (degrees)", title="How the arm does it")
figure.legend(loc="outside right upper")
plt.savefig("draw_by_inverse_kinematics.png")
