"""The angles of wheels, which are linear in those of the inputs (Willis' equation)."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

import casadi as ca
import numpy as np

from ..array import Array
from ..equations.algebra.spatial import SX
from ..equations.loops.linkage import solve_rows
from .layout import GROUND, GearMesh, MechanismLayout


def wheel_angles(layout: MechanismLayout, inputs: Mapping[str, SX]) -> dict[str, SX]:
    """Angle in the plane, rad, of every part that meshes determine.

    inputs : angles of the inputs.
    """
    meshes, wheels = _unknown(layout, inputs)
    matrix, right = SX(len(meshes), len(wheels)), SX(len(meshes), 1)
    for row, mesh in enumerate(meshes):
        right[row] = mesh.phase
        for name, factor in mesh.factors:
            if name in inputs:
                right[row] -= factor * inputs[name]
            elif name != GROUND:
                matrix[row, wheels.index(name)] += factor
    matrix = ca.sparsify(matrix)
    _, rows, columns, _, _, row_ends, column_ends = matrix.sparsity().btf()
    rows, columns = rows[row_ends[1] : row_ends[3]], columns[: column_ends[2]]  # Dulmage-Mendelsohn
    solved = solve_rows(matrix[rows, columns], right[rows])
    return {wheels[column]: solved[k] for k, column in enumerate(columns)}


def shaft_angle(layout: MechanismLayout, inputs: Sequence[str], name: str, q: Array) -> Array:
    """Angle (...), rad, of an input, or of a wheel that meshes turn with them, at q (..., n).

    The numbers of the layout may be those of many designs (N,), with a q (N, n) for each.
    """
    if name in inputs:
        angle: Array = q[..., inputs.index(name)]
        return angle
    meshes, wheels = _unknown(layout, inputs)
    parts = [*wheels, *inputs]
    numbers = [number for mesh in meshes for number in (mesh.phase, *dict(mesh.factors).values())]
    factors = np.zeros((*np.broadcast_shapes(*map(np.shape, numbers)), len(meshes), len(parts)))
    right = np.zeros(factors.shape[:-1])
    for row, mesh in enumerate(meshes):
        right[..., row] = mesh.phase
        for part, factor in mesh.factors:
            if part != GROUND:
                factors[..., row, parts.index(part)] += factor
    right = right - (factors[..., len(wheels) :] @ q[..., None])[..., 0]
    solving = np.linalg.pinv(factors[..., : len(wheels)])[..., wheels.index(name), :]
    turned: Array = (solving * right).sum(axis=-1)
    return turned


def _unknown(
    layout: MechanismLayout, inputs: Container[str]
) -> tuple[tuple[GearMesh, ...], list[str]]:
    """Meshes, and the parts that turn with them without being inputs."""
    meshes = (*layout.gears, *layout.meshes)
    parts = dict.fromkeys(name for mesh in meshes for name, _ in mesh.factors)
    return meshes, [name for name in parts if name != GROUND and name not in inputs]
