"""The headers of C++ that know no robot, and the numbers that Python takes from them."""

from __future__ import annotations

import re
from pathlib import Path

INCLUDE = Path(__file__).parent / "cpp"
"""Folder of the headers, for a compiler: `#include <mbdyn_ros/model.hpp>`."""


def constant(header: str, name: str) -> float:
    """The number of a `static constexpr` of a header, which is written there only.

    >>> constant("observer.hpp", "longest_gap")
    0.1
    """
    text = (INCLUDE / "mbdyn_ros" / header).read_text("utf-8")
    (number,) = re.findall(rf"^ *static constexpr \w+ (?:.*, )?{name} = ([^,;]+)[,;]", text, re.M)
    return float(number)
