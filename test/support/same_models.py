"""How far two models differ, field by field."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

LEFT_OUT = {"line", "source", "warnings", "problem", "part_of", "_links", "_joints", "_parents"}
"""Where a model was read, and what it is found by."""


def difference(one: object, other: object, where: str = "model") -> float:
    """The largest difference of two numbers of two models; all else must be equal."""
    if dataclasses.is_dataclass(one) and not isinstance(one, type):
        assert type(one) is type(other), where
        names = [field.name for field in dataclasses.fields(one) if field.name not in LEFT_OUT]
        pairs = [(name, getattr(one, name), getattr(other, name)) for name in names]
    elif isinstance(one, np.ndarray):
        assert isinstance(other, np.ndarray) and one.shape == other.shape, where
        return float(np.abs(one - other).max(initial=0.0))
    elif isinstance(one, Mapping):
        assert isinstance(other, Mapping) and list(one) == list(other), where
        pairs = [(name, one[name], other[name]) for name in one]
    elif isinstance(one, tuple):
        assert isinstance(other, tuple) and len(one) == len(other), f"{where}: {one} {other}"
        pairs = [(str(k), *pair) for k, pair in enumerate(zip(one, other, strict=True))]
    elif isinstance(one, float) and isinstance(other, float) and np.isfinite(one):
        return abs(one - other)
    else:
        assert one == other, f"{where}: {one!r} {other!r}"
        return 0.0
    return max((difference(a, b, f"{where}.{name}") for name, a, b in pairs), default=0.0)
