"""From a model to the system of equations of a robot: tree, loops closed, coordinates chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..equations.loops.units import closure_length
from ..equations.system import System
from ..errors import ModelError
from ..model.model import Array, Combination, Model, constant
from ..model.split_joints import split_joints, turned_from
from ..prepare.clusters import find_clusters
from ..prepare.coordinates import choose_coordinates
from ..prepare.straight import Tilt, set_straight
from ..prepare.tree import Tree, build_tree, origins
from ..program.symbols import serialized
from .gimbal import QuarterPitchError
from .rank import RANK, ROUNDED

if TYPE_CHECKING:
    from .assembly import Assembly

FAR = 0.2
"""Distance of a loop's frames, as a share of the way around it, that closing should not need."""

OFF = 1e-3
"""The same where only the description defines the loop, with every joint at 0: a drawing
is closed there up to rounding, or far from it."""


class PartlyDependentError(ModelError):
    """A loop constrains some motions of the joint `joint`, and leaves others free."""

    def __init__(self, joint: str) -> None:
        super().__init__(f"joint {joint!r} is partly dependent")
        self.joint = joint


@serialized
def build_robot(
    model: Model, floating_base: bool, gravity: Array, home: Mapping[str, float]
) -> tuple[Model, System, tuple[Assembly, ...], list[str]]:
    """`build_system` of the model, changed where its loops ask for it.

    Loops that rounded numbers bend out of their planes are set straight, and joints of several
    motions (planar ones) are split where a loop makes them partly dependent.

    Returns
    -------
    The model, its system and assemblies, and the warnings about its loops.
    """
    try:
        system, assemblies = build_system(model, floating_base, gravity, home)
    except PartlyDependentError as error:
        return build_robot(split_joints(model, [error.joint]), floating_base, gravity, home)
    except QuarterPitchError as error:
        turned = turned_from(model, error.joint, error.rotation)
        model, system, assemblies, notes = build_robot(turned, floating_base, gravity, home)
        return model, system, assemblies, [*notes, _turned_text(error)]
    loops = {
        loop.name: ROUNDED if one.rounding else RANK
        for one in assemblies
        if one.rank < one.row_count
        for loop in one.linkage.cluster.closures
    }
    straight, tilts = set_straight(model, system.tree, loops) if loops else (model, [])
    notes = [text for one in assemblies if (text := _rounded_text(one, tilts))]
    notes += [_repeated_text(one) for one in assemblies if one.repeated]
    notes += [_rigid_text(model, system.tree, one) for one in assemblies if one.locked]
    if straight is not model:
        mobility = system.coordinates.nv
        system, assemblies = build_system(straight, floating_base, gravity, home)
        assert system.coordinates.nv == mobility, "set straight, loops move as before"
    for one in assemblies:
        notes += home_notes(system.tree, one, {**model.home, **home})
    return straight, system, assemblies, notes


def _rounded_text(assembly: Assembly, tilts: Sequence[Tilt]) -> str:
    """Words about gaps of rounded loops and a joint to look at; empty where nothing is rounded."""
    names = [loop.name for loop in assembly.linkage.cluster.closures]
    own = [one for one in tilts if one.loop in names and one.angle > 0]
    if not own and assembly.rounding is None:
        return ""
    text = str(assembly.rounding or f"loop {names[0]!r} has rounded numbers")
    if own:
        worst = max(own, key=lambda one: one.angle)
        text += f"; the axis of {worst} misses its plane by {worst.angle:.2g} rad"
    return (
        f"{text}. What the rounding contradicts is left out; write numbers with all their digits "
        "(1.5707963267948966, not 1.5708)"
    )


def _turned_text(error: QuarterPitchError) -> str:
    """Words about turns that are counted from home."""
    return (
        f"at home joint {error.joint!r} has a pitch near a quarter turn, where yaw and roll are "
        f"one: its yaw, pitch and roll are counted from home. Turn its frame by its <origin> to "
        "have them counted from there"
    )


def _repeated_text(assembly: Assembly) -> str:
    """Words about couplings that say what loops say too."""
    cluster = assembly.linkage.cluster
    loops = ", ".join(repr(loop.name) for loop in cluster.closures)
    gears = ", ".join(repr(gear.name) for gear in cluster.gears)
    return (
        f"loop {loops} and {gears} impose the same constraint; remove one of them, otherwise the "
        "constraint forces are not unique"
    )


