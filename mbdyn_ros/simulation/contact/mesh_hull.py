"""Convex hulls of meshes, which touch in their places."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np

from ...errors import InputError, SimulationWarning
from ...model.model import Array
from ...model.read.shape import find_mesh, mesh_surface
from ...model.shapes import Collision, Mesh

COARSE, COARSEST = 0.05, 2e-3
"""How far a hull may lie outside its corners: share of its size, and at most (m)."""

MOST_PIECES = 32
"""A mesh of more touches as a whole."""


class MeshHull:
    """The convex hull of a mesh of a link, in the frame of its shape.

    Parameters
    ----------
    source : the file of the description. link : to which the shape belongs.

    Attributes
    ----------
    corners : (n, 3) m, as few as enclose all but thin shavings of it.

    Raises
    ------
    InputError
        The file is not there, or holds no body.
    """

    def __init__(self, collision: Collision, source: str, link: str) -> None:
        from scipy.spatial import QhullError  # its import takes long

        mesh, line = collision.geometry, collision.line
        assert isinstance(mesh, Mesh)
        where = f'{source}{"" if line is None else f":{line}"}: <link name="{link}"> <collision>'
        folder = Path(source).parent if Path(source).is_file() else None
        path = find_mesh(mesh.file, folder)
        if path is None:
            raise InputError(
                f"{where}: there is no file {mesh.file}; put it there, name the folder of its "
                "package in ROS_PACKAGE_PATH, or give the environment points=[(link, xyz), ...]"
            )
        try:
            vertices, triangles = mesh_surface(path)
            vertices = vertices * mesh.scale
            self.corners, self._faces, self._allowed = _salient(vertices)
        except (InputError, QhullError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(
                f"{where}: {path} is not a body: {reason}; repair the mesh, or give the "
                "environment points=[(link, xyz), ...]"
            ) from None
        self.link, self.path, self._triangles = link, path, vertices[triangles]

    @cached_property
    def hollow(self) -> float:
        """How far (m) the mesh goes inside its hull; 0 where no farther than shavings are thick."""
        return _depth(self._triangles, self._faces, self._allowed)

    @cached_property
    def pieces(self) -> list[Array]:
        """The corners (n, 3) of each piece, where it has hollows, but convex pieces; else none."""
        from scipy.spatial import QhullError

        found: list[Array] = []
        pieces = _pieces(self._triangles) if self.hollow else []
        for triangles in pieces if 1 < len(pieces) <= MOST_PIECES else []:
            try:
                corners, faces, allowed = _salient(np.unique(triangles.reshape(-1, 3), axis=0))
            except QhullError:  # a flat one
                return []
            if _depth(triangles, faces, allowed):
                return []
            found.append(corners)
        return found


def warn_of_hollows(source: str, hulls: Iterable[MeshHull]) -> None:
    """Warn of meshes that are not convex, by link and file."""
    filled = (hull for hull in hulls if hull.hollow and not hull.pieces)
    deep = sorted(filled, key=lambda hull: -hull.hollow)
    if not deep:
        return
    words = ", ".join(f"{one.link!r} ({one.path.name}, {one.hollow:.3g} m)" for one in deep[:5])
    more = f" and {len(deep) - 5} more" if len(deep) > 5 else ""
    warnings.warn(
        f"{source}: the convex hulls of meshes touch, which fill their hollows, here of links "
        f"{words}{more}; give meshes of convex pieces where hollows matter",
        SimulationWarning,
        stacklevel=2,
    )


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


def _depth(triangles: Array, faces: Array, allowed: float) -> float:
    """How far (m) triangles (n, 3, 3) go inside the faces of a hull; 0 where not beyond allowed."""
    inside = triangles.mean(axis=1) @ faces[:, :3].T + faces[:, 3]
    depth = -float(inside.max(axis=1).min())
    return depth if depth > allowed else 0.0


def _pieces(triangles: Array) -> list[Array]:
    """The triangles (n, 3, 3) of all that hang together by edges, of which two have each."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(triangles)
    _, corner = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    ends = corner.reshape(-1, 3)[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    _, edge, uses = np.unique(np.sort(ends), axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(edge.ravel(), kind="stable")
    one, other = (order[uses[edge.ravel()[order]] == 2] // 3).reshape(-1, 2).T
    links = coo_array((np.ones(len(one)), (one, other)), shape=(count, count))
    piece = connected_components(links, directed=False)[1]
    return [triangles[piece == number] for number in np.unique(piece)]
