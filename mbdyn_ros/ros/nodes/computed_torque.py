"""Node `computed_torque`: control on measured joint states, at a rate.

Gravity compensation (hand guiding), computed torque, joint impedance or Cartesian impedance, chosen
by the parameter `mode`, which may change while the robot moves. It sends zeros when joint states or
references are missing, when they make no sense, when something fails, when it is deactivated, and
when it ends.

`docs/ros.md` explains its topics and services.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from functools import partial
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.qos import QoSProfile
from std_srvs.srv import SetBool

from ...control import MODES, Controller, default_gains
from ...errors import InputError
from ...model.model import Array
from ...robot import Robot
from ..messages.base_pose import target_place, target_turn
from ..node.health import Health
from ..node.process import run
from ..node.refusals import Refusals
from .contact_watch import THRESHOLDS
from .control_loop import ControlLoop, Doubts, stability
from .effort_node import EffortNode
from .follower import Conditions, Follower
from .parameters import ALLOW_UNSTABLE, COMPUTED_TORQUE, CONTROL_GAINS

TOPICS = {"joints": "~/reference", "pose": "~/target"}
"""Where what a mode follows comes from."""


class ComputedTorque(EffortNode):
    """Sends the efforts of `ControlLoop`."""

    NAME = "computed_torque"
    PARAMETERS = COMPUTED_TORQUE
    PROGRAMS = ("inverse_dynamics", "joint_position", "joint_velocity")
    LOOP = "control"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.refused_targets = Refusals(self, "target")
        self._warned = ""
        self.begin()

    def make(self, robot: Robot) -> ControlLoop:
        """The follower that computes for a robot, by the parameters."""
        given = self.parameters
        try:
            loop = ControlLoop(
                robot, given["joints"], Conditions.read(given), self._doubts(), given
            )
            self._default_gains = default_gains(robot, given["rate"], given["link"])
            self.set_up(loop)
            loop.control.switch(given["mode"])
        except InputError as error:
            raise InputError(
                f"parameter joints, measured_joints, link, mode or a gain: {error}"
            ) from None
        self._require_stable(loop.control, CONTROL_GAINS)  # compiles too, which takes long
        return loop

    def set_up(self, follower: Follower) -> None:
        """Hand on the parameters that may change."""
        given, control = self.parameters, self._loop(follower).control
        gains = self._gains()
        follower.conditions = Conditions.read(given)
        self._loop(follower).doubts = self._doubts()
        control.enforced = follower.limits.enforced = given["enforce_effort_limits"]
        control.fading.duration = given["fading_time"]
        control.set_gains(**gains)
        self._loop(follower).react_by(given["reaction"])

    def zero(self) -> Array:
        """Efforts of zero, of which the follower learns."""
        return self._loop(self.follower).rest()

    def open_inputs(self) -> None:
        """References, targets, joint states, and the reset."""
        super().open_inputs()
        self.offer("learn", SetBool, self._learn)
        self.create_subscription(PoseStamped, "~/target", self._on_target, QoSProfile(depth=1))

    def on_parameters(self, names: Collection[str]) -> None:
        """Change the mode, set gains and tolerances."""
        if self.follower is None:
            return
        loop, mode = self._loop(self.follower), self.parameters["mode"]
        changes = mode != loop.mode
        if changes and self.active:
            with self.lock:
                self._require_topics(loop, mode)
        with self.lock:
            twin = loop.control.twin()
        twin.set_gains(**self._gains())
        if changes:
            twin.switch(mode)
        self._require_stable(twin, names)
        if set(THRESHOLDS) & set(names):
            with self.lock:
                loop.watch.set_thresholds(self.parameters)
        super().on_parameters(names)
        if changes:
            with self.lock:
                loop.switch(mode, self.time())

    def health(self) -> Health:
        """Mode, stability, and what was refused."""
        health = super().health()
        self.refused_targets.report(health)
        if self.follower is None:
            return health
        loop = self._loop(self.follower)
        control, hit = loop.control, loop.hit
        health.values["mode"] = control.mode
        health.values["contact"], health.values["contacts"] = loop.watch.state, loop.watch.hits
        if hit is not None:
            health.warnings.append(f"reacts ({self.parameters['reaction']}) to a {hit}; call "
                                   "~/reset to continue")  # fmt: skip
        with self.lock:
            twin = control.twin()
        largest, unstable = stability(twin, self.parameters["rate"])
        health.values["largest eigenvalue"] = largest
        if unstable:
            health.warnings.append(unstable)
            if control.mode != self._warned:
                self.get_logger().warning(unstable)
        self._warned = control.mode if unstable else ""
        return health

    def tick(self, now: float, skipped: int) -> None:
        """Send the efforts of this moment, and say what was hit."""
        before = None if self.follower is None else self._loop(self.follower).watch.last
        super().tick(now, skipped)
        if self.follower is not None:
            loop = self._loop(self.follower)
            if loop.watch.last is not before:
                does = f"; {self.parameters['reaction']} until ~/reset" if loop.hit else ""
                self.announce(f"{loop.watch.last}{does}")

    def _learn(self, request: Any) -> str:
        return self._loop(self.require(self.follower)).watch.learn(request)

    def _gains(self) -> dict[str, list[float]]:
        """The gains of all modes, mild ones where the parameters give none."""
        mild = self._default_gains
        return {name: self.parameters[name] or mild[name].tolist() for name in CONTROL_GAINS}

    def _require_stable(self, control: Controller, names: Collection[str]) -> None:
        """Refuse gains or a rate, among the parameters `names`, that make the loop unstable.

        control : with these gains, at the present state, of this thread alone.
        """
        given = self.parameters
        _, unstable = stability(control.twin(), given["rate"])
        chosen = [name for name in CONTROL_GAINS if given[name]]
        matters = {*CONTROL_GAINS, "mode", "rate", ALLOW_UNSTABLE}.intersection(names)
        if unstable and chosen and matters and not given[ALLOW_UNSTABLE]:
            raise InputError(f"{unstable}, or set the parameter {ALLOW_UNSTABLE} to true")

    def _require_topics(self, loop: ControlLoop, mode: str) -> None:
        """Refuse a mode without input."""
        loop.require_states(self.time())
        follows = MODES[mode].follows
        topic = self.resolve_topic_name(TOPICS[follows]) if follows else ""
        if topic and not self.count_publishers(topic):
            raise InputError(f"mode {mode}: no node publishes on {topic}, which it follows")

    def _doubts(self) -> Doubts:
        given = self.parameters
        return Doubts(given["agreement_tolerance"], given["jump_tolerance"])

    def _loop(self, follower: Follower | None) -> ControlLoop:
        assert isinstance(follower, ControlLoop)
        return follower

    def _on_target(self, message: PoseStamped) -> None:
        try:
            self.require_active()
            loop = self._loop(self.require(self.follower))
            start, era = self.date(message.header.stamp)
            place, turn = target_place(loop.robot, message), target_turn(message)
            with self.lock:
                now = self.time_in(era)
                if now - start > loop.conditions.reference_timeout:
                    raise InputError(f"its stamp is {now - start:.4g} s old")
                self.require_active()
                loop.aim(place, turn, now)
        except InputError as error:
            self.refused_targets.add(error)


main = partial(run, ComputedTorque, ComputedTorque.NAME)

if __name__ == "__main__":
    sys.exit(main())