def _rigid_text(model: Model, tree: Tree, assembly: Assembly) -> str:
    """Words about links that loops without mobility hold together."""
    cluster = assembly.linkage.cluster
    loops = ", ".join(repr(loop.name) for loop in cluster.closures)
    links = [link.name for link in model.links if tree.frames[link.name][0] in cluster.coupled]
    joints = ", ".join(dict.fromkeys(tree.bodies[body].joint for body in cluster.coupled))
    return (
        f"loop {loops} has no mobility: it connects {', '.join(links)} and the links that carry "
        f"them rigidly, and {joints} cannot move. If they should, check the type and the axis of "
        "the loop"
    )


def build_system(
    model: Model,
    floating_base: bool,
    gravity: Array,
    home: Mapping[str, float],
    independent: Sequence[str] | None = None,
) -> tuple[System, tuple[Assembly, ...]]:
    """Close the loops of a model at home and choose its independent and actuated joints.

    Parameters
    ----------
    home : rough position by joint name; it takes precedence over the model's.
    independent : independent joints; by default the model's, else the actuated ones, else chosen
        so that they determine the rest.

    Raises
    ------
    ModelError
        See `assembly.assemble`; or a chosen set does not fit the robot's mobility.
    """
    tree = build_tree(model, floating_base)
    clusters = tuple(find_clusters(model, tree))
    bodies_of: dict[str, list[int]] = {}
    for index, body in enumerate(tree.bodies):
        bodies_of.setdefault(body.joint, []).append(index)
    rough = {
        bodies_of[name][0]: position
        for name, position in {**model.home, **home}.items()
        if len(bodies_of[name]) == 1 and tree.bodies[bodies_of[name][0]].motion.nv == 1
    }
    limits = {
        bodies_of[joint.name][0]: (joint.limits.lower, joint.limits.upper)
        for joint in model.joints
        if joint.nv == 1
    }
    wanted = model.independent if independent is None else independent
    preferred = _preferred(model, tree, bodies_of, wanted or model.actuated or ())
    chosen = [body for name in wanted or () for body in bodies_of[name]]
    constrained = [cluster for cluster in clusters if cluster.constrained]
    if constrained:
        from .assembly import assemble  # brings SciPy, which trees do without
    assemblies = [
        assemble(
            model.source,
            tree,
            cluster,
            rough,
            limits,
            None if wanted is None else [b for b in chosen if b in cluster.coupled],
            preferred,
        )
        for cluster in constrained
    ]
    names = _independent_joints(model, tree, assemblies, wanted)
    actuated = _actuated_joints(model, tree, assemblies, names)
    coordinates = choose_coordinates(model, floating_base, names, actuated)
    if coordinates.nv == 0 and (locked := [one.locked for one in assemblies if one.locked]):
        raise ModelError(locked[0])
    return (
        System(
            tree,
            clusters,
            tuple(assembly.linkage for assembly in assemblies),
            coordinates,
            constant(gravity, (3,)),
            _home(tree, assemblies, rough),
            origins=origins(model),
        ),
        tuple(assemblies),
    )


def _preferred(
    model: Model, tree: Tree, bodies_of: Mapping[str, Sequence[int]], named: Sequence[str]
) -> list[list[int]]:
    """Bodies by how well it suits their joints to be independent; see `choose_independent`.

    First the joints that are named, then those that have drives, then those with an effort
    limit, then all others but mimics: the nearest to the root first, as motors are. Last come
    the parts of joints that loops took apart, which no motor moves one by one.
    """
    depth: list[int] = []
    for body in tree.bodies:
        depth.append(depth[body.parent] + 1 if body.parent >= 0 else 0)
    following = {
        name
        for coupling in model.couplings
        if isinstance(coupling, Combination)
        for name in coupling.followers
    }
    moving = [joint for joint in model.joints if joint.nv and joint.mimic is None]
    leading = [joint for joint in moving if joint.name not in following]
    strong = [joint.name for joint in leading if np.isfinite(joint.limits.effort)]
    whole = [joint.name for joint in leading if joint.part_of is None]
    groups: list[list[int]] = []
    everywhere = ([joint.name for joint in one] for one in (leading, moving))
    for names in (named, model.driven, strong, whole, *everywhere):
        seen = {body for group in groups for body in group}
        new = [body for name in names for body in bodies_of[name] if body not in seen]
        groups.append(new if names is named else sorted(new, key=depth.__getitem__))
    return groups


