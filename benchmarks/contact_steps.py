"""Steps of robots on their feet and in the air, against MuJoCo's, in one interleaved run.

    python -m benchmarks.contact_steps

Solo12 on four balls, and G1 on the eight of its two feet. Both libraries have the same bodies
and balls; a PD holds the joints. The least of many calls counts. Then 1024 motions of
Solo12 in rollouts, ours and `mujoco.rollout`, on two threads: half of them stand and half fall,
with noise on every effort of every step; there the processor's time counts. At last the scenes of
many contacts of `benchmarks.contact_scenes`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco import rollout

import mbdyn_ros
from mbdyn_ros import Environment, Stepper, Surface
from mbdyn_ros.model.model import Array

from . import contact_scenes
from .race.robots import Entry, Runner

STEP, GROUP, ROUNDS = 1e-3, 10, 500
"""s, steps of one call in the air, and how often calls are timed."""

MANY, STEPS, NOISE = 1024, 50, 0.1
"""Motions and steps of the rollouts, and what is drawn for every effort (N m)."""

RATE = 20.0
"""1/s, of a PD."""

Ball = tuple[str, tuple[float, float, float], float]


@dataclass(frozen=True)
class Stander:
    """A robot on its feet.

    balls : of its feet: link, place (m) in it, and radius (m).
    bends : angles (rad) of joints by words in their names; others are straight.
    gains : of the PD by such words: N m/rad, N m s/rad; of others RATE^2 and RATE by what
        they turn.
    """

    entry: Entry
    balls: tuple[Ball, ...]
    bends: dict[str, float]
    gains: dict[str, tuple[float, float]]

    def pose(self, robot: mbdyn_ros.Robot) -> Array:
        """Standing, feet a little above the floor."""
        q = np.zeros(robot.nq)
        q[6] = 1.0
        for k, label in enumerate(robot.position_labels):
            q[k] += sum(angle for word, angle in self.bends.items() if word in label)
        for link, xyz, radius in self.balls:
            low = (robot.frame_pose(q, link) @ [*xyz, 1.0])[2] - radius
            q[2] = max(q[2], q[2] - low + 1e-9)
        return q

    def stiffness(self, robot: mbdyn_ros.Robot) -> Array:
        """Gains (2, n) of the joints."""
        turned = np.diag(robot.mass_matrix(self.pose(robot)))[6:]
        gains = np.outer([RATE**2, RATE], turned)
        for k, label in enumerate(robot.velocity_labels[6:]):
            for word, pair in self.gains.items():
                if word in label:
                    gains[:, k] = pair
        return gains


SOLO = Stander(
    Entry("Solo12", "solo12.urdf", floating_base=True),
    tuple((f"{leg}_FOOT", (0.0, 0.0, 0.0), 0.02) for leg in ("FL", "FR", "HL", "HR")),
    {
        f"{leg}_{part}": bend if leg[0] == "F" else -bend
        for leg in ("FL", "FR", "HL", "HR")
        for part, bend in (("HFE", 0.8), ("KFE", -1.6))
    },
    {"_": (3.0, 0.05)},
)
G1 = Stander(
    Entry("G1", "g1_29dof_rev_1_0.urdf", floating_base=True),
    tuple(
        (f"{side}_ankle_roll_link", (x, sign * y, -0.03), 0.005)
        for side in ("left", "right")
        for x, y in ((-0.05, 0.025), (0.12, 0.03))
        for sign in (1.0, -1.0)
    ),
    {"hip_pitch": -0.1, "knee": 0.3, "ankle_pitch": -0.2},
    dict.fromkeys(("hip", "knee", "ankle"), (1000.0, 5.0)),
)


def peer(runner: Runner, balls: tuple[Ball, ...]) -> mujoco.MjModel:
    """The robot as MuJoCo's model, with balls for feet on a plane."""
    spec = mujoco.MjSpec.from_string(runner.text)
    spec.compiler.fusestatic = False
    spec.option.timestep = STEP
    spec.bodies[1].add_freejoint()
    sphere, plane = mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_PLANE
    for link, xyz, radius in balls:
        geom = spec.body(link).add_geom(type=sphere, size=[radius, 0, 0], pos=xyz)
        geom.contype, geom.conaffinity = 1, 2
    spec.worldbody.add_geom(type=plane, size=[10, 10, 1], contype=2, conaffinity=1)
    return spec.compile()


def timed(
    calls: dict[str, Callable[[int], object]], group: int, before: Callable[[str], object]
) -> dict[str, float]:
    """Least time (us) of a step by each, taken in turns, `steps` of each in a call."""
    least = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            before(name)
            start = time.perf_counter()
            call(group)
            least[name] = min(least[name], (time.perf_counter() - start) / group * 1e6)
    return {name: round(one, 2) for name, one in least.items()}


