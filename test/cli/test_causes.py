"""Messages name the true cause, and commands run on their own defaults."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.model.examples import PENDULUM

pytestmark = pytest.mark.usefixtures("interpreted")

LIGHT = """<robot name="light"><link name="w"/><link name="l"><inertial><mass value="0.1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="prismatic"><parent link="w"/><child link="l"/><axis/><limit effort="1"
  velocity="1" lower="-1" upper="1"/></joint></robot>"""
URDF = Path(__file__).parents[2] / "urdf"


def test_a_mimic_beside_a_loop_is_named() -> None:
    """Not the type of the loop, which is right."""
    text = (URDF / "four_bar.urdf").read_text()
    child = '<child link="coupler"/>'
    assert child in text
    text = text.replace(child, f'{child}<mimic joint="crank_joint" multiplier="0.5"/>')
    with pytest.raises(mbdyn_ros.ModelError, match="<mimic>.*tie the same joints") as refused:
        mbdyn_ros.load(text)
    assert "fixed one" not in str(refused.value) and "coupler" in str(refused.value)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: mbdyn_ros.load(PENDULUM).energy([0], [1e308]), r"velocity of \w+ is 1e\+308"),
        (lambda: mbdyn_ros.load(LIGHT).forward_dynamics([0], [0], [-9e307]), "effort of j is -9e"),
    ],
)
def test_a_number_that_is_too_large_is_named(call: Callable[[], object], words: str) -> None:
    """Not the mass matrix."""
    with pytest.raises(mbdyn_ros.InputError, match=f"{words}.* too large"):
        call()


def test_every_mechanism_falls_without_torque() -> None:
    """The default of --torque is 0, whatever the number of cranks."""
    result = CliRunner().invoke(
        main, ["mechanism", "five_bar", "--fd", "--duration", "0.01", "--json"]
    )
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(main, ["mechanism", "five_bar", "--fd", "--torque", "1"])
    assert result.exit_code == 1 and "give 2 numbers" in result.output


def test_joints_that_gravity_holds_are_named() -> None:
    start = json.dumps([0.0, 0.3, 0.8, -0.5, 0.6, 0.0])
    arguments = ["piezo", str(URDF / "piezo_robot.yaml"), "--position", start, "--duration", "0.1"]
    arguments += ["--rotor-speed", "200"]  # 0.4 N lift no cylinder of 1 N
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0 and "held by gravity" in result.output, result.output
    document = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).stdout)
    assert document["held"]
