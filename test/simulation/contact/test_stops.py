"""Position limits of descriptions are stops by default, in loops too."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from interpreting import compiling
from robot_text import joint, link, robot_text, slide_text

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.simulation.contact.environment import with_stops

pytestmark = pytest.mark.usefixtures("interpreted")
URDF = Path(__file__).parents[3] / "urdf"
HEIGHT, GRAVITY = 0.5, 9.81


def slide(lower: float = -HEIGHT, upper: float = 1.0) -> mbdyn_ros.Robot:
    return mbdyn_ros.load(slide_text(lower=lower, upper=upper))


def test_a_block_falls_to_its_stop() -> None:
    """At the instant and with the impulse of free fall; then it rests."""
    run = mbdyn_ros.simulate(slide(), [0.0], [0.0], 1.0)
    (impact,) = run.impacts
    assert impact.time == pytest.approx(np.sqrt(2 * HEIGHT / GRAVITY), rel=1e-12)
    assert run.q.min() >= -HEIGHT - 1e-12 and run.q[-1] == pytest.approx(-HEIGHT, abs=1e-12)
    assert run.v[-1] == 0


@pytest.mark.parametrize(
    "off", [{"joint_limits": False}, {"environment": mbdyn_ros.Environment([], joint_limits=False)}]
)
def test_stops_can_be_turned_off(off: dict[str, object]) -> None:
    run = mbdyn_ros.simulate(slide(), [0.0], [0.0], 1.0, **off)
    assert run.q[-1] == pytest.approx(-GRAVITY / 2, rel=1e-9) and not run.impacts


def test_what_starts_beyond_its_limits_is_free() -> None:
    with pytest.warns(mbdyn_ros.SimulationWarning, match="slide at 2, limits -0.5 to 1"):
        run = mbdyn_ros.simulate(slide(), [2.0], [0.0], 1.0)
    assert run.q[-1] == pytest.approx(2 - GRAVITY / 2, rel=1e-9)


def test_steps_keep_the_limits_as_simulate_does() -> None:
    """With walls and without, in rollouts too; of what starts beyond them there are no stops."""
    floor = mbdyn_ros.Environment([mbdyn_ros.Surface.plane((0, 0, -9))], [("block", (0, 0, 0))])
    with compiling():
        robot = slide()
        for walls in (None, floor, mbdyn_ros.Environment([])):
            stepper = mbdyn_ros.Stepper(robot, 1e-3, walls)
            stepper.advance(1000)
            assert stepper.q[0] == pytest.approx(-HEIGHT, abs=1e-9) and abs(stepper.v[0]) < 1e-9
            with pytest.warns(mbdyn_ros.SimulationWarning, match="slide at 2, limits -0.5 to 1"):
                stepper.set_state([2.0], [0.0])
            stepper.advance(1000)
            assert stepper.q[0] == pytest.approx(2 - GRAVITY / 2, rel=1e-9)
            stepper.set_state([0.0], [0.0])
            stepper.advance(1000)
            assert stepper.q[0] == pytest.approx(-HEIGHT, abs=1e-9) and not stepper.contacts[1:]
        starts = np.array([[0.0], [2.0], [0.5], [np.nan]])
        with pytest.warns(mbdyn_ros.SimulationWarning, match="start of motion 3 is not finite"):
            q, _ = robot.rollout(starts, [0.0], np.zeros((1000, 1)), 1e-3, environment=floor)
        efforts = np.zeros((2, 5, 1))
        efforts[1, 3] = np.nan
        with pytest.warns(mbdyn_ros.SimulationWarning, match="efforts of motion 1 are not finite"):
            robot.rollout([0.0], [0.0], efforts, 1e-3, environment=floor)
        expected = [-HEIGHT, 2 - GRAVITY / 2, -HEIGHT, np.nan]
        np.testing.assert_allclose(q[:, -1, 0], expected, atol=1e-9)
        none = mbdyn_ros.Environment([], joint_limits=False)
        stepper = mbdyn_ros.Stepper(robot, 1e-3, none)
        stepper.advance(1000)
        assert stepper.q[0] == pytest.approx(-GRAVITY / 2, rel=1e-9)
        assert np.abs(stepper.force_torque("slide")).max() < 1e-9 and not stepper.contacts


def test_programs_do_not_depend_on_which_stops_act() -> None:
    """A robot whose home is beyond its limits would be compiled once more where it starts."""
    robot, anywhere = slide(), mbdyn_ros.Environment([], joint_limits=True)
    with pytest.warns(mbdyn_ros.SimulationWarning, match="slide at 2, limits -0.5 to 1"):
        beyond = with_stops(robot, np.array([2.0]), mbdyn_ros.Environment([]), room=True)
    assert beyond.joint_limits == () and beyond.report(robot).stops == ()
    assert beyond.geometry(robot) == anywhere.geometry(robot)
    assert beyond.stops(robot) == tuple((name, False) for name, _ in anywhere.stops(robot))


def test_walls_and_stops_go_together() -> None:
    floor = mbdyn_ros.Surface.plane((0, 0, -0.2), restitution=0.0, name="floor", friction=0.0)
    environment = with_stops(slide(), np.zeros(1), mbdyn_ros.Environment([floor]))
    assert environment is not None and environment.joint_limits == ("slide",)
    with pytest.raises(mbdyn_ros.InputError, match="joint_limits must be true, false or names"):
        mbdyn_ros.Environment([], joint_limits="slide")  # type: ignore[arg-type]


@pytest.mark.long
def test_the_crane_keeps_its_limits() -> None:
    """Launched alone, its telescope was 80 m out after 5 s, and the cylinders beyond their ends."""
    robot = mbdyn_ros.load(URDF / "manipulator.urdf")
    start = np.array([robot.home[name] for name in robot.independent_joints])
    run = mbdyn_ros.simulate(robot, start, np.zeros(4), 3.0, rtol=1e-8)
    limits = [robot.model.joint(name).limits for name in robot.independent_joints]
    assert (run.q >= [one.lower - 1e-8 for one in limits]).all()
    assert (run.q <= [one.upper + 1e-8 for one in limits]).all()
    assert run.impacts


def test_a_dependent_joint_has_its_stop_too() -> None:
    """The crank is driven; the slider, which it moves, comes to an end of its way."""
    text = (URDF / "slider_crank.urdf").read_text()
    text = re.sub('lower="-0.09" upper="0.11"', 'lower="-0.03" upper="0.03"', text)
    robot = mbdyn_ros.load(text)
    run = mbdyn_ros.simulate(robot, [robot.home["crank_joint"]], [6.0], 0.3, rtol=1e-8)
    slider = robot.joint_names.index("slider_joint")
    places = robot.joint_state(run.q)[0][:, slider]
    assert np.abs(places).max() <= 0.03 + 1e-7 and run.impacts


def test_the_command_line_has_a_switch(tmp_path: Path) -> None:
    (tmp_path / "slide.urdf").write_text(slide_text(lower=-HEIGHT, upper=1))
    for more, impacts in (([], 1), (["--no-joint-limits"], 0)):
        arguments = ["simulate", str(tmp_path / "slide.urdf"), "--duration", "1", "--json", *more]
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.output
        assert len(json.loads(result.stdout).get("impacts", [])) == impacts


STOPS = '<dynamics friction="3"/><limit lower="-1" upper="0.5" effort="99" velocity="99"/>'
RAIL = robot_text(
    link("cart"), link("bob", at="0 0 -1"),
    joint("rail", "world", "cart", "1 0 0", kind="prismatic", more=STOPS),
    joint("pin", "cart", "bob", "0 1 0"),
)  # fmt: skip


def test_a_joint_rests_on_its_stop_that_its_friction_holds_too() -> None:
    """Two forces hold one joint; it goes on, and the pendulum on it pulls it away again."""
    robot = mbdyn_ros.load(RAIL)
    motion = mbdyn_ros.simulate(robot, [0.2, 1.0], [3.0, 0.5], 1.0, rtol=1e-8)
    assert motion.time[-1] == 1.0
    assert motion.q[:, 0].max() <= 0.5 + 1e-9
    assert len(motion.impacts) == 1 and motion.q[-1, 0] < 0.49
    assert motion.relative_imbalance < 1e-7
