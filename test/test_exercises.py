"""The exercises: every answer on the page is what its command says."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mbdyn_ros.__main__ import main

PAGE = (Path(__file__).parents[1] / "docs/exercises.md").read_text()
EXERCISES = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]


def numbers(k: int, document: dict[str, Any]) -> list[float]:
    """The numbers that the answer of exercise k + 1 gives."""
    if k in (0, 1):
        key = ("transmission_angles", "dead_centers")[k]
        return [*map(math.degrees, document[key]), document["time_ratio"]]
    if k == 2:
        pairs = (document[key] for key in
                 ("largest_shaking_force", "largest_shaking_moment", "peak_torque"))  # fmt: skip
        changes = [one for pair in pairs for one in pair if one > 1e-9]
        return [*(one["mass"] for one in document["counterweights"]), *changes]
    if k == 3:
        rates = document["series"]["velocity"]
        return [rates["arm_joint"][0], rates["planet_joint"][0]]
    return [document["mean_friction_power"]]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("k", range(5))
def test_the_answer_is_what_the_command_says(k: int) -> None:
    question, _, answer = EXERCISES[k].partition("Answer:")
    (command,) = re.findall(r"^mbdyn (.*)$", question, flags=re.MULTILINE)
    arguments = [one for one in command.split() if one != "--json"] + ["--json"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    given = re.findall(r"-?\d+(?:\.\d+)?", answer)
    for number in numbers(k, json.loads(result.output)):
        assert f"{number:.4g}" in given
