"""Torques and reactions of mechanisms against Lagrange, Pinocchio, DeNOC and Newton's laws."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pinocchio")
from loop_judge import LoopJudge  # noqa: E402
from random_designs import WITH_URDF, random_design, states  # noqa: E402
from random_robots import assert_close, explore  # noqa: E402

from mbdyn_ros.equations.algebra.spatial import SX  # noqa: E402
from mbdyn_ros.mechanisms import (  # noqa: E402
    MECHANISMS,
    Analysis,
    CrankMotion,
    FourBar,
    Mechanism,
    constant_speed,
)
from mbdyn_ros.mechanisms.parametric import parametric_system  # noqa: E402

pytestmark = pytest.mark.usefixtures("interpreted")
Array = np.ndarray


@functools.cache
def lagrangian() -> Callable[..., list[Array]]:
    """The four-bar by Lagrange's equations of the first kind, derived by SymPy.

    Coordinates are the angles of crank, coupler and rocker; function of the parameters, angles
    and rates -> mass matrix, velocity and gravity terms, constraint matrix and its drift.
    """
    sympy = pytest.importorskip("sympy")  # slow to import
    t = sympy.Symbol("t")
    angles = [sympy.Function(f"th{k}")(t) for k in (2, 3, 4)]
    ground, gravity = sympy.symbols("ground g")
    length, mass, inertia, along, across = (
        sympy.symbols(f"{name}2:5") for name in ("l", "m", "J", "x", "y")
    )

    def turned(angle: Any, x: Any, y: Any) -> Any:
        c, s = sympy.cos(angle), sympy.sin(angle)
        return sympy.Matrix([c * x - s * y, s * x + c * y])

    pin = turned(angles[0], length[0], 0)
    pivot = sympy.Matrix([ground, 0])
    starts = [sympy.zeros(2, 1), pin, pivot]
    kinetic = potential = sympy.Integer(0)
    for k in range(3):
        center = starts[k] + turned(angles[k], along[k], across[k])
        velocity = center.diff(t)
        kinetic += mass[k] * velocity.dot(velocity) / 2 + inertia[k] * angles[k].diff(t) ** 2 / 2
        potential += mass[k] * gravity * center[1]
    closing = pin + turned(angles[1], length[1], 0) - pivot - turned(angles[2], length[2], 0)
    q, w, a = (sympy.symbols(f"{name}2:5") for name in ("q", "w", "a"))
    equations = []
    for angle in angles:
        rate = angle.diff(t)
        equations.append((kinetic.diff(rate)).diff(t) - kinetic.diff(angle) + potential.diff(angle))
    whole = sympy.Matrix([*equations, *closing.diff(t, 2)])
    for symbols, order in ((a, 2), (w, 1), (q, 0)):
        terms = [one.diff(t, order) if order else one for one in angles]
        whole = whole.subs(dict(zip(terms, symbols, strict=True)))
    matrix = whole.jacobian(a)
    rest = whole.subs(dict.fromkeys(a, 0))
    given = [ground, gravity, *length, *mass, *inertia, *along, *across, *q, *w]
    return sympy.lambdify(given, [matrix, rest], "numpy", cse=True)


def by_lagrange(four_bar: FourBar, q: float, v: float) -> tuple[float, float]:
    """(M, c): torque = M a + c of the crank."""
    links = four_bar.crank, four_bar.coupler, four_bar.rocker
    numbers = [four_bar.ground, four_bar.gravity, *(one.length for one in links)]
    numbers += [one.mass for one in links] + [one.moment for one in links]
    numbers += [one.middle[0] for one in links] + [one.middle[1] for one in links]
    turned = four_bar.solved(np.array([q])).turned
    turns = [turned[part] for part in ("crank", "coupler", "rocker")]
    angles = [float(np.arctan2(one.im, one.re)) for one in turns]
    matrix, rest = lagrangian()(*numbers, *angles, 0.0, 0.0, 0.0)
    rates = np.append(v, np.linalg.solve(matrix[3:, 1:], -matrix[3:, 0] * v))
    matrix, rest = lagrangian()(*numbers, *angles, *rates)

    def torque(a: float) -> float:
        # M qdd + rest = (torque, 0, 0) + constraints^T multipliers; constraints qdd + drift = 0
        others = np.linalg.solve(matrix[3:, 1:], -rest[3:, 0] - matrix[3:, 0] * a)
        left = matrix[:3] @ np.append(a, others) + rest[:3, 0]
        multipliers = np.linalg.solve(matrix[3:, 1:].T, left[1:])
        return float(left[0] - matrix[3:, 0] @ multipliers)

    return torque(1.0) - torque(0.0), torque(0.0)


@functools.cache
def denoc(kind: type[Mechanism]) -> ca.Function:
    """(q, v, a or effort, parameters) -> torques, accelerations of all joints, by DeNOC."""
    system = parametric_system(kind)
    count = system.coordinates.nv
    q, v, a = (SX.sym(name, count) for name in "qva")
    closed, embedding = system.denoc(q, v)
    acceleration = embedding.velocity(a) + embedding.drift(embedding.velocity(v))
    torque, _ = closed.inverse_dynamics(acceleration)
    driving = SX.zeros(system.tree.nv)
    driving[list(system.coordinates.effort)] = a
    accelerations, _ = closed.forward_dynamics(driving)
    outputs = [torque, accelerations[list(system.coordinates.v)]]
    assert system.parameters is not None
    return ca.Function("denoc", [q, v, a, system.parameters], outputs, {"cse": True})


@explore(5)
@given(st.integers(0, 10**6))
def test_lagrange_denoc_and_cluster_recursion_agree(seed: int) -> None:
    random = np.random.default_rng(seed)
    four_bar = random_design(FourBar, random)
    assert isinstance(four_bar, FourBar)
    q, v, a = states(four_bar, random, 2)
    torque = four_bar.inverse_dynamics(q, v, a)
    back = four_bar.forward_dynamics(q, v, torque)
    numbers = four_bar.vector()
    for k in range(len(q)):
        mass, rest = by_lagrange(four_bar, q[k, 0], v[k, 0])
        size = abs(mass * a[k, 0]) + abs(rest)
        assert torque[k, 0] == pytest.approx(mass * a[k, 0] + rest, rel=1e-10, abs=1e-10 * size)
        assert back[k, 0] == pytest.approx(a[k, 0], rel=1e-10, abs=1e-10 * size / mass)
        found, _ = denoc(FourBar)(q[k], v[k], a[k], numbers)
        assert float(found) == pytest.approx(torque[k, 0], rel=1e-10, abs=1e-10 * size)
        _, found = denoc(FourBar)(q[k], v[k], torque[k], numbers)
        assert float(found) == pytest.approx(a[k, 0], rel=1e-10, abs=1e-10 * size / mass)


@pytest.mark.sparse
@pytest.mark.parametrize("name", [one for one in WITH_URDF if one != "parallelogram"])
def test_pinocchio_tree_with_constraints_gives_the_same(name: str) -> None:
    random = np.random.default_rng(11)
    mechanism = random_design(MECHANISMS[name], random)
    robot = mechanism.robot()
    judge = LoopJudge(mechanism.urdf(), robot.model, robot.joint_names)
    driven = [robot.joint_names.index(f"{one}_joint") for one in mechanism.inputs]
    q, v, a = states(mechanism, random)
    for k in range(len(q)):
        row = slice(k, k + 1)
        position = mechanism.joint_state(q[row])[0][0]
        assert np.abs(judge.at(position).residual).max() < 1e-12
        velocity = judge.at(position).embedding(driven)[0] @ v[k]
        state = judge.at(position, velocity)
        matrix, drift = state.embedding(driven)
        acceleration = matrix @ a[k] + drift
        ours = mechanism.joint_state(q[row], v[row], a[row])
        assert_close(ours[1][0], velocity, 1e-10)
        assert_close(ours[2][0], acceleration, 1e-10)
        needed = state.efforts(acceleration)
        torque = mechanism.inverse_dynamics(q[row], v[row], a[row])[0]
        assert_close(torque, matrix.T @ needed, 1e-10)
        # what the pins carry; Pinocchio's loop frames are turned like the first part
        needed[driven] -= torque
        motion = CrankMotion(np.zeros(1), q[row], v[row], a[row])
        analysis = Analysis(mechanism, motion)
        for pin in mechanism.layout().pins:
            force = state.loop_forces(needed)[pin.name]
            turn = analysis.pose.directions[pin.first][0]
            expected = turn * complex(force[0], force[2])  # the plane is x and z of the world
            found = analysis.reactions[pin.name][0]
            assert_close(found[:2], np.array([expected.real, expected.imag]), 1e-9)


@pytest.mark.sparse
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_part_obeys_newton_and_euler_under_its_reactions(name: str) -> None:
    random = np.random.default_rng(5)
    mechanism = random_design(MECHANISMS[name], random)
    q, v, a = (one[0] for one in states(mechanism, random, 1))
    v, a = v / 5, a / 30
    step = 0.01
    times = step * np.arange(-4, 5)[:, None]
    half = [-1 / 560, 8 / 315, -1 / 5, 8 / 5]
    weights = np.array([*half, -205 / 72, *reversed(half)])  # a second derivative, order 8
    near = mechanism.pose(q + v * times + a * times**2 / 2)
    analysis = Analysis(mechanism, CrankMotion(np.zeros(1), q[None], v[None], a[None]))
    layout, pose = mechanism.layout(), analysis.pose
    forces = {part.name: -1j * part.piece.mass * mechanism.gravity for part in layout.parts}
    moments = dict.fromkeys(forces, 0.0)
    centers = {part.name: pose.point(part.name, part.piece.middle)[0] for part in layout.parts}

    def push(part: str, sign: float, reaction: Array, place: complex) -> None:
        if part in forces:
            force = sign * complex(*reaction[:2])
            forces[part] += force
            moments[part] += sign * reaction[2] + ((place - centers[part]).conjugate() * force).imag

    for part in layout.parts:
        reaction, place = analysis.reactions[part.joint][0], pose.origins[part.name][0]
        push(part.name, 1.0, reaction, place)
        push(part.parent, -1.0, reaction, place)
    for pin in layout.pins:
        place = pose.point(pin.first, pin.at_first)[0]
        assert abs(place - pose.point(pin.second, pin.at_second)[0]) < 1e-14
        push(pin.first, -1.0, analysis.reactions[pin.name][0], place)
        push(pin.second, 1.0, analysis.reactions[pin.name][0], place)
    for mesh in layout.meshes:
        start = pose.origins[mesh.driver][0]
        end = pose.origins[mesh.carrier if mesh.driven == "ground" else mesh.driven][0]
        place = start + (end - start) * mesh.ratio / (mesh.ratio - 1)
        push(mesh.driver, -1.0, analysis.reactions[mesh.name][0], place)
        push(mesh.driven, 1.0, analysis.reactions[mesh.name][0], place)
    for cam in layout.cams:
        place = complex(*cam.axle) + cam.profile(q)[0] * np.exp(1j * q[0])  # where they touch
        push(cam.cam, -1.0, analysis.reactions[cam.name][0], place)
        push(cam.follower, 1.0, analysis.reactions[cam.name][0], place)
        risen = cam.lift / cam.law.lift * cam.law(q)[0][0]
        spring = -cam.side * (cam.preload + cam.stiffness * risen)
        if cam.arm is None:
            forces[cam.follower] += spring * pose.directions[cam.follower][0]
        else:  # a couple
            moments[cam.follower] += spring
    inertia = 0j
    size = max(map(abs, forces.values())) + 10
    for part in layout.parts:
        acceleration = weights @ near.point(part.name, part.piece.middle) / step**2
        turning = np.unwrap(np.angle(near.directions[part.name]))
        spin = weights @ turning / step**2
        assert forces[part.name] == pytest.approx(part.piece.mass * acceleration, abs=1e-8 * size)
        assert moments[part.name] == pytest.approx(part.piece.moment * spin, abs=1e-8 * size)
        inertia += part.piece.mass * acceleration
    assert complex(*analysis.shaking[0, :2]) == pytest.approx(-inertia, abs=1e-8 * size)
    # a driven joint's moment is the torque; no other turning joint has one
    for part in layout.parts:
        if not part.slides:
            driven = part.name in mechanism.inputs
            expected = analysis.torque[0, mechanism.inputs.index(part.name)] if driven else 0.0
            found = analysis.reactions[part.joint][0, 2]
            assert found == pytest.approx(expected, abs=1e-10 * size)


def test_what_gravity_adds_to_the_torque_is_the_slope_of_the_potential() -> None:
    four_bar = FourBar()
    analysis = Analysis(four_bar, constant_speed(10.0))
    difference = (analysis.torque - analysis.torque_without_gravity)[:, 0]
    assert abs(difference[:-1].sum()) < 1e-9  # no work in a whole turn
    step = 1e-5
    q = analysis.motion.q
    slope = (four_bar.energy(q + step, [0.0])[1] - four_bar.energy(q - step, [0.0])[1]) / (2 * step)
    assert np.abs(difference - slope).max() < 1e-8
