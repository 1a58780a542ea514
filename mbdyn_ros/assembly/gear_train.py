"""The linkage of joints that mimics and couplings tie two by two, as in most grippers.

Each takes one freedom away, so the joints that they connect have one left, and rank needs no
numbers. Where gears close a ring, or couple more than two joints, the general method serves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..equations.loops.linkage import Linkage, cluster_coordinates
from ..model.model import Array
from ..prepare.clusters import Cluster
from ..prepare.tree import Tree

SLOWEST_SHARE = 1e-3
"""Least motion of an independent joint relative to the fastest of its train: below, the general way
looks whether another joint suits better."""


def gear_train(
    tree: Tree,
    cluster: Cluster,
    home: Mapping[int, float],
    wanted: Sequence[int] | None,
    preferred: Sequence[Sequence[int]],
) -> tuple[Linkage, Array] | None:
    """The linkage of a cluster of pairs, and the positions of its joints at home.

    None where the cluster is none, or where joints are not chosen at first sight. Parameters as
    of `assemble`.
    """
    places = {body: k for k, body in enumerate(cluster.coupled)}
    neighbours: list[list[tuple[int, float, float]]] = [[] for _ in places]
    for gear in cluster.gears:
        if len(gear.factors) != 2 or gear.leading or not all(factor for _, factor in gear.factors):
            return None
        (one, first), (other, second) = ((places[body], factor) for body, factor in gear.factors)
        neighbours[one].append((other, -first / second, -gear.shift / second))
        neighbours[other].append((one, -second / first, -gear.shift / first))
    if cluster.closures or any(len({k for k, *_ in one}) < len(one) for one in neighbours):
        return None
    first_choice = wanted if wanted is not None else [one for group in preferred for one in group]
    order = [places[body] for body in first_choice if body in places]
    rates, positions = np.zeros(len(places)), np.zeros(len(places))
    reached: set[int] = set()
    independent = []
    for start in order:
        if start in reached:
            if wanted is not None:
                return None
            continue
        independent.append(start)
        rates[start], positions[start] = 1.0, home.get(cluster.coupled[start], 0.0)
        train = [start]
        reached.add(start)
        for k in train:
            for other, factor, shift in neighbours[k]:
                if other not in reached:
                    rates[other] = factor * rates[k]
                    positions[other] = factor * positions[k] + shift
                    reached.add(other)
                    train.append(other)
        if SLOWEST_SHARE * np.abs(rates[train]).max() > 1.0:
            return None
    if len(reached) < len(places) or len(places) - len(independent) != len(cluster.gears):
        return None
    chosen = set(independent)
    linkage = Linkage(
        cluster,
        cluster_coordinates(tree, cluster),
        tuple(sorted(independent)) if wanted is None else tuple(independent),
        tuple(k for k in range(len(places)) if k not in chosen),
        tuple(range(len(cluster.gears))),
    )
    return linkage, positions
