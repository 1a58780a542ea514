"""The couplings of a side-car file: between two links, or between joints by name."""

from __future__ import annotations

import yaml

from ..model import Combination, Coupling
from .couplings import ZERO_FACTOR, ZERO_RATIO
from .side_car_ends import ENDS, read_end, read_name
from .yaml_source import YamlSource

KEYS = ("name", "type", "predecessor", "successor", "ratio", "joints", "offset")


def read_coupling(document: YamlSource, node: yaml.Node) -> Coupling | Combination:
    """Read one record; with `joints`, factors by joint name, it is between these."""
    values = document.mapping(node, "a coupling", KEYS)
    name = read_name(document, node, values, "coupling")
    what = f'coupling "{name}"'
    if "joints" in values:
        return _read_combination(document, values, name, what, document.line(node))
    if "offset" in values:
        raise document.error(values["offset"], f"{what}: only a coupling of joints has an offset")
    links = []
    for role in ENDS:
        end = read_end(document, node, values, what, role, ("link",))
        links.append(document.text(end["link"], f"{what}: its {role} link"))
    if "ratio" not in values:
        raise document.error(node, f"{what}: has no ratio; add ratio: ...")
    ratio = document.number(values["ratio"], f"{what}: its ratio")
    if ratio == 0.0:
        raise document.error(values["ratio"], f"{what}: {ZERO_RATIO}")
    return Coupling(name, links[0], links[1], ratio, document.line(node))


def _read_combination(
    document: YamlSource, values: dict[str, yaml.Node], name: str, what: str, line: int
) -> Combination:
    for role in (*ENDS, "ratio"):
        if role in values:
            raise document.error(
                values[role], f"{what}: {role} couples links, and joints: joints; keep one of both"
            )
    factors = []
    for joint, node in document.mapping(values["joints"], f"{what}: its joints").items():
        factor = document.number(node, f'{what}: the factor of "{joint}"')
        if factor == 0.0:
            raise document.error(node, f'{what}: "{joint}": {ZERO_FACTOR}')
        factors.append((joint, factor))
    if not factors:
        raise document.error(values["joints"], f"{what}: joints: names no joint")
    offset = 0.0
    if "offset" in values:
        offset = document.number(values["offset"], f"{what}: its offset")
    return Combination(name, tuple(factors), offset, line)
