"""Accelerations of contacts that velocities alone cause.

What touches at x moves there, on a body with the pose T = (R, o), with u = W (x - o) + o' and
W = R' R^T; of two bodies u is the difference. The distance changes with n u, therefore

    (n u)' = n u' + n' u,   u' = W' (x - o) + W (x' - o') + o'',   W' = R'' R^T + R' R'^T

where x' runs along the bodies as the contact does. R'' and o'' are those without accelerations of
the coordinates here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca

from ...program.declaration import program
from ..algebra.spatial import SX, constant
from ..system import System
from ..tree.gibbs_motion import GibbsMotion, touching_motions
from .contact import BodyPoint, ContactGeometry
from .rims import lowest
from .rods import between


@program("q v", output="drift", about="contacts", internal=True)
def contact_drift(system: System, q: SX, z: SX, v: SX, contacts: ContactGeometry) -> SX:
    """(n u)' and u' (3, 1) of every pair and couple, then (n u)' of every stop."""
    embedding = system.embedding(q, z)
    velocity = embedding.velocity(v)
    drift = embedding.drift(velocity)
    motions = touching_motions(system.tree, embedding.joints, velocity, drift)
    result = []
    for point in contacts.points:
        motion = motions[point.body]
        for k, face in enumerate(contacts.faces):
            if point.radius and point.axis is None:
                result.append(_acceleration(_ball(point, contacts.signed[k], motion), motion))
            else:
                result.append(_acceleration(_moving(_on_face(point, face), motion), motion))
    for couple in contacts.couples:
        both = [motions[rod.body] for rod in couple]
        touch = _moving(lambda T, S, couple=couple: between(couple, T, S)[1:], *both)
        result.append(_acceleration(touch, *both))
    result += [side * drift[k] for _, k, side, _ in contacts.stops]
    return ca.densify(ca.vertcat(SX(0, 1), *result))


def _on_face(point: BodyPoint, face: ca.Function) -> Callable[[SX], Sequence[SX]]:
    """Normal and place (3, 1) of a point or a rim on a wall, by the pose (3, 4) of its body."""
    center = constant([*point.place, 1.0])

    def touch(T: SX) -> Sequence[SX]:
        if point.axis is not None:
            gradient, foot = lowest(T @ center, T[:, :3] @ constant(point.axis), point.radius, face)
            return gradient / ca.norm_2(gradient), foot
        x = SX.sym("x", 3)
        slope = ca.gradient(face(x), x)
        return ca.Function("at", [x], [slope / ca.norm_2(slope)])(T @ center), T @ center

    return touch


def _moving(touch: Callable[..., Sequence[SX]], *motions: GibbsMotion) -> list[SX]:
    """Normal and place (3, 1), and the rates of both, by the poses of the bodies."""
    poses, rates = ([SX.sym(name, 3, 4) for _ in motions] for name in ("T", "V"))
    n, x = touch(*poses)
    at, ahead = (ca.vertcat(*map(ca.vec, some)) for some in (poses, rates))
    change = [ca.jtimes(one, at, ahead) for one in (n, x)]
    moving = ca.Function("moving", [*poses, *rates], [n, x, *change])
    given = [motion.T[:3, :] for motion in motions] + [motion.rate[:3, :] for motion in motions]
    return list(moving(*given))


def _ball(point: BodyPoint, signed: ca.Function, motion: GibbsMotion) -> list[SX]:
    """The same of a ball, by the curvature of the wall."""
    center = constant([*point.place, 1.0])
    x, speed = (motion.T @ center)[:3], (motion.rate @ center)[:3]
    _, _, n, bend = signed(x, point.radius)
    turn = bend @ speed
    return [n, x - point.radius * n, turn, speed - point.radius * turn]


def _acceleration(touch: Sequence[SX], *motions: GibbsMotion) -> SX:
    """(n u)' and u' (4, 1), by normal and place, and their rates."""
    n, x, n_rate, x_rate = touch
    speeds, changes = [], []
    for motion in motions:
        R, V, A = (one[:3, :3] for one in (motion.T, motion.rate, motion.acceleration))
        o, o_rate, o_bend = (one[:3, 3] for one in (motion.T, motion.rate, motion.acceleration))
        W, W_rate = V @ R.T, A @ R.T + V @ V.T
        speeds.append(W @ (x - o) + o_rate)
        changes.append(W_rate @ (x - o) + W @ (x_rate - o_rate) + o_bend)
    u, u_rate = speeds[0], changes[0]
    if len(motions) > 1:
        u, u_rate = u - speeds[1], u_rate - changes[1]
    return ca.vertcat(ca.dot(n, u_rate) + ca.dot(n_rate, u), u_rate)
