"""Systems whose frames stand elsewhere than described, on symbols; and their numbers.

Moving the origin of a joint, or a frame of a loop, moves what hangs on it: placements of bodies,
links that fixed joints hold, inertias, loop frames. `placed` writes all of them as expressions of
the new origins; `solved` gives loops their closed forms at such lengths; `reframed` chooses frames
in which the equations are short. See `entries` for how programs read them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import casadi as ca

from ..model.inertia import RigidInertia
from ..model.pose import Pose, noise, without_noise
from ..prepare.clusters import Closure, Cluster
from ..prepare.tree import ENDS, WORLD, Origin, Tree
from ..program.symbols import serialized
from .algebra.spatial import SX, Transform, constant
from .loops.planar_figure import PlanarFigure
from .loops.planar_linkage import Lengths
from .loops.stepwise import Stepwise, closed_form
from .regrouping import regrouped
from .tree.composite_body import CompositeInertia

if TYPE_CHECKING:
    from .system import System


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


@dataclass(frozen=True, eq=False)
class SymbolicInertia:
    """A `RigidInertia` of symbols, or with some. center : (3, 1)."""

    mass: Any
    center: Any
    first: Any
    second: Any
    spread: Any = None


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
    origins = {
        name: replace(one, pose=at[name]) if name in at else one  # type: ignore[arg-type]
        for name, one in system.origins.items()
    }
    made = relinked(system, tree, lambda one: _closure_at(system, tree, one, moved, at), touched)
    return replace(made, origins=origins)


def _carried(inertia: RigidInertia, before: Pose, after: Any) -> RigidInertia:
    """The inertia of a link about its body's origin, where the link stands elsewhere in it."""
    back = before.inverse()
    own = _into(inertia, Transform((constant(back.rotation),), constant(back.translation)))
    return _into(own, Transform((constant(after.rotation),), constant(after.translation)))


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


def relinked(
    system: System, tree: Tree, change: Callable[[Closure], Closure], touched: set[int]
) -> System:
    """The system on another tree, with other closures; without closed forms of what changed."""
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
    return replace(system, tree=tree, clusters=tuple(clusters.values()), linkages=tuple(linkages))


@serialized
def reframed(system: System) -> System:
    """The same robot with the frames of bodies where their equations are short.

    A turn about the z axis of a hinge is its joint's, and its origin may be anywhere on it
    (`prepare.tree`). So of a variable placement R = Rz(phi) Rx(alpha) Rz(psi), p between two
    hinges phi and p_z go to the parent's frame and psi to the joint's angle.
    """
    looped = {body for one in system.linkages for body in one.cluster.bodies}
    tree = system.tree
    bodies, parts = list(tree.bodies), dict(tree.parts)
    frames: dict[str, tuple[int, Any]] = dict(tree.frames)
    for i in reversed(range(len(bodies))):
        body = bodies[i]
        b, place = body.parent, body.placement
        varies = isinstance(place.rotation, SX) or isinstance(place.translation, SX)
        if b == WORLD or not varies or {i, b} & looped or tree.children(b) != [i]:
            continue
        if not (body.motion.is_hinge and bodies[b].motion.is_hinge):
            continue
        r, p = constant(place.rotation), constant(place.translation)
        phi = ca.atan2(r[0, 2], -r[1, 2]) if isinstance(place.rotation, SX) else SX(0)
        turn, shift = _about(2, phi), ca.vertcat(0, 0, p[2])
        back = SymbolicPose(turn.T, -shift)  # shift is along the axis of the turn
        left = turn.T @ r
        psi = ca.atan2(-left[0, 1], left[0, 0]) if isinstance(place.rotation, SX) else SX(0)
        bent: Any = place.rotation
        if isinstance(place.rotation, SX):
            bent = SX.eye(3)
            bent[1, 1] = bent[2, 2] = r[2, 2]
            bent[2, 1] = ca.sqrt(r[0, 2] * r[0, 2] + r[1, 2] * r[1, 2])
            bent[1, 2] = -bent[2, 1]
        moved = turn.T @ (p - shift)
        moved[2] = 0
        bodies[i] = replace(
            body,
            placement=SymbolicPose(bent, ca.sparsify(moved)),  # type: ignore[arg-type]
            offset=_sum_of_angles(body.offset, psi),
        )
        parent = bodies[b]
        into = Transform((back.rotation,), back.translation)
        bodies[b] = replace(
            parent,
            placement=SymbolicPose(  # type: ignore[arg-type]
                parent.placement.rotation,
                constant(parent.placement.translation)
                + constant(parent.placement.rotation) @ shift,
            ),
            offset=_sum_of_angles(parent.offset, phi),
            inertia=_into(parent.inertia, into),
        )
        for link, (index, pose) in frames.items():
            if index == b:
                frames[link] = b, back @ pose
        for link, (index, own) in parts.items():
            if index == b:
                parts[link] = b, _into(own, into)
    tree = replace(tree, bodies=tuple(bodies), frames=frames, parts=parts)
    return replace(system, tree=tree, grouped=regrouped(tree))


def _sum_of_angles(offset: Any, more: SX) -> Any:
    """An offset with another angle added; itself where that is 0."""
    return offset if more.is_zero() else SX(offset) + more


def _into(inertia: RigidInertia, transform: Transform) -> RigidInertia:
    """An inertia about another frame's origin in its axes."""
    return CompositeInertia.of(inertia).to_parent(transform).rigid


def solved(system: System, described: System, lengths: Lengths) -> System:
    """The system with closed forms for the loops that have one as described."""
    linkages = []
    for linkage, before in zip(system.linkages, described.linkages, strict=True):
        form = before.closed_form
        if linkage is not before and isinstance(form, (PlanarFigure, Stepwise)):
            home = dict(
                zip(linkage.cluster.coupled, described.home[described.rows(before)], strict=True)
            )
            form = closed_form(
                system.tree, linkage.cluster, form.given_bodies, home, linkage.unit, lengths
            )
            linkage = replace(linkage, closed_form=form)
        linkages.append(linkage)
    return replace(system, linkages=tuple(linkages))
