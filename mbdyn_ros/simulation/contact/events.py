"""The next contact of one robot, found on a step's interpolant and stepped to, and its impact.

No wall is jumped over. A step is looked at in parts: where the speed of a distance shows that it
cannot vanish in a part, the part is done; where its rate turns from falling to rising, the
lowest point in between is sought; everything else is divided further. Walls without a value, a
normal or an inside are refused.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...errors import ContactError, SimulationError
from ...integration.methods import zero_between
from ...model.model import Array
from ...robot import Robot
from .contacts import Assembly, Contacts, Flags, Indices, Rows
from .impulses import Impact, angle_between, impact_impulses, solver
from .link_contacts import words_to_disable
from .precision import ADAPTIVE_STEPS, Precision

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


ALONG = np.array([1.0, 0.0, 0.0])
"""The normal, in the axes of normal and tangents."""

MAX_HITS = 1000
"""Impacts at one instant that are too many."""


class Collisions:
    """Finds and solves the impacts at one instant.

    Parameters
    ----------
    free : accelerations (nv,) without contacts, of q, v and the efforts.
    patience : s; bounces that would all be over so soon end in rest.

    Attributes
    ----------
    impacts : all so far.
    """

    def __init__(
        self,
        robot: Robot,
        contacts: Contacts,
        free: Callable[[Array, Array, Array], Array],
        precision: Precision,
        patience: float,
    ) -> None:
        solver()  # is compiled before the motion begins
        self.contacts, self._free = contacts, free
        self.precision, self.patience = precision, patience
        self._mass = robot.bind("mass_matrix")
        self._energy = robot.bind("energy")
        self._given_part = robot.system.given_part
        self.impacts: list[Impact] = []
        self._loss = 0.0

    def take_loss(self) -> float:
        """Energy (J) lost in impacts since the last call."""
        loss, self._loss = self._loss, 0.0
        return loss

    def collide(self, t: float, q: Array, v: Array, effort: Array, resting: Indices) -> None:
        """All impacts at this instant, one after the other where one causes the next.

        `v` is changed in place. `resting` are contacts that touch, whatever their distance.
        """
        window = self.contacts.environment.tie_window
        for _ in range(MAX_HITS):
            g, rate, slope = (one.copy() for one in self.contacts.distances(q, v))
            touching = np.abs(g) <= self.precision.touching * slope
            touching[resting] = True
            slow = self.precision.resting_speed * slope
            approaching = rate < -slow
            hits = approaching & (touching | (g + window * rate <= 0))
            if not hits.any():
                return
            rests = touching & (np.abs(rate) <= slow)
            self._hit(t, q, v, effort, np.flatnonzero(hits | rests), hits)
        raise ContactError(
            f"more than {MAX_HITS} impacts at one instant: the contacts hand the motion on to "
            "each other without end; lower their restitution"
        )

    def _hit(
        self, t: float, q: Array, v: Array, effort: Array, which: Indices, hits: Flags
    ) -> None:
        """Solve one impact of the contacts `which`; the velocity is changed in place."""
        rows = self.contacts.rows(q, v, which)
        for row in np.flatnonzero(hits[which]).tolist():
            require_smooth(self.contacts, int(which[row]), rows.places[row], rows.normals[row])
        assembly = rows.assembly
        response = np.linalg.solve(self.mass_matrix(q), assembly.rows.T)
        matrix, before = assembly.rows @ response, assembly.rows @ v
        blocks, normal = assembly.blocks, assembly.blocks.normal
        e = np.where(hits[which], self.contacts.restitution[which], 0.0)
        impulses, used = impact_impulses(matrix, before, e, blocks)
        dying = self._dies_out(q, v + response @ impulses, effort, rows, e)
        if dying.any():
            e = np.where(dying, 0.0, e)
            impulses, used = impact_impulses(matrix, before, e, blocks)
        new = v + response @ impulses
        taking = hits[which] | (impulses[normal] > 1e-12 * impulses[normal].max())
        self._keep(t, q, v, new, which, rows, assembly, impulses, used, taking)
        self._loss -= 0.5 * float(impulses @ (2 * before + matrix @ impulses))
        self._loss += float(impulses @ (assembly.rows @ self._given_part(v)))
        v[:] = new

    def mass_matrix(self, q: Array) -> Array:
        """Mass matrix (nv, nv); the next call overwrites it."""
        self._mass.q[:] = q
        self._mass()
        return self._mass.matrix

    def _dies_out(self, q: Array, v: Array, effort: Array, rows: Rows, e: Array) -> Flags:
        """Whether all bounces that follow (k,) are over within `patience`.

        A bounce with v under the acceleration -a takes 2 v / a, the next one e times as long.
        """
        after = rows.W @ v
        a = rows.W @ self._free(q, v, effort) + rows.drift
        with np.errstate(divide="ignore", invalid="ignore"):
            left = 2 * after / (-a * (1 - e))
        dying: Flags = (e > 0) & (e < 1) & (a < 0) & (left < self.patience)
        return dying

    def _keep(
        self, t: float, q: Array, v: Array, new: Array, which: Indices, rows: Rows,
        assembly: Assembly, impulses: Array, e: Array, taking: Flags,
    ) -> None:  # fmt: skip
        """Record an impact: those that hit, and those that answered."""
        sideways, angles = np.zeros((len(which), 3)), np.full(len(which), np.nan)
        for row in np.flatnonzero(which < self.contacts.geometry.touching).tolist():
            angles[row] = angle_between(rows.J[row] @ v, ALONG)
            first = assembly.blocks.tangent[row]
            if first >= 0:
                sideways[row] = impulses[first : first + 2] @ rows.frames[row, 1:]
        kinetic = 0.5 * float(impulses @ (assembly.rows @ (v + new)))
        chosen = which[taking].tolist()
        self.impacts.append(
            Impact(
                time=float(t),
                points=tuple(self.contacts.point(k) for k in chosen),
                surfaces=tuple(self.contacts.surface(k) for k in chosen),
                places=rows.places[taking],
                normals=rows.normals[taking],
                impulses=impulses[assembly.blocks.normal][taking],
                tangential_impulses=sideways[taking],
                normal_velocity_before=(rows.W @ v)[taking],
                normal_velocity_after=(rows.W @ new)[taking],
                angle_of_attack=angles[taking],
                energy_before=self._total(q, v),
                energy_after=self._total(q, new),
                q=q.copy(),
                v_before=v.copy(),
                v_after=new,
                restitution=e[taking],
                loss=-kinetic,
            )
        )

    def _total(self, q: Array, v: Array) -> float:
        self._energy.q[:], self._energy.v[:] = q, v
        self._energy()
        return float(self._energy.result.sum())


VANISHING = 1e-3
"""Share of the gradient nearby under which a gradient vanishes."""

KINK = 1e-2
"""Turn of a normal (rad) within 1e-7 m that no smooth wall makes."""


def refuse_inside(contacts: Contacts, q: Array, v: Array, depth: float) -> None:
    """Refuse points that are deeper (m) than this inside walls.

    Raises
    ------
    SimulationError
        One is; the message names point, wall, place and depth.
    """
    g, _, slope = contacts.distances(q, v)
    if not np.isfinite(g).all():
        refuse_no_value(contacts, q)
    bad = ~np.isfinite(g) | (g < -depth * np.where(slope > 0, slope, 1.0))
    for k in np.flatnonzero(bad).tolist():
        far = -g[k] / slope[k] if slope[k] > 0 else np.nan
        words, unit, help_ = "starts beyond its stop", "m (or rad)", "start within the limits"
        if k < contacts.geometry.touching:
            (x,) = contacts.rows(q, v, np.array([k])).places
            inside, unit, help_ = "the wall", "m", "start in free space"
            if k >= contacts.geometry.pairs:
                couples = range(contacts.geometry.pairs, contacts.geometry.touching)
                inside = "it"
                help_ = words_to_disable(contacts.links(one) for one in couples if bad[one])
            words = f"starts inside {inside}, at {_words(x)}"
        raise SimulationError(
            f"{contacts.name(k)} {words}: g is {g[k]:.6g}, about {far:.3g} {unit} too far; {help_}"
        )


def refuse_no_value(contacts: Contacts, q: Array) -> None:
    """Refuse walls without a value at a point, or in a ball.

    Raises
    ------
    SimulationError
        A value is not finite; the message names point, wall and place.
    """
    g, _, _ = contacts.distances(q, np.zeros(contacts.nv))
    for k in np.flatnonzero(~np.isfinite(g[: contacts.geometry.pairs])).tolist():
        here = f"{contacts.name(k)}, at {_words(contacts.place(k, q))}:"
        edge = ""
        if contacts.table.point[k, 3] > 0:
            edge = (
                ", or an edge of the wall is within the ball, where its normal jumps; edges that "
                "balls may meet are those of boxes: collision shapes of links fixed to the world, "
                "with links=LinkContacts(convex=True)"
            )
        raise SimulationError(f"{here} g has no value{edge or '; write g for wherever it may go'}")


def require_smooth(contacts: Contacts, k: int, x: Array, normal: Array) -> None:
    """Refuse a wall without a gradient where it is touched: at x (3,), with a normal (3,).

    Raises
    ------
    SimulationError
        The gradient vanishes or jumps there; the message names surface, point and place.
    """
    if k >= contacts.geometry.pairs:
        return
    here = f"at {_words(x)}, where {contacts.name(k)} touches,"
    if not np.isfinite(normal).all():
        raise SimulationError(
            f"{here} the gradient of the surface vanishes or is not finite: it has no normal "
            "there; write g so that its gradient differs from zero on the wall"
        )
    side = contacts.side(k)
    level = side.surface.levels[side.face]
    ways = 1e-7 * max(1.0, float(np.abs(x).max())) * np.vstack([np.eye(3), -np.eye(3)])
    sizes, directions, _ = level(np.vstack([x, x + 1e3 * ways, x + ways]).T)
    slopes, normals = sizes.full()[0, :7], directions.full().T[7:]
    if not slopes[0] > VANISHING * slopes.max():
        raise SimulationError(
            f"{here} the gradient of the surface vanishes (it is {slopes[0]:.3g}, and "
            f"{slopes.max():.3g} 0.1 mm further); write g so that its gradient differs from "
            "zero on the wall"
        )
    if not np.abs(normals - normal).max() < KINK:
        raise SimulationError(
            f"{here} the surface is not differentiable: its normal jumps. Give the faces of a "
            "wall with edges one by one: g may return several expressions"
        )


BEHIND = 1e-6
"""Depth (m) in a wall at which its inside is looked for, at one metre from the origin."""

NEARING_STEPS = 60
"""Steps of Newton's method that lead onto a wall from a place near it."""


