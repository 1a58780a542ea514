"""Ctrl-C of the command line, whatever it is importing: 130, no traceback, one line at most."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROBOT = Path(__file__).parents[2] / "urdf" / "boom.urdf"

INTERRUPTED = """
import runpy, signal, sys

wanted, run = sys.argv[1:3]
del sys.argv[1:3]

class CtrlC:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, CtrlC())
if run == "command":
    from mbdyn_ros.executables import mbdyn
    mbdyn()
else:
    runpy.run_module("mbdyn_ros", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    ("module", "run", "said"),
    [
        ("click", "module", ""),
        ("click", "command", ""),
        ("casadi", "command", "Aborted!"),
        ("mbdyn_ros.assembly.assembly", "command", "Aborted!"),
        *(
            pytest.param(between, "command", said, marks=pytest.mark.long)
            for between, said in (
                ("importlib.metadata", ""),
                ("mbdyn_ros.cli.streams", ""),
                ("mbdyn_ros.cli.dynamics", ""),
                ("numpy", "Aborted!"),
            )
        ),
    ],
)
def test_ctrl_c_while_a_module_is_imported(module: str, run: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module, run, "id", str(ROBOT)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", said)


HEARD = """
import signal, subprocess, sys
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)  # as a shell does for a background job, and nohup
from heard_signals import let_children_hear
let_children_hear()
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    signal.raise_signal(number)  # this process stays deaf
code = "import signal as s; print(*(s.getsignal(one) is s.SIG_IGN for one in (2, 1, 3)))"
subprocess.run([sys.executable, "-c", code], check=True)
"""


def test_programs_that_tests_start_in_the_background_hear_signals() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HEARD], capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "support")},
    )  # fmt: skip
    assert done.stdout == "False False False\n", done.stderr
