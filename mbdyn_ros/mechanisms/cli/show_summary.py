"""The summary of a mechanism: what turns, toggles, dead centres, transmission, cams."""

from __future__ import annotations

import math
from typing import Any

from ...cli.printing import COLUMN_NOISE, number, print_table
from .. import FourBar, Mechanism
from ..summary import summarize
from .prescribed import analyse, draw


def show_summary(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """The summary of the mechanism: range, toggles, dead centres, transmission."""
    document = summarize(made)
    drawn = any(options[one] for one in ("plot", "gif", "output", "curve"))
    if drawn or options["motion"] != "constant":  # else refused only where a task needs them
        draw(analyse(made, options), options, cams=bool(document.get("cams")))
    if not as_json:
        rows = [("input", ", ".join(made.inputs)), ("output", made.output)]
        if isinstance(made, FourBar):
            rows.append(("Grashof class", made.grashof_class))
        for key, text in (("range", "range of the crank"), ("dead_centers", "dead centres")):
            if key in document:
                rows.append((text, _degrees(document[key])))
        for name, ends in document.get("ranges", {}).items():
            rows.append((f"range of the {name}, others at home", _degrees(ends)))
        rows.append(("transmission angles", _degrees(document["transmission_angles"])))
        for name, cam in document.get("cams", {}).items():
            rows += _cam_rows(name.removesuffix("_contact").replace("_", " "), cam)
        if document.get("time_ratio"):
            rows.append(("time ratio", number(document["time_ratio"])))
        print_table(made.title, ("", ""), rows, text_columns=2)
    return document


def _degrees(radians: list[float] | None) -> str:
    if radians is None:
        return "turns fully"
    if not radians:
        return "none"
    angles = [one if abs(one) > COLUMN_NOISE else 0.0 for one in radians]
    return ", ".join(f"{number(one)} rad ({math.degrees(one):.4g} deg)" for one in angles)


def _cam_rows(name: str, cam: dict[str, Any]) -> list[tuple[str, str]]:
    """Rows about a cam: pressure angles, curvature, jumps of acceleration."""
    rows = []
    for what in ("rise", "return"):
        if found := cam.get(f"pressure_angle_{what}"):
            rows.append((f"largest pressure angle of the {what}, {name}", _found_at(found, "deg")))
    curve = "profile" if "face" in cam else "pitch curve"
    rows.append((f"least convex radius of the {curve}", _found_at(cam["curvature_radius"], "m")))
    if "face" in cam:
        left, right = (number(one) for one in cam["face"])
        rows.append(("the contact goes over the face", f"from {left} m to {right} m"))
    jumps = [number(round(math.degrees(one["at"]), 9)) for one in cam["acceleration_jumps"]]
    where = f"at {', '.join(jumps)} deg" if jumps else "nowhere"
    return [*rows, ("the acceleration of the law jumps", where)]


def _found_at(found: dict[str, float], unit: str) -> str:
    """A value and the angle of the cam where it is."""
    value = math.degrees(found["value"]) if unit == "deg" else found["value"]
    return f"{number(value)} {unit} at {number(math.degrees(found['at']))} deg"
