"""External efforts of a whole recording: friction learned where it is free, hits, wrenches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array import Array
from ..errors import InputError
from ..robot import Robot
from .contact import DEVIATIONS, Contact, ContactDetector, Thresholds
from .observer import LONGEST_GAP, Observer

NORMAL = 1.4826
"""Standard deviation of normal numbers over the median of their sizes."""

UNSURE = 2.0
"""Thresholds of a motion with pushes over those of a free one."""

SLOW = 0.02
"""rad/s or m/s, about which the sign of a velocity is smooth."""

PAUSE = 0.25
"""s between two contacts that count as one."""

ROUNDS = 8
"""Of least squares, in which rows with pushes lose their weight."""


@dataclass(frozen=True, eq=False)
class Friction:
    """Friction that a free motion shows and the description lacks, of every velocity coordinate.

    terms : (nv, 3) a constant effort, dry friction (N m or N), and damping (N m s or N s/m).
    """

    terms: Array

    @staticmethod
    def fit(rows: Array, external: Array) -> Friction:
        """That which explains external efforts (N, nv) best; pushes are outliers (Huber 1964).

        rows : (N, nv, 3) of `friction_rows`.
        """
        terms = np.zeros(rows.shape[1:])
        for k, seen in enumerate(external.T):
            own, weights = rows[:, k], np.ones(len(seen))
            for _ in range(ROUNDS):
                weighted = own * weights[:, None]
                terms[k] = np.linalg.lstsq(weighted.T @ own, weighted.T @ seen, rcond=1e-9)[0]
                left = np.abs(seen - own @ terms[k])
                weights = 1 / np.maximum(left / max(1.5 * NORMAL * np.median(left), 1e-12), 1.0)
        return Friction(terms)

    def efforts(self, rows: Array) -> Array:
        """The external efforts (N, nv) that it is taken for."""
        result: Array = (rows * self.terms).sum(axis=-1)
        return result


def friction_rows(observer: Observer, time: Array, v: Array) -> Array:
    """The share of 1 N m of each term of friction in `external_efforts` (N, nv, 3)."""
    acting = -np.stack([-np.ones_like(v), np.tanh(v / SLOW), v], axis=-1)
    signals = np.zeros((v.shape[1], 3, 3))
    result = np.zeros_like(acting)
    for k, step in enumerate(np.diff(time).tolist(), 1):
        signals[:, 2] = 0.5 * (acting[k - 1] + acting[k])
        signals[:, :2] = observer.filter.transition(step) @ signals if step <= LONGEST_GAP else 0.0
        result[k] = signals[:, 0]
    return result


def external_efforts(observer: Observer, time: Array, q: Array, v: Array, effort: Array) -> Array:
    """External efforts (N, nv) at the states of a recording, in its order."""
    result = np.zeros_like(v)
    for k, t in enumerate(time.tolist()):
        observer.q[:], observer.v[:], observer.effort[:] = q[k], v[k], effort[k]
        result[k] = observer.cycle(t)
    return result


def robust_thresholds(labels: tuple[str, ...], external: Array) -> Thresholds:
    """Thresholds of a recording with pushes, which are rarer than half of its time."""
    center = np.median(external, axis=0)
    joint = UNSURE * DEVIATIONS * NORMAL * np.median(np.abs(external - center), axis=0)
    if not (joint > 0).all():
        still = labels[int(np.argmin(joint))]
        raise InputError(f"the external effort of {still} is constant and gives no threshold")
    sizes = np.linalg.norm((external - center) / joint, axis=1)
    usual = float(np.median(sizes))
    whole = usual + UNSURE * DEVIATIONS * NORMAL * float(np.median(np.abs(sizes - usual)))
    return Thresholds(labels, center, joint, whole)


@dataclass(frozen=True, eq=False)
class Push:
    """A contact of a recording from the row `first` to the row `last`, and its strongest row."""

    contact: Contact
    first: int
    last: int
    strongest: int


def pushes(
    robot: Robot, thresholds: Thresholds, time: Array, q: Array, external: Array
) -> list[Push]:
    """The contacts of a recording; those within `PAUSE` of each other are one."""
    detector, found = ContactDetector(robot, thresholds), list[Push]()
    open_: tuple[Contact, int] | None = None
    sizes = np.linalg.norm(thresholds.scaled(external), axis=1)
    for k, t in enumerate(time.tolist()):
        contact = detector.update(t, q[k], external[k])
        if contact is not None:
            open_ = contact, k
            if found and t - time[found[-1].last] < PAUSE:
                before = found.pop()
                open_ = before.contact, before.first
        if open_ is not None and (detector.contact is None or k == len(time) - 1):
            strongest = open_[1] + int(np.argmax(sizes[open_[1] : k + 1]))
            found.append(Push(*open_, k, strongest))
            open_ = None
    return found
