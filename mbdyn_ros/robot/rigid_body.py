"""Inertias as users give them, and the ten numbers of equations; refused where no body has them."""

from __future__ import annotations

import numpy as np

from ..arguments import checked_numbers
from ..array import Array
from ..errors import InputError
from ..model.tree import RigidInertia

BROKEN = 1e-9
"""Share of the largest moment of inertia by which rounding may break the rules of bodies."""

UPPER = np.triu_indices(3)


def standard_numbers(what: str, mass: object, com: object, inertia: object | None) -> Array:
    """Mass, first moments, and moments about the link's origin: (10,), or (N, 10) where one has N.

    Parameters
    ----------
    what : the inertia in words, for messages.
    mass : () or (N,), kg. com : (3,) or (N, 3), m, in the link's axes. inertia : (3, 3) or
        (N, 3, 3), kg m^2, about the centre of mass in the link's axes; None: a point's.

    Raises
    ------
    InputError
        Not finite numbers of these shapes; or no body has them: a negative mass, moments that are
        not symmetric, not positive, or of which one is larger than the other two together.
    """
    m = _numbers(f"mass of {what}", mass, ())
    c = _numbers(f"com of {what}", com, (3,))
    point = np.zeros((3, 3))
    moments = _numbers(f"inertia of {what}", point if inertia is None else inertia, (3, 3))
    if np.any(m < 0):
        raise InputError(f"the mass of {what} is {float(m.min()):g} kg: no body has less than 0")
    size = np.abs(moments).max(axis=(-2, -1))
    twisted = np.abs(moments - moments.swapaxes(-2, -1)).max(axis=(-2, -1)) > BROKEN * size
    if twisted.any():
        raise InputError(
            f"the inertia of {what} is not symmetric: {_first(moments, twisted)}; write ixy = iyx"
        )
    if size.any():
        principal: Array = np.asarray(np.linalg.eigvalsh(moments), dtype=np.float64)
        least, largest = principal[..., 0], principal[..., 2]
        negative = least < -BROKEN * size
        if negative.any():
            raise InputError(
                f"the inertia of {what} has a negative principal moment "
                f"({_first(least, negative):g} kg m^2): no body has that. Check its signs"
            )
        wide = largest > (principal[..., 0] + principal[..., 1]) + BROKEN * size
        if wide.any():
            raise InputError(
                f"the inertia of {what} has the principal moments {_first(principal, wide)} "
                "kg m^2: no body has one that is larger than the other two together. Check that "
                "they are about the centre of mass, and their unit"
            )
        empty = (m == 0) & (size > 0)
        if empty.any():
            raise InputError(f"{what} has moments of inertia, but no mass: no body has that")
    count = {x.shape[:-n] if n else x.shape for x, n in ((m, 0), (c, 1), (moments, 2))} - {()}
    if len(count) > 1:
        sizes = ", ".join(str(one[0]) for one in sorted(count))
        raise InputError(f"the values of {what} have different numbers of rows: {sizes}")
    m = m[..., None]
    outer = c[..., :, None] * c[..., None, :]
    square = np.sum(c * c, axis=-1)[..., None, None] * np.eye(3)
    about_origin = moments + m[..., None] * (square - outer)
    first, six = m * c, about_origin[..., UPPER[0], UPPER[1]]
    rows = np.broadcast_shapes(m.shape[:-1], first.shape[:-1], six.shape[:-1])
    parts = [np.broadcast_to(x, (*rows, x.shape[-1])) for x in (m, first, six)]
    return np.concatenate(parts, axis=-1)


def resists(inertia: RigidInertia) -> bool:
    """Whether a body with this inertia resists every motion."""
    return bool(inertia.mass > 0 and np.linalg.eigvalsh(inertia.second)[0] > 0)


def has_extent(numbers: Array) -> bool:
    """Whether ten numbers (10,) or (N, 10) are all those of a body that resists every motion."""
    moments = numbers[..., 4:][..., [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    return bool((numbers[..., 0] > 0).all() and (np.linalg.eigvalsh(moments)[..., 0] > 0).all())


def _numbers(what: str, value: object, shape: tuple[int, ...]) -> Array:
    """Finite numbers of a shape, or rows of them."""
    array = checked_numbers(f"the {what}", value)
    if array.shape[array.ndim - len(shape) :] != shape or array.ndim > len(shape) + 1:
        raise InputError(
            f"the {what} has shape {array.shape}; give {shape or 'a number'}, or N of them"
        )
    if not np.isfinite(array).all():
        raise InputError(f"the {what} must be finite; it is {array.tolist()}")
    return array


def _first(values: Array, where: Array) -> object:
    """The first of some values where something holds."""
    found = values if where.ndim == 0 else values[int(np.flatnonzero(where)[0])]
    return found.tolist()
