"""Following the loops of one linkage from a closed configuration to another."""

from __future__ import annotations

import numpy as np

from ..array import Array
from ..equations.loops.linkage import Linkage, loop_functions
from ..prepare.tree import Tree
from ..program import continuation
from ..program.continuation import Walk


class LoopWalk:
    """Walks of one linkage; configurations are positions (n,) of its joints, as `coupled` has them.

    Of where a walk leads the independent positions count alone.
    """

    def __init__(self, tree: Tree, linkage: Linkage) -> None:
        self._free, self._bound = list(linkage.independent), list(linkage.dependent)
        self._loop = loop_functions(tree, linkage)

    def straight(self, start: Array, target: Array) -> Walk:
        """The straight way; see `continuation.follow`."""
        return continuation.follow(self._loop, self._parted(start), target[self._free])

    def by_any_way(self, start: Array, target: Array) -> Walk:
        """The first way that leads there, as the programs go; see `continuation.reach`."""
        return continuation.reach(self._loop, self._parted(start), target[self._free])

    def end(self, walk: Walk) -> Array:
        """The configuration that a walk came to."""
        result = np.empty(len(self._free) + len(self._bound))
        result[self._free], result[self._bound] = walk.independent, walk.dependent
        return result

    def _parted(self, x: Array) -> tuple[Array, Array]:
        return x[self._free], x[self._bound]
