"""Loops whose positions are found by continuation."""

from __future__ import annotations

import casadi as ca

from mbdyn_ros.program.continuation import (
    LoopFunctions,
)


def loop_of(residual: ca.SX, y: ca.SX, z: ca.SX, parameters: ca.SX | None = None) -> LoopFunctions:
    """A loop as `loop_functions` makes it."""
    p = ca.SX(0, 1) if parameters is None else parameters
    by_z, by_y = ca.jacobian(residual, z), ca.jacobian(residual, y)
    dy, dz = ca.SX.sym("dy", y.shape[0]), ca.SX.sym("dz", z.shape[0])
    change = ca.jtimes(by_z, ca.vertcat(y, z), ca.vertcat(dy, dz))
    return LoopFunctions(
        ca.Function("rows", [y, z, p], [residual, by_z, by_y, ca.norm_inf(residual), 1]),
        ca.Function("change", [y, z, dy, dz, p], [change]),
    )
