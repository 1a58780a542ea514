"""Batches and rollouts against Pinocchio's thread pool and MuJoCo's rollouts.

    python -m benchmarks.batches [RACE ...] [--rounds 15] [--states 10000] [--json]

Blocks of calls take turns in one process; minimum and median of the calls' times, per state (and
step), and the median of the first calls of all blocks, which find none of their data in the cache.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import mbdyn_ros
from mbdyn_ros import Robot
from mbdyn_ros.bench.benchmark import POOLS, PinocchioPeer

from .race.robots import ENTRIES, Entry, urdf
from .race.run import AGREEMENT

THREADS = 2
MOTIONS, STEPS, DT = 512, 50, 1e-3
BLOCK = 4
REST = 0.03
"""s; OpenMP's threads spin for about 0.02 s on the processors that the next call needs."""


def alternate(
    calls: dict[str, Callable[[], object]], rounds: int, parts: int
) -> dict[str, dict[str, float]]:
    """Microseconds per part: minimum, median, and median of the first calls, of every call."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            time.sleep(REST)
            for _ in range(BLOCK):
                start = time.perf_counter()
                call()
                times[name].append(1e6 * (time.perf_counter() - start) / parts)
    return {
        name: {
            "minimum": min(listed),
            "median": statistics.median(listed),
            "first": statistics.median(listed[::BLOCK]),
        }
        for name, listed in times.items()
    }


def on_threads(count: int, call: Callable[[], object]) -> Callable[[], object]:
    """The call on at most that many threads of ours."""

    def run() -> None:
        os.environ["MBDYN_ROS_THREADS"] = str(count)
        call()

    return run


def batch_race(entry: Entry, states: int, rounds: int) -> dict[str, Any]:
    """Inverse and forward dynamics of many states."""
    import pinocchio as pin

    text = urdf(entry)
    robot = mbdyn_ros.load(text, floating_base=entry.floating_base)
    random = np.random.default_rng(0)
    q = random.uniform(-1, 1, (states, robot.nq))
    if entry.floating_base:
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    v, a = random.normal(size=(2, states, robot.nv))

    peer = PinocchioPeer(robot, text, q[0], v[0], a[0])
    pool, embedding, theirs_q = (
        pin.ModelPool(peer.model, THREADS),
        peer.embedding,
        peer.positions(q),
    )

    def contest(name: str, pooled: str) -> dict[str, Any]:
        out = np.empty((states, robot.nv))
        columns = [np.asfortranarray(x.T) for x in (theirs_q, v @ embedding.T, a @ embedding.T)]
        theirs = np.asfortranarray(out.T.copy())
        method, function = getattr(robot, name), getattr(pin, pooled)
        calls: dict[str, Callable[[], object]] = {}
        for threads in (1, THREADS):
            calls[f"pinocchio {threads}"] = partial(function, threads, pool, *columns, theirs)
            ours = partial(method, q, v, a, friction=False, out=out)
            calls[f"ours {threads}"] = on_threads(threads, ours)
        times = alternate(calls, rounds, states)
        gap = float(np.abs(theirs.T @ embedding - out).max() / np.abs(out).max())
        assert gap < AGREEMENT, f"{entry.name}: {name} differs by {gap:.1e} relative"
        return {"times": times, "agreement": gap}

    return {name: contest(name, pooled) for name, pooled in POOLS.items()}


def mujoco_twin(robot: Robot, text: str, integrator: str) -> Any:
    """The robot in MuJoCo, from its URDF, with motors and nothing else."""
    import mujoco

    spec = mujoco.MjSpec.from_string(text)
    spec.compiler.fusestatic = False
    spec.option.integrator = getattr(mujoco.mjtIntegrator, integrator)
    spec.option.timestep = DT
    for flag in ("mjDSBL_CONTACT", "mjDSBL_CONSTRAINT", "mjDSBL_EULERDAMP"):
        spec.option.disableflags |= int(getattr(mujoco.mjtDisableBit, flag))
    for joint in robot.actuated_joints:
        motor = spec.add_actuator()
        motor.name, motor.target, motor.trntype = joint, joint, mujoco.mjtTrn.mjTRN_JOINT
        motor.gainprm[0] = 1.0
    return spec.compile()


def rollout_race(rounds: int) -> dict[str, Any]:
    """Motions of a UR5 without contacts."""
    import mujoco
    from mujoco import rollout as peer

    text = urdf(ENTRIES[0])
    robot = mbdyn_ros.load(text)
    random = np.random.default_rng(0)
    q, v = random.uniform(-1, 1, (2, MOTIONS, robot.nq))
    efforts = random.normal(size=(MOTIONS, STEPS, robot.nv))

    def contest(method: str, integrator: str) -> dict[str, Any]:
        model = mujoco_twin(robot, text, integrator)
        data = [mujoco.MjData(model) for _ in range(THREADS)]
        states = np.concatenate([np.zeros((MOTIONS, 1)), q, v], axis=1)
        ours = partial(robot.rollout, q, v, efforts, DT, method, friction=False)

        def theirs(pool: Any, threads: int) -> Any:
            return pool.rollout(model, data[:threads], states, efforts)[0]

        with peer.Rollout(nthread=0) as alone, peer.Rollout(nthread=THREADS) as together:
            calls: dict[str, Callable[[], object]] = {}
            for threads, pool in ((1, alone), (THREADS, together)):
                calls[f"mujoco {threads}"] = partial(theirs, pool, threads)
                calls[f"ours {threads}"] = on_threads(threads, ours)
            times = alternate(calls, rounds, MOTIONS * STEPS)
            gap = np.abs(theirs(alone, 1)[..., 1 : 1 + robot.nq] - ours()[0]).max()
        return {"times": times, "agreement": float(gap)}

    methods = {"rk4": "mjINT_RK4", "semi_implicit": "mjINT_EULER"}
    return {method: contest(method, integrator) for method, integrator in methods.items()}


def print_race(title: str, results: dict[str, Any], peer: str) -> None:
    """Microseconds and ratios to the peer on all threads."""
    for name, result in results.items():
        times = result["times"]
        best = times[f"{peer} {THREADS}"]
        print(f"\n{title}, {name} (answers agree to {result['agreement']:.0e})")
        heads = "".join(f"{key:>9}" for key in best)
        print(f"  {'us':14}{heads}   of {peer} {THREADS}: {', '.join(best)}")
        for who, row in times.items():
            shares = ", ".join(f"{row[key] / best[key]:.3f}" for key in best)
            print(f"  {who:14}" + "".join(f"{row[key]:9.4f}" for key in best) + f"   {shares}")


def main() -> None:
    """Run the races and print them."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.batches", description=__doc__.split("\n")[0] if __doc__ else None
    )
    names = [*(entry.name for entry in ENTRIES if entry.file), "rollouts"]
    parser.add_argument("races", nargs="*", default=names, help=f"some of: {', '.join(names)}")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--states", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.races if name not in names]:
        parser.error(f"no race {unknown[0]!r}; there are {', '.join(names)}")
    warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
    document: dict[str, Any] = {}
    for entry in (entry for entry in ENTRIES if entry.name in arguments.races):
        document[entry.name] = batch_race(entry, arguments.states, arguments.rounds)
        if not arguments.json:
            print_race(entry.name, document[entry.name], "pinocchio")
    if "rollouts" in arguments.races:
        document["rollouts"] = rollout_race(arguments.rounds)
    if arguments.json:
        print(json.dumps(document, indent=2))
    elif "rollouts" in document:
        print_race("UR5 rollouts", document["rollouts"], "mujoco")


if __name__ == "__main__":
    main()
