"""A quadruped is dropped and stands: contact in equal steps, springs in its joints."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros
from mbdyn_ros import Environment, Stepper, Surface

robot = mbdyn_ros.example("quadruped", floating_base=True)
start = robot.home_position.copy()
start[2] = 0.5
floor = Environment([Surface.plane(restitution=0.0, friction=0.8, name="floor")])
stepper = Stepper(robot, 1e-3, floor)
stepper.set_state(start, np.zeros(robot.nv))
height, load = [], []
for _ in range(1000):
    stepper.effort[6:] = 80 * (start[7:] - stepper.q[7:]) - 3 * stepper.v[6:]
    stepper.advance()
    height.append(stepper.q[2])
    load.append(sum(float(np.linalg.norm(one.force)) for one in stepper.contacts))

time = 1e-3 * np.arange(1000)
figure, (above, below) = plt.subplots(2, figsize=(7, 5))
above.plot(time, height)
below.plot(time, load)
above.set(xlabel="time (s)", ylabel="height of the trunk (m)", title="Dropped from half a metre")
below.set(xlabel="time (s)", ylabel="force of the floor (N)")
below.set_ylim(0, 1500)
plt.savefig("quadruped_stands.png")
