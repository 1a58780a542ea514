"""The base of every node: a robot from somewhere, a loop, faults, and diagnostics."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, ClassVar, TypeVar

import scipy.optimize  # noqa: F401  contacts and refusals need these: no cycle shall wait for them
import scipy.spatial  # noqa: F401
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rclpy.qos import QoSProfile

from ...errors import InputError, MbdynError, ModelError
from ...model.read.xacro.xacro import xacro_arguments
from ...robot import Robot, load
from .description import FLOATING_BASE, Description, home_by_name, of_parameter
from .health import Health
from .inbox import others_on
from .loops import RateLoop
from .node_clock import NodeClock, steady_timer
from .parameters import Parameters, Spec
from .refusals import ROBOTS, in_words, one_line
from .running_numbers import Payloads, RunningNumbers
from .signals import INTERRUPTION

Part = TypeVar("Part")


class Diagnostics:
    """Publishes the `Health` that `examine` returns, once a second, under the node's full name."""

    def __init__(self, node: Node, examine: Callable[[], Health]) -> None:
        self._node, self._examine = node, examine
        self._name = node.get_fully_qualified_name().lstrip("/")
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 1)
        self._timer = steady_timer(node, 1.0, self._publish)

    def _publish(self) -> None:
        try:
            health = self._examine()
        except MbdynError as error:  # a state that has no energy any more, such as NaN
            health = Health(errors=[in_words(error)])
        status = DiagnosticStatus(name=self._name, hardware_id=health.hardware)
        if health.errors:
            status.level = DiagnosticStatus.ERROR
        elif health.warnings:
            status.level = DiagnosticStatus.WARN
        else:
            status.level = DiagnosticStatus.OK
        status.message = one_line("; ".join([*health.errors, *health.warnings])) or "ok"
        status.values = key_values(health.values)
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)


def key_values(values: Mapping[str, object]) -> list[KeyValue]:
    """Values as the message wants them, in one line each."""
    return [KeyValue(key=key, value=one_line(value)) for key, value in values.items()]


