"""Steps in compiled code, whole or in parts, and what is read from them."""

from __future__ import annotations

from ...array import Array
from ...robot import Robot
from ..contact.environment import Environment
from ..contact.records import Impact
from .accounts import Accounts, Noticed
from .chart_guard import ChartGuard
from .solid_slots import CrowdedError, SolidSlots
from .step_in_c import CROWDED_CONTACTS
from .touches import Touches
from .tree_state import diverged


class TakenSteps(Accounts):
    """Takes the steps of a stepper, which says where it stands and what is around it."""

    _chart: Robot
    _x: Array
    _w: Array
    _walls: Environment | None
    _around: Environment | None
    _touches: Touches | None
    _noticed: Noticed | None
    _solids: SolidSlots | None
    _guard: ChartGuard | None
    _span: float

    def _follow(self) -> None:
        raise NotImplementedError

    def _impact(self, record: Array) -> Impact:
        raise NotImplementedError

    @property
    def _parts(self) -> int:
        """Into how many the next step is divided."""
        return 1 if self._guard is None else self._guard.parts

    def _in_parts(self) -> int:
        """Take one step as several short ones."""
        left, whole = self._parts, float(self._motion.motion.step)
        self._motion.motion.step = whole / left
        try:
            while left > 0:
                left -= self._taken(left)
        finally:
            self._motion.motion.step = whole
        return 1

    def _taken(self, count: int) -> int:
        """Take up to `count` steps, and read what happened in them; the number taken."""
        self._span = float(self._motion.motion.step)
        taken = self._motion.steps(count)
        if self._touches is not None and self._motion.motion.hits:
            records = self._motion.take_impacts()
            self._impacts += [self._impact(one) for one in records]
        if self._noticed is not None:
            self._noticed.say_unseen()
            self._noticed.refuse_unsound(self._x, self._w)
        if self._motion.motion.crowded:
            taken = -taken - 1
            self._make_room(self._motion.motion.crowded == CROWDED_CONTACTS)
        if taken < 0:
            raise diverged(self._chart, self._x, self._w, self.time, self._span)
        return taken

    def _refuse_solids(self, position: Array) -> None:
        """Refuse shapes inside each other, with room for as many as are near each other."""
        while self._solids is not None:
            try:
                self._solids.refuse_inside(position)
                break
            except CrowdedError:
                self._make_room()

    def _make_room(self, contacts: bool = False) -> None:
        """Go on with room for more shapes near each other, or for more active contacts."""
        assert self._walls is not None and self._around is not None
        around = self._around.with_more_room(contacts)
        self._walls, self._around = self._walls.with_more_room(contacts), around
        self._follow()
        self._motion.motion.crowded = 0
