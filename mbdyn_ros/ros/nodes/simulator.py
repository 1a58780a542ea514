"""Node `simulator`: moves a robot by the efforts it is sent, and publishes its joint states.

`docs/ros.md` explains its topics and services.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from ...errors import InputError, MbdynError
from ...robot import Robot
from ...simulation.world import World
from ..messages.conversions import fill_time, sec_and_nanosec
from ..messages.layout import Layout
from ..node.health import Health
from ..node.interfaces import service_types
from ..node.process import run
from ..node.refusals import in_words, one_line
from .command_inboxes import CommandInboxes
from .parameters import SIMULATOR
from .session import Session, Settings, walls_of
from .simulation_node import SimulationNode
from .simulator_reports import ForceTorqueReports, ImuReports, SimulatorViews
from .standard_services import StandardServices
from .trajectory_action import TrajectoryAction

MOST_MADE_UP = 50
"""Skipped steps that one tick makes up for; time beyond that is lost, and reported."""


class SessionHealth:
    """Examines a simulated robot, once a second."""

    def __init__(self) -> None:
        self._seen = 0.0

    def add(self, session: Session, now: float, timeout: float, health: Health) -> None:
        """Add stale commands, clamped joints, joints beyond their limits, time and energy."""
        motion = session.motion
        stale = session.commands.stale(now, timeout)
        contested = session.commands.contested()
        clamped = session.limits.report()
        beyond = session.beyond_limits()
        if stale:
            health.warnings.append(f"no command for {timeout:g} s, zero effort: {', '.join(stale)}")
        if contested:
            health.warnings.append(f"several nodes command in turns: {', '.join(contested)}")
        if clamped:
            health.warnings.append(f"clamped to <limit effort>: {', '.join(clamped)}")
        weak = session.following.saturated()
        if weak:
            health.warnings.append(f"at <limit effort>, does not follow: {', '.join(weak)}")
        sent_beyond = session.commands.beyond()
        if sent_beyond:
            health.warnings.append(f"commanded beyond limits, held there: {', '.join(sent_beyond)}")
        if session.commands.follow and not session.following.ready:
            health.warnings.append("simulated time is halted: compiling the servos")
        if beyond:
            health.warnings.append(f"beyond position limits, no stops now: {', '.join(beyond)}")
        if not motion.ready:
            health.warnings.append("simulated time is halted: compiling past a dead centre")
        if motion.changes:
            health.warnings.append(motion.changes[-1])
            motion.changes.clear()
        elapsed, self._seen = motion.time - self._seen, motion.time
        try:
            energy = sum(motion.chart.energy(*motion.chart_state))
            health.values["energy (J)"] = f"{float(energy):.9g}"
        except MbdynError as error:  # after a fault, or just before one
            health.values["energy (J)"] = f"not known: {in_words(error)}"
        health.values.update(
            {
                "simulated time (s)": f"{motion.time:.3f}",
                "simulated time in the last second (s)": f"{max(elapsed, 0.0):.3f}",
                "work of the efforts (J)": f"{session.work:.9g}",
                "lost in impacts and at walls (J)": f"{motion.lost:.9g}",
                "method": motion.method,
                "coordinates": ", ".join(motion.coordinates) or "none",
                "stale": ", ".join(stale) or "none",
                "clamped": ", ".join(clamped) or "none",
            }
        )


class SimulatorServices:
    """Reset, pause, step and set the state of a simulator, between two of its ticks."""

    def __init__(self, simulator: SimulationNode) -> None:
        self._simulator = simulator
        srv = service_types(simulator, "there is no service ~/set_state")
        for name, kind, action in (
            ("reset", Trigger, self._reset),
            ("pause", SetBool, self._pause),
            ("step", Trigger, self._step),
            ("set_state", srv and srv.SetState, self._set_state),
        ):
            if kind is not None:
                simulator.offer(name, kind, partial(self._act, action))

    def _act(self, action: Callable[[Session, Any], str], request: Any) -> str:
        return action(self._simulator.require(self._simulator.session), request)

    def _reset(self, session: Session, request: Any) -> str:
        cleared = self._simulator.start_again(session)
        return f"at the start again; cleared: {cleared}" if cleared else "at the start again"

    def _pause(self, session: Session, request: Any) -> str:
        self._simulator.paused = self._simulator.held = request.data
        return f"{'paused' if request.data else 'running'} at t = {session.motion.time:.6g} s"

    def _step(self, session: Session, request: Any) -> str:
        simulator = self._simulator
        if not simulator.paused:
            raise InputError("the simulation runs: call ~/pause with data: true first")
        if simulator.fault:
            raise InputError(f"there is a fault, call ~/reset first: {simulator.fault}")
        settings = simulator.settings
        session.advance(simulator.time(), settings, settings.substeps)
        return f"t = {session.motion.time:.6g} s"

    def _set_state(self, session: Session, request: Any) -> str:
        layout = Layout(session.robot, request.name)
        q, v, _ = layout.state(request.position, request.velocity)
        session.require_slow(v)
        refused = one_line(session.refusal)
        session.set_state(q, v)
        if refused and refused == self._simulator.fault:
            self._simulator.clear_fault()
        return "set"


class Simulator(SimulationNode):
    """Runs the simulation in a thread of its own; services and commands in the executor's."""

    NAME = "simulator"
    PARAMETERS = SIMULATOR
    PROGRAMS = ("forward_dynamics", "mass_matrix", "energy", "joint_position", "joint_velocity")
    LOOP = "simulation"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._reloading: threading.Thread | None = None
        self._steps = 0
        self._states = self.sole(JointState, "joint_states")
        self._pressures = self.create_publisher(JointState, "~/actuator_states", 10)
        self._clock_message = ClockMessage()
        self._views = SimulatorViews(self)
        self._sensors: list[ImuReports | ForceTorqueReports] = []
        self._session_health = SessionHealth()
        self.begin()

    def open_inputs(self) -> None:
        """Commands and services."""
        self.inboxes = CommandInboxes(self)
        if self.session is not None:
            self.inboxes.serve(self.session)
        self.services_offered = SimulatorServices(self)
        self.trajectories = TrajectoryAction(self)
        self.standards = StandardServices(self)

    def last_words(self) -> None:
        """The last joint states show zero effort."""
        if self.session is not None and self.context.ok():
            self.session.still_message()
            self._publish_states(self.session, self.stamp(self.session))

    def stop(self) -> None:
        """End the threads."""
        super().stop()
        self.trajectories.close()
        self.standards.close()
        if self._reloading is not None:
            self._reloading.join()
        if self.session is not None:
            self.session.close()

    # ---- robots ---------------------------------------------------------------------------

    def on_robot(self, robot: Robot) -> None:
        """Simulate it from its initial position; wait where that is a wall."""
        session = self._new_session(robot, self.world)
        self._go_on_with(session)
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
        self.announce(
            f"simulating {robot.model.name} at {self.settings.rate:g} Hz by "
            f"{session.motion.method}: efforts of {joints}"
        )

    def replace(self, world: World, robot: Robot) -> Callable[[], None]:
        """Prepare another world, whose robot this is; what is returned goes on in it, or raises."""
        session = self._new_session(robot, world)

        def go_on() -> None:
            self._go_on_with(session, self.session)
            self.world = world

        return go_on

    def _go_on_with(self, session: Session, before: Session | None = None) -> None:
        """Simulate in another session, from its start or from the state of one before."""
        robot = session.robot
        sensors: list[ImuReports | ForceTorqueReports] = [
            ImuReports(self, robot, self.parameters["imu_links"]),
            ForceTorqueReports(self, session, self.parameters["force_torque_joints"]),
        ]
        with self.lock:
            if before is not None:
                session.use(self.settings)
                session.take_members(before)
                self.inboxes.serve(session)
            old, self.session = self.session, session
            self._sensors, old_sensors = sensors, self._sensors
            self._views.end_impacts()
            if before is None or self.fault == one_line(before.refusal):
                self.fault = one_line(session.refusal)
        for one in old_sensors:
            one.destroy()
        if old is not None:
            old.close()
        self._views.show(robot, session.message.name)

    def _new_session(self, robot: Robot, world: World | None) -> Session:
        parameters, members = self.parameters, None
        initial = parameters["initial_joints"], parameters["initial_positions"]
        if world is None:
            environment = walls_of(robot, parameters["environment"])
        else:
            environment = world.environment
            members = {name: one.links for name, one in world.members.items()}
        try:
            with self.logged_warnings():
                session = Session(
                    robot, self.settings, parameters["joints"], initial, parameters["frame_id"],
                    environment, parameters["joint_limits"], members,
                )  # fmt: skip
        except InputError as error:
            raise InputError(
                f"parameter joints, initial_joints, initial_positions or environment: {error}"
            ) from None
        session.limits.enforced = parameters["enforce_effort_limits"]
        return session

    # ---- the loop -------------------------------------------------------------------------

    def loop_rate(self) -> float:
        """Steps per second of the world, Hz."""
        return self.settings.loop_rate

    def tick(self, now: float, skipped: int) -> None:
        """Take a step, and those that skipped deadlines left out: simulated time keeps up."""
        session, settings = self.session, self.settings
        if session is None:
            return
        steps = 1 + min(skipped, MOST_MADE_UP)
        # A clock of ours goes on from now; by the world's, steps end now, and so say the stamps.
        begin = now if self.makes_clock else now - steps / settings.loop_rate
        stamp = self.stamp(session, now)
        self.inboxes.take(session, now, begin)
        if not (self.paused or self.fault):
            session.advance(begin, settings, steps * settings.substeps)
        if self.makes_clock:
            stamp = self.stamp(session)
        if self._views.impacts is not None:
            self._views.impacts.publish(session, stamp)
        due = (self._steps + steps) // settings.every > self._steps // settings.every
        self._steps += steps
        if due:
            if not self.fault:
                session.fill_message()
                for one in self._sensors:
                    one.publish(session, stamp)
                if self._views.impacts is not None:
                    self._views.impacts.publish_held(session, stamp)
            self._publish_states(session, stamp)

    def on_clock_jump(self, reason: str) -> None:
        """Forget the commands of before."""
        if self.session is not None:
            self.session.commands.clear()

    def _publish_states(self, session: Session, stamp: int) -> None:
        """Send the joint states and, where we make it, the clock; `stamp` in ns."""
        when = sec_and_nanosec(stamp)
        if self._clock_out is not None:
            fill_time(self._clock_message.clock, stamp)
            self._clock_out.publish(self._clock_message)
        if session.message.name:
            self._states.publish(session.message.stamped(*when))
        if session.actuators is not None:
            session.actuator_states.position[:] = session.actuators.values
            self._pressures.publish(session.actuator_states.stamped(*when))

    def on_fault(self) -> None:
        """Stand still, with zero effort."""
        if self.session is not None:
            self.session.commands.clear()
            self.session.pushes.clear()
            self.session.path = None
            self.session.motion.effort[:] = 0.0
            self.session.still_message()

    # ---- changes and diagnostics ----------------------------------------------------------

    def on_parameters(self, names: Collection[str]) -> None:
        """Apply new settings; gravity takes effect when the robot is rebuilt."""
        self.settings = Settings.read(self.parameters)
        if self.session is None:
            return
        with self.lock:
            self.session.use(self.settings)
            self.session.limits.enforced = self.parameters["enforce_effort_limits"]
        if "gravity" in names:
            before = self._reloading
            self._reloading = threading.Thread(target=self._reload, args=[before], name="reload")
            self._reloading.start()

    def _reload(self, before: threading.Thread | None) -> None:
        """Build the robot with another gravity and go on with it from the present state.

        before : a thread that does the same with an earlier one. What is being spawned comes first.
        """
        if before is not None:
            before.join()
        with self.changing:
            self._go_on_with_gravity()

    def _go_on_with_gravity(self) -> None:
        assert self.description.source is not None
        gravity = self.parameters["gravity"]
        try:
            session = self._new_session(self.load(self.description.source), self.world)
        except Exception as error:
            self.get_logger().error(f"gravity is unchanged: {one_line(error)}")
            return
        old = self.session
        if old is None:
            return
        session.prepare_for(old)
        with self.lock:
            session.use(self.settings)
            session.adopt(old)
            self.session = session
        old.close()
        self.get_logger().info(f"gravity is now {gravity}")

    def health(self) -> Health:
        """The condition of the session, and the commands that were refused."""
        self._views.switch_timers()
        health = super().health()
        with self.lock:
            if self.session is not None:
                timeout = self.settings.timeout
                self._session_health.add(self.session, self.time(), timeout, health)
        self.inboxes.report(health)
        health.values["paused"] = self.paused
        return health


main = partial(run, Simulator, Simulator.NAME)

if __name__ == "__main__":
    sys.exit(main())
