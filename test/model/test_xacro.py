"""xacro: expanded wherever a description is read, and refused in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.errors import InputError, ModelError
from mbdyn_ros.model import Model, read_description
from mbdyn_ros.model.read.xacro.xacro import xacro_arguments

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
ARM = f"""{HEAD}
  <xacro:arg name="prefix" default=""/>
  <xacro:arg name="mass" default="2"/>
  <xacro:include filename="$(find arm_parts)/link.xacro"/>
  <link name="base"/>
  <joint name="$(arg prefix)pin" type="continuous">
    <parent link="base"/> <child link="$(arg prefix)arm"/>
  </joint>
  <xacro:body name="$(arg prefix)arm" mass="$(arg mass)"/>
</robot>"""
BODY = f"""{HEAD}
  <xacro:macro name="body" params="name mass">
    <link name="${{name}}"> <inertial> <mass value="${{2 * mass}}"/>
      <inertia ixx="${{mass / 10}}" iyy="0.1" izz="0.1"/> </inertial> </link>
  </xacro:macro>
</robot>"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    """A file, beside the package that it includes from."""
    (tmp_path / "arm_parts").mkdir()
    (tmp_path / "arm_parts" / "link.xacro").write_text(BODY)
    file = tmp_path / "arm.urdf.xacro"
    file.write_text(ARM)
    return file


def mass_of(model: Model, link: str) -> float:
    """The mass of a link."""
    inertia = model.link(link).inertia
    assert inertia is not None
    return inertia.mass


def test_arguments_and_packages(arm: Path) -> None:
    model = read_description(arm)
    assert mass_of(model, "arm") == 4 and model.source == str(arm)
    model = read_description(str(arm), {"prefix": "left_", "mass": 3})
    assert mass_of(model, "left_arm") == 6 and model.joint("left_pin").child == "left_arm"


def test_a_package_of_the_environment(arm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    share = arm.parent / "elsewhere" / "share"
    share.mkdir(parents=True)
    (arm.parent / "arm_parts").rename(share / "arm_parts")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(share.parent))
    assert mass_of(read_description(arm), "arm") == 4


def test_any_file_with_elements_of_xacro(arm: Path) -> None:
    plain = arm.rename(arm.with_name("arm.urdf"))
    assert mass_of(read_description(plain), "arm") == 4


def test_text_is_expanded_only_where_that_is_asked_for() -> None:
    text = f'{HEAD}<xacro:property name="m" value="3"/><link name="stone${{m}}"/></robot>'
    with pytest.raises(ModelError, match=r"<xacro:property> is not expanded.*xacro=\{\}"):
        read_description(text)
    assert mbdyn_ros.load(text, xacro={}).model.root == "stone3"


def test_verbs(arm: Path) -> None:
    done = CliRunner().invoke(main, ["inspect", str(arm), "--json", "--xacro", "prefix:=left_"])
    assert json.loads(done.stdout)["independent"] == ["left_pin"]
    text = f'{HEAD}<xacro:property name="m" value="3"/><link name="stone${{m}}"/></robot>'
    done = CliRunner().invoke(main, ["inspect", "-", "--json"], input=text)
    assert json.loads(done.stdout)["root"] == "stone3"
    done = CliRunner().invoke(main, ["inspect", str(arm), "--xacro", "prefix=left_"])
    assert done.exit_code and "'prefix=left_' is no argument such as prefix:=left_" in done.output


REFUSED = {
    "unknown argument": (
        ARM, {"prefx": "x"}, r'no <xacro:arg name="prefx"> \(did you mean "prefix"\?\); .*mass'
    ),
    "package": (ARM.replace("arm_parts", "arm_part"), {}, r'no package "arm_part" in the folders'),
    "file": (ARM.replace("/link.", "/lnk."), {}, r"no file .*/lnk\.xacro, which is inc"),
    "expression": (ARM.replace("<link", "<link a='${1 / 0}'"), {}, "division by zero when eval"),
    "name": (ARM.replace("$(arg prefix)arm", "${prfx}"), {}, "name 'prfx' is not defined"),
    "no argument": (ARM.replace("(arg mass)", "(arg mas)"), {}, "substitution argument mas"),
    "no XML": (ARM.replace("</joint>", ""), {}, ":10: column 9: not well-formed XML: .*mismatch"),
    "itself": (ARM.replace("$(find arm_parts)/link", "arm.urdf"), {}, "go on without end"),
    "document type": (f"<!DOCTYPE r>{ARM}", {}, "is refused for safety"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(arm: Path, name: str) -> None:
    text, arguments, words = REFUSED[name]
    arm.write_text(text)
    with pytest.raises(ModelError, match=f"^{arm}.*{words}"):
        read_description(arm, arguments)


def test_a_file_that_an_included_one_lacks(arm: Path) -> None:
    part = arm.parent / "arm_parts" / "link.xacro"
    include = '<xacro:include filename="a.xacro"/>'
    part.write_text(BODY.replace("  <xacro:macro", f"{include}<xacro:macro"))
    with pytest.raises(ModelError, match=r"no file .*/a\.xacro, which is included; in .*/link\.x"):
        read_description(arm)
    part.write_text(BODY.replace("mass / 10", "mass / 0"))
    with pytest.raises(ModelError, match="division by zero.*in <xacro:body>"):
        read_description(arm)


def test_arguments_as_texts() -> None:
    with pytest.raises(InputError, match="parameter xacro: 'a' is given twice"):
        xacro_arguments(["a:=1", "a:=2"], "parameter xacro")
