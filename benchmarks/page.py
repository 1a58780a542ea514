"""How fast the page of a mechanism follows its sliders: in Python, in the page's script, in all.

A slider is clicked in a headless Chromium, drawn without a graphics card: of a length, or of teeth
where no length changes a chart. Printed are the slider, and the least and the median of many
clicks, in ms: what Python computes and sends for a whole turn of 360 points; what the scripts
compute until all charts are drawn (`ScriptDuration` of Chromium's own counters, less what they take
where nothing is clicked), both as time of a processor, which others may keep busy too; and from the
press of the mouse until the last chart has been drawn, waiting included.

    python benchmarks/page.py [four_bar klann] [--clicks 12]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from mbdyn_ros.array import Array
from mbdyn_ros.errors import InputError
from mbdyn_ros.mechanisms import MECHANISMS
from mbdyn_ros.mechanisms.registry import kind_of
from mbdyn_ros.mechanisms.view.mechanism_page import MechanismPage
from mbdyn_ros.mechanisms.view.run import DesignRun
from mbdyn_ros.view.page.page import Address, Draw, Page

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test" / "support"))
from browser import CHROMIUM, FLAGS, Tab  # noqa: E402

SETTLED, LONGEST = 800, 6
"""ms after which a click has had all its effects, and how many times that on a busy machine."""

SHARES = 0.02, -0.02, 0.04, -0.04, 0.03, -0.03
"""Changes of the number that is clicked, as shares of it, or of half its range: far enough from one
to the next that the mouse does not press the slider's thumb where it stands."""

PIXELS = 0.35
"""Share of a slider's range from which on these changes are pixels of its track."""

WATCH = """() => {
  window.stamps = []; window.pressed = 0;
  const lines = CanvasRenderingContext2D.prototype, stroke = lines.stroke;
  lines.stroke = function (...path) {
    stroke.apply(this, path);
    if (this.canvas.closest('.uplot')) window.stamps.push(performance.now());
  };
  document.addEventListener('mousedown', () => {
    window.pressed = performance.now(); window.stamps = [];
  }, true);
}"""
"""Every line of a chart leaves a stamp: charts with new axes are charts made anew."""


def clicked(shown: MechanismPage) -> tuple[str, list[float]]:
    """Label of a slider, and the shares of its range at which it is clicked: the last length or
    angle of which a few percent more and less leave a linkage that moves, with other charts."""
    start, sliders = shown.sliders.start, shown.sliders

    def drawn(**numbers: float) -> Array:
        run = DesignRun(start.replaced(**numbers), sliders.drive)
        return np.hstack([run.torque, run.analysis.in_plane[0]])

    before = drawn()
    lengths = [one for one in sliders.lengths if one.endswith("_length")]
    for name in (*reversed(lengths), *reversed(sliders.lengths), *sliders.gears):
        slider = sliders.control(name)
        reach = slider.max - slider.min
        # Of a small share of the range, a click would be less than a pixel away.
        size = slider.value if slider.value > PIXELS * reach else 0.5 * reach
        values = [slider.value + share * size for share in SHARES]
        try:
            charts = [drawn(**{name: one}) for one in values]
        except InputError:
            continue
        if any(np.allclose(one, before) for one in charts):
            continue
        return str(slider.label), [(one - slider.min) / reach for one in values]
    sys.exit(f"{start.name}: no length or angle can change by {max(SHARES):.0%}")


def measured(chromium: Any, name: str, clicks: int) -> tuple[str, dict[str, list[float]]]:
    """The slider, and milliseconds of every click: in Python, in scripts, until all is drawn."""
    page = Page(name, Address(port=0))
    mechanism = kind_of(name)()
    spent: list[float] = []
    pages: list[MechanismPage] = []

    def fill(own: Page) -> Draw:
        pages.append(MechanismPage(own, mechanism))

        def draw(passed: float, woken: bool) -> None:
            start = time.thread_time()
            pages[0].draw(passed, woken)
            spent.append(1e3 * (time.thread_time() - start))

        return draw

    thread = threading.Thread(target=page.run_each, args=(fill,), daemon=True)
    thread.start()
    found: dict[str, list[float]] = {"Python": [], "script": [], "whole": []}
    tab = Tab(chromium, page.url)
    counters = tab.tab.context.new_cdp_session(tab.tab)
    counters.send("Performance.enable", {"timeDomain": "threadTicks"})

    def scripts() -> float:
        """Milliseconds that scripts have run since the page was opened."""
        counted = counters.send("Performance.getMetrics")["metrics"]
        return 1e3 * next(one["value"] for one in counted if one["name"] == "ScriptDuration")

    tab.tab.wait_for_timeout(3000)
    tab.tab.evaluate(WATCH)
    label, shares = clicked(pages[0])
    for k in range(clicks):
        place = tab.place(label, shares[k % len(shares)])
        before = scripts()
        tab.tab.wait_for_timeout(SETTLED)
        idle = scripts() - before
        spent.clear()
        tab.tab.evaluate("window.stamps = []")
        before, waits, stamps = scripts(), 0, list[float]()
        tab.tab.mouse.click(*place)
        while not stamps and waits < LONGEST:
            tab.tab.wait_for_timeout(SETTLED)
            waits += 1
            stamps = tab.tab.evaluate("window.stamps.map(x => x - window.pressed)")
        if not stamps:
            sys.exit(f"{name}: the charts did not follow a click on {label} at {place}")
        script = scripts() - before - waits * idle
        found["Python"].append(max(spent))
        found["script"].append(script)
        found["whole"].append(max(stamps))
    page.end()
    thread.join()
    tab.tab.close()
    page.close()
    return label, found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kinds", nargs="*", default=list(MECHANISMS))
    parser.add_argument("--clicks", type=int, default=12)
    options = parser.parse_args()
    with sync_playwright() as playwright:
        chromium: Any = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*FLAGS, "--no-sandbox"]
        )
        for name in options.kinds:
            label, found = measured(chromium, name, options.clicks)
            found["Python and script"] = list(np.add(found["Python"], found["script"]))
            cells = (
                f"{what} {min(times):5.1f}, {float(np.median(times)):5.1f}"
                for what, times in found.items()
            )
            print(f"{name:15} {label:21} least, median (ms): {'; '.join(cells)}", flush=True)
        chromium.close()


if __name__ == "__main__":
    if CHROMIUM is None or shutil.which(CHROMIUM) is None:
        sys.exit("no chromium on PATH: sudo apt install chromium")
    main()
