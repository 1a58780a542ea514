"""Commands of one quantity: whose they are, how old, and the motion that they ask for.

Each joint's last command counts until it is too old. Positions that come again and again are a
motion between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import InputError
from ...model.model import Model
from ...robot import Robot
from .named_numbers import LARGEST_SENT, columns, effort_blocks, require_known, require_reasonable

HOLDING = 0.5
"""Share of the timeout for which a command holds in full; from there on it fades.

Hardware that sends commands only where they differ from the state that it reports would fall silent
while they are obeyed, and so starve us: what fades differs, and they are sent again.
"""


Numbers = tuple[list[int], list[float]]
"""Places among the efforts of the robot, and a number for each of them; NaN: none."""


class CommandLayout:
    """The joints of commands by name.

    Hardware of ros2_control names all of its joints, and sends numbers for those alone that have
    the command interface in `<ros2_control>`: passive joints have none.

    Attributes
    ----------
    remarks : what was left out of commands, each once.
    """

    def __init__(self, robot: Robot) -> None:
        self._blocks, self._actuated = effort_blocks(robot), robot.actuated_joints
        self._known = robot.joint_names
        self._interfaces = command_interfaces(robot.model)
        self.remarks: dict[str, None] = {}
        self._names: list[str] = []
        self._known_places: dict[tuple[str, int], list[int]] = {}

    def numbers(self, quantity: str, names: Sequence[str], values: Sequence[float]) -> Numbers:
        """The numbers of named joints; without values none.

        Raises
        ------
        InputError
            Unknown or repeated joint, or values that cannot be matched to joints.
        """
        if names != self._names:
            self._names, self._known_places = list(names), {}
        key = quantity, len(values)
        if key not in self._known_places:
            self._known_places[key] = self._places(quantity, names, len(values))
        return self._known_places[key], list(values)

    def _places(self, quantity: str, names: Sequence[str], count: int) -> list[int]:
        if not names:
            raise InputError("the command names no joint")
        passive = [name for name in names if name not in self._actuated]
        if all(name in self._known for name in passive):
            owners = [name for name in names if quantity in self._interfaces.get(name, ())]
            actuated = [name for name in names if name in self._actuated]
            for chosen in (actuated if not passive else [], owners, actuated):
                require_known(names, self._known, "joint")
                places = columns(self._blocks, [n for n in chosen if n in self._blocks])
                if chosen and len(places) == count:
                    self._remark(quantity, [name for name in names if name not in chosen])
                    return places
        require_known(names, self._actuated, "actuated joint")
        raise InputError(
            f"the command has {count} {PLURALS[quantity]}, expected "
            f"{len(columns(self._blocks, names))}: {', '.join(names)}"
        )

    def _remark(self, quantity: str, others: list[str]) -> None:
        if others:
            said = f"ignoring {quantity} commands for joints that take none: "
            self.remarks[said + ", ".join(others)] = None


PLURALS = {"effort": "efforts", "velocity": "velocities", "position": "positions"}
"""Quantities of commands, many of them."""


def command_interfaces(model: Model) -> Mapping[str, frozenset[str]]:
    """The command interfaces of joints in the `<ros2_control>` blocks of a description."""
    found: dict[str, frozenset[str]] = {}
    for foreign in model.foreign:
        element: Any = foreign.element() if "ros2_control" in foreign.text else None
        if element is None or element.tag != "ros2_control":
            continue
        for joint in element.iter("joint"):
            names = {str(one.get("name")) for one in joint.iterchildren("command_interface")}
            name = str(joint.get("name"))
            found[name] = found.get(name, frozenset()) | names
    return found


LONGEST_INTERVAL = 0.05
"""s between two commands of one motion; what comes later is a step, from rest. For so long a motion
whose velocity was sent goes on when no further command comes: a busy machine hands messages over
tens of milliseconds late, and a stop takes all the force that there is."""

SMOOTHING = 0.005
"""s over which velocities between commands are averaged: times of arrival are uneven."""

EXTRAPOLATED = 1.5
"""Intervals for which a motion goes on whose velocity was found from positions."""


class PositionStream:
    """The positions of n coordinates that commands at a rate ask for, and their velocities.

    Attributes
    ----------
    position, velocity : n each, as of the last commands.
    """

    def __init__(self, size: int) -> None:
        self.position, self.velocity, self._span = ([0.0] * size for _ in range(3))
        self._at = [-math.inf] * size

    def take(
        self,
        places: Sequence[int],
        positions: Sequence[float],
        at: float,
        velocities: Sequence[float] | None = None,
    ) -> None:
        """Take positions for the time `at` (s); `velocities` where they are known.

        Others are found from the positions before.
        """
        for k, (place, position) in enumerate(zip(places, positions, strict=True)):
            if velocities is None:
                self._estimate(place, position, at - self._at[place])
            else:
                self.velocity[place], self._span[place] = velocities[k], LONGEST_INTERVAL
            self.position[place], self._at[place] = position, at

    def _estimate(self, place: int, position: float, span: float) -> None:
        """Find the velocity from the position before, `span` s ago."""
        flows = span <= LONGEST_INTERVAL
        if not flows:
            self.velocity[place] = 0.0
        elif span > 0:
            rate, before = (position - self.position[place]) / span, self.velocity[place]
            self.velocity[place] += span / (span + SMOOTHING) * (rate - before)
        if span > 0:
            self._span[place] = EXTRAPOLATED * span if flows else 0.0

    def present(self, time: float) -> tuple[list[float], list[float]]:
        """Positions and velocities at a time (s)."""
        positions, velocities = list(self.position), list(self.velocity)
        for place, span in enumerate(self._span):
            age = time - self._at[place]  # below 0: before that of the last command
            if velocities[place]:
                positions[place] += velocities[place] * max(min(age, span), -span)
                if age > span:
                    velocities[place] = 0.0
        return positions, velocities

    def take_over(self, place: int, other: PositionStream, there: int) -> None:
        """Take what another stream has of a coordinate."""
        self.position[place], self.velocity[place] = other.position[there], other.velocity[there]
        self._span[place], self._at[place] = other._span[there], other._at[there]

    def rest(self, places: Sequence[int], positions: Sequence[float]) -> None:
        """Stand at positions."""
        for place, position in zip(places, positions, strict=True):
            self.position[place], self._at[place] = position, -math.inf
            self.velocity[place] = self._span[place] = 0.0

    def clear(self) -> None:
        """Forget all."""
        self.rest(range(len(self.position)), list(self.position))


class CommandChannel:
    """Efforts, velocities or positions that are asked for, by coordinate, and when.

    Parameters
    ----------
    quantity : "effort", "velocity" or "position".
    labels : (n,) of the coordinates.

    Attributes
    ----------
    value, at, changed : n each: the last command, when it came, and when it last was another (s).
    largest : n, beyond which commands are refused: openings of valves, voltages of motors.
    """

    # A handful of numbers in plain lists: arrays would take several times as long.

    def __init__(self, quantity: str, labels: Sequence[str]) -> None:
        self.quantity, self._labels = quantity, labels
        size = len(labels)
        self.value, self.largest = [0.0] * size, [math.inf] * size
        self.at, self.changed = [-math.inf] * size, [-math.inf] * size

    def set(self, places: Sequence[int], values: Sequence[float], now: float) -> None:
        """Take commands of coordinates.

        Raises
        ------
        InputError
            One is not finite, absurdly large, or beyond `largest`; none is taken.
        """
        for place, number in zip(places, values, strict=True):
            if not abs(number) <= LARGEST_SENT:
                require_reasonable(self.quantity, [number], [self._labels[place]])
            if abs(number) > self.largest[place]:
                raise InputError(
                    f"the command of {self._labels[place]} is {number:g}; its actuator takes "
                    f"{-self.largest[place]:g} to {self.largest[place]:g}"
                )
        for place, number in zip(places, values, strict=True):
            if number != self.value[place] or self.at[place] == -math.inf:
                self.value[place], self.changed[place] = number, now
            self.at[place] = now

    def take_over(self, place: int, other: CommandChannel, there: int) -> None:
        """Take what another channel has of a coordinate."""
        self.value[place], self.at[place] = other.value[there], other.at[there]
        self.changed[place] = other.changed[there]

    def clear(self, places: Sequence[int] | None = None) -> None:
        """Forget commands; all of them by default."""
        for place in range(len(self.value)) if places is None else places:
            self.value[place] = 0.0
            self.at[place] = self.changed[place] = -math.inf

    def present(self, now: float, timeout: float, unchanged: float = 0.0) -> list[float]:
        """Commands (n,) now: whole, fading from half of `timeout` (s) on, else zero.

        unchanged : s for which a command that is sent again and again may stay the same; 0: ever.
        """
        result = list(self.value)
        holding = HOLDING * timeout
        for place, at in enumerate(self.at):
            age = now - at
            if age > holding:
                share = (age - holding) / (timeout - holding)
                result[place] *= 1.0 - share * share * share if share < 1.0 else 0.0
            if unchanged and now - self.changed[place] > unchanged:
                result[place] = 0.0
        return result

    def stale(self, now: float, timeout: float) -> list[int]:
        """Places that were commanded once, but not lately."""
        return [place for place, at in enumerate(self.at) if timeout < now - at < math.inf]
