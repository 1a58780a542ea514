"""The exercises: every answer on the page is what its command says."""

from __future__ import annotations

import json
import math
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.robot.module_steps import module_steps

PAGE, _, _ = (
    (Path(__file__).parents[2] / "docs/exercises.md").read_text().partition("## Four lectures")
)
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
    if k == 4:
        return [document["mean_friction_power"]]
    return of_robot(k, document) if k < 10 else of_paper(k, document)


def of_paper(k: int, document: dict[str, Any]) -> list[float]:
    """The numbers that the answer of exercise k + 1 gives: the last four are on the papers."""
    if k == 10:
        return [*document["lambda"].values(), document["tau"]["crank_joint"]]
    if k == 11:
        text = " ".join(document["elements"][name] for name in ("H66", "H55"))
        return [1e6 * float(one) for one in re.findall(r"[\d.]+e-\d+", text)]
    if k == 12:
        (impact,) = document["impacts"]
        one = impact["contacts"][0]
        return [one["impulse"], one["normal_velocity_after"] - one["normal_velocity_before"]]
    boom = mbdyn_ros.example("boom")
    (steps,) = module_steps(boom, np.array([0.1]), np.zeros(1), a=np.array([0.5]))
    return [steps["mu"].item(), steps["beta"].item(), *document["effort"].values()]


def of_robot(k: int, document: dict[str, Any]) -> list[float]:
    """The numbers that the answer of exercise k + 1 gives: the first five are on linkages."""
    if k == 9:
        pins = len(document["joints"]) + len(document["loops"])
        count = 6 * document["moving_bodies"] - 5 * pins
        return [count, document["mobility"], document["mobility"] - count]
    rows = document["acceleration" if k == 7 else "effort"]
    if k == 8:
        force, weight = -rows["telescope_joint"], 175 * 9.81
        steep = math.degrees(math.asin(force / weight))
        return [force, weight, steep, rows["lift_rod_joint"] / 1e3]
    lift, elbow = rows["shoulder_lift_joint"], rows["elbow_joint"]
    if k == 6:
        return [lift, rows["wrist_1_joint"]]
    return [lift, elbow, *[0.81725 * lift + 0.39225 * elbow] * (k == 7)]


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize("k", range(len(EXERCISES)))
def test_the_answer_is_what_the_command_says(k: int) -> None:
    question, _, answer = EXERCISES[k].partition("Answer:")
    (command,) = re.findall(r"^mbdyn (.*)$", question, flags=re.MULTILINE)
    arguments = [one for one in shlex.split(command) if one != "--json"] + ["--json"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    given = re.findall(r"-?\d+(?:\.\d+)?", answer)
    for number in numbers(k, json.loads(result.output)):
        assert f"{number:.4g}" in given
