"""The directive `messages`: every message of the package, read from its code.

Numbers and names that a message fills in are shown as ….
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cures import cure
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

PACKAGE = Path(__file__).resolve().parents[2] / "mbdyn_ros"

RAISED = ("Error", "refusal", "warn")
"""Endings of names that are called with a message."""

CALLED = re.compile(rf"(?:{'|'.join(RAISED)})\(")
"""Such a call, in a line of text."""

SECTIONS = {
    "Installing, importing and old names": ("__init__", "errors", "extras", "names"),
    "Command lines": ("__main__", "cli"),
    "Robots: URDF, URDF+, xacro, MJCF, SDF and DH tables": ("model", "prepare"),
    "Closed loops and independent joints": ("assembly",),
    "Calls of a robot, and their arguments": ("arguments", "number", "robot"),
    "Motions that joints or cylinders follow": ("motion",),
    "Simulation, contact and actuators": ("integration", "simulation"),
    "Control": ("control",),
    "Tables and bags": ("recording",),
    "Identification and calibration": ("identification",),
    "Pages and pictures": ("view",),
    "ROS 2 nodes": ("ros",),
    "Generated C, formulas and counts": ("export",),
    "Compiling": ("compiler", "program"),
    "Formulations and measured times": ("bench", "equations"),
    "Planar mechanisms": ("mechanisms",),
    "Piezo robots": ("piezo",),
}
"""The modules and folders of the package whose messages a section of the page has, by title."""

BLOCK = re.compile(r"^```\{messages\}\n```$", re.MULTILINE)

FILLED = "…"

ENDS = ast.Name, ast.Constant, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context
"""What nothing is called in."""

LEAST_WORDS = 3
"""Of a message; shorter ones only pass on what another one says."""


@dataclass(frozen=True, order=True)
class Message:
    """A message: its text, what raises it, and the first line of that one's docstring."""

    text: str
    kind: str
    place: str
    about: str

    @property
    def cure(self) -> str:
        """What to do about it."""
        return cure(self.text, self.kind)


@cache
def messages() -> dict[str, list[Message]]:
    """All messages by the titles of their sections, sorted."""
    titles = {part: title for title, parts in SECTIONS.items() for part in parts}
    found: dict[str, set[Message]] = {title: set() for title in SECTIONS}
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text()
        calls = [k for k, line in enumerate(text.split("\n"), 1) if CALLED.search(line)]
        if calls and (here := set(_of(ast.parse(text), file, calls))):
            found[titles[file.relative_to(PACKAGE).parts[0].removesuffix(".py")]] |= here
    return {title: sorted(those) for title, those in found.items()}


def filled(text: str) -> str:
    """A page's Markdown with the messages in place of the directive, one a line."""
    return BLOCK.sub(lambda _: _listed(), text)


def _listed() -> str:
    lines = []
    for title, found in messages().items():
        lines += [f"## {title}", ""]
        for one in found:
            lines.append(f"- {_quoted(one.text)} Cure: {one.cure} ({one.kind}, {one.place})")
        lines.append("")
    return "\n".join(lines).rstrip()


def _quoted(text: str) -> str:
    """A message as code of Markdown, which may have backticks of its own."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _of(tree: ast.Module, file: Path, calls: list[int]) -> Iterator[Message]:
    """The messages of a file, which are called in these lines; other statements are left out."""
    place = f"mbdyn_ros.{'.'.join(file.relative_to(PACKAGE).with_suffix('').parts)}"
    pending: list[tuple[ast.AST, str]] = [(tree, ast.get_docstring(tree) or "")]
    while pending:
        node, about = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            about = ast.get_docstring(node) or about
        elif isinstance(node, ast.Call) and node.args and _name(node.func).endswith(RAISED):
            text = _text(node.args[0])
            if len(text.replace(FILLED, " ").split()) >= LEAST_WORDS:
                yield Message(text.strip(), _name(node.func), place, about.split("\n")[0])
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ENDS) and _has_call(child, calls):
                pending.append((child, about))


def _has_call(node: ast.AST, calls: list[int]) -> bool:
    """Whether a statement has one of these lines; of other nodes this is not asked."""
    if not isinstance(node, ast.stmt):
        return True
    first = bisect_left(calls, node.lineno)
    return first < len(calls) and calls[first] <= (node.end_lineno or node.lineno)


def _name(called: ast.expr) -> str:
    return called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_text, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    if isinstance(node, ast.FormattedValue):
        return _text(node.value) if isinstance(node.value, ast.Call) else FILLED
    if isinstance(node, ast.Call) and _name(node.func) == "unknown":
        return f"there is no {_text(node.args[0])} {FILLED}; there are {FILLED}"
    return FILLED


class Messages(SphinxDirective):
    """A section for each subject, with its messages, their cures, and where each comes from."""

    def run(self) -> list[nodes.Node]:
        """Make the sections."""
        sections: list[nodes.Node] = []
        for title, found in messages().items():
            section = nodes.section(ids=[f"messages-{nodes.make_id(title)}"])
            section += nodes.title(text=title)
            entries = nodes.definition_list()
            for one in found:
                term = nodes.term("", "", nodes.literal(text=one.text))
                words = nodes.paragraph("", "", nodes.strong(text="Cure: "))
                for place, part in enumerate(one.cure.split("`")):
                    words += nodes.literal(text=part) if place % 2 else nodes.Text(part)
                where = nodes.paragraph(text=f"{one.kind} of {one.place}: {one.about}")
                entries += nodes.definition_list_item("", term, nodes.definition("", words, where))
            section += entries
            sections.append(section)
        return sections


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_directive("messages", Messages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
