"""Doubts about closed loops: frames that were far apart."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..model.model import Array
from .loops.closure_gap import closure_gaps
from .loops.linkage import Linkage
from .loops.units import way_of
from .system import System

FAR = 0.2
"""Distance of a loop's frames, as a share of the way around it, that closing should not need."""

OFF = 1e-3
"""The same where the description alone says how the loop stands, with every joint at 0: a drawing
is closed there but for rounding, or far from it."""


def home_notes(system: System, rough: Mapping[str, float]) -> list[str]:
    """Words about every loop whose home looks like a mistake in the description.

    rough : position (rad or m) by joint name from which the loops were closed, 0 where none.
    Where the child of a joint stands that was taken apart is for the loops to say.
    """
    notes = []
    for linkage in system.linkages:
        if linkage.linear:
            continue
        bodies = [system.tree.bodies[body] for body in linkage.cluster.tied]
        labels, home = [body.label for body in bodies], system.home[system.rows(linkage)]
        start = np.array(
            [
                rough.get(body.label, 0.0 if body.part_of is None else x)
                for body, x in zip(bodies, home, strict=True)
            ]
        )
        drawn = not any(label in rough for label in labels)
        notes += _far_apart(system, linkage, labels, start, home, drawn)
    return notes


def _far_apart(
    system: System, linkage: Linkage, labels: list[str], start: Array, home: Array, drawn: bool
) -> list[str]:
    """Loops whose frames were apart before they were closed: far, or at all in a drawing."""
    residual = np.array(system.residuals[linkage](start)).ravel()
    gaps = closure_gaps(system.tree, linkage.cluster, residual)
    moved = home - start
    most = int(np.argmax(np.abs(moved)))
    slides = system.tree.bodies[linkage.cluster.tied[most]].motion.slides
    way = f"{labels[most]} by {moved[most]:.3g} {'m' if slides else 'rad'}"
    notes = []
    for closure in linkage.cluster.closures:
        around = way_of(system.tree, closure)
        apart = gaps[closure.name].metres
        if apart > FAR * around:
            notes.append(
                f"the frames of loop {closure.name!r} are {apart:.3g} m apart where home would "
                f"have them, and the way around the loop is {around:.3g} m. Closing it moved "
                f"{way}. Check the frames, or give a home nearer to closed"
            )
        elif drawn and apart > OFF * around:
            notes.append(
                f"the frames of loop {closure.name!r} are {apart:.3g} m apart with every joint at "
                f"0, and closing it moved {way}. If the robot is drawn closed there, one of the "
                "frames is off by as much; else name a closed configuration as home"
            )
    return notes
