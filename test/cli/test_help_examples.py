"""The examples of every verb's help, as somebody types them in an empty folder."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from night import is_night

from mbdyn_ros.__main__ import VERBS, Verb, main
from mbdyn_ros.cli.refused import examples

pytestmark = pytest.mark.usefixtures("interpreted")

SHORTER = [
    (r"((?:simulate|--fd).*)--duration 5", r"\1--duration 0.05"),
    (r"(simulate quadruped.*)--duration 1", r"\1--duration 0.02"),
    (r":300\b", ":4"),
    (r"bench ", "bench --rounds 1 "),
]
"""Options with which an example takes less time."""

SERVED = r"mbdyn view|--page|mbdyn completion|mbdyn bench|mbdyn doctor|ik crane|--pareto"
"""Examples that serve a page, take long, or print for a shell: here their words are read only."""

NIGHTLY = (
    r"--fit|--gif|--poses|--pareto|piezo .*--position|--closed-form (--digits|-o piezo_c)|--balance"
    r"|--explain|piezo .*--equations|ops piezo_robot|simulate quadruped"
)
"""Examples of seconds that others repeat in part: `make test-all` runs them too."""

REPEATED = "time", "excite"
"""Verbs that call one program thousands of times: compiled, they take less time in all."""

GIVEN = {
    "robot.urdf": '<robot name="r"><link name="a"/></robot>',
}
"""Files of the reader's own that examples name."""


def commands() -> list[tuple[str, list[str]]]:
    verbs = [(name, examples(Verb(name, place, text).load())) for name, place, text in VERBS]
    return [("mbdyn", examples(main)), *verbs]


def typed(line: str) -> Result | None:
    """Run what a line of a shell runs; None for a line that only makes a file."""
    line = line.partition("    #")[0].partition(" | jq ")[0]
    echoed = re.fullmatch(r"echo '(.*)' > (\S+)|printf '%s\\n' (.*) > (\S+)", line)
    if echoed:
        Path(echoed[2] or echoed[4]).write_text(echoed[1] or echoed[3].replace(" ", "\n"))
        return None
    before, _, after = line.rpartition("| mbdyn ") if "| mbdyn " in line else ("", "", "")
    words = shlex.split(after if before else line.split(" && ")[0].removeprefix("mbdyn "))
    given = Path(before.split()[1]).read_text() if before else None
    return CliRunner().invoke(main, words, input=given)


@pytest.mark.sparse
@pytest.mark.parametrize(("name", "lines"), commands())
def test_examples_run_as_they_stand(
    name: str, lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lines
    monkeypatch.chdir(tmp_path)
    for file, text in GIVEN.items():
        Path(file).write_text(text)
    if name in REPEATED:
        monkeypatch.delenv("MBDYN_INTERPRET")
    for line in lines:
        if re.search(SERVED, line) or line.startswith("cp "):
            continue
        if re.search(NIGHTLY, line) and not is_night():
            continue
        shorter = line
        for long, short in SHORTER:
            shorter = re.sub(long, short, shorter)
        result = typed(shorter)
        assert result is None or result.exit_code == 0, f"{line}\n{result.output}"


@pytest.mark.parametrize(("name", "lines"), commands())
def test_examples_name_robots_in_the_box(name: str, lines: list[str]) -> None:
    """Those that serve a page too: their words are taken, and their robot is there."""
    from mbdyn_ros.model.read.installed import own_robots

    own = {*own_robots(), "-"}
    for line in lines:
        found = re.search(r"mbdyn (view|bench|ik|piezo|inspect|simulate) (?!-)(\S+)", line)
        assert not found or found[2] in own or os.sep in line, line
        assert not re.search(r"mbdyn (?!mechanism)\w+ \S+\.(urdf|yaml)\b", line), line
