"""Closing the loops at home, and choosing which joints are independent.

Rank is a number of the assembled mechanism, not of its drawing: a planar four-bar in space has
five rows of rank two. So the loops are closed first, then the rank is taken at the home
configuration and at others near it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import casadi as ca
import numpy as np

from ...errors import ModelError
from ...model.clusters import Cluster
from ...model.model import Array
from ...model.tree import Tree
from ...program.continuation import CLOSED
from ..algebra.spatial import SX
from .closure_gap import positions_text
from .cluster_equations import RANK, ClusterEquations
from .independent import allowed_motions, choose_independent
from .linkage import Linkage, cluster_coordinates
from .loop_walk import LoopWalk
from .planar_loop import PlanarLoop, planar_loop
from .units import units

AROUND = (0.02, 0.02, 0.02, 0.02, 0.02, 0.1, 0.1, 0.1)
"""Distances (rad or m) at which rank and independent joints are judged beside home."""


@dataclass(frozen=True, eq=False)
class Assembly:
    """A linkage closed at home.

    home : positions of the cluster's joints there; `rank` of the `row_count` constraint rows.
    others : other ways to close it that were seen, where home was not given but searched for.
    """

    linkage: Linkage
    home: Array
    rank: int
    row_count: int
    others: tuple[Array, ...] = ()


def assemble(
    source: str,
    tree: Tree,
    cluster: Cluster,
    home: Mapping[int, float],
    limits: Mapping[int, tuple[float, float]],
    wanted: Sequence[int] | None,
    preferred: Sequence[Sequence[int]],
) -> Assembly:
    """Close a constrained cluster and choose its independent coordinates.

    Parameters
    ----------
    source : name of the description, for messages.
    home : rough positions by body; bodies not in it start at 0 and may be moved.
    limits : lower and upper bounds of positions by body; kept where the loops can be closed so.
    wanted : bodies whose joints shall be independent; None: choose.
    preferred : bodies to make independent where there is a choice; see `choose_independent`.

    Raises
    ------
    ModelError
        The loops cannot be closed near home, leave nothing movable, or are not determined by
        the wanted joints.
    """
    bodies = cluster.tied
    what = f"{source}: {_kind(cluster)} {cluster.name!r}"
    bounds = np.array([limits.get(body, (-np.inf, np.inf)) for body in bodies]).T
    equations = ClusterEquations(tree, cluster, bounds)
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
    around = [closed, *_closed_around(equations, closed)]
    ranks = [equations.rank(x) for x in around]
    rank = max(ranks)
    in_document = sorted(range(len(bodies)), key=lambda k: tree.bodies[bodies[k]].v.start)
    joints = _joint_names(tree, cluster, in_document)
    if rank == len(bodies):
        locks = "lock their" if len(cluster.closures) + len(cluster.gears) > 1 else "locks its"
        raise ModelError(
            f"{what} {locks} joints ({joints}): {rank} independent constraints on {rank} "
            "joints leave no mobility. A planar loop is closed by a revolute joint whose axis "
            "is parallel to the others, not by a fixed one; check the type and axis."
        )
    if ranks[0] < rank:
        raise ModelError(
            f"{what}: home is a singular configuration (joints {joints} at "
            f"{closed[in_document].round(4).tolist()}), where the branch is undecided. Give a home "
            "away from it."
        )
    matrix = equations.matrix(closed)
    regular = [x for x, its in zip(around, ranks, strict=True) if its == rank]
    choice = _choice(tree, cluster, [equations.matrix(x) for x in regular], rank, preferred)
    independent = choice if wanted is None else [bodies.index(body) for body in wanted]
    dependent = [k for k in range(len(bodies)) if k not in independent]
    if wanted is not None and not _determine(matrix, dependent, rank):
        only = "" if len(dependent) != rank else _where(equations, regular, dependent, rank)
        names = _joint_names(tree, cluster, independent) or "none"
        raise ModelError(
            f"{what} has mobility {len(bodies) - rank}, but its independent joints ({names}) do "
            f"not determine the others{only}: choose {len(bodies) - rank} of {joints} that do, "
            f"such as {_joint_names(tree, cluster, choice)}"
            + (", or give a home away from there" if only else "")
        )
    linkage = Linkage(
        cluster,
        cluster_coordinates(tree, cluster),
        tuple(independent),
        tuple(dependent),
        spanning_rows(matrix[:, dependent], rank),
    )
    closed, *others = _at_home(what, tree, linkage, equations, rough, closed, home)
    if len(independent) == 1:
        solution = planar_loop(tree, cluster, bodies[independent[0]])
        if solution is not None:
            form = _branch_at(tree, linkage, solution, closed)
            linkage = replace(linkage, closed_form=form)
    return Assembly(linkage, closed, rank, len(matrix), tuple(others) if loose else ())


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
    """The nearest closed configuration that moving the first choice of coordinates gives, if any.

    Where there is none, the least gap that was found instead.
    """
    for free in choices:
        for closed in equations.closings(rough, free, regular=False):
            return closed, ""
    best = equations.nearly_closed(rough, choices[-1])
    if equations.gap(best) <= CLOSED:  # the residual cannot tell a half turn
        return None, "half a turn"
    return None, equations.gap_text(best)


def _closed_around(equations: ClusterEquations, closed: Array) -> Iterator[Array]:
    """Closed configurations around one."""
    random = np.random.default_rng(1)
    everything = range(len(closed))
    for spread in AROUND:
        near = equations.close(closed + random.normal(scale=spread, size=len(closed)), everything)
        if equations.gap(near) <= CLOSED:
            yield near


def _choice(
    tree: Tree,
    cluster: Cluster,
    matrices: Sequence[Array],
    rank: int,
    preferred: Sequence[Sequence[int]],
) -> list[int]:
    """Places of the independent joints where nobody names them; `matrices`: at home first."""
    rows, joints = units(tree, cluster, matrices[0])
    places = {body: k for k, body in enumerate(cluster.tied)}
    groups = [[places[body] for body in group if body in places] for group in preferred]
    if not cluster.closures:  # linear: any choice is as good as any other
        groups = [[place] for group in groups for place in group]
    motions = [allowed_motions(np.outer(rows, joints) * matrix, rank) for matrix in matrices]
    return sorted(choose_independent(motions, groups))


def _determine(matrix: Array, dependent: Sequence[int], rank: int) -> bool:
    """Whether the constraints determine the joints at these places."""
    part = matrix[:, list(dependent)]
    return len(dependent) == rank and int(np.linalg.matrix_rank(part, RANK)) == rank


def _where(
    equations: ClusterEquations, around: Sequence[Array], dependent: Sequence[int], rank: int
) -> str:
    """Words about where joints do not determine the others, if that is at home only."""
    elsewhere = any(_determine(equations.matrix(x), dependent, rank) for x in around[1:])
    return " at home, which is a dead point of theirs" if elsewhere else ""


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
) -> list[Array]:
    """The configurations at the independent positions that home names or leaves 0: nearest first.

    Where they cannot be reached, and home names none of them, the closed configuration.
    """
    free, bound = list(linkage.independent), list(linkage.dependent)
    if found := equations.closings(rough, bound, regular=True):
        return found
    loops = LoopWalk(tree, linkage)
    walk = loops.straight(closed, rough)
    if walk.arrived:
        return [loops.end(walk)]
    if not any(linkage.cluster.tied[k] in home for k in free):
        return [closed]
    joints = tuple(_joint_names(tree, linkage.cluster, [k]) for k in free)
    at = partial(positions_text, joints)
    raise ModelError(
        f"{what} cannot be closed at the home position {at(rough[free])}: the nearest that can be "
        f"reached is {at(walk.independent)}"
    )


def _branch_at(tree: Tree, linkage: Linkage, form: PlanarLoop, home: Array) -> PlanarLoop | None:
    """The closed form on the branch of a configuration, with its whole turns; None: no match."""
    bodies = linkage.cluster.tied
    q, given = SX.sym("q"), float(home[linkage.independent[0]])
    for branch in (1, -1):
        trial = replace(form, branch=branch)
        values = trial.values(q)
        function = ca.Function("values", [q], list(values.values()))
        found = dict(zip(values, np.ravel(function(given)), strict=True))
        turns, matches = [], True
        for place in linkage.dependent:
            body = bodies[place]
            miss = home[place] - found[body]
            count = round(miss / (2 * np.pi)) if tree.bodies[body].motion.is_periodic else 0
            matches &= abs(miss - 2 * np.pi * count) < 1e-7
            turns.append((body, count))
        if matches:
            return replace(trial, turns=tuple(turns), reach=trial.reach_from(given))
    return None
