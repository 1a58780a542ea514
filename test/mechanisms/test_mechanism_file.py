"""The side-car file: the same record as in a URDF, and what is refused in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from named_loops import SECOND, four_bar, loop
from random_robots import explore

from mbdyn_ros.model import Model, ModelError, read_mechanism, read_urdf

BARE = read_urdf(four_bar())
WHOLE = """\
loops:
  - {name: pin, type: revolute, axis: [0, 0, -3],
     predecessor: {link: tip, xyz: [1, 2.5, 3], rpy: [0, 0, 1.5707963267948966]},
     successor: {link: rocker}}
couplings:
  - name: gear
    predecessor: {link: coupler}
    successor: {link: rocker}
    ratio: -1e-1
independent: [j1]
actuated: [j4]
home: {j1: 0.5, j4: -2}
"""


def refusal(text: object, model: Model = BARE) -> str:
    """The message with which a mechanism is refused."""
    with pytest.raises(ModelError) as caught:
        read_mechanism(text, model)  # type: ignore[arg-type]
    assert caught.value.__cause__ is None
    return str(caught.value)


# -- what a file says --------------------------------------------------------------------------


def test_all_there_is(tmp_path: Path) -> None:
    path = tmp_path / "mechanism.yaml"
    path.write_text(WHOLE)
    for source in (WHOLE, path, str(path)):
        model = read_mechanism(source, BARE)
        (pin,), (gear,) = model.loops, model.couplings
        assert (pin.name, pin.type, pin.line) == ("pin", "revolute", 2)
        assert (pin.predecessor, pin.successor) == ("tip", "rocker")
        assert pin.axis.tolist() == [0, 0, -1]
        assert pin.predecessor_frame.translation.tolist() == [1, 2.5, 3]
        assert pin.predecessor_frame.rotation.tolist() == [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
        assert np.array_equal(pin.successor_frame.matrix(), np.eye(4))
        assert (gear.name, gear.predecessor, gear.successor) == ("gear", "coupler", "rocker")
        assert (gear.ratio, gear.line) == (-0.1, 6)
        assert (model.independent, model.actuated) == (("j1",), ("j4",))
        assert model.home == {"j1": 0.5, "j4": -2.0}
    assert (BARE.loops, BARE.couplings, BARE.independent) == ((), (), None)
    assert (model.joints, model.links, model.root) == (BARE.joints, BARE.links, BARE.root)
    assert (model.source, model.warnings) == (BARE.source, BARE.warnings)


def test_the_same_as_in_a_urdf() -> None:
    ends = (
        '<predecessor link="tip"><origin xyz="0.1 0.2 0.3" rpy="0.1 -0.2 0.3"/></predecessor>'
        '<successor link="rocker"><origin xyz="-1 0 1"/></successor><axis xyz="1 2 3"/>'
    )
    (one,) = read_urdf(four_bar(loop(ends, "universal"))).loops
    text = (
        "{loops: [{name: pin, type: universal, axis: [1, 2, 3], successor: {link: rocker, xyz: "
        "[-1, 0, 1]}, predecessor: {link: tip, xyz: [.1, .2, .3], rpy: [.1, -.2, .3]}}]}"
    )
    (other,) = read_mechanism(text, BARE).loops
    assert (one.name, one.type) == (other.name, other.type)
    assert np.array_equal(one.axis, other.axis)
    assert np.array_equal(one.predecessor_frame.matrix(), other.predecessor_frame.matrix())
    assert np.array_equal(one.successor_frame.matrix(), other.successor_frame.matrix())


def test_both_are_merged() -> None:
    closed = read_urdf(four_bar(loop(name="own"), j1="true", j2="false", j4="false"))
    model = read_mechanism(WHOLE.replace("independent: [j1]", "independent: [j4, j2]"), closed)
    assert [one.name for one in model.loops] == ["own", "pin"]
    assert model.independent == ("j4", "j2")
    model = read_mechanism("home: {j1: 1}\nloops:\ncouplings: []", model)
    assert [one.name for one in model.loops] == ["own", "pin"]
    assert (model.independent, model.actuated, model.home) == (("j4", "j2"), ("j4",), {"j1": 1.0})


def test_names_are_taken_as_they_are_written() -> None:
    robot = four_bar().replace('"j1"', '"yes"').replace('"j2"', '"010"').replace('"j4"', '"1e3"')
    model = read_mechanism('{independent: [yes, 010, "1e3"], home: {010: 10}}', read_urdf(robot))
    assert model.independent == ("yes", "010", "1e3")
    assert model.home == {"010": 10.0}


def test_anchors_and_comments() -> None:
    model = read_mechanism(
        "home: &a {j1: 1}  # rough\nloops: [&p {name: p, type: fixed, predecessor: &e {link: tip},"
        "\n successor: {link: rocker}}]\ncouplings: [{name: g, predecessor: *e, "
        "successor: {link: rocker}, ratio: 010}]",
        BARE,
    )
    assert model.couplings[0].predecessor == "tip"
    assert model.couplings[0].ratio == 10  # as in a URDF, not octal


# -- refusals ----------------------------------------------------------------------------------


def loops(record: str) -> str:
    """A file whose loop is in line 2."""
    return f"loops:\n  - {{{record}}}\n"


def couplings(record: str) -> str:
    return f"couplings:\n  - {{{record}}}\n"


NAMED = "name: pin, type: revolute"
ENDS = "predecessor: {link: tip}, successor: {link: rocker}"
PIN = f"{NAMED}, {ENDS}"
GEAR = f"name: gear, {ENDS}"
CASES = {
    # keys
    "unknown key": (
        "loop:\n  - 1\n",
        '<text>:1: a mechanism has no "loop" (did you mean "loops"?); it has loops, couplings, ',
    ),
    "key twice": ("home: {}\n\nhome: {}\n", '<text>:3: a mechanism has "home" in line 1 already'),
    "unknown key of a loop": (loops(PIN + ", axes: []"), '<text>:2: a loop has no "axes" (did you'),
    "unknown key of an end": (
        loops(NAMED + ", predecessor: {link: tip, origin: []}"),
        '<text>:2: loop "pin": predecessor has no "origin"; it has link, xyz, rpy',
    ),
    "frame of a coupling": (
        couplings("name: gear, predecessor: {link: tip, xyz: [0, 0, 0]}"),
        '<text>:2: coupling "gear": predecessor has no "xyz"; it has link',
    ),
    "list for a mapping": ("- 1\n- 2\n", "<text>:1: a mechanism must be a mapping with loops, "),
    "mapping for a list": ("loops:\n  pin: {}\n", "<text>:2: loops must be a list, not a mapping"),
    "word for a loop": ("loops:\n  - pin\n", "<text>:2: a loop must be a mapping with name, type"),
    "list for a key": ("{[1]: 2}", "<text>:1: a key of a mechanism must be a name, not a list"),
    # loops
    "no name": (loops(ENDS), "<text>:2: this loop has no name; give it one"),
    "empty name": (loops(f"name: , {ENDS}"), "<text>:2: the name of a loop is empty"),
    "no type": (loops(f"name: pin, {ENDS}"), '<text>:2: loop "pin": has no type; a loop is closed'),
    "wrong type": (
        loops(PIN.replace("revolute", "hing")),
        '<text>:2: loop "pin": type "hing" is unknown',
    ),
    "rivet": (loops(PIN.replace("revolute", "rivet")), 'type "rivet" is unknown'),
    "no predecessor": (
        loops(NAMED + ", successor: {link: tip}"),
        '<text>:2: loop "pin": names no predecessor; add predecessor: {link: ...}',
    ),
    "end without link": (
        loops(NAMED + ", predecessor: {}"),
        '<text>:2: loop "pin": its predecessor names no link; add link: ...',
    ),
    "word for an end": (
        loops(NAMED + ", predecessor: tip"),
        '<text>:2: loop "pin": predecessor must be a mapping with link, xyz, rpy, not tip',
    ),
    "unknown link": (
        loops(PIN.replace("tip", "tipp")),
        '<text>:2: loop "pin": its predecessor "tipp" is not a link of this robot (did you mean "t',
    ),
    "itself": (loops(PIN.replace("tip", "rocker")), 'joins the link "rocker" to itself'),
    "rigid": (loops(PIN.replace("rocker", "coupler")), 'its ends "tip" and "coupler" are held'),
    "zero axis": (
        loops(PIN + ", axis: [0, 0, 0]"),
        '<text>:2: loop "pin": its axis has no direction; give one such as [0, 0, 1]',
    ),
    "short axis": (loops(PIN + ", axis: [0, 1]"), 'loop "pin": its axis has 2 values; give [x, y'),
    "words for an axis": (loops(PIN + ", axis: 0 0 1"), "its axis must be a list, not 0 0 1"),
    "NaN": (
        loops(PIN.replace("tip}", "tip, xyz: [0, .nan, 0]}")),
        '<text>:2: loop "pin": predecessor: xyz must be a finite number such as 0.25 or 1e-3, not',
    ),
    "infinite": (loops(PIN.replace("tip}", "tip, rpy: [0, inf, 0]}")), "rpy must be a finite"),
    "text for a number": (
        loops(PIN.replace("tip}", 'tip, rpy: [0, "1", 0]}')),
        'rpy must be a finite number such as 0.25 or 1e-3, not the text "1"',
    ),
    "expression": (loops(PIN.replace("tip}", "tip, rpy: [0, pi/2, 0]}")), "not pi/2"),
    "same name": (
        loops(PIN) + "  - {" + PIN + "}\n",
        '<text>:3: loop "pin": the name is taken by <text>:2: loop "pin"; loops and couplings need',
    ),
    # couplings
    "no ratio": (couplings(GEAR), '<text>:2: coupling "gear": has no ratio; add ratio: ...'),
    "zero ratio": (
        couplings(f"{GEAR}, ratio: 0.0"),
        '<text>:2: coupling "gear": a ratio of 0 would hold',
    ),
    "infinite ratio": (couplings(f"{GEAR}, ratio: .inf"), "its ratio must be a finite number"),
    "coupling to a carrier": (
        couplings(f"{GEAR}, ratio: 1".replace("rocker", "crank")),
        '<text>:2: coupling "gear": the link "crank" carries "tip"',
    ),
    # joints
    "unknown joint": (
        "independent: [j1,\n j44]",
        '<text>:2: independent: "j44" is not a joint of this robot (did you mean "j4"?); the '
        'joints that move are "j1", "j2", "j4"',
    ),
    "fixed joint": ("actuated:\n- weld", '<text>:2: actuated: joint "weld" is fixed; the joints'),
    "link for a joint": ("actuated:\n- tip", '<text>:2: actuated: "tip" is not a joint'),
    "joint twice": ("actuated:\n- j1\n- j1", '<text>:3: actuated: names the joint "j1" twice'),
    "no joint": ("independent: []\n", "<text>:1: independent: names no joint; name some, or leave"),
    "nothing": ("home: {}\nactuated:", "<text>:2: actuated: names no joint; name some"),
    "word for joints": ("actuated: j1\n", "<text>:1: actuated must be a list, not j1"),
    "unknown home": ("home:\n  j7: 1\n", '<text>:2: home: "j7" is not a joint of this robot'),
    "home of a fixed joint": ("home:\n  weld: 1\n", '<text>:2: home: joint "weld" is fixed'),
    "NaN home": ("home: {j1: nan}\n", '<text>:1: home: joint "j1" must be a finite number'),
    "home twice": ("home: {j1: 1,\n j1: 2}", '<text>:2: home has "j1" in line 1 already; keep one'),
    # not YAML
    "torn": ("loops: [\n", "<text>:2: column 1: not well-formed YAML: "),
    "tabs": ("loops:\n\t- 1", "<text>:2: column 1: not well-formed YAML: found character"),
    "two documents": ("home: {}\n---\nhome: {}\n", "<text>:2: column 1: not well-formed YAML"),
    "alias of nothing": ("home: *x\n", "<text>:1: column 7: not well-formed YAML: found undefined"),
    "control character": ("home: {}\n\0", "<text>: not YAML: "),
    "deep": ("\n" + "[" * 1000, "<text>: nested too deeply"),
    "recursive": ("&a [*a]\n", "<text>:1: a mechanism must be a mapping"),
    "python": (
        "loops: !!python/object/apply:os.getcwd []\n",
        "<text>:1: loops must be a list, not",
    ),
    "empty": ("\n# nothing\n", "<text>: the file is empty"),
    "blank": (" ", "the mechanism is empty; give a path or the YAML text"),
    "no such file": ("/nowhere/arm.yaml", "/nowhere/arm.yaml: no such file (nor YAML text"),
    "one line": ("loops.txt", "loops.txt: no such file (nor YAML text"),
    "a number": (7, "the mechanism is a path or YAML text, not int"),
    "large": ("#" * 2**19 + "\nhome: {}", "<text>: has 524297 characters of YAML"),
}


@pytest.mark.parametrize("case", CASES)
def test_refusals(case: str) -> None:
    text, start = CASES[case]
    message = refusal(text)
    assert message.startswith(start) if start.startswith("<text>") else start in message


def test_the_cases_are_right_but_for_their_fault() -> None:
    assert read_mechanism(loops(PIN) + couplings(GEAR + ", ratio: 1"), BARE).loops


def test_what_the_urdf_has_already() -> None:
    closed = read_urdf(four_bar(loop()))
    assert refusal(loops(PIN), closed).startswith(
        '<text>:2: loop "pin": the name is taken by the loop in line 8 of <text>; loops and'
    )
    cut = read_urdf(four_bar(SECOND.format("")))
    assert refusal("actuated:\n- j3", cut).startswith(
        '<text>:2: actuated: "j3" closes a loop and has no position of its own; the joints that'
    )
    planar = read_urdf(four_bar().replace('"j4" type="continuous"', '"j4" type="planar"'))
    assert read_mechanism("actuated:\n- j4", planar).actuated == ("j4",)
    assert refusal("home:\n  j4: 1", planar).startswith('<text>:2: home: joint "j4" is planar; on')


def test_files_say_their_name(tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text("loops:\n - {}\n")
    assert refusal(path) == f"{path}:2: this loop has no name; give it one"
    path.write_bytes(b"\xff\xff")
    assert "the bytes are not utf-8 text" in refusal(path)
    path.write_bytes(b"")
    assert "the file is empty" in refusal(path)
    path.write_bytes(b"\xff\xfe" + WHOLE.encode("utf-16-le"))
    assert read_mechanism(path, BARE).actuated == ("j4",)


# -- whatever the text -------------------------------------------------------------------------


def read_or_refuse(text: str | Path) -> Model | None:
    """The model, or None where it is refused; anything else raised is a defect."""
    try:
        model = read_mechanism(text, BARE)
    except ModelError as error:
        assert str(error)
        return None
    for one in model.loops:
        assert np.isfinite(one.predecessor_frame.matrix()).all()
        assert abs(np.linalg.norm(one.axis) - 1) < 1e-14
    assert all(np.isfinite(position) for position in model.home.values())
    for names in (model.independent, model.actuated):
        assert names is None or 0 < len(set(names)) == len(names)
    return model


@explore(50, 100)
@given(st.text())
@example(".")
def test_any_text(text: str) -> None:
    read_or_refuse(text + "\n")


@explore(50, 100)
@given(st.binary())
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any.yaml"
    path.write_bytes(data)
    read_or_refuse(path)


PIECES = ["", ":", "\n", "  ", "- ", "[", "]", "{", "}", "&a ", "*a", "!x ", "'", '"', "#", "|\n"]
PIECES += ["? ", "<<: ", "%", "---", "~", "nan", "1e400", "pin", "tip", "j1", "\t", ", ", "null"]


@explore(100, 500)
@given(st.data())
def test_torn_text(data: st.DataObject) -> None:
    text = WHOLE
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 12))
        text = text[:start] + data.draw(st.sampled_from(PIECES)) + text[end:]
    read_or_refuse(text + "\n")
