"""Positions of the joints for a wanted pose of a link: Newton's method, damped."""

from __future__ import annotations

import math

import numpy as np

from .arguments import single_vector
from .array import Array, NoNumbers, as_numbers
from .errors import InputError
from .robot import Robot

MOST_NEWTON_STEPS = 200
"""Most steps of Newton's method; a pose within reach takes five to fifty."""

CLOSED_GAP = 1e-10
"""Gap that counts as none: m, and rad."""

LONGEST_MOVE = 0.3
"""Largest move of a joint in one step, rad or m."""


def inverse_kinematics(
    robot: Robot, link: str, pose: Array, start: Array, orientation: bool = True
) -> Array:
    """Independent positions that put a link at a pose, near `start`.

    Where several do, those that the shortest steps from `start` lead to. Each step is the least
    one that closes the gap, (J^T J + mu 1) dq = J^T gap; the damping mu grows when a step does
    not help and shrinks when it does (Levenberg, Marquardt). Positions stay within the limits
    of the description.

    Parameters
    ----------
    robot : with a fixed base, one position for each velocity.
    link : name of the link.
    pose : (4, 4) homogeneous matrix in the world, m.
    start : (nq,) rad or m.
    orientation : whether the rotation of `pose` counts, or the origin alone.

    Returns
    -------
    q (nq,).

    Raises
    ------
    InputError
        The pose is out of reach: the message gives the gap that is left. Or bad input.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> robot = mbdyn_ros.load(CART)
    >>> pose = np.eye(4)
    >>> pose[0, 3] = 0.7
    >>> inverse_kinematics(robot, "cart", pose, [0.0]).round(9)
    array([0.7])
    """
    if robot.system.coordinates.quaternions:
        raise InputError(f"{robot.model.source}: inverse kinematics is for a fixed base")
    wanted = _checked_pose(pose)
    q = single_vector("start", start, robot.position_labels)
    low, high = robot.position_limits
    q = np.clip(q, low, high)
    gap = _gap(robot, link, q, wanted, orientation)
    damping = 1e-6
    for _ in range(MOST_NEWTON_STEPS):
        if np.linalg.norm(gap) <= CLOSED_GAP:
            return q
        jacobian = robot.jacobian(q, link)[: len(gap)]
        # Joints at their limits that would go beyond take no part.
        slope = jacobian.T @ gap
        movable = ~(((q <= low) & (slope < 0)) | ((q >= high) & (slope > 0)))
        part = jacobian[:, movable]
        scale = damping * max(float((part * part).sum()), 1e-12)
        move = np.zeros(len(q))
        inner = part @ part.T + scale * np.eye(len(gap))
        move[movable] = part.T @ np.linalg.solve(inner, gap)
        move *= min(1.0, LONGEST_MOVE / max(float(np.abs(move).max(initial=0.0)), 1e-300))
        tried = np.clip(q + move, low, high)
        left = _gap(robot, link, tried, wanted, orientation)
        if np.linalg.norm(left) < np.linalg.norm(gap):
            q, gap, damping = tried, left, max(damping / 10, 1e-14)
        else:
            damping *= 10
            if damping > 1e6:
                break
    if np.linalg.norm(gap) <= 1e3 * CLOSED_GAP:
        return q
    where = ", ".join(f"{number:.4g}" for number in wanted[:3, 3].tolist())
    turned = f" and {np.linalg.norm(gap[3:]):.3g} rad" if orientation else ""
    raise InputError(
        f"{robot.model.source}: link {link!r} cannot be brought to ({where}): the nearest that was "
        f"found leaves a gap of {np.linalg.norm(gap[:3]):.3g} m{turned}. Choose a pose within "
        "reach" + (", or give its position alone" if orientation else "")
    )


def _gap(robot: Robot, link: str, q: Array, wanted: Array, orientation: bool) -> Array:
    """The way to the wanted pose in world axes: m, and if it counts the rotation vector, rad."""
    present = robot.frame_pose(q, link)
    apart: Array = wanted[:3, 3] - present[:3, 3]
    if not orientation:
        return apart
    turn = wanted[:3, :3] @ present[:3, :3].T
    axis = 0.5 * np.array(
        [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
    )
    sine, cosine = float(np.linalg.norm(axis)), 0.5 * (float(np.trace(turn)) - 1)
    angle = math.atan2(sine, cosine)
    if sine < 1e-9 and cosine < 0:  # half a turn: about the axis that the matrix keeps
        axis = np.linalg.svd(turn - np.eye(3))[2][2]
        sine = 1.0
    return np.concatenate([apart, axis * (angle / sine if sine > 0 else 1.0)])


def _checked_pose(pose: object) -> Array:
    """A finite homogeneous matrix, or words."""
    try:
        matrix = as_numbers(pose)
    except NoNumbers:
        raise InputError(f"the pose must be a matrix (4, 4), not {pose!r}") from None
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
        raise InputError(f"the pose must be a finite matrix (4, 4); it is {matrix.tolist()}")
    rotation = matrix[:3, :3]
    if np.abs(rotation @ rotation.T - np.eye(3)).max() > 1e-6 or np.linalg.det(rotation) < 0:
        raise InputError(f"the rotation of the pose is none: {rotation.tolist()}")
    return matrix
