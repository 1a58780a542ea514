"""The book: Sphinx reads the Markdown of this folder, and the docstrings of the package."""

from __future__ import annotations

import functools
import re
import sys
from html import escape
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode
from ziamath import Latex

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
import blocks  # noqa: E402
import messages  # noqa: E402

project = "mbdyn_ros"
author = "mbdyn_ros developers"
copyright = "mbdyn_ros developers, Apache-2.0"  # noqa: A001
version = release = installed("mbdyn_ros")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "blocks",
    "messages",
    "notebooks",
    "scenes",
]
source_suffix = {".md": "markdown", ".ipynb": "markdown"}
exclude_patterns = ["_build", "_extensions"]

smartquotes_action = "qe"
"""Quotation marks and dots alone: options begin with two dashes."""
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4

autosummary_generate = False  # its tables are all that is asked for
autodoc_member_order = "groupwise"
autodoc_typehints = "none"  # numpydoc's words say more
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_attr_annotations = False  # the words of an attribute say more
napoleon_custom_sections = ["Returns"]  # words, no list of types

html_math_renderer = "drawn"
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_title = "mbdyn_ros"
html_show_sourcelink = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


LISTS = ("Parameters", "Attributes")
"""Sections whose entries say at once what a name means, where numpydoc has a type.

So do lines below a summary, before all sections.
"""

COLON = "\0"
"""Stands in for one while numpydoc reads."""


def _words_below_names(
    app: Any, what: str, name: str, it: Any, options: Any, lines: list[str]
) -> None:
    """`name : words` becomes the name, and its words below it; also several in a line."""
    if what in ("attribute", "property"):  # numpydoc takes the words before a colon for a type
        lines[:1] = [line.replace(":", COLON) for line in lines[:1]]
    section, kept = "", []
    for k, line in enumerate(lines):
        if line.startswith("---") and k:
            section = lines[k - 1].strip()
        listed = section in ("", *LISTS)
        for part in re.split(r"(?<=\.) (?=[\w*][\w*, ]* : )", line) if listed else [line]:
            entry, colon, words = part.partition(" : ")
            if listed and colon and re.fullmatch(r"[\w*][\w*, ]*", entry):
                kept += [*[""] * (not section), entry, f"    {words}"]
            else:
                kept.append(part)
    lines[:] = kept


def _keep_bars(app: Any, what: str, name: str, it: Any, options: Any, lines: list[str]) -> None:
    """Norms such as |q| are no substitutions; put colons back."""
    lines[:] = [line if ">>>" in line else line.replace("|", "\\|") for line in lines]
    lines[:] = [line.replace(COLON, ":") for line in lines]


def _formula(writer: Any, node: Any) -> None:
    """A formula as a drawing: it needs no network, no JavaScript and no font of the reader's."""
    tex, alone = node.astext(), node.tagname == "math_block"
    drawn = Latex(tex, size=18 if alone else 17, color="currentColor", inline=not alone)
    tag, style = ("div", "") if alone else ("span", f"vertical-align: {drawn.getyofst():.2f}px")
    writer.body.append(writer.starttag(node, tag, "", CLASS="math", style=style))
    writer.body.append(f'<span role="img" aria-label="{escape(tex)}">{drawn.svg()}</span></{tag}>')
    raise SkipNode


def _break_names(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Long names break where their words end, so that tables of names fit."""
    names = re.compile(r'(?:(?<=<span class="pre">)|(?<=<h[123]>))[^<]+')
    ends = re.compile(r"(?<=\w[_(/])|(?<=[A-Za-z]\.)|(?<=[a-z])(?=[A-Z])")
    body = context.get("body", "")
    context["body"] = names.sub(lambda name: ends.sub("<wbr>", name[0]), body)


def _write_for_agents(app: Any, failure: Exception | None) -> None:
    """`llms.txt`, which lists all pages as Markdown with their first words, and these pages.

    (https://llmstxt.org; `llms-full.txt` is the whole book in one file.)
    """
    if failure is not None or app.builder.name != "html":
        return
    out, whole = Path(app.outdir), []
    lists = re.findall(r":caption: (.*?)\n.*?\n\n(.*?)```", _text("index"), re.DOTALL)
    summary = _first_words(_text("index"))
    lines = [f"# {project}", "", f"> {summary}"]
    for caption, listed in lists:
        names = [name for name in listed.split() if name in app.env.found_docs]
        lines += ["", f"## {caption}"] + [
            f"- [{app.env.titles[name].astext()}]({name}.md): {_first_words(_text(name))}"
            for name in names
        ]
        whole += [_text(name) for name in names]
        for name in names:
            (out / f"{name}.md").write_text(_text(name))
    (out / "llms.txt").write_text("\n".join(lines) + "\n")
    (out / "llms-full.txt").write_text("\n\n".join(whole))


@functools.cache
def _text(page: str) -> str:
    """A page's Markdown, with what it includes and what is read from the code."""
    folder = Path(__file__).parent
    text = messages.filled(blocks.filled((folder / f"{page}.md").read_text()))
    include = r"```\{include\} (\S+)\n.*?```"
    return re.sub(include, lambda found: (folder / found[1]).read_text(), text, flags=re.DOTALL)


def _first_words(text: str) -> str:
    """The first sentence of a page, without markup."""
    code = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^[#!|(].*$", "", code, flags=re.MULTILINE)
    first = re.split(r"(?<=[.:])\s", prose.strip().replace("\n", " "), maxsplit=1)[0]
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", first).rstrip(":")


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("build-finished", _write_for_agents)
    app.connect("autodoc-process-docstring", _words_below_names, priority=400)  # first
    app.connect("autodoc-process-docstring", _keep_bars)
    app.connect("html-page-context", _break_names)
    app.add_html_math_renderer("drawn", (_formula, None), (_formula, None))
