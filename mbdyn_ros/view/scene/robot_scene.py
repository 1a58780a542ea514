"""A robot in a 3-D scene, its links hanging on each other as in the description.

Only the joints' motions are sent when it moves; the browser composes them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ...model.blocks import joint_blocks
from ...model.model import Array, Joint, Model, Pose
from ...model.read.mesh_file import find_mesh, load_mesh
from ...model.shapes import Box, Cylinder, Mesh, Sphere
from .link_poses import link_poses, outwards, quaternion
from .skeleton import Bone, skeleton
from .visuals import Color, Visual

if TYPE_CHECKING:
    import viser

ROOT = "/robot"
SMALLEST = 0.05
"""m, that a picture shows at least."""

LEAST_BALL, LARGEST_BALL = 0.008, 0.035
"""Radii of centres of mass, of the size; a ball is as large as its share of the largest mass."""

MASS_COLOR: Color = (0.80, 0.10, 0.20, 0.75)

COLLISION_COLOR: Color = (0.90, 0.62, 0.0, 0.35)

AXES, CENTER = 0.12, 0.025
"""Length of a frame's axes and radius of the ball at the centre of mass, of the size."""


class RobotScene:
    """The nodes of one robot.

    Parameters
    ----------
    folder : of the URDF, from which meshes are looked for; None for one that is no file.
    position : of all joints, where it is first shown.

    Attributes
    ----------
    remarks : what could not be drawn, in words.
    low, high : (3,) corners of a box around it, m. size : of the largest way across it, m.
    has_collisions : whether the description has shapes to collide with.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        model: Model,
        visuals: tuple[Visual, ...],
        folder: Path | None,
        position: Array,
    ) -> None:
        self._scene, self._folder = server.scene, folder
        self.remarks: list[str] = []
        self._lost: list[str] = []
        self._nodes = {model.root: self._scene.add_frame(ROOT, show_axes=False)}
        self._moving: list[tuple[Joint, slice, Any]] = []
        self._hang(model)
        self._corners: list[Array] = []
        poses = link_poses(model, position)
        points = np.array([pose.translation for pose in poses.values()])
        self.size = max(float(np.ptp(points, axis=0).max()), SMALLEST)
        for k, visual in enumerate(visuals):
            self._draw(visual, f"{self.node(visual.link)}/visual_{k}", poses[visual.link])
        for bone in skeleton(model, visuals):
            self._draw_bone(bone, poses[bone.link])
        self._masses = [*self._draw_masses(model, bool(visuals))]
        self._center = self._scene.add_icosphere(
            "/center_of_mass", CENTER * self.size, visible=False, **_look(MASS_COLOR)
        )
        self._collisions = [*self._draw_collisions(model, poses)]
        self.has_collisions = bool(self._collisions)
        if self._lost:
            self.remarks.append(
                f"{len(self._lost)} meshes are not shown: {'; '.join(self._lost[:3])}"
                + (" ..." if len(self._lost) > 3 else "")
            )
        corners = np.concatenate([points, *self._corners])
        self.low, self.high = corners.min(axis=0), corners.max(axis=0)
        self.move(position)

    def node(self, link: str) -> str:
        """Name of the node of a link, for what hangs on it."""
        name: str = self._nodes[link].name
        return name

    def move(self, position: Array) -> None:
        """Show the robot at a full joint state (n,)."""
        for joint, place, node in self._moving:
            pose = joint.pose(position[place])
            if joint.kind.turns:
                node.wxyz = quaternion(pose.rotation)
            if not joint.kind.keeps_origin:
                node.position = pose.translation

    def move_base(self, base: Array) -> None:
        """Show a floating base at [x y z qx qy qz qw]."""
        root = next(iter(self._nodes.values()))
        root.position, root.wxyz = base[:3], base[[6, 3, 4, 5]]

    def show_masses(self, visible: bool) -> None:
        """Show or hide the centres of mass."""
        for node in self._masses:
            if node.visible != visible:
                node.visible = visible

    def show_frames(self, visible: bool) -> None:
        """Show or hide the axes of the links' frames: x red, y green, z blue."""
        for node in self._nodes.values():
            if node.show_axes != visible:
                node.axes_length = AXES * self.size
                node.axes_radius = 0.04 * AXES * self.size
                node.origin_radius = 0.07 * AXES * self.size
                node.show_axes = visible

    def show_collisions(self, visible: bool) -> None:
        """Show or hide the shapes that collide."""
        for node in self._collisions:
            if node.visible != visible:
                node.visible = visible

    def show_center(self, place: Array | None) -> None:
        """Show the centre of mass of the whole at a place (3,) of the world; None hides it."""
        self._center.visible = place is not None
        if place is not None:
            self._center.position = place

    def _hang(self, model: Model) -> None:
        blocks = joint_blocks(model.joints)
        for joint in outwards(model):
            at = f"{self.node(joint.parent)}/{len(self._nodes)}_{_word(joint.name)}"
            self._scene.add_frame(at, show_axes=False, **placed(joint.origin))
            node = self._scene.add_frame(f"{at}/{_word(joint.child)}", show_axes=False)
            self._nodes[joint.child] = node
            if joint.name in blocks:
                self._moving.append((joint, blocks[joint.name].q, node))

    def _draw(self, visual: Visual, name: str, pose: Pose) -> None:
        shape, look, at = visual.geometry, _look(visual.color), placed(visual.origin)
        reach = np.zeros(3)
        if isinstance(shape, Box):
            reach = np.array(shape.size) / 2
            self._scene.add_box(name, dimensions=shape.size, **look, **at)  # type: ignore[arg-type]
        elif isinstance(shape, Cylinder):
            reach = np.array([shape.radius, shape.radius, shape.length / 2])
            self._scene.add_cylinder(name, shape.radius, shape.length, **look, **at)
        elif isinstance(shape, Sphere):
            reach = np.full(3, shape.radius)
            self._scene.add_icosphere(name, shape.radius, **look, **at)
        else:
            low, high = self._draw_mesh(visual, shape, name)
            self._enclose(pose @ visual.origin, low, high)
            return
        self._enclose(pose @ visual.origin, -reach, reach)

    def _enclose(self, pose: Pose, low: Array, high: Array) -> None:
        box = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1])
                        for z in (low[2], high[2])])  # fmt: skip
        self._corners.append(box @ pose.rotation.T + pose.translation)

    def _draw_mesh(self, visual: Visual, shape: Mesh, name: str) -> tuple[Array, Array]:
        path = find_mesh(shape.file, self._folder)
        try:
            if path is None:
                raise InputError(f"{shape.file}: no such file")
            mesh = load_mesh(path)
        except InputError as error:
            self._lost.append(str(error))
            return np.zeros(3), np.zeros(3)
        low, high = np.sort(mesh.bounds * np.array(shape.scale), axis=0)
        at = placed(visual.origin)
        scale: Any = shape.scale
        if any(one.visual.defined for one in mesh.geometry.values()):  # it brings its colours
            self._scene.add_glb(name, mesh.export(file_type="glb"), scale=scale, **at)
        else:
            whole = mesh.to_mesh()
            self._scene.add_mesh_simple(
                name, whole.vertices, whole.faces, scale=scale, side="double",
                flat_shading=True, **_look(visual.color), **at,
            )  # fmt: skip
        return low, high

    def _draw_bone(self, bone: Bone, pose: Pose) -> None:
        name, thick = self.node(bone.link), 0.012 * self.size
        look = _look(bone.color)
        self._scene.add_icosphere(f"{name}/origin", 1.6 * thick, **look)
        for k, end in enumerate(bone.ends):
            length = float(np.linalg.norm(end))
            self._scene.add_cylinder(
                f"{name}/rod_{k}", thick, length, wxyz=_turn_z_to(end / length), position=end / 2,
                **look,
            )  # fmt: skip
            self._corners.append((pose.rotation @ end + pose.translation)[None])

    def _draw_masses(self, model: Model, hidden: bool) -> list[Any]:
        nodes = []
        most = max((link.inertia.mass for link in model.links if link.inertia), default=0.0)
        for link in model.links:
            if link.inertia is None or link.inertia.mass <= 0:
                continue
            share = max(LARGEST_BALL * (link.inertia.mass / most) ** (1 / 3), LEAST_BALL)
            radius = share * self.size
            nodes.append(
                self._scene.add_icosphere(
                    f"{self.node(link.name)}/mass", radius, position=link.inertia.center,
                    visible=not hidden, **_look(MASS_COLOR),
                )
            )  # fmt: skip
        return nodes


    def _draw_collisions(self, model: Model, poses: dict[str, Pose]) -> Iterator[Any]:
        """Frames, hidden, under which a link's shapes hang."""
        for link in model.links:
            shapes = [(one.origin, one.geometry) for one in link.collisions if one.geometry]
            if not shapes:
                continue
            name = f"{self.node(link.name)}/collision"
            yield self._scene.add_frame(name, show_axes=False, visible=False)
            for k, (origin, geometry) in enumerate(shapes):
                shape = Visual(link.name, origin, geometry, COLLISION_COLOR)
                self._draw(shape, f"{name}/{k}", poses[link.name])


