"""Simulated motions against wanted ones, and energy against work."""

from __future__ import annotations

import numpy as np

from examples.demonstration import DemoError
from mbdyn_ros.model.model import Array
from mbdyn_ros.robot import Robot

from .client import DemoClient
from .motion import MOTION, wanted_motion
from .outcome import Outcome, Path


def judge(
    robot: Robot, client: DemoClient, outcome: Outcome, start: float, home: Array, goal: Array
) -> None:
    """Compare what was simulated with what was wanted, and energy with work."""
    while client.states and not any(client.states[0][3]):
        client.states.pop(0)  # from before the start
    if len(client.states) < 100:
        raise DemoError(f"only {len(client.states)} joint states came from {outcome.name}")
    columns = [client.state_names.index(label) for label in robot.velocity_labels]
    driven = [client.state_names.index(label) for label in robot.effort_labels]
    stamps = np.array([one[0] for one in client.states])
    whole = [np.array([one[k] for one in client.states]) for k in (1, 2, 3)]
    q, v, effort = whole[0][:, columns], whole[1][:, columns], whole[2][:, driven]
    way, driven_way = np.diff(q, axis=0), np.diff(whole[0][:, driven], axis=0)
    friction = robot.friction_vector(q, v)
    outcome.received = len(stamps)
    outcome.rate = float((len(stamps) - 1) / (stamps[-1] - stamps[0]))
    outcome.worst_gap_ms = 1e3 * float(np.diff(stamps).max())
    # Efforts are constant over a step of the simulator, so this sum is their exact work.
    work = np.cumsum((effort[1:] * driven_way).sum(axis=1))
    loss = np.cumsum(((friction[1:] + friction[:-1]) / 2 * way).sum(axis=1))
    change = np.array([sum(robot.energy(*one)) for one in zip(q, v, strict=True)])
    change = change[1:] - change[0]
    k = int(np.argmax(np.abs(change)))
    outcome.work, outcome.loss, outcome.energy_change = work[k], loss[k], change[k]
    outcome.imbalance = float(np.abs(change - work + loss).max() / np.abs(change).max())
    times = stamps - start
    moving, _, _, given = moving_states(robot, client, start)
    outcome.longest_hold = longest_hold(moving, given)
    wanted, _, _ = wanted_motion(times, home, goal)
    outcome.tracking_error = float(np.abs(q - wanted).max())
    outcome.labels = list(robot.velocity_labels)
    outcome.time, outcome.wanted, outcome.position, outcome.effort = times, wanted, q, effort


def longest_hold(times: Array, effort: Array) -> float:
    """The longest time, s, between new efforts of a moving robot: how late they came."""
    fresh = np.concatenate([[True], np.any(effort[1:] != effort[:-1], axis=1), [True]])
    return float(np.diff(np.append(times, MOTION)[fresh]).max())


def moving_states(robot: Robot, client: DemoClient, start: float) -> tuple[Array, ...]:
    """Times (N,), positions, velocities and efforts (N, nv) while the robot moved."""
    columns = [client.state_names.index(label) for label in robot.velocity_labels]
    times = np.array([one[0] for one in client.states]) - start
    moving = (times >= 0) & (times <= MOTION)
    q, v, effort = (
        np.array([one[k] for one in client.states])[moving][:, columns] for k in (1, 2, 3)
    )
    return times[moving], q, v, effort


def tool_path(robot: Robot, client: DemoClient, start: float, home: Array, goal: Array) -> Path:
    """The gap between the tool and its way while it moved."""
    times, q, _, _ = moving_states(robot, client, start)
    wanted, _, _ = wanted_motion(times, home, goal)
    return Path(times, tool_gap(robot, q, wanted))


def tool_gap(robot: Robot, q: Array, wanted: Array) -> Array:
    """How far (N,) the tool, the last link, is from where it is wanted, m."""
    tips = [robot.frame_pose(one, robot.model.links[-1].name)[:, :3, 3] for one in (q, wanted)]
    gap: Array = np.linalg.norm(tips[0] - tips[1], axis=1)
    return gap


def pd_share(robot: Robot, client: DemoClient, start: float, ends: tuple[Array, Array],
             gains: tuple[Array, Array]) -> tuple[float, list[float]]:  # fmt: skip
    """The share of the PD in the efforts: by power in all, by root mean square in each joint."""
    times, q, v, effort = moving_states(robot, client, start)
    wanted_q, wanted_v, _ = wanted_motion(times, *ends)
    given = gains[0] * (wanted_q - q) + gains[1] * (wanted_v - v)
    by_joint = np.sqrt((given**2).sum(axis=0) / (effort**2).sum(axis=0))
    return float(np.abs(given * v).sum() / np.abs(effort * v).sum()), by_joint.tolist()
