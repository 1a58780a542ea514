"""Contacts between convex shapes of links in compiled steps: found anew before each of them."""

from __future__ import annotations

import ctypes

import numpy as np

from ...compiler.runtime.library import touching
from ...errors import SimulationError
from ...model.model import Array
from ..contact.contacts import Contacts
from ..contact.link_contacts import words_for, words_to_disable
from ..contact.precision import STEPS_IN_C
from ..contact.solids import SolidPair
from .step_in_c import MotionInC, StepInC

AHEAD = 1.5
"""Steps that are looked ahead, as in C."""


class CrowdedError(SimulationError):
    """More pairs of shapes are near each other than there is room for."""


class SolidSlots:
    """The slots of motions of a robot: points of shapes against planes of others.

    Planes (slots, `SLOT_SIZE`) are those of `struct walled` in C.
    """

    def __init__(self, contacts: Contacts, step: StepInC) -> None:
        self._contacts, self._step = contacts, step
        self._q, self._v = np.zeros(step.walls.nq), np.zeros(step.walls.nv)
        self._probe = MotionInC(step, self._q, self._v, 0)
        self._look = touching().look_for_solids

    def refuse_inside(self, q: Array) -> None:
        """Refuse shapes that are inside each other at a position (nq,).

        Raises
        ------
        SimulationError
            Two are; the message names their links, the place and the depth.
        CrowdedError
            More are near each other than there is room for.
        """
        planes, rows = self._find(q, np.zeros(len(self._v)), 0.0), self._step.rows
        assert rows is not None
        rows.q[:] = q
        rows()
        gaps = self.place(rows.result, planes)
        if gaps.min(initial=0.0) < -STEPS_IN_C.inside:
            worst = int(gaps.argmin())
            at = self._step.layout.normal[self._contacts.geometry.lasting + worst]
            x, y, z = rows.result[at + 3 : at + 6].tolist()
            inside = (self._pair(plane) for plane in planes[gaps < -STEPS_IN_C.inside])
            links = [(one.link, other.link) for one, other in inside if not other.is_wall]
            raise SimulationError(
                f"{self._words(planes[worst])} starts inside it, at ({x:.6g}, {y:.6g}, {z:.6g}) "
                f"m: about {-gaps[worst]:.3g} m too far; {words_to_disable(links)}"
            )

    def near(self, q: Array, v: Array, span: float) -> list[str]:
        """Words for the pairs of links that may touch within a time (s).

        Raises
        ------
        CrowdedError
            There are more than there is room for.
        """
        planes = self._find(q, v, span)
        return list(dict.fromkeys(map(self._words, planes[planes[:, 0] > 0])))

    def crowd(self) -> CrowdedError:
        """The error where more pairs are near each other than there is room for."""
        return CrowdedError(
            f"more than {len(self._probe.blocks)} pairs of shapes are near each other at once: "
            "name pairs that need not touch in disabled, or give links fewer shapes"
        )

    def place(self, column: Array, planes: Array) -> Array:
        """Write normals and places of slots into the numbers of `contact_rows`; gives gaps (m).

        Names and bodies of these slots go to the contacts and the tables of the step.
        """
        first, probe = self._contacts.geometry.lasting, self._probe
        self._contacts.meeting.clear()
        probe.planes[:] = planes
        found = np.full((2, first + len(planes)), np.inf)
        given = (one.ctypes.data_as(ctypes.c_void_p) for one in (column, found))
        touching().place_solids(
            ctypes.byref(self._step.walls), ctypes.byref(probe.motion), *given
        )
        for i in np.flatnonzero(planes[:, 0]).tolist():
            k, plane = first + i, planes[i]
            self._step.body[k], self._step.partner[k] = plane[11], plane[12]
            number, turned = divmod(int(plane[13]), 2)
            solids = self._contacts.solid_pairs[number]
            one, other = (solid.link for solid in solids)
            if solids[1].is_wall:
                self._contacts.meeting[k] = other, (one,)
                continue
            links = (other, one) if turned else (one, other)
            self._contacts.meeting[k] = words_for(one, other), links
        gaps: Array = found[0, first:]
        return gaps

    def _find(self, q: Array, v: Array, span: float) -> Array:
        """The planes of what may touch within a time (s)."""
        self._q[:], self._v[:] = q, v
        given = ctypes.byref(self._step.walls), ctypes.byref(self._probe.motion)
        if self._look(*given, ctypes.c_double(span)) < 0:
            raise self.crowd()
        return self._probe.planes

    def _pair(self, plane: Array) -> SolidPair:
        return self._contacts.solid_pairs[int(plane[13]) // 2]

    def _words(self, plane: Array) -> str:
        one, other = self._pair(plane)
        if other.is_wall:
            return f"link {one.link!r} on surface {other.link!r}"
        return words_for(one.link, other.link)
