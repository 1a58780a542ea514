"""What tests of the plugins of ros2_control share."""

from __future__ import annotations

import re
from pathlib import Path

from cpp_tools import HERE, INCLUDE

PACKAGE = HERE.parents[1] / "mbdyn_ros_controllers"


def stand_in_headers(folder: Path) -> Path:
    """The folder, with every header of ROS that the plugins include, each the stand-in."""
    own = PACKAGE / "include"
    for source in [*own.rglob("*.hpp"), *(PACKAGE / "src").glob("*.cpp")]:
        for name in re.findall(r'#include "([a-z_]+/[\w/]+\.hpp)"', source.read_text()):
            there = any((root / name).exists() for root in (own, INCLUDE))
            if not there and not name.endswith("_parameters.hpp"):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text('#include "ros_stand_in.hpp"\n')
    return folder
