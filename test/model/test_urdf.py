"""What a URDF means: defaults, exactness, and what is said where it was computed anyway."""

from __future__ import annotations

import codecs
import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mbdyn_ros.errors import ModelError
from mbdyn_ros.model import Model, read_urdf
from mbdyn_ros.model.pose import normalized, rotation_from_rpy

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


def one_joint(joint: str = "", kind: str = "revolute", inertial: str = INERTIAL) -> Model:
    """A base, one joint along x unless its children say otherwise, and a body."""
    if "<axis" not in joint and kind != "fixed":
        joint += '<axis xyz="1 0 0"/>'
    return read_urdf(
        f'<robot name="test">\n<link name="base"/>\n<link name="body">{inertial}</link>\n'
        f'<joint name="j" type="{kind}"><parent link="base"/><child link="body"/>{joint}</joint>\n'
        "</robot>"
    )


def test_a_movable_joint_without_an_axis_is_reported() -> None:
    """As in URDF it turns about x, and the robot loads; fixed and spherical joints have no axis."""
    joint = '<joint name="{0}" type="{1}"><parent link="a"/><child link="{0}_link"/></joint>'
    kinds = {"pin": "revolute", "wheel": "continuous", "slide": "prismatic", "bolt": "fixed"}
    text = "".join(joint.format(name, kind) for name, kind in kinds.items())
    links = "".join(f'<link name="{name}_link"/>' for name in kinds)
    model = read_urdf(f'<robot name="r"><link name="a"/>{links}{text}</robot>')
    assert [model.joint(name).axis.tolist() for name in kinds] == [[1, 0, 0]] * 4
    (warning,) = (one for one in model.warnings if "<axis>" in one)
    assert '<joint name="pin">: has no <axis>; x is taken, (1, 0, 0), as by the rules' in warning
    assert '"wheel"' in warning and '"slide"' in warning and '"bolt"' not in warning


def test_what_other_programs_read_is_counted() -> None:
    model = read_urdf(
        '<robot name="r"><link name="a"><sensor name="s"/></link><gazebo/><gazebo/>'
        '<transmission name="t"/></robot>'
    )
    assert model.unused == {"gazebo": 2, "sensor": 1}


# -- defaults and document order ---------------------------------------------------------------


def test_defaults() -> None:
    model = one_joint(inertial="")
    joint = model.joint("j")
    assert np.array_equal(joint.origin.matrix(), np.eye(4))
    assert joint.axis.tolist() == [1, 0, 0]
    assert joint.limits == type(joint.limits)()
    assert (joint.damping, joint.friction, joint.mimic) == (0, 0, None)
    assert model.link("body").inertia is None
    assert (model.name, model.root, model.source, model.warnings) == ("test", "base", "<text>", ())
    assert (joint.line, model.link("base").line) == (4, 2)


def test_missing_parts_of_an_origin_and_an_inertial() -> None:
    joint = one_joint('<origin rpy="0 0 1"/>').joint("j")
    assert joint.origin.translation.tolist() == [0, 0, 0]
    assert joint.origin.rotation[1, 0] == math.sin(1)
    joint = one_joint('<origin xyz="1 2 3"/><axis/>').joint("j")
    assert np.array_equal(joint.origin.rotation, np.eye(3))
    assert joint.origin.translation.tolist() == [1, 2, 3]
    assert joint.axis.tolist() == [1, 0, 0]
    model = one_joint(inertial='<inertial><origin xyz="0 0 1"/><mass value="2"/></inertial>')
    inertia = model.link("body").inertia
    assert inertia is not None and inertia.mass == 2 and not inertia.moments.any()
    assert inertia.center.tolist() == [0, 0, 1]
    assert model.warnings == (
        '<text>:3: <link name="body"> <inertial>: has no <inertia>; taken as a point mass',
    )


def test_joints_and_links_keep_document_order() -> None:
    model = read_urdf(
        '<robot name="r"><joint name="second" type="fixed"><parent link="b"/><child link="c"/>'
        '</joint><link name="c"/><link name="b"/><joint name="first" type="floating">'
        '<parent link="a"/><child link="b"/></joint><link name="a"/></robot>'
    )
    assert [joint.name for joint in model.joints] == ["second", "first"]
    assert [link.name for link in model.links] == ["c", "b", "a"]
    assert model.root == "a"


