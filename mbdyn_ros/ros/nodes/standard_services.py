"""The services of simulation_interfaces, the standard of simulators, where it is installed."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from rclpy.action import ActionServer, CancelResponse
from rclpy.task import Future
from rclpy.timer import Timer

from ...arguments import unit_quaternion
from ...errors import InputError, MbdynError
from ...motion.free_bodies import FreeBody
from ...motion.poses import pose_numbers
from ..messages.base_pose import WORLD_FRAME, fill_pose
from ..messages.conversions import fill_time
from ..messages.named_numbers import quoted, require_reasonable
from ..node.interfaces import where_installed
from ..node.node_clock import steady_timer
from ..node.refusals import in_words
from .session import Session
from .simulation_node import SimulationNode
from .spawning import SPAWN_FORMATS, Refused, Spawning

FEATURES = (
    "SPAWNING", "DELETING", "SPAWNING_RESOURCE_STRING", "SPAWNABLES", "SPAWNING_ENTITIES",
    "SIMULATION_RESET_SPAWNED", "ENTITY_STATE_GETTING", "ENTITY_STATE_SETTING",
    "ENTITY_INFO_GETTING", "SIMULATION_RESET", "SIMULATION_RESET_TIME", "SIMULATION_RESET_STATE",
    "SIMULATION_STATE_GETTING", "SIMULATION_STATE_SETTING", "SIMULATION_STATE_PAUSE",
    "STEP_SIMULATION_SINGLE", "STEP_SIMULATION_MULTIPLE", "STEP_SIMULATION_ACTION",
)  # fmt: skip
"""The features that the simulator has, where the messages know them."""

FAREWELL = 10.0
"""Hz of the wait between the answer to who asks to quit, and the end."""

STEPS_OF_A_REQUEST = 100_000
"""Steps of one request: more would keep everybody waiting."""

TURN_RATE = 500.0
"""Hz at which an action goes on."""

STEPS_OF_A_TURN = 10
"""Steps of an action without serving other clients; as many as its client's queue holds."""


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


