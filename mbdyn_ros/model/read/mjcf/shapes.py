"""The `<geom>` of a MJCF that collide."""

from __future__ import annotations

from ...shapes import Box, Capsule, Collision, Cylinder, Geometry, Mesh, Sphere
from .compiled import Compiled
from .placement import pose_of


def read_collisions(compiled: Compiled, body: int) -> tuple[Collision, ...]:
    """The shapes with which a body collides; what cannot be read matters only to who asks."""
    model = compiled.model
    first = model.body_geomadr[body]
    paired = {*model.pair_geom1.tolist(), *model.pair_geom2.tolist()}
    return tuple(
        _collision(compiled, k)
        for k in range(first, first + model.body_geomnum[body])
        if model.geom_contype[k] or model.geom_conaffinity[k] or k in paired
    )


def _collision(compiled: Compiled, k: int) -> Collision:
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
    return Collision(shape, origin, problem=problem)
