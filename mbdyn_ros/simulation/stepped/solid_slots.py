"""Contacts between convex shapes of links in compiled steps: found anew before each of them."""

from __future__ import annotations

import numpy as np

from ...errors import SimulationError
from ...model.model import Array
from ..contact.contacts import Contacts
from ..contact.link_contacts import words_for
from ..contact.manifold import MOST_POINTS, Touch
from ..contact.precision import STEPS_IN_C
from ..contact.solids import Nearness
from .step_in_c import StepInC

AHEAD = 1.5
"""Steps that are looked ahead."""


class SolidSlots:
    """The slots of a motion: points of shapes against planes of others, through one step.

    Attributes
    ----------
    planes : (slots, 11), see `struct walled` in C.
    """

    def __init__(self, contacts: Contacts, step: StepInC) -> None:
        self._contacts, self._step = contacts, step
        self._nearness = Nearness(contacts.solid_pairs)
        self.planes = np.zeros((contacts.geometry.slots, 11))
        self._blocks: dict[int, int] = {}

    def look(self, q: Array, v: Array, length: float) -> None:
        """Find what may touch in a step of this length (s) from a state.

        Raises
        ------
        SimulationError
            More pairs of shapes are near each other than there is room for.
        """
        near = dict(self._near(q, v, AHEAD * length))
        self.planes[:, 0] = 0.0
        self._contacts.meeting.clear()
        self._blocks = {pair: at for pair, at in self._blocks.items() if pair in near}
        for pair, touches in near.items():
            if pair not in self._blocks:
                self._blocks[pair] = self._free_block()
            self._fill(pair, self._blocks[pair], touches)

    def refuse_inside(self, q: Array) -> None:
        """Refuse shapes that are inside each other.

        Raises
        ------
        SimulationError
            Two are; the message names their links, the place and the depth.
        """
        for pair, touches in self._near(q, np.zeros(self._step.walls.nv), 0.0):
            deepest = min(touches, key=lambda touch: touch.gap)
            if deepest.gap < -STEPS_IN_C.inside:
                x = deepest.point - deepest.radius * deepest.normal
                one, other = self._nearness.pairs[pair]
                raise SimulationError(
                    f"{words_for(one.link, other.link)} starts inside it, at ({x[0]:.6g}, "
                    f"{x[1]:.6g}, {x[2]:.6g}) m: about {-deepest.gap:.3g} m too far; start in "
                    "free space, or name links that always overlap in disabled"
                )

    def place(self, column: Array) -> None:
        """Write normals and places of the slots into the numbers of `contact_rows`."""
        first = self._contacts.geometry.lasting
        for i in np.flatnonzero(self.planes[:, 0]).tolist():
            k, plane = first + i, self.planes[i]
            (turn, origin), (axes, _) = (
                _pose(column, int(at[k])) for at in (self._step.body, self._step.partner)
            )
            normal = axes @ plane[8:]
            at = self._step.layout.normal[k]
            column[at : at + 3] = normal
            column[at + 3 : at + 6] = turn @ plane[1:4] + origin - plane[4] * normal

    def _near(self, q: Array, v: Array, span: float) -> list[tuple[int, list[Touch]]]:
        rows, order = self._step.rows, self._step.layout.order
        assert rows is not None
        rows.q[:] = q
        rows()
        column, nv = rows.result, len(v)
        bodies = {body: _pose(column, order[body]) for body in self._contacts.geometry.solid}
        speeds = []
        fall = span * float(np.linalg.norm(self._contacts.gravity))
        for solid in self._nearness.solids:
            start = order[solid.body] + 12
            moving = column[start : start + 6 * nv].reshape(6, nv) @ v
            arm = np.linalg.norm(solid.pose.translation) + solid.shape.reach
            speeds.append(np.linalg.norm(moving[:3]) + arm * np.linalg.norm(moving[3:]) + fall)
        return self._nearness.near(bodies, np.array(speeds), span)

    def _free_block(self) -> int:
        taken = set(self._blocks.values())
        for block in range(len(self.planes) // MOST_POINTS):
            if block not in taken:
                return block
        raise SimulationError(
            f"more than {len(taken)} pairs of shapes are near each other at once: name pairs that "
            "need not touch in disabled, or give links fewer shapes"
        )

    def _fill(self, pair: int, block: int, touches: list[Touch]) -> None:
        """Put the points of a pair into its slots, each where the last one near it was."""
        first, step, order = self._contacts.geometry.lasting, self._step, self._step.layout.order
        column = step.rows.result if step.rows is not None else np.zeros(0)
        one, other = self._nearness.pairs[pair]
        free = list(range(MOST_POINTS * block, MOST_POINTS * (block + 1)))
        for touch in touches:
            mine, theirs = (other, one) if touch.turned else (one, other)
            (turn, origin), (axes, center) = (
                _pose(column, order[solid.body]) for solid in (mine, theirs)
            )
            local = (touch.point - origin) @ turn
            i = min(free, key=lambda k: float(np.abs(self.planes[k, 1:4] - local).sum()))
            free.remove(i)
            foot, normal = (touch.foot - center) @ axes, touch.normal @ axes
            self.planes[i] = [1.0, *local, touch.radius, *foot, *normal]
            k = first + i
            step.body[k], step.partner[k] = order[mine.body], order[theirs.body]
            words = words_for(one.link, other.link)
            self._contacts.meeting[k] = words, (mine.link, theirs.link)


def _pose(column: Array, start: int) -> tuple[Array, Array]:
    """Rotation (3, 3) and origin (3,) of the body whose numbers begin there."""
    transform = column[start : start + 12].reshape(3, 4)
    return transform[:, :3], transform[:, 3]
