"""A path that joints of a simulated robot follow, watched to its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...array import Array
from ...simulation.stepped.prepared_stepper import PreparedStepper
from ...simulation.stepped.servo import Following, Targets
from ..messages.joint_commands import JointCommands
from ..messages.joint_path import JointPath, Tolerances

RUNNING, DONE = "running", "done"
"""States of a path: what is neither has failed."""


class Followers(Protocol):
    """The joints that follow a path: of a `Session`, how they move and are commanded."""

    motion: PreparedStepper
    following: Following
    commands: JointCommands


class PathMotion:
    """The joints of a path on their way; times are those of the simulation.

    Parameters
    ----------
    start : simulated time at which the path's own time is 0.
    on_path, at_goal : tolerances. patience : s for which the goal may be out of tolerance.

    Attributes
    ----------
    outcome : `RUNNING`, `DONE`, or why the joints follow no more.
    off : "path" or "goal", where a tolerance was violated.
    """

    def __init__(
        self, session: Followers, path: JointPath, places: Sequence[int], start: float,
        tolerances: tuple[Tolerances, Tolerances], patience: float,
    ) -> None:  # fmt: skip
        self.path, self.places, self.start = path, list(places), start
        self._session, self._on_path, self._at_goal = session, *tolerances
        self._patience = patience
        self._rows = session.following.places[self.places]
        self.outcome, self.off = RUNNING, ""
        self._hold(path.at(session.motion.time - start)[0])
        self._turn = session.commands.turn(self.places)

    def state(self) -> tuple[Array, Array]:
        """Positions and velocities (n,) of its joints now."""
        motion = self._session.motion
        return motion.joint_position[self._rows], motion.joint_velocity[self._rows]

    def fill(self, targets: Targets) -> None:
        """Write where its joints shall be now."""
        motion, places = self._session.motion, self.places
        moment = motion.time - self.start
        q, v, _ = self.path.at(moment)
        _, after, _ = self.path.at(moment + motion.step)
        targets.position[places], targets.velocity[places] = q, v
        targets.acceleration[places] = (after - v) / motion.step

    def watch(self) -> bool:
        """Whether it goes on after a step; `outcome` says why not."""
        if self._session.commands.turn(self.places) != self._turn:
            self.outcome = "another command came for its joints"
            return False
        moment = self._session.motion.time - self.start
        state, goal = self.state(), self.path.at(self.path.end)
        if moment < self.path.end:
            wrong = self._on_path.violation(self.path.at(moment), *state)
            if wrong:
                self.off = "path"
                self.end(wrong)
        else:
            wrong = self._at_goal.violation(goal, *state)
            if not wrong:
                self.outcome = DONE
                self._hold(goal[0])
            elif moment > self.path.end + self._patience:
                self.off = "goal"
                self.end(f"{wrong}, {self._patience:g} s after the end")
        return self.outcome == RUNNING

    def end(self, reason: str) -> None:
        """Follow no further; the joints stay where they are."""
        self.outcome = reason
        self._hold(self.state()[0])

    def _hold(self, position: Array) -> None:
        session = self._session
        session.commands.hold(self.places, position.tolist())
