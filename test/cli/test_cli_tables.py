"""Tables in a narrow terminal."""

from __future__ import annotations

import sys

import pytest

from mbdyn_ros.cli.printing import print_table


def test_nothing_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names that are longer than their column go on in the next line."""
    monkeypatch.setenv("TERM", "dumb")  # of 80 columns
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    words = [f"{'forward' * 3}_dynamics_{k}" for k in range(4)]
    print_table("times", ["of", *words], [[word, *("1.25" for _ in words)] for word in words])
    told = capsys.readouterr().out
    assert "…" not in told and all(len(line) <= 80 for line in told.split("\n"))
    assert told.count("forward") >= 8 * 2