def test_all_types() -> None:
    freedoms = {
        "fixed": (0, 0),
        "revolute": (1, 1),
        "continuous": (1, 1),
        "prismatic": (1, 1),
        "planar": (3, 3),
        "floating": (7, 6),
    }
    for kind, (nq, nv) in freedoms.items():
        joint = one_joint(kind=kind).joint("j")
        assert (joint.type, joint.nq, joint.nv) == (kind, nq, nv)


def test_a_model_cannot_be_changed() -> None:
    model = one_joint('<origin xyz="1 2 3" rpy="1 2 3"/>')
    inertia = model.link("body").inertia
    assert inertia is not None
    origin = model.joint("j").origin
    for array in (origin.rotation, origin.translation, inertia.center, inertia.moments):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.name = "other"  # type: ignore[misc]


# -- rotations and axes ------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [math.pi / 2, -math.pi / 2, math.pi, -math.pi, 3 * math.pi / 2])
@pytest.mark.parametrize("place", range(3))
def test_quarter_turns_are_exact(angle: float, place: int) -> None:
    rpy = [0.0, 0.0, 0.0]
    rpy[place] = angle
    rotation = np.array(rotation_from_rpy(*rpy))
    assert set(rotation.ravel().tolist()) <= {0.0, 1.0, -1.0}
    assert np.array_equal(rotation @ rotation.T, np.eye(3))
    assert not np.array_equal(rotation, np.eye(3))


def test_nothing_beyond_rounding_is_snapped() -> None:
    assert rotation_from_rpy(1e-14, 0, 0)[2][1] == 1e-14
    assert rotation_from_rpy(1.5708, 0, 0)[1][1] == pytest.approx(-3.6732051e-06, rel=1e-7)
    axis = one_joint('<axis xyz="1e-14 0 1"/>').joint("j").axis
    assert axis.tolist() == [1e-14, 0, 1]


@given(st.tuples(*[st.floats(-7, 7)] * 3))
def test_rotation_is_yaw_pitch_roll(rpy: tuple[float, float, float]) -> None:
    def about(axis: int, angle: float) -> np.ndarray:
        result = np.eye(3)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        result[i, i] = result[j, j] = math.cos(angle)
        result[j, i] = math.sin(angle)
        result[i, j] = -math.sin(angle)
        return result

    roll, pitch, yaw = rpy
    expected = about(2, yaw) @ about(1, pitch) @ about(0, roll)
    np.testing.assert_allclose(np.array(rotation_from_rpy(*rpy)), expected, atol=1.1e-15)


