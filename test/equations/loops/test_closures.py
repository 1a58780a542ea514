"""Loops and couplings in a URDF: what they mean, which are refused, which joints are cut."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from named_loops import CLOSED, SECOND, four_bar, loop
from random_robots import explore

import mbdyn_ros
from mbdyn_ros.model import Model, ModelError, read_urdf
from mbdyn_ros.model.closing_types import CLOSING_TYPES

PLACE = '<text>:8: <loop name="pin">'
GEAR = '<text>:8: <coupling name="gear">'


def coupling(children: str, name: str = "gear") -> str:
    return f'<coupling name="{name}">{children}</coupling>'


def refusal(text: str) -> str:
    """The message with which a text is refused."""
    with pytest.raises(ModelError) as caught:
        read_urdf(text)
    assert caught.value.__cause__ is None
    return str(caught.value)


# -- what a file says --------------------------------------------------------------------------


def test_a_plain_urdf_has_no_loops() -> None:
    model = read_urdf(four_bar())
    assert (model.loops, model.couplings, model.independent) == ((), (), None)
    assert (model.actuated, dict(model.home), model.warnings) == (None, {}, ())


def test_a_loop() -> None:
    model = read_urdf(
        four_bar(
            loop(
                '<axis xyz="0 0 -3"/><successor link="rocker"><origin '
                'rpy="0 0 1.5707963267948966"/></successor>'
                '<predecessor link="tip"><origin xyz="1 2 3"/></predecessor>'
            )
        )
    )
    assert model.warnings == () and len(model.loops) == 1
    (pin,) = model.loops
    assert (pin.name, pin.type, pin.line) == ("pin", "revolute", 8)
    assert (pin.predecessor, pin.successor) == ("tip", "rocker")
    assert pin.axis.tolist() == [0, 0, -1]
    assert pin.predecessor_frame.translation.tolist() == [1, 2, 3]
    assert np.array_equal(pin.predecessor_frame.rotation, np.eye(3))
    assert not pin.successor_frame.translation.any()
    assert pin.successor_frame.rotation.tolist() == [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    with pytest.raises(ValueError, match="read-only"):
        pin.axis[0] = 1.0


@pytest.mark.parametrize("kind", CLOSING_TYPES)
def test_every_type_and_the_defaults(kind: str) -> None:
    (pin,) = read_urdf(four_bar(loop(kind=kind))).loops
    assert pin.type == kind and pin.axis.tolist() == [1, 0, 0]
    for frame in (pin.predecessor_frame, pin.successor_frame):
        assert np.array_equal(frame.matrix(), np.eye(4))


@pytest.mark.parametrize("kind", ["fixed", "spherical"])
def test_an_axis_that_means_nothing_is_not_looked_at(kind: str) -> None:
    (pin,) = read_urdf(four_bar(loop(CLOSED + '<axis xyz="0 0 0"/>', kind))).loops
    assert pin.axis.tolist() == [1, 0, 0]


@pytest.mark.parametrize("kind", ["", ' type="rolling"', ' type="belt"'])
def test_a_coupling(kind: str) -> None:
    text = coupling(CLOSED + '<ratio value="-6.5"/>').replace("<coupling", f"<coupling{kind}")
    model = read_urdf(four_bar(text))
    (gear,) = model.couplings
    assert (gear.name, gear.predecessor, gear.successor) == ("gear", "coupler", "rocker")
    assert (gear.ratio, gear.line, model.warnings) == (-6.5, 8, ())


def test_loops_keep_document_order() -> None:
    model = read_urdf(four_bar(loop(name="z") + loop(name="b") + loop(name="y")))
    assert [one.name for one in model.loops] == ["z", "b", "y"]


def test_what_is_not_read_is_said() -> None:
    model = read_urdf(
        four_bar(
            loop(CLOSED + '<limit lower="0"/><axes/>').replace("<loop", '<loop kind="x"')
            + coupling(
                '<predecessor link="coupler"><origin/></predecessor><successor link="rocker"/>'
                '<ratio value="2" unit="1"/>'
            )
        )
    )
    text = "\n".join(model.warnings)
    for part in ('"kind"', "<limit>", "<axes>", '"unit"', "a coupling has no frames"):
        assert part in text


# -- independent joints ------------------------------------------------------------------------


def test_independent_joints() -> None:
    assert read_urdf(four_bar(j1="true", j2="false", j4="false")).independent == ("j1",)
    assert read_urdf(four_bar(j1="True", j2="False", j4="False")).independent == ("j1",)
    # as in URDF+, a joint that says nothing is independent
    assert read_urdf(four_bar(j2="false")).independent == ("j1", "j4")
    assert read_urdf(four_bar(j1="true")).independent == ("j1", "j2", "j4")
    # but in a loop with a "true" and no "false" those that say nothing are dependent
    assert read_urdf(four_bar(loop(), j1="true")).independent == ("j1",)
    closed = read_urdf(four_bar(loop(), j1="true", j2="false"))
    assert closed.independent == ("j1", "j4")


def test_a_joint_that_mimics_is_not_independent_unless_it_says_so() -> None:
    mimicking = four_bar(j1="true").replace(
        '<child link="rocker"/>', '<child link="rocker"/><mimic joint="j1"/>'
    )
    assert read_urdf(mimicking).independent == ("j1", "j2")
    marked = mimicking.replace('"j4"', '"j4" independent="true"').replace('"true"', '"false"', 1)
    assert read_urdf(marked).independent == ("j2", "j4")


def test_a_fixed_joint_is_not_independent() -> None:
    model = read_urdf(four_bar(weld="true"))
    assert model.independent is None
    assert model.warnings == (
        '<text>:7: <joint name="weld">: a fixed joint has no position; its independent is not used',
    )


# -- refusals ----------------------------------------------------------------------------------

CASES = {
    "loop without name": (loop(name=""), "<text>:8: <loop>: this loop has no name"),
    "no type": (loop().replace(' type="revolute"', ""), f"{PLACE}: has no type; a loop is closed"),
    "wrong type": (
        loop(kind="revolut"),
        f'{PLACE}: type "revolut" is unknown (did you mean "revolute"?); a loop is closed by one '
        "of fixed, revolute, continuous, prismatic, cylindrical, universal, spherical, planar",
    ),
    "floating": (loop(kind="floating"), f'{PLACE}: type "floating" is unknown; a loop is closed'),
    "gimbal": (loop(kind="gimbal"), f'{PLACE}: type "gimbal" is unknown; a loop is closed by'),
    "no predecessor": (
        loop('<successor link="rocker"/>'),
        f'{PLACE}: names no predecessor; add <predecessor link="..."/>',
    ),
    "no successor": (loop('<predecessor link="coupler"/>'), f"{PLACE}: names no successor"),
    "end without link": (loop("<predecessor/>"), f"{PLACE} <predecessor>: names no predecessor"),
    "two predecessors": (
        loop(CLOSED + '<predecessor link="tip"/>'),
        f"{PLACE}: has 2 <predecessor> elements (lines 8, 8); keep one",
    ),
    "unknown link": (
        loop(CLOSED.replace("coupler", "couple")),
        f'{PLACE}: its predecessor "couple" is not a link of this robot (did you mean "coupler"?)',
    ),
    "joint for a link": (
        loop(CLOSED.replace("rocker", "j4")),
        f'{PLACE}: its successor "j4" is not a link of this robot',
    ),
    "zero axis": (
        loop(CLOSED + '<axis xyz="0 0 0"/>'),
        f'{PLACE} <axis>: xyz="0 0 0" has no direction; give one',
    ),
    "NaN axis": (loop(CLOSED + '<axis xyz="0 nan 1"/>'), f'{PLACE} <axis>: xyz="0 nan 1": "nan"'),
    "infinite origin": (
        loop(CLOSED.replace('"coupler"/>', '"coupler"><origin xyz="0 inf 0"/></predecessor>')),
        f'{PLACE} <origin>: xyz="0 inf 0": "inf" is not a finite number',
    ),
    "itself": (
        loop(CLOSED.replace("rocker", "coupler")),
        f'{PLACE}: joins the link "coupler" to itself; give another end',
    ),
    "rigid": (
        loop(CLOSED.replace("rocker", "tip")),
        f'{PLACE}: its ends "coupler" and "tip" are held together by fixed joints',
    ),
    "same name": (
        loop() + "\n" + loop(CLOSED.replace("coupler", "tip")),
        '<text>:9: <loop name="pin">: the name is taken by <text>:8: <loop name="pin">; loops',
    ),
    "loop and coupling of one name": (
        loop() + coupling(CLOSED + '<ratio value="1"/>', "pin"),
        '<text>:8: <coupling name="pin">: the name is taken by <text>:8: <loop name="pin">',
    ),
    "coupling without name": (coupling(CLOSED, ""), "<text>:8: <coupling>: this coupling has no"),
    "coupling without ends": (coupling(""), f"{GEAR}: names no predecessor"),
    "no ratio": (coupling(CLOSED), f'{GEAR}: has no <ratio>; add <ratio value="..."/>'),
    "ratio without value": (
        coupling(CLOSED + "<ratio>6</ratio>"),
        f'{GEAR} <ratio>: has no attribute "value"',
    ),
    "zero ratio": (
        coupling(CLOSED + '<ratio value="-0.0"/>'),
        f"{GEAR} <ratio>: a ratio of 0 would hold the successor still",
    ),
    "infinite ratio": (
        coupling(CLOSED + '<ratio value="inf"/>'),
        f'{GEAR} <ratio>: value="inf" is not a finite number',
    ),
    "coupling to itself": (
        coupling(CLOSED.replace("rocker", "coupler") + '<ratio value="1"/>'),
        f'{GEAR}: joins the link "coupler" to itself',
    ),
    "coupling of a rigid pair": (
        coupling(CLOSED.replace("rocker", "tip") + '<ratio value="1"/>'),
        f'{GEAR}: its ends "coupler" and "tip" are held together',
    ),
    "coupling to what carries it": (
        coupling(CLOSED.replace("rocker", "crank") + '<ratio value="1"/>'),
        f'{GEAR}: the link "crank" carries "coupler", so there is no turn of "crank" to couple',
    ),
    "coupling to the base": (
        coupling(CLOSED.replace("coupler", "base") + '<ratio value="1"/>'),
        f'{GEAR}: the link "base" carries "rocker"',
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_refusals(case: str) -> None:
    closing, start = CASES[case]
    assert refusal(four_bar(closing)).startswith(start)


@pytest.mark.parametrize("word", ["yes", "1", "TRUE", "", " true"])
def test_other_words_than_true_and_false(word: str) -> None:
    message = refusal(four_bar(j2=word))
    assert message == (
        f'<text>:5: <joint name="j2">: independent="{word}" is neither "true" nor "false"'
    )


def test_no_independent_joint_is_left() -> None:
    message = refusal(four_bar(j1="false", j2="false", j4="false"))
    assert message.startswith('<text>: every joint that moves is marked independent="false"')


# -- a link that is the child of two joints ----------------------------------------------------


def test_the_second_joint_to_a_link_is_cut() -> None:
    model = read_urdf(four_bar(SECOND.format("")))
    assert [joint.name for joint in model.joints] == ["j1", "j2", "j4", "weld"]
    (pin,) = model.loops
    assert (pin.name, pin.type, pin.line) == ("j3", "revolute", 8)
    assert (pin.predecessor, pin.successor) == ("coupler", "rocker")
    assert pin.predecessor_frame.translation.tolist() == [1, 2, 3]
    assert pin.predecessor_frame.rotation[1, 0] == np.sin(1)
    assert np.array_equal(pin.successor_frame.matrix(), np.eye(4))
    assert pin.axis.tolist() == [0, 0, 1]
    assert model.warnings == (
        '<text>:8: <joint name="j3">: its child "rocker" has a parent by joint "j4" (line 6) too; '
        'cut here, and closed as the loop "j3"',
    )


def test_what_a_cut_joint_loses_is_said() -> None:
    model = read_urdf(four_bar(SECOND.format('<dynamics damping="2"/>')))
    assert model.warnings[0].endswith('the loop "j3" without its damping and friction')


def test_the_first_joint_in_the_document_is_kept() -> None:
    text = four_bar().replace("<joint", SECOND.format("") + "<joint", 1)
    model = read_urdf(text)
    assert [joint.name for joint in model.joints] == ["j3", "j1", "j2", "weld"]
    assert [one.name for one in model.loops] == ["j4"]


def test_unless_no_tree_is_left() -> None:
    # the first parent of x lies behind x itself: keeping it would part x and y from the base
    text = """<robot name="r"><link name="base"/><link name="x"/><link name="y"/><link name="z"/>
    <joint name="yx" type="revolute"><parent link="y"/><child link="x"/><axis/></joint>
    <joint name="xy" type="revolute"><parent link="x"/><child link="y"/><axis/></joint>
    <joint name="bx" type="revolute"><parent link="base"/><child link="x"/><axis/></joint>
    <joint name="yz" type="revolute"><parent link="y"/><child link="z"/><axis/></joint>
    <joint name="bz" type="spatial"><parent link="base"/><child link="z"/></joint></robot>"""
    model = read_urdf(text.replace("spatial", "fixed"))
    assert [joint.name for joint in model.joints] == ["xy", "bx", "yz"]
    assert [(one.name, one.type) for one in model.loops] == [("yx", "revolute"), ("bz", "fixed")]


def test_a_joint_that_needs_a_position_is_kept() -> None:
    for text in (
        four_bar(SECOND.format(""), j3="true"),
        four_bar(SECOND.format('<mimic joint="j1"/>')),
        four_bar(SECOND.format("")).replace(
            '<child link="crank"/>', '<child link="crank"/><mimic joint="j3"/>'
        ),
    ):
        model = read_urdf(text)
        assert [one.name for one in model.loops] == ["j4"]
        assert "j3" in [joint.name for joint in model.joints]


@pytest.mark.parametrize("kind", ["revolute", "floating"])
def test_a_cut_joint_may_keep_its_position(kind: str) -> None:
    """It ends in a link of its own, which is held fast: what is named must have a position."""
    second = SECOND.format("").replace("revolute", kind)
    if kind == "revolute":
        model = read_urdf(four_bar(second, j3="true", j4="true"))
        assert model.independent is not None and {"j3", "j4"} <= set(model.independent)
        name = "j3"
    else:  # the second joint of two that close nothing
        model = read_urdf(four_bar(second + second.replace("j3", "j5")))
        name = "j5"
    assert model.joint(name).child == f"{name}/end" == model.link(f"{name}/end").name
    held = model.loops[-1]
    assert (held.type, held.predecessor, held.successor) == ("fixed", f"{name}/end", "rocker")
    assert any(f'held there by the loop "{name}/end"' in text for text in model.warnings)


def test_what_cannot_be_cut_is_refused() -> None:
    parallel = SECOND.format("").replace("coupler", "crank").replace("rocker", "tip")
    twice = four_bar(parallel).replace('name="j2" type="continuous"', 'name="j2" type="fixed"')
    message = refusal(twice)
    assert message.startswith('<text>:8: <joint name="j3">: its ends "crank" and "tip" are held')
    message = refusal(four_bar(loop(name="j3") + SECOND.format("")))
    assert message.startswith('<text>:8: <joint name="j3">: the name is taken by <text>:8: <loop')


def test_several_roots_and_cycles_are_still_refused() -> None:
    two = refusal(four_bar(SECOND.format("").replace("coupler", "lone") + '<link name="lone"/>'))
    assert "2 links have no parent joint" in two
    cycle = refusal(four_bar(SECOND.format("").replace("rocker", "base")))
    assert "form a cycle" in cycle and "write the one that closes it as a <loop>" in cycle


@settings(max_examples=100)
@given(st.integers(2, 9), st.integers(0, 12), st.randoms(use_true_random=False))
def test_any_graph_that_a_root_reaches_becomes_a_tree(
    count: int, more: int, shuffler: random.Random
) -> None:
    pairs = [(shuffler.randrange(i), i) for i in range(1, count)]
    pairs += [(shuffler.randrange(count), shuffler.randrange(1, count)) for _ in range(more)]
    pairs = [(parent, child) for parent, child in pairs if parent != child]
    shuffler.shuffle(pairs)
    text = "".join(f'<link name="{i}"/>' for i in range(count)) + "".join(
        f'<joint name="{i}to{j} {k}" type="revolute"><parent link="{i}"/>'
        f'<child link="{j}"/><axis/></joint>'
        for k, (i, j) in enumerate(pairs)
    )
    model = read_urdf(f'<robot name="r">{text}</robot>')
    assert model.root == "0" and len(model.joints) == count - 1
    assert len(model.joints) + len(model.loops) == len(pairs) == len(model.warnings) + count - 1
    assert {joint.child for joint in model.joints} == {str(i) for i in range(1, count)}


def test_many_loops_are_read_quickly() -> None:
    count = 2000
    text = '<link name="0"/>' + "".join(
        f'<link name="{i}"/><joint name="j{i}" type="revolute"><parent link="{i - 1}"/>'
        f'<child link="{i}"/></joint><joint name="k{i}" type="revolute"><parent link="0"/>'
        f'<child link="{i}"/></joint>'
        for i in range(1, count)
    )
    start = time.perf_counter()
    model = read_urdf(f'<robot name="r">{text}</robot>')
    assert len(model.loops) == count - 1
    assert time.perf_counter() - start < 10


# -- whatever the text -------------------------------------------------------------------------

VALID = four_bar(
    loop(
        '<predecessor link="tip"><origin xyz="0.1 0 0" rpy="0 0 0.5"/></predecessor>'
        '<successor link="rocker"><origin xyz="1 2 3"/></successor><axis xyz="0 0.6 0.8"/>'
    )
    + coupling(CLOSED + '<ratio value="2"/>')
    + SECOND.format(""),
    j1="true",
    j2="false",
    j4="false",
)


def read_or_refuse(text: str) -> Model | None:
    """The model, or None where it is refused; anything else raised is a defect."""
    try:
        model = read_urdf(text)
    except ModelError as error:
        assert str(error)
        return None
    links = {link.name for link in model.links}
    joints = {joint.name for joint in model.joints}
    for one in model.loops:
        assert one.type in CLOSING_TYPES and {one.predecessor, one.successor} <= links
        assert abs(np.linalg.norm(one.axis) - 1) < 1e-14
        assert np.isfinite(one.predecessor_frame.matrix()).all()
        assert np.isfinite(one.successor_frame.matrix()).all()
    for gear in model.couplings:
        assert np.isfinite(gear.ratio) and gear.ratio
    assert model.independent is None or set(model.independent) <= joints
    assert len(links) == len(joints) + 1
    return model


def test_the_seed_is_valid() -> None:
    model = read_or_refuse(VALID)
    assert model is not None and len(model.loops) == 2 and len(model.couplings) == 1


VALUES = VALID.split('"')[1::2]
WORDS = ["nan", "1e400", "-1e308", "", "0 0 0", "1e99 -1e99 1e99", "base", "j3", "pin", "spherical"]


@explore(100, 500)
@given(st.data())
def test_any_value_anywhere(data: st.DataObject) -> None:
    parts = VALID.split('"')
    for _ in range(data.draw(st.integers(1, 3))):
        place = 2 * data.draw(st.integers(0, len(VALUES) - 1)) + 1
        parts[place] = data.draw(st.sampled_from(WORDS + VALUES) | st.floats().map(repr))
    read_or_refuse('"'.join(parts))


@explore(60, 300)
@given(st.data())
def test_elements_anywhere(data: st.DataObject) -> None:
    parts = VALID.replace(">", ">\0").split("\0")
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(parts) - 1))
        end = data.draw(st.integers(start, min(start + 4, len(parts))))
        parts[start:end] = data.draw(st.sampled_from([[], parts[start:end] * 2, ["<axis/>"]]))
    read_or_refuse("".join(parts) or "<robot/>")


def test_marking_what_the_warning_proposes() -> None:
    original = mbdyn_ros.example("excavator")
    text = Path(str(original.model.source)).read_text()
    assert text.count('independent="true"') == len(original.independent_joints)
    marked = mbdyn_ros.load(text.replace(' independent="false"', ""))
    assert marked.independent_joints == original.independent_joints
