"""Control on measured joint states: what `computed_torque` does with its robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sensor_msgs.msg import JointState

from ...control import MODES, Contact, Controller, Observer, Reaction, complaint, growth
from ...control.sampled import InstabilityError
from ...errors import InputError, MbdynError
from ...model.model import Array
from ...motion.measured_joints import MeasuredJoints
from ...motion.reference import Reference
from ...prepare.coordinates import scalar_motions
from ...robot import Robot
from ..messages.measured_state import JointReader, MeasuredState, beyond
from ..node.parameters import Parameters
from .contact_watch import ContactWatch
from .follower import Conditions, Follower

NO_TARGET = "no target yet"


@dataclass(frozen=True)
class Doubts:
    """When measured joint states are not believed, rad or m; 0 for always.

    agreement : how far dependent joints may be from where the others put them.
    jump : how much farther than their velocities say joints may go between two messages.
    """

    agreement: float
    jump: float


class Agreement:
    """Compares measured dependent joints with where the independent ones put them."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        blocks = robot.system.coordinates.joint_blocks
        own = set(robot.velocity_labels)
        rows = {
            name: row for name, row, _ in zip(*scalar_motions(blocks), strict=True)
            if name not in own
        }  # fmt: skip
        self._reader, self._rows = JointReader(list(rows)), np.array(list(rows.values()), dtype=int)
        self._turning = np.array(
            [name in blocks and not blocks[name].kind.steps[0].motion.slides for name in rows],
            dtype=bool,
        )

    def complaint(self, message: JointState, q: Array, tolerance: float) -> str:
        """The dependent joint that is farthest beyond `tolerance` (rad or m), in words, or nothing.

        q : (n,) the measured positions of the independent joints.

        Raises
        ------
        InputError
            The position of a dependent joint is not a number, or one is named twice.
        """
        reader = self._reader
        reader.find(message.name)
        measured = reader.numbers("position", message.position) if reader.found else None
        if measured is None:
            return ""
        implied = self._robot.joint_state(q)[0][self._rows[reader.found]]
        apart = measured - implied
        whole = np.remainder(apart + np.pi, 2 * np.pi) - np.pi
        apart = np.where(self._turning[reader.found], whole, apart)
        k = beyond(apart, tolerance)
        if k is None:
            return ""
        return (
            f"{reader.labels[reader.found[k]]} is measured at {measured[k]:.6g}, but the joints it "
            f"follows put it at {implied[k]:.6g}: {abs(apart[k]):.4g} apart, more than "
            f"agreement_tolerance ({tolerance:g})"
        )


