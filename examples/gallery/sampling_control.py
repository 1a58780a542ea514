"""Sampling control: 256 motions a decision swing a pendulum up that is too weak to lift itself."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros
from mbdyn_ros.model.examples import PENDULUM

robot, random = mbdyn_ros.load(PENDULUM), np.random.default_rng(0)
dt, ahead, samples, limit = 0.04, 48, 256, 4.0
top = robot.energy(np.array([[0.0], [np.pi / 2], [np.pi], [-np.pi / 2]]), np.zeros((4, 1)))[1]
goal = np.array([0.0, np.pi / 2, np.pi, -np.pi / 2])[int(np.argmax(top))]
low = np.array([0.0, np.pi / 2, np.pi, -np.pi / 2])[int(np.argmin(top))]

q, v, plan, shown = np.array([low]), np.zeros(1), np.zeros(ahead), []
for _ in range(150):
    tried = np.clip(plan + random.normal(0, 3, (samples, ahead)), -limit, limit)
    tried = np.repeat(tried[:, ::6], 6, axis=1)  # held for six steps each
    path, speed = robot.rollout(
        np.tile(q, (samples, 1)), np.tile(v, (samples, 1)), tried[..., None], dt
    )
    cost = (1 - np.cos(path[..., 0] - goal)).sum(axis=1) + 0.002 * (speed[..., 0] ** 2).sum(axis=1)
    weight = np.exp(-(cost - cost.min()) / 0.5)
    plan = weight @ tried / weight.sum()
    q, v = (one[-1] for one in robot.rollout(q, v, plan[:1, None], dt))
    shown.append((q[0], plan[0]))
    plan = np.append(plan[1:], 0.0)

figure, (above, below) = plt.subplots(2, figsize=(7, 5))
time = dt * np.arange(len(shown))
angle, torque = np.array(shown).T
above.plot(time, np.degrees(angle - goal))
below.step(time, torque)
above.set(xlabel="time (s)", ylabel="angle from upright (degrees)", title="Swing-up by sampling")
below.set(xlabel="time (s)", ylabel="torque (N m)")
plt.savefig("sampling_control.png")
