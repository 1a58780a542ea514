"""Points of a robot that may hit walls: those that are given, and those of `<collision>` shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arguments import single_vector
from ...errors import InputError
from ...model.model import Array, Model
from ...model.pose import Pose
from ...model.read.shape import find_mesh, mesh_surface
from ...model.shapes import Box, Capsule, Collision, Cylinder, Ellipsoid, Mesh, Sphere
from ...prepare.tree import WORLD, origins
from .surfaces import XYZ, number_within

if TYPE_CHECKING:
    from ...robot import Robot


@dataclass(frozen=True)
class LinkFrames:
    """Of every link the number of the frame in which it is fixed, and its pose there.

    A body's frame has the body's number. Where origins vary, a link may move in the frame of its
    body: its frame is then that of the link nearest to the base to which fixed joints tie it that
    do not vary. These links, in `links`, are counted on from the bodies, as `ContactGeometry` does.
    """

    of: Mapping[str, tuple[int, Pose]]
    links: tuple[str, ...]

    @staticmethod
    def of_robot(robot: Robot) -> LinkFrames:
        """The frames of a robot's links."""
        tree, found = robot.calls.traced.tree, dict[str, tuple[int, Pose]]()
        if all(isinstance(pose, Pose) for _, pose in tree.frames.values()):
            return LinkFrames(tree.frames, ())
        described = origins(robot.model)
        joints = {one.child: name for name, one in described.items() if one.child}
        links: list[str] = []
        for link, (body, pose) in tree.frames.items():  # parents first
            if isinstance(pose, Pose):
                found[link] = body, pose
                continue
            joint = joints.get(link, "")
            parent = described[joint].link if joint else ""
            is_tied = parent in found and tree.frames[parent][0] == body
            if is_tied and joint not in robot.variable_origins:
                frame, before = found[parent]
                found[link] = frame, before @ described[joint].pose
                continue
            found[link] = len(tree.bodies) + len(links), Pose(np.eye(3), np.zeros(3))
            links.append(link)
        return LinkFrames(found, tuple(links))


GivenPoint = tuple[str, Sequence[float]] | tuple[str, Sequence[float], float]

Axis = tuple[float, float, float] | tuple[tuple[float, ...], ...]

SAME_PLACE = 1e-12
"""Distance (m) of points that are one."""


class Point(tuple[str, tuple[float, float, float]]):
    """A pair (link, xyz): a place (m) in a link's frame; with a `radius` (m) a ball about it.

    axis : of the rim of a cylinder, a circle of that radius across it; of an ellipsoid three rows,
        whose columns are its half axes (m), the radius being the longest; of a piece of a
        `CurvedRod` see `BodyPoint`; None for others. half : rad, of such a piece.
    of_whole : whether it is a corner of a shape, which may touch curved walls as a whole.
    """

    radius: float
    axis: Axis | None
    half: float
    of_whole: bool

    def __new__(
        cls, link: str, xyz: tuple[float, float, float], radius: float = 0.0,
        axis: Axis | None = None, half: float = 0.0, of_whole: bool = False,
    ) -> Point:  # fmt: skip
        self = super().__new__(cls, (link, xyz))
        self.radius, self.axis, self.half, self.of_whole = radius, axis, half, of_whole
        return self

    def __getnewargs__(
        self,
    ) -> tuple[str, tuple[float, float, float], float, Axis | None, float, bool]:
        """Arguments for a copy or a pickle."""
        return self.link, self.xyz, self.radius, self.axis, self.half, self.of_whole

    @property
    def link(self) -> str:
        """The link's name."""
        return self[0]

    @property
    def xyz(self) -> tuple[float, float, float]:
        """The place (3,), m."""
        return self[1]

    def line(self, count: int) -> Array:
        """Places (count, 3) along the centre line of a piece of a curved rod, m, in the link."""
        out, along = np.array(self.axis).T
        turn = np.linspace(-self.half, self.half, count)[:, None]
        return np.array(self.xyz) - out + np.cos(turn) * out + np.sin(turn) * along

    def __str__(self) -> str:
        x, y, z = self.xyz
        kind = "radius" if self.axis is None else "rim of radius"
        if self.half:
            kind = "piece of a curved rod of radius"
        elif np.ndim(self.axis or ()) == 2:
            kind = "ellipsoid of half an axis of"
        ball = f", {kind} {self.radius:.4g}" if self.radius else ""
        return f"({x:.4g}, {y:.4g}, {z:.4g}){ball} of link {self.link!r}"


