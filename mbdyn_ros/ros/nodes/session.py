"""A simulated robot and all that belongs to it: state, commands, limits, the message it fills."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from geometry_msgs.msg import WrenchStamped

from ...arguments import WRENCH_LABELS, require_link
from ...array import places, shared_places
from ...errors import InputError, MbdynError, ModelError, SimulationError
from ...model.model import Array
from ...prepare.coordinates import scalar_motions
from ...robot import Robot
from ...simulation.actuation import SteppedActuation
from ...simulation.contact.environment import Environment, with_stops, without_stops
from ...simulation.contact.environment_file import read_environment
from ...simulation.effort import ExternalWrenches, effort_work
from ...simulation.stepped.prepared_stepper import PreparedStepper
from ...simulation.stepped.servo import Following
from ...units import velocity_unit
from ..messages.joint_commands import JointCommands
from ..messages.joint_state_bytes import JointStateBytes
from ..messages.limits import EffortLimits
from ..messages.named_numbers import partial_position, require_reasonable
from ..node.parameters import Parameters
from .path_motion import PathMotion

LIMIT_ROUNDING = 1e-9
"""rad or m by which a position may be beyond its limit without a warning."""

FASTEST_TURN = math.pi
"""rad that a joint may turn in one step: beyond, its direction is ambiguous."""

FASTEST_SLIDE = 1e5
"""m/s that a joint may slide: ten times what leaves the earth."""


class Pushes:
    """The wrenches that act on the links of a robot now, by the last message for each link."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._sent: dict[str, tuple[float, Array]] = {}
        self._outside = ExternalWrenches(robot, lambda time: self.acting)

    def take(self, message: WrenchStamped, until: float) -> None:
        """Let a wrench act up to a time (s).

        Raises
        ------
        InputError
            No such link, or a number that is not finite or is absurdly large.
        """
        link = message.header.frame_id
        if not link:
            raise InputError("the wrench names no link: write it into header.frame_id")
        require_link(self._robot.system.tree, link, self._robot.model.source)
        force, torque = message.wrench.force, message.wrench.torque
        wrench = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])
        require_reasonable(f"the wrench on {link}", wrench, WRENCH_LABELS)
        self._sent[link] = until, wrench

    def take_over(self, other: Pushes) -> None:
        """Let what pushes the links of another robot push those of the same names."""
        known = {link.name for link in self._robot.model.links}
        self._sent = {link: one for link, one in other._sent.items() if link in known}

    def clear(self) -> None:
        """Remove all external wrenches."""
        self._sent.clear()

    def efforts(self, now: float, q: Array) -> Array | None:
        """Efforts (n,) of the actuated joints that do the same; None where nothing pushes."""
        if not self._sent:
            return None
        self._sent = {link: one for link, one in self._sent.items() if now < one[0]}
        return self._outside.efforts(now, q) if self._sent else None

    @property
    def acting(self) -> dict[str, Array]:
        """The wrenches (6,) by link, since `efforts` was last asked for."""
        return {link: wrench for link, (_, wrench) in self._sent.items()}


@dataclass(frozen=True)
class Settings:
    """Rates and steps of the loop.

    rate : steps per simulated second, Hz; `loop_rate` per second of the world.
    step : of the integration, s; `substeps` of them in one step.
    timeout : of commands, s. unchanged : how long they may stay the same, s; 0: ever.
    hold_at_start : whether joints keep their first position until they are commanded.
    servo_frequency : of joints that follow positions or velocities, Hz.
    every : how many steps for one message of joint states.
    """

    rate: float
    loop_rate: float
    step: float
    substeps: int
    timeout: float
    unchanged: float
    hold_at_start: bool
    servo_frequency: float
    every: int

    @staticmethod
    def read(values: Parameters) -> Settings:
        """The settings for the values of the parameters."""
        rate, substeps = values["rate"], values["substeps"]
        return Settings(
            rate=rate,
            loop_rate=rate * values["real_time_factor"],
            step=1.0 / (rate * substeps),
            substeps=substeps,
            timeout=values["command_timeout"],
            unchanged=values["unchanged_timeout"],
            hold_at_start=values["hold_at_start"],
            servo_frequency=values["servo_frequency"],
            every=max(1, round(rate / (values["publish_rate"] or rate))),
        )


