"""Substitutions `$(...)` of xacro, and the folders that a robot file may read from."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from ....errors import ModelError, suggestion
from ..source_text import find_package
from ..yaml_source import YamlSource
from .values import ExpressionError

PACKAGE = re.compile(r"\w[\w.-]*")
MANIFEST = "package.xml"

UNITS = {
    "!radians": 1.0,
    "!degrees": 3.141592653589793 / 180,
    "!meters": 1.0,
    "!millimeters": 0.001,  # codespell:ignore
    "!foot": 0.3048,
    "!inches": 0.0254,
}
"""Units of numbers in YAML, by their tag."""


class Substitutions:
    """Arguments, packages and folders, for one file.

    Parameters
    ----------
    folder : of the file; None for text, whose own folder is the current one.
    arguments : values that the caller gives, by name.

    Notes
    -----
    The environment is never read: `$(env NAME)` takes the argument NAME.
    """

    def __init__(self, folder: Path | None, arguments: Mapping[str, str]) -> None:
        self._folder = folder
        self._given = arguments
        self._values = dict(arguments)
        self._asked: set[str] = set()
        self._roots = [_home_of(folder) if folder else os.path.abspath(".")]

    def declare(self, name: str, default: str | None) -> None:
        """An `<xacro:arg>`: its value where the caller gives none."""
        self._asked.add(name)
        if default is not None:
            self._values.setdefault(name, default)

    def text(self, name: str) -> str:
        """The value of an argument."""
        self._asked.add(name)
        if name not in self._values:
            near = suggestion(str(name), self._values)
            raise ExpressionError(f"Undefined substitution argument {name}{near}")
        return self._values[name]

    def resolve(self, call: str, file: str) -> str:
        """The text of `$(call)` in a file."""
        words = call.split()
        name, given = (words[0], words[1:]) if words else ("", [])
        if name == "arg" and len(given) == 1:
            return self.text(given[0])
        if name == "find" and len(given) == 1:
            return self.package(given[0])
        if (name == "env" and len(given) == 1) or (name == "optenv" and given):
            return self.environment(given[0], None if name == "env" else " ".join(given[1:]))
        if name == "dirname" and not given:
            return os.path.dirname(os.path.abspath(file))
        if name == "cwd" and not given:
            return os.path.abspath(".")
        raise ExpressionError(
            f"$({call}) is none of $(arg NAME), $(find PACKAGE), $(env NAME), "
            "$(optenv NAME DEFAULT), $(dirname), $(cwd) and $(eval EXPRESSION)"
        )

    def environment(self, name: str, default: str | None = None) -> str:
        """The argument that stands for an environment variable."""
        self._asked.add(name)
        if name in self._given:
            return self._given[name]
        if default is None or name in os.environ:
            raise ExpressionError(
                f"the file asks for the environment variable {name}, and a robot file does not "
                f"read the environment; give it as an argument: xacro={{{name!r}: ...}}"
            )
        return default

    def package(self, name: str) -> str:
        """The folder of a package, which may be read from now on."""
        found = find_package(name, self._folder) if PACKAGE.fullmatch(name) else None
        if found is None:
            raise ExpressionError(
                f'there is no package "{name}" in the folders above the file, in '
                "ROS_PACKAGE_PATH or AMENT_PREFIX_PATH"
            )
        self._roots.append(os.path.abspath(found))
        return str(found)

    def check_path(self, path: str) -> None:
        """Refuse a file outside of the folders that may be read."""
        if not any(os.path.commonpath([root, path]) == root for root in self._roots):
            raise ExpressionError(
                f"{path} lies outside of the folder of the file and of the packages that it names "
                f"with $(find ...); move it there ({', '.join(self._roots)})"
            )

    def check_arguments(self, name: str) -> None:
        """Refuse an argument that the file did not ask for."""
        for one in self._given:
            if one not in self._asked:
                raise ModelError(
                    f'{name}: xacro: there is no <xacro:arg name="{one}">'
                    f"{suggestion(one, self._asked)}; its arguments are "
                    f"{', '.join(sorted(self._asked)) or 'none'}"
                )


def _home_of(folder: Path) -> str:
    """The package that a folder lies in, else the folder."""
    for above in [folder, *folder.parents]:
        if (above / MANIFEST).is_file():
            return str(above)
    return str(folder)


class _Constructor(yaml.constructor.SafeConstructor):
    """Values of YAML nodes; numbers may have units, nothing may multiply itself."""

    def __init__(self, evaluate: Callable[[str], float]) -> None:
        super().__init__()
        self.evaluate = evaluate

    def flatten_mapping(self, node: Any) -> None:
        """Refuse `<<`, which multiplies."""
        if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
            raise yaml.YAMLError("merge keys (<<) are not read; write the values out")

    def construct_scalar(self, node: Any) -> Any:
        """The text of a scalar; a number of a bounded length."""
        if len(node.value) > 400 and not node.tag.endswith(":str"):
            raise yaml.YAMLError(
                f"line {node.start_mark.line + 1}: a number of that length; shorten it"
            )
        return super().construct_scalar(node)

    def construct_unit(self, node: Any) -> float:
        """A number with a unit, which may be an expression."""
        return self.evaluate(str(self.construct_scalar(node))) * UNITS[node.tag]


_Constructor.yaml_constructors = {
    **yaml.constructor.SafeConstructor.yaml_constructors,
    **dict.fromkeys(UNITS, _Constructor.construct_unit),
}


def load_table(path: str, evaluate: Callable[[str], float]) -> Any:
    """The values in a YAML file.

    Raises
    ------
    ModelError
        No such file, not YAML, or larger than any table.
    ExpressionError
        It holds something that is not a value.
    """
    source = YamlSource(Path(path), "table", "values by name")
    try:
        return _Constructor(evaluate).construct_document(source.root)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        raise ExpressionError(f"{path}: {' '.join(str(error).split())}") from None