def test_quaternion_of_urdf_1_1() -> None:
    text = (
        '<robot name="r" version="1.1"><link name="a"/><link name="b"/><joint name="j" '
        'type="fixed"><parent link="a"/><child link="b"/><origin quat_xyzw="{}"/></joint></robot>'
    )
    rotation = read_urdf(text.format("0 0 2 2")).joint("j").origin.rotation
    assert rotation.tolist() == [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    x, y, z, w = 0.1, -0.5, 0.3, math.sqrt(0.65)
    vector = np.array([0.2, 0.7, -1.1])
    imaginary = np.array([x, y, z])
    expected = (
        vector
        + 2 * w * np.cross(imaginary, vector)
        + 2 * np.cross(imaginary, np.cross(imaginary, vector))
    )
    rotation = read_urdf(text.format(f"{x} {y} {z} {w}")).joint("j").origin.rotation
    np.testing.assert_allclose(rotation @ vector, expected, atol=1e-15)


finite = st.floats(-1e3, 1e3)
vectors = st.tuples(finite, finite, finite).filter(lambda v: max(map(abs, v)) > 1e-3)


@given(vectors, st.integers(-300, 300))
def test_axis_scale_does_not_matter(axis: tuple[float, ...], exponent: int) -> None:
    unit = normalized(axis)
    assert unit is not None
    assert abs(math.hypot(*unit) - 1) < 1e-15
    assert math.hypot(*np.cross(unit, axis)) <= 2e-15 * math.hypot(*axis)
    assert np.dot(unit, axis) > 0  # the sign is kept
    assert normalized(unit) == unit  # one that is unit is not disturbed
    assume(abs(math.hypot(*axis) - 1) > 1e-12)
    assert normalized(tuple(math.ldexp(value, exponent) for value in axis)) == unit


@given(vectors, st.floats(1e-6, 1e6))
def test_axis_scale_gives_the_same_model(axis: tuple[float, ...], scale: float) -> None:
    def read(values: list[float]) -> np.ndarray:
        return one_joint(f'<axis xyz="{" ".join(map(repr, values))}"/>').joint("j").axis

    np.testing.assert_allclose(
        read([scale * value for value in axis]), read(list(axis)), rtol=0, atol=2e-15
    )  # what is within 1e-15 of 1 is made 1, and what is a little further is not


def test_axes_of_real_files() -> None:
    read = {
        "0 0 -2.5": [0, 0, -1],
        " -0.0\n0 +3": [0, 0, 1],
        "0 -1 6.12323e-17": [0, -1, 0],
        "3 0 4": [0.6, 0, 0.8],
        "3.0000000003 0 4.0000000004": [0.6, 0, 0.8],
        "0.60000000006 0 0.80000000008": [0.6, 0, 0.8],  # almost unit is not unit
    }
    for text, expected in read.items():
        axis = one_joint(f'<axis xyz="{text}"/>').joint("j").axis
        np.testing.assert_allclose(axis, expected, rtol=0, atol=2e-16)
        assert [value for value in axis.tolist() if value in (0, 1, -1)] == [
            value for value in expected if value in (0, 1, -1)
        ]
    skew = one_joint('<axis xyz="0.121869 -0.992546 -4.37114e-08"/>').joint("j").axis
    assert skew[2] == pytest.approx(-4.37114e-08, rel=1e-5)
    for kind in ("fixed", "floating"):  # they have none, whatever the file says
        assert one_joint('<axis xyz="0 0 0"/>', kind).joint("j").axis.tolist() == [1, 0, 0]


# -- inertia -----------------------------------------------------------------------------------


def test_moments_are_turned_into_link_axes() -> None:
    model = one_joint(
        inertial='<inertial><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><mass value="2"/>'
        '<inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.4" iyz="0.03" izz="0.5"/></inertial>'
    )
    inertia = model.link("body").inertia
    assert inertia is not None
    # x of the inertial frame is y of the link, y is -x
    expected = [[0.4, -0.01, -0.03], [-0.01, 0.3, 0.02], [-0.03, 0.02, 0.5]]
    assert inertia.moments.tolist() == expected
    assert inertia.center.tolist() == [1, 2, 3]
    assert model.warnings == ()


@pytest.mark.parametrize(
    ("mass", "moments", "problem"),
    [
        ("1", 'ixx="1" iyy="1" izz="2.1"', "triangle inequality"),
        ("1", 'ixx="1" iyy="1" izz="2"', None),  # a flat body
        ("1", 'ixx="1" iyy="1" izz="0"', None),  # a thin rod
        ("1", 'ixx="1" iyy="1" izz="-0.1"', "not positive definite"),
        ("1", 'ixx="1" iyy="1" izz="1" ixy="1.5"', "not positive definite"),
        ("1", 'ixx="0" iyy="0" izz="0"', None),  # a point
        ("0", 'ixx="0" iyy="0" izz="0"', None),
        ("0", 'ixx="1" iyy="1" izz="1"', "no mass"),
        ("1", 'ixx="1" iyy="1" izz="2.0000000001"', None),
        ("1", 'ixx="1" iyy="1" izz="2.00000001"', "triangle inequality"),
    ],
)
def test_inertias_no_body_can_have_are_said(mass: str, moments: str, problem: str | None) -> None:
    inertial = f'<inertial><mass value="{mass}"/><inertia {moments}/></inertial>'
    model = one_joint(inertial=inertial)
    if problem is None:
        assert model.warnings == ()
        return
    (warning,) = model.warnings
    assert warning.startswith('<text>:3: <link name="body">: ')
    assert problem in warning and "principal moments" in warning
    inertia = model.link("body").inertia
    assert inertia is not None  # computed as it stands
    assert inertia.moments[2, 2] == float(moments.split('izz="')[1].split('"')[0])


# -- limits, dynamics, mimic -------------------------------------------------------------------

INF = math.inf


@pytest.mark.parametrize(
    ("kind", "limit", "expected", "warned"),
    [
        ("revolute", 'lower="-1" upper="2" velocity="3" effort="4"', (-1, 2, 3, 4), None),
        ("prismatic", 'lower="-1" upper="2"', (-1, 2, INF, INF), None),
        ("revolute", 'velocity="3" effort="4"', (-INF, INF, 3, 4), None),
        ("revolute", 'upper="2"', (0, 2, INF, INF), None),
        ("revolute", 'lower="-2"', (-2, 0, INF, INF), None),
        ("revolute", 'lower="1" upper="1" velocity="1"', (1, 1, 1, INF), None),
        ("revolute", 'lower="-inf" upper="1e308" effort="inf"', (-INF, 1e308) + (INF,) * 2,
         None),
        ("revolute", 'lower="-1e100" upper="1e100"', (-INF,) + (INF,) * 3, None),
        ("revolute", 'lower="-1" upper="1" effort="0" velocity="2"', (-1, 1, 2, INF),
         'effort="0" would'),
        ("revolute", 'effort="0" velocity="0.0"', (-INF,) + (INF,) * 3,
         'velocity="0.0" effort="0" would'),
        ("revolute", 'effort="-5" velocity="1"', (-INF, INF, 1, INF),
         'effort="-5" would'),
        ("revolute", 'lower="0" upper="0" velocity="1"', (-INF, INF, 1, INF),
         'lower="0" upper="0" would'),
        ("continuous", 'lower="0" upper="0" velocity="1"', (-INF, INF, 1, INF), None),
        ("continuous", 'lower="2" upper="1" effort="3"', (-INF, INF, INF, 3), None),
        ("fixed", 'effort="0" velocity="0"', (-INF,) + (INF,) * 3, None),
        ("planar", 'effort="nonsense"', (-INF,) + (INF,) * 3, "effort not used"),
    ],
)  # fmt: skip
def test_limits(kind: str, limit: str, expected: tuple[float, ...], warned: str | None) -> None:
    model = one_joint(f"<limit {limit}/>", kind)
    assert dataclasses.astuple(model.joint("j").limits) == expected
    if warned is None:
        assert model.warnings == ()
    else:
        (warning,) = model.warnings
        assert warning.startswith(f'<text>:4: <joint name="j"> <limit>: {warned}')


def test_damping_and_friction() -> None:
    joint = one_joint('<dynamics damping="0.5" friction="0.25"/>').joint("j")
    assert (joint.damping, joint.friction) == (0.5, 0.25)
    joint = one_joint('<dynamics friction="0.25"/>', "prismatic").joint("j")
    assert (joint.damping, joint.friction) == (0.0, 0.25)
    assert one_joint('<dynamics damping="1"/>', "fixed").joint("j").damping == 0.0
    model = one_joint('<dynamics damping="-0.5"/>')
    assert model.joint("j").damping == -0.5
    (warning,) = model.warnings
    assert warning.startswith('<text>:4: <joint name="j"> <dynamics>: damping="-0.5" is negative')


def chain(*mimics: str | None, kinds: tuple[str, ...] | None = None) -> str:
    """Links l0..ln in a row, joined by j1..jn; joint i has the i-th `<mimic>`, in line i + 1."""
    lines = ['<robot name="r"><link name="l0"/>']
    for i, mimic in enumerate(mimics, 1):
        kind = kinds[i - 1] if kinds else "revolute"
        lines.append(
            f'<joint name="j{i}" type="{kind}"><parent link="l{i - 1}"/><child link="l{i}"/>'
            f'{f"<mimic {mimic}/>" if mimic else ""}</joint><link name="l{i}"/>'
        )
    return "\n".join([*lines, "</robot>"])


def test_mimic() -> None:
    model = read_urdf(
        chain(
            'joint="j2"',
            'joint="j3" multiplier="-2" offset="0.5"',
            None,
            'joint="j3" multiplier="0"',
        )
    )
    read = [joint.mimic and dataclasses.astuple(joint.mimic) for joint in model.joints]
    assert read == [("j2", 1.0, 0.0), ("j3", -2.0, 0.5), None, ("j3", 0.0, 0.0)]


def test_mimic_of_a_fixed_joint_is_dropped_and_said_once() -> None:
    model = read_urdf(chain(None, 'joint="j1"', 'joint="j1"', kinds=("revolute", "fixed", "fixed")))
    assert model.joint("j2").mimic is None
    assert model.warnings[1:] == (  # the first: no axis
        '<text>:3: <joint name="j2"> <mimic>: a fixed joint mimics nothing; not used; '
        'likewise "j3" (line 4)',
    )


# -- what is not dynamics ----------------------------------------------------------------------


def test_other_elements_are_ignored_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    model = read_urdf(
        """<?xml version="1.0" encoding="utf-8"?>
        <!-- a comment --> <?pi?>
        <robot name="r" xmlns:xacro="http://ros.org/wiki/xacro">
          <material name="m"><color rgba="x"/></material>
          <link name="a"><visual><geometry><mesh filename="no"/></geometry></visual>
            <collision name="c"/><contact><lateral_friction value="1"/></contact></link>
          <link name="b"/>
          <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis/>
            <safety_controller k_velocity="1"/><calibration rising="0"/></joint>
          <transmission name="t"><joint name="nobody"/></transmission>
          <ros2_control name="x" type="system"><joint name="j"/></ros2_control>
          <gazebo reference="a"><mu1>x</mu1></gazebo> <sensor name="s"/>
        </robot>"""
    )
    assert model.warnings == () and len(model.joints) == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("joint", "warning"),
    [
        ('<dynamics dampng="3"/>', ': not URDF, and not used: "dampng" (did you mean "damping"?)'),
        ('<dynamics K="7" D="1"/>', '<dynamics>: not URDF, and not used: "D", "K"'),
        ("<axes/>", ': <axes> (did you mean "axis"?) is not URDF here; not used'),
    ],
)  # fmt: skip
def test_misspelt_words_are_reported(
    joint: str, warning: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (said,) = one_joint(joint).warnings
    assert said.startswith('<text>:4: <joint name="j">') and said.endswith(warning)
    assert capfd.readouterr() == ("", "")


def test_unknown_elements_of_the_robot_are_reported() -> None:
    model = read_urdf('<robot name="r">\n<lnk name="b"/>\n<link name="a"/></robot>')
    assert model.warnings == (
        '<text>:1: <robot>: <lnk> (did you mean "link"?) is not URDF here; not used',
    )


def test_names_that_xacro_would_expand_are_reported() -> None:
    model = read_urdf('<robot name="r">\n<link name="${prefix}base"/></robot>')
    (warning,) = model.warnings
    assert warning.startswith('<text>:2: <link name="${prefix}base">: its name is an unexpanded')


def test_joint_for_gazebo_is_reported() -> None:
    model = read_urdf(
        '<robot name="r"><link name="a"/>\n<gazebo><joint name="close" type="revolute">'
        "<parent>a</parent><child>a</child></joint></gazebo></robot>"
    )
    (warning,) = model.warnings
    assert warning.startswith("<text>:2: ") and "stays open" in warning


# -- sources -----------------------------------------------------------------------------------

TEXT = '<?xml version="1.0" encoding="{}"?>\n<robot name="r">\n<link name="größe"/></robot>'


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-16", "iso-8859-1", "cp1252", "utf-8-sig"])
def test_files_in_their_encoding(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_bytes(TEXT.format(encoding.replace("-sig", "")).encode(encoding))
    for source in (path, str(path)):
        model = read_urdf(source)
        assert model.root == "größe" and model.source == str(path)
        assert model.link("größe").line == 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "nonsense"])