def has_inside(contacts: Contacts, k: int, x: Array) -> bool:
    """Whether g is surely negative behind the wall of a contact whose point is at x (3,), near it.

    Steps ask for it in vain where many contacts turn the motion at one instant.
    """
    side, depth = contacts.side(k), BEHIND * max(1.0, float(np.abs(x).max()))
    for _ in range(NEARING_STEPS):
        size, normal, _ = (one.full().ravel() for one in side.surface.levels[side.face](x))
        if not (size[0] > 0 and np.isfinite(normal).all()):
            return False
        way = side.surface.value(x)[side.face] / size[0]
        x = x - way * normal
        if not abs(way) > depth:
            break
    return bool(side.surface.value(x - depth * normal)[side.face] < 0)


def no_inside(contacts: Contacts, k: int, q: Array) -> SimulationError:
    """The error of a wall that is zero at a contact, and rises on both sides, near q (nq,)."""
    return SimulationError(
        f"{contacts.name(k)}, near {_words(contacts.place(k, q))}: the wall has no inside, g rises "
        "on both sides of it, as abs(z) does, so that it holds nothing; write g negative behind "
        "the wall, such as abs(z) - 0.01 for a sheet of 2 cm"
    )


def refuse_unsound(contacts: Contacts, k: int, q: Array, v: Array) -> None:
    """Refuse the wall of a contact that compiled steps have met, and know no value or normal of.

    Raises
    ------
    SimulationError
        It has no value, no normal or no inside there; the message names point, wall and place.
    """
    g, _, slope = (one.copy() for one in contacts.distances(q, v))
    if np.isfinite(g[k]) and slope[k] > 0:
        if has_inside(contacts, k, contacts.place(k, q)):
            return
        raise no_inside(contacts, k, q)
    refuse_no_value(contacts, q)
    if np.isfinite(g[k]):
        require_smooth(contacts, k, contacts.place(k, q), np.full(3, np.nan))


def _words(x: Array) -> str:
    return f"({x[0]:.6g}, {x[1]:.6g}, {x[2]:.6g}) m"
