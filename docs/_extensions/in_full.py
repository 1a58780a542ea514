"""The API page's descriptions in full: a block `{in-full}` shows what the lists above it name.

Members of a listed class are shown with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

BLOCK = "```{in-full}\n```"
SECTION = re.compile(r"^## ([^\n]*)\n(.*?)(?=^## |^```\{in-full)", re.MULTILINE | re.DOTALL)
LISTED = re.compile(r"^   ~([\w.]+)$", re.MULTILINE)


def filled(text: str) -> str:
    """A page's Markdown with the block replaced by directives that show each listed name."""
    return text.replace(BLOCK, "\n".join(_sections(text))) if BLOCK in text else text


def _sections(text: str) -> Iterator[str]:
    for title, body in SECTION.findall(text):
        yield f"## {title} in full\n\n```{{eval-rst}}"
        for name in LISTED.findall(body):
            module, _, last = name.rpartition(".")
            if last[0].isupper() or not module.rpartition(".")[2][0].isupper():
                held = getattr(import_module(module), last)
                kind = "class" if isinstance(held, type) else "function"
                yield f".. auto{kind}:: {name}"
                yield "   :members:\n" * isinstance(held, type)
        yield "```\n"


def _read(app: Any, page: str, source: list[str]) -> None:
    source[0] = filled(source[0])


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