def checked_points(points: Sequence[GivenPoint]) -> tuple[Point, ...]:
    """The points that a user gives.

    Raises
    ------
    InputError
        One has not the form of a point.
    """
    result: list[Point] = []
    try:
        given: list[tuple[Any, ...]] = [tuple(point) for point in points]
        if any(len(point) < 2 for point in given):
            raise ValueError
    except (TypeError, ValueError):
        raise InputError(f"points must be [(link, (x, y, z)), ...]; they are {points!r}") from None
    for one, (link, xyz, *radius) in zip(points, given, strict=True):
        if not isinstance(link, str):
            raise InputError(f"points must name links; {link!r} is not a name")
        if len(radius) > 1:
            raise InputError(f"a point is (link, xyz) or (link, xyz, radius), not {one!r}")
        what = f"the point on link {link!r}"
        x, y, z = single_vector(what, xyz, XYZ).tolist()
        r = radius[0] if radius else getattr(one, "radius", 0.0)
        r = number_within(f"{what}: radius", r, np.inf, "of metres, 0 or more")
        point = Point(link, (x, y, z), r, getattr(one, "axis", None), getattr(one, "half", 0.0))
        if point in result:
            raise InputError(f"the point {point} is given twice; keep one")
        result.append(point)
    return tuple(result)


def default_points(robot: Robot) -> tuple[Point, ...]:
    """The origin of every joint, and the end of every link that carries no other."""
    model, tree, frames = robot.model, robot.system.tree, LinkFrames.of_robot(robot).of
    parents = {joint.parent for joint in model.joints}
    found: list[Point] = []
    places: list[tuple[int, Array]] = []

    def add(link: str, xyz: Array, home: tuple[int, Array]) -> None:
        for body, place in places:
            if body == home[0] and np.abs(place - home[1]).max() < SAME_PLACE:
                return
        places.append(home)
        x, y, z = xyz.tolist()
        found.append(Point(link, (x, y, z)))

    def on_body(link: str, xyz: Array) -> tuple[int, Array]:
        frame, pose = frames[link]
        return frame, pose.rotation @ xyz + pose.translation

    zero = np.zeros(3)
    if robot.floating_base and tree.bodies[tree.frames[model.root][0]].inertia.mass:
        add(model.root, zero, on_body(model.root, zero))
    for joint in model.joints:
        body, _ = tree.frames[joint.child]
        if body == WORLD or not tree.bodies[body].inertia.mass:
            continue
        home = on_body(joint.child, zero)
        is_hinged = joint.nv and joint.kind.keeps_origin  # the origin is fixed in the parent too
        if is_hinged and joint.name not in robot.variable_origins:
            home = on_body(joint.parent, joint.origin.translation)
        if not (is_hinged and tree.frames[joint.parent][0] == WORLD):
            add(joint.child, zero, home)
        inertia = model.link(joint.child).inertia
        if joint.nv and joint.child not in parents and inertia is not None:
            end = 2 * inertia.center
            add(joint.child, end, on_body(joint.child, end))
    return tuple(found)


RIM = 8
"""Points on each end of a cylinder."""

INSET = 1e-5
"""Share of its radius by which they are nearer to the axis than the rim, which alone rolls."""

COARSE, COARSEST = 0.05, 2e-3
"""How far the hull of a mesh may lie outside its points: share of its size, and at most (m)."""


