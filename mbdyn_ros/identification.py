"""Base parameters of a robot, and their values from a recorded motion, by least squares.

Efforts are linear in the links' inertias, effort = Y phi (`Robot.regressor`), but not all of phi
can be told from them: some columns of Y are zero, others always combinations of columns that
stand further out. With the independent columns Y_b, Y = Y_b K at every motion, and the base
parameters are K phi (Gautier, "Numerical calculation of the base inertial parameters of robots",
1991).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .equations.tree.regressor import PARAMETERS, standard_parameters
from .errors import InputError
from .model.model import Array

if TYPE_CHECKING:
    from .robot import Robot

NEGLIGIBLE_COLUMN = 1e-9
"""Relative length under which a column is taken for a combination of others."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Combinations of inertias that the efforts of a robot depend on.

    standard_names, standard : names "link.m", "link.mcx", ... and values (10 links,) of the
        standard parameters, in the order of `Robot.regressor`'s columns (kg, kg m, kg m^2).
    independent : columns (k,) of the regressor that are independent of one another.
    grouping : K (k, 10 links), base = K standard; the identity in the independent columns.
    names : each base parameter as a sum of standard ones.
    values : K standard (k,), by the robot's description.
    """

    standard_names: tuple[str, ...]
    standard: Array
    independent: tuple[int, ...]
    grouping: Array

    @property
    def values(self) -> Array:
        """The base parameters by the robot's description (k,)."""
        result: Array = self.grouping @ self.standard
        return result

    @property
    def names(self) -> tuple[str, ...]:
        """Each base parameter as a sum of standard ones, its own column first."""
        result = []
        for row, own in zip(self.grouping, self.independent, strict=True):
            text = self.standard_names[own]
            for k in np.flatnonzero(row):
                if k != own:
                    sign, size = "-" if row[k] < 0 else "+", abs(row[k])
                    factor = "" if abs(size - 1) < NEGLIGIBLE_COLUMN else f"{size:.6g} "
                    text += f" {sign} {factor}{self.standard_names[k]}"
            result.append(text)
        return tuple(result)


def base_parameters(robot: Robot) -> BaseParameters:
    """Find the base parameters by random motions, the same ones every time."""
    names = tuple(f"{link}.{name}" for link in robot.moving_links for name in PARAMETERS)
    inertias = (robot.model.link(link).inertia for link in robot.moving_links)
    standard = np.concatenate([np.zeros(0), *map(standard_parameters, inertias)])
    stack = _random_rows(robot, len(names))
    independent: list[int] = []
    basis = np.zeros((len(stack), 0))
    for k in reversed(range(len(names))):  # the outermost first: they stay themselves
        column = stack[:, k]
        rest = column - basis @ (basis.T @ column)
        rest = rest - basis @ (basis.T @ rest)
        size = np.linalg.norm(rest)
        if size > NEGLIGIBLE_COLUMN * max(1.0, float(np.linalg.norm(column))):
            independent.insert(0, k)
            basis = np.column_stack([basis, rest / size])
    solution = np.linalg.lstsq(stack[:, independent], stack, rcond=None)[0]
    grouping = np.array(solution, dtype=np.float64)
    grouping[np.abs(grouping) < NEGLIGIBLE_COLUMN] = 0.0
    grouping[:, independent] = np.eye(len(independent))
    grouping.setflags(write=False)
    return BaseParameters(names, standard, tuple(independent), grouping)


def identify(robot: Robot, q: Array, v: Array, a: Array, effort: Array) -> Array:
    """Base parameters (k,) that explain recorded efforts best, by least squares.

    Parameters
    ----------
    q, v, a, effort : a motion (N, nq), (N, nv), (N, nv), and its efforts (N, efforts), N m or N.
        Friction is taken off as the description has it; the rest of the description's inertias
        is not used.

    Raises
    ------
    InputError
        The motion does not tell all base parameters apart; the message names those that it
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
    base = robot.base_parameters()
    rows = robot.regressor(q, v, a)
    recorded = np.asarray(effort, dtype=np.float64)
    if rows.ndim != 3 or recorded.shape != rows.shape[:2]:
        raise InputError(
            f"{robot.model.source}: identify takes a motion of N states: q (N, {robot.nq}), "
            f"v and a (N, {robot.nv}), effort (N, {rows.shape[-2]}); effort has shape "
            f"{recorded.shape}"
        )
    if not np.isfinite(recorded).all() or not np.isfinite(rows).all():
        raise InputError(f"{robot.model.source}: the recorded motion has NaN or infinity")
    weightless = robot.inverse_dynamics(q, v, a) - robot.inverse_dynamics(q, v, a, friction=False)
    stack = rows[:, :, list(base.independent)].reshape(-1, len(base.independent))
    size = np.linalg.norm(stack, axis=0)
    scale = np.where(size > 0, size, 1.0)
    _, singular, directions = np.linalg.svd(stack / scale, full_matrices=False)
    open_ = directions[singular <= NEGLIGIBLE_COLUMN * max(1.0, *singular)]
    if len(stack) < stack.shape[1] or len(open_):
        names = [
            base.standard_names[k]
            for j, k in enumerate(base.independent)
            if len(stack) < stack.shape[1] or np.abs(open_[:, j]).max() > 1e-3
        ]
        raise InputError(
            f"{robot.model.source}: the motion does not tell these base parameters apart: "
            f"{', '.join(names)}. Move the joints more, faster and independently of each other."
        )
    found = np.linalg.lstsq(stack / scale, (recorded - weightless).ravel(), rcond=None)[0]
    result: Array = found / scale
    return result


def _random_rows(robot: Robot, columns: int) -> Array:
    """Regressors of random closed motions one below the other, more than `columns` rows."""
    random = np.random.default_rng(0)
    needed = 2 * columns // max(1, robot.nv) + 20
    reach = np.pi if not robot.dependent_joints else 0.3
    centre = np.array([robot.home.get(label, 0.0) for label in robot.position_labels])
    while reach > NEGLIGIBLE_COLUMN:
        q = centre + random.uniform(-reach, reach, (4 * needed, robot.nq))
        for k in robot.system.coordinates.quaternions:
            q[:, k : k + 4] /= np.linalg.norm(q[:, k : k + 4], axis=1, keepdims=True)
        v, a = random.normal(size=(2, 4 * needed, robot.nv))
        rows = robot.regressor(q, v, a)
        rows = rows[np.isfinite(rows).all(axis=(1, 2))][:needed]  # the others cannot be reached
        if len(rows) == needed:
            return rows.reshape(-1, columns)
        reach /= 2
    raise InputError(f"{robot.model.source}: no motion from home keeps the loops closed")
