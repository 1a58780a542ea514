"""Gross errors of descriptions are said: home beyond limits, frames far apart, degrees."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

import mbdyn_ros
from mbdyn_ros.assembly.closure_gap import excess
from mbdyn_ros.model import read_urdf
from mbdyn_ros.model.read.side_car import read_mechanism

pytestmark = pytest.mark.usefixtures("interpreted")

URDF = Path(__file__).parents[3] / "urdf"
BOOM = (URDF / "boom.urdf").read_text()


def pin_moved(metres: float) -> str:
    """The boom with its closing pin moved along x."""
    start = BOOM.index("<successor")
    old = BOOM[start : BOOM.index("</successor>")]
    x, rest = old.split('xyz="')[1].split(" ", 1)
    return BOOM.replace(old, old.split('xyz="')[0] + f'xyz="{float(x) + metres!r} {rest}')


def loaded_with(text: str, mechanism: str | None = None) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = mbdyn_ros.load(text, mechanism)
    assert [str(one.message) for one in caught] == list(robot.warnings)
    return list(robot.warnings)


def test_the_descriptions_of_this_project_say_nothing() -> None:
    for path in sorted(URDF.glob("*.urdf")):
        assert not any("home" in text for text in loaded_with(path.read_text())), path


def test_a_home_beyond_a_limit_is_said() -> None:
    (text,) = (
        text for text in loaded_with(BOOM, "home:\n  rod_joint: 0.35\n") if "beyond its" in text
    )
    assert "loop 'rod_pin' is closed at home with joint 'rod_joint' at 0.35 m, 0.11 m" in text
    assert "beyond its limit 0.24: home puts it there. Check the frames" in text


def test_a_loop_that_closes_only_beyond_a_limit_is_refused_with_it() -> None:
    with pytest.raises(mbdyn_ros.ModelError, match=r"It closes only with rod_joint at .* beyond"):
        mbdyn_ros.load(pin_moved(2.0))


@pytest.mark.parametrize("metres", [1.0, -2.0])
def test_frames_far_apart_are_said(metres: float) -> None:
    texts = loaded_with(pin_moved(metres))
    (text,) = (text for text in texts if "apart" in text)
    assert "the frames of loop 'rod_pin' are" in text and "Closing it moved" in text


@pytest.mark.parametrize("metres", [0.05, -0.05, 0.01])
def test_a_pin_beside_its_partner_is_said(metres: float) -> None:
    """Closed within the limits, but not where it was drawn."""
    (text,) = (text for text in loaded_with(pin_moved(metres)) if "apart" in text)
    assert f"the frames of loop 'rod_pin' are {abs(metres):.3g} m apart with every" in text
    assert re.search(r"closing it moved \w+ by -?0\.\d+ (m|rad)\. If the robot is drawn", text)


def test_a_home_that_is_stated_is_meant() -> None:
    """Drawn open, with a home of two digits: nothing is wrong with that."""
    moved = mbdyn_ros.load(pin_moved(0.05)).home
    home = "home: {" + ", ".join(f"{name}: {x:.2f}" for name, x in moved.items()) + "}\n"
    assert not [text for text in loaded_with(pin_moved(0.05), home) if "apart" in text]


def test_a_limit_is_passed_by_the_same_measure_everywhere() -> None:
    assert excess(1.0, -1.0, 1.0) == 0.0 and excess(-3.0, -1.0, 1.0) == -2.0
    assert excess(1.0 + 1e-7, -1.0, 1.0) == 0.0  # a limit of seven digits
    assert excess(1.1e-6, 0.0, 1e-6) == pytest.approx(1e-7)  # a robot of micrometres
    assert excess(5.0, float("-inf"), float("inf")) == 0.0


def test_degrees_are_said_by_file_and_line() -> None:
    start = BOOM.index("<successor")
    end = BOOM.index("</successor>")
    turned = BOOM[start:end].replace("<origin ", '<origin rpy="0 360.0 0" ')
    text = BOOM[:start] + turned + BOOM[end:]
    (warning,) = read_urdf(text).warnings
    line = text[: text.index("360.0")].count("\n") + 1
    assert warning.startswith(f"<text>:{line}: ") and 'rpy="0 360 0" looks like degrees' in warning


def test_degrees_in_a_side_car_file_are_said() -> None:
    text = (
        '<robot name="r"><link name="w"/><link name="a"/><link name="b"/>'
        '<joint name="one" type="continuous"><parent link="w"/><child link="a"/>'
        '<axis xyz="0 0 1"/></joint>'
        '<joint name="two" type="continuous"><parent link="w"/><child link="b"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    side = (
        "loops:\n  - {name: pin, type: cylindrical, axis: [0, 0, 1],\n"
        "     predecessor: {link: a}, successor: {link: b, rpy: [0, 0, 90]}}\n"
    )
    model = read_mechanism(side, read_urdf(text))
    (warning,) = model.warnings
    assert warning.startswith('<text>:3: loop "pin": successor: rpy="0 0 90" looks like degrees')