def collision_points(robot: Robot, flat: bool) -> tuple[Point, ...]:
    """The points of all shapes on bodies that move; none where the description has no shapes.

    Where all walls are `flat`, points inside the hull of their body's others are left out.

    Balls stay balls; a capsule is two balls; an ellipsoid stays one where walls are flat, and is 26
    points elsewhere; a box has its corners, a cylinder points on its
    edges and, where walls are flat, these edges as rims, on which it rolls; a mesh the corners of
    its convex hull, except those that stand out by less than a twentieth of its size and 2 mm.

    Raises
    ------
    InputError
        A shape that cannot be used; the message names link, line and file.
    """
    model, tree, frames = robot.model, robot.system.tree, LinkFrames.of_robot(robot).of
    found: dict[int, list[Point]] = {}
    known: dict[object, list[tuple[Array, float]]] = {}  # links share meshes
    for link in model.links:
        (body, _), (frame, _) = tree.frames[link.name], frames[link.name]
        if body == WORLD or not tree.bodies[body].inertia.mass:
            continue
        for shape in link.collisions:
            if shape.geometry not in known:
                known[shape.geometry] = list(_places(model, link.name, shape, flat))
            for place, radius in known[shape.geometry]:
                x, y, z = (shape.origin.rotation @ place + shape.origin.translation).tolist()
                one = Point(link.name, (x, y, z), radius, of_whole=not radius)
                found.setdefault(frame, []).append(one)
            found.setdefault(frame, []).extend(_rolling(link.name, shape) if flat else ())
    poses = {link: pose for link, (_, pose) in frames.items()}
    kept = [_outermost(poses, points) if flat else points for points in found.values()]
    return tuple(point for points in kept for point in points)


def _outermost(frames: Mapping[str, Pose], points: list[Point]) -> list[Point]:
    """The points of one frame that are corners of their hull, and what round reaches out of it.

    frames : of every link its pose there.
    """
    poses = [frames[point.link] for point in points]
    is_rim = np.array([point.axis is not None for point in points])
    places = np.array([
        pose.rotation @ point.xyz + pose.translation
        for point, pose in zip(points, poses, strict=True)
    ])  # fmt: skip
    if np.count_nonzero(~is_rim) <= 3:  # they have no hull
        return points
    from scipy.spatial import ConvexHull, QhullError  # its import takes long

    try:
        hull = ConvexHull(places[~is_rim])
    except QhullError:  # too few, or all in a plane
        return points
    normals = hull.equations[:, :3]
    radii = np.array([point.radius for point in points])[:, None]
    widths = np.array([
        _widths(point, pose.rotation, normals) for point, pose in zip(points, poses, strict=True)
    ])  # fmt: skip
    reach = (places @ normals.T + hull.equations[:, 3] + widths).max(axis=1)
    outer = (radii[:, 0] > 0) & (reach > 0)
    outer[np.flatnonzero(~is_rim)[hull.vertices]] = True
    return [point for point, stays in zip(points, outer.tolist(), strict=True) if stays]


def _widths(point: Point, rotation: Array, normals: Array) -> Array:
    """How far (k,) a point with its radius reaches along normals (k, 3), in m."""
    if point.axis is None:
        return np.full(len(normals), point.radius)
    axis = rotation @ np.array(point.axis)
    if axis.ndim == 2:
        widths: Array = np.linalg.norm(normals @ axis, axis=1)
        return widths
    across: Array = point.radius * np.sqrt(np.maximum(0.0, 1.0 - (normals @ axis) ** 2))
    return across


def _rolling(link: str, collision: Collision) -> Iterator[Point]:
    """The edges of a cylinder, and a whole ellipsoid; nothing of other shapes."""
    shape, origin = collision.geometry, collision.origin
    if isinstance(shape, Ellipsoid):
        x, y, z = origin.translation.tolist()
        half_axes = (origin.rotation * shape.half_axes).tolist()
        yield Point(link, (x, y, z), max(shape.half_axes), tuple(map(tuple, half_axes)))
    if not isinstance(shape, Cylinder) or isinstance(shape, Capsule):
        return
    x, y, z = origin.rotation[:, 2].tolist()
    for end in (-0.5 * shape.length, 0.5 * shape.length):
        place = origin.rotation @ [0.0, 0.0, end] + origin.translation
        a, b, c = place.tolist()
        yield Point(link, (a, b, c), shape.radius, (x, y, z))


