"""Every program of the gallery runs, draws its picture, and is shown in the book."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted(
    path.stem for path in (ROOT / "examples" / "gallery").glob("*.py") if path.stem != "__init__"
)
LASTING = (
    "balanced_lamp", "bucket_lifts", "c_for_a_controller", "cost_of_bodies", "crane_by_fatrop",
    "crane_receding", "delta_reach", "draw_by_inverse_kinematics", "energy_kept", "excavator_dig",
    "gradient_of_a_motion", "hydraulic_crane", "identify_inertias", "panda_grasps",
    "quadruped_stands", "sampling_control", "sliding_block", "stewart_forces", "two_arms_carry",
    "worlds_in_a_row",
)  # fmt: skip
"""Programs of several seconds, or in compiled steps; they run with all tests."""
DESIGNED = {"balanced_lamp": 1e-3, "excavator_design": 0.8, "four_bar_peak": 0.72}
"""What programs that design leave at most of the largest torque or pressure they begin with."""
CARRIED = {
    "bucket_lifts": (3.06, 0.0, 0.69), "panda_grasps": (0.49, 0.0, 0.34),
    "two_arms_carry": (0.0, 0.2, 0.34),
}  # fmt: skip
"""m, where programs that carry something end with its middle."""


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.long if one in LASTING else ()) for one in PROGRAMS],
)
def test_program(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib.pyplot as plt  # slow to import

    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    try:
        program = runpy.run_module(f"examples.gallery.{name}", run_name="__main__")
        if name in DESIGNED:
            _check_design(program, plt.gca().lines, DESIGNED[name])
        if name in CARRIED:
            np.testing.assert_allclose(program["middle"][-1], CARRIED[name], atol=0.01)
    finally:
        plt.close("all")
    assert (tmp_path / f"{name}.png").stat().st_size > 5000


def _check_design(program: dict[str, Any], lines: Any, most: float) -> None:
    """Hold a design to its numbers: the curves drawn are those before it, then those after it."""
    before, after = np.split(np.abs([line.get_ydata() for line in lines]), 2)
    assert after.max() < most * before.max()
    if "kept" in program:  # swing (rad), or what is left of strokes (m)
        left = program["kept"]["fun"](program["found"].x)
        assert np.min(left if program["kept"]["type"] == "ineq" else -np.abs(left)) > -1e-6


def test_each_is_short_and_shown() -> None:
    extension = runpy.run_path(str(ROOT / "docs" / "_extensions" / "gallery.py"))
    page = extension["filled"]((ROOT / "docs" / "gallery.md").read_text())
    assert len(PROGRAMS) >= 25
    for name in PROGRAMS:
        lines = (ROOT / "examples" / "gallery" / f"{name}.py").read_text().count("\n")
        assert 20 <= lines <= 60, name
        assert f"gallery/{name}.png" in page and (ROOT / f"docs/gallery/{name}.png").is_file(), name
