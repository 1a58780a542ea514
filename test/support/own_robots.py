"""Our own robots, and how close numbers of two programs are."""

from __future__ import annotations

from pathlib import Path

import numpy as np

OWN = Path(__file__).parents[2] / "urdf"


def assert_close(ours: object, theirs: object, what: str, tolerance: float = 1e-9) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, what
    gap = np.abs(ours - theirs).max(initial=0.0) / max(1.0, np.abs(theirs).max(initial=0.0))
    assert gap <= tolerance, f"{what}: gap {gap:.2e}"
