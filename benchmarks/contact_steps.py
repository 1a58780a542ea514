"""Steps of a quadruped on its feet and in the air, beside MuJoCo's, in one interleaved run.

    python -m benchmarks.contact_steps

Both have the same bodies and a ball at every foot; a PD holds the joints. The least of many groups
of ten steps counts. Then 1024 motions in rollouts, ours and `mujoco.rollout`, on two threads: half
of them stand and half fall, with noise on every effort of every step; there the processor's time
counts.
"""

from __future__ import annotations

import time
import warnings

import mujoco
import numpy as np
from mujoco import rollout

import mbdyn_ros
from mbdyn_ros import Environment, Stepper, Surface
from mbdyn_ros.model.model import Array

from .race.robots import Entry, Runner

RADIUS, STEP, GROUP, ROUNDS = 0.02, 1e-3, 10, 200
"""m of a foot, s, steps that are timed together, and how often."""

MANY, STEPS, NOISE = 1024, 50, 0.1
"""Motions and steps of the rollouts, and what is drawn for every effort (N m)."""


def pose(robot: mbdyn_ros.Robot) -> Array:
    """Standing with bent legs, feet not yet on the floor."""
    q = np.zeros(robot.nq)
    q[6] = 1.0
    for k, label in enumerate(robot.position_labels):
        front = 1.0 if label.startswith("F") else -1.0
        for word, bend in (("HFE", 0.8 * front), ("KFE", -1.6 * front)):
            if word in label:
                q[k] = bend
    return q


def peer(runner: Runner, feet: list[str]) -> mujoco.MjModel:
    """The robot as MuJoCo's model, with balls for feet on a plane."""
    spec = mujoco.MjSpec.from_string(runner.text)
    spec.compiler.fusestatic = False
    spec.option.timestep = STEP
    spec.bodies[1].add_freejoint()
    sphere, plane = mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_PLANE
    for foot in feet:
        geom = spec.body(foot).add_geom(type=sphere, size=[RADIUS, 0, 0])
        geom.contype, geom.conaffinity = 1, 2
    spec.worldbody.add_geom(type=plane, size=[10, 10, 1], contype=2, conaffinity=1)
    return spec.compile()


def timed(calls: dict[str, object], before: object) -> dict[str, float]:
    """Least time (us) of a step by each, taken in turns."""
    least = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            before(name)  # type: ignore[operator]
            start = time.perf_counter()
            call()  # type: ignore[operator]
            least[name] = min(least[name], (time.perf_counter() - start) / GROUP * 1e6)
    return least


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
    runner = Runner(Entry("Solo12", "solo12.urdf", floating_base=True))
    robot, feet = runner.robot, ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
    floor = Surface.plane(restitution=0.0, friction=0.8, name="floor")
    walls = Environment([floor], [(foot, (0, 0, 0), RADIUS) for foot in feet])
    ours, free, model = Stepper(robot, STEP, walls), Stepper(robot, STEP), peer(runner, feet)
    data, q = mujoco.MjData(model), pose(robot)
    low = min(robot.frame_pose(q, foot)[2, 3] for foot in feet)
    q[2] = RADIUS - low + 1e-9
    ours.set_state(q, np.zeros(robot.nv))
    data.qpos[:] = [*q[:3], 1, 0, 0, 0, *q[7:]]

    def hold(name: str) -> None:
        if name == "ours":
            ours.effort[6:] = 3.0 * (q[7:] - ours.q[7:]) - 0.05 * ours.v[6:]
        elif name == "MuJoCo":
            data.qfrc_applied[6:] = 3.0 * (q[7:] - data.qpos[7:]) - 0.05 * data.qvel[6:]

    for _ in range(1000):
        hold("ours"), hold("MuJoCo"), ours.advance(), mujoco.mj_step(model, data)
    calls = {
        "ours": lambda: ours.advance(GROUP),
        "MuJoCo": lambda: mujoco.mj_step(model, data, nstep=GROUP),
    }
    ours_effort = ours.effort.copy()
    standing = timed(calls, hold)
    print(f"standing, {len(ours.contacts)} and {data.ncon} contacts:", standing)
    high = q + np.eye(robot.nq)[2] * 1e3
    for stepper in (ours, free):
        stepper.set_state(high, np.zeros(robot.nv))
        stepper.effort[:] = 0.0
    data.qpos[2] += 1e3
    falling = timed({**calls, "free": lambda: free.advance(GROUP)}, lambda name: None)
    print("falling:", falling)

    rollouts(runner.robot, walls, model, q, ours_effort)


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
