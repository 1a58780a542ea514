"""Runs that a page keeps: each has a name, and stays in every plot next to the present one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...view.figure import color_of
from ...view.page.charts import Curve
from ...view.page.page import Page
from .forces import Polygon
from .run import DesignRun

DASHES = ("dash", "longdash", "dot")
"""Of the lines of kept runs, one after the other."""


@dataclass(frozen=True, eq=False)
class KeptRun:
    """A run and its name; `k` runs were kept before it."""

    name: str
    run: DesignRun
    k: int

    def torque_lines(self) -> list[Curve]:
        """Driving torque of each input, N m, in a colour of the run."""
        inputs = self.run.mechanism.inputs
        names = [self.name] if len(inputs) == 1 else [f"{one}, {self.name}" for one in inputs]
        color = color_of(self.k + 2)
        lines = zip(names, self.run.torque.T, strict=True)
        return self.dashed([Curve(name, torque, color) for name, torque in lines], "")

    def dashed(self, lines: list[Curve], name: str | None = None) -> list[Curve]:
        """Lines of this run, in their colours; `name` goes behind theirs."""
        after = f", {self.name}" if name is None else name
        return [
            replace(
                one, name=one.name + after, dash=DASHES[self.k % len(DASHES)], width=1.5,
                x=self.run.x if one.x is None else one.x,
            )
            for one in lines
        ]  # fmt: skip

    @functools.cached_property
    def images(self) -> Polygon:
        """Its polygons."""
        return Polygon(self.run)

    def polygon(self, name: str, share: float) -> list[Curve]:
        """A polygon of it at a share of its motion."""
        return self.dashed(self.images.lines(name, round(share * (len(self.run.motion) - 1))))


class KeptRuns:
    """The folder in which runs are named, kept and forgotten.

    Parameters
    ----------
    run_shown : gives the run on the page. differing : gives its settings that differ from the
        start; they are its name unless another is typed.
    """

    def __init__(
        self, page: Page, run_shown: Callable[[], DesignRun],
        differing: Callable[[], dict[str, float]],
    ) -> None:  # fmt: skip
        self.runs: tuple[KeptRun, ...] = ()
        self._page, self._run_shown, self._differing = page, run_shown, differing
        with page.gui.add_folder("Compare"):
            self._name: Any = page.gui.add_text("name", "", hint="Of the run that is kept next")
            page.gui.add_button("Keep this run", hint="It stays in every chart").on_click(
                self._keep
            )
            page.gui.add_button("Forget kept runs").on_click(self._forget)

    def over(self, across: str) -> Iterator[KeptRun]:
        """The runs whose charts are over the same."""
        return (one for one in self.runs if one.run.across == across)

    def _keep(self, event: object) -> None:
        run, settings = self._run_shown(), self._differing()
        name = str(self._name.value).strip()
        if not name:
            name = ", ".join(f"{key} {one:.4g}" for key, one in settings.items()) or "as given"
            name += f", {run.motion.v[0, 0]:g} rad/s" if run.across != "time (s)" else ""
        taken = sum(one.name.partition(" #")[0] == name for one in self.runs)
        name += f" #{taken + 1}" if taken else ""
        self.runs += (KeptRun(name, run, len(self.runs)),)
        self._name.value = ""
        self._page.changed(event)

    def _forget(self, event: Any) -> None:
        self.runs = ()
        self._page.changed(event)
