"""Node `effort_observer`: external efforts, the wrench they come from, contacts and payload.

Joint states with positions, velocities and efforts come in; at each arrival what acts on the robot
from outside goes out. Where joint states stop, jump in time, lack efforts, or show efforts that do
not change while the robot moves, nothing is sent, and the diagnostics say why.

`docs/ros.md` explains its topics and services.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import SetBool, Trigger

from ...arguments import OF_BASE
from ...array import Array
from ...control import Observer, PayloadEstimator, WrenchEstimator
from ...errors import InputError
from ...robot import Robot
from ..messages.joint_state_bytes import JointStateBytes, StampedBytes, joint_state_inbox
from ..messages.measured_state import JointReader, MeasuredState
from ..node.health import Health
from ..node.interfaces import srv
from ..node.loops import ArrivalLoop
from ..node.process import run
from ..node.refusals import Refusals, one_line
from ..node.robot_node import RobotNode
from .contact_watch import THRESHOLDS, ContactWatch
from .parameters import EFFORT_OBSERVER

FROZEN = 1.0
"""s in which efforts of a moving robot have to change."""

MOVING = 0.01
"""rad/s or m/s from which a robot moves."""


REST = 0.002
"""s: joint states that come faster are answered several at once, which wakes up for fewer."""


class WrenchBytes(StampedBytes):
    """The bytes of a WrenchStamped.

    frame_id : of the header.
    """

    def __init__(self, frame_id: str) -> None:
        message = WrenchStamped()
        message.header.frame_id = frame_id
        super().__init__(message)
        self._six = None if self._data is None else self._place.doubles(6)

    def write(self, wrench: Array) -> None:
        """Let it be this force and torque (6,)."""
        if self._six is not None:
            self._six[:] = wrench
            return
        for part, three in zip(
            (self._message.wrench.force, self._message.wrench.torque),
            wrench.reshape(2, 3).tolist(), strict=True,
        ):  # fmt: skip
            part.x, part.y, part.z = three


class Feeling:
    """An observer on the joint states of a robot, and what looks at its external efforts."""

    def __init__(self, robot: Robot, given: Any) -> None:
        if robot.nq != robot.nv or any(one.startswith(OF_BASE) for one in robot.position_labels):
            raise InputError(
                f"{robot.model.source}: joint states do not hold the pose of a floating or "
                "spherical joint: this node is for a fixed base and joints without quaternions"
            )
        if not robot.nv:
            raise InputError(f"{robot.model.source}: no joint moves, so that nothing is felt")
        self.robot = robot
        self.observer = Observer(robot, given["time_constant"], given["variant"])
        self.state = MeasuredState(robot.position_labels, completed=self._with_efforts)
        self._efforts = JointReader(robot.effort_labels)
        self._effort = np.zeros(len(robot.effort_labels))
        self._last_effort: tuple[float, ...] = ()
        self._changed = -np.inf
        self.wrench: WrenchEstimator | None = None
        if given["link"]:
            self.wrench = WrenchEstimator(robot, given["link"], given["point"], given["moment"])
            self.wrench.at(robot.home_position, self.observer.external)  # refuses now
        self.message = JointStateBytes(list(robot.velocity_labels), robot.model.root,
                                       velocity=False, position=False)  # fmt: skip
        self.wrench_message = WrenchBytes(given["link"])
        payload = given["payload_link"]
        self.estimator = (
            PayloadEstimator(self.observer, payload, given["payload_memory"]) if payload else None
        )
        self.watch = ContactWatch(self.observer, given)

    def take(self, message: JointState, now: float, sent: float) -> bool:
        """Take joint states; whether `observer.external` is of them.

        Raises
        ------
        InputError
            Efforts have not changed for a second, while the robot moves.
        """
        observer, before = self.observer, self._last_effort
        if not self.state.take(message, now, sent):
            return False
        self._last_effort = tuple(message.effort)
        if self._last_effort != before or np.abs(self.state.velocity).max() < MOVING:
            self._changed = sent
        if sent - self._changed > FROZEN:
            observer.restart()
            raise InputError(
                f"no effort has changed for {FROZEN:g} s while the robot moves: they are not "
                "measured, and nothing is sent"
            )
        observer.q[:], observer.v[:] = self.state.position, self.state.velocity
        observer.effort[:] = self._effort
        restarts = observer.restarts
        observer.cycle(sent)
        if self.estimator is not None:
            self.estimator.update(sent)
        return observer.restarts == restarts

    def _with_efforts(self, message: JointState, q: Array, v: Array) -> tuple[Array, Array]:
        reader = self._efforts
        reader.find(message.name)
        effort = reader.numbers("effort", message.effort) if reader.found else None
        if effort is None or len(reader.found) < len(reader.labels):
            raise InputError(f"they have no efforts of all of {', '.join(reader.labels)}")
        self._effort = effort
        return q, v


class EffortObserver(RobotNode):
    """Computes and sends in the thread that the messages come to."""

    NAME = "effort_observer"
    PARAMETERS = EFFORT_OBSERVER
    AT_FAULT = "no external efforts"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.feeling: Feeling | None = None
        self.refusals = Refusals(self, "joint state")
        self._sent, self._touches = 0, False
        self._effort = self.sole(JointState, "~/external_effort")
        self._wrench = self.sole(WrenchStamped, "~/external_wrench")
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._contact = self.create_publisher(Bool, "~/contact", latched)
        self._payload = self.create_publisher(InertiaStamped, "~/payload", 1)
        self.begin()
        priority = self.parameters["realtime_priority"]
        self.loop = ArrivalLoop(self._tick, self._inbox, self._fail, "efforts", priority, REST)
        self.loop.start()

    def on_robot(self, robot: Robot) -> None:
        """Observe this robot."""
        try:
            feeling = Feeling(robot, self.parameters)
        except InputError as error:
            raise InputError(f"a parameter does not fit: {error}") from None
        with self.lock:
            self.feeling = feeling
        self.announce(f"external efforts of {', '.join(robot.velocity_labels)}")

    def open_inputs(self) -> None:
        """Joint states and services."""
        self._inbox = joint_state_inbox(self, "joint_states", qos_profile_sensor_data)
        self.offer("reset", Trigger, self._reset)
        self.offer("learn", SetBool, self._learn)
        self.offer("apply_payload", Trigger, self._apply_payload)
        receivers = self.parameters["payload_receivers"]
        self._receivers = [PayloadReceiver(self, one) for one in receivers]

    def loop_rate(self) -> float:
        """0: it ticks when messages come."""
        return 0.0

    def tick(self, now: float, skipped: int) -> None:
        """Answer the messages that have come."""
        for message in self._inbox:
            if self.feeling is not None:
                self._respond(self.feeling, message, now)

    def _respond(self, feeling: Feeling, message: JointState, now: float) -> None:
        stamp = message.header.stamp
        try:
            if not feeling.take(message, now, self.clock.at(stamp, now)):
                return
        except InputError as error:
            self.refusals.add(error)
            return
        self._inbox.heed()
        if not stamp.sec:
            stamp = self.get_clock().now().to_msg()
        self._send(feeling, stamp.sec, stamp.nanosec)
        self._sent += 1
        hit = feeling.watch.look(now)
        if hit is not None:
            self.announce(str(hit))
        if feeling.watch.touches != self._touches:
            self._touches = feeling.watch.touches
            self._contact.publish(Bool(data=self._touches))

    def _send(self, feeling: Feeling, sec: int, nanosec: int) -> None:
        observer = feeling.observer
        feeling.message.effort[:] = observer.external
        self._effort.publish(feeling.message.stamped(sec, nanosec))
        if feeling.wrench is not None and self._wrench.get_subscription_count():
            feeling.wrench_message.write(feeling.wrench.local(observer.q, observer.external))
            self._wrench.publish(feeling.wrench_message.stamped(sec, nanosec))

    def on_clock_jump(self, reason: str) -> None:
        """Wait for states of the new time."""
        if self.feeling is not None:
            self.feeling.state.forget()
            self.feeling.observer.restart()

    def on_parameters(self, names: Collection[str]) -> None:
        """See contacts by the new thresholds."""
        if self.feeling is not None and set(THRESHOLDS) & set(names):
            with self.lock:
                self.feeling.watch.set_thresholds(self.parameters)

    def health(self) -> Health:
        """Missing joint states, refusals, contacts, saturated actuators, and the payload."""
        health = super().health()
        self.refusals.report(health)
        with self.lock:
            if self.feeling is not None:
                self._examine(self.feeling, health)
        health.values["joint_states from"] = ", ".join(self._inbox.senders()) or "none"
        health.values["sent"] = self._sent
        return health

    def _examine(self, feeling: Feeling, health: Health) -> None:
        missing = feeling.state.missing(self.time(), self.parameters["state_timeout"])
        if self.clock.waiting or missing:
            health.warnings.append(self.clock.waiting or missing)
        saturated = feeling.observer.saturated()
        if saturated:
            health.warnings.append(f"at its limit of effort: {', '.join(saturated)}; external "
                                   "efforts there are not sure")  # fmt: skip
        health.values["restarts"] = feeling.observer.restarts
        health.values["contact"] = feeling.watch.state
        health.values["contacts"] = feeling.watch.hits
        if feeling.wrench is not None and not missing:
            found = feeling.wrench.at(feeling.observer.q, feeling.observer.external)
            health.values["wrench"] = found.remark or f"of {found.link}, all parts are determined"
        if feeling.estimator is not None and not missing:
            self._report_payload(feeling.estimator, health)

    def _report_payload(self, estimator: PayloadEstimator, health: Health) -> None:
        try:
            found = estimator.payload()
        except InputError as error:
            health.values["payload"] = str(error)
            return
        remark = found.remark or "the motion determines all of it"
        health.values["payload"] = f"{found.mass:.4g} kg, +- {found.deviations[0]:.2g}; {remark}"
        if found.determined[0]:
            self._payload.publish(self._stamped(found.link, found.mass, found.com, found.inertia))

    def _stamped(self, link: str, mass: float, com: Array, moments: Array) -> InertiaStamped:
        """The message of a body."""
        message = InertiaStamped()
        message.header.stamp = self.get_clock().now().to_msg()
        message.header.frame_id, inertia = link, message.inertia
        inertia.m = mass
        inertia.com.x, inertia.com.y, inertia.com.z = com.tolist()
        upper = moments[np.triu_indices(3)].tolist()
        for name, one in zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), upper, strict=True):
            setattr(inertia, name, one)
        return message

    def _reset(self, _: Any) -> str:
        feeling = self.require(self.feeling)
        feeling.observer.restart()
        if feeling.estimator is not None:
            feeling.estimator.forget()
        return f"restarted; {self.clear_fault() or 'there was no fault'}"

    def _learn(self, request: Any) -> str:
        return self.require(self.feeling).watch.learn(request)

    def _apply_payload(self, _: Any) -> str:
        feeling = self.require(self.feeling)
        estimator = self.require(feeling.estimator)
        found = estimator.payload()
        body = found.body()
        if found.link in self.payloads.variable:
            found.apply(feeling.robot)
            estimator.forget()
        takers = [one.name for one in self._receivers if one.hand(self._stamped(found.link, *body))]
        deaf = [one.name for one in self._receivers if one.name not in takers]
        if found.link not in self.payloads.variable and not takers:
            raise InputError(
                f"no node takes the payload: start this node with variable naming {found.link}, or "
                f"name nodes and controllers in payload_receivers ({', '.join(deaf) or 'none'})"
            )
        answer = f"{found.link} carries {found.mass:.4g} kg"
        answer += f"; handed to {', '.join(takers)}" if takers else ""
        return answer + (f"; no node takes it at {', '.join(deaf)}" if deaf else "")


class PayloadReceiver:
    """A node whose service `set_payload`, or a controller whose topic `payload`, takes payloads."""

    def __init__(self, node: EffortObserver, name: str) -> None:
        self.name = name
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._publisher = node.create_publisher(InertiaStamped, f"{name}/payload", latched)
        kind: Any = getattr(srv, "SetPayload", None)
        service = f"{name}/set_payload"
        self._client: Any = None if kind is None else node.create_client(kind, service)
        self._node, self._kind = node, kind

    def hand(self, message: InertiaStamped) -> bool:
        """Hand a payload on; whether anybody listens. What it refuses comes into the log."""
        heard = self._publisher.get_subscription_count() > 0
        if heard:
            self._publisher.publish(message)
        if self._client is None or not self._client.service_is_ready():
            return heard
        request = self._kind.Request(link=message.header.frame_id, payload=message.inertia)
        self._client.call_async(request).add_done_callback(self._hear)
        return True

    def _hear(self, future: Any) -> None:
        answer = future.result()
        if answer is not None and not answer.success:
            words = one_line(f"{self.name} refuses the payload: {answer.message}")
            self._node.get_logger().warning(words)


main = partial(run, EffortObserver, EffortObserver.NAME)

if __name__ == "__main__":
    sys.exit(main())
