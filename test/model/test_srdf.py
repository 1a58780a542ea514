"""SRDF: states as homes, virtual joints as bases, joints without drives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from interpreting import interpreting

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.errors import InputError, ModelError, ModelWarning
from mbdyn_ros.model import read_urdf
from mbdyn_ros.model.read.srdf import read_srdf

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
URDF = f"""<robot name="r"> <link name="base">{BODY}</link> <link name="a">{BODY}</link>
  <link name="b">{BODY}</link> <link name="c"/>
  <joint name="one" type="continuous"> <parent link="base"/> <child link="a"/> <axis/> </joint>
  <joint name="two" type="prismatic"> <parent link="a"/> <child link="b"/> <axis/> </joint>
  <joint name="end" type="fixed"> <parent link="b"/> <child link="c"/> </joint> </robot>"""
STATES = """<robot name="r"> <group name="left"/> <group name="right"/>
  <group_state name="ready" group="left"> <joint name="one" value="0.5"/>
    <joint name="root_joint" value="0 0 1 0 0 0 1"/> <joint name="end" value="0"/> </group_state>
  <group_state name="ready" group="right"> <joint name="two" value="-0.25"/> </group_state>
  <group_state name="low" group="left"> <joint name="one" value="1"/> </group_state>
  <disable_collisions link1="a" link2="b"/> {} </robot>"""


@pytest.fixture(autouse=True)
def _interpreted() -> object:
    with interpreting():
        yield


def test_states_are_homes(tmp_path: Path) -> None:
    model = read_srdf(STATES.format(""), read_urdf(URDF))
    assert model.homes == {
        "ready": {"one": 0.5, "two": -0.25}, "left/ready": {"one": 0.5},
        "right/ready": {"two": -0.25}, "low": {"one": 1.0},
    }  # fmt: skip
    assert model.unused == {"srdf group": 2} and model.warnings == () and not model.home
    robot = mbdyn_ros.load(URDF, srdf=STATES.format(""), home="ready")
    assert robot.home == {"one": 0.5, "two": -0.25}
    with pytest.raises(
        InputError, match=r"no home 'redy' \(did you mean \"ready\"\?\); the files "
    ):
        mbdyn_ros.load(URDF, srdf=STATES.format(""), home="redy")
    files = tmp_path / "r.urdf", tmp_path / "r.srdf"
    files[0].write_text(URDF)
    files[1].write_text(STATES.format(""))
    done = CliRunner().invoke(
        main, ["inspect", str(files[0]), "--srdf", str(files[1]), "--home", "low", "--json"]
    )
    assert json.loads(done.stdout)["home"] == {"one": 1.0, "two": 0.0}


def test_virtual_joints() -> None:
    virtual = '<virtual_joint name="v" type="{}" parent_frame="map" child_link="base"/>'
    state = '<group_state name="s" group="g"> <joint name="v" value="0 0 0"/> </group_state>'

    def robot(kind: str) -> mbdyn_ros.Robot:
        return mbdyn_ros.load(URDF, srdf=STATES.format(virtual.format(kind) + state))

    assert not robot("fixed").floating_base and robot("floating").floating_base
    planar = robot("planar")
    assert planar.model.root == "map" and planar.independent_joints == ("v", "one", "two")
    text = STATES.format(virtual.format("floating"))
    assert not mbdyn_ros.load(URDF, srdf=text, floating_base=False).floating_base


def test_passive_joints_have_no_efforts() -> None:
    robot = mbdyn_ros.load(URDF, srdf=STATES.format('<passive_joint name="two"/>'))
    assert robot.actuated_joints == ("one",)


def test_joints_that_the_robot_has_not() -> None:
    text = STATES.format('<passive_joint name="twoo"/>').replace(
        'name="two" value', 'name="x" value'
    )
    with pytest.warns(ModelWarning) as caught:
        robot = mbdyn_ros.load(URDF, srdf=text)
    assert [str(one.message) for one in caught] == [
        '<text>:4: <group_state name="ready">: left out, for this robot has no such joints: "x"',
        '<text>:6: <passive_joint name="twoo">: "twoo" is not a joint of this robot (did you mean '
        '"two"?); left out',
    ]
    assert robot.actuated_joints == ("one", "two")


REFUSED = {
    "no SRDF": ("<srdf/>", "this is not an SRDF"),
    "value": (STATES.format("").replace('"1"', '"one"'), '<group_state name="low"> <joint>: val'),
    "twice": (STATES.format("").replace("right", "left"), 'group "left" has a state of that name'),
    "virtual type": (STATES.format('<virtual_joint name="v" type="ball" child_link="base"/>'),
                     'type="ball" is not a virtual joint; there are fixed, floating, planar'),
    "child": (STATES.format('<virtual_joint name="v" type="floating" child_link="bas"/>'),
              r'its child_link "bas" is not a link of this robot \(did you mean "base"'),
    "no root": (STATES.format('<virtual_joint name="v" type="floating" child_link="a"/>'),
                'its child_link "a" is not the root, which is "base"'),
    "plane": (STATES.format('<virtual_joint name="v" type="planar" child_link="base"/>'),
              'parent_frame="" must be a name that no link has'),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    text, words = REFUSED[name]
    with pytest.raises(ModelError, match=f"^<text>:[0-9]+: .*{words}"):
        read_srdf(text, read_urdf(URDF))
