"""Shapes of links as MuJoCo's geoms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..model import Link
from ..read.mesh_file import find_mesh
from ..shapes import Box, Capsule, Collision, Cylinder, Mesh, Sphere, Visual
from .elements import element, numbers
from .quaternion import quaternion

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

READABLE = (".stl", ".obj", ".msh")
"""Meshes that MuJoCo reads."""


class Shapes:
    """Geoms, and the meshes that they need.

    Parameters
    ----------
    assets : the element that takes the meshes. source : the folder of the description.
    folder : where the file will lie.
    """

    def __init__(
        self, assets: Element, source: Path | None, folder: Path, omitted: list[str]
    ) -> None:
        self._assets, self._source, self._folder = assets, source, folder
        self._meshes: dict[Mesh, str | None] = {}
        self._omitted = omitted

    def write(self, body: Element, link: Link) -> None:
        """The geoms of a link."""
        for kind, shapes in (("visual", link.visuals), ("collision", link.collisions)):
            for shape in shapes:
                form = self._form(shape, f'{kind} of link "{link.name}"')
                if form is None:
                    continue
                geom = element(body, "geom", **{"class": kind}, **form)
                if isinstance(shape, Visual) and shape.color is not None:
                    geom.set("rgba", numbers(shape.color))
                if shape.origin.translation.any():
                    geom.set("pos", numbers(shape.origin.translation))
                if (shape.origin.rotation != np.eye(3)).any():
                    geom.set("quat", numbers(quaternion(shape.origin.rotation)))

    def _form(self, shape: Collision, what: str) -> dict[str, str] | None:
        """The type and the size of a shape; None, and words, where MuJoCo has none like it."""
        match shape.geometry:
            case Box(size) if min(size) > 0:
                return {"type": "box", "size": numbers(edge / 2 for edge in size)}
            case Cylinder(radius, length) if min(radius, length) > 0:
                kind = "capsule" if isinstance(shape.geometry, Capsule) else "cylinder"
                return {"type": kind, "size": numbers((radius, length / 2))}
            case Sphere(radius) if radius > 0:
                return {"type": "sphere", "size": numbers((radius,))}
            case Mesh():
                name = self._mesh(shape.geometry)
                return None if name is None else {"type": "mesh", "mesh": name}
        self._omitted.append(f"{what}: a shape without extent, or one that could not be read")
        return None

    def _mesh(self, mesh: Mesh) -> str | None:
        """The name of a mesh among the assets; None where MuJoCo cannot read it."""
        if mesh not in self._meshes:
            name = None
            path = find_mesh(mesh.file, self._source)
            problem = _problem(path)
            if path is None or problem:
                self._omitted.append(f"mesh {mesh.file}: {problem}")
            else:
                name = f"{path.stem}_{len(self._meshes)}"
                one = element(
                    self._assets, "mesh", name=name, file=path.resolve().as_posix(),
                    inertia="shell",
                )  # fmt: skip
                if mesh.scale != (1.0, 1.0, 1.0):
                    one.set("scale", numbers(mesh.scale))
            self._meshes[mesh] = name
        return self._meshes[mesh]


def _problem(path: Path | None) -> str:
    """Words about a mesh that MuJoCo cannot read; empty where it can."""
    if path is None:
        return "is not found"
    if path.suffix.lower() not in READABLE:
        return f"MuJoCo reads {', '.join(READABLE)} only"
    if path.suffix.lower() == ".stl":
        with path.open("rb") as file:
            head = file.read(84)
        count = int.from_bytes(head[80:84], "little")
        if path.stat().st_size != 84 + 50 * count:
            return "is no binary STL, and MuJoCo reads no other"
    return ""
