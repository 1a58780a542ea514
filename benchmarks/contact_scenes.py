"""Scenes of many contacts, and limp falls, timed against MuJoCo: steps of both in turns.

    python -m benchmarks.contact_scenes [words ...]

A table that slides on 40 feet, a stack, scattered boxes, dominoes, a rope, and robots of other
people that fall limp on all of their shapes, in steps of 1 ms; only those whose names have all the
words. Every motion is taken a few times in blocks of steps, by both in turns, and of every block
the least time of the processor counts. Of each scene: microseconds a step of both, their ratio over
the whole motion and over the half of the blocks that are cheapest for each, our worst block as a
multiple of our median one, contacts of both at the end, and problems of ours in which a law was
missed.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

import mbdyn_ros
from mbdyn_ros import Environment, LinkContacts, Robot, Stepper, Surface
from mbdyn_ros.model.model import Array
from mbdyn_ros.model.shapes import Box, Capsule, Collision, Cylinder, Mesh, Sphere
from mbdyn_ros.simulation.contact.contacts import Contacts
from mbdyn_ros.simulation.contact.mesh_hull import MeshHull

from .falls import bent
from .race.robots import plain, robot_file

STEP, BLOCK, TIMES = 1e-3, 10, 5
"""s, steps of a block, and how often each motion is taken."""

FLOOR = "<geom type='plane' size='50 50 1' contype='2' conaffinity='1'/>"
"""The floor in MJCF: what stands on it has conaffinity 3 where bodies touch each other, else 2."""


@dataclass(frozen=True)
class Moving:
    """A motion that both libraries take.

    robot, walls, q, v : ours. model : MuJoCo's. duration : s.
    """

    name: str
    robot: Robot
    walls: Environment
    model: mujoco.MjModel
    q: Array
    v: Array
    duration: float

    @property
    def state(self) -> tuple[Array, Array]:
        """Its start as MuJoCo has it: quaternions begin with w, and bases move in world axes."""
        q, v, model = self.q.copy(), self.v.copy(), self.model
        free = model.jnt_type == mujoco.mjtJoint.mjJNT_FREE
        for at, rate in zip(model.jnt_qposadr[free], model.jnt_dofadr[free], strict=True):
            turn, linear = q[at + 3 : at + 7], slice(rate, rate + 3)
            turn[:] = np.roll(turn, 1)
            mujoco.mju_rotVecQuat(v[linear], self.v[linear], turn)
        return q, v


def scene(
    name: str, bodies: str, duration: float, friction: float, links: float | None = None
) -> Moving:
    """Bodies in MJCF that begin as they are written, on a floor; links : their own friction."""
    own = f"friction='{friction}' contype='1' conaffinity='{2 if links is None else 3}'"
    text = (
        f"<mujoco><compiler angle='radian'/><option timestep='{STEP}'/><default><geom {own}/>"
        f"</default><worldbody>{{}}{bodies}</worldbody></mujoco>"
    )
    robot = mbdyn_ros.load(text.format(""))
    touching = None if links is None else LinkContacts(0.0, links, convex=True)
    walls = Environment([Surface.plane(friction=friction, name="floor")], links=touching)
    model = mujoco.MjModel.from_xml_string(text.format(FLOOR))
    q, v = model.qpos0.copy(), np.zeros(robot.nv)
    for at in model.jnt_qposadr[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]:
        q[at + 3 : at + 7] = np.roll(q[at + 3 : at + 7], -1)
    return Moving(name, robot, walls, model, q, v, duration)


def table() -> Moving:
    """A table on 40 balls, which slides and turns."""
    feet = "".join(
        f"<geom type='sphere' size='0.01' pos='{x} {y} 0' mass='0.1'/>"
        for x in np.linspace(-0.4, 0.4, 8) for y in np.linspace(-0.3, 0.3, 5)
    )  # fmt: skip
    body = f"<body name='table' pos='0 0 0.01'><freejoint name='table'/>{feet}</body>"
    moving = scene("table on 40 feet slides", body, 0.5, 0.3)
    moving.v[:] = 2.0, 0.5, 0, 0, 0, 3.0
    return moving


def stack() -> Moving:
    """Ten boxes on each other."""
    boxes = "".join(
        f"<body name='b{k}' pos='0 0 {0.1 + 0.2 * k}'><freejoint name='b{k}'/>"
        "<geom type='box' size='.1 .1 .1' mass='1'/></body>" for k in range(10)
    )  # fmt: skip
    return scene("stack of ten boxes", boxes, 0.25, 0.8, 0.8)


def scattered() -> Moving:
    """Sixteen boxes that fall, each turned in its own way, and do not meet."""
    boxes = "".join(
        f"<body name='b{k}' pos='{0.5 * (k % 4)} {0.5 * (k // 4)} {0.2 + 0.05 * (k % 3)}' "
        f"euler='{0.3 * (k % 4)} {0.2 * (k % 5)} 0'><freejoint name='b{k}'/>"
        "<geom type='box' size='.1 .1 .1' mass='1'/></body>" for k in range(16)
    )  # fmt: skip
    return scene("sixteen boxes scattered", boxes, 0.5, 0.8, 0.8)


def dominoes() -> Moving:
    """Six dominoes, of which the first falls on the next."""
    boxes = "".join(
        f"<body name='d{k}' pos='{0.06 * k} 0 0.1'><freejoint name='d{k}'/>"
        "<geom type='box' size='.01 .05 .1' mass='0.2'/></body>" for k in range(6)
    )  # fmt: skip
    moving = scene("six dominoes", boxes, 0.8, 0.5, 0.3)
    moving.v[0], moving.v[4] = 0.12, 1.2
    return moving


def rope(count: int = 50) -> Moving:
    """A rope of capsules with two hinges each, dropped on the floor."""
    text = ""
    for k in reversed(range(count)):
        place = f"pos='{0.06 if k else 0} 0 {0 if k else 0.05}'"
        joints = "<freejoint name='r0'/>" if not k else (
            f"<joint name='y{k}' type='hinge' axis='0 1 0'/><joint name='z{k}' axis='0 0 1'/>"
        )  # fmt: skip
        text = (
            f"<body name='r{k}' {place}>{joints}<geom type='capsule' size='0.01' mass='0.02' "
            f"fromto='0 0 0 0.06 0 0'/>{text}</body>"
        )
    moving = scene(f"rope of {count} falls", text, 0.3, 0.5)
    moving.v[6::2] = 0.5 * np.sin(np.arange(count - 1))
    return moving


def fall(name: str, file: str, restitution: float = 0.0, spin: float = 0.0) -> Moving:
    """A limp robot of example-robot-data that falls with all its shapes on a floor."""
    robot = mbdyn_ros.load(robot_file(file), floating_base=True)
    floor = Surface.plane(restitution=restitution, friction=0.8, name="floor")
    walls = Environment([floor], joint_limits=False)
    spec = mujoco.MjSpec.from_string(plain(file))
    spec.compiler.fusestatic = False
    spec.option.timestep = STEP
    spec.bodies[1].add_freejoint()
    for link in robot.model.links:
        for shape in link.collisions:
            add_shape(spec, robot, link.name, shape)
    plane = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[50, 50, 1])
    plane.contype, plane.conaffinity, plane.friction = 2, 1, [0.8, 0.005, 0.0001]
    model = spec.compile()
    model.geom_friction[:, 0] = 0.8
    model.jnt_limited[:] = 0
    q, v = bent(robot), np.zeros(robot.nv)
    contacts = Contacts(robot, walls)
    q[2] += 0.1 - contacts.distances(q, v)[0].min()
    v[3:6] = spin, 0.3 * spin, 0.1 * spin
    return Moving(name, robot, walls, model, q, v, 2.0)


def add_shape(spec: mujoco.MjSpec, robot: Robot, link: str, shape: Collision) -> None:
    """The same shape for MuJoCo; a mesh as the hull of the corners that ours touches with."""
    one, kind = shape.geometry, mujoco.mjtGeom
    geom = spec.body(link).add_geom(contype=1, conaffinity=2, mass=0)
    geom.pos = shape.origin.translation
    mujoco.mju_mat2Quat(geom.quat, np.array(shape.origin.rotation, float).ravel())
    if isinstance(one, Box):
        geom.type, geom.size = kind.mjGEOM_BOX, np.array(one.size) / 2
    elif isinstance(one, Sphere):
        geom.type, geom.size = kind.mjGEOM_SPHERE, [one.radius, 0, 0]
    elif isinstance(one, Cylinder):
        geom.type = kind.mjGEOM_CAPSULE if isinstance(one, Capsule) else kind.mjGEOM_CYLINDER
        geom.size = [one.radius, one.length / 2, 0]
    elif isinstance(one, Mesh):
        mesh = spec.add_mesh(name=f"mesh{len(spec.meshes)}")
        mesh.uservert = MeshHull(shape, robot.model.source, link).corners.ravel()
        geom.type, geom.meshname = kind.mjGEOM_MESH, mesh.name


SCENES: dict[str, Callable[[], Moving]] = {
    "table on 40 feet slides": table,
    "stack of ten boxes": stack,
    "sixteen boxes scattered": scattered,
    "six dominoes": dominoes,
    "rope of 50 falls": rope,
    "go2 tumbles": lambda: fall("go2 tumbles", "go2.urdf", 0.3, 3.0),
    "solo12 falls": lambda: fall("solo12 falls", "solo12.urdf"),
    "go2 falls": lambda: fall("go2 falls", "go2.urdf"),
    "talos falls": lambda: fall("talos falls", "talos_reduced.urdf"),
}


def blocks(moving: Moving) -> tuple[Array, Array, Stepper, mujoco.MjData]:
    """Least times (s of the processor) of every block by ours and by MuJoCo."""
    count = round(moving.duration / STEP / BLOCK)
    stepper, data = Stepper(moving.robot, STEP, moving.walls), mujoco.MjData(moving.model)
    qpos, qvel = moving.state
    least = np.full((2, count), np.inf)
    for _ in range(TIMES):
        stepper.set_state(moving.q, moving.v)
        mujoco.mj_resetData(moving.model, data)
        data.qpos[:], data.qvel[:] = qpos, qvel
        for k in range(count):
            start = time.thread_time()
            stepper.advance(BLOCK)
            middle = time.thread_time()
            mujoco.mj_step(moving.model, data, nstep=BLOCK)
            took = middle - start, time.thread_time() - middle
            least[:, k] = np.minimum(least[:, k], took)
    return least[0] / BLOCK * 1e6, least[1] / BLOCK * 1e6, stepper, data


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    print(f"{'':26}   ours MuJoCo  ratio  cheap half  worst  contacts  unsettled")
    for name, make in SCENES.items():
        if not all(word in name.split() for word in sys.argv[1:]):
            continue
        moving = make()
        ours, theirs, stepper, data = blocks(moving)
        half = slice(len(ours) // 2)
        cheap = np.sort(ours)[half].mean() / np.sort(theirs)[half].mean()
        print(
            f"{name:26} {ours.mean():6.1f} {theirs.mean():6.1f} {ours.mean() / theirs.mean():6.2f} "
            f"{cheap:11.2f} {ours.max() / np.median(ours):6.1f} {len(stepper.contacts):5d}, "
            f"{data.ncon:3d} {stepper.unsettled:7d}", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
