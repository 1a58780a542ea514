"""The laws of control are one set: `Controller` and the exported library give one number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cpp_tools import command, compiled, library_of, needs_cxx, robot_of
from night import at_night

import mbdyn_ros
from mbdyn_ros.control import MODES, Controller
from mbdyn_ros.export.c_export import Exported
from mbdyn_ros.model.examples import PENDULUM
from mbdyn_ros.robot.c_description import leaves

pytestmark = pytest.mark.usefixtures("interpreted")

ROBOTS = {"ur5": "tool0", "manipulator": "tool", "four_bar": "coupler", "walked mimic": ""}
STATES = 100


@pytest.fixture(scope="module")
def control(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that prints efforts."""
    return compiled("control.cpp", tmp_path_factory.mktemp("control") / "control")


@pytest.fixture(
    scope="module", params=["walked mimic", *at_night("four_bar", "ur5", "manipulator")]
)
def robot(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[mbdyn_ros.Robot, str, Path]:
    """A tree, a crane, a four-bar, loops without closed form; the link to lead; the library."""
    name = request.param
    robot = robot_of(name)
    link = ROBOTS[name] or leaves(robot)[0]
    folder = tmp_path_factory.mktemp(name.replace(" ", "_"))
    written: Exported = robot.generate_cpp(folder, links=[], control_link=link)
    return robot, link, library_of(written)


@needs_cxx
@pytest.mark.sparse(of=6)
@pytest.mark.parametrize("mode", MODES)
def test_both_give_one_number(
    mode: str, robot: tuple[mbdyn_ros.Robot, str, Path], control: Path
) -> None:
    """At 100 random states, in every mode, loops and friction included."""
    machine, link, library = robot
    law, random, n = Controller(machine, link), np.random.default_rng(3), machine.nv
    gains = {name: random.uniform(0.5, 50, 6 if "link" in name else n) for name in law._gains}
    law.set_gains(**gains)
    law.enforced = False
    numbers = [gains[name] for one in MODES.values() for name in one.gains]
    given, expected = [np.concatenate(numbers)], []
    for _ in range(STATES):
        law.rest()
        law.q[:] = machine.home_position + random.uniform(-0.05, 0.05, n)
        law.v[:] = random.normal(size=n)
        law.switch(mode)
        law.rest()
        for one in (law.wanted_v, law.wanted_a, law.twist, law.twist_rate):
            one[:] = random.normal(size=len(one))
        law.wanted_q += random.uniform(-0.2, 0.2, n)
        law.posture += random.uniform(-0.2, 0.2, n)
        law.place += random.uniform(-0.1, 0.1, 3)
        law.turn += random.uniform(-0.1, 0.1, 4)
        law.turn /= np.linalg.norm(law.turn)
        given += [law.q, law.v, law.wanted_q, law.wanted_v, law.wanted_a, law.place, law.turn,
                  law.twist, law.twist_rate, law.posture, law.external]  # fmt: skip
        given[-11:] = [one.copy() for one in given[-11:]]
        expected.append(law.cycle(0.0).copy())
    said = command(control, library, mode, given=np.concatenate(given).tobytes())
    found = np.frombuffer(said).reshape(STATES, -1)
    scale = np.abs(expected).max()
    # One freedom leaves five of six directions of the link to the softening of its inertia, 1e-6,
    # which magnifies the last digits of a searched loop.
    softened = mode == "cartesian_impedance" and bool(machine.numerical_joints)
    np.testing.assert_allclose(found, expected, rtol=0, atol=(1e-9 if softened else 1e-12) * scale)
    assert np.abs(np.diff(found, axis=0)).max() > 0


@needs_cxx
def test_both_give_way_alike(robot: tuple[mbdyn_ros.Robot, str, Path], control: Path) -> None:
    """Cycle after cycle, as external efforts come and go, up to the joints' limits."""
    machine, link, library = robot
    law, random, n = Controller(machine, link), np.random.default_rng(5), machine.nv
    gains = {name: random.uniform(0.5, 5, 6 if "link" in name else n) for name in law._gains}
    gains["admittance_inertia"][0] *= n == 1  # the first of several joints stays
    law.set_gains(**gains)
    law.enforced = False
    law.q[:] = machine.home_position
    law.switch("admittance")
    given = [np.concatenate([gains[name] for one in MODES.values() for name in one.gains])]
    expected, farthest = [], 0.0
    for k in range(STATES):
        law.external[:] = 400 * np.sin(0.06 * k + np.arange(n))
        law.wanted_v[:] = random.normal(size=n)
        pose = [np.zeros(3), np.array([0, 0, 0, 1.0]), np.zeros(6), np.zeros(6), np.zeros(n)]
        given += [one.copy() for one in (law.q, law.v, law.wanted_q, law.wanted_v, law.wanted_a,
                                         *pose, law.external)]  # fmt: skip
        expected.append(law.cycle(1e-3 * k).copy())
        farthest = max(farthest, np.abs(law.admittance.y).max())
    said = command(control, library, "admittance", "cycles", given=np.concatenate(given).tobytes())
    found = np.frombuffer(said).reshape(STATES, -1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    assert farthest > 0.01


@pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning")
def test_modes_that_a_robot_does_not_have(tmp_path: Path) -> None:
    """Without a link to lead there is no Cartesian impedance; a flying robot has no law at all."""
    robot = mbdyn_ros.load(PENDULUM)
    text = {}
    for name, link in (("without", ""), ("led", leaves(robot)[0])):
        written = robot.generate_cpp(tmp_path / name, links=[], control_link=link)
        text[name] = written.files[2].read_text()
    assert "cartesian_impedance" in text["led"] and "cartesian_impedance" not in text["without"]
    assert "virtual_decomposition" in text["without"]
    with pytest.raises(mbdyn_ros.InputError, match="no link 'nothing'"):
        robot.generate_cpp(tmp_path / "none", control_link="nothing")
    with pytest.raises(mbdyn_ros.InputError, match="fixed to the world"):
        robot.generate_cpp(tmp_path / "none", control_link=robot.model.root)
    flying = mbdyn_ros.load(PENDULUM, floating_base=True)
    with pytest.raises(mbdyn_ros.InputError, match="no law of control for link 'rod'"):
        flying.generate_cpp(tmp_path / "none", control_link="rod")
    assert "mbdyn_ros_mode modes" not in (
        flying.generate_cpp(tmp_path / "flying", links=[]).files[2].read_text()
    )
