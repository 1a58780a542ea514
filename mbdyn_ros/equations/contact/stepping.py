"""What a compiled step among walls asks of a robot, besides its dynamics; see `runtime/step.c`."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...program.declaration import program
from ...program.elimination import solve_ltl
from ..algebra.spatial import SX, by_rows, cross
from ..efforts import driving, reduced_efforts
from ..loops.embedding import Embedding
from ..programs import mass_matrix
from ..rubbing import RubbingRows, tree_friction
from ..system import System
from .contact import ContactGeometry, point_motions


@program("q v effort step:1", output="a", internal=True)
def damped_dynamics(system: System, q: SX, z: SX, v: SX, effort: SX, step: SX) -> SX:
    """Accelerations (nv, 1) without dry friction, with damping as of the end of a step (s)."""
    embedding = system.embedding(q, z)
    bias = reduced_efforts(system, embedding, v, SX.zeros(v.shape[0]), None, False)
    damping = _damping(system, embedding)
    load = driving(system, embedding, effort) - bias - damping @ v
    return solve_ltl(mass_matrix(system, q, z) + step * damping, load)


@program("q step:1", output="matrix", matrix=True, internal=True)
def damped_mass(system: System, q: SX, z: SX, step: SX) -> SX:
    """Mass matrix (nv, nv) with what damping over a step (s) adds to it."""
    return ca.densify(mass_matrix(system, q, z) + step * _damping(system, system.embedding(q, z)))


def _damping(system: System, embedding: Embedding) -> SX:
    """Damping (nv, nv) of the independent coordinates."""
    damping = ca.diag(SX(tree_friction(system.tree)[0]))
    return embedding.matrix.T @ damping @ embedding.matrix


@program("q", output="rows", about="contacts", internal=True)
def contact_rows(system: System, q: SX, z: SX, contacts: ContactGeometry) -> SX:
    """Velocities of what may touch, normals, stops and dry friction, see `RowsLayout`."""
    embedding = system.embedding(q, z)
    v = SX.sym("v", system.coordinates.nv)
    velocity = embedding.velocity(v)
    rest = SX.zeros(system.tree.nv)
    points = point_motions(system.tree, embedding.joints, velocity, rest, contacts.points)
    blocks, normals, places = [], [], []
    for point, (_, _, radius) in zip(points, contacts.points, strict=True):
        if not radius:
            blocks.append(point.velocity)
        for face in range(len(contacts.faces)):
            if radius:
                _, normal, _ = contacts.signed[face](point.place)
                blocks.append(point.velocity + radius * cross(normal, point.turning))
            else:
                x = SX.sym("x", 3)
                slope = ca.gradient(contacts.faces[face](x), x)
                normal = ca.Function("at", [x], [slope])(point.place)
                normal = normal / ca.norm_2(normal)
            normals.append(ca.densify(normal))
            places.append(point.place - radius * normals[-1])
    stops = [side * velocity[k] for _, k, side, _ in contacts.stops]
    rubbing, dry = RubbingRows.of(system), tree_friction(system.tree)[1]
    rub = [v[k] for k, _ in rubbing.single] + [velocity[row] for row in rubbing.own]
    bounds = [
        sum((ca.fabs(embedding.matrix[i, k]) * dry[i] for i in members), SX(0))
        for k, members in rubbing.single
    ] + [SX(dry[row]) for row in rubbing.own]
    rows = ca.vertcat(SX(0, 1), *blocks, *stops, *rub)
    return ca.densify(ca.vertcat(by_rows(ca.jacobian(rows, v)), *normals, *places, *bounds))


@dataclass(frozen=True)
class RowsLayout:
    """Where in the column of `contact_rows` every contact stands.

    block : of every contact the place of its velocity (3, nv), or of its row (nv,) for a stop.
    normal, place : of its normal (3,) and of where it touches (3,), -1 for a stop.
    rubbing, bound : of the rows (r, nv), and of the bounds (r,), of dry friction.
    """

    block: tuple[int, ...]
    normal: tuple[int, ...]
    place: tuple[int, ...]
    rubbing: int
    bound: int

    @staticmethod
    def of(system: System, contacts: ContactGeometry) -> RowsLayout:
        """The layout of a system's rows."""
        nv, faces = system.coordinates.nv, len(contacts.faces)
        blocks: list[int] = []
        at = 0
        for _, _, radius in contacts.points:
            for face in range(faces):
                blocks.append(at + (3 * nv * face if radius else 0))
            at += 3 * nv * (faces if radius else 1)
        stops = [at + nv * k for k in range(len(contacts.stops))]
        rubbing = at + nv * len(stops)
        normals = rubbing + nv * len(RubbingRows.of(system))
        places = normals + 3 * len(blocks)
        of_normals, of_places = (
            (*(start + 3 * k for k in range(len(blocks))), *(-1 for _ in stops))
            for start in (normals, places)
        )
        bound = places + 3 * len(blocks)
        return RowsLayout((*blocks, *stops), of_normals, of_places, rubbing, bound)
