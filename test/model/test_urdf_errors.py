"""Descriptions that are refused: the message says where, what, and what to do."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import mbdyn_ros
from mbdyn_ros.errors import LONGEST_MESSAGE, ModelWarning
from mbdyn_ros.model import ModelError, read_urdf
from mbdyn_ros.model.examples import CART

LINKS = '<link name="a"/>\n<link name="b"/>\n<link name="c"/>\n'  # lines 2 to 4
AB = '<parent link="a"/><child link="b"/>'
BC = '<joint name="bc" type="fixed"><parent link="b"/><child link="c"/></joint>\n'


def robot(body: str) -> str:
    """A robot whose body starts in line 2."""
    return f'<robot name="r">\n{body}\n</robot>'


def joint(children: str, kind: str = "revolute", ends: str = AB) -> str:
    """Links a, b, c, the joint bc in line 5 and the joint ab in line 6."""
    return robot(f'{LINKS}{BC}<joint name="ab" type="{kind}">{ends}{children}</joint>')


def closed(loop: str) -> str:
    """Three links, and a loop in line 7."""
    return joint("").replace("\n</robot>", f"\n{loop}</robot>")


def inertial(children: str) -> str:
    """A robot of one link."""
    return robot(f'<link name="a">\n<inertial>{children}</inertial></link>')


def refusal(source: object) -> str:
    """The message with which a source is refused."""
    with pytest.raises(ModelError) as caught:
        read_urdf(source)  # type: ignore[arg-type]
    assert caught.value.__cause__ is None
    return str(caught.value)


AB_PLACE = '<text>:6: <joint name="ab">'
SIX = 'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"'
CASES = {
    # structure
    "no link": (robot(""), "<text>: the robot has no <link>; add one"),
    "unknown parent": (
        joint("", ends='<parent link="aa"/><child link="b"/>'),
        f'{AB_PLACE}: its parent "aa" is not a link of this robot (did you mean "a"?); add the',
    ),
    "unknown child": (
        joint("", ends='<parent link="a"/><child link="elbow"/>'),
        f'{AB_PLACE}: its child "elbow" is not a link of this robot; add the link or correct',
    ),
    "itself": (
        joint("", ends='<parent link="b"/><child link="b"/>'),
        f'{AB_PLACE}: joins the link "b" to itself; give another',
    ),
    "cycle": (
        joint("", ends='<parent link="c"/><child link="b"/>'),
        '<text>:5: the joints "bc", "ab" form a cycle through the links "c", "b", which no root '
        "reaches; write the one that closes it as a <loop>, or give",
    ),
    "cycle and no root": (
        robot(
            '<link name="x"/><link name="y"/>\n<joint name="yx" type="fixed"><parent link="y"/>'
            '<child link="x"/></joint>\n<joint name="xy" type="fixed"><parent link="x"/>'
            '<child link="y"/></joint>'
        ),
        '<text>:4: the joints "xy", "yx" form a cycle through the links "y", "x", which no root',
    ),
    "two roots": (
        robot(LINKS + BC),
        '<text>:3: 2 links have no parent joint, a robot has one root: "a" (line 2), "b" (line 3); '
        'no joint touches "a"; join them',
    ),
    "two trees": (
        robot(
            LINKS + '<link name="d"/>' + BC + '<joint name="ad" type="fixed"><parent link="a"/>'
            '<child link="d"/></joint>'
        ),
        '<text>:3: 2 links have no parent joint, a robot has one root: "a" (line 2), "b" (line 3); '
        "join them",
    ),
    "same link twice": (
        robot(LINKS + '<link name="b"/>'),
        '<text>:5: <link name="b">: the name is taken by the link in line 3; rename one',
    ),
    "same joint twice": (
        joint("").replace('"bc"', '"ab"'),
        f"{AB_PLACE}: the name is taken by the joint in line 5; rename one",
    ),
    "link without name": (robot("<link/>"), "<text>:2: <link>: this link has no name; give it one"),
    "joint with empty name": (
        joint("").replace('"ab"', '""'),
        "<text>:6: <joint>: this joint has no name; give it one",
    ),
    "no parent": (
        joint("", ends='<child link="b"/>'),
        f'{AB_PLACE}: names no parent; add <parent link="..."/>',
    ),
    "child without link": (
        joint("", ends='<parent link="a"/><child>b</child>'),
        f'{AB_PLACE} <child>: names no child; add <child link="..."/>',
    ),
    "two children": (
        joint('<child link="c"/>'),
        f"{AB_PLACE}: has 2 <child> elements (lines 6, 6); keep one",
    ),
    # types
    "unknown type": (
        joint("", "revolut"),
        f'{AB_PLACE}: type "revolut" is unknown (did you mean "revolute"?); the types of URDF are '
        "fixed, revolute, continuous, prismatic, planar, floating",
    ),
    "no type": (
        joint("").replace('name="ab" type="revolute"', 'name="ab"'),
        f"{AB_PLACE}: has no type; the types of URDF are fixed, ",
    ),
    "cylindrical": (
        joint("", "cylindrical"),
        f'{AB_PLACE}: type "cylindrical" is not in URDF; write it as a revolute and a prismatic',
    ),
    # closures in other languages (test_closures.py has those in ours)
    "constraint": (
        closed('<constraint name="x"/>'),
        '<text>:7: <constraint name="x">: has no type; a loop is closed by one of fixed, revolute',
    ),
    "loop_joint of one end": (
        closed('<loop_joint name="x" type="ball"><link1 link="a"/></loop_joint>'),
        '<text>:7: <loop_joint name="x">: has 1 ends; give a <link1> and a <link2>',
    ),
    "loop_joint without link": (
        closed('<loop_joint name="x" type="ball"><link1/><link2/></loop_joint>'),
        '<text>:7: <loop_joint name="x"> <link1>: names no link; add link="..."',
    ),
    "cardan constraint": (
        closed('<constraint name="x" type="universal"/>'),
        '<text>:7: <constraint name="x">: type="universal" has two pins, which formats count',
    ),
    "ball_constraint of Drake": (
        '<robot name="r" xmlns:drake="http://drake.mit.edu">\n<link name="a"/>\n'
        "<drake:ball_constraint/></robot>",
        "<text>:3: <drake:ball_constraint>: names no body_A; add "
        '<drake:ball_constraint_body_A name="..."/>',
    ),
    "other constraint of Drake": (
        closed("<drake:distance_constraint/>"),
        "<text>:7: <drake:distance_constraint>: is a constraint that is not read; write it as a",
    ),
    "xacro": (
        '<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro">\n<link name="a">\n'
        '<xacro:inertia m="1"/></link></robot>',
        "<text>:3: ",
        "<xacro:inertia> is not expanded; run xacro first",
    ),
    "xacro expression": (
        joint('<limit effort="${effort}"/>'),
        f'{AB_PLACE} <limit>: effort="${{effort}}" is an unexpanded xacro expression; run xacro',
    ),
    "SDF": ("<sdf>\n</sdf>", "<text>:1: <sdf>: this is not a URDF: the outermost element must be"),
    # numbers
    "zero axis": (
        joint('<axis xyz="0 -0 0.0"/>'),
        f'{AB_PLACE} <axis>: xyz="0 -0 0.0" has no direction; give one such as "0 0 1"',
    ),
    "zero axis of a plane": (joint('<axis xyz="0 0 0"/>', "planar"), f"{AB_PLACE} <axis>: xyz="),
    "short axis": (
        joint('<axis xyz="0 1"/>'),
        f'{AB_PLACE} <axis>: xyz="0 1" has 2 values; give 3 numbers separated by spaces',
    ),
    "long origin": (joint('<origin xyz="0 1 2 3"/>'), f'{AB_PLACE} <origin>: xyz="0 1 2 3" has 4'),
    "commas": (joint('<origin rpy="0,1,2"/>'), f'{AB_PLACE} <origin>: rpy="0,1,2" has 1 values'),
    "empty vector": (joint('<origin xyz=""/>'), f'{AB_PLACE} <origin>: xyz="" has 0 values'),
    "NaN in an origin": (
        joint('<origin xyz="0 nan 0"/>'),
        f'{AB_PLACE} <origin>: xyz="0 nan 0": "nan" is not a finite number',
    ),
    "word in a rotation": (
        joint('<origin rpy="0 0 pi"/>'),
        f'{AB_PLACE} <origin>: rpy="0 0 pi": "pi" is not a finite number',
    ),
    "infinite axis": (joint('<axis xyz="0 0 inf"/>'), f'{AB_PLACE} <axis>: xyz="0 0 inf": "inf"'),
    "overflow": (joint('<axis xyz="0 0 1e999"/>'), f'{AB_PLACE} <axis>: xyz="0 0 1e999": "1e999"'),
    "underscore": (
        joint('<limit effort="1_0"/>'),
        f'{AB_PLACE} <limit>: effort="1_0" is not a finite',
    ),
    "other digits": (
        joint('<limit effort="１"/>'),
        f'{AB_PLACE} <limit>: effort="１" is not a finite',
    ),
    "NaN limit": (
        joint('<limit upper="nan"/>'),
        f'{AB_PLACE} <limit>: upper="nan" is not a finite',
    ),
    "NaN effort": (
        joint('<limit effort="NaN"/>'),
        f'{AB_PLACE} <limit>: effort="NaN" is not a finite',
    ),
    "crossed limits": (
        joint('<limit lower="2" upper="1"/>'),
        f"{AB_PLACE} <limit>: lower=2 is above upper=1 (one that is missing counts as 0); exchange",
    ),
    "crossed by default": (
        joint('<limit lower="0.5"/>'),
        f"{AB_PLACE} <limit>: lower=0.5 is above upper=0 (one that is missing counts as 0)",
    ),
    "no position left": (
        joint('<limit lower="inf" upper="inf"/>'),
        f"{AB_PLACE} <limit>: lower=inf",
    ),
    "NaN damping": (joint('<dynamics damping="nan"/>'), f'{AB_PLACE} <dynamics>: damping="nan" is'),
    "infinite friction": (
        joint('<dynamics friction="inf"/>'),
        f'{AB_PLACE} <dynamics>: friction="',
    ),
    "negative friction": (
        joint('<dynamics friction="-1"/>'),
        f'{AB_PLACE} <dynamics>: friction="-1" is negative; friction opposes motion',
    ),
    "no mass": (
        inertial(f"<inertia {SIX}/>"),
        '<text>:3: <link name="a"> <inertial>: has no <mass>; add <mass value="..."/>',
    ),
    "mass without value": (
        inertial(f'<mass kg="1"/><inertia {SIX}/>'),
        '<text>:3: <link name="a"> <mass>: has no attribute "value"; give a number',
    ),
    "negative mass": (
        inertial(f'<mass value="-0.5"/><inertia {SIX}/>'),
        '<text>:3: <link name="a"> <mass>: value="-0.5" is a negative mass',
    ),
    "infinite mass": (
        inertial(f'<mass value="inf"/><inertia {SIX}/>'),
        '<text>:3: <link name="a"> <mass>: value="inf" is not a finite number',
    ),
    "missing moment": (
        inertial('<mass value="1"/><inertia ixx="1" iyy="1"/>'),
        '<text>:3: <link name="a"> <inertia>: has no attribute "izz"; give a number',
    ),
    "NaN moment": (
        inertial(f'<mass value="1"/><inertia {SIX.replace("0", "nan", 1)}/>'),
        '<text>:3: <link name="a"> <inertia>: ixy="nan" is not a finite number',
    ),
    "two inertials": (
        robot('<link name="a">\n<inertial/>\n<inertial/></link>'),
        '<text>:2: <link name="a">: has 2 <inertial> elements (lines 3, 4); keep one',
    ),
    "quaternion in URDF 1.0": (
        joint('<origin quat_xyzw="0 0 0 1"/>'),
        f'{AB_PLACE} <origin>: quat_xyzw="0 0 0 1" needs URDF 1.1; write <robot version="1.1">',
    ),
    "zero quaternion": (
        joint('<origin quat_xyzw="0 0 0 0"/>').replace("<robot", '<robot version="1.1"'),
        f'{AB_PLACE} <origin>: quat_xyzw="0 0 0 0" has no direction',
    ),
    "both rotations": (
        joint('<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>').replace(
            "<robot", '<robot version="1.1"'
        ),
        f"{AB_PLACE} <origin>: has both rpy and quat_xyzw; keep one",
    ),
    # mimic
    "mimic of nobody": (
        joint('<mimic joint="bcd"/>'),
        f'{AB_PLACE} <mimic>: "bcd" is not a joint of this robot (did you mean "bc"?); correct',
    ),
    "mimic without joint": (joint("<mimic/>"), f'{AB_PLACE} <mimic>: names no joint; add joint="'),
    "mimic of itself": (joint('<mimic joint="ab"/>'), f"{AB_PLACE} <mimic>: mimics itself"),
    "mimics in a circle": (
        joint('<mimic joint="bc"/>').replace(
            'name="bc" type="fixed">', 'name="bc" type="prismatic"><mimic joint="ab"/>'
        ),
        '<text>:5: <joint name="bc"> <mimic>: mimics itself (through "bc", "ab")',
    ),
    "mimic of a fixed joint": (
        joint('<mimic joint="bc"/>'),
        f'{AB_PLACE} <mimic>: joint "bc" (line 5) is fixed; only a joint of one coordinate mim',
    ),
    "mimic on a floating joint": (
        joint('<mimic joint="bc"/>', "floating"),
        f'{AB_PLACE} <mimic>: joint "ab" (line 6) is floating; only a joint of one',
    ),
    "NaN multiplier": (
        joint('<mimic joint="bc" multiplier="nan"/>'),
        f'{AB_PLACE} <mimic>: multiplier="nan" is not a finite number',
    ),
    # not XML
    "not well-formed": ("<robot>\n<link", "<text>:2: column ", "not well-formed XML: "),
    "two roots of XML": ("<robot/>\n<robot/>", "<text>:2: column ", "not well-formed XML"),
    "undeclared entity": (
        "<robot>\n&bomb;</robot>",
        "<text>:2: column ",
        "Entity 'bomb' not defined",
    ),
    "undeclared prefix": (
        "<robot>\n<xacro:x/></robot>",
        "<text>:2: <xacro:x>: <xacro:x> is not expanded; run xacro first",
    ),
    "undeclared prefixes": (
        f"<robot>{''.join(f'<p{k}:x/>' for k in range(30))}</robot>",
        "<text>: more than 20 prefixes of names are not declared",
    ),
    "zero character": ("<robot>\0</robot>", "<text>:1: column ", "not well-formed XML"),
    "lone surrogate": ("<robot>\ud800</robot>", "<text>: the text is not valid Unicode"),
    "empty": ("", "the robot description is empty; give a path or the XML text"),
    "blank": (" \n", "the robot description is empty"),
    "no such file": ("/nowhere/robot.urdf", "/nowhere/robot.urdf: no such file"),
    "impossible path": ("a\0b", "cannot be read"),
    "folder": ("/", "'/': cannot be read: Is a directory"),
    "a number": (7, "a robot description is a path or XML text, not int"),
    "nothing": (None, "a robot description is a path or XML text, not NoneType"),
    "bytes": (b"<robot/>", "a robot description is a path or XML text, not bytes"),
}


@pytest.mark.parametrize("case", CASES)
def test_refusals(case: str, capfd: pytest.CaptureFixture[str]) -> None:
    source, start, *more = CASES[case]
    message = refusal(source)
    if start.startswith("<text>"):
        assert message.startswith(start)
    for part in (start, *more):
        assert part in message
    assert capfd.readouterr() == ("", "")


def test_the_cases_are_right_but_for_their_fault() -> None:
    assert read_urdf(joint("")).root == "a"
    assert read_urdf(inertial(f'<mass value="1"/><inertia {SIX}/>')).warnings == ()


# -- hostile files -----------------------------------------------------------------------------

BOMB = "".join(
    f'<!ENTITY e{i} "{"".join(f"&e{i - 1};" for _ in range(10))}">' for i in range(1, 12)
)
HOSTILE = {
    "entity bomb": f'<!DOCTYPE robot [<!ENTITY e0 "ha">{BOMB}]>\n<robot name="&e11;"/>',
    "external entity": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot>&x;</robot>',
    "parameter entity": '<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1/x.dtd"> %x;]><robot/>',
    "external subset": '<!DOCTYPE robot SYSTEM "http://127.0.0.1/robot.dtd"><robot/>',
    "harmless": '<!DOCTYPE robot><robot name="r"><link name="a"/></robot>',
    "hidden behind a comment": "<!--><robot> -->\n<!DOCTYPE robot><robot/>",
    "hidden behind an instruction": "<?x <robot> ?><!-- <robot> -->\n\n <!DOCTYPE robot><robot/>",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("encoding", [None, "utf-8", "utf-16", "utf-7", "cp037"])
def test_document_types_are_refused(name: str, encoding: str | None, tmp_path: Path) -> None:
    text = HOSTILE[name]
    start = time.perf_counter()
    if encoding is None:
        message = refusal(text)
        line = text[: text.index("<!DOCTYPE")].count("\n") + 1
        assert message.startswith(f"<text>:{line}: a document type or entity declaration")
    else:
        path = tmp_path / "hostile.urdf"
        path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>{text}'.encode(encoding))
        message = refusal(path)
        assert "a document type or entity declaration" in message or encoding == "cp037"
    assert time.perf_counter() - start < 1.0
    assert "root:" not in message


def test_deep_nesting_is_refused() -> None:
    message = refusal("<robot>" + "<a>" * 100_000)
    assert message.startswith("<text>:1: ") and "not well-formed XML" in message


@pytest.mark.parametrize("comment", ["a -- b", "---------", "a <!-- b -- ", " -", "- -"])
def test_comments_may_hold_hyphens(comment: str) -> None:
    """Other readers take them, and such files are about."""
    text = f"<robot name='a'><!--{comment}--><link name='--b'/><!--{comment}--></robot>"
    assert [one.name for one in mbdyn_ros.load(text).model.links] == ["--b"]
    with pytest.raises(ModelError, match="<text>:2: column 15: not well-formed XML"):
        mbdyn_ros.load(f"<robot name='a'><!--{comment}-->\n<link></robot>")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_bytes(b"")
    assert refusal(path) == f"{path}: the file is empty"
    path.write_bytes(b"<robot>\n\n\xff</robot>")
    assert refusal(path).startswith(f"{path}:3: the bytes are not utf-8 text; save")
    path.write_bytes(b'<?xml version="1.0" encoding="klingon"?><robot/>')
    assert refusal(path) == f'{path}:1: unknown encoding "klingon"; save it as UTF-8'
    path.write_bytes(b'<?xml version="1.0" encoding="zlib"?><robot/>')
    assert "encoding" in refusal(path) or "bytes are not" in refusal(path)
    path.write_text("just words")
    assert refusal(path).startswith(f"{path}:1: column ")


def test_messages_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(joint('<axis xyz="0 0 0"/>'))
    assert refusal(path).startswith(f'{path}:6: <joint name="ab"> <axis>: xyz="0 0 0"')
    path.write_text(robot(LINKS + BC))
    assert refusal(str(path)).startswith(f"{path}:3: 2 links have no parent joint")


def test_too_many_tags_are_refused() -> None:
    assert refusal("<robot>" + "<a/>" * 500_000).startswith("<text>: has 500001 tags")


def test_a_message_is_no_book() -> None:
    """Whatever it quotes; its beginning and its end stay."""
    with pytest.raises(ModelError) as caught:
        read_urdf(CART.replace('<mass value="2"', f'<mass value="{"x" * 10**6}"'))
    assert len(str(caught.value)) < 1.1 * LONGEST_MESSAGE
    assert str(caught.value).startswith("<text>:1:") and str(caught.value).endswith("1e-3")


def test_a_long_chain_of_mimics_is_read_in_time() -> None:
    """4000 joints took minutes when every chain was followed to its end."""
    joints = "".join(
        f'<link name="l{k + 1}"/><joint name="j{k}" type="continuous"><parent link="l{k}"/>'
        f'<child link="l{k + 1}"/>' + (f'<mimic joint="j{k - 1}"/>' if k else "") + "</joint>"
        for k in range(4000)
    )
    start = time.process_time()
    model = read_urdf(f'<robot name="r"><link name="l0"/>{joints}</robot>')
    assert len(model.joints) == 4000 and time.process_time() - start < 20


def test_a_warning_is_no_book() -> None:
    link = '<link name="l{}" speed="1"/>'
    chain = "".join(
        f'{link.format(k + 1)}<joint name="j{k}" type="fixed"><parent link="l{k}"/>'
        f'<child link="l{k + 1}"/></joint>'
        for k in range(1000)
    )
    text = f'<robot name="r">{link.format(0)}{chain}{"<x/>" * 1000}</robot>'
    with pytest.warns(ModelWarning) as caught:
        mbdyn_ros.load(text)
    messages = [str(one.message) for one in caught]
    assert messages[0] == "<text>:1: <robot>: <x> is not URDF here; not used"
    assert "and 980 more" in messages[1] and len("".join(messages)) < 1200


def test_lists_end() -> None:
    many = "".join(f'<link name="a{k}"/>' for k in range(1000))
    text = refusal(f"<robot>{many}</robot>")
    assert text.startswith("<text>:1: 1000 links have no parent joint") and len(text) < 1200
    assert "and 980 more" in text and text.endswith("join them to the tree or remove them")
