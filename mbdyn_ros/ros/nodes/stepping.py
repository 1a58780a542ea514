"""Steps of a paused simulation, and the action of simulation_interfaces that asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rclpy.action import ActionServer, CancelResponse
from rclpy.task import Future

from ...errors import InputError, MbdynError
from ..node.refusals import in_words
from ..node.steady_timer import steady_timer
from .simulation_node import SimulationNode

STEPS_OF_A_REQUEST = 100_000
"""Steps of one request: more would keep everybody waiting."""

TURN_RATE = 500.0
"""Hz at which an action goes on."""

STEPS_OF_A_TURN = 10
"""Steps of an action between which nobody else is served; as many as its client's queue holds."""


def require_steps(steps: int) -> int:
    """As many steps as one request may ask for."""
    if steps > STEPS_OF_A_REQUEST:
        raise InputError(f"{steps} steps, {STEPS_OF_A_REQUEST} at most at once")
    return steps


def take_step(simulator: SimulationNode) -> None:
    """Take one step of a simulation that is paused and without a fault."""
    with simulator.lock:
        session, settings = simulator.require(simulator.session), simulator.settings
        if not simulator.paused:
            raise InputError("the simulation runs: pause it first")
        if simulator.fault:
            raise InputError(f"there is a fault, reset first: {simulator.fault}")
        session.advance(simulator.time(), settings, settings.substeps)


class StepsAction:
    """SimulateSteps: steps with feedback of each, which can be canceled."""

    def __init__(self, simulator: SimulationNode, kind: Any, codes: Any) -> None:
        self._simulator, self._type, self._codes = simulator, kind, codes
        self._server = ActionServer(
            simulator, kind, "~/simulate_steps", self._execute,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )  # fmt: skip

    def close(self) -> None:
        """End the server."""
        self._server.destroy()

    async def _execute(self, goal: Any) -> Any:
        end: Future[str] = Future(executor=self._simulator.executor)
        turns = self._turns(goal, end)
        timer = steady_timer(self._simulator, TURN_RATE, lambda: next(turns, None))
        result = self._type.Result()
        result.result.error_message = await end
        self._simulator.destroy_timer(timer)
        if not result.result.error_message:
            result.result.result = self._codes.RESULT_OK
            goal.succeed()
            return result
        result.result.result = self._codes.RESULT_OPERATION_FAILED
        if goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return result

    def _turns(self, goal: Any, end: Future[str]) -> Iterator[None]:
        """Take the steps, others being served in between; `end` gets what went wrong, or ""."""
        words = "it broke off"
        try:
            steps = require_steps(goal.request.steps)
            for k in range(steps):
                if goal.is_cancel_requested:
                    words = f"canceled after {k} of {steps} steps"
                    return
                take_step(self._simulator)
                goal.publish_feedback(
                    self._type.Feedback(completed_steps=k + 1, remaining_steps=steps - k - 1)
                )
                if not (k + 1) % STEPS_OF_A_TURN:
                    yield
            words = ""
        except MbdynError as error:
            words = in_words(error)
        finally:
            end.set_result(words)
