"""Systems whose frames stand elsewhere than described, on symbols; and their numbers.

Moving the origin of a joint, or a frame of a loop, moves what hangs on it: placements of bodies,
links that fixed joints hold, inertias, loop frames. `placed` writes all of them as expressions of
the new origins. `Numbers` takes the expressions out of a system again: whatever is no constant
becomes an entry, so that programs read entries and compute nothing of the geometry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from ..array import Array
from ..model.inertia import RigidInertia
from ..model.model import ACTING
from ..model.pose import Pose, noise, without_noise
from ..prepare.clusters import Closure, Cluster
from ..prepare.origins import ENDS, Origin
from ..prepare.tree import Tree
from ..program.symbols import lasting
from .algebra.spatial import SX, Transform, constant
from .system import System
from .tree.composite_body import CompositeInertia


@dataclass(frozen=True, eq=False)
class SymbolicPose:
    """A `Pose` of symbols, or with some."""

    rotation: Any
    translation: Any

    def __matmul__(self, other: Pose | SymbolicPose) -> SymbolicPose:
        rotation, shift = constant(self.rotation), constant(self.translation)
        return SymbolicPose(
            _product(self.rotation, other.rotation),
            rotation @ constant(other.translation) + shift,
        )


def _product(one: Any, two: Any) -> Any:
    """The product of two rotations, numbers where both are."""
    if isinstance(one, SX) or isinstance(two, SX):
        return constant(one) @ constant(two)
    return one @ two


def symbolic_origin(origin: Origin, six: list[Any]) -> SymbolicPose:
    """The pose of an origin at six numbers as in `Origin.six`, some of which are symbols."""
    roll, pitch, yaw = six[3:]
    rotation: Any = origin.pose.rotation
    if any(isinstance(angle, SX) for angle in (roll, pitch, yaw)):
        rotation = constant(origin.axes) @ _about(2, yaw) @ _about(1, pitch) @ _about(0, roll)
    return SymbolicPose(rotation, ca.vertcat(*(SX(one) for one in six[:3])))


def _about(axis: int, angle: Any) -> SX:
    """A turn about an axis."""
    cosine, sine = ca.cos(SX(angle)), ca.sin(SX(angle))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turn = SX.eye(3)
    turn[i, i] = turn[j, j] = cosine
    turn[i, j], turn[j, i] = -sine, sine
    return turn


def placed(system: System, at: Mapping[str, SymbolicPose]) -> System:
    """The system with some of its `origins` elsewhere, all that hangs on them moved along.

    The closed forms of loops that are touched are of other lengths, so these are followed.
    """
    tree = system.tree
    small = noise(body.placement.translation for body in tree.bodies)
    joint_of = {one.child: name for name, one in system.origins.items() if one.child}
    frames: dict[str, tuple[int, Any]] = {}
    bodies, parts = list(tree.bodies), dict(tree.parts)
    first = {body.joint: k for k, body in reversed(list(enumerate(tree.bodies)))}
    moved: set[str] = set()
    touched: set[int] = set()
    for link, (index, pose) in tree.frames.items():
        frames[link] = index, pose
        name = joint_of.get(link)
        if name is None:
            continue
        origin = system.origins[name]
        if name not in at and origin.link not in moved:
            continue
        (holder, before), (_, after) = tree.frames[origin.link], frames[origin.link]
        own = at.get(name) or SymbolicPose(origin.pose.rotation, origin.pose.translation)
        now = SymbolicPose(after.rotation, after.translation) @ own
        if holder == index:
            frames[link] = index, now
            moved.add(link)
            continue
        body = bodies[first[name]]
        rest = without_noise((before @ origin.pose).inverse() @ body.placement, small)
        bodies[first[name]] = replace(body, placement=now @ rest)  # type: ignore[arg-type]
        touched.add(first[name])
    for link in moved:
        if link in parts:
            index, own_inertia = parts[link]
            parts[link] = index, _carried(own_inertia, tree.frames[link][1], frames[link][1])
    for k in {parts[link][0] for link in moved if link in parts}:
        inertias = [own for index, own in parts.values() if index == k]
        bodies[k] = replace(bodies[k], inertia=_sum(inertias))
    tree = replace(tree, bodies=tuple(bodies), frames=frames, parts=parts)
    return _relinked(system, tree, lambda one: _closure_at(system, tree, one, moved, at), touched)


def _carried(inertia: RigidInertia, before: Pose, after: Any) -> RigidInertia:
    """The inertia of a link about its body's origin, where the link stands elsewhere in it."""
    back = before.inverse()
    own = CompositeInertia.of(inertia).to_parent(
        Transform((constant(back.rotation),), constant(back.translation))
    )
    into = Transform((constant(after.rotation),), constant(after.translation))
    one = own.to_parent(into)
    return RigidInertia(one.mass, one.first, one.second)  # type: ignore[arg-type]


