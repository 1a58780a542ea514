"""The expressions in a system of symbols, taken out of it: what programs of a robot read.

Whatever in a system with `parameters` is not a constant (entries of placements, inertias, loop
frames, coefficients of closed forms) becomes one entry: a number that is computed when parameters
are set. So programs compute nothing of the geometry, and a system in numbers is the same entries
filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from ..array import Array
from ..model.inertia import RigidInertia
from ..model.model import ACTING
from ..model.pose import Pose
from ..prepare.clusters import Closure
from ..prepare.tree import ENDS, Tree
from ..program.columns import Columns
from ..program.symbols import serialized
from .algebra.spatial import SX, second_moment
from .geometry import SymbolicPose, relinked, solved
from .loops.linkage import Linkage
from .loops.planar_figure import PlanarFigure
from .loops.planar_linkage import NUMBERS
from .loops.planar_reach import NO_MARGIN, PositionRange
from .loops.stepwise import Stepwise
from .system import System

FORMS = PlanarFigure, Stepwise
"""Closed forms whose lengths may vary."""


class Entries:
    """The expressions in a system of symbols, which are its numbers at values of these.

    Behind the entries stands how far the joints of closed forms reach: found in numbers, for each
    joint that is given, where its loop opens before and beyond home (`PositionRange`).
    """

    @serialized
    def __init__(self, system: System) -> None:
        grouped = system.grouped and _with_spread(system.grouped)
        self._system = system = replace(system, tree=_with_spread(system.tree), grouped=grouped)
        self._places: dict[int, int] = {}
        self._entries: list[SX] = []
        self._last: tuple[bytes, System] | None = None
        self._solved = [
            one
            for one in system.linkages
            if isinstance(one.closed_form, FORMS) and one.closed_form.varies
        ]
        self._figures = [figure for one in self._solved for figure in self._form(one).figures]
        self._each(self._counted)
        assert system.parameters is not None
        self._values = Columns([system.parameters], ca.vertcat(SX(0, 1), *self._entries))
        self._reaches = [one.reach_of_joints(system.parameters) for one in self._figures]
        closed, margins, starts = [SX(0, 1)], [SX(0, 1)], [SX(0, 1)]
        for one in self._solved:
            form = self._form(one)
            known = dict(zip(form.given_bodies, map(SX, self._given(one)), strict=True))
            known |= form.values(*known.values())
            closed += [known[body] for body in self._dependent(one)]
            least = [SX(0, 1)]
            for figure in form.figures:
                given = [known[body] for body in figure.given_bodies]
                starts += given
                least.append(figure.margins(*given))
            margins.append(ca.mmin(ca.vertcat(*least)))
        self._closed, self._margins, self._starts = (
            Columns([system.parameters], ca.vertcat(*one)) for one in (closed, margins, starts)
        )

    def loops_open_at_home(self, parameters: Array) -> list[tuple[Linkage, int]]:
        """Loops of closed form that home leaves open, or at a singularity, with parameters (p,)
        or (N, p), and the row."""
        return [
            (linkage, k)
            for linkage, row in zip(self._solved, self._margins.at(parameters).T, strict=True)
            for k in np.flatnonzero(~(row > NO_MARGIN)).tolist()
        ]

    @staticmethod
    def _form(linkage: Linkage) -> PlanarFigure | Stepwise:
        assert isinstance(linkage.closed_form, FORMS)
        return linkage.closed_form

    def _dependent(self, linkage: Linkage) -> list[int]:
        """The bodies that a closed form places."""
        given = self._form(linkage).given_bodies
        return [body for body in linkage.cluster.coupled if body not in given]

    def _given(self, linkage: Linkage) -> list[float]:
        """Where home has the joints that are given."""
        bodies = (self._system.tree.bodies[k] for k in self._form(linkage).given_bodies)
        return [float(self._system.home[body.q.start]) for body in bodies]

    def values(self, parameters: Array) -> Array:
        """The numbers that programs read at parameters (p,) or (N, p): (n,) or (N, n)."""
        shape, entries = parameters.shape[:-1], self._values.at(parameters)
        reach = (one for ranges in self._ranges(parameters) for one in ranges)
        ends = [np.broadcast_to(end, shape) for one in reach for end in (one.before, one.beyond)]
        return np.concatenate([entries, np.stack(ends, -1)], -1) if ends else entries

    def reach(self, parameters: Array) -> dict[int, PositionRange]:
        """How far the given joints of closed forms go from home, by body, at parameters (p,) or
        (N, p): numbers, or arrays (N,)."""
        whole, found = list(map(self._form, self._solved)), dict[int, PositionRange]()
        for figure, ranges in zip(self._figures, self._ranges(parameters), strict=True):
            if any(figure is one for one in whole):  # else a later one may end a motion first
                found |= dict(zip(figure.given_bodies, ranges, strict=True))
        return found

    def _ranges(self, parameters: Array) -> Iterator[tuple[PositionRange, ...]]:
        """The same of every figure."""
        rows = np.atleast_2d(parameters)
        starts = iter(self._starts.at(rows).T)
        for figure, reach in zip(self._figures, self._reaches, strict=True):
            ranges = reach.at(np.array([next(starts) for _ in figure.given]), rows.T)
            yield tuple(one.of(0) for one in ranges) if parameters.ndim == 1 else ranges

    def home(self, parameters: Array, z: Array | None = None) -> Array:
        """Tree positions (nq_tree,) of home with the loops of closed form closed, NaN if open.

        z : dependent positions of the others; default those of the described home.
        """
        home = self._system.home.copy()
        if z is not None:
            home[self._system.numerical_dependent_rows] = z
        rows = [
            self._system.tree.bodies[body].q.start
            for one in self._solved
            for body in self._dependent(one)
        ]
        home[rows] = self._closed.at(parameters)
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
        count = sum(2 * len(one.given) for one in self._figures)
        symbols = SX.sym("numbers", len(self._entries) + count)
        made = self._each(lambda matrix: self._filled(matrix, symbols))
        ends = iter(ca.vertsplit(symbols)[len(self._entries) :])
        linkages = []
        for linkage, before in zip(made.linkages, self._system.linkages, strict=True):
            if before in self._solved:
                form, figures = self._form(linkage), list[PlanarFigure]()
                for one in form.figures:
                    reach = (PositionRange(before=next(ends), beyond=next(ends)) for _ in one.given)
                    figures.append(replace(one, reach=tuple(reach)))
                linkage = replace(linkage, closed_form=form.with_figures(figures))
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

    @serialized
    def placed_at(self, parameters: Array) -> System:
        """The system in numbers, whether its loops close or not."""
        entries = self._values.at(parameters)
        return self._each(lambda matrix: self._filled(matrix, entries))

    def _in_numbers(self, parameters: Array) -> System:
        made, home = self.placed_at(parameters), self.home(parameters)
        made = replace(made, parameters=None, grouped=None, known_by="", home=home)
        return solved(made, replace(self._system, home=home), NUMBERS) if self._solved else made

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
            if isinstance(form, FORMS):
                form = form.with_figures(one.changed(change) for one in form.figures)
                linkage = replace(linkage, closed_form=form)
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
    spread = None if own.spread is None else change(own.spread)
    return RigidInertia(change(own.mass), change(own.first), change(own.second), spread)


def _with_spread(tree: Tree) -> Tree:
    """The tree with `RigidInertia.spread` where moments of inertia are symbols."""
    bodies = list(tree.bodies)
    for k, body in enumerate(bodies):
        if isinstance(second := body.inertia.second, SX):
            diagonal = ca.diag(second_moment(second))
            bodies[k] = replace(body, inertia=replace(body.inertia, spread=diagonal))
    return replace(tree, bodies=tuple(bodies))


def _elements(matrix: Any) -> list[Any]:
    """The entries of a matrix that are not structural zeros."""
    return list(matrix.nonzeros())
