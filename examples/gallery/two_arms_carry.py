"""Two arms press a bar between their flanges, lift it off its stand and set it down elsewhere."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.interpolate import CubicSpline

import mbdyn_ros
from mbdyn_ros import LinkContacts, Stepper, World
from mbdyn_ros.model.shapes import Box

arm = mbdyn_ros.example("ur5")
world = World(links=LinkContacts(restitution=0.0, friction=0.6, convex=True))
world.add("left", arm, xyz=(-0.75, 0, 0))
world.add("right", arm, xyz=(0.75, 0, 0), rpy=(0, 0, np.pi))
world.add("stand", Box((0.2, 1.0, 0.3)), xyz=(0, 0, 0.15))
world.add("bar", Box((0.5, 0.08, 0.08)), mass=3.0, xyz=(0, -0.2, 0.34))

SPAN, PRESS = 1.0, 60.0  # s, N
stops = np.array([  # x, y and z of the left flange before its arm (m)
    [0.42, -0.2, 0.34], [0.5, -0.2, 0.34], [0.5, -0.2, 0.54], [0.5, 0.2, 0.54], [0.5, 0.2, 0.34],
])  # fmt: skip
times = np.arange(0, SPAN * (len(stops) - 1) + 0.01, 0.05)
pose = np.array([[0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1.0]])
ways, start = [], np.array([0, -1.5, 1.8, -0.3, 1.5, 0])
for side in (1, -1):
    path = [start]
    for k in times / SPAN:
        s, stop = k % 1, stops[int(k) : int(k) + 2]
        pose[:3, 3] = stop[0] + (stop[-1] - stop[0]) * s**3 * (10 - 15 * s + 6 * s**2)
        pose[1, 3] *= side
        path.append(arm.inverse_kinematics("tool0", pose, start=path[-1]).require())
    ways.append(CubicSpline(times, path[1:], bc_type="clamped"))

arms = [world.members[name] for name in ("left", "right")]
q = world.robot.home_position.copy()
for one, way in zip(arms, ways, strict=True):
    q[one.q] = way(0)
stepper = Stepper(world.robot, 1e-3, world.environment)
stepper.set_state(q, np.zeros(world.robot.nv))
middle, force = [], []
while stepper.time < times[-1] - 1e-6:
    for one, way in zip(arms, ways, strict=True):
        q, v, a = (way(stepper.time, order) for order in range(3))
        now, rate = stepper.q[one.q], stepper.v[one.v]
        effort = arm.inverse_dynamics(now, rate, a + 400 * (q - now) + 40 * (v - rate))
        press = PRESS * (stepper.time > 0.9 * SPAN) * arm.jacobian(now, "tool0")[0]
        stepper.effort[one.effort] = effort + press
    stepper.advance()
    middle.append(world.robot.frame_pose(stepper.q, "bar")[:3, 3])
    held = [one for one in stepper.contacts if {"bar", "left_wrist_3_link"} == set(one.links)]
    force.append(np.linalg.norm(sum(one.force for one in held)))

time = 1e-3 * np.arange(len(force))
figure, (above, below) = plt.subplots(2, sharex=True, figsize=(7, 5))
above.plot(time, middle, label=["x", "y", "z"])
above.legend()
below.plot(time, force)
above.set(ylabel="middle of the bar (m)", title="Two arms carry a bar")
below.set(xlabel="time (s)", ylabel="force of the left arm (N)")
plt.savefig("two_arms_carry.png")
