"""The verbs of the command line: a block `{verbs}` shows the help of each, with a page about it.

A line of the block has verbs, and after a colon the page.
"""

from __future__ import annotations

import re

from click.testing import CliRunner

from mbdyn_ros.__main__ import VERBS, main

BLOCK = re.compile(r"^```\{verbs\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WIDTH = 88


def filled(text: str) -> str:
    """A page's Markdown with a section for each verb."""
    return BLOCK.sub(lambda found: _sections(found[1]), text)


def _sections(lines: str) -> str:
    sentences = {name: sentence for name, _, sentence in VERBS}
    parts = []
    for line in lines.splitlines():
        names, _, page = line.partition(": ")
        for name in names.split():
            about = f" ([{page.partition('.')[0].replace('_', ' ')}]({page}))" if page else ""
            sentence = sentences[name].removesuffix(".")
            parts.append(f"## {name}\n{sentence}{about}.\n\n```text\n{help_of(name)}\n```\n")
    return "\n".join(parts)


def help_of(name: str) -> str:
    """What `mbdyn NAME --help` prints."""
    asked = CliRunner().invoke(main, [name, "--help"], terminal_width=WIDTH, prog_name="mbdyn")
    if asked.exit_code:
        raise RuntimeError(f"mbdyn {name} --help: {asked.output}") from asked.exception
    return asked.output.strip()
