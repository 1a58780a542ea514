"""One design of a mechanism on a page: a motion of its crank, and its charts."""

from __future__ import annotations

import numpy as np

from ...recording.table import csv_lines
from ...view.colors import COLORS, color_of
from ...view.page.charts import Curve
from .. import Analysis, CrankMotion, Mechanism
from ..crank_motion import joint_table
from ..forward import ForwardMotion
from .drive import CrankDrive, driven

JOINT_QUANTITIES = ("joint positions", "joint speeds", "joint accelerations")
"""Of parts in the parts that carry them: position, and its rates."""

PLANE_QUANTITIES = ("angles", "speeds", "accelerations")
"""Of parts in the plane: absolute angles and their rates, and those of slides."""

QUANTITIES = (*PLANE_QUANTITIES, *JOINT_QUANTITIES, "forces in joints", "energy", "shaking force")
RATES = ("", "/s", "/s²")
DASHES = ("solid", "dash", "dot")


class DesignRun:
    """A design in motion.

    Attributes
    ----------
    analysis : of `mechanism` in `motion`.
    swings : (lower, upper) rad, where toggles let the crank not turn fully; else None.
    stopped : why a free motion ends early; else nothing.
    x, across : what charts are over, and its name: the crank's angle, or time where it swings.

    Raises
    ------
    InputError
        It cannot be assembled all along the motion; the message gives the limiting angle.
    """

    def __init__(self, mechanism: Mechanism, drive: CrankDrive) -> None:
        self.mechanism = mechanism
        result = driven(mechanism, drive)
        self.swings, self.stopped = result.swings, result.stopped
        motion = result.motion
        self.analysis = Analysis(mechanism, motion)
        self.torque = self.analysis.torque  # refuses here what cannot be assembled
        if result.over_angle:
            self.x, self.across = np.degrees(motion.q[:, 0]), f"{mechanism.inputs[0]} angle (deg)"
        else:
            self.x, self.across = motion.time, "time (s)"

    @property
    def motion(self) -> CrankMotion:
        """The motion of its inputs."""
        return self.analysis.motion

    def torque_lines(self) -> list[Curve]:
        """Driving torque of each input (N m), and of a prescribed motion what it is where nothing
        weighs."""
        if isinstance(self.motion, ForwardMotion):
            given = zip(self.mechanism.inputs, self.motion.torque.T, strict=True)
            return [Curve(name, one, color_of(k)) for k, (name, one) in enumerate(given)]
        lines = []
        weightless = self.analysis.torque_without_gravity
        for k, name in enumerate(self.mechanism.inputs):
            color = color_of(k)
            lines.append(Curve(name, self.torque[:, k], color, width=2.5))
            lines.append(
                Curve(f"{name}, without gravity", weightless[:, k], color, "dot", 1.5, k == 0)
            )
        return lines

    def joint_lines(self, quantity: str) -> tuple[list[Curve], list[Curve]]:
        """A quantity in charts: of what turns (rad, N or J), and of slides (m)."""
        if quantity == "forces in joints":
            forces = self.analysis.reactions
            names = _short(list(forces))
            return [
                Curve(name, np.hypot(*force[:, :2].T), color_of(k), _dash(k))
                for k, (name, force) in enumerate(zip(names, forces.values(), strict=True))
            ], []
        if quantity == "shaking force":
            force = np.hypot(*self.analysis.shaking[:, :2].T)
            return [Curve("on the ground", force, color_of(0))], []
        if quantity == "energy":
            kinetic, potential = self.mechanism.energy(self.motion.q, self.motion.v)
            parts = {"kinetic": kinetic, "potential": potential, "sum": kinetic + potential}
            return [
                Curve(name, one, color_of(k)) for k, (name, one) in enumerate(parts.items())
            ], []
        absolute = quantity in PLANE_QUANTITIES
        order = (PLANE_QUANTITIES if absolute else JOINT_QUANTITIES).index(quantity)
        values = (self.analysis.in_plane if absolute else self.analysis.joints)[order]
        turning: list[Curve] = []
        sliding: list[Curve] = []
        for k, part in enumerate(self.mechanism.layout().parts):
            (sliding if part.slides else turning).append(
                Curve(part.name, values[:, k], color_of(k))
            )
        return turning, sliding

    def csv(self) -> str:
        """Time, torques and the motion of all joints as a CSV file."""
        joints = self.mechanism.joint_names
        table = joint_table(self.motion.time, joints, self.analysis.joints)
        table["effort"] = {
            f"{name}_joint": self.torque[:, k] for k, name in enumerate(self.mechanism.inputs)
        }
        return "".join(csv_lines(table))


def _short(names: list[str]) -> list[str]:
    """Names of joints, pins and meshes without these words, where they stay apart."""
    short = [name.rpartition("_")[0] for name in names]
    joints = {one for one, name in zip(short, names, strict=True) if name.endswith("_joint")}
    return [
        one if name.endswith("_joint") or one not in joints else name
        for one, name in zip(short, names, strict=True)
    ]


def _dash(k: int) -> str:
    """Dashes of the k-th of many lines: there are fewer colours."""
    return DASHES[min(k // len(COLORS), len(DASHES) - 1)]


def joint_titles(quantity: str) -> tuple[str, str]:
    """Titles of the charts of `DesignRun.joint_lines`."""
    if quantity in ("forces in joints", "shaking force"):
        return "force (N)", ""
    if quantity == "energy":
        return "energy (J)", ""
    order = (*PLANE_QUANTITIES, *JOINT_QUANTITIES).index(quantity)
    rate = RATES[order % len(RATES)]
    slides = quantity.replace("angles", "positions")
    return f"{quantity} (rad{rate})", f"{slides} (m{rate})"
