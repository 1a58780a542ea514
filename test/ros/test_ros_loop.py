"""The loop thread, and the demonstration from end to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mbdyn_ros_interfaces.srv")

from ros_rig import PATIENCE

from mbdyn_ros.model.read.installed import installed_robots
from mbdyn_ros.ros.node.loops import RateLoop

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.alone
def test_it_keeps_the_rate_and_stops() -> None:
    ticks: list[float] = []
    loop = RateLoop(lambda skipped: ticks.append(time.perf_counter()), 200.0, lambda error: None)
    before = threading.active_count()
    loop.start()
    time.sleep(0.5)
    report = loop.report()
    loop.stop()
    assert threading.active_count() == before
    assert 50 < len(ticks) <= 101
    assert report.rate == pytest.approx(len(ticks) / 0.5, rel=0.3)


def test_its_last_words_follow_the_last_tick_in_its_thread() -> None:
    said: list[tuple[str, str]] = []

    def say(what: str) -> None:
        said.append((what, threading.current_thread().name))

    loop = RateLoop(
        lambda skipped: say("tick"), 0.1, lambda error: None, "loop", last=lambda: say("end")
    )
    loop.start()
    while not said:
        time.sleep(0.01)
    loop.end()
    loop.stop()
    assert said == [("tick", "loop"), ("end", "loop")]


@pytest.mark.alone
def test_skipped_deadlines_are_reported_not_made_up_for() -> None:
    skips: list[int] = []

    def tick(skipped: int) -> None:
        skips.append(skipped)
        if len(skips) == 5:
            time.sleep(0.105)

    loop = RateLoop(tick, 100.0, lambda error: None)
    loop.start()
    time.sleep(0.4)
    loop.stop()
    report = loop.report()
    assert skips[5] == pytest.approx(10, abs=4)
    assert len(skips) + sum(skips) == pytest.approx(40, abs=8)
    assert report.missed >= 8 and report.worst_overrun > 0.08


def test_a_thread_that_is_woken_late_ticks_for_the_last_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ticks and what they skip count the deadlines, which stay where they were."""
    sleep, ticks = time.sleep, list[tuple[int, float, float]]()

    def oversleep(seconds: float) -> None:
        sleep(seconds + (0.013 if len(ticks) % 5 == 4 else 0.0))

    def tick(skipped: int) -> None:
        ticks.append((skipped, loop.deadline, time.perf_counter()))

    loop = RateLoop(tick, 200.0, lambda error: None)
    monkeypatch.setattr(time, "sleep", oversleep)
    loop.start()
    while len(ticks) < 12:
        sleep(0.01)
    loop.stop()
    skipped, deadlines, starts = np.array(ticks).T
    count = np.cumsum(1 + skipped) - 1 - skipped[0]
    assert deadlines == pytest.approx(deadlines[0] + count / 200.0, abs=1e-9)
    assert (starts - deadlines).min() >= 0 and skipped.max() >= 2
    assert loop.report().worst_overrun > 0.007  # 13 ms late, of a period of 5


def test_exceptions_do_not_end_it() -> None:
    errors: list[Exception] = []
    loop = RateLoop(lambda skipped: 1 / 0, 100.0, errors.append)  # type: ignore[arg-type, return-value]
    loop.start()
    time.sleep(0.1)
    loop.stop()
    assert len(errors) > 3 and isinstance(errors[0], ZeroDivisionError)


@pytest.mark.alone
def test_a_slow_loop_stops_at_once() -> None:
    loop = RateLoop(lambda skipped: None, 0.1, lambda error: None)
    loop.start()
    time.sleep(0.05)
    begin = time.perf_counter()
    loop.stop()
    assert time.perf_counter() - begin < 1


@pytest.mark.alone
@pytest.mark.parametrize(
    "robots", [("manipulator",), pytest.param(("ur5", "manipulator"), marks=pytest.mark.long)]
)
def test_the_demonstration(tmp_path: Path, robots: tuple[str, ...]) -> None:
    if "ur5" in robots and "ur5_robot" not in installed_robots():
        pytest.skip("example-robot-data is not installed")
    plot = tmp_path / "demo.png"
    command = [sys.executable, "-m", "examples.torques", "--robots", *robots]
    command += ["--plot", str(plot)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "imbalance" in result.stdout and "share of the PD" in result.stdout
    assert plot.stat().st_size > 10000


@pytest.mark.alone
def test_an_interrupted_demonstration_leaves_nothing(tmp_path: Path) -> None:
    if "ur5_robot" not in installed_robots():
        pytest.skip("example-robot-data is not installed")
    command = [sys.executable, "-m", "examples.torques", "--plot", str(tmp_path / "demo.png")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        end = time.monotonic() + PATIENCE
        while len(children_of(process.pid)) < 3 and time.monotonic() < end:
            time.sleep(0.1)
        nodes = children_of(process.pid)
        assert len(nodes) == 3
        process.terminate()
        _, said = process.communicate(timeout=PATIENCE)
        # A shell calls both 130: CPython ends by the signal where it interrupted an exec of text.
        assert process.returncode in (130, -signal.SIGINT) and said == "demo interrupted\n"
        # One that was just being started ends when its parent has.
        while any(Path(f"/proc/{node}").exists() for node in nodes):
            assert time.monotonic() < end + PATIENCE, "a node is left"
            time.sleep(0.1)
    finally:
        process.kill()


def children_of(process: int) -> list[str]:
    """Process numbers of the children of a process."""
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def test_a_priority_that_is_refused_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError("not you")

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    loop = RateLoop(lambda skipped: None, 100.0, lambda error: None, priority=50)
    loop.start()
    loop.stop()
    assert loop.priority_refused == "no real-time priority 50: not you"
