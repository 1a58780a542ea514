"""The scene of an MJCF: bodies where the file has them, the world's shapes, and what may touch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from ...model import Joint, Link, Model, Pose
from ...shapes import Collision
from ..source_text import Source
from .bodies import FREE, read_collisions
from .compiled import Compiled, ElementNames, compile_mjcf
from .equalities import is_mocap, pose_of
from .mjcf import home_of, model_of

SCENERY = "scenery"
"""The link of the world's shapes."""


@dataclass(frozen=True)
class Plane:
    """An endless plane of the world; z of its pose is its normal."""

    name: str
    pose: Pose


@dataclass(frozen=True)
class Scene:
    """All that an MJCF has in its world.

    model : its root is the world; free bodies count from where home has them.
    planes : of the world; its other shapes are those of a fixed link.
    members : links of fixed bodies of the world, by the name of its first body.
    on_links, on_planes : friction by pairs of links, in order, and by (link, plane).
    apart : pairs of links that do not touch although both touch others.
    """

    model: Model
    planes: tuple[Plane, ...]
    members: Mapping[str, tuple[str, ...]]
    on_links: Mapping[tuple[str, str], float]
    on_planes: Mapping[tuple[str, str], float]
    apart: tuple[tuple[str, str], ...]


def read_scene(source: Source) -> Scene:
    """Read an MJCF with its world.

    Raises
    ------
    ModelError
        It is not MJCF; or see `read_mjcf`.

    Notes
    -----
    Friction is as MuJoCo has it: that of the geom with the higher priority, else the larger one,
    and none where the contact has one dimension. Of several geoms of a link the largest counts.
    """
    compiled = compile_mjcf(source)
    model = model_of(compiled, _starts(compiled))
    names = ElementNames(compiled)
    planes, left_out = _planes(compiled, names), list(model.warnings)
    scenery: list[Collision] = []
    for one in read_collisions(compiled, 0):
        if one.problem:
            left_out.append(f"{one.problem}; it is left out of the scene")
        else:
            scenery.append(one)
    link = SCENERY
    while link in {one.name for one in model.links}:
        link += "_"
    links, joints = model.links, model.joints
    if scenery:
        links += (Link(link, collisions=tuple(scenery)),)
        joints += (Joint(f"{link}/fixed", "fixed", model.root, link),)
    model = replace(model, links=links, joints=joints)
    on_links: dict[tuple[str, str], float] = {}
    on_planes: dict[tuple[str, str], float] = {}
    flat = {plane.name for plane in planes.values()}
    for pair, mu in _touching(compiled, names, link, planes):
        first, second = sorted(pair, key=lambda name: (name in flat, name))
        if scenery or link not in pair:
            friction = on_planes if second in flat else on_links
            friction[first, second] = max(mu, friction.get((first, second), 0.0))
    shaped = sorted(one.name for one in model.links if one.collisions)
    apart = tuple(pair for pair in combinations(shaped, 2) if pair not in on_links)
    left_out += [
        f'{compiled.name}: in MuJoCo {name} passes through the plane "{plane.name}", on which it '
        "is here"
        for name in shaped for plane in planes.values()
        if name != link and (name, plane.name) not in on_planes
    ]  # fmt: skip
    model = replace(model, warnings=tuple(left_out))
    members = _members(model, {*names.bodies, link})
    return Scene(model, tuple(planes.values()), members, on_links, on_planes, apart)


def _starts(compiled: Compiled) -> dict[int, Pose]:
    """Where free joints are at home, by their number."""
    home, model = home_of(compiled), compiled.model
    places = {int(k): int(model.jnt_qposadr[k]) for k in np.flatnonzero(model.jnt_type == FREE)}
    return {k: pose_of(home[at : at + 3], home[at + 3 : at + 7]) for k, at in places.items()}


def _planes(compiled: Compiled, names: ElementNames) -> dict[int, Plane]:
    """The world's planes that touch anything, by the number of their geom."""
    model, kind = compiled.model, compiled.mujoco.mjtGeom.mjGEOM_PLANE
    found: dict[int, Plane] = {}
    for k in np.flatnonzero((model.geom_bodyid == 0) & (model.geom_type == kind)).tolist():
        if model.geom_contype[k] or model.geom_conaffinity[k]:
            name = compiled.name_of("GEOM", k) or (f"plane{k}" if found else "floor")
            while name in (*names.bodies, SCENERY):
                name += "_"
            found[k] = Plane(name, pose_of(model.geom_pos[k], model.geom_quat[k]))
    return found


def _touching(
    compiled: Compiled, names: ElementNames, scenery: str, planes: Mapping[int, Plane]
) -> Iterator[tuple[tuple[str, str], float]]:
    """Names and friction of all pairs of geoms that touch where they meet."""
    model = compiled.model
    bodies = model.geom_bodyid.tolist()
    geoms = [
        k for k in range(model.ngeom)
        if (model.geom_contype[k] or model.geom_conaffinity[k]) and not is_mocap(model, bodies[k])
    ]  # fmt: skip

    def name(k: int) -> str:
        if k in planes:
            return planes[k].name
        return names.bodies[bodies[k]] if bodies[k] else scenery

    excluded = {(int(code) >> 16, int(code) & 0xFFFF) for code in model.exclude_signature}
    pairs = [*zip(model.pair_geom1.tolist(), model.pair_geom2.tolist(), strict=True)]
    for (one, other), mu in zip(pairs, model.pair_friction[:, 0].tolist(), strict=True):
        yield (name(one), name(other)), mu
    given = {*pairs, *(pair[::-1] for pair in pairs)}
    for one, other in combinations(geoms, 2):
        pair = bodies[one], bodies[other]
        if pair[0] == pair[1] or {pair, pair[::-1]} & excluded:
            continue
        if (one, other) not in given and _filtered_in(model, one, other):
            yield (name(one), name(other)), _friction(model, one, other)


def _filtered_in(model: Any, one: int, other: int) -> bool:
    """Whether MuJoCo's masks let two geoms touch."""
    kinds, affine = model.geom_contype, model.geom_conaffinity
    return bool((kinds[one] & affine[other]) | (kinds[other] & affine[one]))


def _friction(model: Any, one: int, other: int) -> float:
    """The coefficient of a contact of two geoms."""
    first, second = (int(model.geom_priority[k]) for k in (one, other))
    chosen = [one, other] if first == second else [one if first > second else other]
    if max(int(model.geom_condim[k]) for k in chosen) == 1:
        return 0.0
    return max(float(model.geom_friction[k, 0]) for k in chosen)


def _members(model: Model, bodies: set[str]) -> dict[str, tuple[str, ...]]:
    """Links of fixed bodies of the world, from its first one on, by the name of its first body."""
    below: dict[str, list[str]] = {}
    for joint in model.joints:
        below.setdefault(joint.parent, []).append(joint.child)
    members: dict[str, tuple[str, ...]] = {}
    for top in below.get(model.root, ()):
        links = [top]
        for link in links:
            links += below.get(link, ())
        if name := next((link for link in links if link in bodies), ""):  # else a site
            members[name] = tuple(links)
    return members
