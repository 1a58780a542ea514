"""Quaternions of rotations, as MuJoCo writes them."""

from __future__ import annotations

import numpy as np

from ..model import Array


def quaternion(rotation: Array) -> Array:
    """The unit quaternion (w, x, y, z) of a rotation (3, 3), w or the first other one positive.

    Examples
    --------
    >>> quaternion(np.diag([-1.0, -1.0, 1.0]))
    array([0., 0., 0., 1.])
    """
    r = rotation
    skew = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    squares = np.array([np.trace(r), *(2 * r.diagonal() - np.trace(r))])
    largest = int(np.argmax(squares))
    if largest == 0:
        found = np.array([1 + squares[0], *skew])
    else:
        k = largest - 1
        found = np.array([skew[k], *(r[k] + r[:, k])])
        found[1 + k] = 1 + squares[largest]
    found /= np.linalg.norm(found)
    leading = next(x for x in found if x)
    result: Array = np.where(found == 0, 0.0, found) * np.sign(leading)
    return result + 0.0