def frame_camera(server: viser.ViserServer, low: Array, high: Array) -> None:
    """Let the camera see a box from the front, right and above; a grid is its floor."""
    middle, size = (low + high) / 2, max(float(np.linalg.norm(high - low)), SMALLEST)
    camera = server.initial_camera
    camera.look_at = tuple(middle)
    camera.position = tuple(middle + size * np.array([0.9, -1.4, 0.55]))
    camera.fov = math.radians(45)
    camera.near, camera.far = 0.01 * size, 50 * size
    cell = 10 ** math.floor(math.log10(size / 2))
    server.scene.add_grid(
        "/floor", 4 * size, 4 * size, position=(middle[0], middle[1], low[2]),
        cell_size=cell / 2, section_size=cell * 2, cell_color=(225, 228, 232),
        section_color=(196, 201, 208), infinite_grid=True, fade_distance=6 * size,
    )  # fmt: skip


def _look(color: Color) -> dict[str, Any]:
    rgb = tuple(round(255 * value) for value in color[:3])
    return {"color": rgb, "opacity": None if color[3] >= 1 else color[3]}


def placed(pose: Pose) -> dict[str, Any]:
    """A pose as arguments of viser."""
    return {"wxyz": quaternion(pose.rotation), "position": pose.translation}


def _turn_z_to(way: Array) -> Array:
    """The shortest turn of the z axis to a unit vector."""
    x, y, z = way.tolist()
    if z < -1 + 1e-12:
        return np.array([0.0, 1.0, 0.0, 0.0])
    turn = np.array([1 + z, -y, x, 0.0])
    return turn / np.linalg.norm(turn)


def _word(name: str) -> str:
    """A name as a part of a node's: what viewers take for a way through the tree is replaced."""
    return re.sub(r"[^\w.-]", "_", name)
