"""Node `simulator`: moves a robot by the efforts it is sent, and publishes its joint states.

Topics, services and parameters are listed in `docs/ros.md`.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ...errors import InputError
from ..node.description import Description, load_robot, one_line
from ..node.diagnostics import Diagnostics, Health
from ..node.inbox import Inbox
from ..node.parameters import Parameters
from ..node.process import run
from ..node.rate_loop import RateLoop
from ..node.refusals import Refusals, in_words
from .session import Session
from .simulator_health import SessionHealth
from .simulator_parameters import PARAMETERS, Settings
from .simulator_services import SimulatorServices
from .simulator_views import SimulatorViews
from .walls import walls_of

NAME = "simulator"

PROGRAMS = ("forward_dynamics", "mass_matrix", "energy", "joint_position", "joint_velocity")

MOST_MADE_UP = 50
"""Skipped steps that one tick makes up for; time beyond that is lost, and reported."""


class Simulator(Node):
    """Runs the simulation in a thread of its own; services and commands in the executor's."""

    def __init__(self, **options: Any) -> None:
        super().__init__(NAME, **options)
        self.parameters = Parameters(self, PARAMETERS)
        self.session: Session | None = None
        self.fault = ""
        self.paused = self.parameters["start_paused"]
        self.lock = threading.Lock()
        self._reloading: threading.Thread | None = None
        self._steps = 0
        self.refusals = Refusals(self, "command")
        self.settings = Settings.read(self._values())
        self._states = self.create_publisher(JointState, "joint_states", 10)
        self._clock_out: Any = None
        if self.parameters["publish_clock"]:
            self._clock_out = self.create_publisher(ClockMessage, "/clock", 10)
        self._clock_message = ClockMessage()
        self._views = SimulatorViews(self)
        self._session_health = SessionHealth()
        priority = self.parameters["realtime_priority"]
        self._loop = RateLoop(
            self._tick, self.settings.loop_rate, self._on_fault, "simulation", priority
        )
        self.description = Description(self, self.parameters, self._take)
        if self.description.source is not None:
            self._take(self.description.source)
        self.parameters.on_change(self._change)
        self._arrays = Inbox(self, Float64MultiArray, "~/commands", QoSProfile(depth=1))
        self._named = Inbox(self, JointState, "~/effort_command", QoSProfile(depth=10))
        self.services_offered = SimulatorServices(self)
        self.diagnostics = Diagnostics(self, self._examine)
        self._loop.start()

    def stop(self) -> None:
        """End the threads; the last joint states show zero effort."""
        self._loop.stop()
        if self._reloading is not None:
            self._reloading.join()
        if self.session is not None:
            self.session.close()
        if self.session is not None and self.context.ok():
            self.session.still_message()
            self._publish_states(self.session)

    # ---- setting up -----------------------------------------------------------------------

    def _take(self, source: str) -> None:
        """Load a robot and simulate it from its initial position; wait where that is a wall."""
        session = self._new_session(source, self.parameters["gravity"])
        robot = session.robot
        with self.lock:
            old, self.session = self.session, session
            self._views.end_impacts()
            self.fault = one_line(session.refusal)
        if old is not None:
            old.close()
        self._views.show(robot, session.message.name)
        if session.refusal:
            self.get_logger().error(
                f"waiting: {one_line(session.refusal)}; call ~/set_state or ~/reset"
            )
        if session.limits.without_effort:
            self.get_logger().warning(
                f'<limit effort="0"> of {", ".join(session.limits.without_effort)}: no effort '
                "reaches them unless enforce_effort_limits is false"
            )
        joints = ", ".join(session.commands.joints) or "no joint"
        self.get_logger().info(
            f"simulating {robot.model.name} at {self.settings.rate:g} Hz by "
            f"{session.motion.method}: efforts of {joints}"
        )

    def _new_session(self, source: str, gravity: list[float]) -> Session:
        parameters = self.parameters
        robot = load_robot(
            self, parameters, source, gravity, *PROGRAMS,
            floating_base=parameters["floating_base"],
        )  # fmt: skip
        initial = parameters["initial_joints"], parameters["initial_positions"]
        environment = walls_of(robot, parameters["environment"])
        try:
            session = Session(
                robot, self.settings.step, parameters["joints"], initial, parameters["frame_id"],
                environment,
            )  # fmt: skip
        except InputError as error:
            raise InputError(
                f"parameter joints, initial_joints, initial_positions or environment: {error}"
            ) from None
        session.limits.enforced = parameters["enforce_effort_limits"]
        return session

    def _values(self) -> dict[str, Any]:
        return {spec.name: self.parameters[spec.name] for spec in PARAMETERS}

    # ---- the loop -------------------------------------------------------------------------

    def _tick(self, skipped: int) -> None:
        """Take a step, and those that skipped deadlines left out: simulated time keeps up."""
        with self.lock:
            session, settings = self.session, self.settings
            if session is None:
                return
            self._take_commands(session)
            steps = 1 + min(skipped, MOST_MADE_UP)
            if not (self.paused or self.fault):
                now = time.perf_counter()
                session.advance(now, settings.timeout, steps * settings.substeps)
            if self._views.impacts is not None:
                self._views.impacts.publish(session, self.stamp(session))
            due = (self._steps + steps) // settings.every > self._steps // settings.every
            self._steps += steps
            if due:
                if not self.fault:
                    session.fill_message()
                self._publish_states(session)

    def stamp(self, session: Session) -> tuple[int, int]:
        """Simulated time where we make the clock, else the time of the world."""
        if self._clock_out is not None:
            return divmod(round(session.motion.time * 1e9), 1_000_000_000)
        return divmod(self.get_clock().now().nanoseconds, 1_000_000_000)

    def _publish_states(self, session: Session) -> None:
        stamp = session.message.header.stamp
        stamp.sec, stamp.nanosec = self.stamp(session)
        if self._clock_out is not None:
            clock = self._clock_message.clock
            clock.sec, clock.nanosec = stamp.sec, stamp.nanosec
            self._clock_out.publish(self._clock_message)
        if session.message.name:
            self._states.publish(session.message)

    def _on_fault(self, error: Exception) -> None:
        """Stop moving, with zero effort, until ~/reset."""
        if not self.context.ok():
            return
        text = in_words(error)
        with self.lock:
            first, self.fault = not self.fault, self.fault or text
            if self.session is not None:
                self.session.commands.clear()
                self.session.motion.effort[:] = 0.0
                self.session.still_message()
        if first:
            self.get_logger().error(f"stopped: {text}; call ~/reset to start again")

    # ---- commands -------------------------------------------------------------------------

    def _take_commands(self, session: Session) -> None:
        """Read the commands that came since the last tick; bad ones are refused."""
        now, commands = time.perf_counter(), session.commands
        for message in self._arrays:
            try:
                commands.set_array(message.data, now)
            except InputError as error:
                self.refusals.add(error)
        for message in self._named:
            try:
                commands.set_named(message.name, message.effort, now)
            except InputError as error:
                self.refusals.add(error)

    # ---- changes and diagnostics ----------------------------------------------------------

    def _change(self, values: Mapping[str, Any]) -> str | None:
        """Apply parameters set while running; gravity takes effect when the robot is rebuilt."""
        self.settings = Settings.read({**self._values(), **values})
        with self.lock:
            if self.session is not None:
                self.session.motion.step = self.settings.step
                if "enforce_effort_limits" in values:
                    self.session.limits.enforced = values["enforce_effort_limits"]
        self._loop.rate = self.settings.loop_rate
        if "gravity" in values and self.session is not None:
            if self._reloading is not None:
                self._reloading.join()
            self._reloading = threading.Thread(
                target=self._reload, args=(values["gravity"],), name="reload"
            )
            self._reloading.start()
        return None

    def _reload(self, gravity: list[float]) -> None:
        """Build the robot with another gravity and go on with it from the present state."""
        assert self.description.source is not None
        try:
            session = self._new_session(self.description.source, gravity)
        except Exception as error:
            self.get_logger().error(f"gravity stays as it was: {one_line(error)}")
            return
        old = self.session
        if old is None:
            return
        session.prepare_for(old)
        with self.lock:
            session.motion.step = self.settings.step
            session.adopt(old)
            self.session = session
        old.close()
        self.get_logger().info(f"gravity is {gravity} now")

    def _examine(self) -> Health:
        self._views.switch_timers()
        health = Health()
        health.add_loop(self._loop.report(), self._loop.rate, self._loop.priority_refused)
        with self.lock:
            if self.fault:
                health.errors.append(self.fault)
            if self.session is not None:
                self._session_health.add(self.session, self.settings.timeout, health)
        if self.session is None:
            health.warnings.append(self.description.missing)
        elif self.description.refusal:
            health.warnings.append(self.description.refusal)
        self.refusals.report(health)
        health.values["paused"] = self.paused
        health.values["fault"] = self.fault or "none"
        return health


def main(args: list[str] | None = None) -> int:
    """Run the node."""
    return run(Simulator, NAME, args)


if __name__ == "__main__":
    sys.exit(main())
