"""Closing the loops at home, and choosing which joints are independent.

Rank is a number of the assembled mechanism, not of its drawing: a planar four-bar in space has
five rows of rank two. So the loops are closed first, then the rank is taken at the home
configuration and at others near it. Mimic joints and couplings of two joints are a `gear_train`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ..equations.loops.linkage import Linkage, cluster_coordinates
from ..equations.loops.stepwise import Standstill, closed_form
from ..errors import ModelError
from ..model.model import Array
from ..names import plural
from ..prepare.clusters import Cluster
from ..prepare.tree import Tree
from .closure_gap import ClosureGap, LoopWalk, beyond_limits, positions_text
from .constraint_equations import ClusterEquations, closings
from .gear_train import gear_train
from .gimbal import check_pitches
from .rank import Rank, allowed_motions, choose_independent, spanning_rows
from .rounding import (
    Rounding,
    closed_around,
    generic_rank,
    is_exact,
    is_opposite,
    is_tolerable,
    nearly_closed,
    open_text,
    rank_at,
    regular_near,
    rounding_at,
)

HOME_DIGITS = 3
"""Decimals of a home that a message names: the loops are closed near it."""


@dataclass(frozen=True, eq=False)
class Assembly:
    """A linkage closed at home.

    home : positions of the cluster's joints there; `rank` of the `row_count` constraint rows.
    rounding : what stays open because numbers of the description are rounded; None where they
        are exact.
    others : other ways to close it that were seen, where home was not given but searched for.
    repeated : whether its couplings and mimic joints say no more than its loops.
    locked : where nothing of it moves, the words with which it is refused if nothing else does.
    start, gaps : where its joints were before it was closed, and how far each loop was open there.
    """

    linkage: Linkage
    home: Array
    rank: int
    row_count: int
    rounding: Rounding | None = None
    others: tuple[Array, ...] = ()
    repeated: bool = False
    locked: str = ""
    start: Array = field(default_factory=lambda: np.zeros(0))
    gaps: Mapping[str, ClosureGap] = field(default_factory=dict)


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
        The loops cannot be closed near home, contradict couplings, or are not determined by the
        wanted joints.
    QuarterPitchError
        See `gimbal.check_pitches`.
    """
    if train := gear_train(tree, cluster, home, wanted, preferred):
        count = len(cluster.gears)
        return Assembly(*train, rank=count, row_count=count)
    bodies = cluster.coupled
    what = f"{source}: {_kind(cluster)} {cluster.name!r}"
    rough = np.array([home.get(body, 0.0) for body in bodies])
    bounds = np.array([limits.get(body, (-np.inf, np.inf)) for body in bodies]).T
    equations = ClusterEquations(tree, cluster, rough, bounds)
    loose = [k for k, body in enumerate(bodies) if body not in home]
    choices = [loose, list(range(len(bodies)))]
    if not cluster.closures:  # linear in what follows, so that it closes at the first step
        leading = {body for gear in cluster.gears for body in gear.leading}
        choices.insert(0, [k for k in loose if bodies[k] not in leading])
    closed, best, gap = _first_closed(equations, rough, choices)
    if closed is None:
        problem = f"cannot be closed near home: {gap}"
        advice = "check the lengths and frames, or give a rough closed configuration as home"
        generic = rank_at(equations, rough + np.linspace(0.1, 0.7, len(rough)))
        if generic.count == len(bodies):
            problem += (
                f", and {len(bodies)} independent constraints would leave its {len(bodies)} "
                "joints no mobility"
            )
            advice = f"check the type and the axis first; {advice}"
        raise ModelError(Refusal.at(what, equations, best, generic).text(problem, advice))
    check_pitches(what, tree, dict(zip(bodies, closed, strict=True)), home)
    around = [closed, *closed_around(equations, closed)]
    generic = generic_rank(equations, around)
    rank = generic.count
    if not generic.clear:
        raise ModelError(
            Refusal.at(what, equations, closed, generic).text(
                f"has constraints of ambiguous rank: the singular values {generic} show no clear "
                "gap between independent constraints and redundant ones blurred by rounding",
                "write lengths, angles and axes with all their digits",
            )
        )
    over = beyond_limits([tree.bodies[body].label for body in bodies], bounds, closed)
    over = f". It closes only with {over}: check its frames" if over else ""
    refusal = Refusal.at(what, equations, closed, generic)
    in_document = sorted(range(len(bodies)), key=lambda k: tree.bodies[bodies[k]].v.start)
    joints = _joint_names(tree, cluster, in_document)
    locked = ""
    if rank == len(bodies):
        problem = _locked_text(cluster, joints, rank, generic.tilt_text)
        locked = refusal.text(problem + over, _locked_advice(cluster))
        if cluster.gears or generic.tilt_text:  # they contradict each other, or miss a place
            raise ModelError(locked)
        wanted = None
    regular = [x for x in around if generic.counts(equations.scaled(x)) == rank]
    if not regular or regular[0] is not closed:
        raise ModelError(
            refusal.text(
                f"has a singular configuration for home (joints {joints} at "
                f"{closed[in_document].round(4).tolist()}), where the branch is undecided{over}",
                "give a home away from it"
                + _such_as(regular_near(equations, closed, rank), tree, cluster, in_document),
            )
        )
    matrix = equations.matrix(closed)
    choice = _choice(cluster, [equations.scaled(x) for x in regular], rank, preferred)
    independent = choice if wanted is None else [bodies.index(body) for body in wanted]
    dependent = [k for k in range(len(bodies)) if k not in independent]
    if wanted is not None and not _determine(equations, closed, dependent, generic):
        elsewhere = any(_determine(equations, x, dependent, generic) for x in regular[1:])
        only = " at home, which is a dead point of theirs" if elsewhere else ""
        names = _joint_names(tree, cluster, independent)
        lack = f"its independent joints ({names}) do not determine the others"
        if not names:
            lack = f"none of its joints ({joints}) is independent"
        raise ModelError(
            refusal.text(
                f"has mobility {len(bodies) - rank}, but {lack}{only}{over}",
                f"choose {len(bodies) - rank} of {joints} that determine the others, such as "
                f"{_joint_names(tree, cluster, choice)}"
                + (", or give a home away from there" if only else ""),
            )
        )
    rows = spanning_rows(matrix[:, dependent], rank)
    rounded = generic.is_rounded or not is_exact(equations, closed)
    linkage = Linkage(
        cluster,
        cluster_coordinates(tree, cluster),
        tuple(independent),
        tuple(dependent),
        rows,
        tolerances=equations.tolerances(rows) if rounded else (),
        unit=equations.unit,
    )
    equations = equations.keeping(linkage)
    closed, *others = _at_home(what, tree, linkage, equations, rough, closed, home)
    if rounded and not is_tolerable(equations, closed):
        problem = f"cannot be closed at home: {open_text(equations, closed, closed)}"
        advice = "correct that number in the file"
        raise ModelError(Refusal.at(what, equations, closed, generic).text(problem, advice))
    if not cluster.linear:
        given = [bodies[place] for place in independent]
        at = dict(zip(bodies, closed, strict=True))
        form = closed_form(tree, cluster, given, at, linkage.unit) if given else None
        linkage = replace(linkage, closed_form=Standstill.at(bodies, closed) if locked else form)
    rounding = rounding_at(equations, closed, generic) if rounded else None
    alone = equations.scaled(closed)[: len(matrix) - len(cluster.gears)]
    repeated = bool(cluster.closures and cluster.gears and generic.counts(alone) == rank)
    parts = np.array([tree.bodies[body].part_of is not None for body in bodies])
    start = np.where(parts & np.isin(bodies, list(home), invert=True), closed, rough)
    return Assembly(
        linkage, closed, rank, len(matrix), rounding, tuple(others) if loose else (), repeated,
        locked, start, equations.gaps(start),
    )  # fmt: skip


