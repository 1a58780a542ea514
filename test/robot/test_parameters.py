"""Inertias, gravity and friction that change while programs run."""

from __future__ import annotations

import copy
import itertools
import pickle
import subprocess
import threading
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from corpus import urdf_file
from interpreting import interpreting
from night import is_night
from own_robots import OWN, assert_close
from random_loops import draw
from thrown_robots import BLOCK, CORNERS

import mbdyn_ros
from mbdyn_ros import CompilerWarning, InputError, SingularMassMatrixError
from mbdyn_ros.compiler.loading import interpret
from mbdyn_ros.equations.programs import forward_dynamics
from mbdyn_ros.model.examples import CART
from mbdyn_ros.program.program import Program
from mbdyn_ros.robot import Robot

COM, MOMENTS = (0.1, 0.02, -0.05), np.diag([0.01, 0.02, 0.025])

ARM = """<robot name="arm"><link name="world"/>
  <link name="upper"><inertial><origin xyz="0.2 0 0"/><mass value="3"/>
    <inertia ixx="0.02" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0.1 0 0.05"/><mass value="{mass}"/>
    <inertia ixx="{ixx}" iyy="0.06" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute"><axis xyz="0 0 1"/><parent link="world"/>
    <child link="upper"/><limit lower="-3" upper="3" effort="9" velocity="9"/>
    <dynamics damping="{damping}"/></joint>
  <joint name="elbow" type="revolute"><axis xyz="0 1 0"/><parent link="upper"/>
    <child link="lower"/><origin xyz="0.4 0 0" rpy="0.3 0 0.1"/>
    <limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
  <joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/>
    <origin xyz="0.3 0.1 0" rpy="0.5 0.2 0"/></joint></robot>"""


def arm(mass: float = 2.0, ixx: float = 0.02, damping: object = 0.0, **options: object) -> Robot:
    return mbdyn_ros.load(ARM.format(mass=mass, ixx=ixx, damping=damping), **options)


def terms(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, np.ndarray]:
    """Everything that depends on inertias, by different ways."""
    derivatives = robot.inverse_dynamics_derivatives(q, v, a)
    return {
        "inverse dynamics": robot.inverse_dynamics(q, v, a),
        "forward dynamics": robot.forward_dynamics(q, v, a),
        "mass matrix": robot.mass_matrix(q),
        "derivatives": np.concatenate(derivatives, axis=-1),
        "Coriolis matrix": robot.coriolis_matrix(q, v),
        "momentum": robot.centroidal_momentum(q, v),
        "energy": np.stack(robot.energy(q, v), axis=-1),
        "energies of links": np.stack(robot.link_energies(q, v)),
        "friction": robot.friction_vector(q, v),
        "springs": robot.spring_vector(q),
    }


def assert_alike(one: Robot, other: Robot) -> None:
    state = np.random.default_rng(1).normal(size=(3, 2))
    for (what, ours), theirs in zip(
        terms(one, *state).items(), terms(other, *state).values(), strict=True
    ):
        assert_close(ours, theirs, what, 1e-12)
    assert_close(one.total_mass, other.total_mass, "mass", 1e-12)


