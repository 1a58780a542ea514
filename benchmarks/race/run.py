"""The race: all libraries checked against each other, then timed in turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from mbdyn_ros.bench.benchmark import PROGRAMS, Call, sample_calls

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

    @property
    def is_chain(self) -> bool:
        """Whether the robot is one of the chains."""
        return self.robot.startswith("chain")

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
        self.name = entry.name
        self._ours = Bound(self.runner, PROGRAMS)
        self._contestants: list[Contestant] = [self._ours, Plain(self.runner, PROGRAMS)]
        self._contestants += [peer(self.runner, PROGRAMS) for peer in peers()]

    def calls(self, program: str) -> dict[tuple[str, str], Call]:
        """By robot and library, after all gave the same answers; none where we have no program."""
        if program not in self._ours.calls:
            return {}
        running = [one for one in self._contestants if program in one.calls]
        for one in running:
            difference = gap(self._ours.answer(program), one.answer(program))
            assert difference < AGREEMENT, f"{self.name}: {program} by {one.name}: {difference:.1e}"
        return {(self.name, one.name): one.calls[program] for one in running}


def race(entries: Sequence[Entry], rounds: int) -> list[Result]:
    """Time all libraries on some robots, whose calls take turns too.

    Raises
    ------
    AssertionError
        Two libraries disagree.
    """
    fields = [Field(entry) for entry in entries]
    times: dict[tuple[str, str], dict[str, Time]] = {}
    for program in PROGRAMS:
        calls = {name: call for field in fields for name, call in field.calls(program).items()}
        for (robot, library), values in sample_calls(calls, rounds).items():
            time = Time(1e6 * min(values), 1e6 * median(values))
            times.setdefault((robot, program), {})[library] = time
    return [
        Result(field.name, field.runner.robot.nv, program, times[field.name, program])
        for field in fields
        for program in PROGRAMS
        if (field.name, program) in times
    ]
