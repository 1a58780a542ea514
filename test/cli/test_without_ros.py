"""Programs that need ROS 2, on a machine that has none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

WITHOUT_ROS = """
import runpy, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top == "rclpy" or top.endswith("_msgs"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    "words",
    ["examples.piezo_circle", "examples.torques", "benchmarks.ros_rate",
     "benchmarks.control_loop", "mbdyn_ros view --ros --port 0"],
)  # fmt: skip
def test_programs_without_ros_say_it_in_a_line(words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ROS, *words.split()], cwd=ROOT, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1 and "source /opt/ros/<distro>/setup.bash" in line
    assert not done.stdout
