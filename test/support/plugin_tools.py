"""What tests of the plugins of ros2_control share."""

from __future__ import annotations

import re
from pathlib import Path

from cpp_tools import HERE, INCLUDE
from night import is_night

PACKAGE = HERE.parents[1] / "mbdyn_ros_controllers"


def watched(sanitizer: str) -> list[str]:
    """Options of a compiler with a sanitizer, of addresses with that of undefined behaviour too.

    By day without the latter, and not optimized: that takes a third of the time.
    """
    if not is_night():
        return ["-O0", "-g1", f"-fsanitize={sanitizer}"]
    more = ",undefined" if sanitizer == "address" else ""
    return ["-O1", "-g1", f"-fsanitize={sanitizer}{more}", "-fno-sanitize-recover=undefined"]


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
