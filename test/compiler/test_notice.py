"""What is said on a terminal while something is compiled."""

from __future__ import annotations

import io
import logging
import time

import pytest

from mbdyn_ros.cli.printing import progress_bar
from mbdyn_ros.compiler.cache import waiting_for


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "screen, lasts, said", [(Terminal(), 0.2, True), (Terminal(), 0.0, False),
                            (io.StringIO(), 0.2, False)]
)  # fmt: skip
def test_a_terminal_is_notified_after_a_while_and_else_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    screen: io.StringIO, lasts: float, said: bool,
) -> None:  # fmt: skip
    monkeypatch.setattr("sys.stderr", screen)
    caplog.set_level(logging.INFO, "mbdyn_ros.compiler")
    with waiting_for("mass matrix", patience=0.05):
        time.sleep(lasts)
    assert ("compiling mass matrix" in screen.getvalue()) is said
    assert ("compiling mass matrix" in caplog.text) is (lasts > 0 and not said)


def test_it_is_reported_above_a_progress_bar_too(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with progress_bar("simulating", 1.0), waiting_for("mass matrix", patience=0.05):
        time.sleep(0.2)
    assert "compiling mass matrix" in screen.getvalue()
