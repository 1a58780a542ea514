"""What loops without closed form are to all programs: computed once, and handed to each."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import SX
from interpreting import interpreting
from random_loops import draw
from robot_text import hinge_text

from mbdyn_ros import load
from mbdyn_ros.compiler.block import Lane
from mbdyn_ros.compiler.c_loops import walk_source
from mbdyn_ros.compiler.kernel import Kernel
from mbdyn_ros.compiler.pipeline import QUICK, c_source, terms_source
from mbdyn_ros.equations.joint_forces import loop_terms
from mbdyn_ros.equations.programs import energy, joint_velocity, mass_matrix, motion_rate
from mbdyn_ros.program.program import Program, declared, offered
from mbdyn_ros.program.stages import split_by_time
from mbdyn_ros.robot.calls import Calls
from mbdyn_ros.simulation.charts import with_joints

CHAIN = hinge_text(2, axis="")


def test_what_is_known_early_is_kept_and_nothing_else_is_handed_on() -> None:
    early, late = SX.sym("early", 3), SX.sym("late", 2)
    turn = ca.sin(early[0]) * ca.sqrt(1 + early[1] ** 2)
    pull = late[0] * turn / late[1]
    result = ca.vertcat(turn * late[0] + early[2], late[1] ** 2, turn, 2.5, pull)
    kept, last = split_by_time(early, late, result)
    assert kept.shape == (2, 1)  # the turn, and the third input
    assert not ca.depends_on(kept, late)
    whole = ca.Function("whole", [early, late], [result])
    steps = ca.Function("steps", [early, late], [last(kept, late)])
    numbers = np.random.default_rng(0).uniform(-2, 2, 3), np.array([0.3, -1.7])
    assert np.array_equal(*(np.array(one(*numbers)) for one in (whole, steps)))


def test_what_is_known_early_alone_leaves_nothing_to_be_done() -> None:
    early, late = SX.sym("early", 2), SX.sym("late", 1)
    kept, last = split_by_time(early, late, ca.vertcat(early[0] * early[1], 0))
    assert kept.shape == (1, 1)
    assert np.array_equal(np.array(last(6.0, 0.0)), [[6.0], [0.0]])


@pytest.mark.long
@pytest.mark.parametrize(
    "kind",
    ["spatial spherical", pytest.param("spatial universal", marks=pytest.mark.long),
     pytest.param("spatial floating", marks=pytest.mark.long)],
)  # fmt: skip
def test_programs_say_the_same_of_terms_as_of_positions(kind: str) -> None:
    robot = draw(kind, 1).load()
    system = robot.system
    assert system.nz
    random = np.random.default_rng(0)
    home = np.split(system.closing.home, [system.closing.ny])
    q = random.uniform(-1, 1, robot.nq)
    q[list(system.closing.places)] = home[0]
    for place in system.quaternions:
        q[place : place + 4] /= np.linalg.norm(q[place : place + 4])
    behind = np.concatenate([home[1], np.array(system.closing.terms()(q, home[1], [])).ravel()])
    for declaration in (*map(declared, offered()), motion_rate, loop_terms):
        if system.quaternions and declaration.name == "virtual_decomposition":
            continue  # laws of control refuse joints with quaternions
        lowest = {"body_rate": 0.1}  # the root is taken of it
        if not declaration.differentiated:
            one, other = (Program(declaration, system, given=given) for given in (False, True))
            rest = [
                random.uniform(lowest.get(name, -1), 1, one.sizes[name])
                for name in declaration.inputs[1:]
            ]
            expected, found = one.function(q, home[1], *rest), other.function(q, behind, *rest)
            assert np.array(found) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9), one
            assert other.length <= one.length


def test_other_coordinates_have_the_programs_of_a_simulation_at_once() -> None:
    with interpreting():
        robot = draw("spatial spherical", 1).load()
        q = np.array([robot.home[name] for name in robot.independent_joints])
        robot.energy(q, np.zeros(robot.nv))
        robot.mass_matrix(q)
        other = with_joints(robot, list(robot.independent_joints), robot.system.home)
        assert [other.calls.has(one) for one in (energy, joint_velocity, mass_matrix)] == [
            True, False, False,
        ]  # fmt: skip


def test_single_programs_of_walked_loops_and_their_libraries_compile_quickly() -> None:
    walked, open_chain = draw("spatial spherical", 1).load().system, load(CHAIN).system
    shared = [write(walked.closing) for write in (walk_source, terms_source)]
    single = c_source(Program(joint_velocity, walked, given=True))
    assert all(text.startswith(QUICK) for text in (*shared, single))
    assert QUICK not in c_source(Program(joint_velocity, walked), Lane.VECTOR)
    assert QUICK not in c_source(Program(joint_velocity, open_chain))


def test_programs_of_a_joint_state_are_compiled_together(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, load_all = [], Calls.load

    def listening(self: Calls, *wanted: tuple[object, ...]) -> list[Kernel]:
        asked.append([program.name for (program,) in wanted])  # type: ignore[attr-defined]
        return load_all(self, *wanted)

    monkeypatch.setattr(Calls, "load", listening)
    with interpreting():
        robot, zero = load(CHAIN), np.zeros(1)
        for _ in range(2):
            robot.joint_state(zero, zero, zero)
    assert asked == [["joint_position", "joint_velocity", "joint_acceleration"]]
