"""YAML read safely, with the file and line of every value for messages.

Only the tree of nodes is used: nothing is constructed, so a name may be `yes` or `010`, and a
number is what it is in a URDF.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection

import yaml

from ...errors import ModelError, suggestion
from ...number import to_finite
from .source_text import TEXT, read_text

BEGINS = re.compile(r"\s*(\{|\w+:\s)")
"""The beginning of YAML in one line, which a path does not have."""

STANDARD = "tag:yaml.org,2002:"
MAXIMUM_CHARACTERS = 2**19
"""Of a document: its nodes take hundreds of times the memory."""


class YamlSource:
    """One YAML document, which must be a mapping.

    Parameters
    ----------
    source : str or os.PathLike
        A path, or the YAML itself (a str of several lines, or one that begins with a ``{`` or a
        ``key: ``).
    what, keys : what the document is, and what it may give, for messages.

    Raises
    ------
    ModelError
        No such file, or not YAML (with line and column).
    """

    def __init__(
        self,
        source: str | os.PathLike[str],
        what: str = "mechanism",
        keys: str = "loops, couplings or home",
    ) -> None:
        if not isinstance(source, (str, os.PathLike)):
            raise ModelError(f"the {what} is a path or YAML text, not {type(source).__name__}")
        if isinstance(source, str) and ("\n" in source or BEGINS.match(source)):
            self.name, text = TEXT, source
        elif isinstance(source, str) and not source.strip():
            raise ModelError(f"the {what} is empty; give a path or the YAML text")
        else:
            self.name = os.fspath(source)
            text = read_text(self.name, "nor YAML text: one line without '{' or 'key: '")
        if len(text) > MAXIMUM_CHARACTERS:
            raise ModelError(
                f"{self.name}: has {len(text)} characters of YAML; a {what} has at most "
                f"{MAXIMUM_CHARACTERS}. Is this one?"
            )
        self.root: yaml.Node = self._compose(text, what, keys)

    def _compose(self, text: str, what: str, keys: str) -> yaml.Node:
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = f":{mark.line + 1}: column {mark.column + 1}" if mark else ""
            raise ModelError(
                f"{self.name}{place}: not well-formed YAML: {error.problem or error.context}; "
                "correct the file there or just before"
            ) from None
        except (yaml.YAMLError, ValueError) as error:
            raise ModelError(f"{self.name}: not YAML: {' '.join(str(error).split())}") from None
        except RecursionError:
            raise ModelError(f"{self.name}: nested too deeply to be any {what}") from None
        if root is None:
            raise ModelError(f"{self.name}: the file is empty; give {keys}")
        return root

    def error(self, node: yaml.Node, problem: str) -> ModelError:
        """The error to raise for a value: file and line, then the problem."""
        return ModelError(f"{self.name}:{self.line(node)}: {problem}")

    def unknown_key(
        self, node: yaml.Node, what: str, key: str, known: Collection[str]
    ) -> ModelError:
        """The error to raise for a key that something does not have."""
        words = f'{what} has no "{key}"{suggestion(key, known)}; it has {", ".join(known)}'
        return self.error(node, words)

    def unknown_name(
        self, node: yaml.Node, what: str, name: str, known: Collection[str]
    ) -> ModelError:
        """The error to raise for a name that is none of those there are."""
        words = f'{what} "{name}"{suggestion(name, known)}; there are {", ".join(known)}'
        return self.error(node, words)

    def line(self, node: yaml.Node) -> int:
        """The line in which a value begins."""
        return int(node.start_mark.line) + 1

    def is_empty(self, node: yaml.Node) -> bool:
        """Whether the value is missing."""
        return node.tag == f"{STANDARD}null"

    def mapping(
        self, node: yaml.Node, what: str, known: Collection[str] | None = None
    ) -> dict[str, yaml.Node]:
        """The values of a mapping by key; a key given twice or not `known` is refused."""
        if not isinstance(node, yaml.MappingNode) or node.tag != f"{STANDARD}map":
            form = f"a mapping with {', '.join(known)}" if known else "a mapping"
            raise self.error(node, f"{what} must be {form}, not {_shown(node)}")
        values: dict[str, yaml.Node] = {}
        lines: dict[str, int] = {}
        for key_node, value in node.value:
            key = self.text(key_node, f"a key of {what}")
            if known is not None and key not in known:
                raise self.unknown_key(key_node, what, key, known)
            if key in values:
                raise self.error(
                    key_node, f'{what} has "{key}" in line {lines[key]} already; keep one'
                )
            values[key], lines[key] = value, self.line(key_node)
        return values

    def sequence(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        """The values of a list."""
        if not isinstance(node, yaml.SequenceNode) or node.tag != f"{STANDARD}seq":
            raise self.error(node, f"{what} must be a list, not {_shown(node)}")
        return list(node.value)

    def truth(self, node: yaml.Node, what: str) -> bool:
        """The true or false in a value."""
        if isinstance(node, yaml.ScalarNode) and node.style is None:
            if node.value in ("true", "false"):
                return bool(node.value == "true")
        raise self.error(node, f"{what} must be true or false, not {_shown(node)}")

    def numbers(self, node: yaml.Node, what: str) -> tuple[float, ...]:
        """The finite numbers in a list."""
        return tuple(self.number(value, what) for value in self.sequence(node, what))

    def records(self, values: dict[str, yaml.Node], key: str) -> list[yaml.Node]:
        """The values of the list under a key; none where the key or the list is missing."""
        if key not in values or self.is_empty(values[key]):
            return []
        return self.sequence(values[key], key)

    def text(self, node: yaml.Node, what: str) -> str:
        """The text of a value as it is written."""
        if not isinstance(node, yaml.ScalarNode) or not node.tag.startswith(STANDARD):
            raise self.error(node, f"{what} must be a name, not {_shown(node)}")
        if self.is_empty(node) or not node.value:
            raise self.error(node, f"{what} is empty; give a name")
        return str(node.value)

    def number(self, node: yaml.Node, what: str) -> float:
        """The finite number in a value."""
        value = None
        if isinstance(node, yaml.ScalarNode) and node.tag.startswith(STANDARD):
            value = to_finite(node.value) if node.style is None else None
        if value is None:
            raise self.error(
                node, f"{what} must be a finite number such as 0.25 or 1e-3, not {_shown(node)}"
            )
        return value

    def vector(self, node: yaml.Node, what: str) -> tuple[float, ...]:
        """The three finite numbers in a list."""
        values = self.sequence(node, what)
        if len(values) != 3:
            raise self.error(node, f"{what} has {len(values)} values; give [x, y, z]")
        return tuple(self.number(value, what) for value in values)


def _shown(node: yaml.Node) -> str:
    """A value as messages show it."""
    for kind, tag, name in (
        (yaml.MappingNode, "map", "a mapping"),
        (yaml.SequenceNode, "seq", "a list"),
    ):
        if isinstance(node, kind):
            return name if node.tag == STANDARD + tag else f"{name} with the tag {node.tag}"
    text = str(node.value) if len(node.value) < 60 else f"{node.value[:60]}..."
    if not isinstance(node, yaml.ScalarNode) or node.style is None:
        return text or "nothing"
    return f'the text "{text}"'
