"""Shapes in a URDF, and the meshes that they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import numpy as np

from ...array import Array
from ...errors import InputError, ModelError
from ..shapes import Box, Capsule, Collision, Cylinder, Ellipsoid, Geometry, Mesh, Sphere, Visual
from .source_text import package_folders
from .xml_source import XmlSource, read_pose

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def read_shape(document: XmlSource, element: Element) -> Geometry:
    """The shape of a `<visual>` or `<collision>`.

    Raises
    ------
    ModelError
        There is none, or not one; file and line are named.
    """
    geometry = document.child(element, "geometry")
    shapes = [] if geometry is None else list(geometry.iterchildren())
    if len(shapes) != 1:
        raise document.error(
            element, f"a {element.tag} has one shape in its <geometry>, this one has {len(shapes)}"
        )
    (shape,) = shapes
    if shape.tag == "box":
        size = document.vector(shape, "size", (0.0, 0.0, 0.0))
        return Box(tuple(abs(edge) for edge in size))
    if shape.tag in ("cylinder", "capsule"):
        kind = Cylinder if shape.tag == "cylinder" else Capsule
        return kind(document.number(shape, "radius"), document.number(shape, "length"))
    if shape.tag == "sphere":
        return Sphere(document.number(shape, "radius"))
    if shape.tag == "ellipsoid":
        return Ellipsoid(document.vector(shape, "radii", (0.0, 0.0, 0.0)))
    if shape.tag == "mesh":
        file = shape.get("filename")
        if not file:
            raise document.error(element, "its <mesh> has no filename; give one")
        return Mesh(file, document.vector(shape, "scale", (1.0, 1.0, 1.0)))
    raise document.error(
        element,
        f"<{shape.tag}> is not a shape of a URDF: give box, cylinder, sphere, capsule, ellipsoid "
        "or mesh",
    )


def read_collisions(document: XmlSource, link: Element) -> tuple[Collision, ...]:
    """The shapes with which a link collides; what cannot be read matters only to who asks."""
    return tuple(_collision(document, element) for element in link.iterchildren("collision"))


def _collision(document: XmlSource, element: Element) -> Collision:
    name, line = element.get("name", ""), element.sourceline
    try:
        shape = read_shape(document, element)
        lengths = {"radius": 1.0, "length": 1.0, **vars(shape)}
        lengths["radii"] = min(lengths.get("half_axes", (1.0,)))
        for key in ("radius", "length", "radii"):
            if not lengths[key] > 0:
                raise document.error(element, f"its {key} is {lengths[key]:g}; give metres above 0")
        return Collision(shape, read_pose(document, element), line, name=name)
    except ModelError as error:
        return Collision(None, line=line, problem=str(error), name=name)


Material = tuple[tuple[float, ...] | None, str]
"""A colour, if there is one, and the file of a texture."""


def read_materials(document: XmlSource) -> dict[str, Material]:
    """The `<material>` elements of a robot, by name; what cannot be read has no colour."""
    return {
        material.get("name", ""): _material(document, material)
        for material in document.root.iterchildren("material")
    }


def read_visuals(
    document: XmlSource, link: Element, materials: Mapping[str, Material]
) -> tuple[Visual, ...]:
    """The looks of a link; what cannot be read matters only to who asks."""
    return tuple(_visual(document, one, materials) for one in link.iterchildren("visual"))


def _visual(document: XmlSource, element: Element, materials: Mapping[str, Material]) -> Visual:
    name, line = element.get("name", ""), element.sourceline
    try:
        shape, origin = read_shape(document, element), read_pose(document, element)
        material = document.child(element, "material")
    except ModelError as error:
        return Visual(None, line=line, problem=str(error), name=name)
    color, called, texture = None, "", ""
    if material is not None:
        called = material.get("name", "")
        color, texture = _material(document, material)
        if color is None and not texture:
            color, texture = materials.get(called, (None, ""))
    return Visual(shape, origin, line, "", name, color, called, texture)


def _material(document: XmlSource, material: Element) -> Material:
    color, texture = material.find("color"), material.find("texture")
    rgba = None
    if color is not None and color.get("rgba") is not None:
        try:
            rgba = document.vector(color, "rgba", (0.0, 0.0, 0.0, 1.0))
        except ModelError:
            rgba = None  # a picture asks for it, and says so
    return rgba, "" if texture is None else texture.get("filename", "")


ENDINGS = (".stl", ".obj", ".dae", ".ply", ".glb", ".gltf", ".off")
"""Of meshes that are read; archives are not unpacked."""

LARGEST_MESH = 256 * 2**20
"""Bytes of a mesh file."""


def find_mesh(name: str, folder: Path | None) -> Path | None:
    """The file that a URDF means by `name`; None where there is none.

    Parameters
    ----------
    name : a path, file:// or package://PACKAGE/path.
    folder : of the URDF; None for one that is not a file. A package is looked for in the folders
        above it, then in ROS_PACKAGE_PATH and AMENT_PREFIX_PATH.
    """
    return next((path for path in _candidates(name, folder) if path.is_file()), None)


def _candidates(name: str, folder: Path | None) -> Iterator[Path]:
    parts = urlparse(name)
    if parts.scheme in ("package", "model"):
        inner = Path(unquote(parts.path).lstrip("/"))
        if ".." in inner.parts or not parts.netloc.strip("."):
            return
        for package in package_folders(parts.netloc, folder):
            yield package / inner
    elif parts.scheme == "file":
        yield Path(unquote(parts.path))
    elif not parts.scheme or len(parts.scheme) == 1:  # one letter is a drive
        yield Path(name) if folder is None else folder / name


def _check_mesh(path: Path) -> None:
    """Raises InputError where a file has another ending, or is larger than any mesh."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"{path}: meshes are read from files that end in {', '.join(ENDINGS)}; convert it"
        )
    if path.stat().st_size > LARGEST_MESH:
        raise InputError(f"{path}: larger than {LARGEST_MESH} bytes; simplify the mesh")


