"""Tables that commands write and the book shows."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path


def write_table(file: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write rows as CSV, the headings first."""
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened, lineterminator="\n").writerows(rows)