def _kind(cluster: Cluster) -> str:
    count = len(cluster.closures) + len(cluster.gears)
    word = "loop" if cluster.closures else "coupling"
    return plural(word, count)


def _such_as(best: Array | None, tree: Tree, cluster: Cluster, places: Sequence[int]) -> str:
    """Words about a home that serves, where one is known."""
    if best is None:
        return ""
    names = tuple(_joint_names(tree, cluster, [k]) for k in places)
    return f", such as {positions_text(names, best[list(places)].round(HOME_DIGITS))}"


def _joint_names(tree: Tree, cluster: Cluster, places: Sequence[int]) -> str:
    """Names of joints of a cluster, for messages; of a planar joint, of its motions."""
    return ", ".join(tree.bodies[cluster.coupled[k]].label for k in places)


def _first_closed(
    equations: ClusterEquations, rough: Array, choices: Sequence[Sequence[int]]
) -> tuple[Array | None, Array, str]:
    """The nearest closed configuration that moving one of the choices of coordinates gives.

    Where there is none, the one with the least gap that was found, and words about it.
    """
    best, almost = rough, list[Array]()
    for free in choices:

        def tolerable(guess: Array, closed: Array, free: Sequence[int] = free) -> Array | None:
            nonlocal best
            best = min(best, closed, key=equations.distance)
            settled = nearly_closed(equations, guess, free, closed)
            if settled is None or is_tolerable(equations, settled):
                return settled
            almost.append(settled)
            return None

        for closed in closings(equations, rough, free, tolerable):
            return closed, closed, ""
    nearest = almost[0] if almost and not is_opposite(equations, best) else None
    return None, best if nearest is None else nearest, open_text(equations, best, nearest)


