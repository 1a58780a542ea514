"""Tables that commands write: a block `{rows} FILE.csv` shows the rows of a file next to the page.

The file's first row has the headings. Columns of numbers are set to the right.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```\{rows\} (\S+)\n```$", re.MULTILINE)
NUMBER = re.compile(r"\**-?[\d.]+(e[+-]?\d+)?( \(.*\))?\**|-?")


def filled(text: str) -> str:
    """A page's Markdown with its blocks replaced by the tables."""
    return BLOCK.sub(lambda found: table(DOCS / found[1]), text)


def table(file: Path) -> str:
    """The rows of a file as a table in Markdown."""
    with file.open(encoding="utf-8", newline="") as opened:
        head, *rows = csv.reader(opened)
    right = [all(NUMBER.fullmatch(one) for one in column) for column in zip(*rows, strict=True)]
    rule = ["---:" if one else "---" for one in right]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))
