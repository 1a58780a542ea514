"""Names of a description in every format that is written: they say the name, and nothing else."""

from __future__ import annotations

import ast
import dataclasses
import io
import re
import subprocess
import unicodedata
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mbdyn_ros
from mbdyn_ros import names
from mbdyn_ros.__main__ import main
from mbdyn_ros.compiler.gcc import toolchain
from mbdyn_ros.errors import InputError, ModelError
from mbdyn_ros.export import c_library
from mbdyn_ros.export.c_companions import cmake_lists, python_loader
from mbdyn_ros.export.closed_form_text import FORMATS
from mbdyn_ros.robot.c_description import describe
from mbdyn_ros.robot.report_parts import tree_text

ARM = (
    '<robot name={name}><link name="w"/><link name={link}><inertial><origin xyz="0.5 0 0"/>'
    '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name={joint} type="continuous"><parent link="w"/><child link={link}/>'
    '<axis xyz="0 1 0"/></joint></robot>'
)

PIECES = st.sampled_from(
    ["*", "/", "\\", "*/", "/*", "//", "?", "??/", "'", '"', '"""', "`", "$", "${x}", "{", "}", "_",
     "%", "&", "#", "~", "^", "<", ">", "<script>", "](", "![", "[", "]", "|", "!", "(", ")", ";",
     "http://", "\\n", "@", "=", "é", "日", "a", "Z", "0", " ", "\u200b", "\u200d", "x" * 90]
)  # fmt: skip
NAMES = st.lists(PIECES, min_size=1, max_size=6).map("".join)
CONTROLS = [*map(chr, (0, 7, 9, 10, 13, 27, 127, 0x85, 0x9B, 0x2028, 0x202E, 0x2066, 0xFEFF))]


def arm(name: str, link: str = "l", joint: str = "j") -> mbdyn_ros.Robot:
    """An arm whose robot, moving link and joint are called so."""
    return mbdyn_ros.load(
        ARM.format(name=quoteattr(name), link=quoteattr(link), joint=quoteattr(joint))
    )


@settings(deadline=None, max_examples=25)
@given(NAMES, NAMES)
@example("*/ int main(void){} /*", "??/")
@example('"""', "\\")
@example("x" * 300, "y" * 300)
@example("$\\foo$", "${CMAKE_X}")
def test_every_format_says_the_name_and_nothing_else(name: str, other: str) -> None:
    robot = arm(name, "l" + other, "j" + other)
    described = describe(robot, None)
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,110}", described.prefix)
    code = re.sub(r"/\*.*?\*/", "", c_library.header(described), flags=re.DOTALL)
    assert len(code.splitlines()) == LINES
    assert not re.search(r"\?\?|\\", c_library.header(described))
    assert re.fullmatch(r"[\x20-\x7e\n]*", cmake_lists(described))
    module = ast.parse(python_loader(described))
    assert [type(node).__name__ for node in module.body] == LOADED
    form = robot.closed_form()
    text = FORMATS["text"](form, None)
    values = [ast.parse(line).body for line in text.split("\n")]
    assert [type(line[0]) for line in values if line] == [ast.Assign] * len(form.elements)
    latex = FORMATS["latex"](form, 3)
    assert len(re.findall(r"(?<!\\){", latex)) == len(re.findall(r"(?<!\\)}", latex))
    assert "\\foo" not in latex
    markdown = FORMATS["markdown"](form, 3)
    assert not re.search(r"(?<!\\)!\[|<script", re.sub(r"`[^`\n]*`", "", markdown))
    assert len(tree_text(robot.model).split("\n")) == 2
    assert "<" not in names.in_html(name) and '"' not in names.in_html(name)


PLAIN = describe(arm("a"), None)
LOADED = [type(node).__name__ for node in ast.parse(python_loader(PLAIN)).body]
"""What the module for Python consists of."""
LINES = len(re.sub(r"/\*.*?\*/", "", c_library.header(PLAIN), flags=re.DOTALL).splitlines())
"""Lines of a header without its comments."""


