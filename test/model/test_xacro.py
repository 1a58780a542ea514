"""xacro: expanded wherever a description is read, and refused in words."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from corpus import readable_urdf_files
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from random_robots import explore

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.errors import InputError, ModelError
from mbdyn_ros.model import Model, read_description
from mbdyn_ros.model.read.xacro.functions import GLOBALS
from mbdyn_ros.model.read.xacro.texts import evaluate
from mbdyn_ros.model.read.xacro.values import Budget, ExpressionError, Function, Namespace
from mbdyn_ros.model.read.xacro.xacro import expand_xacro, xacro_arguments

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
    """A file, next to the package that it includes from."""
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
    assert (
        done.exit_code and "'prefix=left_' is not an argument such as prefix:=left_" in done.output
    )


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
    "itself": (ARM.replace("$(find arm_parts)/link", "arm.urdf"), {}, "endless recursion"),
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
    with pytest.raises(
        ModelError,
        match=r"link\.xacro:2: <xacro:include> \(included by .*/arm\..*no file .*/a\.xacro, which",
    ):
        read_description(arm)
    part.write_text(BODY.replace("mass / 10", "mass / 0"))
    with pytest.raises(ModelError, match="in <xacro:body>.*division by zero when evaluating"):
        read_description(arm)


def test_arguments_as_texts() -> None:
    with pytest.raises(InputError, match="parameter xacro: 'a' is given twice"):
        xacro_arguments(["a:=1", "a:=2"], "parameter xacro")


ESCAPES = [
    "().__class__", "(lambda: 1)()", "[c for c in (1, 2)]", "'a'.format(1)",
    "f'a'", "9**9**9", "'a' * 10**9", "[0] * 10**9", "1 << 10**9", "~1", "round(1, -10**9)",
    "range(10**9)", "list(map(range, [100000] * 100000))", "int('9' * 5000)", "'%99999999d' % 1",
    "'a'.replace('', 'b' * 90000)", "math.factorial(10**6)", "math.__dict__", "python.type(1)",
    "python.vars()", "python.sum([[1]], [])", "str.format", "__import__('os')", "open('x')",
    "eval('1')", "getattr(1, 'real')", "(1).real", "(x := 1)", "1j", "b'x'", "...", "min(*[1])",
    "dict(**dict())", "[sin]", "sin", "math", "(-8) ** 0.5", "1 / 0", "dict()['x']", "[0][1]",
    "xacro.load_yaml('/etc/passwd')", "xacro.load_yaml('../../../../../etc/passwd')",
    "-" * 3900 + "1", "(" * 1900 + "1" + ")" * 1900, "1 +", "'a' - 1", "1" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("expression", ESCAPES)
def test_expressions_that_are_refused(expression: str) -> None:
    where = r"<text>:1: .*(<link name|a=).*xacro: "
    text = f'{HEAD}<link name="r"/><link name="${{{expression.replace("<", "&lt;")}}}"/></robot>'
    with pytest.raises(ModelError, match=where):
        expand_xacro(text)


REFUSED_DOCUMENTS = {
    "any command": (
        '<xacro:property name="a" value="${(lambda: [c for c in ().__class__.__base__'
        ".__subclasses__() if c.__name__ == '_wrap_close'][0].__init__.__globals__['system']"
        '(\'touch PWNED\'))()}"/><link name="l${a}"/>',
        "lambda is not allowed",
    ),
    "built code": (
        '<xacro:property name="q" value="().__cla"/><link name="${${q}ss__}"/>',
        "not closed|valid",
    ),
    "in a condition": ('<xacro:if value="${().__class__}"/>', "<xacro:if>.*__class__ is not"),
    "in a default": (
        '<xacro:macro name="m" params="p:=${().__class__}"/><xacro:m/>',
        "<xacro:m>.*__class__",
    ),
    "in a parameter": (
        '<xacro:macro name="m" params="p"/><xacro:m p="${().__class__}"/>',
        "<xacro:m>.*__class__",
    ),
    "in an argument": ('<xacro:arg name="a" default="${().__class__}"/>', "__class__ is not"),
    "in text": ("<link>${().__class__}</link>", "__class__ is not"),
    "in eval": ('<link name="$(eval [].__class__)"/>', r"evaluating \$\(eval"),
    "doubling text": (
        '<xacro:property name="a0" value="xxxxxxxxxx"/>'
        + "".join(
            f'<xacro:property name="a{i}" value="${{a{i - 1}}}${{a{i - 1}}}"/>'
            for i in range(1, 40)
        )
        + '<link name="${a39}"/>',
        "more than 100000",
    ),
    "doubling lists": (
        '<xacro:property name="a0" value="${[1]}"/>'
        + "".join(
            f'<xacro:property name="a{i}" value="${{[a{i - 1}, a{i - 1}]}}"/>' for i in range(1, 40)
        )
        + '<link name="${a39}"/>',
        "more than 100000",
    ),
    "many copies": (
        f'<xacro:property name="a" value="{"y" * 90000}"/><link name="{"${a}" * 20000}"/>',
        "multiply itself",
    ),
    "no end": ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', "endless recursion"),
    "a circle": (
        '<xacro:property name="a" value="${b}"/><xacro:property name="b" value="${a}"/>'
        '<link name="${a}"/>',
        "a -> b -> a go round in a circle",
    ),
    "slow parameters": (f'<xacro:macro name="m" params="p:={"a" * 50000}\'"/>', "list of param"),
    "other folders": ('<xacro:include filename="/etc/hostname"/>', "lies outside of the folder"),
    "folders above": ('<xacro:include filename="../../../e*"/>', "lies outside of the folder"),
    "root folders": ('<xacro:include filename="$(find etc)/hostname"/>', 'no package "etc"'),
    "no package": ('<link name="$(find ..)"/>', r'no package "\.\."'),
    "environment": ('<link name="$(env PATH)"/>', "xacro={'PATH': ...}"),
    "environment, perhaps": ('<link name="$(optenv PATH x)"/>', "does not read the environment"),
    "a name of Python": ('<xacro:property name="lambda" value="1"/>', "not a name that a property"),
    "a tag": ('<xacro:element xacro:name="a b"/>', "not a name that XML can have"),
}


@pytest.mark.sparse
@pytest.mark.parametrize("name", REFUSED_DOCUMENTS)
def test_documents_that_are_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    body, words = REFUSED_DOCUMENTS[name]
    file = tmp_path / "r.urdf"
    file.write_text(f"{HEAD}{body}</robot>")
    with pytest.raises(ModelError, match=words):
        expand_xacro(file)
    assert os.listdir(tmp_path) == ["r.urdf"]


def test_macros_that_multiply_end_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mbdyn_ros.model.read.xacro.values.WORK", 20_000)
    macros = "".join(
        f'<xacro:macro name="m{i}"><xacro:m{i - 1}/><xacro:m{i - 1}/></xacro:macro>'
        for i in range(1, 40)
    )
    text = f'{HEAD}<xacro:macro name="m0"><link/></xacro:macro>{macros}<xacro:m39/></robot>'
    with pytest.raises(ModelError, match="multiply itself"):
        expand_xacro(text)


def test_environment_by_arguments() -> None:
    text = f'{HEAD}<link name="$(env A)$(optenv B b)$(optenv NOT_SET_HERE c)"/></robot>'
    assert 'name="1xc"' in expand_xacro(text, {"A": 1, "B": "x"}).text


def test_tables_and_document_types_of_included_files(tmp_path: Path) -> None:
    file = tmp_path / "r.xacro"
    (tmp_path / "t.yaml").write_text("a: {b: [1, !degrees 90]}\n")
    load = '<xacro:property name="t" value="${xacro.load_yaml(\'t.yaml\')}"/>'
    file.write_text(f"{HEAD}{load}<link name=\"${{t.a.b[0]}} ${{t['a']['b'][1]}}\"/></robot>")
    assert 'name="1 1.5707963267948966"' in expand_xacro(file).text
    for table, words in (
        ("a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
        ("a: &a {b: 1}\nc: {<<: *a}", "merge keys"),
        ("a: &a [*a]", "more than 100000"),
        ("a: " + "1:" * 5000 + "1", "that length"),
    ):
        (tmp_path / "t.yaml").write_text(table)
        with pytest.raises(ModelError, match=words):
            expand_xacro(file)
    (tmp_path / "i.xacro").write_text(f"<!DOCTYPE r>{HEAD}</robot>")
    file.write_text(f'{HEAD}<xacro:include filename="i.xacro"/></robot>')
    with pytest.raises(ModelError, match="is refused for safety"):
        expand_xacro(file)


JUDGED = """
<xacro:property name="a" value="2"/> <xacro:property name="b" value="${a * 3}"/>
<xacro:property name="s" value="'1'"/> <xacro:property name="under" value="1_0"/>
<xacro:property name="later" value="${a + early}"/> <xacro:property name="early" value="5"/>
<xacro:property name="block"><axis xyz="${b} 0 0"/></xacro:property>
<xacro:arg name="n" default="x${a}"/>
<xacro:macro name="m" params="p q:=7 r:=^|${a} *one **many">
  <link name="${p}_${q}_${r}"/> <xacro:insert_block name="one"/>
  <xacro:insert_block name="many"/> <xacro:property name="out" value="${p}" scope="parent"/>
