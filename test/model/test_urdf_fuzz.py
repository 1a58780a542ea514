"""Whatever the text, `read_urdf` returns a model or raises `ModelError`; order means nothing."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from random_robots import explore

from mbdyn_ros.model import Model, ModelError, read_urdf

VALID = """<?xml version="1.0" encoding="utf-8"?>
<!-- all there is -->
<robot name="r" version="1.1">
  <link name="base"/>
  <link name="boom"><inertial><origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><mass value="2.5"/>
    <inertia ixx="0.3" ixy="0.01" ixz="-0.02" iyy="0.4" iyz="0" izz="0.5"/></inertial></link>
  <link name="stick"><inertial><mass value="0"/><inertia ixx="0" iyy="0" izz="0"/></inertial></link>
  <link name="bucket"/> <link name="plate"/> <link name="drone"/>
  <joint name="swing" type="revolute"><parent link="base"/><child link="boom"/>
    <origin xyz="1 2 3" rpy="0 1.5708 0"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-1" upper="1" velocity="2" effort="100"/>
    <dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="dig" type="prismatic"><parent link="boom"/><child link="stick"/>
    <axis xyz="1 0 0"/><mimic joint="swing" multiplier="-2" offset="0.5"/></joint>
  <joint name="curl" type="fixed"><parent link="stick"/><child link="bucket"/>
    <origin quat_xyzw="0 0 1 1"/></joint>
  <joint name="slide" type="planar"><parent link="base"/><child link="plate"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="fly" type="floating"><parent link="base"/><child link="drone"/></joint>
</robot>
"""


def read_or_refuse(source: str | Path) -> Model | None:
    """The model, or None where it is refused; anything else raised is a defect."""
    try:
        model = read_urdf(source)
    except ModelError as error:
        assert str(error)
        return None
    for joint in model.joints:
        assert np.isfinite(joint.origin.matrix()).all()
        assert abs(np.linalg.norm(joint.axis) - 1) < 1e-14
        assert joint.limits.lower <= joint.limits.upper
        assert joint.limits.velocity > 0 and joint.limits.effort > 0
    for link in model.links:
        if link.inertia is not None:
            assert np.isfinite(link.inertia.moments).all() and link.inertia.mass >= 0
    assert len(model.links) == len(model.joints) + 1
    return model


def test_the_seed_is_valid() -> None:
    model = read_or_refuse(VALID)
    assert model is not None and model.warnings == () and len(model.joints) == 5


@given(st.text())
def test_any_text(text: str) -> None:
    read_or_refuse("<" + text)


@given(st.text(st.characters(exclude_characters="<")))
@example(".")
@example("~")
def test_any_path(path: str) -> None:
    assert read_or_refuse(f"{path}.urdf") is None


PIECES = ["<", ">", '"', "/", "&", " ", "\n", "link", "joint", "<robot>", "</robot>", "<!--", "]]>"]
PIECES += ["<![CDATA[", "<!DOCTYPE x>", "<?x", "&#0;", "&#x10FFFF;", "é", "\ufffe", "\0", "{", "}"]


@explore(60, 300)
@given(st.data())
def test_torn_text(data: st.DataObject) -> None:
    text = VALID
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 30))
        text = text[:start] + data.draw(st.sampled_from(["", *PIECES])) + text[end:]
    if "<" in text:
        read_or_refuse(text)


VALUES = [part for part in VALID.split('"')[1::2] if part != "utf-8"]
NUMBERS = ["nan", "-inf", "1e400", "1e308", "-1e308", "1e-320", "1e99", "-1e99", "0x1p3", "1_0"]
NUMBERS += ["", " ", "-0", "0 0 0", "1e-200 0 0", "1e99 -1e99 1e99", "1e308 1e308 1e308", "${x}"]
NAMES = ["swing", "dig", "base", "boom", "revolute", "fixed", "floating", "link", "../x", "é"]


@explore(100, 500)
@given(st.data())
def test_any_value_anywhere(data: st.DataObject) -> None:
    parts = VALID.split('"')
    for _ in range(data.draw(st.integers(1, 3))):
        place = 2 * data.draw(st.integers(2, len(VALUES))) + 1
        parts[place] = data.draw(
            st.sampled_from(NUMBERS + NAMES + VALUES)
            | st.floats().map(repr)
            | st.text(st.characters(exclude_characters='"<&', exclude_categories=["Cs", "Cc"]))
        )
    read_or_refuse('"'.join(parts))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(),
    st.sampled_from(["utf-8", "utf-16", "utf-32", "utf-7", "idna", "hex", "punycode", "undefined"]),
    st.sampled_from([b"", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"]),
)
def test_any_bytes(tmp_path: Path, data: bytes, encoding: str, mark: bytes) -> None:
    path = tmp_path / "robot.urdf"
    path.write_bytes(mark + f'<?xml version="1.0" encoding="{encoding}"?>'.encode() + data)
    assert read_or_refuse(path) is None


@given(st.randoms(use_true_random=False))
def test_order_of_elements_gives_the_same_tree(shuffler: random.Random) -> None:
    head, *rest = (
        VALID.replace("<link name", "\0<link name")
        .replace("<joint name", "\0<joint name")
        .split("\0")
    )
    rest[-1], tail = rest[-1].split("</robot>")
    shuffler.shuffle(rest)
    expected = read_urdf(VALID)
    model = read_urdf(head + "".join(rest) + "</robot>" + tail)
    assert model.root == expected.root and model.warnings == expected.warnings
    order = [part.split('"')[1] for part in rest]
    assert [joint.name for joint in model.joints] == [
        x for x in order if x in "swing dig curl slide fly"
    ]
    assert {link.name for link in model.links} == {link.name for link in expected.links}
    for joint in expected.joints:
        other = model.joint(joint.name)
        assert (other.type, other.parent, other.child) == (joint.type, joint.parent, joint.child)
        assert np.array_equal(other.origin.matrix(), joint.origin.matrix())
        assert np.array_equal(other.axis, joint.axis)
        assert (other.limits, other.mimic) == (joint.limits, joint.mimic)