@pytest.mark.usefixtures("interpreted")
def test_numbers_that_are_set_are_those_of_a_description() -> None:
    robot = arm(variable=["lower", "gravity", "friction", "armature", "springs"])
    assert_alike(robot, arm())
    link = robot.model.link("lower").inertia
    assert link is not None
    robot.set_inertia("lower", 5.0, link.center, np.diag([0.05, 0.06, 0.05]))
    robot.set_gravity([1.0, 2.0, -3.0])
    robot.set_friction("shoulder", 0.7)
    robot.set_armature("shoulder", 0.4)
    robot.set_spring("shoulder", 30.0, -0.2)
    more = '0.7" armature="0.4" spring_stiffness="30" spring_reference="-0.2'
    assert_alike(robot, arm(5.0, 0.05, more, gravity=(1.0, 2.0, -3.0)))
    for same in (copy.copy(robot), copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        assert_alike(same, robot)


@pytest.mark.usefixtures("interpreted")
def test_a_payload_is_the_body_of_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    path = urdf_file("ur5_robot.urdf")
    model = pin.buildModelFromUrdf(str(path))
    frame = model.frames[model.getFrameId("tool0")]
    body = pin.Inertia(2.0, np.array(COM), MOMENTS)
    model.inertias[frame.parentJoint] += frame.placement.act(body)
    robot = mbdyn_ros.load(path, variable=["tool0"])
    q, v, a = np.random.default_rng(0).normal(size=(3, 6))
    before = robot.inverse_dynamics(q, v, a)
    robot.set_payload("tool0", 2.0, COM, MOMENTS)
    found = robot.inverse_dynamics(q, v, a)
    assert_close(found, pin.rnea(model, model.createData(), q, v, a), "efforts with a payload")
    robot.set_payload("tool0", 0.0)
    np.testing.assert_array_equal(robot.inverse_dynamics(q, v, a), before)


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
def test_every_way_to_call_takes_the_payload_at_once(compiled: bool) -> None:
    """Plain calls, bound ones, batches and rollouts; one value, and one a row."""
    if not compiled:
        with interpreting():
            check_every_way(rolls=False)
    else:
        check_every_way(rolls=True)


def check_every_way(rolls: bool) -> None:
    robot = mbdyn_ros.load(CART, variable=["cart"])  # 2 kg on a rail, no gravity along it
    bound = robot.bind("forward_dynamics")
    bound.effort = [6.0]
    many = np.zeros((300, 1))
    for mass in (0.0, 1.0, 4.0):
        robot.set_payload("cart", mass)
        expected = 6.0 / (2.0 + mass)
        for _ in range(2):
            assert robot.forward_dynamics([0.0], [0.0], [6.0]) == pytest.approx(expected)
        bound()
        assert bound.a == pytest.approx(expected)
        for rows in (many[:3], many):
            found = robot.forward_dynamics(rows, rows, rows + 6.0)
            np.testing.assert_allclose(found, expected, rtol=1e-14)
        if rolls:
            _, v = robot.rollout([0.0], [0.0], np.full((2, 1), 6.0), 0.5)
            assert v[-1] == pytest.approx(expected)
    masses = np.linspace(0.0, 3.0, 300)
    robot.set_payload("cart", masses)
    expected = 6.0 / (2.0 + masses)[:, None]
    for effort in (many + 6.0, np.array([6.0])):
        found = robot.forward_dynamics([0.0], [0.0], effort)
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    if rolls:
        _, v = robot.rollout([0.0], [0.0], np.full((2, 1), 6.0), 0.5, terminal=True)
        np.testing.assert_allclose(v, expected, rtol=1e-14)
    for one in (lambda: robot.bind("mass_matrix"), lambda: mbdyn_ros.simulate(robot, [0], [0], 1)):
        with pytest.raises(InputError, match="is of one robot, but 300 values"):
            one()
    with pytest.raises(InputError, match="different lengths: .*parameters 300"):
        robot.forward_dynamics(many[:7], many[:7], many[:7])
    robot.set_payload("cart", 1.0)
    assert robot.forward_dynamics([0.0], [0.0], [6.0]) == pytest.approx(2.0)


def test_rows_that_another_thread_sets_while_a_batch_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A batch was counted by the old rows and run over the new, fewer ones: beyond their end."""
    robot = mbdyn_ros.load(CART, variable=["cart"])
    masses = np.linspace(0.0, 3.0, 400)
    robot.set_payload("cart", masses)
    kernel = robot.calls.kernel

    def compile_meanwhile(*arguments: Any, **options: Any) -> Any:
        robot.set_payload("cart", np.zeros(1))
        return kernel(*arguments, **options)

    monkeypatch.setattr(robot.calls, "kernel", compile_meanwhile)
    found = robot.forward_dynamics([0.0], [0.0], [6.0])
    np.testing.assert_allclose(found, 6.0 / (2.0 + masses)[:, None], rtol=1e-14)
    with pytest.raises(InputError, match="batch of 5 states needs as many rows .*; got 3"):
        one = np.zeros((5, 1))
        kernel(forward_dynamics).batch([one, one, one], 5, homes=np.zeros((3, 4)))


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
def test_a_batch_has_the_parameters_of_one_moment(compiled: bool) -> None:
    """Other threads set one value, and values a row, all the while."""
    with nullcontext() if compiled else interpreting():
        robot = mbdyn_ros.load(CART, variable=["cart"])
        masses, effort = (0.0, 4.0), np.full((20000 if compiled else 200, 1), 6.0)
        robot.forward_dynamics([0.0], [0.0], effort)
        ended = threading.Event()

        def change() -> None:
            values = [0.0, 4.0, np.zeros(len(effort)), np.full(len(effort), 4.0)]
            for mass in itertools.cycle(values):
                if ended.is_set():
                    return
                robot.set_payload("cart", mass)

        other = threading.Thread(target=change)
        other.start()
        seen = set()
        try:
            for _ in range(300 if compiled else 30):
                (one,) = np.unique(robot.forward_dynamics([0.0], [0.0], effort))
                seen.add(round(6.0 / one - 2.0, 12))
        finally:
            ended.set()
            other.join()
        assert seen <= set(masses)


@pytest.mark.usefixtures("interpreted")
def test_rotors_and_springs_change_in_every_row() -> None:
    robot = mbdyn_ros.load(CART, variable=["armature", "springs"])
    many = np.zeros((5, 1))
    rotors = np.linspace(0.0, 4.0, 5)
    robot.set_armature("rail", rotors)
    np.testing.assert_allclose(robot.mass_matrix(many)[:, 0, 0], 2.0 + rotors)
    robot.set_armature("rail", 2.0)
    robot.set_spring("rail", 16.0, 0.5)
    found = mbdyn_ros.simulate(robot, [0.0], [0.0], 1.0)
    assert found.q[-1, 0] == pytest.approx(0.5 - 0.5 * np.cos(2.0), abs=1e-9)
    empty = CART.replace('mass value="2"', 'mass value="0"')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = mbdyn_ros.load(empty, variable=["armature"])
    with pytest.raises(SingularMassMatrixError):
        robot.forward_dynamics([0.0], [0.0], [6.0])
    robot.set_armature("rail", 3.0)
    assert robot.forward_dynamics([0.0], [0.0], [6.0]) == pytest.approx(2.0)


@pytest.mark.sparse
@pytest.mark.parametrize("method", ["rk4", "semi_implicit"])
def test_steps_under_way_take_what_is_set(method: str) -> None:
    """Friction, a rotor and a spring that are set in mid-motion are those of the next step."""
    robot = mbdyn_ros.load(CART, variable=["friction", "armature", "springs"])
    motion = mbdyn_ros.Stepper(robot, 1e-3, method=method)
    motion.set_state([0.0], [1.0])
    motion.advance()
    assert motion.v[0] == pytest.approx(1.0, abs=1e-15)
    for armature, stiffness, damping, dry in ((3.0, 0.0, 0.5, 2.0), (0.0, 20.0, 0.0, 0.0)):
        robot.set_armature("rail", armature)
        robot.set_spring("rail", stiffness, 0.1)
        robot.set_friction("rail", damping, dry)
        q, v = motion.q[0], motion.v[0]
        motion.advance()
        slowed = (damping * v + dry + stiffness * (q - 0.1)) / (2.0 + armature)
        assert (v - motion.v[0]) / 1e-3 == pytest.approx(slowed, rel=1e-2)


@pytest.mark.long
def test_steps_under_way_follow_what_becomes_variable() -> None:
    """In loops too, whose motions have a home of their own, and among walls."""
    for name in ("spatial spherical", ""):
        robot = draw(name, 1).load() if name else mbdyn_ros.load(CART)
        link = robot.moving_links[-1]
        motion = mbdyn_ros.Stepper(robot, 1e-4)
        motion.advance()
        with pytest.warns(CompilerWarning, match="was folded"):
            robot.set_payload(link, 50.0, (0.3, 0.2, 0.1))
        q, v = motion.q.copy(), motion.v.copy()
        motion.effort[:] = 5.0
        motion.advance()
        rate = robot.forward_dynamics(q, v, motion.effort)
        np.testing.assert_allclose((motion.v - v) / 1e-4, rate, rtol=1e-2, atol=1e-3)
        assert motion.time == pytest.approx(2e-4)


@pytest.mark.long
def test_contacts_go_on_where_a_payload_becomes_variable() -> None:
    """What a block that slides knows of its contacts, its wrenches and its losses stays."""
    block = mbdyn_ros.load(BLOCK, floating_base=True)
    floor = mbdyn_ros.Surface.plane(restitution=0.0, friction=0.5, name="floor")
    motion = mbdyn_ros.Stepper(block, 1e-3, mbdyn_ros.Environment([floor], CORNERS))
    motion.set_state([0, 0, 0.1, 0, 0, 0, 1], [1.0, 0, 0, 0, 0, 0])
    motion.wrenches = {"block": [0, 0, -3.0, 0, 0, 0]}
    motion.advance(50)
    lost, speed = motion.lost, motion.v[0]
    with pytest.warns(CompilerWarning, match="was folded"):
        block.set_payload("block", 2.0)
    motion.advance(10)
    weight = 5 * 9.81 + 3.0
    np.testing.assert_allclose(
        sum(one.force for one in motion.contacts), [-0.5 * weight, 0, weight], rtol=1e-6, atol=1e-6
    )
    assert motion.v[0] == pytest.approx(speed - 0.5 * weight / 5 * 0.01, rel=1e-6)
    assert motion.time == pytest.approx(0.06) and motion.lost > lost > 0


def test_nothing_is_compiled_while_a_payload_changes(fresh_cache: Path) -> None:
    robot = mbdyn_ros.load(CART, variable=["cart"])
    robot.mass_matrix([0.0])
    compiled = sorted(fresh_cache.iterdir())
    for k in range(1000 if is_night() else 100):
        robot.set_payload("cart", 0.001 * k)
        assert robot.mass_matrix([0.0])[0, 0] == pytest.approx(2.0 + 0.001 * k)
    assert compiled and sorted(fresh_cache.iterdir()) == compiled


@pytest.mark.usefixtures("interpreted")
def test_what_was_folded_becomes_variable_with_a_notice() -> None:
    """Once, and calls that are bound follow."""
    robot = arm()
    bound, q = robot.bind("mass_matrix"), np.array([0.2, 0.7])
    bound.q = q
    with pytest.warns(CompilerWarning, match="'tool' was folded .* variable="):
        robot.set_payload("tool", 1.0, COM)
    bound()
    assert_close(bound.matrix, robot.mass_matrix(q), "bound matrix", 1e-14)
    assert np.abs(bound.matrix - arm().mass_matrix(q)).max() > 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.set_payload("tool", 0.0)
    bound()
    assert_close(bound.matrix, arm().mass_matrix(q), "without payload", 1e-14)


@pytest.mark.long
@pytest.mark.usefixtures("interpreted")
def test_loops_and_simulations_carry_payloads() -> None:
    """The power that motion asks for is the rate of its energy, with a payload in a loop."""
    robot = mbdyn_ros.load(OWN / "boom.urdf", variable=["load"])
    q = robot.home_position
    light = robot.inverse_dynamics(q, [0.0], [0.0])
    robot.set_payload("load", 100.0, (0.2, 0.0, 0.0))
    step, v = 1e-5, np.array([0.1])
    energies = [sum(robot.energy(robot.integrate(q, s * step * v), v)) for s in (1, -1)]
    rate = (energies[0] - energies[1]) / (2 * step)
    effort = robot.inverse_dynamics(q, v, [0.0], friction=False)
    assert effort @ v == pytest.approx(rate, rel=1e-7)
    assert abs(robot.inverse_dynamics(q, [0.0], [0.0])[0]) > 1.2 * abs(light[0])
    trajectory = mbdyn_ros.simulate(robot, q, [0.0], 0.01, effort=effort)
    accelerated = robot.forward_dynamics(q, [0.0], effort)
    assert trajectory.a[0] == pytest.approx(accelerated)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["spatial spherical", "spatial floating"])
def test_compiled_loops_without_closed_form_take_them_too(kind: str) -> None:
    """Positions of loops come before the parameters, in single calls, vectors and rollouts."""
    link = draw(kind, 1).load().moving_links[-1]
    robot = draw(kind, 1).load(variable=[link, "gravity"])
    assert robot.system.nz
    robot.set_gravity((1.0, -2.0, -5.0))
    masses, count = np.linspace(0.5, 3.0, 300), 300
    random = np.random.default_rng(0)
    q = np.tile(robot.home_position, (count, 1))
    v, effort = random.normal(size=(2, count, robot.nv))
    state = q, v, effort
    robot.set_payload(link, masses, COM)
    whole = robot.forward_dynamics(*state, friction=False)
    start = *state[:2], effort[:, None, :], 1e-4, "semi_implicit"
    _, after = robot.rollout(*start, friction=False)
    np.testing.assert_allclose((after[:, 0] - v) / 1e-4, whole, rtol=1e-8, atol=1e-8)
    robot.set_payload(link, masses[0], COM)
    bound = robot.bind("forward_dynamics", friction=False)
    for k in (0, 7, 299):
        robot.set_payload(link, masses[k], COM)
        bound.q, bound.v, bound.effort = (x[k] for x in state)
        bound()
        assert_close(bound.a, whole[k], "bound", 1e-12)
        folded = Program(forward_dynamics, robot.system, friction=False)
        expected = interpret(folded).batch([x[k : k + 1] for x in state], 1)
        assert_close(bound.a, expected[0], "folded", 1e-10)


@pytest.mark.usefixtures("interpreted")
def test_parameters_as_symbols_and_derivatives() -> None:
    robot = arm(variable=["tool", "gravity", "armature", "springs"])
    robot.set_payload("tool", 2.0, COM, MOMENTS)
    robot.set_armature("elbow", 0.2)
    robot.set_spring("elbow", 5.0, 0.3)
    labels, values = robot.parameter_labels(), robot.parameter_values()
    assert labels[:4] == ("tool/m", "tool/mcx", "tool/mcy", "tool/mcz") and len(labels) == 19
    assert labels[14:] == (
        "elbow/armature",
        *(
            f"{joint}/spring_{number}"
            for joint in ("shoulder", "elbow")
            for number in ("stiffness", "reference")
        ),
    )
    q, v, a = np.random.default_rng(4).normal(size=(3, 2))
    function = robot.casadi("inverse_dynamics", parameters=True)
    effort = robot.inverse_dynamics(q, v, a)
    assert_close(np.array(function(q, v, a, values)).ravel(), effort, "CasADi's", 1e-13)
    by_parameters = robot.inverse_dynamics_by_parameters(q, v, a)
    symbols = [ca.SX.sym(name, size) for name, size in (("q", 2), ("v", 2), ("a", 2), ("p", 19))]
    slope = ca.Function("slope", symbols, [ca.jacobian(function(*symbols), symbols[3])])
    assert_close(by_parameters, np.array(slope(q, v, a, values)), "derivatives", 1e-13)
    step = 1e-6
    for k in (0, 3, 4, 12, 14, 17, 18):
        moved = np.array([values, values])
        moved[:, k] += [step, -step]
        held = robot.casadi("forward_dynamics", parameters=True)
        ahead, behind = (np.array(held(q, v, effort, one)).ravel() for one in moved)
        found = robot.forward_dynamics_by_parameters(q, v, effort)[:, k]
        assert_close(found, (ahead - behind) / (2 * step), labels[k], 1e-7)
    bound = robot.bind("inverse_dynamics_by_parameters")
    bound.q, bound.v, bound.a = q, v, a
    bound()
    assert_close(bound.result, by_parameters, "bound", 1e-13)
    symbolic = robot.casadi("forward_dynamics_by_parameters")
    expected = robot.forward_dynamics_by_parameters(q, v, effort)
    assert_close(np.array(symbolic(q, v, effort, values)), expected, "CasADi's derivatives", 1e-12)
    gravity = arm().casadi("inverse_dynamics_by_parameters", parameters=["gravity"])
    assert np.array(gravity(q, v, a, [0, 0, -9.81])).shape == (2, 3)
    whole = arm().casadi("mass_matrix", parameters=["upper"])
    assert whole.size1_in("parameters") == 10
    assert arm().casadi("mass_matrix", parameters=True).numel_in(1) == 3 * 10 + 3 + 5 * 2


def test_parameters_as_arguments_of_c(tmp_path: Path) -> None:
    """The exported test program, which has a payload, agrees with its own numbers."""
    robot = arm()
    found = robot.generate_c(tmp_path, parameters=["tool", "gravity"])
    header = (tmp_path / "arm.h").read_text()
    assert "const double parameters[13]" in header and "tool/mcx" in header
    assert "gravity among the parameters" in header
    assert "arm_jacobian_tool(const double q[2], double jacobian[12])" in header
    assert "Jacobian (6 x 2) of the origin of link tool" in header
    sources = [str(path) for path in found.files if path.suffix == ".c"]
    program = tmp_path / "test"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["cc", *flags, *sources, "-o", program, "-lm"], check=True)
    assert "WRONG" not in subprocess.run([program], check=True, stdout=-1, text=True).stdout


BAD = [
    (("lower", -1.0), {}, "less than 0"),
    (("lower", np.nan), {}, "must be finite"),
    (("lower", 1.0, (0, 0)), {}, r"com .* has shape \(2,\)"),
    (("lower", 1.0), {"inertia": np.diag([1.0, 1.0, 3.0])}, "larger than the other two together"),
    (("lower", 1.0), {"inertia": np.diag([1.0, -1.0, 1.0])}, "negative principal moment"),
    (("lower", 1.0), {"inertia": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}, "not symmetric"),
    (("lower", 0.0), {"inertia": np.eye(3)}, "moments of inertia, but no mass"),
    (("hand", 1.0), {}, "there is no link 'hand'; the links are"),
    (("world", 1.0), {}, "fixed to the world"),
    ((["lower"], 1.0), {}, "there is no link"),
    (("lower", [1.0, 2.0], np.zeros((3, 3))), {}, "different numbers of rows: 2, 3"),
]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("arguments", "options", "words"), BAD)
def test_what_no_body_has_is_said_and_changes_nothing(
    arguments: tuple[object, ...], options: dict[str, object], words: str
) -> None:
    robot = arm(variable=["lower"])
    robot.set_payload("lower", 1.0)
    before = robot.parameter_values()
    with pytest.raises(InputError, match=words):
        robot.set_payload(*arguments, **options)
    np.testing.assert_array_equal(robot.parameter_values(), before)


@pytest.mark.usefixtures("interpreted")
def test_other_wrong_numbers_are_said() -> None:
    robot = arm(variable=["lower", "upper", "gravity"])
    with pytest.raises(InputError, match="gravity has shape"):
        robot.set_gravity([0.0, 0.0])
    with pytest.raises(InputError, match="no movable joint 'wrist'"):
        robot.set_friction("wrist", 1.0)
    with pytest.raises(InputError, match="must not be negative"):
        robot.set_friction("elbow", -1.0)
    with pytest.raises(InputError, match="armature of elbow must not be negative"):
        robot.set_armature("elbow", -1.0)
    with pytest.raises(InputError, match="no joint of angles or lengths 'elbo'"):
        robot.set_spring("elbo", 1.0)
    robot.set_payload("lower", [1.0, 2.0])
    with pytest.raises(InputError, match="2 and 3 rows"):
        robot.set_payload("upper", [1.0, 2.0, 3.0])
    assert robot.parameter_values().shape == (2, 23)
    with pytest.raises(InputError, match="there is no link 'tol'"):
        arm(variable=["tol"])
    with pytest.raises(InputError, match="nothing is variable"):
        arm().inverse_dynamics_by_parameters([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(InputError, match="nothing is variable"):
        arm().bind("forward_dynamics_by_parameters")


@pytest.mark.usefixtures("interpreted")
def test_a_link_that_loses_its_mass_is_named() -> None:
    robot = arm(variable=["lower"])
    rest = np.zeros(2)
    robot.forward_dynamics(rest, rest, rest)
    robot.set_inertia("lower", 0.0, (0, 0, 0), np.zeros((3, 3)))
    with pytest.raises(SingularMassMatrixError, match="'lower'"):
        robot.forward_dynamics(rest, rest, rest)
    robot.set_payload("lower", 1.0, (0.1, 0, 0), 0.01 * np.eye(3))
    assert np.isfinite(robot.forward_dynamics(rest, rest, rest)).all()


def test_all_numbers_at_once() -> None:
    """What set_inertia, set_gravity and the others set one by one; faults leave all."""
    names = ["forearm_link", "tool0", "gravity", "friction", "armature", "springs", "elbow_joint/z"]
    one, other = (mbdyn_ros.example("ur5", variable=names) for _ in range(2))
    one.set_payload("tool0", 2.0, com=(0.0, 0.0, 0.1))
    other.set_payload("tool0", 2.0, com=(0.0, 0.0, 0.1))
    one.set_inertia("forearm_link", 2.5, (0.0, 0.0, 0.2), 0.04 * np.eye(3))
    one.set_gravity((0.0, 0.0, -1.62))
    one.set_friction("elbow_joint", 3.0, 0.5)
    one.set_armature("elbow_joint", 0.03)
    one.set_spring("elbow_joint", 40.0, 0.1)
    one.set_origin("elbow_joint", [0.0, -0.1197, 0.45])
    other.set_parameter_values(one.parameter_values())
    assert np.array_equal(one.parameter_values(), other.parameter_values())
    q, v, a = np.random.default_rng(0).normal(size=(3, 6))
    wanted = one.inverse_dynamics(q, v, a)
    assert np.array_equal(other.inverse_dynamics(q, v, a), wanted)
    assert other.gravity == pytest.approx([0.0, 0.0, -1.62])
    rows = np.stack([one.parameter_values(), mbdyn_ros.example("ur5").parameter_values(names)])
    other.set_parameter_values(rows)
    assert other.inverse_dynamics(q, v, a)[0] == pytest.approx(wanted, rel=1e-13)
    other.set_parameter_values(rows[0])
    labels = one.parameter_labels()
    for name, value, words in (
        ("forearm_link/m", -1.0, "no body has less"),
        ("elbow_joint/damping", -1.0, "must not be negative"),
        ("gravity/z", np.nan, "gravity/z is nan"),
    ):
        bad = rows[0].copy()
        bad[labels.index(name)] = value
        with pytest.raises(InputError, match=words):
            other.set_parameter_values(bad)
    with pytest.raises(InputError, match="shape"):
        other.set_parameter_values(rows[0][:-1])
    assert np.array_equal(other.inverse_dynamics(q, v, a), wanted)