@pytest.mark.parametrize("character", CONTROLS, ids=ascii)
def test_what_controls_is_refused_in_files_and_cleaned_elsewhere(character: str) -> None:
    wanted = f"U\\+{ord(character):04X}"
    place = dict.fromkeys(("name", "link", "joint"), "x")
    for element in place:
        model = arm(**place).model
        with pytest.raises(ModelError, match=wanted):
            if element == "name":
                dataclasses.replace(model, name=f"a{character}b")
            elif element == "link":
                link = dataclasses.replace(model.links[1], name=f"a{character}b")
                dataclasses.replace(model, links=(model.links[0], link))
            else:
                joint = dataclasses.replace(model.joints[0], name=f"a{character}b")
                dataclasses.replace(model, joints=(joint,))
    for clean in (names.in_text, names.in_c_comment, names.in_python_string, names.in_markdown,
                  names.in_markdown_code, names.in_latex, names.in_html):  # fmt: skip
        found = clean(f"a{character}b")
        assert not any(unicodedata.category(one) in ("Cc", "Zl") for one in found)
        assert not set(found) & names.ORDERS


def test_a_line_that_is_joined_ends_no_comment() -> None:
    """GCC joins "*\\", a return and "/": the rest of the name was once compiled."""
    with pytest.raises(ModelError, match=r"^<text>: the name .* of a robot .*U\+000D"):
        arm("arm*\\\r/ int injected; /\\\r*")


@pytest.mark.skipif(toolchain() is None, reason="needs a C compiler")
def test_hostile_names_compile_to_the_same_functions(tmp_path: Path) -> None:
    written = arm('*/ int injected; /* ??/ """', "??/ *", "\\").generate_c(tmp_path)
    source = next(one for one in written.files if one.suffix == ".c")
    made = tmp_path / "made.o"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wbidi-chars=any", "-Werror"]
    for file in written.files[:3]:
        subprocess.run(["gcc", *flags, "-fsyntax-only", "-xc", file], check=True)
    subprocess.run(["gcc", *flags, "-c", source, "-o", made], check=True)
    listed = subprocess.run(["nm", made], check=True, capture_output=True, text=True).stdout
    assert set(re.findall(r" T (\w+)", listed)) == set(written.functions)


@pytest.mark.parametrize(
    "name", ["m", "all", "ALL", "numpy", "ctypes", "random", "lambda", "None", "con", "test"]
)
def test_a_name_that_is_taken_gets_another(name: str) -> None:
    """By a library, a target of CMake, a module or a word of Python, or a device."""
    assert describe(arm(name), None).prefix == f"robot_{name}"


def test_names_of_any_length_are_files(tmp_path: Path) -> None:
    links = "l" * 300
    written = arm("x" * 300, links).generate_c(tmp_path)
    assert all(file.is_file() for file in written.files)
    assert names.identifier(links) != names.identifier(links + "l")


def test_the_terminal_gets_no_escapes(tmp_path: Path) -> None:
    """Neither of a table of Denavit and Hartenberg nor of what is refused."""
    table = tmp_path / "arm.yaml"
    table.write_text('name: arm\njoints:\n- {name: "j\\e]0;x\\a", type: revolute, a: 1, alpha: 0, '
                     'd: 0, theta: 0, mass: 1, centre: [0, 0, 0], link: "l\\e[31m"}\n')  # fmt: skip
    for arguments in (["inspect", str(table)], ["id", str(table), "--position", "\x1b[31m=1"]):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 1 and "\x1b" not in result.output + result.stderr


@pytest.mark.usefixtures("interpreted")
def test_dollars_are_no_formula() -> None:
    """Matplotlib took them for one, and failed."""
    from mbdyn_ros.view.graph import graph_svg
    from mbdyn_ros.view.plots import plot_trajectory

    robot = arm("$\\foo$", joint="$\\bar$ $x$")
    assert "\\foo" in graph_svg(robot)
    run = mbdyn_ros.simulate(robot, [0.0], [0.0], 0.01)
    plot_trajectory(robot.model, run).savefig(io.BytesIO(), format="svg")


def test_an_unknown_link_is_refused_in_one_line() -> None:
    with pytest.raises(InputError) as refused:
        arm("a").bind("jacobian", "x\x1b[31m\n")
    assert "\x1b" not in str(refused.value)
