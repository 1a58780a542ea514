"""Inertias that bodies can have, by a semidefinite program.

A link's ten parameters are those of a body where its pseudo-inertia J = [[S, m c], [m c^T, m]] is
positive semidefinite, with S = tr(I) / 2 - I (Wensing, Kim and Slotine 2018). What data leave open
stays near the description, by |L^-1 (J - J0) L^-T|^2 with J0 = L L^T: the entropic distance of two
inertias to second order (Lee, Wensing and Park 2020), of one unit for a deviation by 100 %.

The solver is asked for the way from the parameters that are best without these bounds, in
directions of one cost: its tolerance is a share of the cost, of which the misfit of all rows would
hide what hardly any of them determine.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from ..array import Array
from ..errors import InputError
from ..extras import require

LEAST_INERTIA = 1e-6
"""Share of the described pseudo-inertia's trace that every one has in every direction, at least."""

FLATTEST = 1e-14
"""Least curvature over the largest, of parameters of one size, that rounding leaves."""

UPPER = tuple((i, j) for j in range(4) for i in range(j + 1))
"""Entries of a symmetric 4x4 matrix, by columns of its upper triangle."""


def pseudo_inertia(parameters: Array) -> Array:
    """J (..., 4, 4), linear in the ten parameters (..., 10) of a link."""
    m, first, (xx, xy, xz, yy, yz, zz) = (
        parameters[..., 0], parameters[..., 1:4], np.moveaxis(parameters[..., 4:], -1, 0),
    )  # fmt: skip
    half = (xx + yy + zz) / 2
    result = np.empty((*parameters.shape[:-1], 4, 4))
    for i, own in enumerate((xx, yy, zz)):
        result[..., i, i] = half - own
    for (i, j), own in zip(((0, 1), (0, 2), (1, 2)), (xy, xz, yz), strict=True):
        result[..., i, j] = result[..., j, i] = -own
    result[..., :3, 3] = result[..., 3, :3] = first
    result[..., 3, 3] = m
    return result


BASIS = pseudo_inertia(np.eye(10))
"""J (10, 4, 4) of each parameter."""


def regular(parameters: Array) -> Array:
    """J (4, 4) of a described link, with something in every direction where it has nothing."""
    j = pseudo_inertia(parameters)
    values, vectors = np.linalg.eigh(j)
    least = 1e-4 * max(float(values.max()), 1e-6)
    result: Array = (vectors * np.maximum(values, least)) @ vectors.T
    return result


def consistent(
    hessian: Array, gradient: Array, described: Array, links: Sequence[slice], positive: Array
) -> Array:
    """x (n,) of least x^T H x / 2 - g^T x and distance from the description, of bodies.

    described : (n,) of which `links` are the slices of ten. positive : (n,) of drives, for what
    cannot be negative.

    Raises
    ------
    InputError
        The solver does not end with a solution.
    """
    require("identify")
    import clarabel
    from scipy.sparse import csc_matrix

    size = len(gradient)
    p, q = hessian.copy(), -gradient
    rows, bounds, cones = list[Array](), list[float](), list[object]()
    for one in links:
        j0 = regular(described[one])
        back = np.linalg.inv(np.linalg.cholesky(j0))
        scaled = (back @ BASIS @ back.T).reshape(10, 16)
        p[one, one] += scaled @ scaled.T
        q[one] -= scaled @ scaled.T @ described[one]
        for i, k in UPPER:
            row = np.zeros(size)
            row[one] = -BASIS[:, i, k] * (1.0 if i == k else math.sqrt(2))
            rows.append(row)
            bounds.append(-LEAST_INERTIA * float(np.trace(j0)) if i == k else 0.0)
        cones.append(clarabel.PSDTriangleConeT(4))
    unit = 1 / np.sqrt(np.maximum(np.diag(p), 1e-30))
    values, vectors = np.linalg.eigh(p * unit[:, None] * unit)
    ways = unit[:, None] * vectors / np.sqrt(np.maximum(values, FLATTEST * values[-1]))
    best = -ways @ (ways.T @ q)  # of all, also of those that bodies cannot have
    chosen = np.flatnonzero(positive)
    rows += list(-np.eye(size)[chosen])
    bounds += [0.0] * len(chosen)
    if len(chosen):
        cones.append(clarabel.NonnegativeConeT(len(chosen)))
    matrix = np.array(rows).reshape(len(rows), size)
    room, matrix = np.array(bounds) - matrix @ best, matrix @ ways
    norms = np.maximum(np.abs(matrix).max(axis=1), 1e-300)
    for start, stop in itertools.pairwise([*range(0, 10 * len(links) + 1, 10)]):
        norms[start:stop] = norms[start:stop].max()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    for settings.equilibrate_enable in (False, True):  # columns have one size already
        solution = clarabel.DefaultSolver(
            csc_matrix(np.eye(size)), np.zeros(size), csc_matrix(matrix / norms[:, None]),
            room / norms, cones, settings,
        ).solve()  # fmt: skip
        if str(solution.status) in ("Solved", "AlmostSolved"):
            break
    else:
        raise InputError(
            f"the semidefinite program of the inertias ends with {solution.status}; record a "
            "motion that excites more of them"
        )
    result: Array = best + ways @ np.array(solution.x)
    return result
