"""The language of pages, messages, docstrings and comments: marks of translated text.

CONTRIBUTING.md has the rule; what a list of words can find is found here.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

KINDS = ("py", "md", "hpp", "cpp", "c", "h", "yaml", "srv", "msg", "mplstyle")
FOLDERS = (
    "mbdyn_ros", "docs", "test", "examples", "benchmarks", "launch", "config", "scripts",
    "mbdyn_ros_controllers", "mbdyn_ros_interfaces",
)  # fmt: skip
RULES = {ROOT / "CONTRIBUTING.md", Path(__file__).resolve()}
"""Where the marks themselves are named."""

MARKS = {
    r"(?i)\b(un|fore)?told\b(?! = former_name)": "stated, determined, known, reported or predicted",
    r"(?i)\btells?\b(?! .*\bapart\b|\()": "gives, determines, reports or shows",
    r"\b[Bb]eside (?=[\[`A-Za-z])": "next to, with, in addition to, or compared with",
    r"\b[Bb]ut for\b": "except for",
    r"\bnone such\b": "not one",
    r"(?<!there )(?<!There )\bis no\s(?!longer|more|such|need|farther)\w": "is not a",
    r"\bwhat it waits for\b": "the event it waits for",
    r"\bof (its|their) own accord\b": "by itself, automatically",
    r"\bin the stead of\b": "instead of",
    r"\ba number is none\b": "is not finite, or is not a number",
    r"\bso many\b(?![^.]*\bthat\b)": "that many, or the number by its name",
    r"\bfor ever\b": "forever",
    r"\bwhose other\b": "of which the other",
    r"\bWho \w+s (otherwise|so)\b": "if you",
}
"""What is not English, or not in this sense, and what to write."""

MARKS_OUTSIDE_C = {
    r"\bstands? (fast|here|last|so)\b": "is fixed, is here, comes last",
    r"(?<!\.)\bstands? (at|before|by|in)\b(?! for\b)": "is, occurs or comes",
    r"\bwhere none (is|are)\b": "if there is none, if none is given, by default",
    r"\bnobody (knows|knew|has)\b": "is unknown",
}
"""The same for all files but C: there a changed comment compiles every program again."""

C_KINDS = (".c", ".h", ".hpp")


def sources() -> list[Path]:
    """All files with sentences."""
    found = [*ROOT.glob("*.md")]
    for folder in FOLDERS:
        found += [one for kind in KINDS for one in (ROOT / folder).rglob(f"*.{kind}")]
    return sorted(set(found) - RULES)


@functools.cache
def letters(mark: str) -> str:
    """The longest letters, in lower case, that every text with a mark has."""
    rest = re.sub(r"\\.|\[[^]]*\]|\w\?", "\n", mark)
    while rest != (rest := re.sub(r"\([^()]*\)\??", "\n", rest)):
        pass
    return max(rest.split("\n"), key=len).lower()


def marks(text: str, is_c: bool = False) -> list[tuple[int, str, str]]:
    """Lines with marks, the marks, and what to write for them."""
    lower = text.lower()
    return [
        (text.count("\n", 0, one.start()) + 1, one[0], instead)
        for mark, instead in (MARKS if is_c else MARKS | MARKS_OUTSIDE_C).items()
        if letters(mark) in lower
        for one in re.finditer(mark, text)
    ]


def test_sentences_are_english() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {mark!r}: write {instead}"
        for path in sources()
        for line, mark, instead in marks(path.read_text(encoding="utf-8"), path.suffix in C_KINDS)
    ]
    assert not found, "\n".join(["", *found])


def test_marks_are_seen() -> None:
    """In a sentence each, in the line where they stand; what is English passes."""
    bad = "ok\nThe joint is told.\nA panel beside it.\nIt tells the mass.\nSo it is no joint.\n"
    bad += "It stands in the file.\nNone where none is.\n"
    assert [line for line, *_ in sorted(marks(bad))] == [2, 3, 4, 5, 6, 7]
    assert not marks("beside = 1\nlog.tell(0)\nIt tells two apart. There is no joint.\n")
