"""The services of simulation_interfaces, the standard of simulators, where it is installed."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError, MbdynError
from ..messages.base_pose import WORLD_FRAME, fill_pose, pose_numbers
from ..messages.conversions import fill_time
from ..messages.named_numbers import quoted, require_reasonable
from ..node.interfaces import where_installed
from ..node.refusals import in_words, one_line
from .session import Session

if TYPE_CHECKING:
    from .simulator import Simulator

FEATURES = (
    "ENTITY_STATE_GETTING", "ENTITY_STATE_SETTING", "SIMULATION_RESET", "SIMULATION_RESET_TIME",
    "SIMULATION_RESET_STATE", "SIMULATION_STATE_GETTING", "SIMULATION_STATE_SETTING",
    "SIMULATION_STATE_PAUSE", "STEP_SIMULATION_SINGLE", "STEP_SIMULATION_MULTIPLE",
)  # fmt: skip
"""The features that the simulator has."""

STEPS_OF_A_REQUEST = 100_000
"""Steps of one request: more would keep everybody waiting."""

STEPS_AT_ONCE = 100
"""Steps between which others may come to the simulation."""

UNIT = 1e-3
"""How far the length of a quaternion may be from 1."""


class StandardServices:
    """Maps the standard to reset, pause, step and states; entities are the robot and its links."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        srv = where_installed("simulation_interfaces.srv")
        msg = where_installed("simulation_interfaces.msg")
        if srv is None or msg is None:
            return
        self._codes, self._states, self._features = (
            msg.Result, msg.SimulationState, msg.SimulatorFeatures
        )  # fmt: skip
        for kind, action in (
            (srv.GetSimulatorFeatures, self._tell_features),
            (srv.GetSimulationState, self._tell_state),
            (srv.SetSimulationState, self._set_state),
            (srv.ResetSimulation, self._reset),
            (srv.StepSimulation, self._step),
            (srv.GetEntities, self._tell_entities),
            (srv.GetEntityState, self._tell_entity),
            (srv.SetEntityState, self._set_entity),
        ):
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
            simulator.create_service(kind, f"~/{name}", partial(self._answer, action))

    def _answer(self, action: Callable[[Session, Any, Any], None], ask: Any, answer: Any) -> Any:
        result = getattr(answer, "result", self._codes())
        try:
            session = self._simulator.require(self._simulator.session)
            result.result = self._codes.RESULT_OK
            action(session, ask, answer)
        except NotHere as error:
            result.result, result.error_message = self._codes.RESULT_NOT_FOUND, one_line(error)
        except WrongTime as error:
            result.error_message = one_line(error)
            result.result = self._codes.RESULT_INCORRECT_STATE
        except MbdynError as error:
            result.error_message = in_words(error)
            result.result = self._codes.RESULT_OPERATION_FAILED
        return answer

    # ---- the simulation --------------------------------------------------------------------

    def _tell_features(self, session: Session, ask: Any, answer: Any) -> None:
        features = answer.features
        features.features = [getattr(self._features, name) for name in FEATURES]
        features.custom_info = "entities are the robot, by its name, and robot/link"

    def _tell_state(self, session: Session, ask: Any, answer: Any) -> None:
        answer.state.state = self._state(session)

    def _state(self, session: Session) -> int:
        kinds = self._states
        if not self._simulator.paused:
            return int(kinds.STATE_PLAYING)
        return int(kinds.STATE_PAUSED if session.motion.time else kinds.STATE_STOPPED)

    def _set_state(self, session: Session, ask: Any, answer: Any) -> None:
        kinds, wanted, simulator = self._states, ask.state.state, self._simulator
        known = (kinds.STATE_STOPPED, kinds.STATE_PLAYING, kinds.STATE_PAUSED)
        if wanted not in known:
            raise InputError(
                "the simulation can be stopped (0), played (1) and paused (2); "
                f"{wanted} is for other programs: end this one by a signal"
            )
        with simulator.lock:
            if wanted == self._state(session):
                answer.result.result = type(answer).ALREADY_IN_TARGET_STATE
                answer.result.error_message = "it is in that state"
                return
            simulator.paused = wanted != kinds.STATE_PLAYING
            if wanted == kinds.STATE_STOPPED:
                simulator.start_again(session)

    def _reset(self, session: Session, ask: Any, answer: Any) -> None:
        kind = type(ask)
        scope = ask.scope or kind.SCOPE_ALL
        if not scope & (kind.SCOPE_TIME | kind.SCOPE_STATE):
            answer.result.result = self._codes.RESULT_FEATURE_UNSUPPORTED
            answer.result.error_message = "nothing is spawned here: reset time (1), state (2), all"
            return
        with self._simulator.lock:
            time = session.motion.time
            if scope & kind.SCOPE_STATE:
                self._simulator.start_again(session)
            session.motion.time = 0.0 if scope & kind.SCOPE_TIME else time

    def _step(self, session: Session, ask: Any, answer: Any) -> None:
        simulator = self._simulator
        if not simulator.paused:
            raise WrongTime("the simulation runs: pause it first")
        if simulator.fault:
            raise InputError(f"there is a fault, reset first: {simulator.fault}")
        if ask.steps > STEPS_OF_A_REQUEST:
            raise InputError(f"{ask.steps} steps, {STEPS_OF_A_REQUEST} at most at once")
        left, settings = int(ask.steps), simulator.settings
        while left:
            with simulator.lock:
                for _ in range(min(left, STEPS_AT_ONCE)):
                    session.advance(simulator.time(), settings, settings.substeps)
            left -= min(left, STEPS_AT_ONCE)

    # ---- the robot and its links -----------------------------------------------------------

    def _tell_entities(self, session: Session, ask: Any, answer: Any) -> None:
        filters, names = ask.filters, self._entities(session)
        if filters.categories or filters.tags.tags or filters.bounds.points:
            answer.result.result = self._codes.RESULT_FEATURE_UNSUPPORTED
            answer.result.error_message = "entities are filtered by their names alone"
            return
        try:
            wanted = re.compile(filters.filter)
        except re.error as error:
            raise InputError(f"filter {quoted(filters.filter)} is no expression: {error}") from None
        answer.entities = [name for name in names if wanted.search(name)]

    def _entities(self, session: Session) -> list[str]:
        model = session.robot.model
        return [model.name, *(f"{model.name}/{link.name}" for link in model.links)]

    def _tell_entity(self, session: Session, ask: Any, answer: Any) -> None:
        link, robot = self._link(session, ask.entity), session.robot
        with self._simulator.lock:
            q, v = session.motion.q.copy(), session.motion.v.copy()
            stamp = self._simulator.stamp(session)
        pose, twist = answer.state.pose, answer.state.twist
        numbers = pose_numbers(robot.frame_pose(q, link))
        fill_pose(pose.position, pose.orientation, numbers)
        rates = robot.frame_velocity(q, v, link).tolist()
        for vector, part in ((twist.linear, rates[:3]), (twist.angular, rates[3:])):
            vector.x, vector.y, vector.z = part
        answer.state.header.frame_id = WORLD_FRAME
        fill_time(answer.state.header.stamp, stamp)

    def _set_entity(self, session: Session, ask: Any, answer: Any) -> None:
        robot, state = session.robot, ask.state
        link = self._link(session, ask.entity)
        if not robot.floating_base or link != robot.model.root:
            raise InputError(
                f"{quoted(ask.entity)} stands where its joints have it: ~/set_state sets those; "
                "only the base of a robot with floating_base can be put somewhere"
            )
        if state.header.frame_id not in ("", WORLD_FRAME):
            raise InputError(f"its pose is in {quoted(state.header.frame_id)}, not in the world")
        with self._simulator.lock:
            q, v = session.motion.q.copy(), session.motion.v.copy()
            if ask.set_pose:
                place, turn = state.pose.position, state.pose.orientation
                q[:7] = place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w
                length = float(np.linalg.norm(q[3:7]))
                if not abs(length - 1.0) <= UNIT:
                    answer.result.result = type(answer).INVALID_POSE
                    answer.result.error_message = f"a quaternion of length {length:g} is no turn"
                    return
                q[3:7] /= length
            if ask.set_twist:
                turn = robot.frame_pose(q, link)[:3, :3]
                linear, angular = state.twist.linear, state.twist.angular
                v[:3] = turn.T @ [linear.x, linear.y, linear.z]
                v[3:6] = turn.T @ [angular.x, angular.y, angular.z]
            require_reasonable("position", q, robot.position_labels)
            require_reasonable("velocity", v, robot.velocity_labels)
            session.require_slow(v)
            session.set_state(q, v)

    def _link(self, session: Session, entity: str) -> str:
        model = session.robot.model
        names = {model.name: model.root}
        names |= {f"{model.name}/{link.name}": link.name for link in model.links}
        if entity not in names:
            raise NotHere(f"there is no entity {quoted(entity)}: get_entities tells them")
        return names[entity]


class NotHere(InputError):
    """No entity of that name."""


class WrongTime(InputError):
    """A request that waits for another state of the simulation."""
