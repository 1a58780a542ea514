"""Independent joints where nobody names them: chosen well, by what is driven, and said."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from four_bars import HOME, four_bar, joint, links, load, pin
from own_robots import OWN
from slider_cranks import SLIDER

import mbdyn_ros
from mbdyn_ros import ModelError, ModelWarning
from mbdyn_ros.assembly.rank import allowed_motions, choose_independent
from mbdyn_ros.model import read_urdf

pytestmark = pytest.mark.usefixtures("interpreted")

DRIVES = {
    "ros2_control": '<ros2_control name="c" type="system"><joint name="{}">'
    '<command_interface name="effort"/></joint>'
    '<joint name="j1"><state_interface name="position"/></joint></ros2_control>',
    "transmission": '<transmission name="t"><joint name="{}"/><actuator name="m"/></transmission>',
}


def foot(*names: str) -> str:
    """A foot that slides on the ground and turns on it; its last joint is the turn itself."""
    first, second, ankle, last = names
    return (
        '<robot name="foot">'
        + links("ground", "a", "b", "c", "sole")
        + joint(first, "ground", "a", axis="0 1 0")
        + joint(second, "a", "b", 0.4, axis="0 1 0")
        + joint(ankle, "b", "c", 0.4, axis="0 1 0")
        + joint(last, "c", "sole", axis="1 0 0")
        + '<loop name="floor" type="planar"><axis xyz="1 0 0"/>'
        '<predecessor link="sole"/><successor link="ground"><origin xyz="0.5 0 0"/></successor>'
        "</loop></robot>"
    )


def test_a_joint_that_no_constraint_sees_is_independent() -> None:
    """The column of the last joint is zero up to rounding; it must not be taken as dependent."""
    robot = mbdyn_ros.load(foot("j1", "j2", "ankle", "turn"), home={"j1": 0.6})
    assert robot.independent_joints == ("j1", "turn")


@pytest.mark.parametrize("drive", list(DRIVES.values()), ids=list(DRIVES))
def test_what_has_a_drive_is_independent(drive: str) -> None:
    text = four_bar().replace("</robot>", drive.format("j4") + "</robot>")
    assert read_urdf(text).driven == ("j4",)
    robot = load(text=text)
    assert robot.independent_joints == robot.actuated_joints == ("j4",)
    assert robot.report().independent_by == "driven"
    assert load(pin() + "actuated: [j2]\n", text=text).actuated_joints == ("j2",)
    named = load(pin() + "independent: [j1]\n", text=text)
    assert named.independent_joints == named.actuated_joints == ("j1",)


def test_more_drives_than_freedoms_all_act() -> None:
    drives = "".join(DRIVES["transmission"].format(name) for name in ("j1", "j4", "nobody"))
    robot = load(text=four_bar().replace("</robot>", drives + "</robot>"))
    assert (robot.independent_joints, robot.actuated_joints) == (("j1",), ("j1", "j4"))
    effort, plain = (one.inverse_dynamics([1.0], [0.3], [0.2]) for one in (robot, load()))
    rates = robot.joint_state([1.0], [1.0])[1][[0, 2]]
    assert rates @ effort == pytest.approx(plain[0], rel=1e-12)  # the same work


def test_an_effort_limit_is_the_sign_of_a_motor() -> None:
    limit = '<limit effort="{}" velocity="1"/>'
    old = '<joint name="j4" type="continuous">'
    strong, idle = (four_bar().replace(old, old + limit.format(x)) for x in (20, 0))
    assert load(text=strong).independent_joints == ("j4",)
    with pytest.warns(ModelWarning, match="effort"):
        assert load(text=idle).independent_joints == ("j1",)


def test_pivots_are_large_at_every_configuration() -> None:
    rows = np.array([[1.0, -1e-5, 1.0], [1.0, 0.5, 0.5]])  # joint 0 cannot move in the first
    motions = [allowed_motions(row[None], 1) for row in rows]
    assert choose_independent(motions[:1], [[0, 1, 2]]) == [0, 1]
    assert sorted(choose_independent(motions[1:], [[2, 0]])) == [0, 2]
    stuck = [np.array([[0.0], [0.6], [0.8]]), np.array([[0.6], [0.0], [0.8]])]
    assert choose_independent(stuck, [[0], [1]]) == [2]
    assert choose_independent([np.eye(3)[:, :1], stuck[0]], []) == [0]  # home decides at last




def test_a_dead_point_is_said_to_be_at_home() -> None:
    assert mbdyn_ros.load(SLIDER).independent_joints == ("turn",)
    with pytest.raises(ModelError) as caught:
        mbdyn_ros.load(SLIDER, "{independent: [stroke]}")
    message = str(caught.value)
    assert "(stroke) do not determine the others at home" in message
    assert "such as turn" in message and "give a home away from there" in message
    with pytest.raises(ModelError, match=r"do not determine the others\. .* Next: choose 1 of"):
        mbdyn_ros.load(SLIDER, "{independent: [turn, knee]}")


def warned(robot: mbdyn_ros.Robot) -> list[str]:
    """What two calls warn of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot.mass_matrix([1.0])
        for _ in range(2):
            robot.inverse_dynamics([1.0], [0.0], [0.0])
            robot.forward_dynamics([1.0], [0.0], [0.0])
    return [str(one.message) for one in caught]


def test_a_loop_that_has_a_true_mark_needs_no_false_ones() -> None:
    """As the warning of a robot without marks proposes it: "true" at the cylinders alone."""
    text = (OWN / "excavator.urdf").read_text()
    marked = mbdyn_ros.load(text.replace(' independent="false"', ""))
    assert marked.independent_joints == mbdyn_ros.example("excavator").independent_joints


def test_dynamics_on_a_choice_of_ours_say_so_once() -> None:
    (text,) = warned(load())
    assert text.startswith("<text>: nothing says which joints of its loops are independent")
    assert "Chosen here: j1; q, v and a count them, and efforts act at them" in text
    line = text[text.index("independent: [") :].split("]")[0] + "]\n"
    assert load(pin() + line, home=HOME).independent_joints == ("j1",)  # it can be copied
    assert warned(load(pin() + line)) == warned(load(pin() + "actuated: [j1]\n")) == []
    arm = links("a", "b") + joint("j", "a", "b")
    robot = mbdyn_ros.load(f"<robot name='arm'>{arm}</robot>")
    assert warned(robot) == []


def test_the_rotor_of_a_transmission_is_reflected() -> None:
    text = """<robot name="geared"><link name="w"/><link name="a"/>
      <joint name="j" type="continuous">
      <axis/><parent link="w"/><child link="a"/></joint><transmission name="t"><joint name="j"/>
      <actuator name="m"><mechanicalReduction>50</mechanicalReduction>
      <motorInertia>1e-4</motorInertia></actuator></transmission></robot>"""
    model = read_urdf(text)
    assert not model.warnings and model.joint("j").armature == pytest.approx(0.25, rel=1e-15)
    plain = read_urdf(text.replace("<motorInertia>1e-4</motorInertia>", ""))
    assert not plain.warnings and plain.joint("j").armature == 0.0
