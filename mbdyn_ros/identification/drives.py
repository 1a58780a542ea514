"""Drives as columns of a linear form of efforts: friction, rotors, offsets, springs.

A shaft turns with a combination w = r . v of the velocities of joints: a joint itself, or the motor
of a wrist that two joints share. Its resistance f(w) acts on the joints as r f(w), and in a loop
on the actuators through the velocities that these have in common. Columns are linear in their
parameters; speeds inside them (Stribeck's) are chosen by an outer search.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..array import Array
from ..equations.actuation import joint_rates
from ..model.actuators import Transmission
from ..recording.conditioning import Motion, ZeroPhase
from ..robot import Robot

SLIP = 0.003
"""Share of the largest speed at which the sign of a speed is nearly whole."""

FINER = 8
"""Times as many rows at which terms that are not smooth pass the filter of the efforts."""

STRIBECK = 0.05, 0.1, 0.2
"""Shares of the largest speed that are tried for Stribeck's."""

RESTING = 0.005
"""Share of the largest speed below which a shaft rests: static friction is anything there."""

TERMS: dict[str, Callable[[Array, Array, Array, float], Array]] = {
    "offset": lambda w, dw, x, top: np.ones_like(w),
    "viscous": lambda w, dw, x, top: w,
    "Coulomb": lambda w, dw, x, top: np.tanh(w / (SLIP * top)),
    "armature": lambda w, dw, x, top: dw,
    "asymmetry": lambda w, dw, x, top: np.abs(w),
    "spring": lambda w, dw, x, top: x,
} | {
    f"Stribeck at {share:g}": lambda w, dw, x, top, share=share: (  # type: ignore[misc]
        np.tanh(w / (SLIP * top)) * np.exp(-((w / (share * top)) ** 2))
    )
    for share in STRIBECK
}  # fmt: skip
"""Columns of a shaft by its speed w, its acceleration dw, its position x and its largest speed."""

KINKED = {one for one in TERMS if one not in ("offset", "viscous", "armature", "spring")}
"""Terms that are not smooth where a shaft turns back."""

BASIC = "offset", "viscous", "Coulomb"
"""Terms that every drive has; others must earn their place."""

NOT_NEGATIVE = "viscous", "Coulomb", "armature", "spring"
"""Terms whose parameters cannot be negative."""


@dataclass(frozen=True, eq=False)
class Shaft:
    """A combination of joints that turns or slides as one, at rates r (nv_tree,) of theirs."""

    name: str
    rates: Array
    joints: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Column:
    """A column of the linear form: its part of the model, shaft and term (none of inertias)."""

    name: str
    part: str
    shaft: Shaft | None = None
    term: str = ""

    @property
    def positive(self) -> bool:
        """Whether its parameter cannot be negative."""
        return self.term in NOT_NEGATIVE


def shafts(robot: Robot) -> tuple[list[Shaft], list[Shaft], list[Shaft]]:
    """Those of the drives; those that the description couples; pairs that may share one, and pins.

    The last are parts of the model that only a recording shows.
    """
    coordinates = robot.system.coordinates
    names = dict(zip(coordinates.joint_rows[1], coordinates.joint_rate_labels, strict=True))
    size = robot.system.tree.nv

    def shaft(name: str, rates: dict[int, float]) -> Shaft:
        row = np.zeros(size)
        row[list(rates)] = list(rates.values())
        return Shaft(name, row, tuple(names[k] for k in rates))

    rows = list(coordinates.effort)
    drives = [shaft(names[k], {k: 1.0}) for k in rows]
    place = {name: k for k, name in names.items()}
    coupled = [
        shaft(f"{gear.name}/{motor}", dict(zip(map(place.__getitem__, gear.joints), rates,
                                               strict=True)))
        for gear in robot.model.transmissions if _couples(gear, place)
        for motor, rates in zip(gear.motors, gear.rates / np.abs(gear.rates).max(axis=1)[:, None],
                                strict=True) if np.count_nonzero(rates) > 1
    ]  # fmt: skip
    known = {frozenset(one.joints) for one in coupled}
    more = [
        shaft(f"shared shaft of {names[i]} and {'' if sign > 0 else 'minus '}{names[k]}",
              {i: 1.0, k: sign})
        for i, k in itertools.pairwise(rows)
        if frozenset((names[i], names[k])) not in known for sign in (1.0, -1.0)
        if not robot.system.linkages
    ]  # fmt: skip
    more += [
        shaft(f"pin {name}", {k: 1.0}) for k, name in names.items()
        if k not in rows and robot.system.linkages
    ]  # fmt: skip
    return drives, coupled, more


