"""The Tab key, as click's scripts for shells ask for it; and that a help comes at once."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from mbdyn_ros.__main__ import VERBS, main

HEAVY = ("casadi", "scipy", "mbdyn_ros.robot")
SLOW = ("bench", "codegen", "mechanism", "piezo")
"""Verbs whose options list what heavy modules offer."""


def completed(words: list[str], incomplete: str) -> set[str]:
    shell = BashComplete(main, {}, "mbdyn", "_MBDYN_COMPLETE")
    return {one.value for one in shell.get_completions(words, incomplete)}


def test_verbs_options_and_robots_are_completed() -> None:
    assert completed([], "si") == {"simulate"}
    assert completed(["simulate"], "--du") == {"--duration"}
    assert {"crane", "cr"} == completed(["inspect"], "cr"), "a robot in the box, and files"
    assert "ur5" in completed(["view"], "ur") and "ur5" in completed(["bench", "panda"], "ur5")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_shells_read_what_is_printed(shell: str) -> None:
    printed = CliRunner().invoke(main, ["completion", shell]).stdout
    assert "_MBDYN_COMPLETE" in printed
    if (command := shutil.which(shell)) is None:
        pytest.skip(f"no {shell}")
    subprocess.run([command, "-n"], input=printed, text=True, check=True)


def test_bash_completes_robots_in_the_box() -> None:
    printed = CliRunner().invoke(main, ["completion", "bash"]).stdout
    asked = "COMP_WORDS=(mbdyn id ur); COMP_CWORD=2; _mbdyn_completion mbdyn; echo ${COMPREPLY[@]}"
    reported = subprocess.run(["bash"], input=f"{printed}\n{asked}", capture_output=True, text=True)
    assert "ur5" in reported.stdout.split(), reported.stderr


def test_other_shells_are_refused() -> None:
    result = CliRunner().invoke(main, ["completion", "tcsh"])
    assert result.exit_code == 2 and "'bash', 'zsh', 'fish'" in result.output


def test_helps_load_nothing_that_takes_long() -> None:
    """One process for all: modules that any of them loaded are there at the end."""
    quick = [verb for verb, _, _ in VERBS if verb not in (*SLOW, "simulate")]
    code = (
        "import sys; from click.testing import CliRunner; from mbdyn_ros.__main__ import main\n"
        f"for verb in {quick}:\n"
        "    result = CliRunner().invoke(main, [verb, '--help'])\n"
        "    assert result.exit_code == 0 and 'Examples:' in result.output, verb\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stdout + done.stderr
