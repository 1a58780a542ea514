"""Drake in the race."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import MultibodyForces

from mbdyn_ros.bench.benchmark import Call
from mbdyn_ros.model.model import Array

from .contestant import run
from .robots import Runner

STATEMENTS = {
    "inverse_dynamics": """
plant.SetPositionsAndVelocities(context, state)
plant.CalcForceElementsContribution(context, forces)
plant.CalcInverseDynamics(context, a, forces)""",
    "forward_dynamics": """
plant.SetPositionsAndVelocities(context, state)
plant.get_applied_generalized_force_input_port().FixValue(context, effort)
plant.get_generalized_acceleration_output_port().Eval(context)""",
    "mass_matrix": """
plant.SetPositions(context, q)
plant.CalcMassMatrix(context)""",
}


class Drake:
    """`MultibodyPlant`, the state set in every call."""

    name, version = "Drake", version("drake")

    def __init__(self, runner: Runner, programs: tuple[str, ...]) -> None:
        plant = MultibodyPlant(0.0)
        (instance,) = Parser(plant).AddModelsFromString(runner.text, "urdf")
        root = runner.robot.model.root
        if not runner.entry.floating_base and root != "world":  # that one is Drake's own
            body = plant.GetBodyByName(root, instance)
            plant.WeldFrames(plant.world_frame(), body.body_frame())
        plant.Finalize()
        order = []
        if runner.entry.floating_base:
            order = [3, 4, 5, 0, 1, 2]  # Drake has the angular part first
        for joint in runner.robot.independent_joints:
            order.append(plant.GetJointByName(joint).velocity_start())
        self._order = np.array(order)
        q = np.zeros(plant.num_positions())
        v, a, effort = np.zeros((3, plant.num_velocities()))
        for joint, value in zip(
            runner.robot.independent_joints, runner.q[7 * runner.entry.floating_base :], strict=True
        ):
            q[plant.GetJointByName(joint).position_start()] = value
        if runner.entry.floating_base:
            q[0] = 1.0
        for ours, theirs in ((runner.v, v), (runner.a, a), (runner.effort, effort)):
            theirs[self._order] = ours
        names = {"plant": plant, "context": plant.CreateDefaultContext(), "q": q, "a": a}
        names |= {"state": np.concatenate([q, v]), "effort": effort}
        names["forces"] = MultibodyForces(plant)
        self.calls = {
            program: Call(STATEMENTS[program].strip().replace("\n", "; "), names)
            for program in programs
            if program in STATEMENTS
        }

    def answer(self, program: str) -> Array:
        """See `Contestant`."""
        call = self.calls[program]
        *before, last = call.statement.split("; ")
        names = dict(call.names)
        exec("; ".join(before), names)
        found = np.asarray(run(Call(last, names)))
        return found[np.ix_(*[self._order] * found.ndim)]
