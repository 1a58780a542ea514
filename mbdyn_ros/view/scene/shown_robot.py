"""A robot in a scene, its links attached to each other as in the description.

Links without visuals are rods from joint to joint, and to the centre of mass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import InputError
from ...model.model import Array, Model, Pose
from ...model.pose import rotation_onto
from ...model.read.shape import find_mesh, load_mesh
from ...model.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Sphere, Vector
from ...prepare.coordinates import joint_blocks
from ..figure import Color, color_of, rgb
from .camera import SMALLEST
from .scene import WORLD, Arrows, Item, Painted, Scene, Shape, Skin, placed
from .visuals import PlacedShape, link_poses, outwards

LEAST_BALL, LARGEST_BALL = 0.008, 0.035
"""Radii of centres of mass, of the size; a ball is as large as its share of the largest mass."""

MASS_COLOR: Color = (0.80, 0.10, 0.20, 0.75)

COLLISION_COLOR: Color = (0.90, 0.62, 0.0, 0.35)

CENTER, ROD = 0.025, 0.012
"""Radii of the ball at the centre of mass of the whole and of rods, of the size."""

LISTED = 3
"""Number of meshes that are not shown and listed by name."""


class ShownRobot:
    """The bodies and items of one robot.

    Groups of its items are "masses", which are seen at first where nothing else is, and
    "collision" and "center", which are not.

    Parameters
    ----------
    folder : of the URDF, from which meshes are looked for; None for one that is not a file.
    position : of all joints, where it is first shown.

    Attributes
    ----------
    remarks : what could not be drawn, in words.
    low, high : (3,) corners of a box around it, m. size : its largest extent, m.
    """

    def __init__(
        self,
        scene: Scene,
        model: Model,
        visuals: tuple[PlacedShape, ...],
        folder: Path | None,
        position: Array,
    ) -> None:
        self.scene, self._root, self._folder = scene, model.root, folder
        self._lost: list[str] = []
        self._visuals = visuals
        blocks = joint_blocks(model.joints)
        scene.hang(model.root)
        for joint in outwards(model):
            scene.hang(joint.child, joint.parent, joint.origin)
        self._moving = [(joint, blocks[joint.name].q) for joint in model.joints if joint.nv]
        poses = link_poses(model, position)
        points = np.array([pose.translation for pose in poses.values()])
        self.size = max(float(np.ptp(points, axis=0).max()), SMALLEST)
        collisions = [
            PlacedShape(link.name, one.origin, one.geometry, COLLISION_COLOR)
            for link in model.links
            for one in link.collisions
            if one.geometry
        ]
        self.has_collisions = bool(collisions)
        items = [
            *self._shapes(visuals, "visual"), *self._shapes(collisions, "collision"),
            *_rods(model, visuals, ROD * self.size), *_masses(model, self.size),
        ]  # fmt: skip
        for group, visible in (("masses", not visuals), ("collision", False), ("center", False)):
            scene.show(group, visible)
        scene.draw(items)
        self.remarks = [
            f"{len(self._lost)} meshes are not shown: {'; '.join(self._lost[:LISTED])}"
            + (" ..." if len(self._lost) > LISTED else "")
        ][: len(self._lost)]
        self._model, self._items = model, items
        places = self.corners(position)
        self.low, self.high = places.min(axis=0), places.max(axis=0)
        self.move(position)

    def corners(self, position: Array, more: Iterable[Item] = ()) -> Array:
        """Corners (N, 3) of boxes around its items and `more` at a full joint state (n,), m.

        In axes of the root.
        """
        poses = link_poses(self._model, position)
        points = [pose.translation for pose in poses.values()]
        return np.concatenate([points, *(corners(one, poses) for one in (*self._items, *more))])

    def reshape(self, model: Model) -> None:
        """Take the joints from other origins; links that are drawn as rods reach to these."""
        blocks = joint_blocks(model.joints)
        self._moving = [(joint, blocks[joint.name].q) for joint in model.joints if joint.nv]
        for joint in model.joints:
            if not joint.nv:
                self.scene.move(joint.child, **placed(joint.origin))
        self.scene.draw(_rods(model, self._visuals, ROD * self.size))

    def move(self, position: Array) -> None:
        """Show the robot at a full joint state (n,)."""
        for joint, place in self._moving:
            self.scene.move(joint.child, **placed(joint.origin @ joint.pose(position[place])))

    def move_base(self, base: Array) -> None:
        """Show a floating base at [x y z qx qy qz qw]."""
        self.scene.move(self._root, base[:3], base[[6, 3, 4, 5]])

    def show_center(self, place: Array | None) -> None:
        """Show the centre of mass of the whole at a place (3,) of the world; None hides it."""
        self.scene.show("center", place is not None)
        if place is not None:
            ball, at = Sphere(CENTER * self.size), Pose(translation=place)
            self.scene.draw([Item("center", WORLD, ball, MASS_COLOR, at, group="center")])

    def _shapes(self, visuals: Iterable[PlacedShape], group: str) -> Iterator[Item]:
        for k, one in enumerate(visuals):
            shape = self._shape(one.geometry)
            if shape is not None:
                scale = _scale(one.geometry)
                yield Item(f"{group}_{k}", one.link, shape, one.color, one.origin, scale, group)
            if isinstance(shape, Capsule):
                ball = Sphere(shape.radius)
                for end in (-1, 1):
                    at = one.origin @ Pose(translation=np.array([0, 0, end * shape.length / 2]))
                    name = f"{group}_{k}_{end}"
                    yield Item(name, one.link, ball, one.color, at, group=group)

    def _shape(self, shape: Geometry) -> Shape | None:
        """The shape in the scene; None of a mesh that cannot be read."""
        if isinstance(shape, Ellipsoid):
            return Sphere(1.0)
        if not isinstance(shape, Mesh):
            return shape
        path = find_mesh(shape.file, self._folder)
        try:
            if path is None:
                raise InputError(f"{shape.file}: no such file")
            mesh = load_mesh(path)
        except InputError as error:
            self._lost.append(str(error))
            return None
        if any(one.visual.defined for one in mesh.geometry.values()):  # it brings its colours
            return Painted(mesh.export(file_type="glb"), *mesh.bounds)
        whole = mesh.to_mesh()
        return Skin(whole.vertices, whole.faces)


def _scale(shape: Geometry) -> Vector:
    """Factors (3,) of the shape in the scene along its axes."""
    if isinstance(shape, Ellipsoid):
        return shape.half_axes
    return shape.scale if isinstance(shape, Mesh) else (1.0, 1.0, 1.0)


def _rods(model: Model, visuals: tuple[PlacedShape, ...], thick: float) -> Iterator[Item]:
    """Of links without visuals."""
    for bone in skeleton(model, visuals):
        yield Item("origin", bone.link, Sphere(1.6 * thick), bone.color)
        for k, end in enumerate(bone.ends):
            rod = Cylinder(thick, float(np.linalg.norm(end)))
            at = Pose(rotation_onto(end / rod.length), end / 2)
            yield Item(f"rod_{k}", bone.link, rod, bone.color, at)


def _masses(model: Model, size: float) -> Iterator[Item]:
    """Balls at the centres of mass."""
    inertias = {link.name: link.inertia for link in model.links if link.inertia is not None}
    most = max((one.mass for one in inertias.values()), default=0.0)
    for link, one in inertias.items():
        if one.mass > 0:
            share = max(LARGEST_BALL * (one.mass / most) ** (1 / 3), LEAST_BALL)
            at = Pose(translation=one.center)
            yield Item("mass", link, Sphere(share * size), MASS_COLOR, at, group="masses")


def corners(item: Item, poses: dict[str, Pose]) -> Array:
    """Corners (n, 3) of a box around an item, in the world, m."""
    shape = item.shape
    if isinstance(shape, Arrows):
        ends = np.stack([shape.points.min(axis=(0, 1)), shape.points.max(axis=(0, 1))])
    elif isinstance(shape, Painted):
        ends = np.array([shape.low, shape.high])
    elif isinstance(shape, Skin):
        ends = np.array([shape.vertices.min(axis=0), shape.vertices.max(axis=0)])
    elif isinstance(shape, Box):
        ends = np.outer((-0.5, 0.5), shape.size)
    elif isinstance(shape, Cylinder):
        ends = np.outer((-1, 1), (shape.radius, shape.radius, shape.length / 2))
    else:
        assert isinstance(shape, Sphere)
        ends = np.outer((-1, 1), np.full(3, shape.radius))
    box = np.stack(np.meshgrid(*(ends * item.scale).T), axis=-1).reshape(-1, 3)
    pose = poses[item.body] @ item.pose
    return box @ pose.rotation.T + pose.translation


@dataclass(frozen=True, eq=False)
class Bone:
    """A link without a shape: rods from its origin to `ends` (n, 3), m, in link axes."""

    link: str
    ends: Array
    color: Color


def skeleton(model: Model, visuals: tuple[PlacedShape, ...]) -> tuple[Bone, ...]:
    """The links that are drawn as rods.

    Where something is drawn, these are the links with mass that are not; else all. Rods end at
    the joints to other links, at loops, and at the centre of mass where nothing else follows.
    """
    seen = {visual.link for visual in visuals}
    bones = []
    for k, link in enumerate(model.links):
        mass = link.inertia.mass if link.inertia is not None else 0.0
        if link.name in seen or (seen and not mass):
            continue
        ends = [joint.origin.translation for joint in model.joints if joint.parent == link.name]
        for loop in model.loops:
            if loop.predecessor == link.name:
                ends.append(loop.predecessor_frame.translation)
            if loop.successor == link.name:
                ends.append(loop.successor_frame.translation)
        if link.inertia is not None and mass and not any(np.any(end) for end in ends):
            ends.append(2 * link.inertia.center)
        bones.append(
            Bone(link.name, np.reshape([e for e in ends if np.any(e)], (-1, 3)),
                 (*rgb(color_of(k)), 1.0))
        )  # fmt: skip
    return tuple(bones)