def _choice(
    cluster: Cluster,
    matrices: Sequence[Array],
    rank: int,
    preferred: Sequence[Sequence[int]],
) -> list[int]:
    """Places of the independent joints that are chosen by default.

    matrices : rows without units, at home first.
    """
    places = {body: k for k, body in enumerate(cluster.coupled)}
    groups = [[places[body] for body in group if body in places] for group in preferred]
    if not cluster.closures:  # linear: any choice is as good as any other
        groups = [[place] for group in groups for place in group]
    motions = [allowed_motions(matrix, rank) for matrix in matrices]
    return sorted(choose_independent(motions, groups))


def _determine(equations: ClusterEquations, x: Array, dependent: Sequence[int], rank: Rank) -> bool:
    """Whether the constraints at a configuration determine the joints at these places."""
    part = equations.scaled(x)[:, list(dependent)]
    return len(dependent) == rank.count == rank.counts(part)


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
    if found := closings(
        equations, rough, bound, lambda _, x: x if equations.is_regular(x, bound) else None
    ):
        return found
    loops = LoopWalk(tree, linkage)
    walk = loops.straight(closed, rough)
    if walk.arrived:
        return [loops.end(walk)]
    if not any(linkage.cluster.coupled[k] in home for k in free):
        return [closed]
    joints = tuple(_joint_names(tree, linkage.cluster, [k]) for k in free)
    at = partial(positions_text, joints)
    raise ModelError(
        Refusal.at(what, equations, rough).text(
            f"cannot be closed at the home position {at(rough[free])}: the nearest that can be "
            f"reached is {at(walk.independent)}",
            "give a home nearer to that",
        )
    )


@dataclass(frozen=True)
class Refusal:
    """Loops of a cluster that are refused, as they are at one configuration.

    what : the description and the loops. loop, gap : which is open widest there, and how far.
    rows, joints : how many there are; `rank` says how many rows count.
    """

    what: str
    loop: str
    gap: ClosureGap
    rows: int
    joints: int
    rank: Rank

    @classmethod
    def at(
        cls, what: str, equations: ClusterEquations, x: Array, rank: Rank | None = None
    ) -> Refusal:
        """Loops at positions x, with the rank there where nothing else is known of it."""
        loop, gap = equations.worst_gap(x)
        rows, joints = equations.scaled(x).shape
        return cls(what, loop, gap, rows, joints, rank_at(equations, x) if rank is None else rank)

    def text(self, problem: str, advice: str) -> str:
        """The message: a problem, as the loops' predicate, and the next thing to try."""
        return (
            f"{self.what} {problem}. Gap: {self.gap} in {self.loop!r}. "
            f"Constraints: {self._constraints}. Next: {advice}"
        )

    @property
    def _constraints(self) -> str:
        count, values = self.rank.count, self.rank.values
        if not count:
            return f"none of {self.rows} counts on {self.joints} joints"
        words = f"{count} of {self.rows} count on {self.joints} joints"
        words += f", the least {values[count - 1]:.2g} of the largest"
        if count < len(values):
            words += f", the others {values[count]:.2g} and less"
        return words


def _locked_text(cluster: Cluster, joints: str, count: int, tilt: str) -> str:
    """Words about constraints that leave their joints no mobility.

    tilt : `Rank.tilt_text`.
    """
    locks = "lock their" if len(cluster.closures) + len(cluster.gears) > 1 else "locks its"
    return (
        f"{locks} joints ({joints}): {count} independent constraints on {count} joints leave no "
        f"mobility{tilt}"
    )


def _locked_advice(cluster: Cluster) -> str:
    """Advice where constraints leave no mobility."""
    if not cluster.closures:
        return "leave out one of them: they contradict each other unless no joint moves"
    if not cluster.gears:
        return (
            "check the type and axis: a planar loop is closed by a revolute joint whose axis is "
            "parallel to the others, not by a fixed one"
        )
    gears = ", ".join(gear.name for gear in cluster.gears)
    return (
        f"leave out the <mimic> tags, or the loop: both its loops and its couplings or <mimic> "
        f"({gears}) tie the same joints, and many descriptions mimic what the loop does for "
        "simulators without loops"
    )