class StandardServices:
    """Maps the standard to reset, pause, step and states; entities are the robot and its links."""

    def __init__(self, simulator: SimulationNode) -> None:
        self._simulator = simulator
        self._farewell: Timer | None = None
        self._steps: StepsAction | None = None
        self._spawning: Spawning | None = None
        srv = where_installed("simulation_interfaces.srv")
        msg = where_installed("simulation_interfaces.msg")
        if srv is None or msg is None:
            if simulator.world is not None:
                simulator.get_logger().info(
                    "the package simulation_interfaces is not installed: nothing can be spawned "
                    "or deleted"
                )
            return
        self._codes, self._states, self._features = (
            msg.Result, msg.SimulationState, msg.SimulatorFeatures
        )  # fmt: skip
        self._kinds, self._entity_state = msg.EntityCategory, msg.EntityState
        self._spawning = Spawning(simulator, msg)
        spawning = self._spawning
        optional = {"SpawnEntities": spawning.spawn_all, "GetSpawnables": spawning.tell_spawnables}
        for kind, action in (
            *(
                (getattr(srv, name), action)
                for name, action in optional.items()
                if hasattr(srv, name)
            ),
            (srv.SpawnEntity, spawning.spawn),
            (srv.DeleteEntity, spawning.delete),
            (srv.GetSimulatorFeatures, self._tell_features),
            (srv.GetSimulationState, self._tell_state),
            (srv.SetSimulationState, self._set_state),
            (srv.ResetSimulation, self._reset),
            (srv.StepSimulation, self._step),
            (srv.GetEntities, self._tell_entities),
            (srv.GetEntityState, self._tell_entity),
            (srv.GetEntitiesStates, self._tell_all),
            (srv.GetEntityInfo, self._tell_info),
            (srv.SetEntityState, self._set_entity),
        ):
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
            simulator.create_service(kind, f"~/{name}", partial(self._answer, action))
        actions = where_installed("simulation_interfaces.action")
        if actions is not None:
            self._steps = StepsAction(simulator, actions.SimulateSteps, self._codes)

    def close(self) -> None:
        """End the server of the action."""
        if self._steps is not None:
            self._steps.close()
        if self._spawning is not None:
            self._spawning.close()

    async def _answer(
        self, action: Callable[[Session, Any, Any], Any], ask: Any, answer: Any
    ) -> Any:
        result = getattr(answer, "result", self._codes())
        try:
            session = self._simulator.require(self._simulator.session)
            result.result = self._codes.RESULT_OK
            later = action(session, ask, answer)
            if later is not None:
                await later
        except MbdynError as error:
            result.error_message = in_words(error)
            result.result = getattr(error, "code", self._codes.RESULT_OPERATION_FAILED)
        return answer

    # ---- the simulation --------------------------------------------------------------------

    def _tell_features(self, session: Session, ask: Any, answer: Any) -> None:
        features = answer.features
        known = (getattr(self._features, name, None) for name in FEATURES)
        features.features = [one for one in known if one is not None]
        features.spawn_formats = list(SPAWN_FORMATS)
        features.custom_info = (
            "entities are robots and bodies, by name, and name/link; the root of a spawned URDF is "
            "free if it has a mass and another name than world; ?floating_base=false fixes it"
        )

    def _tell_state(self, session: Session, ask: Any, answer: Any) -> None:
        answer.state.state = self._state(session)

    def _state(self, session: Session) -> int:
        kinds = self._states
        if self._farewell is not None:
            return int(kinds.STATE_QUITTING)
        if not self._simulator.paused:
            return int(kinds.STATE_PLAYING)
        held = self._simulator.held
        return int(kinds.STATE_PAUSED if session.motion.time or held else kinds.STATE_STOPPED)

    def _set_state(self, session: Session, ask: Any, answer: Any) -> None:
        kinds, wanted, simulator = self._states, ask.state.state, self._simulator
        known = kinds.STATE_STOPPED, kinds.STATE_PLAYING, kinds.STATE_PAUSED, kinds.STATE_QUITTING
        if wanted not in known:
            raise InputError(
                "the simulation can be stopped (0), played (1), paused (2) and ended (3); "
                f"{wanted} is of no use here: its world is always there"
            )
        if self._farewell is not None:
            raise Refused(type(answer).INCORRECT_TRANSITION, "the simulator is about to end")
        with simulator.lock:
            if wanted == self._state(session):
                raise Refused(type(answer).ALREADY_IN_TARGET_STATE, "it is in that state")
            simulator.paused = wanted != kinds.STATE_PLAYING
            simulator.held = wanted == kinds.STATE_PAUSED
            if wanted == kinds.STATE_STOPPED:
                simulator.start_again(session)
        if wanted == kinds.STATE_QUITTING:  # when this was answered
            self._farewell = steady_timer(simulator, FAREWELL, self._end)

    def _end(self) -> None:
        """As whoever ends the process does."""
        assert self._farewell is not None
        self._farewell.cancel()
        signal.raise_signal(signal.SIGTERM)

    async def _reset(self, session: Session, ask: Any, answer: Any) -> None:
        kind = type(ask)
        scope = ask.scope or kind.SCOPE_ALL
        if scope & kind.SCOPE_SPAWNED and self._spawning is not None:
            await self._spawning.reset(scope == kind.SCOPE_ALL)
            session = self._simulator.require(self._simulator.session)
        if not scope & (kind.SCOPE_TIME | kind.SCOPE_STATE):
            return
        with self._simulator.lock:
            time = session.motion.time
            if scope & kind.SCOPE_STATE:
                self._simulator.start_again(session)
            else:
                self._simulator.held = True
            session.motion.time = 0.0 if scope & kind.SCOPE_TIME else time

    def _step(self, session: Session, ask: Any, answer: Any) -> None:
        for _ in range(require_steps(ask.steps)):
            take_step(self._simulator)

    # ---- the robot and its links -----------------------------------------------------------

    def _tell_entities(self, session: Session, ask: Any, answer: Any) -> None:
        answer.entities = self._matching(session, ask.filters)

    def _matching(self, session: Session, filters: Any) -> list[str]:
        """Entities that a request is about."""
        if filters.categories or filters.tags.tags or filters.bounds.points:
            raise Refused(
                self._codes.RESULT_FEATURE_UNSUPPORTED,
                "entities are filtered by their names alone",
            )
        try:
            wanted = re.compile(filters.filter)
        except re.error as error:
            raise InputError(
                f"filter {quoted(filters.filter)} is not an expression: {error}"
            ) from None
        return [name for name in self._entities(session) if wanted.search(name)]

    def _entities(self, session: Session) -> list[str]:
        return list(self._links(session))

    def _links(self, session: Session) -> dict[str, str]:
        """The link of each entity."""
        members = session.members.items()
        names = {name: links[0] for name, links in members}
        return names | {f"{name}/{link}": link for name, links in members for link in links}

    def _tell_info(self, session: Session, ask: Any, answer: Any) -> None:
        link, info, kinds = self._link(session, ask.entity), answer.info, self._kinds
        if ask.entity not in session.members:
            info.description = f"link of {ask.entity.removesuffix(f'/{link}')}"
            return
        links = session.members[ask.entity]
        info.description = f"robot of {len(links)} links, placed by its root {link}"
        if self._simulator.world is None or ask.entity in session.driven:
            info.category.category = kinds.CATEGORY_ROBOT
        elif FreeBody.of(session.robot, link) is None:
            info.category.category = kinds.CATEGORY_STATIC_OBJECT
            info.description = f"it is fixed, and placed by {link}"
        else:
            info.description = f"body of {len(links)} links, placed by {link}"

    def _tell_entity(self, session: Session, ask: Any, answer: Any) -> None:
        self._tell(session, [self._link(session, ask.entity)], [answer.state])

    def _tell_all(self, session: Session, ask: Any, answer: Any) -> None:
        answer.entities = self._matching(session, ask.filters)
        answer.states = [self._entity_state() for _ in answer.entities]
        links = [self._link(session, name) for name in answer.entities]
        self._tell(session, links, answer.states)

    def _tell(self, session: Session, links: list[str], states: Sequence[Any]) -> None:
        """Poses and velocities of links, all of one instant."""
        robot = session.robot
        with self._simulator.lock:
            q, v = session.motion.q.copy(), session.motion.v.copy()
            stamp = self._simulator.stamp(session)
        for link, state in zip(links, states, strict=True):
            pose, twist = state.pose, state.twist
            fill_pose(pose.position, pose.orientation, pose_numbers(robot.frame_pose(q, link)))
            rates = robot.frame_velocity(q, v, link).tolist()
            for vector, part in ((twist.linear, rates[:3]), (twist.angular, rates[3:])):
                vector.x, vector.y, vector.z = part
            state.header.frame_id = WORLD_FRAME
            fill_time(state.header.stamp, stamp)

    def _set_entity(self, session: Session, ask: Any, answer: Any) -> None:
        robot, state = session.robot, ask.state
        body = FreeBody.of(robot, self._link(session, ask.entity))
        if body is None:
            raise InputError(
                f"the pose of {quoted(ask.entity)} follows from the joint positions; set those "
                "with ~/set_state. Only what floats can be placed directly"
            )
        if state.header.frame_id not in ("", WORLD_FRAME):
            raise InputError(f"its pose is in {quoted(state.header.frame_id)}, not in the world")
        with self._simulator.lock:
            q, v = session.motion.q.copy(), session.motion.v.copy()
            if ask.set_pose:
                place, turn = state.pose.position, state.pose.orientation
                pose = np.array([place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w])
                try:
                    unit_quaternion("its orientation", pose[3:])
                except InputError as error:
                    raise Refused(type(answer).INVALID_POSE, str(error)) from None
                require_reasonable("position", pose[:3], "xyz")
                body.place(q, pose)
            if ask.set_twist:
                linear, angular = state.twist.linear, state.twist.angular
                twist = linear.x, linear.y, linear.z, angular.x, angular.y, angular.z
                body.drive(q, v, np.array(twist))
            require_reasonable("position", q, robot.position_labels)
            require_reasonable("velocity", v, robot.velocity_labels)
            session.require_slow(v)
            session.set_state(q, v)

    def _link(self, session: Session, entity: str) -> str:
        names = self._links(session)
        if entity not in names:
            raise Refused(
                self._codes.RESULT_NOT_FOUND,
                f"there is no entity {quoted(entity)}: get_entities lists them",
            )
        return names[entity]