def _sum(inertias: list[RigidInertia]) -> RigidInertia:
    """The sum of inertias, on symbols."""
    whole = RigidInertia(0.0, SX(3, 1), SX(3, 3))  # type: ignore[arg-type]
    for one in inertias:
        whole = whole + RigidInertia(one.mass, constant(one.first), constant(one.second))  # type: ignore[arg-type]
    return whole


def _closure_at(
    system: System, tree: Tree, one: Closure, moved: set[str], at: Mapping[str, SymbolicPose]
) -> Closure:
    """A loop whose frames stand where origins have them."""
    found: dict[str, Any] = {}
    for end in ENDS:
        name = f"{one.name}/{end}"
        origin = system.origins[name]
        if name not in at and origin.link not in moved:
            continue
        pose = tree.frames[origin.link][1]
        own = at.get(name) or origin.pose
        found[f"{end}_frame"] = SymbolicPose(pose.rotation, pose.translation) @ own
    return replace(one, **found) if found else one


def _relinked(
    system: System, tree: Tree, change: Callable[[Closure], Closure], touched: set[int]
) -> System:
    """The system on another tree, with other closures."""
    clusters: dict[Cluster, Cluster] = {}
    for cluster in system.clusters:
        closures = tuple(change(one) for one in cluster.closures)
        same = all(a is b for a, b in zip(closures, cluster.closures, strict=True))
        clusters[cluster] = cluster if same else replace(cluster, closures=closures)
    linkages = []
    for linkage in system.linkages:
        cluster = clusters[linkage.cluster]
        if cluster is linkage.cluster and not touched & set(cluster.bodies):
            linkages.append(linkage)
        else:
            linkages.append(replace(linkage, cluster=cluster, closed_form=None))
    return replace(
        system, tree=tree, clusters=tuple(clusters.values()), linkages=tuple(linkages)
    )


class Numbers:
    """The expressions in a system of symbols, which are its numbers at values of these.

    function : of `system.parameters`; what does not change is in none.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._places: dict[int, int] = {}
        self._entries: list[SX] = []
        self._each(self._counted)
        assert system.parameters is not None
        entries = ca.vertcat(SX(0, 1), *self._entries)
        self.function = lasting(ca.Function("numbers", [system.parameters], [entries]))

    def _counted(self, matrix: Any) -> Any:
        if isinstance(matrix, SX):
            for one in matrix.nonzeros():
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
            for one in matrix.nonzeros()
        ]
        if isinstance(entries, SX):
            return SX(matrix.sparsity(), ca.vertcat(SX(0, 1), *parts))
        full = np.array(ca.DM(matrix.sparsity(), [float(one) for one in parts]))
        if matrix.numel() == 1:
            return full.item()
        return full.ravel() if matrix.is_column() else full

    def symbols(self) -> System:
        """The system with one symbol for each entry."""
        symbols = SX.sym("numbers", len(self._entries))
        made = self._each(lambda matrix: self._filled(matrix, symbols))
        return replace(made, parameters=symbols, known_by=f"{self._system.known_by} entries")

    def at(self, values: Array) -> System:
        """The system in numbers."""
        entries = np.array(self.function(values)).ravel()
        made = self._each(lambda matrix: self._filled(matrix, entries))
        return replace(made, parameters=None, grouped=None, known_by="")

    def _each(self, change: Callable[[Any], Any]) -> System:
        """The system with all its matrices changed."""
        system = self._system
        tree, grouped = self._tree(system.tree, change), None
        if system.grouped is not None:
            grouped = self._tree(system.grouped, change)

        def closure(one: Closure) -> Closure:
            frames = {
                f"{end}_frame": _pose(getattr(one, f"{end}_frame"), change) for end in ENDS
            }
            same = all(getattr(one, name) is frame for name, frame in frames.items())
            return one if same else replace(one, **frames)

        made = _relinked(system, tree, closure, set())
        return replace(made, grouped=grouped, gravity=change(system.gravity))

    @staticmethod
    def _tree(tree: Tree, change: Callable[[Any], Any]) -> Tree:
        bodies = tuple(
            replace(
                body,
                placement=_pose(body.placement, change),
                inertia=_inertia(body.inertia, change),
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
