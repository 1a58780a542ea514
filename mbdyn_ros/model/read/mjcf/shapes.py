"""The `<geom>` of a MJCF: those that collide, and those that are seen."""

from __future__ import annotations

from typing import Any

from ...pose import Pose
from ...shapes import Box, Capsule, Collision, Cylinder, Geometry, Mesh, Sphere, Visual
from .compiled import Compiled
from .placement import pose_of

SEEN = 3
"""Groups under this one are those that MuJoCo shows when nobody asks for others."""


def read_collisions(compiled: Compiled, body: int) -> tuple[Collision, ...]:
    """The shapes with which a body collides; what cannot be read matters only to who asks."""
    model = compiled.model
    paired = {*model.pair_geom1.tolist(), *model.pair_geom2.tolist()}
    return tuple(
        Collision(shape, origin, problem=problem, name=compiled.name_of("GEOM", k))
        for k in _shapes(model, body)
        if model.geom_contype[k] or model.geom_conaffinity[k] or k in paired
        for shape, origin, problem in [_shape(compiled, k)]
    )


def read_visuals(compiled: Compiled, body: int) -> tuple[Visual, ...]:
    """The shapes of a body that are seen."""
    model = compiled.model
    return tuple(
        Visual(
            shape, origin, problem=problem, name=compiled.name_of("GEOM", k),
            color=tuple(model.geom_rgba[k].tolist()),
        )
        for k in _shapes(model, body)
        if model.geom_group[k] < SEEN
        for shape, origin, problem in [_shape(compiled, k)]
    )  # fmt: skip


def _shapes(model: Any, body: int) -> range:
    """The numbers of a body's shapes."""
    return range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body])


def _shape(compiled: Compiled, k: int) -> tuple[Geometry | None, Pose, str]:
    """A shape, its place in the body, and why it cannot be read."""
    model, kinds = compiled.model, compiled.mujoco.mjtGeom
    origin = pose_of(model.geom_pos[k], model.geom_quat[k])
    kind, (a, b, c) = model.geom_type[k], model.geom_size[k].tolist()
    shape: Geometry | None = None
    if k in compiled.meshes:
        mesh = compiled.meshes[k]
        if kind == kinds.mjGEOM_MESH:  # MuJoCo has moved it to its principal axes
            data = model.geom_dataid[k]
            origin = origin @ pose_of(model.mesh_pos[data], model.mesh_quat[data]).inverse()
        if mesh is not None:
            shape = Mesh(mesh.file, mesh.scale)
    elif kind == kinds.mjGEOM_SPHERE:
        shape = Sphere(a)
    elif kind == kinds.mjGEOM_CAPSULE:
        shape = Capsule(a, 2 * b)
    elif kind == kinds.mjGEOM_CYLINDER:
        shape = Cylinder(a, 2 * b)
    elif kind == kinds.mjGEOM_BOX:
        shape = Box((2 * a, 2 * b, 2 * c))
    problem = ""
    if shape is None:
        name = compiled.name_of("GEOM", k) or f"number {k}"
        word = compiled.mujoco.mjtGeom(int(kind)).name.removeprefix("mjGEOM_").lower()
        problem = f'{compiled.name}: <geom> "{name}": a {word} of this kind is no shape here'
    return shape, origin, problem
