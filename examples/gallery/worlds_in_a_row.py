"""Worlds in a row: 64 policies in 16 worlds each at once, to hold up a weak pendulum."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros
from mbdyn_ros.array import Array
from mbdyn_ros.model.examples import PENDULUM


class Worlds:
    """Pendulums with `reset` and `step` of Gymnasium's vector environments.

    A push is a share of 4 N m, for 0.1 s.
    """

    def __init__(self, count: int) -> None:
        self.robot, self.count = mbdyn_ros.load(PENDULUM), count

    def reset(self, seed: int | None = None) -> tuple[Array, dict[str, object]]:
        random = np.random.default_rng(seed)
        self.q, self.v = random.uniform(-np.pi, np.pi, (self.count, 1)), np.zeros((self.count, 1))
        return self.seen(), {}

    def seen(self) -> Array:
        up = self.q[:, 0] + np.pi / 2  # 0 where the rod stands
        energy = 0.6 * self.v[:, 0] ** 2 / 2 + 9.81 * (np.cos(up) - 1)  # against standing
        return np.stack([np.sin(up), np.cos(up), self.v[:, 0], energy * self.v[:, 0]], axis=1)

    def step(self, push: Array) -> tuple[Array, Array, Array, Array, dict[str, object]]:
        efforts = np.tile(4.0 * np.clip(push, -1, 1)[:, None, None], (1, 5, 1))
        self.q, self.v = self.robot.rollout(self.q, self.v, efforts, 0.02, terminal=True)
        seen, over = self.seen(), np.zeros(self.count, bool)
        return seen, seen[:, 1] - 0.02 * seen[:, 2] ** 2, over, over, {}


worlds, random = Worlds(64 * 16), np.random.default_rng(0)
mean, spread, returns = np.zeros(4), np.ones(4), []
for generation in range(8):  # each is drawn about the best of the one before
    weights = mean + spread * random.normal(size=(64, 4))
    seen = worlds.reset(seed=generation)[0]
    rewards = np.zeros(64)
    for _ in range(100):
        push = (seen * np.repeat(weights, 16, axis=0)).sum(axis=1)
        seen, reward = worlds.step(push)[:2]
        rewards += reward.reshape(64, 16).mean(axis=1) / 100
    best = weights[np.argsort(rewards)[-12:]]
    mean, spread = best.mean(axis=0), best.std(axis=0)
    returns.append(rewards)

figure, axes = plt.subplots(figsize=(7, 4))
axes.plot(np.sort(returns), ".", color="tab:blue", alpha=0.4)
axes.plot(np.max(returns, axis=1), color="tab:orange", label="the best")
axes.set(xlabel="generation", ylabel="mean reward of a step", ylim=(-1.5, 1.1))
axes.set_title("Policies in 1024 worlds; 1 is to stand")
axes.legend()
plt.savefig("worlds_in_a_row.png")
