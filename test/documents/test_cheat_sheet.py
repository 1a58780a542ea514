"""The printed cheat sheet is that of the text, on two pages."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from mbdyn_ros.__main__ import VERBS

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "cheat_sheet.py"))


def test_what_is_printed_is_the_text_of_today() -> None:
    """`python scripts/cheat_sheet.py` prints it anew."""
    printed = SCRIPT["SHEET"].with_suffix(".pdf").read_bytes()
    assert f"/Title ({SCRIPT['title']()})".encode() in printed
    assert len(re.findall(rb"/Type /Page\b", printed)) == 2


def test_its_page_has_the_tables_and_programs_of_the_text() -> None:
    """Tables without heads lose none of their rows, nor does the line about printing appear."""
    page, text = SCRIPT["page"](), SCRIPT["SHEET"].read_text()
    assert page.count("<tr>") == len(re.findall(r"^\|(?! \|)(?!---)", text, re.MULTILINE))
    assert page.count("<pre>") == text.count("```") / 2
    assert "to print" not in page


def test_it_has_every_verb() -> None:
    """An example of each verb of the command line."""
    text = SCRIPT["SHEET"].read_text()
    assert set(re.findall(r"^mbdyn (\w+)", text, re.MULTILINE)) == {name for name, *_ in VERBS}
