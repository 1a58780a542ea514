"""The contacts of one robot with its walls and stops, as numbers at a state."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...compiler.bound import Bound, BoundBatch
from ...equations.contact.contact import ContactLayout, contact_state, distances
from ...equations.contact.impact import Blocks
from ...errors import InputError, SimulationError
from ...model.model import Array
from ...robot import Robot
from .environment import Environment, Normals

Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]

VANISHING = 1e-3
"""Share of the gradient nearby under which a gradient vanishes."""

KINK = 1e-2
"""Turn of a normal (rad) within 1e-7 m that no smooth wall makes."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Laws of motion of k contacts: normal velocity W v, normal acceleration W a + drift.

    tangents : (k, 2, nv) velocities along the wall likewise; zero without friction.
    tangent_drift : (k, 2). friction : (k,).
    """

    W: Array
    drift: Array
    tangents: Array
    tangent_drift: Array
    friction: Array

    def assemble(self, cone: Flags, slides: Array) -> Assembly:
        """The rows and unknowns of contacts with a cone of friction, and of those that slide.

        Parameters
        ----------
        cone : (k,) which may pass any tangential force up to mu times the normal one.
        slides : (k, 2) unit direction in which one slides, else zero.
        """
        rows: list[Array] = []
        columns: list[Array] = []
        drift: list[float] = []
        normal: list[int] = []
        tangent: list[int] = []
        for i in range(len(self.W)):
            normal.append(len(rows))
            rows.append(self.W[i])
            columns.append(self.W[i] - self.friction[i] * slides[i] @ self.tangents[i])
            drift.append(self.drift[i])
            tangent.append(len(rows) if cone[i] else -1)
            if cone[i]:
                rows += list(self.tangents[i])
                columns += list(self.tangents[i])
                drift += self.tangent_drift[i].tolist()
        return Assembly(
            np.array(rows),
            np.array(columns),
            np.array(drift),
            Blocks(np.array(normal), np.array(tangent), self.friction),
        )


@dataclass(frozen=True, eq=False)
class Assembly:
    """Rows S (m, nv), directions of forces C (m, nv), drift (m,), and where contacts stand."""

    rows: Array
    columns: Array
    drift: Array
    blocks: Blocks


class Contacts:
    """Distances and contact rows of a robot in an environment.

    A contact is a number k: pairs of a point and a face first, joint stops behind.

    Attributes
    ----------
    restitution, friction : of every contact (m,).

    only_watch : whether distances are asked for often, and rows seldom or never: those are
        compiled when they are first asked for.
    """

    def __init__(self, robot: Robot, environment: Environment, only_watch: bool = False) -> None:
        self.environment, self._robot = environment, robot
        self.points = environment.contact_points(robot)
        if environment.surfaces and not self.points:
            raise InputError(
                f"{robot.model.source}: no point of the robot can hit a wall: its links have no "
                "mass, or do not move; give the environment points=[(link, xyz), ...]"
            )
        self.geometry = environment.geometry(robot)
        programs = (distances,) if only_watch else (distances, contact_state)
        self._kernel, *_ = robot.calls.load(*((program, self.geometry) for program in programs))
        self._normals: dict[int, Normals] = {}
        self._many: BoundBatch | None = None
        self._distances = Bound(self._kernel)
        self._velocity = robot.nv
        faces, count = environment.sides, len(self.points)
        stops = len(self.geometry.stops)
        bounce, rub = environment.limit_restitution, 0.0
        self.restitution = np.array(
            [side.surface.restitution for _ in range(count) for side in faces] + [bounce] * stops
        )
        self.friction = np.array(
            [side.surface.friction for _ in range(count) for side in faces] + [rub] * stops
        )
        self._stop_names = environment.stop_names(robot)
        self._balls = {p: b for b, p in enumerate(self.geometry.balls)}

    def __len__(self) -> int:
        return self.geometry.count

    @functools.cached_property
    def _state(self) -> Bound:
        return Bound(self._robot.calls.kernel(contact_state, self.geometry))

    @functools.cached_property
    def layout(self) -> ContactLayout:
        """What `rows` fills."""
        return ContactLayout(self._state.result, self.geometry, self._robot.nv)

    def point(self, k: int) -> int:
        """Index of a contact's point; -1 for the stop of a joint."""
        return k // len(self.environment.sides) if k < self.geometry.pairs else -1

    def surface(self, k: int) -> str:
        """Name of a contact's surface, or of the joint whose stop it is."""
        if k >= self.geometry.pairs:
            return self._stop_names[k - self.geometry.pairs]
        return self.environment.sides[k % len(self.environment.sides)].name

    def name(self, k: int) -> str:
        """Words for a contact in messages: the point and the surface."""
        if k >= self.geometry.pairs:
            return self.surface(k)
        p = self.point(k)
        return f"point {p} {self.points[p]} on surface {self.surface(k)!r}"

    def distances(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """g, its rate, and |grad g| of every contact (m,) each; the next call overwrites them."""
        self._distances.q[:], self._distances.v[:] = q, v
        self._distances()
        m = len(self)
        result = self._distances.result
        return result[:m], result[m : 2 * m], result[2 * m :]

    def many_distances(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """The `distances` (N, m), three times, at states (N, nq), (N, nv)."""
        m = len(self)
        many = self._many
        if many is None or len(many.result) != len(q):
            many = self._many = BoundBatch(self._kernel, len(q))
        many.arguments[0][:], many.arguments[1][:] = q, v
        many()
        result = many.result.copy()
        return result[:, :m], result[:, m : 2 * m], result[:, 2 * m :]

    def rows(self, q: Array, v: Array, which: Indices) -> Rows:
        """Contact rows of the contacts `which` (k,); `layout` stays filled."""
        self._state.q[:], self._state.v[:] = q, v
        self._state()
        layout, faces = self.layout, max(1, len(self.environment.sides))
        W, drift = np.zeros((len(which), self._velocity)), np.zeros(len(which))
        tangents = np.zeros((len(which), 2, self._velocity))
        tangent_drift = np.zeros((len(which), 2))
        for row, k in enumerate(which.tolist()):
            if k >= self.geometry.pairs:
                W[row] = layout.stop_rows[k - self.geometry.pairs]
                drift[row] = layout.stop_drift[k - self.geometry.pairs]
                continue
            p, f = divmod(k, faces)
            normal = layout.normal[p, f]
            W[row] = normal @ layout.jacobian[p]
            drift[row] = normal @ layout.drift[p] + layout.curvature[p, f]
            if self.friction[k]:
                across, ball = tangent_plane(normal), self._balls.get(p)
                tangents[row] = across @ self.jacobian(k)
                along = layout.drift[p] if ball is None else layout.roll[ball, f]
                tangent_drift[row] = across @ along
        return Rows(W, drift, tangents, tangent_drift, self.friction[which])

    def place(self, k: int) -> Array:
        """Where a point touches its wall (3,), m in the world; of a ball its nearest point."""
        p, f = divmod(k, len(self.environment.sides))
        place: Array = self.layout.place[p] - self.geometry.points[p].radius * self.normal(k)
        return place

    def normal(self, k: int) -> Array:
        """The unit normal (3,) of a contact's wall, into free space."""
        normal: Array = self.layout.normal[divmod(k, len(self.environment.sides))]
        return normal

    def jacobian(self, k: int) -> Array:
        """Velocity (3, nv), in the world, of what touches: the material point at `place`."""
        p, ball = self.point(k), self._balls.get(self.point(k))
        if ball is None:
            return self.layout.jacobian[p]
        arm = self.geometry.points[p].radius * self.normal(k)
        rolling: Array = self.layout.jacobian[p] + np.cross(arm, self.layout.turn[ball], axisb=0).T
        return rolling

    def refuse_inside(self, q: Array, v: Array, depth: float) -> None:
        """Refuse points that are deeper (m) than this inside walls.

        Raises
        ------
        SimulationError
            One is; the message names point, wall, place and depth.
        """
        g, _, slope = self.distances(q, v)
        bad = ~np.isfinite(g) | (g < -depth * np.where(slope > 0, slope, 1.0))
        for k in np.flatnonzero(bad).tolist():
            far = -g[k] / slope[k] if slope[k] > 0 else np.nan
            words = "starts beyond its stop"
            if self.point(k) >= 0:
                self.rows(q, v, np.array([k]))
                x = self.place(k)
                words = f"starts inside the wall, at ({x[0]:.6g}, {x[1]:.6g}, {x[2]:.6g}) m"
            raise SimulationError(
                f"{self.name(k)} {words}: g is {g[k]:.6g}, about {far:.3g} m (or rad) "
                "too far; start in free space"
            )

    def require_smooth(self, k: int) -> None:
        """Refuse a wall without a gradient where it is touched; `layout` is filled there.

        Raises
        ------
        SimulationError
            The gradient vanishes or jumps there; the message names surface, point and place.
        """
        if k >= self.geometry.pairs:
            return
        f, x = k % len(self.environment.sides), self.place(k)
        here = f"at ({x[0]:.6g}, {x[1]:.6g}, {x[2]:.6g}) m, where {self.name(k)} touches,"
        normal = self.normal(k)
        if not np.isfinite(normal).all():
            raise SimulationError(
                f"{here} the gradient of the surface vanishes or is not finite: it has no normal "
                "there; write g so that its gradient differs from zero on the wall"
            )
        around = x + 1e-7 * max(1.0, float(np.abs(x).max())) * np.vstack([np.eye(3), -np.eye(3)])
        if f not in self._normals:
            self._normals[f] = Normals(self.environment.sides[f])
        normals_at = self._normals[f]
        normals, _ = normals_at(around)
        _, slopes = normals_at(np.vstack([x, x + 1e3 * (around - x)]))
        if not slopes[0] > VANISHING * slopes.max():
            raise SimulationError(
                f"{here} the gradient of the surface vanishes (it is {slopes[0]:.3g}, and "
                f"{slopes.max():.3g} 0.1 mm further); write g so that its gradient differs from "
                "zero on the wall"
            )
        if not np.abs(normals - normal).max() < KINK:
            raise SimulationError(
                f"{here} the surface is not differentiable: its normal jumps. Give the faces of a "
                "wall with edges one by one: g may return several expressions"
            )


def tangent_plane(normal: Array) -> Array:
    """Two unit vectors (2, 3) along a wall, for any normal (Duff et al. 2017)."""
    x, y, z = normal.tolist()
    sign = math.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    return np.array([[1 + sign * x * x * a, sign * b, -sign * x], [b, sign + y * y * a, -y]])