def test_text_is_text_whatever_it_declares(encoding: str) -> None:
    for text in (TEXT, codecs.BOM_UTF8.decode() + TEXT, f"\n\n{TEXT}"):
        assert read_urdf(text.format(encoding)).root == "größe"


def test_default_namespace() -> None:
    model = read_urdf('<robot name="r" xmlns="http://www.ros.org"><link name="a"/></robot>')
    assert model.root == "a" and model.warnings == ()


def test_robot_without_name_or_joints() -> None:
    model = read_urdf("<robot><link name='a'/></robot>")
    assert (model.name, model.joints, model.root) == ("robot", (), "a")


def test_a_world_that_is_not_declared() -> None:
    """As files for MoveIt and Drake have it; another name that is not there is refused still."""
    text = """<robot name="r"><link name="a"/><link name="b"/>
      <joint name="weld" type="fixed"><parent link="{0}"/><child link="a"/></joint>
      <joint name="j" type="continuous"><parent link="{0}"/><child link="b"/><axis/></joint>
      </robot>"""
    model = read_urdf(text.format("world"))
    assert model.root == "world" and [link.name for link in model.links] == ["world", "a", "b"]
    (warning,) = model.warnings
    assert "parent 'world' is not declared" in warning and "likewise" in warning
    declared = text.replace('<link name="a"/>', '<link name="a"/><link name="world"/>')
    assert read_urdf(declared.format("world")).warnings == ()
    with pytest.raises(ModelError, match='its parent "wold" is not a link'):
        read_urdf(text.format("wold"))
