"""The angles of wheels, which are linear in those of the inputs (Willis' equation)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from ..array import Array
from ..equations.algebra.spatial import SX
from ..equations.loops.linkage import solve_rows
from ..program.symbols import serialized
from .layout import GROUND, MechanismLayout


def wheel_angles(layout: MechanismLayout, inputs: Mapping[str, SX]) -> dict[str, SX]:
    """Angle in the plane, rad, of every part that meshes determine.

    inputs : angles of the inputs.
    """
    chosen = (*layout.gears, *layout.meshes)
    wheels = [name for mesh in chosen for name, _ in mesh.factors if name != GROUND]
    wheels = [name for name in dict.fromkeys(wheels) if name not in inputs]
    matrix, right = SX(len(chosen), len(wheels)), SX(len(chosen), 1)
    for row, mesh in enumerate(chosen):
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


@serialized
def shaft_angle(layout: MechanismLayout, inputs: Sequence[str], name: str, q: Array) -> Array:
    """Angle (...), rad, of an input, or of a wheel that meshes turn with them, at q (..., n)."""
    if name in inputs:
        angle: Array = q[..., inputs.index(name)]
        return angle
    zero = dict.fromkeys(inputs, SX(0))
    start = float(wheel_angles(layout, zero)[name])
    each = [float(wheel_angles(layout, zero | {one: SX(1)})[name]) - start for one in inputs]
    return start + q @ np.array(each)
