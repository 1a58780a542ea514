"""Home, closed anew where lengths of its loops change.

Where the two joints of a link coincide, a length being 0, a loop does not determine how the link
turns, unless its own joint is given: that is refused with the names of these joints.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..array import Array
from ..equations.entries import Entries
from ..equations.loops.linkage import Linkage
from ..equations.system import System
from ..errors import InputError
from ..model.closing_types import Rotation
from ..prepare.clusters import Cluster
from ..prepare.tree import Body, Tree
from ..program.continuation import LoopFunctions, reshape
from ..program.symbols import serialized

LEAST_DETERMINED = 1e-8
"""Share of what it is at the described home, from which on a loop does not determine its joints."""

ONE_PLACE = 1e-12
"""Distance of joints at one place, as a share of the largest length of their loops."""


def require_closed(entries: Entries, values: Array, source: str) -> None:
    """Raise `InputError`, by row, where loops of closed form are open at home with parameters
    (p,) or (N, p)."""
    for linkage, k in entries.loops_open_at_home(values)[:1]:
        which = f" of row {k}" if values.ndim > 1 else ""
        _refuse_coincident(entries, np.atleast_2d(values)[k], linkage, which, source)
        raise InputError(
            f"{source}: with these lengths loop {linkage.cluster.name}{which} cannot be closed "
            "where home has its independent joints, or is at a singularity there. Change less, or "
            "give a home (with_home) at which it closes"
        )


@serialized
def homes_closed(
    system: System, entries: Entries, before: Array, values: Array, source: str
) -> Array:
    """Home (n,) or (N, n) of the loops without closed form, on the branch of the described one.

    before : (p,) parameters at which the system's home is closed. values : (p,) or (N, p).

    Raises
    ------
    InputError
        A loop cannot be closed, its branch ends on the way, or its independent joints do not
        determine the others at home, by name and row.
    """
    closing, start = system.closing, entries.values(before)
    rows = np.atleast_2d(entries.values(values))
    y, z = np.split(closing.home.copy(), [closing.ny])
    found = np.tile(z, (len(rows), 1))
    iy = iz = 0
    for linkage, loop, (ny, nz) in zip(
        system.numerical_linkages, system.numerical_loops, closing.counts, strict=True
    ):
        here, there = slice(iy, iy + ny), slice(iz, iz + nz)
        iy, iz = here.stop, there.stop
        found[:, there], share = reshape(loop, (y[here], z[there]), start, rows)
        least = LEAST_DETERMINED * _determined(loop, y[here], z[None, there], start[None])
        lost = (share < 1.0) | (_determined(loop, y[here], found[:, there], rows) <= least)
        for k in np.flatnonzero(lost)[:1].tolist():
            which = f" of row {k}" if values.ndim > 1 else ""
            _refuse_coincident(entries, np.atleast_2d(values)[k], linkage, which, source)
            _refuse(f"{source}: ", which, linkage.cluster.name, float(share[k]))
    homes = np.concatenate([np.tile(y, (len(rows), 1)), found], axis=1)
    return homes.reshape(*values.shape[:-1], -1)


def _determined(loop: LoopFunctions, y: Array, z: Array, p: Array) -> Array:
    """Least singular value (N,) of what determines dependent positions z (N, n), as a share of the
    largest, every row having the size 1 over all joints."""
    same = np.repeat(y[:, None], len(z), axis=1)
    _, by_z, by_y, _, _ = loop.rows_at(same, z.T, p.T)
    sizes = np.linalg.norm(np.concatenate([by_z, by_y], axis=-1), axis=-1, keepdims=True)
    values = np.linalg.svd(by_z / np.where(sizes > 0.0, sizes, 1.0), compute_uv=False)
    share: Array = values[:, -1] / np.maximum(values[:, 0], 1e-300)
    return share


def _refuse(where: str, which: str, name: str, share: float) -> None:
    if not share:
        raise InputError(
            f"{where}with the lengths{which} loop {name!r} cannot be closed: some of its "
            "joints cannot move in the direction in which they part, as where a loop that "
            "lies in a plane is taken out of it"
        )
    if share == 1.0:
        raise InputError(
            f"{where}with the lengths{which} loop {name!r} is at a singularity at home: its "
            "independent joints do not determine the others. Change less, or give a home "
            "(with_home) away from it"
        )
    raise InputError(
        f"{where}the lengths{which} leave the branch of home: loop {name!r} stays closed "
        f"on it up to {100 * share:.3g} % of the change, with its independent joints at "
        "home. Change less, or give a home (with_home) from which the loop closes with "
        "these lengths"
    )


def _refuse_coincident(
    entries: Entries, values: Array, linkage: Linkage, which: str, source: str
) -> None:
    """Raise `InputError` where a length of 0 leaves open how a link of some loops turns."""
    system, name = entries.placed_at(values), linkage.cluster.name
    cluster = next(one.cluster for one in system.linkages if one.cluster.name == name)
    tree, given = system.tree, {linkage.coordinates[k] for k in linkage.independent}
    geared = {body for gear in cluster.gears for body in gear.bodies}
    places = {body: list(_places(tree, cluster, body)) for body in cluster.coupled}
    far = max((float(np.linalg.norm(at)) for one in places.values() for _, at in one), default=0.0)
    for k, others in places.items():
        body = tree.bodies[k]
        if len(others) != 1 or body.v.start in given or k in geared or not _turns(body):
            continue
        ((other, at),) = others
        if body.motion.is_hinge:
            at = at - body.axis * (body.axis @ at)
        if np.linalg.norm(at) <= ONE_PLACE * far:
            raise InputError(
                f"{source}: with the lengths{which} {body.joint!r} and {other!r} of link "
                f"{body.name!r} are at one place: with a length of 0 the loop {name!r} does not "
                "determine how it turns. Give a length above 0"
            )


def _turns(body: Body) -> bool:
    """Whether the joint of a body lets it turn about a point or a line."""
    return body.motion.is_hinge or body.motion.keeps_origin


def _places(tree: Tree, cluster: Cluster, body: int) -> Iterator[tuple[str, Array]]:
    """Joints of loops on a body besides its own, and where (3,) in its frame; of slides, which
    hold its direction, nowhere."""
    nowhere = np.full(3, np.inf)
    for k in cluster.coupled:
        one = tree.bodies[k]
        if one.parent == body:
            yield one.joint, one.placement.translation if _turns(one) else nowhere
    for closure in cluster.closures:
        holds = closure.closing.turn is Rotation.NOWHERE
        for end, frame in (
            (closure.predecessor, closure.predecessor_frame),
            (closure.successor, closure.successor_frame),
        ):
            if end == body:
                yield closure.name, nowhere if holds else frame.translation
