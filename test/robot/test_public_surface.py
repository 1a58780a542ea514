"""What users meet first: names at the top, what prints in a few lines, what can be pickled."""

import pickle
import re
import subprocess
import sys
import typing
import warnings
from pathlib import Path

import numpy as np
import pytest
from robot_text import hinge_text

import mbdyn_ros
from mbdyn_ros.model.examples import CART
from mbdyn_ros.robot.robot import warn_of_branch

pytestmark = pytest.mark.usefixtures("interpreted")

MODULES = ("control", "identification", "mechanisms", "motion", "piezo", "recording", "simulation")


ATTRIBUTES = """
import os, sys
import casadi, numpy  # once for all
import mbdyn_ros

for module in sys.argv[1:]:
    child = os.fork()
    if not child:
        print(getattr(mbdyn_ros, module).__name__, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_modules_are_attributes_of_the_package():
    """Each asked for in a process that has imported the package alone."""
    command = [sys.executable, "-c", ATTRIBUTES, *MODULES]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.split() == [f"mbdyn_ros.{module}" for module in MODULES]


def test_the_package_lists_what_is_public():
    names = {name for name in dir(mbdyn_ros) if not name.startswith("_")}
    assert names >= {*mbdyn_ros.__all__, *MODULES}
    assert not names & {"Any", "TYPE_CHECKING", "importlib", "ROBOT"}
    assert all(hasattr(mbdyn_ros, name) for name in names)


@pytest.mark.parametrize("name", ["ur5", "UR5", "ur5.urdf", "Piezo"])
def test_a_refusal_of_a_name_of_the_box_says_load(name):
    with pytest.raises(mbdyn_ros.ModelError, match=r"mbdyn_ros.example\('(ur5|piezo_robot)'\)"):
        mbdyn_ros.load(name)


def test_examples_are_found_in_any_case():
    assert mbdyn_ros.example("Four_Bar").model.name == mbdyn_ros.example("four_bar").model.name
    with pytest.raises(mbdyn_ros.InputError, match="a name such as 'ur5'"):
        mbdyn_ros.example(None)


def test_what_is_printed_is_short_and_says_what_it_is():
    robot = mbdyn_ros.load(CART)
    arm = mbdyn_ros.load(
        "joints: [{name: a, type: revolute, a: 1, alpha: 0, d: 0, theta: 0, mass: 1,\n"
        " centre: [0, 0, 0], inertia: {ixx: 1, iyy: 1, izz: 1}}]"
    )
    shown = {
        "Bound": repr(robot.bind("forward_dynamics")),
        "MeasuredJoints": repr(mbdyn_ros.motion.MeasuredJoints(robot, ["rail"])),
        "ClosedForm": repr(arm.closed_form()),
        "Controller": repr(mbdyn_ros.Controller(robot)),
        "Environment": repr(mbdyn_ros.Environment([mbdyn_ros.Surface.plane()])),
        "Element": repr(arm.closed_form().elements[0]),
    }
    for kind, text in shown.items():
        assert text.lstrip("<").startswith(kind) and " at 0x" not in text and len(text) < 300, text
    assert shown["Bound"] == "<Bound forward_dynamics: q (1,), v (1,), effort (1,) -> a (1,)>"


@pytest.mark.parametrize("kind", ["spherical", "floating", "planar", "universal"])
def test_robots_of_every_joint_can_be_pickled(kind):
    robot = mbdyn_ros.load(hinge_text(kind=kind, axis=""))
    again = pickle.loads(pickle.dumps(robot))
    assert np.array_equal(again.mass_matrix(again.neutral()), robot.mass_matrix(robot.neutral()))


def test_a_floating_robot_can_be_pickled():
    robot = mbdyn_ros.load(CART, floating_base=True)
    again = pickle.loads(pickle.dumps(robot))
    assert np.array_equal(again.mass_matrix(again.neutral()), robot.mass_matrix(robot.neutral()))


def test_attributes_of_a_robot_cannot_be_assigned():
    robot = mbdyn_ros.example("four_bar")
    remedies = {
        "gravity": ([0, 0, 0], "set_gravity"),
        "home": ({"crank_joint": 0.3}, "with_home"),
        "floating_base": (True, "floating_base=True"),
        "nq": (3, "locked"),
        "joint_names": ((), "renamed"),
        "independent_joints": ((), "with_independent"),
        "actuated_joints": ((), "side-car"),
        "position_limits": (np.zeros((2, 1)), "with_joint"),
        "total_mass": (1.0, "set_inertia"),
        "q": ([0.0], "Stepper"),
        "model": (None, "load"),
        "warnings": ((), "assignment"),
        "inverse_dynamics": (None, "assignment"),
        "gravty": (0, "did you mean"),
    }
    before = robot.report().to_dict()
    for name, (value, remedy) in remedies.items():
        with pytest.raises(mbdyn_ros.InputError, match=rf"robot\.{name} cannot be set: .*{remedy}"):
            setattr(robot, name, value)
        with pytest.raises(mbdyn_ros.InputError, match="cannot be set"):
            delattr(robot, name)
    for change in (
        lambda home: home.update(crank_joint=1.0),
        lambda home: home.__setitem__("crank_joint", 1.0),
        lambda home: home.__delitem__("crank_joint"),
        lambda home: home.pop("crank_joint"),
        lambda home: home.clear(),
    ):
        with pytest.raises(mbdyn_ros.InputError, match=r"robot\.home cannot be changed.*with_home"):
            change(robot.home)
    assert robot.report().to_dict() == before
    assert pickle.loads(pickle.dumps(robot.home)) == robot.home == {**robot.home}


def test_a_home_by_name_is_that_of_load():
    robot = mbdyn_ros.example("four_bar")
    other, loaded = robot.with_home({"crank_joint": 0.5}), mbdyn_ros.example(
        "four_bar", home={"crank_joint": 0.5}
    )  # fmt: skip
    assert other.home == pytest.approx(loaded.home) and robot.home_position == 0.0
    with pytest.raises(mbdyn_ros.InputError, match="home names 'crank'"):
        robot.with_home({"crank": 0.5})


def test_the_directory_of_a_robot_has_what_users_call():
    names = set(dir(mbdyn_ros.load(CART)))
    assert names >= {"nq", "home", "inverse_dynamics", "set_payload", "report", "numerical_joints"}
    assert not names & {"calls", "require_mass", "require_single", "say_choice", "system"}


@pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning")
def test_loops_closed_on_another_branch_are_reported():
    robot = mbdyn_ros.example("four_bar")
    other = mbdyn_ros.example("four_bar", home={"rocker_joint": 2.5, "coupler_joint": -2.6})
    with pytest.warns(mbdyn_ros.ModelWarning, match="on another branch than home: .*_joint is at"):
        warn_of_branch(robot, other, robot.home)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_branch(robot, robot, {**robot.home, "crank_joint": 2 * np.pi})
        robot.with_independent(["crank_joint"], {"crank_joint": 0.0})  # rough: no branch is named
        robot.with_independent(["crank_joint"], {**robot.home, "crank_joint": 1.0})  # open there
        swapped = robot.with_independent(["rocker_joint"], robot.home)
    assert swapped.home == pytest.approx(robot.home)


@pytest.mark.long
def test_lists_are_taken_by_type(tmp_path):
    """Both pages that newcomers read pass a strict type checker."""
    root = Path(__file__).resolve().parents[2]
    for page in ("README.md", "docs/first_hour.md"):
        blocks = re.findall(r"```python\n(.*?)```", (root / page).read_text(), re.DOTALL)
        text = "\n".join(block for block in blocks if ">>>" not in block)
        (tmp_path / f"{Path(page).stem}.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--allow-untyped-defs",
               "--allow-untyped-calls", "--no-error-summary",
               "--cache-dir", str(tmp_path / "cache"), "--follow-imports=silent",
               "--disable-error-code=import-untyped", *map(str, tmp_path.glob("*.py"))]  # fmt: skip
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout


def test_nothing_public_of_a_robot_is_any():
    for name, kind in typing.get_type_hints(mbdyn_ros.robot.core.Core).items():
        assert kind is not typing.Any, name
