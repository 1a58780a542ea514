"""The notebooks are programs of the gallery, cell by cell, and show what these show."""

from __future__ import annotations

import base64
import json
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
WRITER = runpy.run_path(str(ROOT / "scripts" / "notebooks.py"))
FILES = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def lines(*texts: str) -> list[str]:
    """Lines that are not empty."""
    return [line for text in texts for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("path", FILES, ids=lambda one: one.stem)
def test_cells_are_the_program(path: Path) -> None:
    """Where they are not: python scripts/notebooks.py."""
    notebook: dict[str, Any] = json.loads(path.read_text())
    words, style, *code = notebook["cells"]
    program = (ROOT / "examples" / "gallery" / f"{path.stem}.py").read_text()
    _, said, body = program.split('"""', 2)
    assert said.strip() in "".join(words["source"])
    assert "".join(style["source"]) == WRITER["STYLE"]
    assert lines(*("".join(one["source"]) for one in code)) == lines(body)
    assert [one["execution_count"] for one in (style, *code)] == list(range(1, len(code) + 2))
    outputs = [one for cell in (style, *code) for one in cell["outputs"]]
    assert not [one for one in outputs if one["output_type"] == "error" or one.get("name")]
    (picture,) = [one["data"]["image/png"] for one in outputs if "data" in one]
    assert base64.b64decode("".join(picture)).startswith(b"\x89PNG")


def test_ten_of_moderate_size() -> None:
    assert [one.stem for one in FILES] == sorted(WRITER["CHOSEN"]) and len(FILES) == 10
    assert sum(one.stat().st_size for one in FILES) < 3e6
    assert "examples/notebooks" in (ROOT / "docs" / "gallery.md").read_text()