class ControlLoop(Follower):
    """The state of the `computed_torque` node.

    Parameters
    ----------
    robot, joints, conditions : of `Follower`.
    given : parameters: `link` that Cartesian impedance is about, `measured_joints` that determine
        all others, those of `CONTACTS` and the observer's.

    Attributes
    ----------
    control : the laws, their gains and the mode.
    doubts : when joint states are not believed.
    watch : the external efforts, by the efforts that were sent, and the contacts in them.
    hit : the contact that it reacts to; None while it does not.
    """

    def __init__(
        self,
        robot: Robot,
        joints: Sequence[str],
        conditions: Conditions,
        doubts: Doubts,
        given: Parameters,
    ) -> None:
        link, measured = given["link"], given["measured_joints"]
        self.control, self.doubts = Controller(robot, link), doubts
        self._delay = given["observer_time_constant"]
        self.watch = ContactWatch(Observer(robot, self._delay, held=True), given)
        self.hit: Contact | None = None
        self._reaction: Reaction | None = None
        self._agreement = Agreement(robot)
        self._drives = False
        self._target_came: float | None = None
        super().__init__(robot, joints, conditions)
        self._joints = MeasuredJoints(robot, measured) if measured else None
        coordinates = robot.system.coordinates
        self._own = [coordinates.joint_labels.index(label) for label in robot.position_labels]
        read = robot.velocity_labels if self._joints is None else self._joints.labels
        self.measured = self._posture = MeasuredState(
            robot.velocity_labels, self._turns, read, self._independent
        )

    def replace_robot(self, robot: Robot) -> None:
        """Go on with the same robot under another gravity."""
        super().replace_robot(robot)
        self.control.replace_robot(robot)
        self.watch.observer = Observer(robot, self._delay, held=True)
        self._agreement = Agreement(robot)

    # ---- joint states ---------------------------------------------------------------------

    def take(self, message: JointState, now: float, sent: float) -> bool:
        """Read joint states; an error where they jump while efforts are sent."""
        measured, before = self.measured, self.measured.sent
        q, v, drives = measured.position, measured.velocity, self._drives
        if not measured.take(message, now, sent):
            return False
        if drives and self.doubts.jump:
            speed = np.maximum(np.abs(v), np.abs(measured.velocity))
            k = measured.beyond(q, self.doubts.jump + 2 * speed * max(sent - before, 0.0))
            if k is not None:
                raise InputError(
                    f"joint_states jump: {self.robot.velocity_labels[k]} from {q[k]:.6g} to "
                    f"{measured.position[k]:.6g} in {sent - before:.4g} s, at "
                    f"{measured.velocity[k]:.4g} a second: more than jump_tolerance "
                    f"({self.doubts.jump:g})"
                )
        return True

    def _independent(self, message: JointState, q: Array, v: Array) -> tuple[Array, Array]:
        """The state of the independent joints, by what was measured; refused if it disagrees."""
        tolerance = self.doubts.agreement
        if self._joints is None:
            words = self._agreement.complaint(message, q, tolerance) if tolerance else ""
            if words:
                raise InputError(words)
            return q, v
        self._joints.update(q, v)
        name, apart = self._joints.worst()
        if tolerance and not abs(apart) <= tolerance:
            raise InputError(
                f"{name} is measured {abs(apart):.4g} from where the others put it: more than "
                f"agreement_tolerance ({tolerance:g})"
            )
        return self._joints.position[self._own], self._joints.velocity[self._own]

    def _of_driven_joints(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Those of the independent joints, which are measured here."""
        return q, v

    # ---- modes and targets ----------------------------------------------------------------

    @property
    def needs_states(self) -> str:
        """The part that needs measured joint states."""
        return self.control.mode

    @property
    def follows_what(self) -> str:
        """The kind of reference that the mode follows: joints, pose, or nothing."""
        return MODES[self.control.mode].follows

    @property
    def mode(self) -> str:
        """The mode that was asked for, also while a reaction has another one."""
        return self._asked if self.hit else self.control.mode

    def react_by(self, kind: str) -> None:
        """React to contacts from now on: "none", or a kind of `control.REACTIONS`."""
        now = "none" if self._reaction is None else self._reaction.kind
        if kind != now:
            self._end_reaction()
            self._reaction = None if kind == "none" else Reaction(self.control, kind)

    def _react(self, now: float, hit: Contact) -> None:
        assert self._reaction is not None
        self._asked, self.hit = self.control.mode, hit
        self._reaction.begin(now)

    def _end_reaction(self) -> None:
        if self.hit is not None and self._reaction is not None:
            self.hit = None
            self._reaction.end()
            self.control.switch(self._asked)

    def require_ready(self) -> None:
        """Raise `InputError` while the robot reacts to a contact."""
        if self.hit is not None:
            raise InputError(f"the robot reacts to a contact ({self.hit}); call ~/reset")

    def switch(self, mode: str, now: float) -> None:
        """Change the mode; what it follows is the present state until a reference comes.

        While that is not known, the mode waits for a reference, as after the start.
        """
        self._end_reaction()
        if self.measured.missing(now, self.conditions.state_timeout):
            self.control.switch(mode)
            self.drop()
            return
        self._read_state()
        self.control.switch(mode)
        self._target_came = now
        q = self.control.q.copy()
        self.playback.follow(Reference(np.zeros(1), q[None]), now)

    def require_states(self, now: float) -> None:
        """Raise `InputError` where the present state is unknown."""
        missing = self.measured.missing(now, self.conditions.state_timeout)
        if missing:
            raise InputError(f"{missing}, which every mode needs")

    def aim(self, place: Array, turn: Array, now: float) -> None:
        """Draw the link to a pose from now on.

        Raises
        ------
        InputError
            The mode does not follow one; the position of the robot is unknown; or the pose is far.
        """
        control, given = self.control, self.conditions
        self.require_ready()
        if self.follows_what != "pose":
            raise InputError(f"the mode is {control.mode}, which follows no target")
        self.require_states(now)
        tolerance = given.start_tolerance
        self._read_state()
        if self.idle_reason(now):
            control.capture()
        else:
            tolerance = tolerance and max(tolerance, given.following_tolerance)
        before = control.place.copy(), control.turn.copy()
        control.place[:], control.turn[:] = place, turn
        what, apart = control.farthest()
        if tolerance and not apart <= tolerance:
            control.place[:], control.turn[:] = before
            raise InputError(
                f"{what} is {apart:.4g} from the target: more than start_tolerance "
                f"({tolerance:g}). Lead it there in steps"
            )
        self._target_came = now

    def follows(self, now: float) -> bool:
        """Whether a reference of the joints is followed now."""
        return self.follows_what == "joints" and super().follows(now)

    def idle_reason(self, now: float) -> str:
        """Why the efforts must be zero now; empty where they need not."""
        reason, timeout = "", self.conditions.reference_timeout
        if self.hit is not None:
            reason = ""
        elif self.follows_what == "joints":
            reason = self.playback.idle_reason(now, timeout)
        elif self.follows_what == "pose":
            age = None if self._target_came is None else now - self._target_came
            if age is None or age > timeout:
                reason = NO_TARGET if age is None else f"the target came {age:.2f} s ago"
        missing = self.measured.missing(now, self.conditions.state_timeout)
        if missing and not reason:
            reason = f"{missing}, which {self.needs_states} needs"
        return reason

    def drop(self) -> None:
        """Follow nothing any more, and react no more."""
        self._end_reaction()
        super().drop()
        self._target_came = None

    def forget(self, reason: str) -> bool:
        """Know no joint states, no reference and no target any more; whether there was one.

        States before and after it are no jump: the time between is that of nobody's efforts.
        """
        self._drives = False
        aimed, self._target_came = self._target_came is not None, None
        return super().forget(reason) or (aimed and self.follows_what == "pose")

    # ---- efforts --------------------------------------------------------------------------

    def rest(self) -> Array:
        """Zeros, in `order`; the next efforts are whole at once."""
        if self._drives:
            self._feel_nothing()
        self._drives = False
        return self.control.rest()[self.order]

    def _feel_nothing(self) -> None:
        self.watch.observer.restart()
        self.control.external[:] = 0.0

    def efforts(self, now: float) -> Array:
        """Efforts in `order` (N m or N), clamped to the limits."""
        control, reaction = self.control, self._reaction
        self._read_state()
        if self.hit is None and self.follows_what == "joints":
            # Where it was wanted when that was measured: a state in transit is not an error.
            q, control.wanted_v[:], _ = self.playback.at(min(self.measured.sent, now))
            _, _, control.wanted_a[:] = self.playback.at(now)
            control.wanted_q[:] = control.q + self.measured.error(q)
        what, apart = control.farthest()
        tolerance = self.conditions.following_tolerance if self.hit is None else 0.0
        if tolerance and not apart <= tolerance:
            raise InputError(
                f"{what} is {apart:.4g} from where it is wanted: more than following_tolerance "
                f"({tolerance:g})"
            )
        efforts: Array = (control if reaction is None else reaction).cycle(now)[self.order]
        self._drives = True
        self._feel(now)
        return efforts

    def _feel(self, now: float) -> None:
        """Observe what acts from outside under these efforts, and react to a contact."""
        observer, control = self.watch.observer, self.control
        observer.q[:], observer.v[:] = control.q, control.v
        observer.effort[:] = control.effort
        control.external[:] = observer.cycle(self.measured.sent)
        hit = self.watch.look(now)
        if self._reaction is None or self.hit is not None:
            return
        if hit is not None:
            self._react(now, hit)
        elif not self.watch.touches:
            self._reaction.remember(now)

    def _read_state(self) -> None:
        self.control.q[:], self.control.v[:] = self.measured.position, self.measured.velocity

    def clamped(self) -> list[str]:
        """The efforts clamped since this was asked before, in words."""
        return self.control.saturated()


def stability(control: Controller, rate: float) -> tuple[str, str]:
    """The growth of the sampled loop in words, and a complaint where it is unstable.

    Parameters
    ----------
    control : of this thread alone.
    rate : Hz.
    """
    try:
        eigenvalues = control.eigenvalues(1 / rate)
    except InstabilityError as error:
        return "too large to be computed", str(error)
    except MbdynError as error:
        return f"not known: {error}", ""
    if not len(eigenvalues):
        return "none: nothing moves", ""
    largest = f"{abs(eigenvalues[0]):.6f} ({growth(eigenvalues, 1 / rate):+.3g} 1/s)"
    return largest, complaint(eigenvalues, 1 / rate)
