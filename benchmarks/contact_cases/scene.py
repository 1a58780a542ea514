"""A scene that `simulate`, `Stepper` and MuJoCo move alike, and what they report of its end."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

import mbdyn_ros
from mbdyn_ros import Environment, Stepper, Surface, simulate
from mbdyn_ros.model.model import Array
from mbdyn_ros.simulation.contact.height_field import height_field
from mbdyn_ros.simulation.contact.link_contacts import LinkContacts

G = 9.81
"""m/s^2."""

SOFTNESS = (0.002, 0.01, 0.02)
"""s, the time constants with which MuJoCo tries a scene; the best one counts."""

BOUNCE_SPEEDS = (300.0, 1000.0)
"""1/s, the rates of its contacts that bounce."""


@dataclass(frozen=True)
class Body:
    """A body that is free, or moves by one joint.

    geom : attributes of its shapes in MJCF, one text each.
    inertia : (3,) kg m^2 about its own axes; by default those of its shapes.
    place, turn, velocity, spin : (3,) m, (3,) rotation vector, (3,) m/s in the world and (3,)
        rad/s in its own axes, at the start; of a body with a joint `place[0]` and `velocity[0]`.
    joint : attributes of its joint in MJCF; "" where it is free.
    """

    name: str
    geom: Sequence[str]
    mass: float = 1.0
    inertia: Sequence[float] | None = None
    place: Sequence[float] = (0.0, 0.0, 0.0)
    turn: Sequence[float] = (0.0, 0.0, 0.0)
    velocity: Sequence[float] = (0.0, 0.0, 0.0)
    spin: Sequence[float] = (0.0, 0.0, 0.0)
    joint: str = ""

    @property
    def text(self) -> str:
        """The body in MJCF, at the origin."""
        joint = f"<joint name='{self.name}' {self.joint}/>" if self.joint else (
            f"<freejoint name='{self.name}'/>"
        )  # fmt: skip
        inertia, mass = "", f"mass='{self.mass / len(self.geom)}'"
        if self.inertia is not None:
            numbers = " ".join(map(repr, map(float, self.inertia)))
            inertia = f"<inertial pos='0 0 0' mass='{self.mass}' diaginertia='{numbers}'/>"
            mass = ""
        geoms = "".join(f"<geom {one} {mass}/>" for one in self.geom)
        return f"<body name='{self.name}'>{joint}{inertia}{geoms}</body>"


@dataclass(frozen=True)
class Wall:
    """A plane, with a radius the outside of a sphere, or ground through heights.

    heights, spacing : (n, m) m above the point, which is below their middle, and m between them.
    soft : arguments of `Surface.yielding`. velocity : of a belt. turning : friction (m) against
    turning about the normal and against rolling.
    """

    friction: float = 0.0
    restitution: float = 0.0
    normal: Sequence[float] = (0.0, 0.0, 1.0)
    point: Sequence[float] = (0.0, 0.0, 0.0)
    radius: float = 0.0
    heights: Array | None = None
    spacing: float = 0.05
    soft: dict[str, float] = field(default_factory=dict)
    velocity: Sequence[float] = (0.0, 0.0, 0.0)
    turning: tuple[float, float] = (0.0, 0.0)

    def surface(self, name: str) -> Surface:
        """The wall here."""
        laws = (self.restitution, self.friction, name)
        if self.radius:
            return Surface.sphere(self.radius, self.point, False, *laws)
        if self.heights is not None:
            return height_field(self.heights, self.spacing, self.point - self._middle, *laws)
        wall = Surface.plane(self.point, self.normal, *laws)
        if self.soft:
            wall = wall.yielding(**self.soft)
        if any(self.velocity):
            wall = wall.moving(self.velocity)
        return wall.resisting(self.turning[1], self.turning[0]) if any(self.turning) else wall

    @property
    def _middle(self) -> Array:
        """Of its heights, from their corner (3,), m."""
        assert self.heights is not None
        rows, columns = self.heights.shape
        return 0.5 * self.spacing * np.array([rows - 1, columns - 1, 0.0])

    def by_mujoco(self, name: str) -> tuple[str, str]:
        """Its asset in MJCF, and the attributes of its shape."""
        if self.heights is None:
            shape = f"type='plane' size='50 50 1' zaxis='{_text(self.normal)}'"
            if self.radius:
                shape = f"type='sphere' size='{self.radius}'"
            return "", f"pos='{_text(self.point)}' {shape}"
        low, (rows, columns) = float(self.heights.min()), self.heights.shape
        size = [*self._middle[:2], float(np.ptp(self.heights)), 0.1]
        asset = (
            f"<hfield name='{name}' nrow='{columns}' ncol='{rows}' size='{_text(size)}' "
            f"elevation='{_text((self.heights.T[::-1] - low).ravel())}'/>"
        )
        place = np.array(self.point) + [0, 0, low]
        return asset, f"pos='{_text(place)}' type='hfield' hfield='{name}'"


@dataclass(frozen=True)
class End:
    """What is known at the end of a motion: of every body its place (3,), m, its turn, its
    velocity (3,), m/s in the world, and its spin (3,), rad/s in its axes; and the force (N) along
    the normal of every wall and pair of bodies by name.
    """

    place: dict[str, Array]
    turn: dict[str, Rotation]
    velocity: dict[str, Array]
    spin: dict[str, Array]
    force: dict[str, float]


@dataclass(frozen=True)
class Scene:
    """Bodies among walls for a time (s).

    touching : friction and restitution of bodies on each other; None: they do not touch.
    effort : of bodies with a joint, by name.
    """

    bodies: Sequence[Body]
    walls: Sequence[Wall]
    duration: float
    touching: tuple[float, float] | None = None
    effort: dict[str, float] = field(default_factory=dict)

    # ---- here ------------------------------------------------------------------------------

    def _start(self) -> tuple[mbdyn_ros.Robot, Environment, Array, Array, Array]:
        driven = [one.name for one in self.bodies if one.joint]
        motors = "".join(f"<motor joint='{name}'/>" for name in driven)
        text = "".join(one.text for one in self.bodies)
        robot = mbdyn_ros.load(
            f"<mujoco><worldbody>{text}</worldbody><actuator>{motors}</actuator></mujoco>"
        )
        links = None
        if self.touching is not None:
            friction, restitution = self.touching
            links = LinkContacts(restitution, friction, convex=True)
        walls = [wall.surface(f"wall_{k}") for k, wall in enumerate(self.walls)]
        q, v = [], []
        for body in self.bodies:
            turn = Rotation.from_rotvec(body.turn)
            if body.joint:
                q.append(body.place[:1]), v.append(body.velocity[:1])
            else:
                q.append([*body.place, *turn.as_quat()])
                v.append([*turn.inv().apply(body.velocity), *body.spin])
        effort = np.zeros(len(robot.effort_labels))
        for name, push in self.effort.items():
            effort[robot.effort_labels.index(name)] = push
        return robot, Environment(walls, links=links), np.hstack(q), np.hstack(v), effort

    def _read(
        self, q: Array, v: Array, contacts: Sequence[mbdyn_ros.simulation.contact.impulses.Contact]
    ) -> End:
        end, at, rate = End({}, {}, {}, {}, {}), 0, 0
        for body in self.bodies:
            if body.joint:
                self._read_joint(end, body, q[at], v[rate])
                at, rate = at + 1, rate + 1
                continue
            turn = Rotation.from_quat(q[at + 3 : at + 7])
            end.place[body.name], end.turn[body.name] = q[at : at + 3].copy(), turn
            end.velocity[body.name] = turn.apply(v[rate : rate + 3])
            end.spin[body.name] = v[rate + 3 : rate + 6].copy()
            at, rate = at + 7, rate + 6
        for one in contacts:
            name = one.surface if len(one.links) < 2 else "|".join(sorted(one.links))
            push = float(one.force @ one.normal) if np.isfinite(one.normal).all() else one.force[0]
            end.force[name] = end.force.get(name, 0.0) + push
        return end

    @staticmethod
    def _read_joint(end: End, body: Body, q: float, v: float) -> None:
        end.place[body.name], end.velocity[body.name] = np.array([q, 0, 0]), np.array([v, 0, 0])
        end.turn[body.name], end.spin[body.name] = Rotation.identity(), np.zeros(3)

    def simulated(self) -> End:
        """The end by `simulate`."""
        robot, walls, q, v, effort = self._start()
        found = simulate(
            robot, q, v, self.duration, effort, environment=walls,
            times=[0.999 * self.duration, self.duration],
        )  # fmt: skip
        return self._read(found.q[-1], found.v[-1], found.contacts[-1])

    def stepped(self, step: float) -> End:
        """The end by `Stepper` in steps (s), or nearly so, as many as fit."""
        robot, walls, q, v, effort = self._start()
        count = round(self.duration / step)
        stepper = Stepper(robot, self.duration / count, walls)
        stepper.set_state(q, v)
        stepper.effort = effort
        stepper.advance(count)
        return self._read(stepper.q, stepper.v, stepper.contacts)

    # ---- MuJoCo ----------------------------------------------------------------------------

    def by_mujoco(self, step: float) -> Iterator[End]:
        """The ends by MuJoCo in steps (s), by every setting that is tried."""
        if any(wall.soft or any(wall.velocity) for wall in self.walls):
            return  # it has no such laws
        bounces = any(wall.restitution for wall in self.walls)
        bounces |= self.touching is not None and self.touching[1] > 0
        step = self.duration / round(self.duration / step)
        for soft in BOUNCE_SPEEDS if bounces else SOFTNESS:
            for integrator in ("implicitfast", "RK4"):
                yield self._by_mujoco(step, soft, integrator)

    def _by_mujoco(self, step: float, soft: float, integrator: str) -> End:
        def laws(
            friction: float, restitution: float, kind: int, turning: tuple[float, float] = (0, 0)
        ) -> str:
            reference = f"{max(soft, 2 * step)} 1"
            if soft > 1:
                loss = -np.log(max(restitution, 1e-3))
                ratio = loss / np.hypot(np.pi, loss)
                reference = f"{-(soft**2)} {-2 * ratio * soft}"
            other = 3 if self.touching is not None else 2
            return (
                f"friction='{friction} {turning[0]} {turning[1]}' solref='{reference}' "
                f"solimp='0.9999 0.9999 0.001' "
                f"condim='{6 if any(turning) else 3 if friction else 1}' "
                f"contype='{1 if kind else 2}' conaffinity='{1 if kind else other}' "
            )

        walls = assets = ""
        for k, wall in enumerate(self.walls):
            asset, shape = wall.by_mujoco(f"wall_{k}")
            assets += asset
            own = laws(wall.friction, wall.restitution, 1, wall.turning)
            own = own.replace("conaffinity='1'", "conaffinity='2'")
            walls += f"<geom name='wall_{k}' priority='1' {shape} {own}/>"
        bodies = "".join(one.text for one in self.bodies) + self._driven_text()
        bodies = bodies.replace("<geom ", f"<geom {laws(*(self.touching or (0.0, 0.0)), 0)}")
        motors = "".join(f"<motor joint='{one.name}'/>" for one in self.bodies if one.joint)
        model = mujoco.MjModel.from_xml_string(
            f"<mujoco><option timestep='{step}' cone='elliptic' impratio='100' tolerance='0' "
            f"iterations='200' noslip_iterations='20' integrator='{integrator}'/>"
            f"<default><joint solreflimit='{max(min(soft, 0.02), 2 * step)} 1'/></default>"
            f"<asset>{assets}</asset><worldbody>{walls}{bodies}</worldbody><actuator>{motors}</actuator></mujoco>"
        )
        data = mujoco.MjData(model)
        for body in self.bodies:
            joint, turn = data.joint(body.name), Rotation.from_rotvec(body.turn).as_quat()
            if body.joint:
                joint.qpos[:], joint.qvel[:] = body.place[0], body.velocity[0]
            else:
                joint.qpos[:] = [*body.place, turn[3], *turn[:3]]
                joint.qvel[:] = [*body.velocity, *body.spin]
        names = [one.name for one in self.bodies if one.joint]
        data.ctrl[:] = [self.effort.get(name, 0.0) for name in names]
        self._advance(model, data, round(self.duration / step))
        return self._read_mujoco(model, data)

    def _driven_text(self) -> str:
        """Bodies in MJCF that move as given: here none."""
        return ""

    def _advance(self, model: mujoco.MjModel, data: mujoco.MjData, count: int) -> None:
        mujoco.mj_step(model, data, nstep=count)

    def _read_mujoco(self, model: mujoco.MjModel, data: mujoco.MjData) -> End:
        end = End({}, {}, {}, {}, {})
        for body in self.bodies:
            joint = data.joint(body.name)
            if body.joint:
                self._read_joint(end, body, joint.qpos[0], joint.qvel[0])
                continue
            turn = Rotation.from_quat(np.roll(joint.qpos[3:], -1))
            end.place[body.name], end.turn[body.name] = joint.qpos[:3].copy(), turn
            end.velocity[body.name], end.spin[body.name] = joint.qvel[:3].copy(), joint.qvel[3:]
        force = np.zeros(6)
        for k in range(data.ncon):
            mujoco.mj_contactForce(model, data, k, force)
            geoms = [int(one) for one in data.contact[k].geom]
            bodies = sorted(model.body(model.geom_bodyid[one]).name for one in geoms)
            name = "|".join(bodies)
            for one in geoms:
                if model.geom_bodyid[one] == 0:
                    name = model.geom(one).name
            end.force[name] = end.force.get(name, 0.0) + float(force[0])
        return end


def _text(numbers: Sequence[float]) -> str:
    return " ".join(map(repr, map(float, numbers)))


@dataclass(frozen=True)
class Case:
    """A number that theory knows, read from the end of a motion."""

    name: str
    theory: float
    unit: str
    scene: Scene
    read: Callable[[End], float]

    def errors(self, step: float = 1e-3, long: float = 5e-3) -> dict[str, float]:
        """How far every engine is from theory: NaN where it does not go through."""
        scene, read = self.scene, self.read
        engines: dict[str, Callable[[], Iterator[End]]] = {
            "simulate": lambda: iter([scene.simulated()]),
            "Stepper": lambda: iter([scene.stepped(step)]),
            "Stepper, 5 ms": lambda: iter([scene.stepped(long)]),
            "MuJoCo": lambda: itertools.chain(scene.by_mujoco(step)),
        }
        found = {}
        for name, ends in engines.items():
            try:
                gaps = [abs(read(end) - self.theory) for end in ends()]
                found[name] = float(np.nanmin(gaps, initial=np.inf)) if gaps else np.nan
            except mbdyn_ros.MbdynError as error:
                print(f"{self.name}, {name}: {error}")
                found[name] = np.nan
        return found
