"""Convex shapes of links that may touch each other, as C reads them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ...compiler.kernel import CompiledKernel
from ...compiler.loading import load_kernel
from ...compiler.runtime.library import structure, touching
from ...equations.contact.reach import flattened
from ...equations.contact.wall_level import WallFace, wall_level
from ...model.model import Array
from ...model.pose import Pose
from ...program.program import Program
from ..contact.environment import MOST_POINTS
from ..contact.solids import ConvexShape, CurvedWall, SolidPair

SIZE, NUMBER, ADDRESS, INTEGER = (
    ctypes.c_size_t, ctypes.c_double, ctypes.c_void_p, ctypes.c_int64,
)  # fmt: skip


OneSolid = structure("contact/convex_shapes.hpp", "solid")
AllSolids = structure("contact/convex_shapes.hpp", "solids")
OneTouch = structure("contact/manifold.hpp", "touch")


NOTHING: Mapping[int, tuple[int, ...]] = MappingProxyType({})


class Touch(NamedTuple):
    """A point of one shape against a plane of the other.

    turned : whether the point is the second shape's and the plane the first's.
    point : (3,) m. radius : m, of a ball about it that touches.
    foot, normal : (3,) m on the plane, and the unit vector from it to the point.
    gap : m, distance from the plane.
    """

    turned: bool
    point: Array
    radius: float
    foot: Array
    normal: Array
    gap: float


class SolidTables:
    """The shapes of pairs that may touch.

    Parameters
    ----------
    order : of every body where its numbers begin in the result of `contact_rows`.
    fall : m/s^2, the acceleration of gravity. laws : of every pair restitution and friction.
    reach : of every body the coordinates that move it, see `Sparsity`; who only asks for distances
        needs neither.

    Attributes
    ----------
    pairs : of shapes. solids : what C reads.
    """

    def __init__(
        self, pairs: tuple[SolidPair, ...], order: Mapping[int, int], fall: float = 0.0,
        laws: Sequence[tuple[float, float]] = (), reach: Mapping[int, tuple[int, ...]] = NOTHING,
    ) -> None:  # fmt: skip
        self.pairs, self._levels = pairs, list[CompiledKernel]()
        solids = {id(solid): solid for pair in pairs for solid in pair}
        number = {key: k for k, key in enumerate(solids)}
        shapes = [solid.shape for solid in solids.values()]
        corners = [0, *accumulate(len(shape.corners) for shape in shapes)]
        faces = [0, *accumulate(len(shape.faces) for shape in shapes)]
        self._solid = (OneSolid * len(solids))(
            *(
                OneSolid(
                    solid.shape.kind, order[solid.body], corners[k], len(solid.shape.corners),
                    faces[k], len(solid.shape.faces), solid.shape.radius, solid.shape.half,
                    solid.shape.reach, (NUMBER * 3)(*solid.shape.half_axes),
                    (NUMBER * 12)(*_numbers(solid.pose)), *self._wall(solid.shape),
                )
                for k, solid in enumerate(solids.values())
            )
        )  # fmt: skip
        loops = [
            [corners[k] + corner for corner in face]
            for k, shape in enumerate(shapes)
            for face in shape.faces
        ]
        ends = [[number[id(solid)] for solid in pair] for pair in pairs]
        whole = [ends, np.cumsum([0, *map(len, loops)]), [one for loop in loops for one in loop]]
        self._tables = [np.array(one, dtype=np.int64) for one in whole]
        for parts in ([s.corners for s in shapes], [s.normals for s in shapes]):
            self._tables.append(np.ascontiguousarray(np.vstack([np.zeros((0, 3)), *parts])))
        self._tables.append(np.array(laws, dtype=np.float64))
        start, places = flattened(reach.get(solid.body, ()) for solid in solids.values())
        self._reach = start, places
        self.solids = AllSolids(
            ctypes.addressof(self._solid), *(one.ctypes.data for one in self._tables),
            start.ctypes.data, places.ctypes.data,
            count=len(solids), pairs=len(pairs), widest=max(map(len, loops), default=0), fall=fall,
        )  # fmt: skip

    def _wall(self, shape: ConvexShape) -> tuple[int | None, float, float]:
        """The program of a curved wall, how steep it is, and how far apart places are."""
        if not isinstance(shape, CurvedWall):
            return None, 0.0, 0.0
        kernel = load_kernel(Program(wall_level, WallFace(shape.face)))
        assert isinstance(kernel, CompiledKernel)
        self._levels.append(kernel)
        return kernel.scalar.address.value, shape.steep, shape.spread

    def touches(self, number: int, one: Pose, other: Pose, margin: float) -> list[Touch]:
        """Where a pair of shapes in these poses touches, or is not farther apart (m) than this."""
        found = (OneTouch * MOST_POINTS)()
        library = touching()
        library.room_of_touches.restype = library.touches_of_pair.restype = SIZE
        way, room = _between(one, other), np.zeros(library.room_of_touches(self._given(number)[0]))
        places = _address(way), _address(room)
        count = library.touches_of_pair(
            *self._given(number, one, other), NUMBER(margin), *places, found
        )
        return [
            Touch(bool(at.turned), np.array(at.point), at.radius, np.array(at.foot),
                  np.array(at.normal), at.gap)
            for at in found[:count]
        ]  # fmt: skip

    def nearest(
        self, number: int, one: Pose, other: Pose, way: Array | None = None
    ) -> tuple[float, Array, Array]:
        """Distance (m) of a pair of shapes, the normal (3,) to the first, and the points (2, 3).

        Negative where they are inside each other: along the normal, for which `way` is a guess.
        """
        call, places = touching().nearest_of_pair, np.zeros((2, 3))
        call.restype = NUMBER
        normal = _between(one, other) if way is None else way.copy()
        distance = call(*self._given(number, one, other), _address(normal), _address(places))
        return distance, normal, places

    def _given(self, number: int, *poses: Pose) -> list[object]:
        self._poses = [np.array(_numbers(pose)) for pose in poses]
        return [ctypes.byref(self.solids), SIZE(number), *map(_address, self._poses)]


def _between(one: Pose, other: Pose) -> Array:
    """Unit vector from the origin of the other pose to that of the one."""
    way: Array = one.translation - other.translation
    size = np.linalg.norm(way)
    return way / size if size > 0 else np.array([0.0, 0.0, 1.0])


def _address(array: Array) -> ctypes.c_void_p:
    return ADDRESS(array.ctypes.data)


def _numbers(pose: Pose) -> list[float]:
    """A pose as the rows of a transform (3, 4)."""
    rows: list[float] = np.column_stack([pose.rotation, pose.translation]).ravel().tolist()
    return rows
