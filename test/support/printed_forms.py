"""Closed forms as they are printed, evaluated."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pinocchio")

Array = np.ndarray
URDF = Path(__file__).resolve().parents[2] / "urdf"
PIEZO = URDF / "piezo_robot.yaml"


def evaluate(text: str, n: int, q: Array) -> tuple[Array, Array, Array]:
    """H, C and g of a printed form at q: the text is run as it stands."""
    values: dict[str, float] = {}
    for k, x in enumerate(q, start=1):
        values.update({f"C{k}": math.cos(x), f"S{k}": math.sin(x), f"q{k}": x})
    exec(text, {}, values)
    joined = "" if n < 10 else "_"
    H, C, g = np.zeros((n, n)), np.zeros((n, n, n)), np.zeros(n)
    for i in range(n):
        g[i] = values[f"g{i + 1}"]
        for k in range(n):
            for m in range(k, n):
                indices = joined.join(map(str, (i + 1, k + 1, m + 1)))
                C[i, k, m] = C[i, m, k] = values[f"C{indices}"]
        for k in range(i, n):
            H[i, k] = H[k, i] = values["H" + joined.join(map(str, (i + 1, k + 1)))]
    return H, C, g