class Session:
    """One robot under simulation.

    Parameters
    ----------
    robot : the robot.
    settings : of the loop. joints : order of arrays of commands, see `JointCommands`.
    initial : joints and positions (rad or m) at the start; others as at home.
    frame : frame_id of the joint states; empty for the root link.
    environment : walls that points of the robot hit.
    joint_limits : whether the position limits that hold at the start are stops.
    members : links by the name of what they are parts of, its root first; default: the robot.

    Attributes
    ----------
    driven : of the robots of a world, by name, the joints that are commanded.
    motion, following, commands, limits : as the names say. pushes : forces from outside.
    actuators : what gives joints their efforts by commands, if the robot has any.
    message : joint states of all `scalar_motions`, filled by `fill_message`.
    actuator_states : message of what `actuators` have in them.
    path : what joints follow from point to point; None where nothing is.
    work : of the efforts and pushes since the start, J.
    refusal : why the robot cannot start where it should; empty where it can.
    """

    def __init__(
        self,
        robot: Robot,
        settings: Settings,
        joints: Sequence[str] = (),
        initial: tuple[Sequence[str], Sequence[float]] = ((), ()),
        frame: str = "",
        environment: Environment | None = None,
        joint_limits: bool = True,
        members: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.robot = robot
        model = robot.model
        links = [model.root, *(link.name for link in model.links if link.name != model.root)]
        self.members = {model.name: links} if members is None else members
        self.driven = {} if members is None else _driven(robot, members)
        self.initial = partial_position(robot, *initial, robot.home_position)
        if joint_limits:
            environment = with_stops(robot, self.initial, environment)
        else:
            environment = without_stops(environment)
        self.commands = JointCommands(robot, joints)
        self.limits = EffortLimits(robot)
        self.pushes = Pushes(robot)
        self.actuators: SteppedActuation | None = None
        if robot.model.actuators:
            self.actuators = SteppedActuation(robot)
            self.commands.drive_by(self.actuators.largest)
        self.motion = PreparedStepper(robot, settings.step, environment=environment)
        self.following = Following(robot, self.motion, settings.servo_frequency)
        self.work = 0.0
        self.path: PathMotion | None = None
        self._held = settings.hold_at_start
        blocks = robot.system.coordinates.joint_blocks
        names, *rows = scalar_motions(blocks)
        self._rows_q, self._rows_v = (places(one) for one in rows)
        frame = frame or robot.model.root
        self.message = JointStateBytes(names, frame)
        if self.actuators is not None:
            labels = list(self.actuators.labels)
            self.actuator_states = JointStateBytes(labels, frame, velocity=False, effort=False)
        self._driven, self._columns = shared_places(names, robot.effort_labels)
        self._work_of = effort_work(robot)
        self.refusal = ""
        try:
            self.reset()
        except SimulationError as error:
            self.refusal = str(error)
            self.fill_message()

    def reset(self) -> None:
        """Back to the start, at rest, without commands.

        Raises
        ------
        SimulationError
            A point would be inside a wall.
        """
        self.set_state(self.initial, self.robot.home_velocity)
        self.motion.time = 0.0
        self.motion.effort[:] = 0.0
        self.commands.clear()
        self.pushes.clear()
        if self.path is not None:
            self.path.outcome, self.path = "the simulation was reset", None
        if self._held:
            places = np.flatnonzero(self.commands.can_follow).tolist()
            start = self.motion.joint_position[self.following.places[places]]
            self.commands.hold(places, start.tolist())
        self.fill_message()

    def require_slow(self, v: Array) -> None:
        """Refuse velocities that no step can follow.

        Raises
        ------
        InputError
            The joint, its velocity, and what helps.
        """
        step = self.motion.step
        for label, speed in zip(self.robot.velocity_labels, v.tolist(), strict=True):
            unit = velocity_unit(self.robot.model, label)
            slides = unit == "m/s"
            most = FASTEST_SLIDE if slides else FASTEST_TURN / step
            if abs(speed) > most:
                help = "" if slides else f", half a turn in a step of {step:g} s: raise substeps"
                raise InputError(
                    f"velocity of {label} is {speed:.6g} {unit}, more than {most:.6g}{help}"
                )

    def set_state(self, q: Array, v: Array) -> None:
        """Put the robot somewhere; work and losses count from here."""
        self.motion.set_state(q, v)
        self.motion.forget_losses()
        self.following.forget()
        if self.actuators is not None:
            self.actuators.rest(self.robot, q)
        self.work, self.refusal = 0.0, ""

    def prepare_for(self, other: Session) -> None:
        """Do the slow part of `adopt` ahead of it."""
        self.motion.prepare_for(other.motion)

    def adopt(self, other: Session) -> None:
        """Go on from the state of a session of the same joints."""
        if not other.refusal:
            self.motion.adopt(other.motion)
            self.work, self.refusal = other.work, ""
        self.commands, self.initial = other.commands, other.initial
        self.actuators = other.actuators
        self.limits.enforced = other.limits.enforced
        self.fill_message()

    def take_members(self, other: Session) -> None:
        """Go on from the state of a session in which other members came or went.

        Raises
        ------
        SimulationError
            What came is inside of something.
        """
        state = []
        for mine, theirs, start, now in (
            (self.robot.position_labels, other.robot.position_labels, self.initial, other.motion.q),
            (self.robot.velocity_labels, other.robot.velocity_labels, None, other.motion.v),
        ):
            numbers = np.zeros(len(mine)) if start is None else start.copy()
            here, there = shared_places(mine, theirs)
            numbers[here] = now[there]
            state.append(numbers)
        self.set_state(state[0], state[1])
        self.motion.time, self.work = other.motion.time, other.work
        self.commands.take_over(other.commands)
        self.pushes.take_over(other.pushes)
        if self.actuators is not None and other.actuators is not None:
            self.actuators.take_over(other.actuators)
        if other.path is not None:
            other.path.end("the world was changed")
        self.limits.enforced = other.limits.enforced
        self.fill_message()

    def close(self) -> None:
        """End what runs in the background."""
        self.motion.close()

    def use(self, settings: Settings) -> None:
        """Go on with other settings of the loop."""
        self.motion.step = settings.step
        self.following.servo.frequency = settings.servo_frequency

    def advance(self, now: float, settings: Settings, substeps: int = 1) -> None:
        """Move on by `substeps` steps from the time `now` on, under its commands."""
        if self.actuators is None and not self.commands.follow:
            self._go_on(now, settings, substeps)
            return
        for k in range(substeps):  # their forces change from step to step
            self._go_on(now + k * self.motion.step, settings, 1)

    def _go_on(self, now: float, settings: Settings, substeps: int) -> None:
        motion, commands = self.motion, self.commands
        commands.write(motion.effort, now, settings.timeout, settings.unchanged)
        if commands.follow and not self.following.ready:
            return  # time stands still until what it takes to follow is compiled
        if self.path is not None:
            self.path.fill(commands.targets)
        self.following.drive(motion.effort, commands.targets, self.limits.held_to)
        self.limits.clamp(motion.effort)
        if self.actuators is not None and motion.ready:
            state = motion.joint_position, motion.joint_velocity
            self.actuators.drive(motion.effort, *state, motion.step)
        before = motion.joint_position.copy()
        outside = self.pushes.efforts(now, motion.q)
        if outside is not None:
            motion.effort += outside
        for _ in range(substeps):
            if not motion.ready:
                break  # time stands still until equations in other coordinates are compiled
            motion.advance()
        if self.path is not None and not self.path.watch():
            self.path = None
        # Efforts, and pushes, are constant meanwhile.
        self.work += self._work_of(motion.effort, motion.joint_position - before)
        if outside is not None:
            motion.effort -= outside

    def force_torque(self, joint: str) -> Array:
        """Reading (6,) of a sensor in a joint, mean over the last step; see `ForceTorque`."""
        return self.motion.force_torque(joint, self.pushes.acting)

    def fill_message(self) -> None:
        """Write the state into `message`, except for the stamp."""
        motion, message = self.motion, self.message
        message.position[:] = motion.joint_position[self._rows_q]
        message.velocity[:] = motion.joint_velocity[self._rows_v]
        message.effort[self._driven] = motion.effort[self._columns]

    def still_message(self) -> None:
        """Show the last good state, at rest and without effort."""
        self.message.velocity[:] = self.message.effort[:] = 0.0

    def efforts(self) -> Array:
        """Efforts of `message` (n,), by its names."""
        return self.message.effort

    def beyond_limits(self) -> list[str]:
        """Joints outside the position limits of the description, which then do not act as stops."""
        joints = [self.robot.model.joint(name.partition("/")[0]) for name in self.message.name]
        return [
            name
            for name, joint, q in zip(
                self.message.name, joints, self.message.position.tolist(), strict=True
            )
            if not joint.kind.is_endless
            and not joint.limits.lower - LIMIT_ROUNDING <= q <= joint.limits.upper + LIMIT_ROUNDING
        ]


def _driven(robot: Robot, members: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Actuated joints of every member that has some, without that which frees it."""
    below = {joint.child: joint.name for joint in robot.model.joints}
    found = {}
    for name, links in members.items():
        own = {below[link] for link in links[1:] if link in below}
        joints = tuple(joint for joint in robot.actuated_joints if joint in own)
        if joints:
            found[name] = joints
    return found


def walls_of(robot: Robot, source: str) -> Environment | None:
    """The environment that the parameter `environment` names, or holds; None where it is empty.

    Raises
    ------
    ModelError
        It cannot be read, or does not fit the robot.
    """
    if not source:
        return None
    try:
        environment = read_environment(source)
        environment.contact_points(robot)
    except MbdynError as error:
        raise ModelError(f"parameter environment: {error}") from None
    return environment
