"""Base parameters of a robot from a recorded motion, by least squares."""

from __future__ import annotations

import numpy as np

from ..arguments import checked_numbers
from ..array import Array
from ..errors import InputError
from ..robot import Robot, checked_robot
from ..robot.base_parameters import NEGLIGIBLE_FACTOR

NOTICEABLE_SHARE = 1e-3
"""Share in an open direction from which a base parameter is named."""


def identify(robot: Robot, q: Array, v: Array, a: Array, effort: Array) -> Array:
    """Base parameters (k,) that explain recorded efforts best, by least squares.

    Parameters
    ----------
    q, v, a, effort : a motion (N, nq), (N, nv), (N, nv), and its efforts (N, efforts), N m or N.
        Taken off as the description has them: friction, and what parameters add that are
        no base parameters because they add next to nothing (`NEGLIGIBLE_EFFECT`).

    Raises
    ------
    InputError
        The motion does not determine all base parameters; the message names those that it
        leaves open.

    Examples
    --------
    >>> import mbdyn_ros, numpy as np
    >>> from mbdyn_ros.identification import identify
    >>> from mbdyn_ros.model.examples import PENDULUM
    >>> robot = mbdyn_ros.load(PENDULUM)
    >>> robot.base_parameters().names
    ('rod.mcx', 'rod.mcz', 'rod.Iyy')
    >>> time = np.linspace(0, 3, 50)[:, None]
    >>> motion = np.sin(time), np.cos(time), -np.sin(time)
    >>> identify(robot, *motion, robot.inverse_dynamics(*motion)).round(9) + 0.0
    array([1. , 0. , 0.6])
    """
    base = checked_robot(robot).base_parameters()
    rows = robot.regressor(q, v, a)
    recorded = checked_numbers(f"{robot.model.source}: effort", effort)
    if rows.ndim != 3 or recorded.shape != rows.shape[:2]:
        raise InputError(
            f"{robot.model.source}: identify takes a motion of N states: q (N, {robot.nq}), "
            f"v and a (N, {robot.nv}), effort (N, {rows.shape[-2]}); effort has shape "
            f"{recorded.shape}"
        )
    if not np.isfinite(recorded).all() or not np.isfinite(rows).all():
        raise InputError(f"{robot.model.source}: the recorded motion has NaN or infinity")
    columns = list(base.independent)
    described = robot.inverse_dynamics(q, v, a) - rows[:, :, columns] @ base.values
    stack = rows[:, :, columns].reshape(-1, len(columns))
    if len(stack) < len(columns):
        raise InputError(
            f"{robot.model.source}: {len(rows)} states give {len(stack)} equations for "
            f"{len(columns)} base parameters. Record more states."
        )
    size = np.linalg.norm(stack, axis=0)
    scale = np.where(size > 0, size, 1.0)
    _, singular, directions = np.linalg.svd(stack / scale, full_matrices=False)
    open_ = directions[singular <= NEGLIGIBLE_FACTOR * max(1.0, *singular)]
    if len(open_):
        names = [
            base.standard_names[k]
            for j, k in enumerate(columns)
            if np.abs(open_[:, j]).max() > NOTICEABLE_SHARE
        ]
        raise InputError(
            f"{robot.model.source}: the motion does not determine these base parameters: "
            f"{', '.join(names)}. Move the joints more, faster and independently of each other."
        )
    found = np.linalg.lstsq(stack / scale, (recorded - described).ravel(), rcond=None)[0]
    result: Array = found / scale
    return result
