"""The services of the simulator."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from std_srvs.srv import SetBool, Trigger

from ...errors import InputError
from ..messages.layout import Layout
from ..node.interfaces import service_types
from ..node.refusals import one_line
from .session import Session
from .simulation_node import SimulationNode


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
