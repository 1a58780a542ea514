"""Which coordinates move a contact and how, and which of them a mass matrix and its factor tie
together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ...prepare.tree import Tree
from ..dry_friction import DryFrictionRows
from ..system import System
from ..tree.kinematics import chain
from .contact import ContactGeometry

Flags: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Sparsity:
    """Where the factor M = L^T L of a mass matrix, and rows of velocities, are not zero.

    path : of every coordinate the ones before it in its row of L, ascending.
    reach : of every contact, then of every row of dry friction, the coordinates that move it and
        those that these bring in when they are eliminated, ascending; nothing of slots, whose
        bodies change.
    bodies : the same of every body that may touch.
    """

    path: tuple[tuple[int, ...], ...]
    reach: tuple[tuple[int, ...], ...]
    bodies: dict[int, tuple[int, ...]]

    @staticmethod
    def of(system: System, contacts: ContactGeometry) -> Sparsity:
        """The reach of a system's contacts, in their order."""
        joints = _moved_joints(system)
        bodies = _moved_bodies(system, joints, contacts.links)
        coupled = np.zeros((joints.shape[1],) * 2, dtype=np.bool_)
        for body in bodies:
            coupled |= np.outer(body, body)
        path: list[tuple[int, ...]] = [()] * len(coupled)
        for i in range(len(coupled) - 1, -1, -1):
            path[i] = _places(coupled[i, :i])
            coupled[np.ix_(path[i], path[i])] = True

        def closed(moves: Flags) -> tuple[int, ...]:
            moves = moves.copy()
            for i in range(len(moves) - 1, -1, -1):
                moves[list(path[i])] |= moves[i]
            return _places(moves)

        own = {body: closed(bodies[body]) for body in contacts.bodies}
        faces, rubbing = range(len(contacts.faces)), DryFrictionRows.of(system)
        reach = [own[point.body] for point in contacts.points for _ in faces]
        reach += [closed(bodies[one.body] | bodies[two.body]) for one, two in contacts.couples]
        reach += [closed(joints[k]) for _, k, _, _ in contacts.stops]
        reach += [()] * contacts.slots
        reach += [closed(np.arange(len(coupled)) == k) for k, _ in rubbing.single]
        reach += [closed(joints[row]) for row in rubbing.own]
        return Sparsity(tuple(path), tuple(reach), own)


@dataclass(frozen=True)
class Mobility:
    """How coordinates move the bodies that may touch; those of one tree share their motions.

    motions : of every motion the coordinate, and the velocities of the tree that follow it.
    bodies : of every body the coordinates that move it, each with the number of its motion.
    """

    motions: tuple[tuple[int, tuple[int, ...]], ...]
    bodies: dict[int, dict[int, int]]

    @staticmethod
    def of(system: System, contacts: ContactGeometry) -> Mobility:
        """The motions of a system's bodies."""
        tree, joints = system.tree, _moved_joints(system)
        numbers: dict[tuple[int, tuple[int, ...]], int] = {}
        bodies: dict[int, dict[int, int]] = {}
        for body in contacts.bodies:
            carriers = chain(tree, carrier_of(tree, contacts.links, body))
            own = sorted(row for i in carriers for row in range(tree.nv)[tree.bodies[i].v])
            bodies[body] = moves = {}
            for k in np.flatnonzero(joints[own].any(axis=0)).tolist():
                motion = k, tuple(row for row in own if joints[row, k])
                moves[k] = numbers.setdefault(motion, len(numbers))
        return Mobility(tuple(numbers), bodies)


def carrier_of(tree: Tree, links: Sequence[str], body: int) -> int:
    """The body of the tree that carries a body or, after them, the frame of a link; or `WORLD`."""
    count = len(tree.bodies)
    return body if body < count else tree.frames[links[body - count]][0]


def _places(flags: Flags) -> tuple[int, ...]:
    return tuple(np.flatnonzero(flags).tolist())


def _moved_joints(system: System) -> Flags:
    """Whether a velocity of the tree (rows) moves with a coordinate (columns)."""
    order = {row: k for k, row in enumerate(system.coordinates.v)}
    moves = np.zeros((system.tree.nv, len(order)), dtype=np.bool_)
    for row, k in order.items():
        moves[row, k] = True
    for linkage in system.linkages:
        if not linkage.is_rigid:
            leaders = [order[linkage.coordinates[i]] for i in linkage.independent]
            moves[np.ix_(linkage.coordinates, leaders)] = True
    return moves


def _moved_bodies(system: System, joints: Flags, links: Sequence[str]) -> Flags:
    """Whether a body (rows), then a frame of a link, moves with a coordinate (columns); last the
    world."""
    moves = np.zeros((len(system.tree.bodies) + 1, joints.shape[1]), dtype=np.bool_)
    for body, own in zip(system.tree.bodies, moves[:-1], strict=True):
        own |= joints[body.v].any(axis=0) | moves[body.parent]
    frames = moves[[system.tree.frames[link][0] for link in links]]
    return np.vstack([moves[:-1], frames, moves[-1:]])


def flattened(
    lists: Iterable[tuple[int, ...]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Where each list begins, and one more; and all of them, one after the other."""
    every = list(lists)
    start = np.cumsum([0, *map(len, every)], dtype=np.int64)
    return start, np.array([k for one in every for k in one], dtype=np.int32)
