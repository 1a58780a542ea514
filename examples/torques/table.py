"""Questions and answers of a demonstration as a table, and whether they are right."""

from __future__ import annotations

from rich.table import Table

from examples.demonstration import DemoError

from .client import CALLS
from .motion import POINTS
from .outcome import Outcome, PlannedPaths

RATE = 1000.0
"""Hz, of the simulator."""

LONGEST_HOLD = 0.01
"""s for which a robot may move by the same efforts or positions: 0.003 on a quiet machine."""

FARTHEST_PATH = 20.0
"""mm, root mean square, by which a tool may leave its way."""


def table(outcomes: list[Outcome]) -> Table:
    """Questions and answers, a column for each robot."""
    result = Table(title="mbdyn_ros over ROS 2", title_justify="left")
    result.add_column("asked")
    result.add_column("came back")
    for outcome in outcomes:
        result.add_column(outcome.name, justify="right")
    rows = [
        (f"{CALLS} random states, inverse dynamics service", "largest relative error",
         [f"{one.service_error:.1e}" for one in outcomes]),
        ("", "median time, ms", [f"{one.service_ms:.2f}" for one in outcomes]),
        (f"a trajectory of {POINTS} points, trajectory service", "largest relative error",
         [f"{one.trajectory_error:.1e}" for one in outcomes]),
        ("", "median time, ms", [f"{one.trajectory_ms:.1f}" for one in outcomes]),
        ("the simulator, driven by torque_feedforward", "joint states received",
         [str(one.received) for one in outcomes]),
        ("", "rate held, Hz (1000 wanted)", [f"{one.rate:.1f}" for one in outcomes]),
        ("", "longest gap, ms", [f"{one.worst_gap_ms:.1f}" for one in outcomes]),
        ("", "longest use of an effort, ms", [f"{1e3 * one.longest_hold:.1f}" for one in outcomes]),
        ("", "tracking error, rad or m", [f"{one.tracking_error:.4f}" for one in outcomes]),
        ("the tool on its way, by the service's efforts and a small PD", "error rms, max, mm",
         [f"{one.path.rms_mm:.2f}, {one.path.max_mm:.2f}" if one.loops else ""
          for one in outcomes]),
        ("", "share of the PD in the effort, by power",
         [f"{one.pd_share:.2%}" if one.loops else "" for one in outcomes]),
        ("", "by joint (rms), %",
         [", ".join(f"{100 * share:.2f}" for share in one.pd_shares) for one in outcomes]),
        ("the same PD without feed-forward", "error rms, max, mm",
         [f"{one.path_without.rms_mm:.0f}, {one.path_without.max_mm:.0f}" if one.loops else ""
          for one in outcomes]),
        ("energy balance, at the highest energy", "work of the efforts, J",
         [f"{one.work:.4f}" for one in outcomes]),
        ("", "friction loss, J", [f"{one.loss:.4f}" for one in outcomes]),
        ("", "change of energy, J", [f"{one.energy_change:.4f}" for one in outcomes]),
        ("", "largest imbalance, relative", [f"{one.imbalance:.1e}" for one in outcomes]),
    ]  # fmt: skip
    for asked, back, cells in rows:
        result.add_row(asked, back, *cells)
    return result


def angles_table(paths: PlannedPaths) -> Table:
    """The crane that was planned in angles and moved by its cylinders."""
    result = Table(title="planned in angles, moved by cylinders", title_justify="left")
    result.add_column("the crane follows its plan by")
    result.add_column("path error of the tool, rms, max, mm", justify="right")
    before, after = paths.points
    for name, path in (
        (f"forces, filled in at {after} points ({before} planned), and a small PD", paths.effort),
        ("positions of its cylinders", paths.position),
    ):
        result.add_row(name, f"{path.rms_mm:.2f}, {path.max_mm:.2f}")
    return result


def check(outcome: Outcome) -> str:
    """Refuse results that are not right. Return what a slow machine kept from being checked."""
    limits = [
        (outcome.service_error, 1e-12, "of error in the inverse dynamics service"),
        (outcome.trajectory_error, 1e-12, "of error in the trajectory service"),
    ]
    busy = ""
    if outcome.rate < 0.95 * RATE:
        busy = f"rate held {outcome.rate:.0f} Hz of {RATE:g}"
    elif outcome.longest_hold > LONGEST_HOLD:
        busy = late(outcome.longest_hold)
    if not busy:
        limits += [
            (outcome.tracking_error, 0.1, "rad or m of tracking error"),
            (outcome.imbalance, 0.02, "of the energy is unaccounted for"),
            (outcome.path.rms_mm, FARTHEST_PATH, "mm of path error"),
            (outcome.pd_share, 0.05, "of the effort came from the PD"),
        ]
    for value, limit, what in limits:
        if not value <= limit:
            raise DemoError(f"{outcome.name}: {value:.3g} {what} (allowed: {limit:g})")
    if busy:
        return f"{outcome.name}: machine too busy: {busy}"
    return ""


def late(hold: float) -> str:
    """What kept a robot from moving as it should: efforts that came late, by s."""
    return f"efforts came {1e3 * hold:.0f} ms late"


def check_angles(paths: PlannedPaths) -> str:
    """Refuse ways of the tool that are not those that were planned. Return as `check` does."""
    for what, path in (("forces", paths.effort), ("positions", paths.position)):
        if path.longest_hold > LONGEST_HOLD:
            return f"manipulator by {what}: machine too busy: {late(path.longest_hold)}"
        if not path.rms_mm <= FARTHEST_PATH:
            raise DemoError(
                f"manipulator: {path.rms_mm:.3g} mm of path error by {what} of its cylinders "
                f"(allowed: {FARTHEST_PATH:g})"
            )
    return ""
