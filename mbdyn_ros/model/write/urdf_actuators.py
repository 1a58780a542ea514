"""Actuators as elements of a URDF, so that reading them gives them again."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from ..actuators import TYPES
from ..model import Model
from .elements import element, number

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def write_actuators(robot: Element, model: Model) -> None:
    """An `<actuator>` for each; numbers that are the default are left out."""
    words = {kind: word for word, kind in TYPES.items()}
    for one in model.actuators:
        _write(element(robot, "actuator", name=one.name, type=words[type(one)]), one)


def _write(parent: Element, record: Any) -> None:
    """The settings of a record as attributes, and the records in it as elements."""
    for one in dataclasses.fields(record):
        value = getattr(record, one.name)
        if one.name == "line" or value == _default(one):
            continue
        if dataclasses.is_dataclass(value):
            _write(element(parent, one.name), value)
        else:
            parent.set(one.name, value if isinstance(value, str) else number(value))


def _default(one: dataclasses.Field[Any]) -> Any:
    """The value of a field that is not given; MISSING where there is none."""
    if one.default_factory is not dataclasses.MISSING:
        return one.default_factory()
    return one.default
