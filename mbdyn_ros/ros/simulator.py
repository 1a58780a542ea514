"""Node `simulator`: moves a robot by the efforts it is sent, and publishes its joint states.

Topics, services and parameters are listed in `docs/ros.md`.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import MarkerArray

from ..model.errors import InputError, MbdynError
from .base_pose import PosePublisher
from .conversions import Layout
from .description import LATCHED, Description, load_robot, one_line
from .diagnostics import Diagnostics, Health
from .inbox import Inbox
from .interfaces import service_types
from .markers import RobotMarkers
from .parameters import Parameters
from .process import run
from .rate_loop import RateLoop
from .session import Session
from .simulator_parameters import PARAMETERS

NAME = "simulator"

PROGRAMS = ("forward_dynamics", "inverse_dynamics", "mass_matrix", "energy")

MOST_MADE_UP = 50
"""Skipped steps that one tick makes up for; time beyond that is lost, and reported."""

POSE_RATE = 60.0
"""Hz, of odometry and transforms of what floats."""


class Simulator(Node):
    """Runs the simulation in a thread of its own; services and commands in the executor's."""

    def __init__(self, **options: Any) -> None:
        super().__init__(NAME, **options)
        self.parameters = Parameters(self, PARAMETERS)
        self.session: Session | None = None
        self.fault = ""
        self.paused = self.parameters["start_paused"]
        self._lock = threading.Lock()
        self._reloading: threading.Thread | None = None
        self._poses: PosePublisher | None = None
        self._steps = self._refused = 0
        self._refusal = ""
        self._seen_time = 0.0
        self._read_settings(self._settings())
        self._states = self.create_publisher(JointState, "joint_states", 10)
        self._clock_out: Any = None
        if self.parameters["publish_clock"]:
            self._clock_out = self.create_publisher(ClockMessage, "/clock", 10)
        self._clock_message = ClockMessage()
        self._markers_out = self.create_publisher(MarkerArray, "~/markers", LATCHED)
        priority = self.parameters["realtime_priority"]
        self._loop = RateLoop(
            self._tick, self._loop_rate, self._on_fault, "simulation", priority
        )
        self.description = Description(self, self.parameters, self._take)
        if self.description.source is not None:
            self._take(self.description.source)
        self.parameters.on_change(self._change)
        self._listen()
        self.diagnostics = Diagnostics(self, self._examine)
        self._loop.start()

    def stop(self) -> None:
        """End the threads; the last joint states show zero effort."""
        self._loop.stop()
        if self._reloading is not None:
            self._reloading.join()
        if self.session is not None and self.context.ok():
            self.session.still_message()
            self._publish_states(self.session)

    # ---- setting up -----------------------------------------------------------------------

    def _listen(self) -> None:
        self._arrays = Inbox(self, Float64MultiArray, "~/commands", QoSProfile(depth=1))
        self._named = Inbox(self, JointState, "~/effort_command", QoSProfile(depth=10))
        self.create_service(Trigger, "~/reset", self._on_reset)
        self.create_service(SetBool, "~/pause", self._on_pause)
        self.create_service(Trigger, "~/step", self._on_step)
        srv = service_types(self, "there is no service ~/set_state")
        if srv is not None:
            self.create_service(srv.SetState, "~/set_state", self._on_set_state)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        poses = self.create_timer(1 / POSE_RATE, self._publish_poses, clock=steady)
        self._slow_timers = [(poses, lambda: self._poses is not None and self._poses.needed)]
        if self.parameters["marker_rate"] > 0:
            period = 1 / self.parameters["marker_rate"]
            markers = self.create_timer(period, self._publish_markers, clock=steady)
            watched = self._markers_out.get_subscription_count
            self._slow_timers.append((markers, lambda: watched() > 0))
        self._switch_timers()

    def _switch_timers(self) -> None:
        """Run only the timers that somebody needs: each tick of one disturbs the loop."""
        for timer, needed in self._slow_timers:
            if not needed():
                timer.cancel()
            elif timer.is_canceled():
                timer.reset()

    def _take(self, source: str) -> None:
        """Load a robot and simulate it from its initial position."""
        session = self._new_session(source, self.parameters["gravity"])
        robot = session.robot
        if self._poses is not None:
            self._poses.destroy()
        poses = PosePublisher(self, robot)
        markers = RobotMarkers(robot, session.message.name, self.parameters["marker_scale"])
        with self._lock:
            self.session, self._poses, self._markers = session, poses, markers
            self.fault = ""
        if session.limits.without_effort:
            self.get_logger().warning(
                f'<limit effort="0"> of {", ".join(session.limits.without_effort)}: no effort '
                "reaches them unless enforce_effort_limits is false"
            )
        self.get_logger().info(
            f"simulating {robot.model.name} at {self._rate:g} Hz ({session.motion.method}): "
            f"efforts of {', '.join(session.commands.joints) or 'no joint'}"
        )

    def _new_session(self, source: str, gravity: list[float]) -> Session:
        parameters = self.parameters
        robot = load_robot(self, source, parameters["floating_base"], gravity, *PROGRAMS)
        initial = parameters["initial_joints"], parameters["initial_positions"]
        try:
            session = Session(
                robot, self._step, parameters["joints"], initial, parameters["frame_id"]
            )
        except InputError as error:
            raise InputError(f"parameter joints, initial_joints or initial_positions: {error}") \
                from None
        session.limits.enforced = parameters["enforce_effort_limits"]
        return session

    def _settings(self) -> dict[str, Any]:
        return {spec.name: self.parameters[spec.name] for spec in PARAMETERS}

    def _read_settings(self, values: Mapping[str, Any]) -> None:
        self._rate: float = values["rate"]
        self._substeps: int = values["substeps"]
        self._timeout: float = values["command_timeout"]
        self._loop_rate: float = self._rate * values["real_time_factor"]
        self._step = 1.0 / (self._rate * self._substeps)
        wanted = values["publish_rate"] or self._rate
        self._every = max(1, round(self._rate / wanted))

    # ---- the loop -------------------------------------------------------------------------

    def _tick(self, skipped: int) -> None:
        """Take a step, and those that skipped deadlines left out: simulated time keeps up."""
        with self._lock:
            session = self.session
            if session is None:
                return
            self._take_commands(session)
            steps = 1 + min(skipped, MOST_MADE_UP)
            if not (self.paused or self.fault):
                session.advance(time.perf_counter(), self._timeout, steps * self._substeps)
            due = (self._steps + steps) // self._every > self._steps // self._every
            self._steps += steps
            if due:
                if not self.fault:
                    session.fill_message()
                self._publish_states(session)

    def _stamp(self, session: Session) -> tuple[int, int]:
        """Simulated time where we make the clock, else the time of the world."""
        if self._clock_out is not None:
            return divmod(round(session.motion.time * 1e9), 1_000_000_000)
        return divmod(self.get_clock().now().nanoseconds, 1_000_000_000)

    def _publish_states(self, session: Session) -> None:
        stamp = session.message.header.stamp
        stamp.sec, stamp.nanosec = self._stamp(session)
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
        known = isinstance(error, MbdynError)
        text = one_line(error if known else f"{type(error).__name__}: {error}")
        with self._lock:
            first, self.fault = not self.fault, self.fault or text
            if self.session is not None:
                self.session.commands.clear()
                self.session.motion.effort[:] = 0.0
                self.session.still_message()
        if first:
            self.get_logger().error(f"stopped: {text}; call ~/reset to start again")

    # ---- commands and services ------------------------------------------------------------

    def _take_commands(self, session: Session) -> None:
        """Read the commands that came since the last tick; bad ones are refused."""
        now, commands = time.perf_counter(), session.commands
        for message in self._arrays:
            try:
                commands.set_array(message.data, now)
            except InputError as error:
                self._refuse(error)
        for message in self._named:
            try:
                commands.set_named(message.name, message.effort, now)
            except InputError as error:
                self._refuse(error)

    def _refuse(self, error: InputError) -> None:
        self._refused += 1
        self._refusal = one_line(error)
        self.get_logger().warning(
            f"refused a command: {self._refusal}", throttle_duration_sec=1.0
        )

    def _serve(self, response: Any, action: Callable[[Session], str]) -> Any:
        """Act under the lock; the response says what came of it."""
        try:
            with self._lock:
                if self.session is None:
                    raise InputError(self.description.missing)
                response.message = action(self.session)
            response.success = True
        except Exception as error:
            known = isinstance(error, MbdynError)
            response.success = False
            response.message = one_line(error if known else f"{type(error).__name__}: {error}")
        return response

    def _on_reset(self, request: Any, response: Any) -> Any:
        def reset(session: Session) -> str:
            session.reset()
            cleared, self.fault = self.fault, ""
            self._seen_time = 0.0
            return f"at the start again; cleared: {cleared}" if cleared else "at the start again"

        return self._serve(response, reset)

    def _on_pause(self, request: Any, response: Any) -> Any:
        def pause(session: Session) -> str:
            self.paused = request.data
            return f"{'paused' if self.paused else 'running'} at t = {session.motion.time:.6g} s"

        return self._serve(response, pause)

    def _on_step(self, request: Any, response: Any) -> Any:
        def step(session: Session) -> str:
            if not self.paused:
                raise InputError("the simulation runs: call ~/pause with data: true first")
            if self.fault:
                raise InputError(f"there is a fault, call ~/reset first: {self.fault}")
            session.advance(time.perf_counter(), self._timeout, self._substeps)
            return f"t = {session.motion.time:.6g} s"

        return self._serve(response, step)

    def _on_set_state(self, request: Any, response: Any) -> Any:
        def set_state(session: Session) -> str:
            layout = Layout(session.robot, request.name)
            q, v, _ = layout.state(request.position, request.velocity)
            session.motion.set_state(q, v)
            session.work = 0.0
            return "set"

        return self._serve(response, set_state)

    # ---- what is slow ---------------------------------------------------------------------

    def _publish_markers(self) -> None:
        if self.session is not None:
            self._markers_out.publish(self._markers.update(self.session.efforts()))

    def _publish_poses(self) -> None:
        session = self.session
        if session is None or self._poses is None or not self._poses.needed:
            return
        with self._lock:
            q, v = session.motion.q.copy(), session.motion.v.copy()
            stamp = self._stamp(session)
        if not self.fault:
            self._poses.publish(q, v, stamp)

    def _change(self, values: Mapping[str, Any]) -> str | None:
        """Apply parameters set while running; gravity takes effect when the robot is rebuilt."""
        self._read_settings({**self._settings(), **values})
        with self._lock:
            if self.session is not None:
                self.session.motion.step = self._step
                if "enforce_effort_limits" in values:
                    self.session.limits.enforced = values["enforce_effort_limits"]
        self._loop.rate = self._loop_rate
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
        with self._lock:
            if self.session is not None:
                session.motion.step = self._step
                session.adopt(self.session)
                self.session = session
        self.get_logger().info(f"gravity is {gravity} now")

    def _examine(self) -> Health:
        self._switch_timers()
        health = Health()
        report = self._loop.report()
        health.add_loop(report, self._loop_rate, self._loop.priority_refused)
        with self._lock:
            if self.fault:
                health.errors.append(self.fault)
            if self.session is None:
                health.warnings.append(self.description.missing)
            else:
                self._examine_session(self.session, health)
        if self._refusal:
            health.warnings.append(f"refused a command: {self._refusal}")
            self._refusal = ""
        health.values["refused commands"] = self._refused
        health.values["fault"] = self.fault or "none"
        return health

    def _examine_session(self, session: Session, health: Health) -> None:
        motion = session.motion
        stale = session.commands.stale(time.perf_counter(), self._timeout)
        clamped = session.limits.report()
        beyond = session.beyond_limits()
        if stale:
            health.warnings.append(
                f"no command for {self._timeout:g} s, zero effort: {', '.join(stale)}"
            )
        if clamped:
            health.warnings.append(f"clamped to <limit effort>: {', '.join(clamped)}")
        if beyond:
            health.warnings.append(f"beyond position limits, not enforced: {', '.join(beyond)}")
        elapsed, self._seen_time = motion.time - self._seen_time, motion.time
        if not self.fault:
            kinetic, potential = session.robot.energy(motion.q, motion.v)
            health.values["energy (J)"] = f"{kinetic + potential:.9g}"
        health.values.update(
            {
                "simulated time (s)": f"{motion.time:.3f}",
                "simulated time in the last second (s)": f"{elapsed:.3f}",
                "work of the efforts (J)": f"{session.work:.9g}",
                "method": motion.method,
                "paused": self.paused,
                "stale": ", ".join(stale) or "none",
                "clamped": ", ".join(clamped) or "none",
            }
        )


def main(args: list[str] | None = None) -> int:
    """Run the node."""
    return run(Simulator, NAME, args)


if __name__ == "__main__":
    sys.exit(main())