def _places(
    model: Model, link: str, collision: Collision, flat: bool
) -> Iterator[tuple[Array, float]]:
    """Places in the frame of a shape, with their radius."""
    shape = collision.geometry
    if shape is None:
        raise InputError(
            f"{collision.problem}. Correct it, or give the environment points=[(link, xyz), ...]"
        )
    if isinstance(shape, Sphere):
        yield np.zeros(3), shape.radius
    elif isinstance(shape, Ellipsoid):
        for way in product((-1.0, 0.0, 1.0), repeat=3):
            if any(way) and not flat:
                unit = np.array(way) / np.linalg.norm(way)
                yield np.array(shape.half_axes) * unit, 0.0
    elif isinstance(shape, Box):
        for corner in product((-0.5, 0.5), repeat=3):
            yield np.array(corner) * shape.size, 0.0
    elif isinstance(shape, Cylinder):
        for end in (-0.5 * shape.length, 0.5 * shape.length):
            if isinstance(shape, Capsule):
                yield np.array([0.0, 0.0, end]), shape.radius
                continue
            radius = shape.radius * (1 - INSET) if flat else shape.radius
            for angle in 2 * np.pi * np.arange(RIM) / RIM:
                rim = radius * np.cos(angle), radius * np.sin(angle)
                yield np.array([*rim, end]), 0.0
    else:
        for corner in mesh_corners(collision, model.source, link, flat):
            yield corner, 0.0


def mesh_corners(collision: Collision, source: str, link: str, flat: bool) -> Array:
    """The corners (n, 3) of the convex hull of a mesh, m in the frame of its shape.

    Parameters
    ----------
    source : the file of the description. link : to which the shape belongs.
    flat : whether all walls are planes, which hollows of a mesh never touch.

    Raises
    ------
    InputError
        The file is not there, or holds no body, or one with hollows that walls may touch.
    """
    from scipy.spatial import QhullError

    mesh, line = collision.geometry, collision.line
    assert isinstance(mesh, Mesh)
    where = f'{source}{"" if line is None else f":{line}"}: <link name="{link}"> <collision>'
    folder = Path(source).parent if Path(source).is_file() else None
    path = find_mesh(mesh.file, folder)
    if path is None:
        raise InputError(
            f"{where}: there is no file {mesh.file}; put it there, name the folder of its package "
            "in ROS_PACKAGE_PATH, or give the environment points=[(link, xyz), ...]"
        )
    try:
        vertices, triangles = mesh_surface(path)
        vertices = vertices * mesh.scale
        corners, faces, allowed = _salient(vertices)
    except (InputError, QhullError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{where}: {path} is not a body: {reason}; repair the mesh, or give the environment "
            "points=[(link, xyz), ...]"
        ) from None
    if flat:
        return corners
    surface = vertices[triangles].mean(axis=1)
    hollow = -float((surface @ faces[:, :3].T + faces[:, 3]).max(axis=1).min())
    if hollow > allowed:
        raise InputError(
            f"{where}: {path} is not convex (its surface goes {hollow:.3g} m inside its hull), and "
            "what it may touch is not a plane: give a mesh for each of its convex parts, or give "
            "the environment points=[(link, xyz), ...]"
        )
    return corners


def _salient(vertices: Array) -> tuple[Array, Array, float]:
    """As few corners (n, 3) of the hull of vertices as enclose all but thin shavings of it.

    Then the equations (m, 4) of the faces between them, and how thick (m) shavings are at most.
    """
    from scipy.spatial import ConvexHull

    corners: Array = vertices[ConvexHull(vertices).vertices]
    allowed = min(COARSE * float(np.ptp(corners, axis=0).max()), COARSEST)
    ways = np.vstack([np.eye(3), -np.eye(3), np.array(list(product((-1, 1), repeat=3)))])
    chosen = sorted(set((corners @ ways.T).argmax(axis=0).tolist()))
    left = np.arange(len(corners))
    hull = ConvexHull(corners[chosen], incremental=True)
    while True:
        faces = hull.equations
        outside = (corners[left] @ faces[:, :3].T + faces[:, 3]).max(axis=1)
        if not (outside > allowed).any():
            break
        chosen.append(int(left[outside.argmax()]))
        hull.add_points(corners[chosen[-1:]])
        left = left[outside > allowed]  # hulls only grow
    return corners[sorted(chosen)], faces, allowed
