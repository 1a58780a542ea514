"""Numbers of origins that may change alone: the loops can follow them.

Where a loop has more rows than it needs, as one in a plane, lengths that would take it out of that
cannot be closed: the change r_p dp of its residual lies in no r_x dx of its joints.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..prepare.origins import COMPONENTS, ENDS
from ..program.symbols import serialized
from .algebra.spatial import SX
from .geometry import placed, symbolic_origin
from .loops.linkage import Linkage, rows_at_positions
from .system import System

UNFOLLOWED = 1e-6
"""Residual (m or rad per m or rad) that is left where a loop cannot follow."""


@serialized
def closable_numbers(system: System, linkage: Linkage) -> tuple[str, ...]:
    """The numbers of the origins of a linkage's joints and loop frames that its loops can follow,
    near home."""
    cluster = linkage.cluster
    joints = {system.tree.bodies[body].joint for body in cluster.bodies}
    frames = {f"{one.name}/{end}" for one in cluster.closures for end in ENDS}
    names = [name for name in system.origins if name in joints | frames]
    p = SX.sym("p", 6 * len(names))
    at = {
        name: symbolic_origin(system.origins[name], ca.vertsplit(p[6 * k : 6 * k + 6]))
        for k, name in enumerate(names)
    }
    place = system.linkages.index(linkage)
    there = placed(system, at)
    x, rows = rows_at_positions(there.tree, there.linkages[place].cluster)
    changes = ca.Function(
        "changes", [x, p], [ca.jacobian(rows.residual, one) for one in (x, p)]
    )  # fmt: skip
    now = np.concatenate([system.origins[name].six for name in names])
    by_joints, by_numbers = map(np.array, changes(system.home[system.rows(linkage)], now))
    followed = by_joints @ np.linalg.lstsq(by_joints, by_numbers, rcond=None)[0]
    gap = np.linalg.norm(by_numbers - followed, axis=0)
    numbers = (f"{name}/{one}" for name in names for one in COMPONENTS)
    return tuple(one for one, left in zip(numbers, gap, strict=True) if left < UNFOLLOWED)
