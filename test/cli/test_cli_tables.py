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
    reported = capsys.readouterr().out
    assert "…" not in reported and all(len(line) <= 80 for line in reported.split("\n"))
    assert reported.count("forward") >= 8 * 2


def test_heads_of_numbers_make_room_for_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`bench` broke "inverse_dynam" off in every line, for the sake of "pinocchio us"."""
    monkeypatch.setenv("TERM", "dumb")  # of 80 columns
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    heads = ["program", "bind us", "plain us", "pinocchio us", "bind / pin", "plain / pin"]
    names = ["inverse_dynamics_derivatives", "forward_dynamics, 10000 states"]
    print_table("ur5", heads, [[name, *["0.123"] * 5] for name in names])
    reported = capsys.readouterr().out
    assert all(name in reported for name in names)
    assert all(len(line) <= 80 for line in reported.split("\n"))
