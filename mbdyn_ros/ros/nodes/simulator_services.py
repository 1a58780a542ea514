"""The services of the simulator."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from std_srvs.srv import SetBool, Trigger

from ...errors import InputError
from ..messages.layout import Layout
from ..node.description import one_line
from ..node.interfaces import service_types
from ..node.refusals import in_words
from .session import Session

if TYPE_CHECKING:
    from .simulator import Simulator


class SimulatorServices:
    """Reset, pause, step and set the state of a simulator, between two of its ticks."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        simulator.create_service(Trigger, "~/reset", self._on_reset)
        simulator.create_service(SetBool, "~/pause", self._on_pause)
        simulator.create_service(Trigger, "~/step", self._on_step)
        srv = service_types(simulator, "there is no service ~/set_state")
        if srv is not None:
            simulator.create_service(srv.SetState, "~/set_state", self._on_set_state)

    def _serve(self, response: Any, action: Callable[[Session], str]) -> Any:
        """Act under the lock; the response says what came of it."""
        simulator = self._simulator
        try:
            with simulator.lock:
                if simulator.session is None:
                    raise InputError(simulator.description.missing)
                response.message = action(simulator.session)
            response.success = True
        except Exception as error:
            response.success = False
            response.message = in_words(error)
        return response

    def _on_reset(self, request: Any, response: Any) -> Any:
        def reset(session: Session) -> str:
            session.reset()
            cleared, self._simulator.fault = self._simulator.fault, ""
            return f"at the start again; cleared: {cleared}" if cleared else "at the start again"

        return self._serve(response, reset)

    def _on_pause(self, request: Any, response: Any) -> Any:
        def pause(session: Session) -> str:
            self._simulator.paused = request.data
            return f"{'paused' if request.data else 'running'} at t = {session.motion.time:.6g} s"

        return self._serve(response, pause)

    def _on_step(self, request: Any, response: Any) -> Any:
        def step(session: Session) -> str:
            simulator = self._simulator
            if not simulator.paused:
                raise InputError("the simulation runs: call ~/pause with data: true first")
            if simulator.fault:
                raise InputError(f"there is a fault, call ~/reset first: {simulator.fault}")
            settings = simulator.settings
            session.advance(time.perf_counter(), settings.timeout, settings.substeps)
            return f"t = {session.motion.time:.6g} s"

        return self._serve(response, step)

    def _on_set_state(self, request: Any, response: Any) -> Any:
        def set_state(session: Session) -> str:
            layout = Layout(session.robot, request.name)
            q, v, _ = layout.state(request.position, request.velocity)
            refused = one_line(session.refusal)
            session.set_state(q, v)
            if refused and refused == self._simulator.fault:
                self._simulator.fault = ""
            return "set"

        return self._serve(response, set_state)