def _couples(gear: Transmission, place: dict[str, int]) -> bool:
    return len(gear.joints) > 1 and set(gear.joints) <= place.keys()


class DriveColumns:
    """Columns (N, efforts) of shafts at the rows of a motion, filtered as its efforts are."""

    def __init__(self, robot: Robot, motion: Motion) -> None:
        coordinates = robot.system.coordinates
        order = list(coordinates.joint_rows[1])
        count, size = len(motion.q), robot.system.tree.nv
        self.x, self.v, self.a = np.zeros((3, count, size))
        if robot.system.linkages:
            rates = robot.calls.call(joint_rates, (motion.q,))
            x, v, a = robot.joint_state(motion.q, motion.v, motion.a)
            for full, given in ((self.x, x), (self.v, v), (self.a, a)):
                full[:, order] = given
            driven = rates[:, list(coordinates.effort)]
            self.map: Array | None = np.linalg.pinv(driven.transpose(0, 2, 1)) @ rates.transpose(
                0, 2, 1
            )
        else:
            rows = list(coordinates.v)
            self.x[:, rows], self.v[:, rows], self.a[:, rows] = motion.q, motion.v, motion.a
            self.map = None
        self.rows = list(coordinates.effort)
        self.motion = motion

    def speed(self, shaft: Shaft) -> Array:
        """Its velocity (N,)."""
        result: Array = self.v @ shaft.rates
        return result

    def rests(self, shaft: Shaft, top: float) -> Array:
        """Efforts (N, efforts) that static friction of a shaft at rest leaves open, as 0 or 1."""
        still = np.abs(self.speed(shaft)) < RESTING * top
        open_: Array = still[:, None] & (shaft.rates[self.rows] != 0)
        return open_

    def __call__(self, shaft: Shaft, term: str, top: float) -> Array:
        """The efforts (N, efforts) of 1 of a term's parameter."""
        given = np.column_stack([one @ shaft.rates for one in (self.v, self.a, self.x)])
        value = self._filtered(term, given, top) if term in KINKED else _value(term, given, top)
        acting = value[:, None] * shaft.rates
        found: Array = acting[:, self.rows]
        if self.map is not None:
            found = np.einsum("nij,nj->ni", self.map, acting)
        return found if term in KINKED else self.motion.filtered(found)

    def _filtered(self, term: str, given: Array, top: float) -> Array:
        """A term (N,) of speeds, accelerations and positions (N, 3), below the cut-off."""
        motion, value = self.motion, np.empty(len(given))
        for part in np.unique(motion.part):
            here = np.flatnonzero(motion.part == part)
            fine = np.arange(FINER * (len(here) - 1) + 1) / FINER
            rows = np.column_stack([np.interp(fine, np.arange(len(here)), one)
                                    for one in given[here].T])  # fmt: skip
            step = (motion.time[here[-1]] - motion.time[here[0]]) / max(len(here) - 1, 1)
            sharp = _value(term, rows, top)
            if len(here) > 1:
                sharp = ZeroPhase(motion.cutoff, FINER / step)(sharp[:, None])[:, 0]
            value[here] = sharp[::FINER]
        return value


def _value(term: str, given: Array, top: float) -> Array:
    """A term (N,) of speeds, accelerations and positions (N, 3)."""
    w, dw, x = given.T
    return TERMS[term](w, dw, x, top)


def top_speed(columns: list[DriveColumns], shaft: Shaft) -> float:
    """The largest speed of a shaft, except for the fastest thousandth; 1 of one at rest."""
    speeds = np.abs(np.concatenate([one.speed(shaft) for one in columns]))
    return float(np.quantile(speeds, 0.999)) or 1.0


def drive_columns(
    robot: Robot, described: tuple[list[Shaft], list[Shaft], list[Shaft]]
) -> Iterator[Column]:
    """All columns that may be part of a model, by part."""
    drives, coupled, more = described
    for one in (*drives, *coupled):
        basic = BASIC if one in drives else ("viscous", "Coulomb", "armature")
        for term in TERMS:
            part = "drives" if term in basic else term
            if one in drives or term in basic:
                yield Column(f"{one.name} {term}", part, one, term)
    for one in more:
        for term in ("viscous", "Coulomb", *(("armature",) if "shared" in one.name else ())):
            yield Column(f"{one.name} {term}", one.name, one, term)
