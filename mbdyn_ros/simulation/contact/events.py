"""The instant of the next contact: found on a step's interpolant, then stepped to exactly.

No wall is jumped over. A step is looked at in parts: where the speed of a distance shows that it
cannot vanish in a part, the part is done; where its rate turns from falling to rising, the
lowest point in between is sought; everything else is divided further.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...integration.root import zero_between
from ...model.model import Array
from .contacts import Contacts
from .precision import ADAPTIVE_STEPS
from .rows import Flags, Indices
from .starts import no_inside, refuse_unsound

STEP_PARTS = 8
"""Parts of a step that is looked at, and of a part that is divided."""

SHARES = np.linspace(0.0, 1.0, STEP_PARTS + 1)
"""Where the parts of a step begin and end."""

DEPTH = 3
"""How often a part is divided; parts are then 1/4096 of a step."""

SPEEDS = 1.5
"""Factor on the fastest change of a distance at both ends, for what lies between."""

BESIDE, JUMP = 1e-6, 0.1
"""Share of a part before and after its lowest point within which a normal velocity jumps, and what
share of its turn in the part that is."""


class ContactSearch:
    """Looks for the first contact on steps of one motion.

    Parameters
    ----------
    split : from states y (N, n) to q (N, nq) and v (N, nv).
    tolerance : error (m) of the states; what is as deep only grazes.
    """

    def __init__(
        self,
        contacts: Contacts,
        split: Callable[[Array], tuple[Array, Array]],
        tolerance: float,
    ) -> None:
        self._contacts, self._split = contacts, split
        self.graze = max(ADAPTIVE_STEPS.graze, tolerance)

    def first(
        self, states: Callable[[Array], Array], start: float, end: float, resting: Indices
    ) -> tuple[float, int] | None:
        """Time and contact of the first zero of a distance; None where there is none.

        Parameters
        ----------
        states : of times (N,) within the step (N, n).
        resting : contacts that are held and do not count.
        """
        watched = np.ones(len(self._contacts), dtype=bool)
        watched[resting] = False
        if not watched.any():
            return None
        return self._search(states, start, end, watched, 0)

    def _search(
        self, states: Callable[[Array], Array], start: float, end: float, watched: Flags, depth: int
    ) -> tuple[float, int] | None:
        times = start + (end - start) * SHARES
        times[-1] = end
        q, v = self._split(states(times))
        g, rate, slope = self._contacts.many_distances(q, v)
        unsound = np.isnan(g) | ((g < 0) & np.isnan(slope))
        for row, k in np.argwhere(unsound & watched).tolist():
            refuse_unsound(self._contacts, k, q[row], v[row])
        fastest = SPEEDS * np.abs(rate).max(axis=0)
        near = watched & ~(g[:-1] + g[1:] > fastest * ((end - start) / STEP_PARTS))
        for part in np.flatnonzero(near.any(axis=1)).tolist():
            before, after = times[part], times[part + 1]
            first = None
            again = np.zeros_like(watched)
            for k in np.flatnonzero(near[part]).tolist():
                deep = -self.graze * max(slope[part, k], slope[part + 1, k])
                turns = rate[part, k] < 0 < rate[part + 1, k]
                if not (g[part + 1, k] < deep or turns):
                    again[k] = depth < DEPTH and g[part, k] > -deep
                    continue
                found = self._zero(states, before, after, k, g[part + 1, k], deep)
                if found is not None and (first is None or found < first[0]):
                    first = (found, k)
            if again.any():
                found_deeper = self._search(
                    states, before, after if first is None else first[0], again, depth + 1
                )
                first = found_deeper or first
            if first is not None:
                return first
        return None

    def _zero(
        self, states: Callable[[Array], Array], a: float, b: float, k: int, last: float, deep: float
    ) -> float | None:
        """The first zero of a distance in [a, b], which ends below zero or has a lowest point."""

        def gap(t: float) -> float:
            return float(self._at(states, t)[0][k])

        def rate(t: float) -> float:
            return float(self._at(states, t)[1][k])

        if last >= deep:  # it turns back up inside
            lowest = zero_between(rate, a, b)
            if gap(lowest) >= deep:
                self._require_inside(states, (a, lowest, b), k)
                return None
            b = lowest
        if gap(a) <= -deep and rate(a) > 0 > rate(b):  # it has just touched: up first, then down
            a = zero_between(rate, a, b)
        if gap(a) <= 0:
            return a
        return zero_between(gap, a, b)

    def _require_inside(
        self, states: Callable[[Array], Array], times: tuple[float, float, float], k: int
    ) -> None:
        """Refuse a wall from whose zero a contact goes as fast as it came: it has no inside.

        Parameters
        ----------
        times : before and after it has come and gone, and between them when it was nearest.
        """
        start, lowest, end = times
        near = BESIDE * (end - start)

        def speed(t: float) -> float:
            _, rate, slope = self._at(states, t)
            return float(rate[k] / slope[k]) if slope[k] > 0 else 0.0

        turn = speed(lowest + near) - speed(lowest - near)
        if not turn > JUMP * (speed(end) - speed(start)):
            return
        g, _, slope = self._at(states, lowest + near)
        if g[k] <= 2 * near * turn * slope[k]:
            raise no_inside(self._contacts, k, self._split(states(np.array([lowest]))[0])[0])

    def _at(self, states: Callable[[Array], Array], t: float) -> tuple[Array, Array, Array]:
        q, v = self._split(states(np.array([t]))[0])
        return self._contacts.distances(q, v)
