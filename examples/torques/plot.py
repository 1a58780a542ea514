"""The picture of the demonstration."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402

from mbdyn_ros.view.figure import COLORS  # noqa: E402

from .outcome import Outcome  # noqa: E402

TITLES = {"ur5": "UR5", "panda": "Panda", "manipulator": "crane with two closed loops"}


def draw(outcomes: list[Outcome], path: Path) -> None:
    """Joints wanted and simulated, and efforts, a column for each robot."""
    style = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
    with plt.rc_context(style):  # type: ignore[arg-type]
        figure, axes = plt.subplots(
            2, len(outcomes), figsize=(5.6 * len(outcomes), 7.2), sharex=True, squeeze=False,
            layout="constrained",
        )  # fmt: skip
        for column, outcome in enumerate(outcomes):
            draw_one = _draw_path if outcome.loops else _draw_robot
            draw_one(axes[0, column], axes[1, column], outcome)
        figure.suptitle(
            "Torques from inverse dynamics drive simulated robots, over ROS 2", fontsize=13
        )
        figure.savefig(path, dpi=130)
        plt.close(figure)


def _draw_robot(above: plt.Axes, below: plt.Axes, outcome: Outcome) -> None:
    moving = [k for k, label in enumerate(outcome.labels) if "finger" not in label]
    for number, k in enumerate(moving):
        colour = COLORS[number % len(COLORS)]
        label = outcome.labels[k].replace(f"{outcome.name}_", "").replace("_joint", "")
        above.plot(outcome.time, outcome.position[:, k], color=colour, lw=2.4)
        above.plot(outcome.time, outcome.wanted[:, k], color="black", lw=0.8, ls=(0, (4, 4)))
        below.plot(outcome.time, outcome.effort[:, k], color=colour, lw=1.6, label=label)
    below.plot([], [], color="black", lw=0.8, ls=(0, (4, 4)), label="wanted")
    above.set_title(
        f"{TITLES.get(outcome.name, outcome.name)}: {outcome.rate:.0f} Hz, follows within "
        f"{1e3 * outcome.tracking_error:.1f} mrad",
        fontsize=11,
    )
    above.set_ylabel("position (rad)")
    below.set_ylabel("effort (N m)")
    _finish(above, below)


def _draw_path(above: plt.Axes, below: plt.Axes, outcome: Outcome) -> None:
    with_it, without = outcome.path, outcome.path_without
    above.semilogy(without.time, 1e3 * without.error, color=COLORS[1], lw=2, label="PD alone")
    above.semilogy(with_it.time, 1e3 * with_it.error, color=COLORS[0], lw=2,
                   label="with feed-forward")  # fmt: skip
    above.set_ylim(1e-2, 3e3)
    above.set_ylabel("path error of the tool (mm)")
    above.legend(frameon=False, loc="center", bbox_to_anchor=(0.5, 0.58), ncols=2)
    above.set_title(
        f"{TITLES.get(outcome.name, outcome.name)}: within {with_it.max_mm:.1f} mm,\n"
        f"PD {100 * outcome.pd_share:.2f} % of the effort; PD alone {without.max_mm:.0f} mm",
        fontsize=11,
    )
    for number, label in enumerate(outcome.labels):
        name = label.replace("_joint", "").replace("_", " ")
        below.plot(
            outcome.time, 1e-3 * outcome.effort[:, number], color=COLORS[number], lw=1.6,
            label=name,
        )  # fmt: skip
    below.set_ylabel("effort (kN, of the slew kN m)")
    _finish(above, below)


def _finish(above: plt.Axes, below: plt.Axes) -> None:
    below.set_xlabel("time (s)")
    for axis in (above, below):
        axis.grid(alpha=0.25)
        axis.axhline(0, color="0.6", lw=0.7, zorder=0)
        axis.margins(x=0.01)
    below.legend(
        fontsize=8.5, ncols=4, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14)
    )
