"""Commands of joints: efforts, and velocities and positions that they shall follow."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...array import Array
from ...errors import InputError
from ...robot import Robot
from ...simulation.stepped.servo import Targets
from .commands import PLURALS, CommandChannel, CommandLayout, Numbers, PositionStream
from .named_numbers import columns, effort_blocks, require_known

CONTEST = 3
"""Changes of a joint's sender between two reports that are not a hand-over."""

QUANTITIES = ("position", "velocity", "effort")
"""Quantities of commands; of those that change at once the first one moves the joint."""

FOLLOWED, EFFORT = (0, 1), 2
"""Places in `QUANTITIES` of position and velocity, which are followed, and of effort."""

NEARLY_WITHIN = 1e-4
"""rad or m by which points of trajectories may be beyond limits: planners round."""

REST = "no joint of a command has a number: no controller has written one yet"
"""A remark about commands that are all NaN."""


@dataclass(frozen=True)
class NamedCommand:
    """Numbers for joints by name; NaN is not one.

    stamp : the time that positions are for, s. expected : what is missing where nothing is there.
    unclaimed : joints and quantities that the sender sends without being asked to.
    """

    names: Sequence[str]
    position: Sequence[float] = ()
    velocity: Sequence[float] = ()
    effort: Sequence[float] = ()
    stamp: float = math.inf
    expected: str = "effort"
    unclaimed: frozenset[tuple[str, str]] = frozenset()

    def given(self) -> list[tuple[str, Sequence[float]]]:
        """The quantities that have numbers; the expected one where there are none at all."""
        whole = [(one, getattr(self, one)) for one in QUANTITIES]
        return [pair for pair in whole if len(pair[1])] or [(self.expected, ())]


