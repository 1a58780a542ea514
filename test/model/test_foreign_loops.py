"""Loops, joints and side-car files in the words of other programs, as they are found."""

from __future__ import annotations

import numpy as np
import pytest
import robot_text as robots
from four_bars import joint, links

import mbdyn_ros
from mbdyn_ros import Robot
from mbdyn_ros.model import ModelError, read_urdf

pytestmark = pytest.mark.usefixtures("interpreted")

TURNED, TURN = ('rpy="1.5707963267948966 0 0"', 'rpy="-1.5707963267948966 0 0"')
# a four-bar that is closed with every joint at 0: its rocker is turned in its own axes
BEGIN = (
    '<robot name="linkage">'
    + links("ground", "crank", "coupler", "rocker")
    + joint("j1", "ground", "crank")
    + joint("j2", "crank", "coupler", 0, 0.3)
    + joint("j4", "ground", "rocker", 0.9, axis="0 1 0").replace("<origin ", f"<origin {TURNED} ")
)
# its tip: 0.8 along x and 0.2 along y from the pin of the coupler; seen from the rocker
TIP, OTHER = "0.8 0.2 0", "-0.1 0 -0.5"
ENDS = '<parent link="coupler"/><child link="rocker"/>'
ORIGINS = f'<parent_origin xyz="{TIP}"/><child_origin xyz="{OTHER}"/>'
PLUS = (
    '<loop name="tip" type="{}"><axis xyz="0 0 1"/>'
    f'<predecessor link="coupler"><origin xyz="{TIP}"/></predecessor>'
    f'<successor link="rocker"><origin xyz="{OTHER}" {TURN}/></successor></loop>'
)
WORDS = {
    "of Drake and Isaac Sim": (
        '<loop_joint name="tip" type="revolute"><axis xyz="0 0 1"/>'
        f'<link1 link="coupler" rpy="0 0 0" xyz="{TIP}"/>'
        f'<link2 link="rocker" {TURN} xyz="{OTHER}"/></loop_joint>',
        "revolute",
    ),
    "of Isaac Sim, with its misprint": (
        f'<loop_joint name="tip" type="spherical"><link1 link="coupler" xyz="{TIP}"/>'
        f'<link1 link="rocker" xyz="{OTHER}"/></loop_joint>',
        "spherical",
    ),
    "of a CAD exporter": (
        f'<loop_joint name="tip" type="revolute">{ENDS}{ORIGINS}'
        '<axis xyz="0 0 1" frame="parent"/></loop_joint>',
        "revolute",
    ),
    "as proposed for URDF": (
        f'<constraint name="tip" type="revolute">{ENDS}{ORIGINS}'
        '<parent_axis xyz="0 0 1"/><child_axis xyz="0 1 0"/></constraint>',
        "revolute",
    ),
    "as proposed for URDF, a ball": (
        f'<constraint name="tip" type="ball">{ENDS}{ORIGINS}</constraint>', "spherical",
    ),
    "of Drake": (
        '<drake:ball_constraint><drake:ball_constraint_body_A name="coupler"/>'
        f'<drake:ball_constraint_p_AP value="{TIP}"/>'
        '<drake:ball_constraint_body_B name="rocker"/>'
        f'<drake:ball_constraint_p_BQ value="{OTHER}"/></drake:ball_constraint>',
        "spherical",
    ),
}  # fmt: skip
CLOSURES = """\
# written next to the URDF
closures:
- {link_a: coupler, link_b: rocker, point: [0.8, 0.5, 0.0], axis: [0, 0, 1]}
dependent: [j2, j4]
independent: [j1]
"""


