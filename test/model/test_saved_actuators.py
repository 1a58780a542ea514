"""Actuators in a URDF: saved and read again they are the same, and wrong ones are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hydraulics import LIFT, SCREW, SLED
from same_models import difference

import mbdyn_ros
from mbdyn_ros import ModelError
from mbdyn_ros.model import Model, edit, read_mechanism, read_urdf
from mbdyn_ros.model.write.urdf import urdf_text

OWN = Path(__file__).parents[2] / "urdf"


def with_actuators(side_car: str) -> Model:
    return read_mechanism(side_car, read_urdf(SLED))


def hydraulic() -> Model:
    """A cylinder of which nothing is the default but its name for a bandwidth."""
    return with_actuators(LIFT.format(air=0.01, leakage=1e-12, bandwidth=40, relief=2.6e7))


@pytest.mark.usefixtures("interpreted")
def test_a_saved_crane_is_the_crane_with_its_actuators(tmp_path: Path) -> None:
    crane = mbdyn_ros.load(OWN / "manipulator.urdf", mechanism=OWN / "manipulator_actuators.yaml")
    saved = crane.save_urdf(tmp_path / "crane.urdf")
    assert saved.omitted == ()
    other = mbdyn_ros.load(saved.path)
    assert other.model.actuators == crane.model.actuators
    assert len(other.model.actuators) == 4
    assert other.model.driven == crane.model.driven
    assert other.actuated_joints == crane.actuated_joints
    one, two = (
        mbdyn_ros.simulate(
            robot, crane.home_position, np.zeros(4), 0.05, commands=[20.0, 0.3, 0.0, -0.1]
        )
        for robot in (crane, other)
    )
    assert two.actuator_labels == one.actuator_labels
    np.testing.assert_array_equal(two.actuator_states, one.actuator_states)
    np.testing.assert_array_equal(two.q, one.q)
    assert np.abs(one.q[-1] - one.q[0]).max() > 1e-4


@pytest.mark.parametrize("inductance", [0.0, 5e-3])
def test_all_settings_come_back(inductance: float) -> None:
    for model in (hydraulic(), with_actuators(SCREW.format(inductance=inductance))):
        assert model.actuators
        other = read_urdf(urdf_text(model))
        assert difference(model, other) == 0.0
        renamed = edit.renamed(model, joints={"rail": "mast"})
        assert read_urdf(urdf_text(renamed)).actuators[0].joint == "mast"


def test_a_rotor_counts_once_and_a_written_armature_stays() -> None:
    model = with_actuators(SCREW.format(inductance=0))
    reflected = model.joint("rail").armature
    assert reflected > 1.0
    bare = SCREW.format(inductance=0).replace("rotor_inertia: 1.0e-4", "rotor_inertia: 0")
    for armature in (0.0, 3.0, reflected):
        geared = edit.with_joint(model, "rail", armature=armature)
        assert read_urdf(urdf_text(geared)).joint("rail").armature == armature
    assert read_urdf(urdf_text(with_actuators(bare))).joint("rail").armature == 0.0
    unwritten = urdf_text(model).replace(f'armature="{reflected!r}"', "")
    assert read_urdf(unwritten).joint("rail").armature == reflected


def test_other_formats_say_that_they_leave_them_out(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    robot = mbdyn_ros.load(SLED, mechanism=SCREW.format(inductance=0))
    for saved in (robot.save_mjcf(tmp_path / "x.xml"), robot.save_sdf(tmp_path / "x.sdf")):
        assert any(text.startswith("actuators: spindle;") for text in saved.omitted)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('type="hydraulic"', 'type="hydrolic"', 'no actuator "hydrolic" .*"hydraulic"'),
        ('type="hydraulic" ', "", "this actuator has no type; give hydraulic or electric"),
        ('joint="rail" b', 'joint="rial" b', 'actuator "lift": "rial" is not a joint .*"rail"'),
        ('bore="0.08"', 'bore="wide"', '<actuator name="lift">: bore="wide" is not a finite'),
        ('bore="0.08"', 'bore="-1"', 'actuator "lift": its bore is -1; it must be above 0'),
        ('stroke="0.5"', "", 'actuator "lift" has no stroke; add it'),
        ('stroke="0.5"', 'strok="0.5"', 'actuator "lift" has no "strok" .*"stroke"'),
        ('<valve flow', '<valve folw', 'valve of actuator "lift" has no "folw" .*"flow"'),
        ("<valve", '<valve flow="1"/><valve', '<actuator name="lift"> <valve>: .* "valve" twice'),
        ("<valve", '<bore value="1"/><valve', 'an actuator has "bore" twice; keep one'),
        ("<valve", "<leak/><valve", 'actuator "lift" has no "leak"'),
        ("<actuator", '<actuator name="lift" type="electric" joint="rail" valve="1"/><actuator',
         'actuator "lift" has no "valve"'),
        ('bore="0.08"', 'bore="0.08" friction="2"', '"friction" twice'),
        ('name="lift"', 'name=""', "the name of an actuator is empty"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused(old: str, new: str, words: str) -> None:
    text = urdf_text(hydraulic())
    assert old in text, text
    with pytest.raises(ModelError, match=words):
        read_urdf(text.replace(old, new, 1))


def test_numbers_are_attributes_and_records_elements() -> None:
    text = urdf_text(hydraulic())
    number = text.replace('bore="0.08"', "").replace("<valve", "<bore/><valve")
    with pytest.raises(ModelError, match="its bore is an attribute, not an element"):
        read_urdf(number)
    start, end = text.index("<valve"), text.index("/>", text.index("<valve")) + 2
    record = (text[:start] + text[end:]).replace("<actuator ", '<actuator valve="1" ')
    with pytest.raises(ModelError, match='valve of actuator "lift" is an element of its own'):
        read_urdf(record)