def compared(stander: Stander) -> tuple[mbdyn_ros.Robot, Environment, mujoco.MjModel, Array, Array]:
    """Print times; gives the robot, walls, peer, its pose and the efforts that hold it."""
    runner = Runner(stander.entry)
    robot, model, q = runner.robot, peer(runner, stander.balls), stander.pose(runner.robot)
    floor = Surface.plane(restitution=0.0, friction=0.8, name="floor")
    walls = Environment([floor], stander.balls, joint_limits=False)
    nothing = Environment([], joint_limits=False)
    ours, free = Stepper(robot, STEP, walls), Stepper(robot, STEP, nothing)
    data = mujoco.MjData(model)
    kp, kd = stander.stiffness(robot)
    ours.set_state(q, np.zeros(robot.nv))
    data.qpos[:] = [*q[:3], 1, 0, 0, 0, *q[7:]]

    def hold(name: str) -> None:
        if name == "ours":
            ours.effort[6:] = kp * (q[7:] - ours.q[7:]) - kd * ours.v[6:]
        elif name == "MuJoCo":
            data.qfrc_applied[6:] = kp * (q[7:] - data.qpos[7:]) - kd * data.qvel[6:]

    for _ in range(1000):
        hold("ours"), hold("MuJoCo"), ours.advance(), mujoco.mj_step(model, data)
    calls: dict[str, Callable[[int], object]] = {
        "ours": ours.advance,
        "MuJoCo": lambda steps: mujoco.mj_step(model, data, nstep=steps),
    }
    effort = ours.effort.copy()
    standing, heights = timed(calls, 1, hold), (ours.q[2] - q[2], data.qpos[2] - q[2])
    name = stander.entry.name
    print(f"{name} standing, {len(ours.contacts)} and {data.ncon} contacts, us a step:", standing)
    assert max(map(abs, heights)) < 0.05, f"{name} does not stand: {heights} m"
    high = q + np.eye(robot.nq)[2] * 1e3
    for stepper in (ours, free):
        stepper.set_state(high, np.zeros(robot.nv))
        stepper.effort[:] = 0.0
    data.qpos[2], data.qfrc_applied[:] = data.qpos[2] + 1e3, 0.0
    calls["without walls"] = free.advance
    print(f"{name} falling:", timed(calls, GROUP, lambda name: None))
    return robot, walls, model, q, effort


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
    compared(G1)
    rollouts(*compared(SOLO))
    contact_scenes.main()


def rollouts(
    robot: mbdyn_ros.Robot, walls: Environment, model: mujoco.MjModel, q: Array, hold: Array
) -> None:
    """Print the steps a second of both, for motions that differ: half of them fall.

    q : standing. hold : the efforts that hold it there; every row has its own noise on them.
    """
    rng, nv = np.random.default_rng(0), robot.nv
    starts, speeds = np.tile(q, (MANY, 1)), np.zeros((MANY, nv))
    fall = slice(MANY // 2, MANY)
    starts[fall, 2] += rng.uniform(0, 0.05, MANY - MANY // 2)
    speeds[fall] = 0.3 * rng.normal(size=speeds[fall].shape)
    efforts = hold + NOISE * rng.normal(size=(MANY, STEPS, nv)) * (np.arange(nv) > 5)
    kind, data = mujoco.mjtState.mjSTATE_FULLPHYSICS, mujoco.MjData(model)
    states = np.zeros((MANY, mujoco.mj_stateSize(model, kind)))
    for start, speed, state in zip(starts, speeds, states, strict=True):
        data.qpos[:], data.qvel[:] = [*start[:3], 1, 0, 0, 0, *start[7:]], speed
        mujoco.mj_getState(model, data, state, kind)
    datas, drive = [mujoco.MjData(model) for _ in range(2)], mujoco.mjtState.mjSTATE_QFRC_APPLIED
    best: dict[str, float] = {}
    for _ in range(5):
        for method in ("rk4", "semi_implicit"):
            start = time.process_time()
            robot.rollout(starts, speeds, efforts, STEP, method, terminal=True, environment=walls)
            best[method] = min(best.get(method, np.inf), time.process_time() - start)
        start = time.process_time()
        rollout.rollout(model, datas, states, efforts, control_spec=drive, nstep=STEPS)
        best["MuJoCo"] = min(best.get("MuJoCo", np.inf), time.process_time() - start)
    least = {k: round(best[k] / (MANY * STEPS) * 1e6, 2) for k in best}
    print("rollouts, us of the processor a step:", least)


if __name__ == "__main__":
    main()
