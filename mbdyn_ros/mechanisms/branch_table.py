"""The unknowns of groups of links over a turn of the input: one branch, from the drawn position.

The branch of a design is that which the drawing becomes when its numbers go straight to those of
the design, and then the input turns, without passing a toggle.

Groups of links that no dyad solves are loops without closed form, which compiled programs walk to
as a robot's. The nodes of a table are homes of all walks nearby.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..array import Array
from ..compiler.kernel import Kernel
from ..equations.algebra.spatial import SX
from ..program.continuation import LoopFunctions
from ..program.program import Closing, program
from ..program.symbols import serialized
from .parametric import kernel

NODES = 72
"""Input angles of the table, within a turn."""

NODE_ANGLE = 2 * np.pi / NODES
"""Angle between them, rad."""

WEIGHTS = ("_mass", "_inertia", "_center_along", "_center_across", "gravity")
"""Ends of numbers that positions do not depend on."""


class Groups:
    """The groups of a kind, as a subject of programs: walks start at home, which numbers follow.

    Positions are the input's angle, and the share of the way from the drawn numbers to these.
    """

    with_home, quaternions = True, ()

    @serialized
    def __init__(self, kind: Any) -> None:
        form = kind.kinematics()
        start, drawn = kind.drawn_defaults.vector(), form.unknowns_at(kind.drawn_home)
        home = np.array([kind.drawn_home[form.given_bodies[0]], 0.0, *drawn.values()])
        self.parameters = p = ca.vertcat(*form.symbols.values())
        share = SX.sym("share")
        y, z = ca.vertcat(*form.q, share), ca.vertcat(*form.z)
        gap, by_z = ca.substitute(list(form.gap_slope), [p], [start + share * (p - start)])
        rows = [gap, by_z, ca.jacobian(gap, y), ca.norm_inf(gap), SX(1)]
        self._loop = loop = LoopFunctions.of(y, z, p, rows)  # all groups as one
        counts = ((2, z.numel()),)
        self.closing = Closing(counts, (0, 1), home, lambda: [loop], kept=p.numel())

    def shape(self, name: str) -> tuple[int, int]:
        """The input's angle, and the share."""
        return 2, 1

    def digest(self) -> str:
        """Hash of the equations of the groups."""
        return hashlib.sha256(self._loop.rows.serialize().encode()).hexdigest()


groups = functools.cache(Groups)
"""The groups of a kind."""


@program("q", output="unknowns", internal=True, differentiated=True)
def unknowns(groups: Groups, q: SX, z: SX) -> SX:
    """The unknowns of groups at an angle of the input and a share of the way from the drawing."""
    return z


@dataclass(frozen=True, eq=False)
class BranchTable:
    """Unknowns at input angles, rad, from `start` on.

    walk : the compiled walk of the kind. rows : (N, p) numbers of designs.
    nodes : (NODES, N, m), NaN out of reach.
    """

    walk: Kernel
    rows: Array
    start: float
    nodes: Array

    @staticmethod
    def of(kind: Any, rows: Array) -> BranchTable:
        """From the drawn position, node after node, in both directions up to the limits."""
        home, count = groups(kind).closing.home, len(rows)
        nodes = np.full((NODES, count, len(home) - 2), np.nan)
        table = BranchTable(kernel(kind, unknowns, of=groups), rows, float(home[0]), nodes)
        nodes[0] = first = table._walked(np.tile(home[2:], (count, 1)), rows, 0.0, 0.0, drawn=True)
        for sense in (1, -1):
            z = first
            for k in range(1, NODES):
                z = table._walked(z, rows, sense * (k - 1.0), sense * float(k))
                node = nodes[sense * k]
                node[...] = np.where(np.isnan(node), z, node)
                if np.isnan(z).all():
                    break
            if np.isfinite(nodes).all():
                break
        return table

    @property
    def closes(self) -> bool:
        """Whether there is any node within reach."""
        return bool(np.isfinite(self.nodes).any())

    def at(self, angle: Array, one: bool) -> Array:
        """The unknowns (..., m) at input angles (...) of `one` design or (..., N) of more; NaN out
        of reach."""
        return self._at(np.shape(angle), np.asarray(angle, dtype=np.float64).tobytes(), one)

    @functools.lru_cache(maxsize=4)  # noqa: B019 (of few tables, which are kept anyway)
    def _at(self, shape: tuple[int, ...], angles: bytes, one: bool) -> Array:
        whole = shape if one else np.broadcast_shapes(shape, (len(self.rows),))
        place = np.broadcast_to(np.frombuffer(angles).reshape(shape), whole) - self.start
        place, which = place.ravel() / NODE_ANGLE, np.zeros(whole, dtype=int)
        which[...] = 0 if one else np.arange(len(self.rows))
        which = which.ravel()
        near = np.round(place)
        other = near + np.where(place < near, -1, 1)
        lost = np.isnan(self.nodes[near.astype(int) % NODES, which, 0])
        node = np.where(lost, other, near)
        z = self._walked(self.nodes[node.astype(int) % NODES, which], self.rows[which], node, place)
        return z.reshape(*whole, -1)

    def _walked(self, z: Array, rows: Array, node: Any, place: Any, drawn: bool = False) -> Array:
        """The unknowns (M, m) of designs (M, p) at places between nodes, from z (M, m) at a node,
        of the same designs or of the drawing."""
        homes, ends = np.empty((len(z), 2 + z.shape[1] + rows.shape[1])), np.ones((len(z), 2))
        homes[:, 0], ends[:, 0] = (self.start + NODE_ANGLE * one for one in (node, place))
        homes[:, 1], homes[:, 2:] = 1.0 - drawn, np.concatenate([z, rows], axis=1)
        return self.walk.batch([ends], len(z), homes=homes, apart=True)


@functools.lru_cache(maxsize=16)
def _table(kind: Hashable, rows: bytes, count: int) -> BranchTable:
    return BranchTable.of(kind, np.frombuffer(rows).reshape(count, -1))


def branch_table(mechanism: Any) -> BranchTable:
    """The table of a mechanism, or of another with the same lengths."""
    rows = np.atleast_2d(mechanism.vector())
    rows[:, [name.endswith(WEIGHTS) for name in mechanism.numbers()]] = 0.0
    kind: Any = type(mechanism)
    return _table(kind, rows.tobytes(), len(rows))
