"""The pages of papers move, in files that load quickly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image

from examples.animations import ANIMATIONS

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page", ["impacts", "mechanisms", "parallel_serial", "piezo"])
def test_pages_of_papers_move(page: str) -> None:
    """Where they do not: python -m examples.animations docs, or the benchmark of the page."""
    found = re.findall(r"!\[.*\]\((.*\.(?:webp|gif))\)", (DOCS / f"{page}.md").read_text())
    assert found
    for name in found:
        with Image.open(DOCS / name) as image:
            assert image.n_frames > 20 and (DOCS / name).stat().st_size < 1_000_000


def test_every_animation_is_there() -> None:
    assert all((DOCS / f"{name}.webp").is_file() for name in ANIMATIONS)