class RobotNode(Node):
    """A node about one robot.

    A subclass declares the class attributes below. Its `__init__` makes what it publishes with,
    and ends with `begin`. From then on it is called in its hooks:

    `on_robot` : a robot came, the first one or another.
    `open_inputs` : once, when the robot that the parameters give is there.
    `tick` : in the thread of the loop, at `loop_rate`, under `lock`.
    `on_fault` : a tick failed; under `lock`.
    `on_clock_jump` : the times known so far mean nothing any more; under `lock`.
    `on_parameters` : parameters were set.
    `health` : once a second, in the executor's thread.
    `last_words` : the loop has ended; still in its thread.
    `stop` : the node ends.

    Attributes
    ----------
    NAME : of the executable and of the node.
    PARAMETERS : the table of its parameters.
    PROGRAMS : of `Robot`, compiled before `on_robot` is called.
    LOOP : name of the thread that ticks; empty for a node that only answers.
    AT_FAULT : what the node does at a fault, for the log.
    parameters, description, diagnostics, clock, payloads, numbers : as the names say.
    lock : held by ticks and by the services of `offer`: what they share is whole between them.
    fault : why the last tick failed, until `clear_fault`; empty where none did.
    """

    NAME: ClassVar[str]
    PARAMETERS: ClassVar[tuple[Spec, ...]]
    PROGRAMS: ClassVar[tuple[str, ...]] = ()
    LOOP: ClassVar[str] = ""
    AT_FAULT: ClassVar[str] = "stopped"

    def __init__(self, **options: Any) -> None:
        super().__init__(self.NAME, **options)
        self.parameters = Parameters(self, self.PARAMETERS)
        self.lock = threading.Lock()
        self.clock = NodeClock(self.get_clock(), lambda: self.count_publishers("/clock") > 0)
        self._era = self.clock.era
        self._sole: list[Any] = []
        self.fault = ""
        self._hardware = ""
        self.payloads = Payloads(self, self.parameters)
        self.numbers = RunningNumbers(self, self.parameters, self.lock, self.payloads)
        self.loop: RateLoop | None = None

    def begin(self) -> None:
        """Take the robot where the parameters give one, open the inputs, start the loop."""
        self.description = Description(self, self.parameters, self._take)
        if self.description.source is not None:
            self._take(self.description.source)
        self.parameters.on_change(self._review)
        self.open_inputs()
        self.payloads.open(self.offer)
        self.diagnostics = Diagnostics(self, self.health)
        if self.LOOP:
            priority = self.parameters["realtime_priority"]
            self.loop = RateLoop(
                self._tick, self.loop_rate(), self._fail, self.LOOP, priority, self.last_words
            )
            self.loop.start()

    # ---- hooks ----------------------------------------------------------------------------

    def on_robot(self, robot: Robot) -> None:
        """Go on with this robot; a MbdynError refuses it, and the one before stays."""
        raise NotImplementedError

    def open_inputs(self) -> None:
        """Create subscriptions and services, after the robot is loaded."""

    def loop_rate(self) -> float:
        """The rate of ticks, Hz; asked again when parameters were set."""
        rate: float = self.parameters["rate"]
        return rate

    def tick(self, now: float, skipped: int) -> None:
        """Do one cycle of the loop.

        Parameters
        ----------
        now : `time` at the deadline of the cycle, however late the thread was woken.
        skipped : deadlines that were missed since the last tick.
        """

    def on_fault(self) -> None:
        """Make safe what the failed tick has left."""

    def on_clock_jump(self, reason: str) -> None:
        """Forget what was timed before the clock jumped, as `reason` says."""

    def on_parameters(self, names: Collection[str]) -> None:
        """Apply the new values of parameters; a MbdynError refuses them."""

    def health(self) -> Health:
        """The condition of the node; a subclass adds its own remarks."""
        health = Health(self._hardware)
        if self.loop is not None:
            health.add_loop(self.loop.report(), self.loop.rate, self.loop.priority_refused)
            health.values["fault"] = self.fault or "none"
        if self.fault:
            health.errors.append(self.fault)
        if self.description.source is None:
            health.warnings.append(self.description.missing)
        elif self.description.refusal:
            health.warnings.append(self.description.refusal)
        if self.get_fully_qualified_node_names().count(self.get_fully_qualified_name()) > 1:
            health.warnings.append("another node has the same name")
        for publisher in self._sole:
            others = others_on(self, publisher)
            if others:
                health.warnings.append(f"{', '.join(others)} also on {publisher.topic_name}")
        return health

    def last_words(self) -> None:
        """Send zeros, or what else makes safe, while the context lives."""

    def quiet(self) -> None:
        """End the loop within a period, with `last_words`; returns at once, from any thread."""
        if self.loop is not None:
            self.loop.end()

    def stop(self) -> None:
        """End the loop and what runs along with it; returns when they have ended."""
        if self.loop is not None:
            self.loop.stop()

    # ---- for subclasses -------------------------------------------------------------------

    def sole(self, kind: Any, topic: str, qos: QoSProfile | int = 10) -> Any:
        """A publisher on a topic on which no other node should publish: it would be reported."""
        self._sole.append(self.create_publisher(kind, topic, qos))
        return self._sole[-1]

    def time(self, due: float = math.nan) -> float:
        """The time by which the node plays, ages and times out, s; under `lock`.

        Of a cycle that was due at an instant of the steady clock, it is that instant, unless
        `/clock` says what time it is.
        """
        now = self.clock.now(self._longest_gap())
        if self.clock.era != self._era:
            self._era = self.clock.era
            self.on_clock_jump(self.clock.jump)
        return now if math.isnan(due) or self.clock.simulated else due

    def date(self, stamp: Time) -> tuple[float, int]:
        """The time of a message's stamp, s, or now where it has none; and the era of that time.

        Raises
        ------
        InputError
            There is no time yet.
        """
        with self.lock:
            now = self.time()
            if self.clock.waiting:
                raise InputError(self.clock.waiting)
            return self.clock.at(stamp, now), self.clock.era

    def time_in(self, era: int) -> float:
        """`time()`, or InputError where the clock has jumped since that era."""
        now = self.time()
        if self.clock.era != era:
            raise InputError(f"{self.clock.jump} while the message was read")
        return now

    def load(self, source: str) -> Robot:
        """Read a robot, compile `PROGRAMS`, and log what looks wrong in its description."""
        return self.prepared(partial(self.read, source))

    @contextmanager
    def logged_warnings(self) -> Iterator[None]:
        """A context whose warnings of Python go to the log, each once."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for words in dict.fromkeys(str(one.message) for one in caught):
            self.get_logger().warning(one_line(words))

    def prepared(self, make: Callable[[], Robot]) -> Robot:
        """A robot that carries what was set, its `PROGRAMS` compiled, its warnings logged."""
        with INTERRUPTION.allowed(), self.logged_warnings():
            try:
                robot = make()
            except ModelError as error:
                raise ModelError(of_parameter(str(error), self.parameters)) from None
            ROBOTS[robot.model.source] = robot.model.name
            self.payloads.carry(robot)
            self.numbers.carry(robot)
            robot.compile(*self.PROGRAMS)
            robot.say_choice()
        return robot

    def read(self, source: str) -> Robot:
        """The robot of a description, as the parameters have it."""
        given = self.parameters
        home = home_by_name(given["home_joints"], given["home_positions"]) or given["home"] or None
        floating = given[FLOATING_BASE.name] or None if FLOATING_BASE.name in given else None
        gravity = given["gravity"] if "gravity" in given else None
        expanded = xacro_arguments(given["xacro"], "parameter xacro") or None
        mechanism, srdf = given["mechanism"] or None, given["srdf"] or None
        variable = self.payloads.variable
        return load(source, mechanism, home, floating, gravity, variable, expanded, srdf)

    def offer(self, name: str, kind: Any, action: Callable[[Any], str]) -> None:
        """Create the service `~/name`, which acts between two ticks.

        Parameters
        ----------
        kind : its type, with `success` and `message` in the response.
        action : called with the request, under `lock`; returns the message, or raises an error
            whose words become the message of a refusal.
        """
        self.create_service(kind, f"~/{name}", partial(self._answer, action))

    def announce(self, text: str) -> None:
        """Log what the node does now; names in it may be long."""
        self.get_logger().info(one_line(text))

    def require(self, part: Part | None) -> Part:
        """A part of the node that a robot brings; InputError where there is no robot yet."""
        if part is None:
            raise InputError(self.description.missing)
        return part

    def clear_fault(self) -> str:
        """Forget the fault, under `lock`; return what it was."""
        cleared, self.fault = self.fault, ""
        return cleared

    # ---- what calls the hooks -------------------------------------------------------------

    def _longest_gap(self) -> float:
        """Time between two cycles that is not a jump, s: at a low rate as many as it takes."""
        if "longest_gap" not in self.parameters or self.loop is None:
            return math.inf
        gap: float = self.parameters["longest_gap"]
        return max(gap, 3 / self.loop.rate)

    def _take(self, source: str) -> None:
        robot = self.load(source)
        self.on_robot(robot)
        self._hardware = one_line(f"{self.get_namespace()}/{robot.model.name}".lstrip("/"))

    def _tick(self, skipped: int) -> None:
        assert self.loop is not None
        with self.lock:
            self.tick(self.time(self.loop.deadline), skipped)

    def _fail(self, error: Exception) -> None:
        if not self.context.ok():
            return  # the node is ending
        with self.lock:
            first, self.fault = not self.fault, self.fault or in_words(error)
            with suppress(Exception):  # else the loop ended; its next cycle sends zeros again
                self.on_fault()
        if first:
            self.get_logger().error(f"{self.AT_FAULT}: {self.fault}; call ~/reset to start again")

    def _review(self, names: Collection[str]) -> str | None:
        try:
            self.on_parameters(self.numbers.review(names))
        except MbdynError as error:
            return in_words(error)
        if self.loop is not None:
            self.loop.rate = self.loop_rate()
        return None

    def _answer(self, action: Callable[[Any], str], request: Any, response: Any) -> Any:
        try:
            with self.lock:
                response.message = action(request)
            response.success = True
        except Exception as error:
            response.success, response.message = False, in_words(error)
        return response