STL_HEADER = 84
"""Bytes before the triangles of a binary STL: a remark, and how many there are."""

STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("color", "<u2")])

ONE_CORNER = 1e-8
"""m. Corners of triangles that are rounded to the same multiple of it are one."""


def mesh_surface(path: Path) -> tuple[Array, Array]:
    """The corners (n, 3) of a mesh file in m, and of every triangle (m, 3) their numbers.

    Raises
    ------
    InputError, MissingPackageError
        See `load_mesh`.
    """
    _check_mesh(path)
    corners = _binary_stl(path.read_bytes()) if path.suffix.lower() == ".stl" else None
    if corners is None:
        body = load_mesh(path).to_mesh()
        return np.asarray(body.vertices), np.asarray(body.faces)
    places = np.round(corners / ONE_CORNER)
    order = np.lexsort(places.T)  # equal places as they come in the file
    is_new = np.ones(len(order), bool)
    is_new[1:] = (places[order[1:]] != places[order[:-1]]).any(axis=1)
    first = np.empty(len(order), int)  # with the same place
    first[order] = order[is_new][np.cumsum(is_new) - 1]
    is_first = first == np.arange(len(first))
    return corners[is_first], (np.cumsum(is_first) - 1)[first].reshape(-1, 3)


def _binary_stl(content: bytes) -> Array | None:
    """The corners of all triangles of a binary STL, three each; None where it is none."""
    count = int.from_bytes(content[STL_HEADER - 4 : STL_HEADER], "little")
    if not count or len(content) != STL_HEADER + count * STL_TRIANGLE.itemsize:
        return None
    triangles = np.frombuffer(content, STL_TRIANGLE, offset=STL_HEADER)
    corners: Array = triangles["corners"].reshape(-1, 3).astype(float)
    return corners if np.isfinite(corners).all() else None


def load_mesh(path: Path) -> Any:
    """The scene of a mesh file, as `trimesh` has it.

    Raises
    ------
    InputError
        The file cannot be read as a mesh, is larger than any, or has another ending.
    MissingPackageError
        trimesh is not installed.
    """
    _check_mesh(path)
    import trimesh  # slow to import

    try:
        scene = trimesh.load_scene(path)
        if not scene.geometry:
            raise ValueError("it holds no triangles")
    except ImportError as error:  # of what reads this kind of file
        raise InputError(f"{path}: {error}: pip install pycollada") from None
    except Exception as error:  # readers of broken files raise whatever comes
        raise InputError(f"{path}: cannot be read as a mesh: {error}") from None
    return scene
