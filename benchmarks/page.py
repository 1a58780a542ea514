"""How fast a mechanism's page follows its sliders: the part of Python, and up to the charts.

A slider of the four-bar is clicked in a headless Chromium, drawn without a graphics card; printed
are the least and the median of many clicks, in ms: what Python computes and sends for a whole
turn of 360 points; Plotly's redrawing alone; and from the press of the mouse until the chart has
been redrawn.

    python benchmarks/page.py
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from mbdyn_ros.mechanisms import FourBar
from mbdyn_ros.mechanisms.view.mechanism_page import MechanismPage
from mbdyn_ros.view.page.page import Address, Page

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test"))
from browser import CHROMIUM, FLAGS, Tab  # noqa: E402

CLICKS = 30
WATCH = """() => {
  window.stamps = []; window.pressed = 0;
  for (const chart of document.querySelectorAll('.js-plotly-plot'))
    chart.on('plotly_afterplot', () => window.stamps.push(performance.now()));
  document.addEventListener('mousedown', () => {
    window.pressed = performance.now(); window.stamps = [];
  }, true);
}"""
REACT = """() => {
  const chart = document.querySelector('.js-plotly-plot'), times = [];
  for (let k = 0; k < 20; k++) {
    const data = JSON.parse(JSON.stringify(chart.data)), start = performance.now();
    Plotly.react(chart, data, chart.layout, {});
    times.push(performance.now() - start);
  }
  return times;
}"""


def report(what: str, times: list[float]) -> None:
    """Print one line."""
    print(f"{what:<42} least {min(times):6.1f} ms, median {float(np.median(times)):6.1f} ms")


def main() -> None:
    """Measure and print."""
    page = Page("four_bar", Address(port=0))
    shown = MechanismPage(page, FourBar())
    spent: list[float] = []

    def draw(passed: float, woken: bool) -> None:
        start = time.perf_counter()
        shown.draw(passed, woken)
        spent.append(1e3 * (time.perf_counter() - start))

    thread = threading.Thread(target=page.run, args=(draw,), daemon=True)
    thread.start()
    python, whole = [], []
    with sync_playwright() as playwright:
        chromium: Any = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*FLAGS, "--no-sandbox"]
        )
        tab = Tab(chromium, page.url)
        tab.tab.wait_for_timeout(3000)
        tab.tab.evaluate(WATCH)
        for k in range(CLICKS):
            spent.clear()
            tab.drag("coupler mass", 0.1 + 0.8 * k / CLICKS)
            tab.tab.wait_for_timeout(400)
            stamps = tab.tab.evaluate("window.stamps.map(x => x - window.pressed)")
            if spent and stamps:
                python.append(max(spent))
                whole.append(stamps[0])
        react = tab.tab.evaluate(REACT)
        chromium.close()
    page.end()
    thread.join()
    page.close()
    report("Python: torques, motion, scene, charts", python)
    report("browser: Plotly redraws a chart", react)
    report("from the mouse to the redrawn chart", whole)


if __name__ == "__main__":
    if CHROMIUM is None or shutil.which(CHROMIUM) is None:
        sys.exit("no chromium on PATH: sudo apt install chromium")
    main()
