"""Figures of disk cams: the law of motion, the profile with its follower, the pressure angle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...view.figure import FAINT_INK, INK, color_of, figure_of
from .. import Analysis
from ..disk_cam import DiskCam
from .plots import abscissa_of, finish, plot_links

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


PANELS = [["displacement", "links"], ["velocity", "links"], ["acceleration", "pressure"],
          ["jerk", "curvature"], ["force", "force"]]  # fmt: skip
"""Panels of a cam, row by row."""

RATES = {"displacement": "", "velocity": "/rad", "acceleration": "/rad²", "jerk": "/rad³"}
"""Displacement and its derivatives by the angle of the cam, and what follows their unit."""


def plot_cams(analysis: Analysis) -> Figure:
    """The law of every cam over a turn, its pressure angle and curvature, the mechanism, and the
    force of contact in its motion."""
    mechanism = analysis.mechanism
    cams = mechanism.layout().cams
    figure = figure_of(len(PANELS), 2 * len(cams), (5.4, 2.4))
    parts = figure.subfigures(1, len(cams), squeeze=False)[0]
    for cam, part in zip(cams, parts, strict=True):
        panels = part.subplot_mosaic(PANELS)
        _plot_law(panels, cam)
        plot_links(panels["links"], analysis, None)
        panels["links"].locator_params(axis="x", nbins=5)
        _plot_contact(panels, cam)
        for name in (*RATES, "pressure", "curvature"):
            panels[name].set_xlim(0, 360)
        abscissa, over = abscissa_of(analysis)
        panels["force"].plot(abscissa, analysis.contact_forces[cam.name], color=color_of(3))
        panels["force"].axhline(0.0, color=INK, linewidth=0.8)
        finish(panels["force"], over, f"force on the {cam.follower} (N)")
    figure.suptitle(mechanism.title)
    return figure


def _plot_law(panels: Mapping[str, Axes], cam: DiskCam) -> None:
    unit, share = "m" if cam.arm is None else "rad", cam.lift / cam.law.lift
    for (name, rate), values in zip(RATES.items(), cam.law(cam.angles), strict=True):
        panels[name].plot(np.degrees(cam.angles), share * values, color=color_of(0))
        finish(panels[name], f"{cam.cam} angle (deg)", f"{name} ({unit}{rate})")


def _plot_contact(panels: Mapping[str, Axes], cam: DiskCam) -> None:
    """Pressure angle or the place on a flat face, and the curvature of the pitch curve or of its
    profile, with their limits."""
    q, label = cam.angles, f"{cam.cam} angle (deg)"
    curvature = 1 / cam.curvature_radius(q)
    limits: dict[str, tuple[float, ...]] = {"pressure": (), "curvature": ()}
    if cam.flat:
        values, title = cam.on_face(q), "contact on the face (m)"
    else:
        values, title = np.degrees(cam.pressure_angle(q)), "pressure angle (deg)"
        limits["pressure"] = cam.pressure_limit, -cam.pressure_limit
        if cam.roller_radius:
            limits["curvature"] = (1 / cam.roller_radius,)
    panels["pressure"].plot(np.degrees(q), values, color=color_of(1))
    panels["curvature"].plot(np.degrees(q), curvature, color=color_of(2))
    for name, bounds in limits.items():
        for bound in bounds:
            panels[name].axhline(bound, color=FAINT_INK, linestyle="--")
    finish(panels["pressure"], label, title)
    finish(panels["curvature"], label, "curvature (1/m)")