def same(robot: Robot, other: Robot) -> None:
    """Both move alike, and by the same efforts."""
    for q in ([0.0], [0.4]):
        ours = robot.joint_state(q, [1.0], [0.5]), robot.inverse_dynamics(q, [1.0], [0.5])
        theirs = other.joint_state(q, [1.0], [0.5]), other.inverse_dynamics(q, [1.0], [0.5])
        np.testing.assert_allclose(ours[0], theirs[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(ours[1], theirs[1], rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def known() -> dict[str, Robot]:
    return {
        kind: mbdyn_ros.load(f"{BEGIN}{PLUS.format(kind)}</robot>")
        for kind in ("revolute", "spherical")
    }


@pytest.mark.parametrize(("words", "kind"), WORDS.values(), ids=WORDS)
def test_a_loop_in_other_words_is_that_of_urdf_plus(
    words: str, kind: str, known: dict[str, Robot], recwarn: pytest.WarningsRecorder
) -> None:
    robot = mbdyn_ros.load(f"{BEGIN}{words}</robot>")
    assert not recwarn.list
    assert [loop.type for loop in robot.model.loops] == [kind]
    same(robot, known[kind])


def test_hinges_that_were_cut_are_read_from_their_side_car(known: dict[str, Robot]) -> None:
    robot = mbdyn_ros.load(f"{BEGIN}</robot>", CLOSURES)
    assert robot.independent_joints == ("j1",)
    same(robot, known["revolute"])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "link_a: coupler",
            "link_a: copler",
            'its link_a "copler" is not a link',
        ),
        ("link_a: coupler, ", "", 'closure "closure_1" has no link_a; give the link'),
        ("point: [0.8, 0.5, 0.0], ", "", 'closure "closure_1" has no point; give'),
    ],
)
def test_side_cars_that_name_nothing_are_refused(old: str, new: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        mbdyn_ros.load(f"{BEGIN}</robot>", CLOSURES.replace(old, new))


DRAKE = """<robot name="drake"><link name="a"/><link name="b"/><link name="c"/>
<joint name="glide" type="planar"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
  <dynamics damping="{}"/></joint>
<drake:joint name="{name}" type="{type}"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
  {more}<dynamics damping="0.1"/></drake:joint></robot>"""


def test_dampings_of_a_planar_joint_are_those_of_its_coordinates() -> None:
    text = DRAKE.format("0.1 0.2 0.3", name="hang", type="ball", more="")
    joints = {one.name: one for one in read_urdf(text).joints}
    assert [joints[f"glide/{one}"].damping for one in ("x", "y", "theta")] == [0.1, 0.2, 0.3]
    assert joints["hang"].type == "spherical"
    alike = read_urdf(text.replace("0.1 0.2 0.3", "0.2 0.2 0.2")).joint("glide")
    assert (alike.type, alike.damping) == ("planar", 0.2)


def test_different_dampings_are_saved(tmp_path) -> None:  # type: ignore[no-untyped-def]
    text = DRAKE.format("0.1 0.2 0.3", name="hang", type="ball", more="")
    mbdyn_ros.load(text).save_urdf(tmp_path / "robot.urdf")
    again = read_urdf(tmp_path / "robot.urdf")
    assert [one.damping for one in again.joints] == [0.1, 0.2, 0.3, 0.1]


def test_the_pitch_of_a_screw_of_drake_is_metres_per_turn() -> None:
    text = DRAKE.format("0", name="lift", type="screw",
                        more='<drake:screw_thread_pitch value="0.04"/>')  # fmt: skip
    assert read_urdf(text).joint("lift").numbers["pitch"] == 0.04 / (2 * np.pi)


def test_limits_of_several_coordinates_are_warned_of() -> None:
    limit = '<limit lower="-1 -1 -3" upper="1 1 3" velocity="1 1 1" effort="1 2 3"/>'
    text = robots.robot_text(
        robots.link("a"),
        robots.joint("glide", "world", "a", "0 0 1", kind="planar", more=limit),
    )
    (warning,) = read_urdf(text).warnings
    assert "lower, upper, velocity, effort not used: a planar joint has 3 coordinates" in warning


def test_forces_of_drake_are_warned_of() -> None:
    bushing = (
        '<drake:linear_bushing_rpy><drake:bushing_frameA name="f"/></drake:linear_bushing_rpy>'
    )
    (warning,) = read_urdf(robots.hinge_text().replace("</robot>", f"{bushing}</robot>")).warnings
    assert "<linear_bushing_rpy> exerts forces, which are not computed" in warning


def test_a_negative_damping_among_several_is_reported() -> None:
    text = DRAKE.format("0.1 -0.2 0.3", name="hang", type="ball", more="")
    assert any("drives the joint" in one for one in read_urdf(text).warnings)


def test_a_screw_of_drake_is_read_without_a_word() -> None:
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    model = read_urdf(
        f'<robot name="r"><link name="b"/><link name="l">{mass}</inertial></link>'
        '<drake:joint name="j" type="screw"><parent link="b"/><child link="l"/>'
        '<axis xyz="0 0 1"/><drake:screw_thread_pitch value="0.1"/></drake:joint></robot>'
    )
    assert model.warnings == ()
    assert model.joint("j").numbers["pitch"] == pytest.approx(0.1 / (2 * np.pi))
