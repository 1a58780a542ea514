"""A picture of a motion along a path: its phase plane, and what limits it when."""

from __future__ import annotations

import os

import numpy as np

from ..motion import TimedPath
from .colors import COLORS, color_of
from .figure import FAINT_INK, as_they_stand, figure_of, legend_beside, save_figure, tidy

LEAST_SPAN = 0.004
"""Part of the duration under which a stretch is not named."""


def save_timing_plot(timed: TimedPath, path: str | os.PathLike[str], title: str = "") -> None:
    """Draw ds/dt over s, and the used share of every limit that limits, over time.

    Each limit has a colour, in which the speed is drawn where it is the one that is used most. In
    grey: the greatest ds/dt by limits of speeds alone.
    """
    times, shares = timed.used()
    worst = shares.argmax(axis=1)
    spans = np.gradient(times)
    durations = np.bincount(worst, weights=spans, minlength=shares.shape[1])
    shown = np.argsort(-durations)[: len(COLORS)]
    shown = shown[durations[shown] > LEAST_SPAN * timed.duration]
    color = {int(k): color_of(i) for i, k in enumerate(shown)}
    figure = figure_of(2, size=(8.4, 3.1))
    phase, used = figure.subplots(2)
    done, start, first = 0.0, 0.0, 0
    for part, fast in zip(timed.parts, timed.fastest, strict=True):
        count = len(fast.u)
        here = slice(first, first + count)
        s, speed, _ = part.at(times[here] - start)
        with np.errstate(divide="ignore"):
            most = np.sqrt(fast.rows.most)
        phase.plot(done + fast.rows.s, most, color=FAINT_INK, linewidth=1.0)
        phase.plot(done + s, speed, color=FAINT_INK, linewidth=2.2)
        for k, one in color.items():
            phase.plot(
                done + s, np.where(worst[here] == k, speed, np.nan), color=one, linewidth=2.2
            )
        done, start, first = done + fast.path.length, start + part.duration, first + count
    top = max(float(np.sqrt(fast.x.max())) for fast in timed.fastest)
    phase.set(xlabel="s, length of the path in the joints", ylabel="ds/dt (1/s)")
    phase.set_ylim(0, 1.4 * top)
    for k, one in color.items():
        used.plot(times, 100 * shares[:, k], color=one, linewidth=1.4, label=timed.limits.labels[k])
    used.set(xlabel="time (s)", ylabel="used of the limit (%)", ylim=(0, 108))
    for axes in (phase, used):
        axes.margins(x=0)
        tidy(axes)
    as_they_stand(*legend_beside(used).get_texts())
    as_they_stand(figure.suptitle(title or f"{timed.duration:.4g} s"))
    save_figure(figure, path)
