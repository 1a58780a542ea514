"""Time of a robot's methods, beside Pinocchio's where it is installed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .codegen.compiler import find_compiler
from .codegen.program import SIGNATURES
from .model.model import Array
from .pinocchio_peer import FUNCTIONS, PinocchioPeer
from .robot import Robot
from .timing import Call, time_calls

PROGRAMS = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
"""What is timed unless other programs are named."""


@dataclass(frozen=True)
class Timing:
    """Microseconds a call of one program; None where there is nothing to compare with."""

    program: str
    bind: float
    plain: float
    pinocchio: float | None

    @property
    def bind_ratio(self) -> float | None:
        """Our bound call over Pinocchio's."""
        return self.bind / self.pinocchio if self.pinocchio else None

    @property
    def plain_ratio(self) -> float | None:
        """Our plain method over Pinocchio's."""
        return self.plain / self.pinocchio if self.pinocchio else None


@dataclass(frozen=True)
class Benchmark:
    """Timings of one robot.

    pinocchio_nv, agreement : Pinocchio's number of velocity coordinates, and the largest relative
        difference of its answers from ours; None where it was not asked.
    note : why it was not.
    """

    robot: str
    nv: int
    timings: tuple[Timing, ...]
    compiled: bool
    pinocchio_nv: int | None = None
    agreement: float | None = None
    note: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, times in microseconds."""
        result = asdict(self)
        for row, timing in zip(result["timings"], self.timings, strict=True):
            row["bind_ratio"], row["plain_ratio"] = timing.bind_ratio, timing.plain_ratio
        return result


def random_state(robot: Robot, seed: int = 1) -> tuple[Array, Array, Array]:
    """A state and accelerations (nq,), (nv,), (nv,), the same for the same seed.

    Closed loops stand at home, where they surely close.
    """
    random = np.random.default_rng(seed)
    q = random.uniform(-1.0, 1.0, robot.nq)
    if robot.model.loops:
        q = np.array([robot.home.get(label, 0.5) for label in robot.position_labels])
    for k, label in enumerate(robot.position_labels):
        if label.endswith("/qx"):
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, random.normal(size=robot.nv), random.normal(size=robot.nv)


def benchmark(
    robot: Robot,
    text: str | None = None,
    programs: tuple[str, ...] = PROGRAMS,
    rounds: int = 200,
) -> Benchmark:
    """Time `robot.bind` and plain methods.

    Parameters
    ----------
    text : the robot's URDF; Pinocchio runs beside where it is given and installed, after its
        answers were found equal.
    rounds : number of timed blocks of half a millisecond of each call.
    """
    q, v, a = random_state(robot)
    if robot.massless_links:
        programs = tuple(name for name in programs if name != "forward_dynamics")
    peer = agreement = note = None
    if robot.model.loops or robot.model.couplings:
        note = "Pinocchio does not read closed loops and gears from a URDF"
    elif text is None:
        note = "Pinocchio runs beside for a URDF"
    else:
        try:
            peer = PinocchioPeer(robot, text, q, v, a)
        except ImportError:
            note = "Pinocchio is not installed (pip install pin)"
        except (ValueError, RuntimeError) as error:
            note = f"Pinocchio cannot read this robot: {error}"
        else:
            agreement = peer.check()
    arguments = {"q": q, "v": v, "a": a, "effort": robot.inverse_dynamics(q, v, a)}
    timings = []
    for name in programs:
        inputs = SIGNATURES[name].inputs
        bound = robot.bind(name)
        for key in inputs:
            getattr(bound, key)[:] = arguments[key]
        listed = ", ".join(inputs)
        calls = {
            "bind": Call("bound()", {"bound": bound}),
            "plain": Call(f"robot.{name}({listed})", {"robot": robot, **arguments}),
        }
        function = FUNCTIONS[name]
        if peer is not None and function is not None:
            names = {key: getattr(peer, key) for key in ("pin", "model", "data", *inputs)}
            calls["pinocchio"] = Call(f"pin.{function}(model, data, {listed})", names)
        seconds = time_calls(calls, rounds)
        micro = {key: 1e6 * value for key, value in seconds.items()}
        timings.append(Timing(name, micro["bind"], micro["plain"], micro.get("pinocchio")))
    return Benchmark(
        robot=robot.model.name,
        nv=robot.nv,
        timings=tuple(timings),
        compiled=find_compiler() is not None,
        pinocchio_nv=peer.nv if peer is not None else None,
        agreement=agreement,
        note=note,
    )
