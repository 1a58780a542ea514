"""How alike two paths in the plane are, whatever their size, place and turn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model.model import Array

Points = NDArray[np.complex128]

PATH_POINTS = 36
"""Points along each of two paths that are compared."""


def evenly(path: Points) -> tuple[Points, Array]:
    """Points at even distances along a path, and the share of its length at each of its own."""
    steps = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(path)))])
    shares = steps / steps[-1]
    return np.interp(np.linspace(0, 1, PATH_POINTS), shares, path), shares


def alike(
    arc: Points, angles: Array, target: Points, closed: bool
) -> tuple[float, Array, complex]:
    """How alike two paths are (1: the same shape), crank angles along it, scale and turn."""
    steps = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(arc)))])
    if not steps[-1] > 0:
        return 0.0, np.zeros(PATH_POINTS), 1 + 0j
    shares = np.linspace(0, 1, PATH_POINTS)
    angle = np.interp(shares, steps / steps[-1], angles)
    points = np.interp(shares, steps / steps[-1], arc)
    if closed:  # any point may be the first: all of them at once
        one, other = points[:-1] - points[:-1].mean(), target[:-1] - target[:-1].mean()
        products = np.fft.ifft(np.conj(np.fft.fft(one)) * np.fft.fft(other))
        shift = int(np.abs(products).argmax())
        product = products[shift]
        whole = np.roll(angle[:-1], shift)
        turns = 2 * np.pi * np.sign(angle[-1] - angle[0])
        whole[:shift] -= turns
        angle = np.append(whole, whole[0] + turns)
    else:
        one, other = points - points.mean(), target - target.mean()
        product = np.vdot(one, other)
    norms = np.linalg.norm(one) * np.linalg.norm(other)
    return float(abs(product) / norms), angle, complex(product / np.vdot(one, one).real)
