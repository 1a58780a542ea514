"""A body on a plate that moves as given: in MuJoCo a mocap body, whose velocity contacts miss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

import mbdyn_ros
from mbdyn_ros import Environment, GivenMotion, World
from mbdyn_ros.model.model import Array
from mbdyn_ros.model.shapes import Box, Sphere
from mbdyn_ros.simulation.contact.impulses import Contact
from mbdyn_ros.simulation.contact.link_contacts import LinkContacts

from .scene import Case, End, G, Scene
from .single import R, ball, block

SIZE = (2.0, 2.0, 0.1)
"""m, of the plate; its upper face goes through the origin."""

CRATE = (0.2, 0.2, 0.1)
"""m, of the block."""


@dataclass(frozen=True)
class Driven(Scene):
    """A body on a plate with a given motion; its walls are none.

    motion : of the plate. shape : of the body. plate, at : edges (m) of the plate and where its
        middle is at first (m). gravity : m/s^2.
    """

    motion: GivenMotion | None = None
    shape: Box | Sphere = Box(CRATE)
    plate: Sequence[float] = SIZE
    at: Sequence[float] = (0.0, 0.0, -SIZE[2] / 2)
    gravity: float = G

    def _start(self) -> tuple[mbdyn_ros.Robot, Environment, Array, Array, Array]:
        (body,), (friction, restitution) = self.bodies, self.touching or (0.0, 0.0)
        links = LinkContacts(restitution, friction, convex=True)
        world = World(links=links, gravity=(0, 0, -self.gravity))
        world.add("plate", Box(tuple(self.plate)), xyz=tuple(self.at), motion=self.motion)
        world.add(body.name, self.shape, mass=body.mass, xyz=tuple(body.place))
        robot = world.robot
        v = robot.home_velocity.copy()
        v[1:4], v[4:7] = body.velocity, body.spin
        effort = np.zeros(len(robot.effort_labels))
        return robot, world.environment, robot.home_position.copy(), v, effort

    def _read(self, q: Array, v: Array, contacts: Sequence[Contact]) -> End:
        end = super()._read(q[1:], v[1:], contacts)  # the first is the time of the plate
        for body in self.bodies:  # positions count from where the world put it
            end.place[body.name] += body.place
        return end

    def _driven_text(self) -> str:
        halves = " ".join(str(one / 2) for one in self.plate)
        return f"<body name='plate' mocap='true'><geom type='box' size='{halves}'/></body>"

    def _advance(self, model: mujoco.MjModel, data: mujoco.MjData, count: int) -> None:
        robot, _, q, _, _ = self._start()
        model.opt.gravity[2] = -self.gravity
        for _ in range(count):
            q[0] = data.time
            pose = robot.frame_pose(q, "plate")
            data.mocap_pos[0] = pose[:3, 3]
            data.mocap_quat[0] = np.roll(Rotation.from_matrix(pose[:3, :3]).as_quat(), 1)
            mujoco.mj_step(model, data)


def on_plate(
    motion: GivenMotion, duration: float, friction: float = 0.5, **start: Sequence[float]
) -> Driven:
    """The block on the plate."""
    given = {"place": (0.0, 0.0, CRATE[2] / 2), **start}
    body = block(CRATE, **given)
    return Driven([body], [], duration, (friction, 0.0), motion=motion)


def driven() -> list[Case]:
    """A lift, a shaking table, a turntable, a plate that tilts, and a press."""
    rise, time = 0.3, 0.5
    greatest = (3 - np.sqrt(3)) / 6  # the share of the time at which a lift accelerates most
    a = rise / time**2 * 60 * greatest * (1 - greatest) * (1 - 2 * greatest)
    lift = GivenMotion.waypoints([0.0, time], [0.0, rise])
    size, rate = 0.02, 8 * np.pi
    leaves = np.arcsin(G / (size * rate**2)) / rate
    flight = 0.04
    up = size * rate * np.cos(rate * leaves)
    height = size * np.sin(rate * leaves) + up * flight - G * flight**2 / 2
    shaken = on_plate(
        GivenMotion.sine(size, 4.0), leaves + flight, velocity=(0.0, 0.0, size * rate)
    )
    steep = 0.97 * np.arctan(0.5)
    tilts = GivenMotion.waypoints([0.0, 2.0], [0.0, steep], about=(0, 1, 0))
    # It turns about the middle of the plate.
    tilted = (CRATE[2] + SIZE[2]) / 2 * np.sin(steep)
    turns = on_plate(
        GivenMotion.steady(1.0, about=(0, 0, 1)), 1.0, place=(0.5, 0.0, CRATE[2] / 2),
        velocity=(0.0, 0.5, 0.0), spin=(0.0, 0.0, 1.0),
    )  # fmt: skip
    press = Driven(
        [ball()], [], 0.2, (0.5, 0.5), motion=GivenMotion.steady(2.0, along=(1, 0, 0)),
        shape=Sphere(R), plate=(0.05, 1.0, 1.0), at=(-0.3, 0.0, 0.0), gravity=0.0,
    )  # fmt: skip
    return [
        Case(
            "block in a lift: m (g + a) where a is greatest", G + a, "N",
            on_plate(lift, greatest * time), lambda e: e.force["box|plate"],
        ),
        Case(
            "block leaves a table that shakes, A w^2 > g: its height", height, "m",
            shaken, lambda e: float(e.place["box"][2]) - CRATE[2] / 2,
        ),
        Case(
            "its speed upwards", up - G * flight, "m/s",
            shaken, lambda e: float(e.velocity["box"][2]),
        ),
        Case(
            "turntable carries a block", 0.5 * np.cos(1.0), "m",
            turns, lambda e: float(e.place["box"][0]),
        ),
        Case(
            "block rests on a plate that tilts, 0.97 of the friction angle", tilted, "m",
            on_plate(tilts, 2.5), lambda e: float(e.place["box"][0]),
        ),
        Case(
            "press strikes a ball: (1 + e) v", 3.0, "m/s",
            press, lambda e: float(e.velocity["ball"][0]),
        ),
    ]  # fmt: skip
