"""The parameters of the nodes, and the messages and services, read from the code for the book.

In a page, a block `{parameters} NODE` becomes the table of a node's parameters (`all` and
`several`: those that nodes share), `{controller} FILE` that of a controller of
`mbdyn_ros_controllers`, and a block `{interfaces}` the files of `mbdyn_ros_interfaces`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]

OF_ROS = (
    "rclpy", "rcl_interfaces", "builtin_interfaces", "std_msgs", "std_srvs", "sensor_msgs",
    "geometry_msgs", "nav_msgs", "trajectory_msgs", "visualization_msgs", "diagnostic_msgs",
    "rosgraph_msgs", "lifecycle_msgs", "mbdyn_ros_interfaces",
)  # fmt: skip
"""Packages of which empty stand-ins serve where ROS is not installed."""

COMMON = 3
"""Number of definitions from which on a comment that they share is left to the page."""

BLOCK = re.compile(r"^```\{(parameters|controller|interfaces)\} ?(\w*)\n```$", re.MULTILINE)
HEADINGS = "parameter", "default", "what it sets"
WRAPPED = "```{code-block} text\n:class: wrapped\n\n"
"""What a block of long lines begins with."""


def filled(text: str) -> str:
    """A page's Markdown with its blocks replaced by what the code declares."""
    ways = {"parameters": parameters, "controller": controller, "interfaces": interfaces}
    return BLOCK.sub(lambda found: ways[found[1]](*filter(None, [found[2]])), text)


def parameters(node: str) -> str:
    """The table of a node's own parameters, and the names of those that it shares."""
    tables = declared()
    uses = Counter(row for rows in tables.values() for row in rows)
    of_all = [row for row, count in uses.items() if count == len(tables)]
    shared: dict[str, tuple[str, ...]] = {}
    for row, count in uses.items():
        if 1 < count < len(tables):
            shared.setdefault(row[0].strip("*"), row)
    if node in ("all", "several"):
        return _table(of_all if node == "all" else list(shared.values()))
    own = [row for row in tables[node] if row not in (*of_all, *shared.values())]
    names = ", ".join(row[0].strip("*") for row in tables[node] if row in shared.values())
    return _table(own) + f"\n[Shared](#parameters-of-several-nodes): {names}." * bool(names)


def controller(file: str) -> str:
    """The table of a controller's parameters, as its file in YAML declares them."""
    path = ROOT / "mbdyn_ros_controllers" / "src" / f"{file}.yaml"
    specs: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text())[file]
    rows = []
    for name, spec in specs.items():
        value, words = spec["default_value"], spec["description"].replace("<", "&lt;")
        default = json.dumps(value) if value != [] else spec["type"].replace("_array", "[]")
        rows.append((f"`{name}`{'*' * spec.get('read_only', False)}", f"`{default}`", words))
    return _table(rows)


@cache
def declared() -> dict[str, list[tuple[str, ...]]]:
    """The rows of every node's parameters: name (* if read-only), default, description."""
    with _ros():
        nodes = import_module("mbdyn_ros.executables").NODES
        base = import_module("mbdyn_ros.ros.node.robot_node").RobotNode
        found = {}
        kind: Any
        for name, module in nodes.items():
            (kind,) = (
                one for one in vars(import_module(f"mbdyn_ros{module}")).values()
                if isinstance(one, type) and issubclass(one, base)
                and one.__module__ == f"mbdyn_ros{module}"
            )  # fmt: skip
            found[name] = [_row(spec) for spec in kind.PARAMETERS]
    return found


def _ros() -> AbstractContextManager[None]:
    if find_spec("rclpy") is not None:
        return nullcontext()
    mocked: AbstractContextManager[None] = import_module("sphinx.ext.autodoc.mock").mock(OF_ROS)
    return mocked


def _row(spec: Any) -> tuple[str, ...]:
    description = spec.description.replace("<", "&lt;")
    return f"`{spec.name}`{'*' * spec.read_only}", _default(spec), description


def _default(spec: Any) -> str:
    """The default as YAML writes it; of an empty array its type."""
    if spec.is_list:
        doubles = import_module("mbdyn_ros.ros.node.parameters").DOUBLES
        return "double[]" if spec.default == doubles else "string[]"
    value = spec.default
    words = f'"{value}"' if isinstance(value, str) else str(value)
    return f"`{words.lower() if isinstance(value, bool) else words}`"


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    lines = [HEADINGS, ("---",) * len(HEADINGS), *rows] if rows else []
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def interfaces() -> str:
    """The files of mbdyn_ros_interfaces, without what they all say and without empty lines."""
    paths = [path for folder in ("msg", "srv")
             for path in sorted((ROOT / "mbdyn_ros_interfaces" / folder).iterdir())]  # fmt: skip
    texts = [path.read_text().strip() for path in paths]
    uses = Counter(line for text in texts for line in set(text.splitlines()) if line[:1] == "#")
    parts = []
    for path, text in zip(paths, texts, strict=True):
        lines = [line for line in text.splitlines() if line and uses[line] < COMMON]
        parts.append(f"### {path.stem}\n{WRAPPED}" + "\n".join(lines) + "\n```\n")
    return "\n".join(parts)
