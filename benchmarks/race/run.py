"""One robot's race: all libraries checked against each other, then timed in turns."""

from __future__ import annotations

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


def race(entry: Entry, rounds: int) -> list[Result]:
    """Time all libraries on one robot, after all gave the same answers.

    Raises
    ------
    AssertionError
        Two libraries disagree.
    """
    runner = Runner(entry)
    ours = Bound(runner, PROGRAMS)
    contestants: list[Contestant] = [ours, Plain(runner, PROGRAMS)]
    contestants += [peer(runner, PROGRAMS) for peer in peers()]
    results = []
    for program in ours.calls:
        running = {one.name: one for one in contestants if program in one.calls}
        for name, one in running.items():
            difference = gap(ours.answer(program), one.answer(program))
            assert difference < AGREEMENT, f"{entry.name}: {program} by {name}: {difference:.1e}"
        samples = sample_calls({name: one.calls[program] for name, one in running.items()}, rounds)
        times = {
            name: Time(1e6 * min(values), 1e6 * median(values)) for name, values in samples.items()
        }
        results.append(Result(entry.name, runner.robot.nv, program, times))
    return results