class JointCommands:
    """Efforts, velocities and positions that are asked of joints, and when.

    Commands may come for all joints at once or for some by name, from several senders. What
    changed last moves a joint: an effort, or a velocity or position that it follows. Efforts and
    velocities fade away until `timeout`; positions are held.

    Parameters
    ----------
    robot : the robot.
    joints : the order of arrays without names; empty for all actuated joints.

    Raises
    ------
    InputError
        A joint that is not actuated, or is named twice.

    Attributes
    ----------
    effort : the channel of efforts. remarks : what was left out of commands, each once.
    """

    def __init__(self, robot: Robot, joints: Sequence[str] = ()) -> None:
        self.joints = tuple(joints) or robot.actuated_joints
        require_known(self.joints, robot.actuated_joints, "actuated joint")
        self._labels = robot.effort_labels
        size, blocks = len(self._labels), effort_blocks(robot)
        self._order = columns(blocks, self.joints)
        self._channels = {one: CommandChannel(one, self._labels) for one in QUANTITIES}
        self.effort = self._channels["effort"]
        self._layout = CommandLayout(robot)
        self.remarks = self._layout.remarks
        self._stream, self.targets = PositionStream(size), Targets.none(size)
        single = [name in robot.actuated_joints for name in self._labels]
        self.can_follow = np.array(single, dtype=bool)
        self._limits = _limits(robot, self._labels, self.can_follow)
        self._limit_lists = self._limits.T.tolist()
        self._beyond: dict[str, None] = {}
        self._mode = [EFFORT] * size
        self._senders, self._turns = [b""] * size, [0] * size

    # ---- what comes ------------------------------------------------------------------------

    def set_array(
        self, values: Sequence[float], now: float, sender: bytes = b"", quantity: str = "effort"
    ) -> None:
        """Numbers in the order of `joints`, at the time `now` (s)."""
        if len(values) != len(self._order):
            raise InputError(
                f"the command has {len(values)} {PLURALS[quantity]}, expected "
                f"{len(self._order)}: {', '.join(self.joints)}"
            )
        self._take({quantity: (self._order, list(values))}, now, now, sender)

    def set_named(self, command: NamedCommand, now: float, sender: bytes = b"") -> None:
        """Numbers of the named joints; the others keep theirs."""
        sent = {}
        for quantity, values in command.given():
            places, numbers = self._layout.numbers(quantity, command.names, values)
            pairs = list(zip(places, numbers, strict=True))
            kept = [pair for pair in pairs if pair[1] == pair[1]]  # except for NaN
            if command.unclaimed:
                labels = self._labels
                kept = [one for one in kept if (labels[one[0]], quantity) not in command.unclaimed]
            if len(kept) == len(pairs):
                sent[quantity] = places, numbers
            elif kept:
                sent[quantity] = [pair[0] for pair in kept], [pair[1] for pair in kept]
        if sent:
            self._take(sent, now, min(now, command.stamp), sender)
        elif not command.unclaimed:
            self.remarks[REST] = None

    def _take(self, sent: dict[str, Numbers], now: float, stamp: float, sender: bytes) -> None:
        for quantity, (places, _) in sent.items():
            for place in places if quantity != "effort" else ():
                if not self.can_follow[place]:
                    raise InputError(
                        f"{self._labels[place]} can follow no {quantity}: it has an actuator "
                        "of its own, or is part of a joint with several coordinates"
                    )
        for quantity, (places, values) in sent.items():
            self._channels[quantity].set(places, values, now)
        if "position" in sent:
            places, values = sent["position"]
            within = [self._within("position", *pair) for pair in zip(places, values, strict=True)]
            speeds = sent.get("velocity")
            known = None
            if speeds is not None and speeds[0] == places:  # none where a limit holds
                rows = zip(speeds[1], values, within, strict=True)
                known = [speed if asked == held else 0.0 for speed, asked, held in rows]
            self._stream.take(places, within, stamp, known)
        for rank in range(len(QUANTITIES) - 1, -1, -1):  # the stiffest has the last word
            quantity = QUANTITIES[rank]
            if quantity in sent:
                changed = self._channels[quantity].changed
                for place in sent[quantity][0]:
                    if changed[place] == now:
                        self._mode[place] = rank
                    if self._senders[place] != sender:
                        self._senders[place] = sender
                        self._turns[place] += 1

    def require_within(
        self, places: Sequence[int], names: Sequence[str], points: Sequence[Any]
    ) -> None:
        """Refuse points of a trajectory beyond the position limits.

        Raises
        ------
        InputError
            The joint, the number and the limits.
        """
        low, high, _ = self._limits[:, places]
        for k, point in enumerate(points):
            if len(point.positions) != len(names):
                continue  # refused where it is read
            q = np.array(point.positions)
            bad = np.flatnonzero((q < low - NEARLY_WITHIN) | (q > high + NEARLY_WITHIN))
            if len(bad):
                j = int(bad[0])
                raise InputError(
                    f"point {k}: position of {names[j]} is {q[j]:.6g}, outside its limits "
                    f"{low[j]:.6g} to {high[j]:.6g}"
                )

    def hold(self, places: Sequence[int], position: Sequence[float]) -> None:
        """Let coordinates follow a position, from a standstill, until something else comes."""
        self._stream.rest(places, position)
        for place, number in zip(places, position, strict=True):
            self._channels["position"].value[place] = number
            self._mode[place] = FOLLOWED[0]

    def turn(self, places: Sequence[int]) -> float:
        """When coordinates were last commanded otherwise, by all that is sent; grows."""
        return max(one.changed[place] for one in self._channels.values() for place in places)

    @property
    def follow(self) -> bool:
        """Whether any joint follows a velocity or a position."""
        return EFFORT != min(self._mode, default=EFFORT)

    def drive_by(self, largest: Array) -> None:
        """Take openings of valves, or voltages, up to `largest` (n,) in the place of efforts.

        Infinite where a joint has no actuator of its own.
        """
        self.effort.largest = largest.tolist()
        self.can_follow &= np.isinf(largest)

    def release(self, unclaimed: Collection[tuple[str, str]], sources: tuple[bytes, ...]) -> None:
        """Forget commands that nobody stands for any more, of senders whose ids begin so.

        Positions stay held.
        """
        for label, quantity in unclaimed:
            if quantity in ("effort", "velocity") and label in self._labels:
                place = self._labels.index(label)
                if self._senders[place].startswith(sources):
                    self._channels[quantity].clear([place])

    def take_over(self, other: JointCommands) -> None:
        """Go on with the commands of another robot's coordinates of the same names."""
        for place, label in enumerate(self._labels):
            if label in other._labels:
                there = other._labels.index(label)
                for quantity, channel in self._channels.items():
                    channel.take_over(place, other._channels[quantity], there)
                self._stream.take_over(place, other._stream, there)
                self._mode[place] = other._mode[there]
                self._senders[place] = other._senders[there]

    def clear(self) -> None:
        """Forget all commands."""
        for channel in self._channels.values():
            channel.clear()
        self._stream.clear()
        self._mode[:] = [EFFORT] * len(self._mode)
        self.targets.followed[:] = False

    # ---- what they ask for -----------------------------------------------------------------

    def write(self, effort: Array, now: float, timeout: float, unchanged: float = 0.0) -> None:
        """Fill efforts (n,), zero for what follows a target, and the `targets` of that."""
        mode, targets = self._mode, self.targets
        wanted = self.effort.present(now, timeout, unchanged)
        targets.followed[:] = followed = [one != EFFORT for one in mode]
        if any(followed):
            targets.placed[:] = [one == FOLLOWED[0] for one in mode]
            positions, velocities = self._stream.present(now)
            if FOLLOWED[1] in mode:
                speeds = self._channels["velocity"].present(now, timeout, unchanged)
                for place, one in enumerate(mode):
                    if one == FOLLOWED[1]:
                        velocities[place] = self._within("velocity", place, speeds[place])
            targets.position[:], targets.velocity[:] = positions, velocities
            targets.acceleration[:] = 0.0
            wanted = [0.0 if other else one for one, other in zip(wanted, followed, strict=True)]
        effort[:] = wanted

    # ---- what is said of them --------------------------------------------------------------

    def stale(self, now: float, timeout: float) -> list[str]:
        """Joints whose commands have ended, by their age; those that hold a position have not."""
        ended = {
            rank: set(self._channels[QUANTITIES[rank]].stale(now, timeout))
            for rank in (FOLLOWED[1], EFFORT)
        }
        return [
            label
            for place, label in enumerate(self._labels)
            if place in ended.get(self._mode[place], ())
        ]

    def contested(self) -> list[str]:
        """Joints whose commands came from several senders in turns since this was asked before."""
        found = [
            label
            for label, turns in zip(self._labels, self._turns, strict=True)
            if turns >= CONTEST
        ]
        self._turns = [0] * len(self._labels)
        return found

    def beyond(self) -> list[str]:
        """Joints that were sent beyond limits since this was asked before."""
        found, self._beyond = list(self._beyond), {}
        return found

    def _within(self, quantity: str, place: int, number: float) -> float:
        """A number up to its limit; what is beyond is remembered."""
        low, high, speed = self._limit_lists[place]
        if quantity == "velocity":
            low, high = -speed, speed
        within = min(max(number, low), high)
        if within != number and len(self._beyond) < len(self._labels):
            said = f"{self._labels[place]} ({quantity} {number:.4g}, {within:g} allowed)"
            self._beyond[said] = None
        return within


def _limits(robot: Robot, labels: Sequence[str], single: Array) -> Array:
    """Lower and upper limits of positions, and of speeds (3, n); infinite where there are none."""
    result = np.tile([[-math.inf], [math.inf], [math.inf]], len(labels))
    for k in np.flatnonzero(single).tolist():
        joint = robot.model.joint(labels[k])
        result[2, k] = joint.limits.velocity or math.inf
        if not joint.kind.is_endless:
            result[:2, k] = joint.limits.lower, joint.limits.upper
    return result
