"""One page about an identification: what fits, where it does not, and what each part brings."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import writing
from ..extras import require
from ..identification.evidence import correlations
from ..identification.verdict import Verdict
from ..model.model import Array

if TYPE_CHECKING:
    from ..identification import Identification

DRAWN_ROWS = 1500
"""Rows of which a curve is drawn."""

DRAWN_LAGS = 60
"""Rows over which the correlation of residuals is drawn."""


def write_report(found: Identification, path: Path) -> None:
    """Write the page; it needs nothing but a browser."""
    require("page")
    from plotly.offline import get_plotlyjs  # slow to import

    verdict = found.verdict
    words = "".join(f"<li>{html.escape(one)}</li>"
                    for one in (*found.words(), *found.not_in_files()))  # fmt: skip
    notes = "".join(f"<li>{html.escape(one)}</li>" for one in found.remarks)
    base = [
        (name, f"{old:.5g}", f"{new:.5g}", "undetermined" if spread != spread else f"{spread:.2g}")
        for name, old, new, spread in zip(
            found.names, found.described, found.found, found.deviation, strict=True
        )
    ]
    drives = [
        (shaft, term, f"{value:.5g}", "undetermined" if spread != spread else f"{spread:.2g}")
        for shaft, terms in found.drives.items() for term, (value, spread) in terms.items()
    ]  # fmt: skip
    brings = [
        ("the description alone, held out", f"{verdict.described:.2%}"),
        *((part, f"{error:.2%}") for part, error in found.brings.items()),
        ("all, held out", f"{verdict.relative:.2%}"),
    ]
    joints = [
        (joint, f"{rms:.4g}", f"{nrmse:.2%}", f"{explained:.1%}", f"{own:.2f}")
        for joint, rms, nrmse, explained, own in zip(
            verdict.joints, verdict.rms, verdict.nrmse, verdict.explained, verdict.correlation,
            strict=True,
        )
    ]  # fmt: skip
    figures = [_figure(verdict, k) for k in range(len(verdict.joints))]
    text = f"""<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>{html.escape(found.robot.model.name)}: identified</title><style>
body{{font:15px sans-serif;max-width:70em;margin:2em auto;padding:0 1em}}
table{{border-collapse:collapse;margin:1em 0}} td,th{{padding:.2em .8em;text-align:right;
border-bottom:1px solid #ddd}} td:first-child,th:first-child{{text-align:left}}
.figure{{height:34em}}</style><script>{get_plotlyjs()}</script></head><body>
<h1>{html.escape(found.robot.model.name)}: identified from recordings</h1>
<ul>{words}</ul><h2>Efforts held out</h2>
{_table(("joint", "rms (N m, N)", "of its range", "explained", "correlation"), joints)}
<h2>What each part of the model brings</h2>{_table(("with", "error of rows not seen"), brings)}
<h2>Residuals</h2>{"".join(f'<div class="figure" id="f{k}"></div>' for k in range(len(figures)))}
<h2>Drives</h2>{_table(("shaft", "term", "found", "deviation"), drives)}
<h2>Base parameters (kg, kg m, kg m²)</h2>
{_table(("parameter", "described", "found", "deviation"), base)}
<h2>How the recordings were understood</h2><ul>{notes}</ul>
<script>{"".join(f"Plotly.newPlot('f{k}',{json.dumps(one)});" for k, one in enumerate(figures))}
</script></body></html>"""
    with writing(path):
        path.write_text(text, encoding="utf-8")


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    def line(cells: tuple[str, ...], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(one)}</{tag}>" for one in cells) + "</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def _figure(verdict: Verdict, k: int) -> dict[str, Any]:
    """Efforts of a joint over time, and its residual over position, velocity and lag."""
    rows = slice(None, None, max(1, len(verdict.time) // DRAWN_ROWS))
    residual = verdict.residual[:, k]
    lags = correlations(residual[:, None], DRAWN_LAGS)[:, 0]
    panels: list[tuple[str, str, list[dict[str, Any]]]] = [
        ("time, s", "effort", [_line("measured", verdict.time[rows], verdict.measured[rows, k]),
                               _line("predicted", verdict.time[rows], verdict.predicted[rows, k]),
                               _line("residual", verdict.time[rows], residual[rows])]),
        ("correlation over rows", "",
         [_line("correlation", np.arange(float(DRAWN_LAGS)), lags)]),
    ]  # fmt: skip
    if k < verdict.q.shape[1]:
        panels[1:1] = [
            ("position, rad or m", "residual", [_dots(verdict.q[rows, k], residual[rows])]),
            ("velocity", "residual", [_dots(verdict.v[rows, k], residual[rows])]),
        ]
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"title": {"text": verdict.joints[k]}, "showlegend": True}
    for n, (x, y, lines) in enumerate(panels):
        own = "" if n == 0 else str(n + 1)
        width = 1 / max(len(panels) - 1, 1)
        domain = [0, 1] if n == 0 else [(n - 1) * width + 0.03, n * width - 0.03]
        layout[f"xaxis{own}"] = {"domain": domain, "anchor": f"y{own}", "title": {"text": x}}
        layout[f"yaxis{own}"] = {
            "domain": [0.6, 1] if n == 0 else [0, 0.42], "anchor": f"x{own}", "title": {"text": y},
        }  # fmt: skip
        data += [{**one, "xaxis": f"x{own}", "yaxis": f"y{own}"} for one in lines]
    return {"data": data, "layout": layout}


def _line(name: str, x: Array, y: Array) -> dict[str, Any]:
    return {"type": "scatter", "mode": "lines", "name": name, "x": x.tolist(), "y": y.tolist()}


def _dots(x: Array, y: Array) -> dict[str, Any]:
    return {**_line("residual", x, y), "mode": "markers", "showlegend": False,
            "marker": {"size": 3}}  # fmt: skip
