"""The zoo shows every robot in the box as it is, and the command that counts robots counts them."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_table_and_pictures() -> None:
    """Where a picture is missing: python scripts/zoo.py."""
    zoo = runpy.run_path(str(ROOT / "docs/_extensions/robots.py"))
    page = zoo["filled"]((ROOT / "docs/zoo.md").read_text())
    assert page.count("| ![](zoo/") == len(zoo["names"]()) and "{robots}" not in page
    pictures = {path.stem: path.stat().st_size for path in (ROOT / "docs/zoo").iterdir()}
    assert sorted(pictures) == zoo["names"]() and max(pictures.values()) < 50_000


def test_a_collection_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(ROOT / "urdf/four_bar.urdf", tmp_path / "first.urdf")
    shutil.copy(ROOT / "urdf/four_bar.urdf", tmp_path / "again.urdf")
    (tmp_path / "empty.urdf").write_text("<robot name='empty'/>")
    (tmp_path / "notes.xml").write_text("<notes/>")
    row = runpy.run_path(str(ROOT / "scripts/collection.py"))["row"](tmp_path)
    assert row == f"| {tmp_path.name} | 1 of 2 URDF | 1 |"
    assert "empty.urdf: " in capsys.readouterr().err
