"""Base parameters of a robot: what of its inertias its efforts depend on.

Efforts are linear in the links' inertias, effort = Y phi (`Robot.regressor`), but not all of phi
can be identified: some columns of Y are zero, others always combinations of other
columns. With the independent columns Y_b, Y = Y_b K at every motion, and the base parameters are
K phi (Gautier, "Numerical calculation of the base inertial parameters of robots", 1991).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..array import Array
from ..errors import InputError, brief
from ..model.inertia import PARAMETERS, standard_parameters
from .dynamics import Dynamics

NEGLIGIBLE_EFFECT = 1e-5
"""Share of the largest effort that a parameter of its kind can make, below which it is unseen.

Axes are tilted by 4e-6 rad where a description has 1.5708 for pi/2, and what only such a tilt
makes observable drowns in the noise of any torque sensor.
"""

NEGLIGIBLE_FACTOR = 1e-9
"""Factor in a combination that is rounding, and singular value (relative) of an open direction."""

NEARLY_LARGEST = 0.3
"""Share of the largest rest from which a column may be taken next: it bounds the factors."""

NEARLY_FREEST = 0.5
"""Share of the largest ratio of rest and column from which the outermost column is taken."""

MOST_DOUBT = 1e-4
"""Share of the largest effort by which combinations may fail at other motions."""

KINDS = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
"""Unit of each of a link's parameters: kg, kg m, or kg m^2."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Combinations of inertias that the efforts of a robot depend on.

    standard_names, standard : names "link.m", "link.mcx", ... and values (10 links,) of the
        standard parameters, in the order of `Robot.regressor`'s columns (kg, kg m, kg m^2).
    independent : columns (k,) of the regressor that are independent of one another.
    grouping : K (k, 10 links), base = K standard; the identity in the independent columns. Its
        entries are of order one, and powers of the robot's lengths where kinds are combined.
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
                    factor = "" if abs(size - 1) < NEGLIGIBLE_FACTOR else f"{size:.6g} "
                    text += f" {sign} {factor}{self.standard_names[k]}"
            result.append(text)
        return tuple(result)


class Regression(Dynamics):
    """Base parameters."""

    @brief
    def base_parameters(self) -> BaseParameters:
        """The combinations of the links' inertias that the efforts depend on.

        Found by random motions, the same ones every time. See `identification` for finding their
        values from a recorded motion.
        """
        names = tuple(f"{link}.{name}" for link in self.moving_links for name in PARAMETERS)
        inertias = (self.model.link(link).inertia for link in self.moving_links)
        standard = np.concatenate([np.zeros(0), *map(standard_parameters, inertias)])
        kinds = np.tile(KINDS, len(self.moving_links))
        blocks = _random_rows(self, len(names))
        block = next(blocks)
        size = np.linalg.norm(block, axis=0)
        largest = np.array([size[kinds == kind].max(initial=0.0) for kind in range(3)])
        scale = np.where(largest > 0, largest, 1.0)[kinds]
        stack = np.zeros((0, len(names)))
        doubt = np.inf
        while doubt > MOST_DOUBT:
            stack = np.array(np.linalg.qr(np.vstack([stack, block / scale]), mode="r"))
            independent = _independent_columns(stack)
            grouping = _combinations(stack, independent)
            block = next(blocks)  # other motions, which may excite more
            left = (block[:, independent] / scale[independent]) @ grouping - block / scale
            doubt = np.linalg.norm(left, axis=0).max(initial=0.0)
        grouping = grouping * scale / scale[independent, None]
        grouping.setflags(write=False)
        return BaseParameters(names, standard, tuple(independent), grouping)


def base_parameters(robot: Regression) -> BaseParameters:
    """`Robot.base_parameters`."""
    return robot.base_parameters()


def _combinations(stack: Array, independent: list[int]) -> Array:
    """K (k, columns): what combinations of the independent columns all columns are."""
    basis = stack[:, independent]
    size = np.linalg.norm(basis, axis=0)
    found: Array = np.linalg.lstsq(basis / size, stack, rcond=None)[0] / size[:, None]
    found[np.abs(found) < NEGLIGIBLE_FACTOR] = 0.0
    found[:, independent] = np.eye(len(independent))
    return found


def _independent_columns(stack: Array) -> list[int]:
    """Columns of which the others are combinations with small factors, in ascending order.

    stack : (any, columns) upper triangular, of regressors.

    One after the other is taken, and what of it lies in the others is taken off them. The next is
    one whose rest is nearly the largest, so that no factor grows, and among these nearly the
    freest of what was taken, so that they are well distinguished; of equals, the outermost.
    """
    rest = stack.copy()
    whole = np.linalg.norm(rest, axis=0)
    taken: list[int] = []
    while len(taken) < len(rest):
        size = np.linalg.norm(rest, axis=0)
        size[taken] = 0.0
        if size.max() <= NEGLIGIBLE_EFFECT:
            break
        able = size >= NEARLY_LARGEST * size.max()
        freedom = np.divide(size, whole, out=np.zeros_like(size), where=able)
        k = int(np.flatnonzero(freedom >= NEARLY_FREEST * freedom.max())[-1])
        direction = rest[:, k] / size[k]
        rest -= np.outer(direction, direction @ rest)
        taken.append(k)
    return sorted(taken)


def _random_rows(robot: Dynamics, columns: int) -> Iterator[Array]:
    """Regressors of random closed motions one below the other, more than `columns` rows each."""
    random = np.random.default_rng(0)
    needed = 2 * columns // max(1, robot.nv) + 20
    reach = np.pi if not robot.model.loops else 0.3
    centre = np.array([robot.home.get(label, 0.0) for label in robot.position_labels])
    while reach > NEGLIGIBLE_FACTOR:
        q = centre + random.uniform(-reach, reach, (4 * needed, robot.nq))
        for k in robot.system.coordinates.quaternions:
            q[:, k : k + 4] /= np.linalg.norm(q[:, k : k + 4], axis=1, keepdims=True)
        v, a = random.normal(size=(2, 4 * needed, robot.nv))
        rows = robot.regressor(q, v, a)
        rows = rows[np.isfinite(rows).all(axis=(1, 2))][:needed]  # the others cannot be reached
        if len(rows) == needed:
            yield rows.reshape(len(rows) * rows.shape[1], columns)
        else:
            reach /= 2
    raise InputError(f"{robot.model.source}: no motion from home keeps the loops closed")
