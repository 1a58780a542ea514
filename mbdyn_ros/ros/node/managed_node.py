"""The base of nodes that command: managed nodes of ROS 2, with zeros on each way out.

    unconfigured  parameters only; it neither hears nor sends anything of its own
    inactive      the robot is there, the loop runs: it hears the robot, and sends zeros
    active        it sends what it computes

`ros2 lifecycle set NODE configure|activate|deactivate|cleanup|shutdown` leads from one to the next
(design.ros2.org/articles/node_lifecycle.html). With the parameter `autostart` a node is active as
soon as it is up.
"""

from __future__ import annotations

from typing import Any

from rclpy.lifecycle import LifecycleNodeMixin, LifecycleState, TransitionCallbackReturn

from ...errors import InputError, MbdynError
from .health import Health
from .parameters import Spec
from .refusals import in_words
from .robot_node import RobotNode

AUTOSTART = Spec(
    "autostart",
    True,
    "activate the node at its start; else it waits for ~/change_state",
    read_only=True,
)

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class ManagedNode(LifecycleNodeMixin, RobotNode):
    """A `RobotNode` with the states of a managed node.

    A subclass looks at `resting` in every tick, and sends zeros where it says why; `on_fault` sends
    them at once, and `on_clock_jump` drops what is followed. It makes its publishers in `__init__`
    and what it hears in `open_inputs`.

    Attributes
    ----------
    active : whether it may command.
    """

    def __init__(self, **options: Any) -> None:
        RobotNode.__init__(self, **options)
        LifecycleNodeMixin.__init__(self)
        self.active = False
        self._before: dict[str, list[Any]] = {}
        self._refusal: Exception | None = None

    def begin(self) -> None:
        """Configure and activate the node where it shall start by itself."""
        if not self.parameters[AUTOSTART.name]:
            self.announce("unconfigured: waits for ~/change_state (autostart is false)")
            return
        self.trigger_configure()
        if self._refusal is not None:
            raise self._refusal
        self.trigger_activate()

    def release(self) -> None:
        """Forget the robot; the loop has ended."""

    @property
    def resting(self) -> str:
        """Why the node must not command now, by its state; empty where it may."""
        return "" if self.active else "the node is inactive"

    def require_active(self) -> None:
        """InputError where the node is not active: what it is sent is refused."""
        if not self.active:
            state = self._state_machine.current_state[1]
            raise InputError(
                f"the node is {state}: it takes nothing until it is active (ros2 lifecycle set "
                f"{self.get_fully_qualified_name()} activate)"
            )

    def health(self) -> Health:
        """The condition of the node, and its state."""
        health = super().health()
        health.values["state"] = self._state_machine.current_state[1]
        return health

    # ---- transitions, called by rclpy in the executor's thread ----------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load the robot, open the inputs, start the loop; a refusal leaves nothing open."""
        self._before, self._refusal = self._entities(), None
        try:
            RobotNode.begin(self)
        except Exception as error:
            self._refusal = error
            if not isinstance(error, MbdynError) or not self.parameters[AUTOSTART.name]:
                self.get_logger().error(f"not configured: {in_words(error)}")
            self._close()
            return FAILURE
        return SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Command from now on; a fault of before is over."""
        with self.lock:
            self.clear_fault()
            self.active = True
        return SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Send zeros at once, and forget what was followed."""
        self._rest("the node was deactivated")
        return SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Send zeros for the last time, and give everything back."""
        self._close()
        return SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Send zeros for the last time, and give everything back."""
        self._rest("the node was shut down")
        self._close()
        return SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """A transition failed unexpectedly: as after a cleanup."""
        self._rest("a transition failed")
        self._close()
        return SUCCESS

    def _rest(self, reason: str) -> None:
        with self.lock:
            was_active, self.active = self.active, False
            if was_active:
                self.on_clock_jump(reason)
                self.on_fault()

    def _close(self) -> None:
        """End the loop, and destroy what `on_configure` has made."""
        self.stop()
        self.loop = None
        self.release()
        for kind, before in self._before.items():
            for one in self._entities()[kind]:
                if one not in before:
                    getattr(self, f"destroy_{kind}")(one)
        self._before = {}

    def _entities(self) -> dict[str, list[Any]]:
        return {
            "subscription": list(self.subscriptions), "publisher": list(self.publishers),
            "service": list(self.services), "timer": list(self.timers),
        }  # fmt: skip
