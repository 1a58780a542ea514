"""An excavator slides its bucket under a pipe, curls it and lifts the pipe."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.interpolate import CubicSpline

import mbdyn_ros
from mbdyn_ros import LinkContacts, Stepper, Surface, World
from mbdyn_ros.model.shapes import Box, Cylinder

machine = mbdyn_ros.example("excavator")
ground = Surface.plane((0, 0, -0.5), restitution=0.0, friction=0.6, name="ground")
world = World([ground], links=LinkContacts(restitution=0.0, friction=0.4, convex=True))
world.add("excavator", machine)
for side in (-1, 1):
    world.add(f"block{side}", Box((0.3, 0.1, 0.12)), xyz=(3.3, 0.6 * side, -0.44))
world.add("pipe", Cylinder(0.15, 1.6), mass=200, xyz=(3.3, 0, -0.23), rpy=(np.pi / 2, 0, 0))

SPAN = 1.5  # s
stops = np.array([  # x and z of the bucket (m), and its turn about y
    [4.0, 0.18, -0.3], [3.42, 0.18, -0.3], [3.42, 0.3, 0.3], [3.3, 1.1, 0.35],
])  # fmt: skip
times, path = np.arange(0, SPAN * (len(stops) - 1) + 0.01, 0.05), [machine.home_position]
for k in times / SPAN:
    s, stop = k % 1, stops[int(k) : int(k) + 2]
    x, z, turn = stop[0] + (stop[-1] - stop[0]) * s**3 * (10 - 15 * s + 6 * s**2)
    pose = np.eye(4)
    pose[:3, :3] = [[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]]
    pose[:3, 3] = x, 0, z
    path.append(machine.inverse_kinematics("bucket", pose, start=path[-1]).require())
planned = CubicSpline(times, path[1:], bc_type="clamped")

digger = world.members["excavator"]
q = world.robot.home_position.copy()
q[digger.q] = planned(0)
stepper = Stepper(world.robot, 1e-3, world.environment)
stepper.set_state(q, np.zeros(world.robot.nv))
middle, force = [], []
while stepper.time < times[-1] - 1e-6:
    q, v, a = (planned(stepper.time, order) for order in range(3))
    now, rate = stepper.q[digger.q], stepper.v[digger.v]
    effort = machine.inverse_dynamics(now, rate, a + 400 * (q - now) + 40 * (v - rate))
    stepper.effort[digger.effort] = effort
    stepper.advance()
    middle.append(world.robot.frame_pose(stepper.q, "pipe")[:3, 3])
    force.append(effort)

time = 1e-3 * np.arange(len(force))
figure, (above, below) = plt.subplots(2, sharex=True, figsize=(7, 5))
above.plot(time, np.array(middle)[:, [0, 2]], label=["x", "z"])
above.legend()
below.plot(time, np.array(force)[:, 1:] / 1e3, label=["lift", "reach", "curl"])
below.legend()
above.set(ylabel="middle of the pipe (m)", title="A bucket lifts a pipe of 200 kg")
below.set(xlabel="time (s)", ylabel="force of cylinders (kN)")
plt.savefig("bucket_lifts.png")