def _independent_joints(
    model: Model,
    tree: Tree,
    assemblies: Sequence[Assembly],
    wanted: Sequence[str] | None,
) -> list[str]:
    """The independent joints: as wanted, checked to be complete, else in document order."""
    dependent = {
        tree.bodies[assembly.linkage.cluster.coupled[k]].joint
        for assembly in assemblies
        for k in assembly.linkage.dependent
    }
    for assembly in assemblies:
        for k in assembly.linkage.independent:
            name = tree.bodies[assembly.linkage.cluster.coupled[k]].joint
            if name in dependent:
                raise PartlyDependentError(name)
    free = [joint.name for joint in model.joints if joint.nv and joint.name not in dependent]
    if wanted is None:
        if model.actuated is not None:
            first = [name for name in model.actuated if name in free]
            return first + [name for name in free if name not in first]
        return free
    if missing := [name for name in free if name not in wanted]:
        raise ModelError(
            f"{model.source}: the independent joints ({', '.join(wanted)}) leave "
            f"{', '.join(missing)} undetermined: name them too, or add the <loop> or <coupling> "
            "that determines them"
        )
    standing = {
        tree.bodies[body].joint
        for assembly in assemblies
        if assembly.locked
        for body in assembly.linkage.cluster.coupled
    }
    return [name for name in wanted if name not in standing]


def _actuated_joints(
    model: Model, tree: Tree, assemblies: Sequence[Assembly], independent: Sequence[str]
) -> Sequence[str]:
    """The actuated joints: as described, else the independent ones and all with drives in loops."""
    if model.actuated is not None:
        return model.actuated
    if model.independent is not None:
        return independent
    coupled = {
        tree.bodies[body].joint
        for assembly in assemblies
        if not (assembly.linkage.linear or assembly.locked)
        for body in assembly.linkage.cluster.coupled
    }
    more = [name for name in model.driven if name in coupled and name not in independent]
    return [*independent, *more]


def _home(tree: Tree, assemblies: Sequence[Assembly], rough: Mapping[int, float]) -> Array:
    """Tree positions of the closed home configuration."""
    home = np.zeros(tree.nq)
    for index, body in enumerate(tree.bodies):
        home[body.q] = rough.get(index, body.motion.neutral)
    for assembly in assemblies:
        for body_index, position in zip(
            assembly.linkage.cluster.coupled, assembly.home, strict=True
        ):
            home[tree.bodies[body_index].q] = position
    home.setflags(write=False)
    return home


def home_notes(tree: Tree, assembly: Assembly, rough: Mapping[str, float]) -> list[str]:
    """Words about loops whose frames were apart before they were closed: far, or in a drawing.

    rough : positions (rad or m) by joint name that the description or the caller gives. The loops
    determine where the child of a joint is that was taken apart.
    """
    linkage, home, start, gaps = assembly.linkage, assembly.home, assembly.start, assembly.gaps
    if linkage.linear:
        return []
    labels = [tree.bodies[body].label for body in linkage.cluster.coupled]
    drawn = not any(label in rough for label in labels)
    moved = home - start
    most = int(np.argmax(np.abs(moved)))
    slides = tree.bodies[linkage.cluster.coupled[most]].motion.slides
    way = f"{labels[most]} by {moved[most]:.3g} {'m' if slides else 'rad'}"
    notes = []
    for closure in linkage.cluster.closures:
        around = closure_length(tree, closure)
        apart = gaps[closure.name].metres
        if apart > FAR * around:
            notes.append(
                f"the frames of loop {closure.name!r} are {apart:.3g} m apart where home would "
                f"have them, and the way around the loop is {around:.3g} m. Closing it moved "
                f"{way}. Check the frames, or give a home nearer to closed"
            )
        elif drawn and apart > OFF * around:
            notes.append(
                f"the frames of loop {closure.name!r} are {apart:.3g} m apart with every joint at "
                f"0, and closing it moved {way}. If the robot is drawn closed there, one of the "
                "frames is off by as much; else name a closed configuration as home"
            )
    return notes
