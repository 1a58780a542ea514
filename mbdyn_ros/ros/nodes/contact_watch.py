"""Contacts that a node sees in external efforts, and thresholds that it learns from free motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...array import Array
from ...control import Contact, ContactDetector, Observer, Thresholds
from ...control.contact import FEWEST_SAMPLES
from ...errors import InputError
from ..node.parameters import Parameters

LONGEST_LEARNING = 600_000
"""Samples of free motion that are kept."""

THRESHOLDS = ("thresholds", "centers", "threshold_in_all")
"""Parameters of a node by which contacts are seen."""


class ContactWatch:
    """An observer, and what looks at its external efforts.

    Attributes
    ----------
    detector : None without thresholds.
    hits : how many contacts began. last : the last one.
    """

    def __init__(self, observer: Observer, given: Parameters) -> None:
        self.observer = observer
        self.detector: ContactDetector | None = None
        self.free: list[Array] | None = None
        self.hits = 0
        self.last: Contact | None = None
        self.set_thresholds(given)

    def set_thresholds(self, given: Parameters) -> None:
        """See contacts by the thresholds of the parameters, where there are some."""
        labels, thresholds = self.observer.labels, given["thresholds"]
        centers = given["centers"] or [0.0] * len(labels)
        if not thresholds:
            return
        for name, numbers in (("thresholds", thresholds), ("centers", centers)):
            if len(numbers) != len(labels):
                raise InputError(f"{name} has {len(numbers)} numbers for {', '.join(labels)}")
        for label, number in zip(labels, thresholds, strict=True):
            if not number > 0:
                raise InputError(f"thresholds of {label} is {number:g}: it must be above 0")
        whole = given["threshold_in_all"]
        self._see(Thresholds(labels, np.array(centers), np.array(thresholds), whole))

    def look(self, now: float) -> Contact | None:
        """The contact that begins with the observer's last cycle, at a time (s)."""
        observer = self.observer
        if self.free is not None and len(self.free) < LONGEST_LEARNING:
            self.free.append(observer.external.copy())
        if self.detector is None:
            return None
        hit = self.detector.update(now, observer.q, observer.external)
        if hit is not None:
            self.hits, self.last = self.hits + 1, hit
        return hit

    @property
    def touches(self) -> bool:
        """Whether something touches now."""
        return self.detector is not None and self.detector.contact is not None

    @property
    def state(self) -> str:
        """The present contact in words."""
        return "no thresholds" if self.detector is None else str(self.detector.contact or "none")

    def learn(self, request: Any) -> str:
        """Begin to learn from the motion (`data`), or end it; the answer of a service."""
        if request.data:
            self.free = []
            return "learns from the motion from now on: nothing may touch the robot"
        if self.free is None:
            raise InputError("nothing is being learned; call ~/learn with data: true first")
        rows, self.free = self.free, None
        if len(rows) < FEWEST_SAMPLES:
            raise InputError(f"{len(rows)} joint states came; {FEWEST_SAMPLES} are needed")
        learned = Thresholds.learn(self.observer.labels, np.array(rows))
        self._see(learned)
        return (
            f"thresholds: {learned.joint.round(3).tolist()}, centers: "
            f"{learned.center.round(3).tolist()}, threshold_in_all: {learned.whole:.3f}"
        )

    def _see(self, thresholds: Thresholds) -> None:
        self.detector = ContactDetector(self.observer.robot, thresholds)
