"""Where a motion among walls stands, as C reads it, and the call that takes its steps."""

from __future__ import annotations

import ctypes

import numpy as np

from ...array import Array
from ...compiler.kernel import fixed_zeros
from ...compiler.runtime.library import stepping
from ...compiler.runtime.structures import structure
from ...errors import InputError
from ..contact.environment import MOST_POINTS
from .step_in_c import ADDRESS, SIZE, StepInC

SLOT_SIZE = 14
"""Numbers of a slot, see `struct motion` in C."""


Motion = structure("contact/model.hpp", "motion")


class MotionInC:
    """One motion: its arrays, and the call that takes its steps.

    Attributes
    ----------
    effort, force, slip, mode, slow, whole, impacts, planes, blocks : see `struct motion` in C.
    """

    def __init__(self, step: StepInC, q: Array, v: Array, most_impacts: int) -> None:
        self._step, library = step, stepping()
        walls = ctypes.byref(step.walls)
        sizes = (library.room_of_motion, library.memory_of_motion, library.size_of_impact)
        for one in sizes:
            one.restype = SIZE
        self._size_of_memory = lambda: library.memory_of_motion(walls) + 1
        room, impact = library.room_of_motion(walls), library.size_of_impact(walls)
        self.force = fixed_zeros(3 * step.contacts + step.rubbing)
        self.slip, self.mode = fixed_zeros(3 * step.contacts), fixed_zeros(step.contacts)
        self.slow, self.whole = fixed_zeros(len(v)), fixed_zeros(3 * step.contacts)
        self.impacts = fixed_zeros(most_impacts, impact)
        self._memory, self._room = fixed_zeros(self._size_of_memory()), fixed_zeros(room)
        self._clear, slots = fixed_zeros(2 + len(q)), step.walls.slots
        self.planes = fixed_zeros(slots, SLOT_SIZE)
        self.blocks = fixed_zeros(slots // MOST_POINTS, 4)
        self._arrays = q, v
        self.motion = Motion(
            q=q.ctypes.data, v=v.ctypes.data,
            force=self.force.ctypes.data, slip=self.slip.ctypes.data, mode=self.mode.ctypes.data,
            slow=self.slow.ctypes.data, whole=self.whole.ctypes.data,
            impacts=self.impacts.ctypes.data, most_hits=most_impacts,
            memory=self._memory.ctypes.data, room=self._room.ctypes.data,
            planes=self.planes.ctypes.data if slots else None, blocks=self.blocks.ctypes.data,
            clear=self._clear.ctypes.data,
        )  # fmt: skip
        self._call = library.walled_steps
        self._call.restype = ctypes.c_long
        self._given = walls, ctypes.byref(self.motion)

    @property
    def effort(self) -> Array:
        """Efforts (ne,) that drive the next steps."""
        return self._effort

    @effort.setter
    def effort(self, effort: Array) -> None:
        if effort.shape != (self._step.walls.ne,) or not effort.flags.c_contiguous:
            raise InputError(f"effort must be {self._step.walls.ne} contiguous numbers")
        # a view of it cannot be resized, and neither can what it is a view of
        self._effort, self.motion.effort = effort[...], effort.ctypes.data

    def take_wrenches(self, on_bodies: Array | None) -> None:
        """Feel wrenches (bodies, 6) from the next step on, as `feel_wrenches` says: or none."""
        self._wrenches = on_bodies
        self.motion.wrenches = None if on_bodies is None else on_bodies.ctypes.data
        if len(self._memory) != self._size_of_memory():
            self._memory = np.zeros(self._size_of_memory())
            self.motion.memory = self._memory.ctypes.data

    def take_impacts(self) -> Array:
        """The rows of the impacts since the last call; see `record_impact` in C."""
        count, self.motion.hits = self.motion.hits, 0
        return self.impacts[:count].copy()

    def steps(self, count: int) -> int:
        """Take up to so many steps; see `walled_steps`."""
        return int(self._call(*self._given, ctypes.c_long(count)))

    def slow_down(self, share: float, energy: float) -> None:
        """Keep this share of all velocities, which has taken so much energy (J)."""
        self._arrays[1][:] *= share
        self.slip *= share
        self.motion.trimmed += energy

    def go_on_from(self, other: MotionInC) -> None:
        """Take the time, the efforts, the accounts and the contacts of the same motion before."""
        for name, kind, *_ in Motion._fields_:
            if kind is not ADDRESS and name != "most_hits":
                setattr(self.motion, name, getattr(other.motion, name))
        self.effort = other.effort
        for name in ("force", "slip", "mode", "slow", "whole", "planes", "blocks"):
            getattr(self, name)[:] = getattr(other, name)

    def forget(self) -> None:
        """Know nothing of the steps before."""
        kept = self.force, self.slip, self.mode, self.whole, self._memory, self.planes, self.blocks
        for array in kept:
            array[:] = 0.0
        self.slow[:] = self._arrays[1]
