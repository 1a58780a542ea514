"""The look of a page's controls, where viser's own hides numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import viser

STYLE = """<style>
/* The number beside a slider: room for a sign and six digits. */
.mantine-Slider-root ~ .mantine-NumberInput-root { width: 4.1rem !important; flex-shrink: 0; }
/* The ends of a slider stand below its track, not in the next box. */
.mantine-Slider-markLabel { white-space: nowrap; }
.mantine-Slider-markWrapper:first-child .mantine-Slider-markLabel {
  transform: translate(0, 0.05rem) !important; }
.mantine-Slider-markWrapper:last-child .mantine-Slider-markLabel {
  transform: translate(-100%, 0.05rem) !important; }
table { border-collapse: collapse; font-size: 0.7rem; width: 100%; }
th { font-weight: 500; opacity: 0.6; text-align: right; white-space: nowrap; }
th:first-child { text-align: left; }
td { font-variant-numeric: tabular-nums; padding: 0.05rem 0.15rem; white-space: nowrap; }
td:first-child { min-width: 8.5em; overflow-wrap: anywhere; white-space: normal; }
/* A chart's legend shows lines as they are drawn, and leaves out what needs no name. */
.uplot .u-legend { margin: 0 0 0.3rem !important; text-align: left; width: 100%; }
.uplot .u-legend .u-marker { border-width: 2px 0 0 !important; height: 0 !important;
  width: 1.6em !important; }
.uplot .dot .u-marker { border-top-style: dotted !important; }
.uplot .dash .u-marker, .uplot .longdash .u-marker { border-top-style: dashed !important; }
.uplot .longdash .u-marker { width: 2.6em !important; }
.uplot .unlisted { display: none !important; }
/* On a phone the controls are a sheet as wide as the window, and the scene stands above it. */
@media (max-width: 36em) {
  .mantine-Paper-root[style*="width: 20em"] { max-height: 50% !important; width: 100% !important; }
  .mantine-Paper-root[style*="width: 20em"] div[style*="width: 20em"] { width: 100% !important; }
}
</style>"""


def add_style(gui: viser.GuiApi) -> None:
    """Let the controls that follow have our look."""
    gui.add_html(STYLE)
