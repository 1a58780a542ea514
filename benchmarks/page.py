"""How fast the page of a mechanism follows its sliders: in Python, in the page's script, in all.

A slider is clicked in a headless Chromium, drawn without a graphics card, a length that changes
linkage, curve and charts. Printed are the least and the median of many clicks, in ms: what Python
computes and sends for a whole turn of 360 points; what the page's scripts compute until all charts
are drawn (`ScriptDuration` of Chromium's own counters, less what they take where nothing is
clicked), both as time of a processor, which others may keep busy too; and from the press of the
mouse until the last chart has been drawn, waiting included.

    python benchmarks/page.py [four_bar stephenson_2 klann jansen] [--clicks 30]
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

from mbdyn_ros.mechanisms.registry import kind_of
from mbdyn_ros.mechanisms.view.mechanism_page import MechanismPage
from mbdyn_ros.view.page.page import Address, Draw, Page

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test" / "support"))
from browser import CHROMIUM, FLAGS, Tab  # noqa: E402

KINDS = ("four_bar", "stephenson_2", "klann", "jansen")
SETTLED = 600
"""ms after which a click has had all its effects."""

MIDDLE = 0.8 / 2.3
"""Where the slider of a length stands at first, which goes from 0.2 to 2.5 times its value."""

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


def measured(chromium: Any, name: str, clicks: int) -> dict[str, list[float]]:
    """Milliseconds of every click: in Python, in scripts, and until all is drawn."""
    page = Page(name, Address(port=0))
    mechanism = kind_of(name)()
    spent: list[float] = []

    def fill(own: Page) -> Draw:
        shown = MechanismPage(own, mechanism)

        def draw(passed: float, woken: bool) -> None:
            start = time.thread_time()
            shown.draw(passed, woken)
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
    label = [one for one in mechanism.settings if one.endswith("_length")][-1]
    for k in range(clicks):
        near = MIDDLE + 0.02 * (k % 5 - 2) + 0.002 * (k % 7)
        place = tab.place(label.removesuffix("_length"), near)
        before = scripts()
        tab.tab.wait_for_timeout(SETTLED)
        idle = scripts() - before
        spent.clear()
        before = scripts()
        tab.tab.mouse.click(*place)
        tab.tab.wait_for_timeout(SETTLED)
        script = scripts() - before - idle
        stamps = tab.tab.evaluate("window.stamps.map(x => x - window.pressed)")
        if spent and stamps:
            found["Python"].append(max(spent))
            found["script"].append(script)
            found["whole"].append(max(stamps))
    page.end()
    thread.join()
    tab.tab.close()
    page.close()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kinds", nargs="*", default=KINDS)
    parser.add_argument("--clicks", type=int, default=30)
    options = parser.parse_args()
    with sync_playwright() as playwright:
        chromium: Any = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*FLAGS, "--no-sandbox"]
        )
        for name in options.kinds:
            found = measured(chromium, name, options.clicks)
            if not found["whole"]:
                sys.exit(f"{name}: the charts followed none of {options.clicks} clicks; try more")
            found["Python and script"] = list(np.add(found["Python"], found["script"]))
            cells = (
                f"{what} {min(times):5.1f}, {float(np.median(times)):5.1f}"
                for what, times in found.items()
            )
            print(f"{name:14} {len(found['whole'])} clicks; least, median (ms): {'; '.join(cells)}")
        chromium.close()


if __name__ == "__main__":
    if CHROMIUM is None or shutil.which(CHROMIUM) is None:
        sys.exit("no chromium on PATH: sudo apt install chromium")
    main()
