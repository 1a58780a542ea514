"""The directive `messages`: every message of the package, read from its code.

Numbers and names that a message fills in are shown as ….
"""

from __future__ import annotations

import ast
import re
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
    """All messages by the folder of the package, sorted."""
    found: dict[str, set[Message]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        folder = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        tree = ast.parse(file.read_text())
        found.setdefault(folder, set()).update(_of(tree, file, ast.get_docstring(tree) or ""))
    return {folder: sorted(found[folder]) for folder in sorted(found) if found[folder]}


def filled(text: str) -> str:
    """A page's Markdown with the messages in place of the directive, one a line."""
    return BLOCK.sub(lambda _: _listed(), text)


def _listed() -> str:
    lines = []
    for folder, found in messages().items():
        lines += [f"## {_title(folder)}", ""]
        lines += [f"- `{one.text}` Cure: {one.cure} ({one.kind}, {one.place})" for one in found]
        lines.append("")
    return "\n".join(lines).rstrip()


def _title(folder: str) -> str:
    """The first line of a package's or a module's docstring, with its name."""
    package, module = PACKAGE / folder / "__init__.py", PACKAGE / f"{folder}.py"
    file = package if package.exists() else module
    about = ast.get_docstring(ast.parse(file.read_text())) or folder
    first = about.split("\n")[0].rstrip(".")
    return f"{first} ({folder})"


def _of(tree: ast.AST, file: Path, about: str) -> Iterator[Message]:
    place = f"mbdyn_ros.{'.'.join(file.relative_to(PACKAGE).with_suffix('').parts)}"
    pending = [(tree, about)]
    while pending:
        node, about = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            about = ast.get_docstring(node) or about
        elif isinstance(node, ast.Call) and node.args and _name(node.func).endswith(RAISED):
            text = _text(node.args[0])
            if len(text.replace(FILLED, " ").split()) >= LEAST_WORDS:
                yield Message(text.strip(), _name(node.func), place, about.split("\n")[0])
        if not isinstance(node, ENDS):
            pending += [(child, about) for child in ast.iter_child_nodes(node)]


def _name(called: ast.expr) -> str:
    return called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_text, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    return FILLED


class Messages(SphinxDirective):
    """A section for each folder, with its messages, their cures, and where each comes from."""

    def run(self) -> list[nodes.Node]:
        """Make the sections."""
        sections: list[nodes.Node] = []
        for folder, found in messages().items():
            section = nodes.section(ids=[f"messages-{folder}"])
            section += nodes.title(text=_title(folder))
            entries = nodes.definition_list()
            for one in found:
                term = nodes.term("", "", nodes.literal(text=one.text))
                words = nodes.paragraph("", "", nodes.strong(text="Cure: "), nodes.Text(one.cure))
                where = nodes.paragraph(text=f"{one.kind} of {one.place}: {one.about}")
                entries += nodes.definition_list_item("", term, nodes.definition("", words, where))
            section += entries
            sections.append(section)
        return sections


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_directive("messages", Messages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
