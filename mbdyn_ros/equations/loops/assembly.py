"""Closing the loops at home, and choosing which joints are independent.

Rank is a number of the assembled mechanism, not of its drawing: a planar four-bar in space has
five rows of rank two. So the loops are closed first, then the rank is taken at the home
configuration and at others near it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...errors import ModelError
from ...model.clusters import Cluster
from ...model.model import Array
from ...model.tree import Tree
from ...program.continuation import CLOSED
from .closure_gap import positions_text
from .cluster_equations import RANK, ClusterEquations
from .linkage import Linkage, cluster_coordinates
from .loop_walk import LoopWalk
from .planar_figure import planar_figure


@dataclass(frozen=True, eq=False)
class Assembly:
    """A linkage closed at home.

    home : positions of the cluster's joints there; `rank` of the `row_count` constraint rows.
    """

    linkage: Linkage
    home: Array
    rank: int
    row_count: int


def assemble(
    source: str,
    tree: Tree,
    cluster: Cluster,
    home: Mapping[int, float],
    wanted: Sequence[int] | None,
    preferred: Sequence[int],
) -> Assembly:
    """Close a constrained cluster and choose its independent coordinates.

    Parameters
    ----------
    source : name of the description, for messages.
    home : rough positions by body; bodies not in it start at 0 and may be moved.
    wanted : bodies whose joints shall be independent; None: choose.
    preferred : bodies to make independent where there is a choice, the first ones first.

    Raises
    ------
    ModelError
        The loops cannot be closed near home, leave nothing movable, or are not determined by
        the wanted joints.
    """
    bodies = cluster.tied
    what = f"{source}: {_kind(cluster)} {cluster.name!r}"
    equations = ClusterEquations(tree, cluster)
    rough = np.array([home.get(body, 0.0) for body in bodies])
    loose = [k for k, body in enumerate(bodies) if body not in home]
    closed, gap = _first_closed(equations, rough, [loose, list(range(len(bodies)))])
    if closed is None:
        locked = ""
        if equations.rank(rough + np.linspace(0.1, 0.7, len(rough))) == len(bodies):
            locked = (
                f" Its {len(bodies)} independent constraints would leave its {len(bodies)} joints "
                "no mobility: check the type and the axis first."
            )
        raise ModelError(
            f"{what} cannot be closed near home: a gap of {gap} is left.{locked} "
            "Check the lengths and frames, or give a rough closed configuration as home."
        )
    rank = _generic_rank(equations, closed)
    in_document = sorted(range(len(bodies)), key=lambda k: tree.bodies[bodies[k]].v.start)
    joints = _joint_names(tree, cluster, in_document)
    if rank == len(bodies):
        locks = "lock their" if len(cluster.closures) + len(cluster.gears) > 1 else "locks its"
        raise ModelError(
            f"{what} {locks} joints ({joints}): {rank} independent constraints on {rank} "
            "joints leave no mobility. A planar loop is closed by a revolute joint whose axis "
            "is parallel to the others, not by a fixed one; check the type and axis."
        )
    if equations.rank(closed) < rank:
        raise ModelError(
            f"{what}: home is a singular configuration (joints {joints} at "
            f"{closed[in_document].round(4).tolist()}), where the branch is undecided. Give a home "
            "away from it."
        )
    matrix = equations.matrix(closed)
    if wanted is None:
        independent = _choose(matrix, rank, [bodies.index(b) for b in preferred if b in bodies])
    else:
        independent = [bodies.index(body) for body in wanted]
    dependent = [k for k in range(len(bodies)) if k not in independent]
    names = _joint_names(tree, cluster, independent) or "none"
    if len(dependent) != rank or np.linalg.matrix_rank(matrix[:, dependent], RANK) < rank:
        raise ModelError(
            f"{what} has mobility {len(bodies) - rank}, but its independent joints ({names}) do "
            f"not determine the others: choose {len(bodies) - rank} of {joints} that do"
        )
    linkage = Linkage(
        cluster,
        cluster_coordinates(tree, cluster),
        tuple(independent),
        tuple(dependent),
        spanning_rows(matrix[:, dependent], rank),
    )
    closed = _at_home(what, tree, linkage, equations, rough, closed, home)
    if cluster.closures:
        given = [bodies[place] for place in independent]
        figure = planar_figure(tree, cluster, given, dict(zip(bodies, closed, strict=True)))
        linkage = replace(linkage, closed_form=figure)
    return Assembly(linkage, closed, rank, len(matrix))


def _kind(cluster: Cluster) -> str:
    count = len(cluster.closures) + len(cluster.gears)
    word = "loop" if cluster.closures else "coupling"
    return word if count == 1 else f"{word}s"


def _joint_names(tree: Tree, cluster: Cluster, places: Sequence[int]) -> str:
    """Names of joints of a cluster, for messages; of a planar joint, of its motions."""
    return ", ".join(tree.bodies[cluster.tied[k]].label for k in places)


def _first_closed(
    equations: ClusterEquations, rough: Array, choices: Sequence[Sequence[int]]
) -> tuple[Array | None, str]:
    """The first closed configuration that moving one of the choices of coordinates gives.

    Where there is none, the least gap that was found instead.
    """

    def guesses() -> Iterator[tuple[Array, Sequence[int]]]:
        yield from ((rough, free) for free in choices)
        random, free = np.random.default_rng(0), choices[0] or choices[-1]
        for spread in (0.1, 0.3, 1.0, 3.0) * 3:  # a symmetric guess can be a dead end
            guess = rough.copy()
            guess[list(free)] += random.uniform(-spread, spread, len(free))
            yield guess, free

    best = rough
    for guess, free in guesses():
        closed = equations.close(guess, free)
        if equations.gap(closed) <= CLOSED and equations.aligned(closed):
            return closed, ""
        if equations.distance(closed) < equations.distance(best):
            best = closed
    if equations.gap(best) <= CLOSED:  # the residual cannot tell a half turn
        return None, "half a turn"
    return None, equations.gap_text(best)


def _generic_rank(equations: ClusterEquations, closed: Array) -> int:
    """The largest rank at the configuration and at closed ones around it."""
    random = np.random.default_rng(1)
    ranks = [equations.rank(closed)]
    everything = range(len(closed))
    for _ in range(5):
        near = equations.close(closed + random.normal(scale=0.02, size=len(closed)), everything)
        if equations.gap(near) <= CLOSED:
            ranks.append(equations.rank(near))
    return max(ranks)


def _choose(matrix: Array, rank: int, preferred: Sequence[int]) -> list[int]:
    """Independent columns: the preferred ones as far as the others stay determined."""
    order = [k for k in reversed(range(matrix.shape[1])) if k not in preferred]
    order += list(reversed(preferred))
    dependent: list[int] = []
    for column in order:
        if len(dependent) < rank:
            trial = np.linalg.svd(matrix[:, [*dependent, column]], compute_uv=False)
            if trial[-1] > 1e-4 * trial[0]:
                dependent.append(column)
    return [k for k in range(matrix.shape[1]) if k not in dependent]


def spanning_rows(matrix: Array, rank: int) -> tuple[int, ...]:
    """Rows that span the row space, the largest remaining one first (pivoted Gram-Schmidt)."""
    rest, rows = matrix.copy(), []
    for _ in range(rank):
        row = int(np.argmax((rest**2).sum(axis=1).round(12)))
        rows.append(row)
        direction = rest[row] / np.linalg.norm(rest[row])
        rest -= np.outer(rest @ direction, direction)
    return tuple(sorted(rows))


def _at_home(
    what: str,
    tree: Tree,
    linkage: Linkage,
    equations: ClusterEquations,
    rough: Array,
    closed: Array,
    home: Mapping[int, float],
) -> Array:
    """Move the closed configuration to the independent positions that home names or leaves 0."""
    free, bound = list(linkage.independent), list(linkage.dependent)
    nearest = equations.nearest(rough, bound)
    if nearest is not None:
        return nearest
    loops = LoopWalk(tree, linkage)
    walk = loops.straight(closed, rough)
    if walk.arrived:
        return loops.end(walk)
    if not any(linkage.cluster.tied[k] in home for k in free):
        return closed
    joints = tuple(_joint_names(tree, linkage.cluster, [k]) for k in free)
    at = partial(positions_text, joints)
    raise ModelError(
        f"{what} cannot be closed at the home position {at(rough[free])}: the nearest that can be "
        f"reached is {at(walk.independent)}"
    )
