"""The race: all libraries checked against each other, then timed in turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from mbdyn_ros.benchmark import PROGRAMS
from mbdyn_ros.timing import sample_calls

from .contestant import Contestant, gap
from .ours import Bound, Plain
from .robots import Entry, Runner

AGREEMENT = 1e-7
"""Largest relative difference between right answers; chains of 200 joints are ill-conditioned."""


@dataclass(frozen=True)
class Time:
    """Microseconds a call of one library: minimum and median of the blocks."""

    minimum: float
    median: float


@dataclass(frozen=True)
class Result:
    """Times of one program on one robot by library, ours among them."""

    robot: str
    nv: int
    program: str
    times: dict[str, Time]

    def ratio(self, library: str, ours: str = Bound.name) -> float:
        """Our time over that of a library."""
        return self.times[ours].minimum / self.times[library].minimum


def peers() -> list[type]:
    """The libraries that are installed."""
    found: list[type] = []
    try:
        from .pinocchio_peer import Pinocchio

        found.append(Pinocchio)
    except ImportError:
        pass
    try:
        from .mujoco_peer import Mujoco

        found.append(Mujoco)
    except ImportError:
        pass
    try:
        from .drake_peer import Drake

        found.append(Drake)
    except ImportError:
        pass
    try:
        from .adam_peer import Adam

        found.append(Adam)
    except ImportError:
        pass
    return found


class Field:
    """All libraries with one robot."""

    def __init__(self, entry: Entry) -> None:
        self.runner = Runner(entry)
        self.ours = Bound(self.runner, PROGRAMS)
        self._contestants: list[Contestant] = [self.ours, Plain(self.runner, PROGRAMS)]
        self._contestants += [peer(self.runner, PROGRAMS) for peer in peers()]

    def running(self, program: str) -> dict[str, Contestant]:
        """Those that have a program, after all gave the same answers."""
        robot = self.runner.entry.name
        running = {one.name: one for one in self._contestants if program in one.calls}
        for name, one in running.items():
            difference = gap(self.ours.answer(program), one.answer(program))
            assert difference < AGREEMENT, f"{robot}: {program} by {name}: {difference:.1e}"
        return running


def race(entries: Sequence[Entry], rounds: int) -> list[Result]:
    """Time all libraries on some robots, whose calls take turns too.

    Raises
    ------
    AssertionError
        Two libraries disagree.
    """
    fields = [Field(entry) for entry in entries]
    results = []
    for program in PROGRAMS:
        calls = {}
        for field in (field for field in fields if program in field.ours.calls):
            robot = field.runner.entry.name
            for name, one in field.running(program).items():
                calls[robot, name] = one.calls[program]
        samples = sample_calls(calls, rounds)
        for field in fields:
            robot = field.runner.entry.name
            times = {
                name: Time(1e6 * min(values), 1e6 * median(values))
                for (whose, name), values in samples.items()
                if whose == robot
            }
            if times:
                results.append(Result(robot, field.runner.robot.nv, program, times))
    return sorted(results, key=lambda result: [entry.name for entry in entries].index(result.robot))
