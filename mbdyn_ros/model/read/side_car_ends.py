"""Names and ends of the loops and couplings of a side-car file."""

from __future__ import annotations

import yaml

from .yaml_source import YamlSource

ENDS = ("predecessor", "successor")


def read_name(document: YamlSource, node: yaml.Node, values: dict[str, yaml.Node], tag: str) -> str:
    """The name of a loop or coupling; it must have one."""
    if "name" not in values:
        raise document.error(node, f"this {tag} has no name; give it one")
    return document.text(values["name"], f"the name of a {tag}")


def read_end(
    document: YamlSource,
    node: yaml.Node,
    values: dict[str, yaml.Node],
    what: str,
    role: str,
    known: tuple[str, ...],
) -> dict[str, yaml.Node]:
    """The record of a predecessor or successor; it must name a link."""
    if role not in values:
        raise document.error(node, f"{what}: names no {role}; add {role}: {{link: ...}}")
    end = document.mapping(values[role], f"{what}: {role}", known)
    if "link" not in end:
        raise document.error(values[role], f"{what}: its {role} names no link; add link: ...")
    return end
