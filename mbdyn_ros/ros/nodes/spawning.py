"""Robots and bodies that come into a simulated world and go, by simulation_interfaces."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlparse

from rclpy.task import Future

from ...array import Array
from ...errors import InputError, MbdynError
from ...model.pose import roll_pitch_yaw
from ...model.read.description import described, outermost, read_description
from ...model.read.installed import find_robot, own_robots
from ...model.read.shape import find_mesh
from ...model.read.source_text import NamedText, Source
from ...robot import Robot
from ...simulation.world import GROUND, World
from ..messages.base_pose import pose_matrix, topic_word
from ..messages.named_numbers import quoted
from ..node.description import WORLD
from ..node.refusals import in_words
from .session import Session
from .simulation_node import SimulationNode

SPAWN_FORMATS = ("urdf", "sdf", "mjcf")
"""Formats of what may be spawned, as the standard calls them."""

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
"""Names of members: they are parts of topics."""

FLOATING = "floating_base"
"""The word in the query of a URI which says whether the root link is free."""


class Refused(InputError):
    """A request that is refused with a code of its own.

    code : of the result, as its message type has it.
    """

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


def entity(source: Source, floating: bool | None = None) -> Robot:
    """The robot of a description, free where simulators have it so.

    A URDF says nothing of that: its root is free if it has a mass and is not called `world`.

    Parameters
    ----------
    floating : whether the root is free, where it was asked for.
    """
    found = described(source)
    model = read_description(found)
    if floating is None and isinstance(found, NamedText) and outermost(found.text) == "robot":
        inertia = model.link(model.root).inertia
        floating = inertia is not None and inertia.mass > 0 and model.root != GROUND
    return Robot(model, floating_base=floating)


class Spawning:
    """Members of a world that come and go while it is simulated.

    What changes a world is prepared in a thread, and time goes on; it takes effect between two
    ticks, from the state that everything else is in by then.

    Parameters
    ----------
    messages : the module of simulation_interfaces that has them.
    """

    def __init__(self, simulator: SimulationNode, messages: Any) -> None:
        self._simulator, self._messages, self._codes = simulator, messages, messages.Result
        self._worker: threading.Thread | None = None
        self._spawned: set[str] = set()
        self._deleted = self._changes = False

    def close(self) -> None:
        """Wait for what is being prepared."""
        if self._worker is not None:
            self._worker.join()
        self._end_change()

    async def spawn(self, session: Session, ask: Any, answer: Any) -> None:
        """Answer SpawnEntity."""
        names: list[str] = []

        def add(world: World) -> World:
            names.append(self._add(ask, answer, world))
            return world

        await self._change(add)
        answer.entity_name = names[0]
        self._spawned.add(names[0])

    async def spawn_all(self, session: Session, ask: Any, answer: Any) -> None:
        """Answer SpawnEntities: what can be spawned is, all at once."""
        answer.results = [self._messages.SpawnResult() for _ in ask.spawn_requests]

        def add(world: World) -> World:
            for one, its in zip(ask.spawn_requests, answer.results, strict=True):
                try:
                    its.entity_name = self._add(one, its, world)
                except MbdynError as error:
                    self._fail(its, error)
            return world

        try:
            await self._change(add)
        except MbdynError as error:
            for its in answer.results:
                if its.entity_name or not its.result.error_message:
                    self._fail(its, error)
        good = [one for one in answer.results if one.entity_name]
        for one in good:
            one.result.result = self._codes.RESULT_OK
        self._spawned |= {one.entity_name for one in good}
        if len(good) < len(answer.results):
            words = f"{len(answer.results) - len(good)} of {len(answer.results)} were not spawned"
            raise Refused(type(answer).ENTITIES_SPAWN_FAILED, words)

    async def delete(self, session: Session, ask: Any, answer: Any) -> None:
        """Answer DeleteEntity."""
        name = ask.entity

        def remove(world: World) -> World:
            if name not in world.members:
                known = ", ".join(world.members) or "none"
                raise Refused(
                    self._codes.RESULT_NOT_FOUND,
                    f"there is no member {quoted(name)} to be deleted; there are {known}",
                )
            world.remove(name)
            return world

        await self._change(remove)
        self._deleted = self._deleted or name not in self._spawned
        self._spawned.discard(name)

    async def reset(self, everything: bool) -> None:
        """Take out what was spawned; put in what was deleted, where everything is reset."""

        def back(world: World) -> World:
            simulator = self._simulator
            if everything and simulator.at_first is not None:
                gravity = world.robot.gravity.tolist()
                return simulator.at_first.varied(simulator.payloads.variable, gravity)
            for name in self._spawned:
                world.remove(name)
            return world

        if self._spawned or (everything and self._deleted):
            await self._change(back)
            self._spawned.clear()
            self._deleted = self._deleted and not everything

    def tell_spawnables(self, session: Session, ask: Any, answer: Any) -> None:
        """Answer GetSpawnables: the robots in the box, by name; files are spawned by their URI."""
        for name, path in own_robots().items():
            one = self._messages.Spawnable(description=f"{name}, from {path.name}")
            getattr(one, "entity_resource", one).uri = name
            answer.spawnables.append(one)
        if ask.sources:
            answer.result.error_message = f"no such sources: {', '.join(ask.sources)}"

    # ---- one change ------------------------------------------------------------------------

    async def _change(self, change: Callable[[World], World]) -> None:
        """Go on in a changed world; where that is refused, nothing has changed."""
        simulator = self._simulator
        if simulator.world is None:
            raise Refused(
                self._codes.RESULT_FEATURE_UNSUPPORTED,
                f"one robot is simulated here: start the node with the parameter {WORLD}, which "
                "may be 'members: []'",
            )
        if self._worker is not None:
            raise Refused(
                self._codes.RESULT_INCORRECT_STATE,
                "the world is being changed by another request: wait for its answer",
            )
        prepared: Future[Callable[[], None]] = Future(executor=simulator.executor)
        # Only callbacks wake an executor that has nothing else to do, as while time stands still.
        prepared.add_done_callback(lambda _: None)

        def prepare() -> None:
            simulator.changing.acquire()  # another gravity that is being prepared comes first
            self._changes = True
            try:
                assert simulator.world is not None
                other = change(simulator.world.copy())
                robot = simulator.prepared(lambda: other.robot)
                prepared.set_result(simulator.replace(other, robot))
            except MbdynError as error:
                prepared.set_exception(error)
            except Exception as error:  # nobody else would answer
                prepared.set_exception(MbdynError(in_words(error)))

        self._worker = threading.Thread(target=prepare, name="world")
        self._worker.start()
        try:
            go_on = await prepared
            if go_on is not None:
                go_on()
        finally:
            self._worker.join()
            self._worker = None
            self._end_change()

    def _end_change(self) -> None:
        """Let others change the world."""
        if self._changes:
            self._changes = False
            self._simulator.changing.release()

    def _fail(self, answer: Any, error: MbdynError) -> None:
        """Let one of several say what was wrong with it."""
        answer.entity_name, answer.result.error_message = "", in_words(error)
        answer.result.result = getattr(error, "code", self._codes.RESULT_OPERATION_FAILED)

    def _add(self, ask: Any, answer: Any, world: World) -> str:
        """Add to a world what a request asks for; returns its name."""
        if ask.entity_namespace:
            raise Refused(
                self._codes.RESULT_FEATURE_UNSUPPORTED,
                f"entity_namespace is {quoted(ask.entity_namespace)}: topics of a member are "
                "those of the simulator with its name; leave it empty",
            )
        robot = self._read(getattr(ask, "entity_resource", ask), answer)
        name = self._named(ask, answer, robot, world)
        pose = self._pose(ask.initial_pose, answer)
        world.add(name, robot, pose[:3, 3].tolist(), roll_pitch_yaw(pose[:3, :3]))
        if not len(world.members[name].v):
            answer.result.error_message = f"{name} is fixed: none of its links is free"
        return name

    def _read(self, resource: Any, answer: Any) -> Robot:
        uri, text = resource.uri, resource.resource_string
        if not uri and not text.strip():
            words = "there is neither a uri nor a resource_string"
            raise Refused(type(answer).NO_RESOURCE, words)
        floating = None
        source: Source = text
        try:
            if uri:
                parts = urlparse(uri)
                query = {key: one[-1] for key, one in parse_qs(parts.query).items()}
                word = query.pop(FLOATING, None)
                if query or word not in (None, "true", "false"):
                    raise InputError(f"{quoted(uri)}: a query is ?{FLOATING}=true or =false")
                floating = None if word is None else word == "true"
                place = parts._replace(query="").geturl()
                source = find_mesh(place, None) or find_robot(place)
            elif not text.lstrip("\ufeff \t\r\n").startswith("<"):
                raise InputError("resource_string is not XML; a file is named by uri")
            return entity(source, floating)
        except MbdynError as error:
            raise Refused(type(answer).RESOURCE_PARSE_ERROR, in_words(error)) from None

    def _named(self, ask: Any, answer: Any, robot: Robot, world: World) -> str:
        wanted = ask.name or robot.model.name
        name = wanted
        if not NAME.fullmatch(name):
            if not ask.allow_renaming:
                words = f"{quoted(name)} is not a name of letters, digits and underscores"
                raise Refused(type(answer).NAME_INVALID, words)
            wanted = name = topic_word(name) or "entity"
        number = 1
        while name in world.members or name in world.robot.links:
            if not ask.allow_renaming:
                words = f"the name {quoted(name)} is taken; give another one"
                raise Refused(type(answer).NAME_NOT_UNIQUE, words)
            number += 1
            name = f"{wanted}_{number}"
        return name

    def _pose(self, given: Any, answer: Any) -> Array:
        frame = given.header.frame_id
        if frame not in ("", GROUND):
            words = f"its pose is in {quoted(frame)}; give it in the world"
            raise Refused(type(answer).INVALID_POSE, words)
        try:
            return pose_matrix(given.pose)
        except InputError as error:
            raise Refused(type(answer).INVALID_POSE, in_words(error)) from None
