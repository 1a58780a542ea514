"""The passes of the compiler: a block `{passes}` lists them in order, each by its docstring."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from mbdyn_ros.compiler.pipeline import PASSES

PACKAGE = Path(__file__).resolve().parents[2] / "mbdyn_ros"
BLOCK = re.compile(r"^```\{passes\}\n```$", re.MULTILINE)


def filled(text: str) -> str:
    """A page's Markdown with the table of passes."""
    return BLOCK.sub(lambda _: table(), text)


def table() -> str:
    """A row a pass: its name, what it does, and its file."""
    rows = []
    for one in PASSES:
        file = f"passes/{one.__module__.rpartition('.')[2]}.py"
        words = ast.get_docstring(ast.parse((PACKAGE / "compiler" / file).read_text())) or ""
        rows.append(f"| `{one.__name__}` | {words.splitlines()[0]} | `{file}` |")
    return "\n".join(["| pass | does | file |", "|---|---|---|", *rows])
