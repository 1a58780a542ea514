"""The expressions in a system of symbols, taken out of it: what programs of a robot read.

Whatever in a system with `parameters` is no constant (entries of placements, inertias, loop frames,
coefficients of closed forms) becomes one entry: a number that is computed when parameters are set.
So programs compute nothing of the geometry, and a system in numbers is the same entries filled in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from ..array import Array
from ..errors import InputError
from ..model.inertia import RigidInertia
from ..model.model import ACTING
from ..model.pose import Pose
from ..prepare.clusters import Closure
from ..prepare.origins import ENDS
from ..prepare.tree import Tree
from ..program.symbols import lasting, serialized
from .algebra.spatial import SX
from .geometry import SymbolicPose, relinked, solved
from .loops.linkage import Linkage
from .loops.planar_figure import PlanarFigure, PositionRange
from .loops.planar_linkage import NUMBERS
from .system import System


class Entries:
    """The expressions in a system of symbols, which are its numbers at values of these.

    Behind the entries stands how far the joints of closed forms reach: found in numbers, for each
    joint that is given, where its loop opens before and beyond home (`PositionRange`).
    """

    @serialized
    def __init__(self, system: System) -> None:
        self._system = system
        self._places: dict[int, int] = {}
        self._entries: list[SX] = []
        self._last: tuple[bytes, System] | None = None
        self._figures = [
            one
            for one in system.linkages
            if isinstance(one.closed_form, PlanarFigure) and one.closed_form.varies
        ]
        self._each(self._counted)
        assert system.parameters is not None
        entries = ca.vertcat(SX(0, 1), *self._entries)
        self._function = lasting(ca.Function("numbers", [system.parameters], [entries]))
        closed = [
            ca.vertcat(*(values[body] for body in one.cluster.coupled if body in values))
            for one in self._figures
            if (values := one.closed_form.values(*self._given(one)))  # type: ignore[union-attr]
        ]
        self._closed = lasting(
            ca.Function("closed", [system.parameters], [ca.vertcat(SX(0, 1), *closed)])
        )

    @property
    def closed_loops(self) -> tuple[str, ...]:
        """Loops whose closed form has lengths that vary."""
        return tuple(one.cluster.name for one in self._figures)

    def _given(self, linkage: Linkage) -> list[SX]:
        """Where home has the joints that are given."""
        bodies = (self._system.tree.bodies[k] for k in linkage.closed_form.given_bodies)  # type: ignore[union-attr]
        return [SX(self._system.home[body.q.start]) for body in bodies]

    @serialized
    def values(self, parameters: Array) -> Array:
        """The numbers that programs read at parameters (p,) or (N, p): (n,) or (N, n).

        Raises
        ------
        InputError
            A loop cannot be closed at home.
        """
        entries = np.array(self._function(parameters.T)).T.reshape(*parameters.shape[:-1], -1)
        if not self._figures:
            return entries
        rows = [self._reach(one) for one in np.atleast_2d(parameters)]
        reach = np.array(rows).reshape(*parameters.shape[:-1], -1)
        return np.concatenate([entries, reach], axis=-1)

    def _reach(self, parameters: Array) -> list[Any]:
        """How far the given joints of closed forms go, before home and beyond it."""
        found: list[Any] = []
        pairs = zip(self.at(parameters).linkages, self._system.linkages, strict=True)
        for form, loops in ((now.closed_form, one.cluster) for now, one in pairs
                            if one in self._figures):  # fmt: skip
            if not isinstance(form, PlanarFigure):
                raise InputError(
                    f"with these lengths loop {loops.name!r} is at a singularity at home, or is "
                    "solved otherwise than as described. Change less, or give another home"
                )
            found += [end for one in form.reach for end in (one.before, one.beyond)]
        return found

    def home(self, parameters: Array) -> Array:
        """Tree positions (nq_tree,) of home with the loops of closed form closed, NaN if open."""
        home, closed = self._system.home.copy(), np.array(self._closed(parameters)).ravel()
        rows = [
            self._system.tree.bodies[body].q.start
            for one in self._figures
            for body in one.cluster.coupled
            if body not in one.closed_form.given_bodies  # type: ignore[union-attr]
        ]
        home[rows] = closed
        return home

    def _counted(self, matrix: Any) -> Any:
        if isinstance(matrix, SX):
            for one in _elements(matrix):
                if not one.is_constant() and one.element_hash() not in self._places:
                    self._places[one.element_hash()] = len(self._entries)
                    self._entries.append(one)
        return matrix

    def _filled(self, matrix: Any, entries: Any) -> Any:
        """A matrix with its expressions replaced by entries, numbers or symbols."""
        if not isinstance(matrix, SX):
            return matrix
        parts = [
            one if one.is_constant() else entries[self._places[one.element_hash()]]
            for one in _elements(matrix)
        ]
        if isinstance(entries, SX):
            return SX(matrix.sparsity(), ca.vertcat(SX(0, 1), *parts))
        full = np.array(ca.DM(matrix.sparsity(), [float(one) for one in parts]))
        if matrix.numel() == 1:
            return full.item()
        return full.ravel() if matrix.is_column() else full

    @serialized
    def symbols(self) -> System:
        """The system with one symbol for each entry."""
        count = sum(2 * len(one.independent) for one in self._figures)
        symbols = SX.sym("numbers", len(self._entries) + count)
        made = self._each(lambda matrix: self._filled(matrix, symbols))
        ends = iter(ca.vertsplit(symbols)[len(self._entries) :])
        linkages = []
        for linkage, before in zip(made.linkages, self._system.linkages, strict=True):
            if before in self._figures:
                form: Any = linkage.closed_form
                reach = tuple(
                    PositionRange(before=next(ends), beyond=next(ends)) for _ in form.given
                )
                linkage = replace(linkage, closed_form=replace(form, reach=reach))
            linkages.append(linkage)
        known_by = f"{self._system.known_by} entries"
        return replace(made, linkages=tuple(linkages), parameters=symbols, known_by=known_by)

    @serialized
    def at(self, parameters: Array) -> System:
        """The system in numbers; the last one is kept."""
        key = parameters.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self._in_numbers(parameters)
        return self._last[1]

    def _in_numbers(self, parameters: Array) -> System:
        entries = np.array(self._function(parameters)).ravel()
        made = self._each(lambda matrix: self._filled(matrix, entries))
        home = self.home(parameters)
        made = replace(made, parameters=None, grouped=None, known_by="", home=home)
        return solved(made, replace(self._system, home=home), NUMBERS) if self._figures else made

    def _each(self, change: Callable[[Any], Any]) -> System:
        """The system with all its matrices changed."""
        system = self._system
        tree, grouped = self._tree(system.tree, change), None
        if system.grouped is not None:
            grouped = self._tree(system.grouped, change)

        def closure(one: Closure) -> Closure:
            frames = {f"{end}_frame": _pose(getattr(one, f"{end}_frame"), change) for end in ENDS}
            same = all(getattr(one, name) is frame for name, frame in frames.items())
            return one if same else replace(one, **frames)

        made = relinked(system, tree, closure, set())
        linkages = []
        for linkage, before in zip(made.linkages, system.linkages, strict=True):
            form = before.closed_form
            if isinstance(form, PlanarFigure):
                linkage = replace(linkage, closed_form=form.changed(change))
            linkages.append(linkage)
        origins = {
            name: replace(one, pose=_pose(one.pose, change)) for name, one in system.origins.items()
        }
        return replace(
            made,
            linkages=tuple(linkages),
            grouped=grouped,
            gravity=change(system.gravity),
            origins=origins,
        )

    @staticmethod
    def _tree(tree: Tree, change: Callable[[Any], Any]) -> Tree:
        bodies = tuple(
            replace(
                body,
                placement=_pose(body.placement, change),
                inertia=_inertia(body.inertia, change),
                offset=change(body.offset),
                **{name: change(getattr(body, name)) for name in ACTING},
            )
            for body in tree.bodies
        )
        frames = {link: (k, _pose(pose, change)) for link, (k, pose) in tree.frames.items()}
        parts = {link: (k, _inertia(own, change)) for link, (k, own) in tree.parts.items()}
        return replace(tree, bodies=bodies, frames=frames, parts=parts)


def _pose(pose: Any, change: Callable[[Any], Any]) -> Any:
    """A pose with its matrices changed; itself where neither is."""
    rotation, translation = change(pose.rotation), change(pose.translation)
    if rotation is pose.rotation and translation is pose.translation:
        return pose
    if isinstance(rotation, SX) or isinstance(translation, SX):
        return SymbolicPose(rotation, translation)
    return Pose(rotation, translation)


def _inertia(own: RigidInertia, change: Callable[[Any], Any]) -> RigidInertia:
    return RigidInertia(change(own.mass), change(own.first), change(own.second))


def _elements(matrix: Any) -> list[Any]:
    """The entries of a matrix that are not structural zeros."""
    return list(matrix.nonzeros())
