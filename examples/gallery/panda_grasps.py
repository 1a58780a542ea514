"""A Panda pushes a box along a table, grasps it with a gripper of closed loops, and lifts it."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.interpolate import CubicSpline

import mbdyn_ros
from mbdyn_ros import LinkContacts, World
from mbdyn_ros.model.shapes import Box

hand = mbdyn_ros.example("gripper")
arm = mbdyn_ros.example("panda").attached(hand, "panda_link8", xyz=(0, 0, 0.06), prefix="hand_")
world = World(links=LinkContacts(restitution=0.0, friction=0.6, convex=True))
world.add("arm", arm)
world.add("table", Box((0.6, 0.8, 0.04)), xyz=(0.5, 0, 0.08))
world.add("box", Box((0.1, 0.06, 0.08)), mass=0.5, xyz=(0.45, 0, 0.14))
stepper, panda = world.stepper(1e-3), world.members["arm"]

SPAN, OPEN, SHUT, GRIP = 0.8, 0.0, -0.4, -3.0  # s; rad and N m of the gripper's crank
stops = np.array([  # x and z of the hand (m), and its crank
    [0.33, 0.45, SHUT], [0.35, 0.26, SHUT], [0.44, 0.26, SHUT], [0.36, 0.45, SHUT],
    [0.50, 0.45, OPEN], [0.50, 0.25, OPEN], [0.50, 0.25, SHUT], [0.50, 0.45, SHUT],
])  # fmt: skip
pose = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, -1, 0], [0, 0, 0, 1.0]])
times, path = np.arange(0, SPAN * (len(stops) - 1) + 0.01, 0.05), [arm.home_position]
for k in times / SPAN:
    s, stop = k % 1, stops[int(k) : int(k) + 2]
    pose[0, 3], pose[2, 3], crank = stop[0] + (stop[-1] - stop[0]) * s**3 * (10 - 15 * s + 6 * s**2)
    q = arm.inverse_kinematics("hand_base", pose, start=path[-1]).require()
    path.append(np.append(q[:-1], crank))
planned = CubicSpline(times, path[1:], bc_type="clamped")

q = stepper.q.copy()
q[panda.q] = planned(0)
stepper.set_state(q, stepper.v)
middle, grip = [], []
while stepper.time < times[-1] - 1e-6:
    q, v, a = (planned(stepper.time, order) for order in range(3))
    now, rate = stepper.q[panda.q], stepper.v[panda.v]
    effort = arm.inverse_dynamics(now, rate, a + 400 * (q - now) + 40 * (v - rate))
    effort[-1] = GRIP if stepper.time > 5 * SPAN else effort[-1]
    stepper.effort[panda.effort] = effort
    stepper.advance()
    middle.append(world.robot.frame_pose(stepper.q, "box")[:3, 3])
    held = [one for one in stepper.contacts if {"box", "arm_hand_left_jaw"} == set(one.links)]
    grip.append(np.linalg.norm(sum(one.force for one in held)))

time = 1e-3 * np.arange(len(grip))
figure, (above, below) = plt.subplots(2, sharex=True, figsize=(7, 5))
above.plot(time, np.array(middle)[:, [0, 2]], label=["along the table", "height"])
above.legend()
below.plot(time, grip)
above.set(ylabel="middle of the box (m)", title="A box is pushed, grasped and lifted")
below.set(xlabel="time (s)", ylabel="force of the left jaw (N)")
plt.savefig("panda_grasps.png")
