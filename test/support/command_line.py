"""The command line, run in the process of the test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from corpus import urdf_file

from mbdyn_ros.__main__ import main

UR5 = str(urdf_file("ur5_robot.urdf"))
PANDA = str(urdf_file("panda.urdf"))
ROOT = Path(__file__).resolve().parents[2]
FOUR_BAR = str(ROOT / "urdf" / "four_bar.urdf")


def run(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments], input=text)


def succeed(*arguments: object, text: str | None = None) -> str:
    result = run(*arguments, text=text)
    assert result.exit_code == 0, result.output
    return result.stdout


def document(*arguments: object, text: str | None = None) -> Any:
    return json.loads(succeed(*arguments, "--json", text=text))
