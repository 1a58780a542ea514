"""MuJoCo in the race: the same bodies without geometry, so no contacts."""

from __future__ import annotations

import mujoco
import numpy as np

from mbdyn_ros.bench.benchmark import Call
from mbdyn_ros.model.model import Array

from .contestant import run
from .robots import Runner

STATEMENTS = {
    "inverse_dynamics": "inverse(model, data)",
    "forward_dynamics": "forward(model, data)",
}


def compile_model(runner: Runner) -> mujoco.MjModel:
    """The robot as MuJoCo's model, in our order of joints."""
    spec = mujoco.MjSpec.from_string(runner.text)
    spec.compiler.fusestatic = False
    if runner.entry.floating_base:
        spec.bodies[1].add_freejoint()
    return spec.compile()


class Mujoco:
    """`mj_inverse` and `mj_forward`, the state written before."""

    name, version = "MuJoCo", mujoco.__version__

    def __init__(self, runner: Runner, programs: tuple[str, ...]) -> None:
        self.model = compile_model(runner)
        names = {"model": self.model, "inverse": mujoco.mj_inverse, "forward": mujoco.mj_forward}
        self.calls = {}
        self._order = self._places(runner)
        for program in (name for name in programs if name in STATEMENTS):
            data = mujoco.MjData(self.model)
            if runner.entry.floating_base:  # its quaternions have the real part first
                data.qpos[:7] = np.concatenate([runner.q[:3], runner.q[6:7], runner.q[3:6]])
            joints = runner.robot.independent_joints
            for joint, value in zip(joints, runner.q[len(runner.q) - len(joints) :], strict=True):
                data.qpos[self.model.joint(joint).qposadr[0]] = value
            data.qvel[self._order] = runner.v
            data.qacc[self._order] = runner.a
            if program == "forward_dynamics":
                data.qfrc_applied[self._order] = runner.effort
            self.calls[program] = Call(STATEMENTS[program], {**names, "data": data})

    def _places(self, runner: Runner) -> Array:
        """Where in MuJoCo's velocities ours stand."""
        places = [*range(6)] if runner.entry.floating_base else []
        for joint in runner.robot.independent_joints:
            places.append(int(self.model.joint(joint).dofadr[0]))
        return np.array(places)

    def answer(self, program: str) -> Array:
        """See `Contestant`."""
        run(self.calls[program])
        data = self.calls[program].names["data"]
        found = data.qfrc_inverse if program == "inverse_dynamics" else data.qacc
        return np.array(found)[self._order]
