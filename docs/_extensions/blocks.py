"""Blocks that the build fills: names, parameters, passes, programs, robots, tables, verbs.

Each kind is a module with a function `filled`, from a page's Markdown to what the page shows.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import gallery
import names
import passes
import robots
import ros_reference
import tables
import verbs

KINDS = (gallery, names, passes, robots, ros_reference, tables, verbs)
WORDS = (
    "names", "passes", "robots", "parameters", "controller", "interfaces", "rows", "verbs",
    "messages",
)  # fmt: skip
BLOCK = re.compile(rf"^```\{{({'|'.join(WORDS)})\}}|{gallery.LINK.pattern}", re.MULTILINE)
"""How a block begins whose text comes from elsewhere; `messages` fills its own."""


@functools.cache  # the book, and what it writes for agents, have the same pages
def filled(text: str) -> str:
    """A page's Markdown with all its blocks filled."""
    for kind in KINDS:
        text = kind.filled(text)
    return text


def _read(app: Any, page: str, source: list[str]) -> None:
    source[0] = filled(source[0])


def _outdated(app: Any, env: Any, added: Any, changed: Any, removed: Any) -> list[str]:
    """Pages with such blocks are read at every build, since their sources may have changed."""
    pages = ((page, Path(env.doc2path(page))) for page in env.found_docs)
    return [page for page, path in pages if path.exists() and BLOCK.search(path.read_text())]


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("source-read", _read)
    app.connect("env-get-outdated", _outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
