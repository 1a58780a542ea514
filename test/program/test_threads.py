"""Threads that work on equations at once: CasADi alone would crash the process."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import casadi as ca
import pytest

import mbdyn_ros
from mbdyn_ros.equations.programs import mass_matrix
from mbdyn_ros.locks import Lock
from mbdyn_ros.program import symbols
from mbdyn_ros.program.program import Program

ROOT = Path(__file__).parents[2]

WORK = """
import itertools, sys, threading, time
import mbdyn_ros
from mbdyn_ros.errors import InputError

path, seconds = sys.argv[1], float(sys.argv[2])
robot = mbdyn_ros.load(path)
end, done = time.monotonic() + seconds, []

def work(jobs):
    for job in itertools.cycle(jobs):
        if time.monotonic() > end:
            return
        job()
        done.append(job)

def fail():
    try:
        mbdyn_ros.load("<robot name='none'/>")
    except mbdyn_ros.MbdynError:
        pass

jobs = [
    lambda: robot.casadi("forward_dynamics"),
    lambda: mbdyn_ros.load(path).casadi("closure"),
    robot.operation_counts,
    lambda: mbdyn_ros.Surface(lambda x: x[2] + 0.1),
    fail,
]
threads = [threading.Thread(target=work, args=(jobs[k:] + jobs[:k],)) for k in (0, 0, 1)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(done))
"""


@pytest.mark.long
def test_equations_in_several_threads() -> None:
    """In a process of its own, for it is the process that would die."""
    words = [sys.executable, "-c", WORK, str(ROOT / "urdf" / "manipulator.urdf"), "3"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 3


def test_a_dropped_function_ends_when_a_thread_is_alone() -> None:
    robot = mbdyn_ros.load(ROOT / "urdf" / "four_bar.urdf")
    function = robot.casadi("mass_matrix")
    buffer, _ = function.buffer()
    assert isinstance(function, ca.Function) and not symbols._dropped
    del function, buffer
    gc.collect()
    assert len(symbols._dropped) >= 2
    kept = robot.casadi("energy")
    assert not symbols._dropped and kept.n_out() == 1


def test_tracing_leaves_no_cycles_with_expressions() -> None:
    """What only the collector of cycles ends may end in any thread."""
    robot = mbdyn_ros.load(ROOT / "urdf" / "four_bar.urdf")
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for name in ("forward_dynamics", "inverse_dynamics_derivatives", "regressor"):
            robot.casadi(name)
        mbdyn_ros.load(ROOT / "urdf" / "manipulator.urdf")
        gc.collect()
        left = [type(one).__name__ for one in gc.garbage if isinstance(one, ca.SX | ca.Function)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert not left


def test_an_error_leaves_no_expressions() -> None:
    """Its traceback holds the frames of those that had them."""

    @symbols.serialized
    def fail() -> None:
        x = ca.SX.sym("x")
        raise ValueError(f"{x}")

    with pytest.raises(ValueError, match="x") as error:
        fail()
    trace = error.tb
    frames = []
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    assert not any(isinstance(one, ca.SX) for frame in frames for one in frame.f_locals.values())


def test_two_threads_that_trace_do_not_wait_for_each_other() -> None:
    """One inside of what is serialized, the other on its way there through a cached property."""
    system = mbdyn_ros.load(ROOT / "urdf" / "four_bar.urdf").system
    first, second = (Program(mass_matrix, system) for _ in range(2))

    @symbols.serialized
    def trace() -> None:
        other.start()
        time.sleep(0.2)  # it has come as far as it can
        assert first.symbols

    other = threading.Thread(target=lambda: second.symbols, daemon=True)
    one = threading.Thread(target=trace, daemon=True)
    one.start()
    one.join(20.0)
    assert not one.is_alive()
    other.join(20.0)
    assert not other.is_alive()


FORK = """
import os, signal, sys, threading, time
import mbdyn_ros

signal.alarm(120)
# All that is called later is imported now: Python's own locks of modules are not renewed.
warm = mbdyn_ros.load(sys.argv[2])
warm.inverse_dynamics([0.5], [0.0], [0.0])
mbdyn_ros.example("four_bar").forward_dynamics_derivatives([0.5], [0.0], [0.0])
work = lambda: mbdyn_ros.example("ur5").forward_dynamics_derivatives(*[[0.0] * 6] * 3)
other = threading.Thread(target=work)
other.start()
time.sleep(float(sys.argv[1]))
assert other.is_alive(), "it was done before the fork"
child = os.fork()
if not child:
    signal.alarm(60)
    warm.mass_matrix([0.5])
    mbdyn_ros.example("ur5").inverse_dynamics(*[[0.0] * 6] * 3)
    os._exit(0)
_, status = os.waitpid(child, 0)
other.join()
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.sparse
@pytest.mark.parametrize("moment", ["0.05", "0.15"])
def test_a_fork_while_another_thread_compiles(moment: str, tmp_path: Path) -> None:
    """The child waited forever for locks of a thread that it does not have."""
    words = [sys.executable, "-c", FORK, moment, str(ROOT / "urdf" / "four_bar.urdf")]
    cold = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=300, env=cold)
    assert done.returncode == 0, done.stderr[-2000:]


WAITING = """
import os, sys, threading, time
from mbdyn_ros.program.symbols import serialized

begun, ended = threading.Event(), []

@serialized
def work():
    begun.set()
    time.sleep(0.5)
    ended.append(True)

other = threading.Thread(target=work)
other.start()
begun.wait()
child = os.fork()
if not child:
    os._exit(0 if ended and serialized(lambda: True)() else 3)
_, status = os.waitpid(child, 0)
other.join()
serialized(lambda: True)()
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_fork_waits_for_who_works_on_expressions() -> None:
    """CasADi was left with its own locks taken in the child."""
    words = [sys.executable, "-c", WAITING]
    assert subprocess.run(words, cwd=ROOT, timeout=60).returncode == 0


def test_locks_are_free_in_a_forked_process_where_other_threads_ran() -> None:
    """Whoever held them; a lock that the forking thread holds is still released by it."""
    lock, held, ended = Lock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            ended.wait()

    other = threading.Thread(target=hold)
    other.start()
    held.wait()
    child = os.fork()
    if not child:
        signal.alarm(20)
        with lock:
            os._exit(7)
    _, status = os.waitpid(child, 0)
    ended.set()
    other.join()
    assert os.waitstatus_to_exitcode(status) == 7
