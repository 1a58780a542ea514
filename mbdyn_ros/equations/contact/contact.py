"""Points of a robot against walls: distances, contact Jacobians and what curves them.

A wall is a function g of a world point, positive in free space. Its gradient, by automatic
differentiation, gives the unit normal n into free space. For the point x = r(q) of a link with
x' = J v and x'' = J a + h, the distance changes with n.x', and where it stays zero

    n.J a + n.h + x'.H x' / |grad g| = 0,   H the second derivatives of g.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...model.model import Array
from ...model.tree import Tree
from ...program.declaration import program
from ...program.symbols import alone
from ..algebra.spatial import SX, JointMotion, by_rows, constant
from ..system import System
from ..tree.gibbs_motion import body_motions


@dataclass(frozen=True, eq=False)
class ContactGeometry:
    """The points and the walls that may touch.

    points : body and place (3,) in its frame (m) of every point.
    faces : functions of a world point (3, 1), one number each; every point may touch every face.
    stops : tree position and velocity coordinate of a joint, side (1 from below, -1 from above),
        and the position (rad or m) of its stop.
    """

    points: tuple[tuple[int, Array], ...]
    faces: tuple[ca.Function, ...]
    stops: tuple[tuple[int, int, float, float], ...] = ()

    @functools.cached_property
    @alone
    def digest(self) -> str:
        """Hash of all of it."""
        content = hashlib.sha256()
        for body, place in self.points:
            content.update(f"{body}".encode() + place.tobytes())
        for face in self.faces:
            content.update(face.serialize().encode())
        content.update(repr(self.stops).encode())
        return content.hexdigest()

    def __repr__(self) -> str:
        return f"ContactGeometry({self.digest})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ContactGeometry) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def pairs(self) -> int:
        """Number of points x faces: pair k is point k // faces, face k % faces."""
        return len(self.points) * len(self.faces)

    @property
    def count(self) -> int:
        """Number of pairs and, behind them, stops."""
        return self.pairs + len(self.stops)


@dataclass(frozen=True, eq=False)
class PointMotion:
    """Place, velocity, and acceleration of a point (3, 1), in the world."""

    place: SX
    velocity: SX
    acceleration: SX


def point_motions(
    tree: Tree,
    joints: Sequence[JointMotion],
    v: SX,
    a: SX,
    points: Sequence[tuple[int, Array]],
) -> list[PointMotion]:
    """The motion of points at tree velocities and accelerations."""
    motions = body_motions(tree, joints, v, a)
    result = []
    for body, place in points:
        motion, r = motions[body], constant([*place, 1.0])
        result.append(
            PointMotion((motion.T @ r)[:3], (motion.rate @ r)[:3], (motion.acceleration @ r)[:3])
        )
    return result


@program("q v", output="distances", about="contacts", internal=True)
def distances(system: System, q: SX, z: SX, v: SX, contacts: ContactGeometry) -> SX:
    """g of every pair and of every stop, then its rate, then |grad g| (3m, 1)."""
    embedding = system.embedding(q, z)
    velocity = embedding.velocity(v)
    rest = SX.zeros(system.tree.nv)
    points = point_motions(system.tree, embedding.joints, velocity, rest, contacts.points)
    position = embedding.values()
    values, rates, slopes = [], [], []
    for point in points:
        x = SX.sym("x", 3)
        g = ca.vertcat(*(face(x) for face in contacts.faces))
        at = ca.Function("at", [x], [g, ca.jacobian(g, x)])
        value, gradient = at(point.place)
        values.append(value)
        rates.append(gradient @ point.velocity)
        slopes += [ca.norm_2(gradient[k, :]) for k in range(len(contacts.faces))]
    for row, k, side, bound in contacts.stops:
        values.append(side * (position[row] - bound))
        rates.append(side * velocity[k])
        slopes.append(SX(1))
    return ca.densify(ca.vertcat(*values, *rates, *slopes))


@program("q v", output="contact", about="contacts", internal=True)
def contact_state(system: System, q: SX, z: SX, v: SX, contacts: ContactGeometry) -> SX:
    """All that a contact needs to know, in one column; see `ContactLayout`."""
    embedding = system.embedding(q, z)
    velocity = embedding.velocity(v)
    drift = embedding.drift(velocity)
    # Their motion without accelerations of the coordinates: x'' = h.
    points = point_motions(system.tree, embedding.joints, velocity, drift, contacts.points)
    places, jacobians, drifts, normals, curvatures = [], [], [], [], []
    for point in points:
        places.append(point.place)
        jacobians.append(by_rows(ca.jacobian(point.velocity, v)))
        drifts.append(point.acceleration)
        for face in contacts.faces:
            x = SX.sym("x", 3)
            hessian, gradient = ca.hessian(face(x), x)
            slope, second = ca.Function("at", [x], [gradient, hessian])(point.place)
            size = ca.norm_2(slope)
            normals.append(ca.densify(slope / size))
            curvatures.append(point.velocity.T @ second @ point.velocity / size)
    rows, bends = [], []
    for _, k, side, _ in contacts.stops:
        rows.append(by_rows(ca.jacobian(side * velocity[k], v)))
        bends.append(side * drift[k])
    parts = [*places, *jacobians, *drifts, *normals, *curvatures, *rows, *bends]
    return ca.densify(ca.vertcat(*parts))


class ContactLayout:
    """Views into the column of `contact_state`, filled in place.

    Attributes
    ----------
    place, drift : (p, 3) of the points: x (m) and h (m/s^2).
    jacobian : J (p, 3, nv).
    normal : n (p, faces, 3). curvature : x'.H x' / |grad g| (p, faces), m/s^2.
    stop_rows, stop_drift : (s, nv), (s,) of the joints' stops.
    """

    def __init__(self, column: Array, contacts: ContactGeometry, nv: int) -> None:
        p, f, s = len(contacts.points), len(contacts.faces), len(contacts.stops)
        shapes = [(p, 3), (p, 3, nv), (p, 3), (p, f, 3), (p, f), (s, nv), (s,)]
        cuts = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
        parts = [
            column[start:end].reshape(shape)
            for start, end, shape in zip(cuts[:-1], cuts[1:], shapes, strict=True)
        ]
        self.place, self.jacobian, self.drift, self.normal, self.curvature = parts[:5]
        self.stop_rows, self.stop_drift = parts[5:]
