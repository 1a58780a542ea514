"""One design of a mechanism on a page: how its cranks are driven, its motion, and its charts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ...recording.table import csv_lines
from ...view.figure import COLORS, color_of
from ...view.page.charts import Curve
from ...view.page.motion import CLEARANCE, STROKE_POINTS, Stroke
from .. import Analysis, CrankMotion, Mechanism
from ..crank_motion import LAWS as PRESCRIBED
from ..crank_motion import joint_table
from ..forward import ForwardMotion, StoppedMotionError, TorqueLaw, move

CONSTANT, TRAPEZOID, CYCLOID, FREE, GIVEN = (
    "constant speed", "trapezoid", "cycloid", "free, by torque", "from a file"
)  # fmt: skip
LAWS = (CONSTANT, TRAPEZOID, CYCLOID, FREE)
"""Laws of motion that every page offers; GIVEN where there is a motion from a file."""

CONSTANT_TORQUE, MOTOR = "constant", "falls with speed"
TORQUE_LAWS = CONSTANT_TORQUE, MOTOR
"""Torques of free motions that every page offers; GIVEN where there is one from a file."""

FREE_RTOL = 1e-7
"""Relative tolerance of free motions: finer than any picture, within a slider's patience."""

STEPS_SHOWN = 5_000
"""Steps of a free motion on a page: a few seconds."""


@dataclass(frozen=True)
class CrankDrive:
    """The motion of the inputs; one number of each input.

    speeds : rad/s, of `law` "constant speed", the highest of a trapezoid, and where a free motion
        begins. starts : rad.
    acceleration : rad/s^2, of a trapezoid. duration : s, of a cycloid and of a free motion.
    torques : N m, of a free motion; at rest where they fall with speed, to nothing at
        `no_load_speed` (rad/s). torque_law : one of `TORQUE_LAWS`, or GIVEN.
    given : the motion from a file. given_torque : a torque from a file, and the longest step (s)
        that does not overlook a row of it.
    """

    speeds: tuple[float, ...]
    starts: tuple[float, ...]
    law: str = CONSTANT
    acceleration: float = 100.0
    duration: float = 2.0
    torques: tuple[float, ...] = ()
    given: CrankMotion | None = None
    torque_law: str = CONSTANT_TORQUE
    no_load_speed: float = 20.0
    given_torque: tuple[TorqueLaw, float] | None = None

    def torque(self) -> tuple[TorqueLaw, float]:
        """The torque of a free motion, N m, and the longest step."""
        if self.torque_law == GIVEN and self.given_torque is not None:
            return self.given_torque
        stall = np.array(self.torques)
        if self.torque_law == MOTOR:
            return lambda t, q, v: stall - abs(stall) * v / self.no_load_speed, math.inf
        return lambda t, q, v: stall, math.inf


SLOWEST, FASTEST = 0.5, 100.0
"""Speeds of a crank on a page, rad/s."""


def first_drive(mechanism: Mechanism, speed: float, motion: str | CrankMotion) -> CrankDrive:
    """Drive that a page begins with: a law at `speed`, rad/s, free from rest, or from a file.

    Raises
    ------
    InputError
        The speed is none that the page offers.
    """
    if not SLOWEST <= speed <= FASTEST:
        raise mechanism.refusal(
            f"speed is {speed:g} rad/s; a page starts at {SLOWEST:g} to {FASTEST:g} rad/s"
        )
    rest = (0.0,) * len(mechanism.inputs)
    if not isinstance(motion, str):
        return CrankDrive(rest, rest, GIVEN, given=motion)
    if motion == FREE:
        return CrankDrive(rest, (float(mechanism.home[0]), *rest[1:]), FREE, torques=rest)
    return CrankDrive((speed,) * len(rest), rest, motion)


@dataclass(frozen=True)
class Driven:
    """A motion of the inputs. swings : (lower, upper) rad, the toggles it swings between, if so.
    stopped : why it ends early, if so. over_angle : whether charts go over the crank's angle."""

    motion: CrankMotion
    swings: tuple[float, float] | None = None
    stopped: str = ""
    over_angle: bool = False


def driven(mechanism: Mechanism, drive: CrankDrive) -> Driven:
    """The motion of a mechanism's inputs.

    Raises
    ------
    InputError
        It cannot be assembled at the start, or a toggle stops it at once.
    """
    if drive.law == GIVEN and drive.given is not None:
        return Driven(drive.given)
    if drive.law == FREE:
        return _free(mechanism, drive)
    single = len(mechanism.inputs) == 1
    swings = mechanism.range if single and math.isfinite(mechanism.range[0]) else None
    start, turn = drive.starts[0], 2 * math.pi
    if swings:
        margin = CLEARANCE * (swings[1] - swings[0])
        start, turn = swings[0] + margin, swings[1] - swings[0] - 2 * margin
    constant = drive.law == CONSTANT
    if constant and swings:
        return Driven(_swing(start, start + turn, drive.speeds[0]), swings)
    law, names = PRESCRIBED["constant" if constant else drive.law]
    numbers = {
        "speed": drive.speeds[0], "acceleration": drive.acceleration, "duration": drive.duration,
    }  # fmt: skip
    motion = law(*(numbers[name] for name in names), start, turn, STROKE_POINTS + 1)
    return Driven(_shared(motion, drive), swings, over_angle=constant)


def _free(mechanism: Mechanism, drive: CrankDrive) -> Driven:
    """Forward dynamics."""
    times = np.linspace(0.0, drive.duration, STROKE_POINTS + 1)
    law, longest = drive.torque()
    try:
        motion = move(
            mechanism, drive.starts, drive.speeds, drive.duration, law,
            rtol=FREE_RTOL, max_step=longest, times=times, most_steps=STEPS_SHOWN,
        )  # fmt: skip
    except StoppedMotionError as error:
        if len(error.motion) < 2:
            raise mechanism.refusal(f"it stops at once: {error}") from None
        return Driven(error.motion, stopped=str(error))
    return Driven(motion)


def _swing(low: float, high: float, speed: float) -> CrankMotion:
    """There and back as a cosine whose largest speed is `speed`."""
    stroke = Stroke(low, high, math.pi * (high - low) / max(abs(speed), 1e-9))
    q, v, a = (one[:, None] for one in stroke.at(stroke.times))
    return CrankMotion(stroke.times, q, v, a)


def _shared(motion: CrankMotion, drive: CrankDrive) -> CrankMotion:
    """The motion of the first input for all, each from its start and by its share of speed."""
    shares = np.array(drive.speeds) / drive.speeds[0]
    q = np.array(drive.starts) + shares * (motion.q - motion.q[0])
    q[:, 0] = motion.q[:, 0]
    return replace(motion, q=q, v=shares * motion.v, a=shares * motion.a)


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
