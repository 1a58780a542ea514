"""How screw, spherical and universal joints are written, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from joint_judge import JOINTS, LIMITED, PITCH, Both, urdf

import mbdyn_ros
from mbdyn_ros.model import Joint, ModelError, read_urdf
from mbdyn_ros.model.closing_types import closing_type
from mbdyn_ros.model.joints.types import joint_type
from mbdyn_ros.units import effort_unit, position_unit, velocity_unit


def test_units() -> None:
    model = read_urdf(urdf())
    assert [position_unit(model, one) for one in ("lift", "ball/qx", "cardan/first")] == [
        "rad", "", "rad",
    ]  # fmt: skip
    assert velocity_unit(model, "ball/wx") == "rad/s"
    assert effort_unit(model, "lift") == effort_unit(model, "ball/wx") == "N m"


def changed(old: str, new: str) -> str:
    text = urdf()
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (changed('<screw pitch="0.07"/>', ""),
         r'<text>:11: <joint name="lift">: has no pitch; add <screw pitch="..."/> with the way'),
        (changed('<screw pitch="0.07"/>', "<screw/>"), r"has no pitch; add <screw pitch"),
        (changed('<axis xyz="0 1 1"/>', '<axis xyz="0 1 1"/><mimic joint="ball"/>'),
         r'<mimic>: joint "ball" \(line 12\) is spherical; only'),
    ],
)  # fmt: skip
def test_refusals(text: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        mbdyn_ros.load(text)


def test_other_names_of_a_type_are_read() -> None:
    assert read_urdf(changed('type="spherical"', 'type="ball"')).joint("ball").type == "spherical"
    assert closing_type("hinge") is closing_type("pin") is closing_type("revolute")


def test_unknown_kinds_raise() -> None:
    with pytest.raises(ModelError, match=r"joint 'j': type \"gimbal\" is unknown"):
        Joint("j", "gimbal", "a", "b").nv  # noqa: B018
    with pytest.raises(ModelError, match="beyond URDF there are screw, universal, spherical"):
        joint_type("gimbal")
    with pytest.raises(ModelError, match='type "gimbal" is unknown; a loop is closed by one of'):
        closing_type("gimbal")


PLAIN = urdf().replace(f'<screw pitch="{PITCH}"/>', "")
for beyond in ("screw", "spherical", "universal"):
    PLAIN = PLAIN.replace(f'type="{beyond}"', 'type="continuous"')


def test_a_side_car_says_the_same() -> None:
    records = [
        f"{{name: {name}, type: {kind}" + (f", pitch: {PITCH}}}" if kind == "screw" else "}")
        for name, kind, *_ in JOINTS
        if kind not in LIMITED
    ]
    model = mbdyn_ros.model.read_mechanism(f"joints: [\n{','.join(records)}]", read_urdf(PLAIN))
    one, other = (mbdyn_ros.Robot(given) for given in (model, read_urdf(urdf())))
    both = Both(False)
    np.testing.assert_array_equal(
        one.inverse_dynamics(both.q, both.v, both.a), other.inverse_dynamics(both.q, both.v, both.a)
    )


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ("{name: lift, type: screw}", '<text>:1: joint "lift": has no pitch; add pitch: the way'),
        ("{name: lif, type: screw}", '"lif" is not a joint of this robot .did you mean "lift"'),
        ("{name: lift}", 'joint "lift": has no type; the types of URDF are'),
        ("{name: lift, type: fixed}", "cannot hold a joint still"),
        ("{name: lift, type: planar, axis: [0, 0, 0]}", "its axis has no direction"),
    ],
)
def test_refusals_of_side_cars(record: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        mbdyn_ros.model.read_mechanism(f"joints: [{record}]\n", read_urdf(PLAIN))