</xacro:macro>
<xacro:macro name="down" params="n"><xacro:if value="${n > 0}"><d n="${n}"/>
  <xacro:down n="${n - 1}"/></xacro:if></xacro:macro>
<xacro:m p="${a / 4}"><u x="${a}"/><v><w y="${round(pi, 3)}"/><w/></v></xacro:m>
<xacro:call macro="m" p="k" r="1"><u/><v/></xacro:call> <xacro:down n="3"/>
<joint name="$(arg n)" a="$${a}" b="${b}" c="${later} ${s} ${under}" d="${[1, 2.5][1]}" e="${out}">
  <xacro:insert_block name="block"/> text ${a} </joint>
<xacro:unless value="false"><k/></xacro:unless> <xacro:if value="${a == 3}"><no/></xacro:if>
<xacro:element xacro:name="z${a}" q="1"/> <link><xacro:attribute name="t" value="v${b}"/></link>
<e v="$(eval 1 if n == 'x2' else 2)" f="${'ab' if a > 1 else 'c'}" g="${max(a, 4.0)}"/>
<e v="${sin(0.5) ** 2}" w="${-a % 3} ${7 // 2} ${not a} ${a in [1, 2]}" x="${'a,b'.split(',')}"/>
<e v="${radians(90)}" w="${len('abc')} ${str(1.50)} ${int('7')} ${dict(k=1)['k']}"/>
"""


def test_the_package_xacro_expands_alike() -> None:
    xacro = pytest.importorskip("xacro")
    text = HEAD + JUDGED.replace(" > ", " &gt; ") + "</robot>"
    document = xacro.parse(text)
    xacro.process_doc(document)

    def words(xml: str) -> list[tuple[str, list[tuple[str, str]], list[str]]]:
        return [
            (
                one.tag,
                sorted(one.attrib.items()),
                (one.text or "").split() + (one.tail or "").split(),
            )
            for one in etree.fromstring(xml).iter(etree.Element)
        ]

    assert words(expand_xacro(text).text) == words(document.toxml())


@given(st.text(st.sampled_from("ab01.,()[]'*+-/%_<=: {}$lambdforinx"), max_size=40))
@explore(60, 300)
def test_random_expressions_are_values_or_refusals(text: str) -> None:
    names = {**GLOBALS, "a": 2, "b": "x", "l": [1, 2]}
    try:
        value = evaluate(text, names, Budget())
    except ExpressionError:
        return
    assert type(value) in (
        type(None),
        bool,
        int,
        float,
        str,
        list,
        tuple,
        dict,
        Function,
        Namespace,
    )


def test_every_real_robot_loads_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    files = readable_urdf_files()
    if not files:
        pytest.skip("example-robot-data is not installed")
    monkeypatch.setitem(sys.modules, "xacro", None)
    for file in files:
        assert read_description(file).links
