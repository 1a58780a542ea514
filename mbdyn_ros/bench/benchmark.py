"""Time of a robot's methods, and of Pinocchio's where it is installed, on the same states."""

from __future__ import annotations

import gc
import timeit
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..compiler.gcc import toolchain
from ..compiler.threads import most_threads
from ..errors import MbdynError
from ..model.model import Array
from ..program.program import declared
from ..robot import Robot

PINOCCHIO_AGREEMENT = 1e-9
"""Largest relative difference between two right answers."""

FUNCTIONS = {
    "inverse_dynamics": "rnea",
    "forward_dynamics": "aba",
    "mass_matrix": "crba",
    "gravity_vector": "computeGeneralizedGravity",
    "inverse_dynamics_derivatives": "computeRNEADerivatives",
    "forward_dynamics_derivatives": "computeABADerivatives",
}
"""Pinocchio's functions by our methods, where it has a single one."""

POOLS = {"inverse_dynamics": "rneaInParallel", "forward_dynamics": "abaInParallel"}
"""Pinocchio's functions for many states, on threads, by our methods."""


class DisagreementError(MbdynError, RuntimeError):
    """Two libraries give different answers for one robot: one of them is wrong."""


class PinocchioPeer:
    """The robot in Pinocchio, mimic joints left free there (its model has them as coordinates).

    q, v, a, effort : a state of the robot in Pinocchio's coordinates; `effort` causes `a`.
    ties : G of v_pinocchio = G v.
    """

    def __init__(self, robot: Robot, text: str, q: Array, v: Array, a: Array) -> None:
        import pinocchio as pin

        self.pin = pin
        root = (pin.JointModelFreeFlyer(),) if robot.floating_base else ()
        self.model: Any = pin.buildModelFromXML(text, *root)
        self.model.gravity.linear = np.array(robot.gravity)
        self.data = self.model.createData()
        self.nv: int = self.model.nv
        self._robot = robot
        self._our_q, self._our_v, self._our_a = q, v, a
        self.q = self.positions(q)
        self.embedding = self._embedding(q)
        self.v, self.a = self.embedding @ v, self.embedding @ a
        self.effort: Array = pin.rnea(self.model, self.data, self.q, self.v, self.a).copy()

    def positions(self, q: Array) -> Array:
        """Positions (nq,) or (N, nq) in Pinocchio's coordinates."""
        robot = self._robot
        neutral: Array = self.pin.neutral(self.model)
        result = np.tile(neutral, (*q.shape[:-1], 1)).reshape(*q.shape[:-1], -1)
        positions, _, _ = robot.joint_state(q)
        blocks = robot.system.coordinates.joint_blocks
        numbers = {name: positions[..., block.q] for name, block in blocks.items()}
        if robot.floating_base:
            numbers["root_joint"] = q[..., :7]
        for name, value in numbers.items():
            joint = self._joint(name)
            if joint.nq == value.shape[-1] + 1:  # planar and continuous: an angle's cosine and sine
                angle = value[..., -1:]
                value = np.concatenate([value[..., :-1], np.cos(angle), np.sin(angle)], axis=-1)
            result[..., joint.idx_q : joint.idx_q + joint.nq] = value
        return result

    def _embedding(self, q: Array) -> Array:
        robot = self._robot
        _, rates, _ = robot.joint_state(q, np.eye(robot.nv))
        assert rates is not None
        result = np.zeros((self.nv, robot.nv))
        for name, block in robot.system.coordinates.joint_blocks.items():
            joint = self._joint(name)
            result[joint.idx_v : joint.idx_v + joint.nv] = rates[:, block.v].T
        if robot.floating_base:
            result[:6, :6] = np.eye(6)
        return result

    def _joint(self, name: str) -> Any:
        return self.model.joints[self.model.getJointId(name)]

    def pool(self, name: str, q: Array, v: Array, last: Array) -> dict[str, Any]:
        """The arguments of function(threads, pool, q, v, last, result) for states (N, ...)."""
        states = (self.positions(q), v @ self.embedding.T, last @ self.embedding.T)
        columns = [np.asfortranarray(x.T) for x in (*states, np.zeros((len(q), self.nv)))]
        return {
            **dict(zip(("q", "v", "last", "result"), columns, strict=True)),
            "function": getattr(self.pin, POOLS[name]),
            "threads": most_threads(),
            "pool": self.pin.ModelPool(self.model, most_threads()),
        }

    def check(self, programs: Sequence[str]) -> float | None:
        """Largest relative difference of the answers of these programs; None where it knows none.

        Raises
        ------
        DisagreementError
            They differ by more than 1e-9.
        """
        gaps = [
            self.require_agreement(name, *self._answers(name))
            for name in programs
            if name in FUNCTIONS
        ]
        return max(gaps, default=None)

    def require_agreement(self, name: str, ours: Array, theirs: Array) -> float:
        """Largest relative difference of two answers, refused where it is not rounding."""
        gap = float(np.abs(ours - theirs).max(initial=0) / np.abs(theirs).max(initial=1e-300))
        if not gap <= PINOCCHIO_AGREEMENT:
            raise DisagreementError(
                f"{self._robot.model.source}: {name.replace('_', ' ')} differs from Pinocchio's by "
                f"{gap:.1e} relative"
            )
        return gap

    def _answers(self, name: str) -> tuple[Array, Array]:
        """Our answer, and Pinocchio's in our coordinates."""
        robot, (q, v, a) = self._robot, (self._our_q, self._our_v, self._our_a)
        effort = self.embedding.T @ self.effort
        if name == "inverse_dynamics":
            return robot.inverse_dynamics(q, v, a, friction=False), effort
        if name == "forward_dynamics":
            return robot.forward_dynamics(q, v, effort, friction=False), a
        if name == "gravity_vector":
            theirs = self.pin.computeGeneralizedGravity(self.model, self.data, self.q)
            return robot.gravity_vector(q), self.embedding.T @ theirs
        upper = self.pin.crba(self.model, self.data, self.q)
        mass = self.embedding.T @ (np.triu(upper) + np.triu(upper, 1).T) @ self.embedding
        if name == "mass_matrix":
            return robot.mass_matrix(q), mass
        self.pin.computeRNEADerivatives(self.model, self.data, self.q, self.v, self.a)
        parts = [
            self.embedding.T @ x @ self.embedding for x in (self.data.dtau_dq, self.data.dtau_dv)
        ]
        if name == "inverse_dynamics_derivatives":
            found = robot.inverse_dynamics_derivatives(q, v, a, friction=False)
            return np.hstack(found), np.hstack([*parts, mass])
        found = robot.forward_dynamics_derivatives(q, v, effort, friction=False)
        right = np.hstack([-parts[0], -parts[1], np.eye(robot.nv)])
        return np.hstack(found), np.linalg.solve(mass, right)


Name = TypeVar("Name", bound=Hashable)

BLOCK_TIME = 5e-4
"""Seconds that one timed block of calls should take."""


@dataclass(frozen=True)
class Call:
    """A statement to be timed, and the names it uses."""

    statement: str
    names: Mapping[str, Any]


def time_calls(calls: Mapping[str, Call], rounds: int = 200) -> dict[str, float]:
    """Seconds a call, for each: the minimum over blocks that take turns.

    What disturbs a machine comes and goes. Blocks of all calls in turn give each the same chance
    of a quiet moment, and the minimum is what the call itself takes. The statement is in the
    timed loop itself, so no wrapper is timed with it.

    Examples
    --------
    >>> times = time_calls({"sum": Call("sum(x)", {"x": range(1000)}), "nothing": Call("pass", {})})
    >>> times["sum"] > times["nothing"]
    True
    """
    return {name: min(samples) for name, samples in sample_calls(calls, rounds).items()}


def sample_calls(calls: Mapping[Name, Call], rounds: int = 200) -> dict[Name, list[float]]:
    """Seconds a call, for each and for every block; see `time_calls`."""
    timers = {
        name: timeit.Timer(call.statement, globals=dict(call.names)) for name, call in calls.items()
    }
    counts = {}
    for name, timer in timers.items():
        timer.timeit(3)  # what only the first calls do
        count = 1
        while (seconds := timer.timeit(count)) < BLOCK_TIME / 4:
            count *= 4
        counts[name] = max(1, round(count * BLOCK_TIME / seconds))
    samples: dict[Name, list[float]] = {name: [] for name in calls}
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, timer in timers.items():
                samples[name].append(timer.timeit(counts[name]) / counts[name])
    finally:
        if collecting:
            gc.enable()
    return samples


PROGRAMS = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
"""Programs that are timed unless others are named."""

BATCH_STATES = 10_000
"""States of a batch."""


@dataclass(frozen=True)
class Timing:
    """Microseconds a call of one program; None where there is nothing to time.

    Of many states at once, microseconds per state: bind is one state's alone, and Pinocchio runs
    on as many threads as we do.
    """

    program: str
    bind: float | None
    plain: float
    pinocchio: float | None
    states: int = 1

    @property
    def bind_ratio(self) -> float | None:
        """Our bound call over Pinocchio's."""
        return self.bind / self.pinocchio if self.bind and self.pinocchio else None

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
        """The timings as plain data, in microseconds."""
        result = asdict(self)
        for row, timing in zip(result["timings"], self.timings, strict=True):
            row["bind_ratio"], row["plain_ratio"] = timing.bind_ratio, timing.plain_ratio
        return result


def random_state(robot: Robot, seed: int = 1) -> tuple[Array, Array, Array]:
    """A state and accelerations (nq,), (nv,), (nv,), the same for the same seed.

    Closed loops are at home, where they surely close.
    """
    random = np.random.default_rng(seed)
    q = random.uniform(-1.0, 1.0, robot.nq)
    if robot.model.loops:
        q = np.array([robot.home.get(label, 0.5) for label in robot.position_labels])
    for k in robot.system.coordinates.quaternions:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, random.normal(size=robot.nv), random.normal(size=robot.nv)


def benchmark(
    robot: Robot,
    text: str | None = None,
    programs: tuple[str, ...] = PROGRAMS,
    rounds: int = 200,
    progress: Callable[[float], None] | None = None,
) -> Benchmark:
    """Time `robot.bind` and plain methods, and batches of what Pinocchio has batches of.

    Parameters
    ----------
    text : the robot's URDF; Pinocchio is timed too where it is given and installed, after its
        answers were found equal.
    rounds : number of timed blocks of half a millisecond of each call; a tenth of it of batches.
    progress : called with the share of the programs that is done, from 0 to 1.
    """
    q, v, a = random_state(robot)
    if robot.massless_links:
        programs = tuple(name for name in programs if not name.startswith("forward_dynamics"))
    peer = agreement = note = None
    if robot.model.loops or robot.model.couplings:
        note = "Pinocchio does not read closed loops and gears from a URDF"
    elif text is None:
        note = "Pinocchio is timed too for a URDF"
    else:
        try:
            peer = PinocchioPeer(robot, text, q, v, a)
        except ImportError:
            note = "Pinocchio is not installed (pip install pin)"
        except (ValueError, RuntimeError) as error:
            note = f"Pinocchio cannot read this robot: {error}"
        else:
            agreement = peer.check(programs)
    compiled = toolchain() is not None
    arguments = {"q": q, "v": v, "a": a, "effort": robot.inverse_dynamics(q, v, a)}
    many = [name for name in programs if compiled and name in POOLS]
    calls = [partial(_one_state, robot, peer, name, arguments, rounds) for name in programs]
    calls += [
        partial(_many_states, robot, peer, name, arguments, 1 + rounds // 10) for name in many
    ]
    timings: list[Timing] = []
    for call in calls:
        timings.append(call())
        if progress is not None:
            progress(len(timings) / len(calls))
    return Benchmark(
        robot=robot.model.name,
        nv=robot.nv,
        timings=tuple(timings),
        compiled=compiled,
        pinocchio_nv=peer.nv if peer is not None else None,
        agreement=agreement,
        note=note,
    )


def _one_state(
    robot: Robot, peer: PinocchioPeer | None, name: str, arguments: Mapping[str, Array], rounds: int
) -> Timing:
    """Times of single calls."""
    inputs = declared(name).inputs
    bound = robot.bind(name)
    for key in inputs:
        getattr(bound, key)[:] = arguments[key]
    listed = ", ".join(inputs)
    calls = {
        "bind": Call("bound()", {"bound": bound}),
        "plain": Call(f"robot.{name}({listed})", {"robot": robot, **arguments}),
    }
    if peer is not None and name in FUNCTIONS:
        names = {key: getattr(peer, key) for key in ("pin", "model", "data", *inputs)}
        calls["pinocchio"] = Call(f"pin.{FUNCTIONS[name]}(model, data, {listed})", names)
    micro = {key: 1e6 * value for key, value in time_calls(calls, rounds).items()}
    return Timing(name, micro["bind"], micro["plain"], micro.get("pinocchio"))


def _many_states(
    robot: Robot, peer: PinocchioPeer | None, name: str, arguments: Mapping[str, Array], rounds: int
) -> Timing:
    """Times of a batch, per state, without friction, which Pinocchio leaves out."""
    inputs = declared(name).inputs
    q, v, last = (np.tile(arguments[key], (BATCH_STATES, 1)) for key in inputs)
    random = np.random.default_rng(0)
    fixed = {start + k for start in robot.system.coordinates.quaternions for k in range(4)}
    for k in range(robot.nq):
        if k not in fixed:
            q[:, k] += 1e-3 * random.normal(size=BATCH_STATES)
    v += random.normal(size=v.shape)
    run = getattr(robot, name)
    out = run(q, v, last, friction=False)
    names = {"run": run, "q": q, "v": v, "last": last, "out": out}
    calls = {"plain": Call("run(q, v, last, friction=False, out=out)", names)}
    if peer is not None and hasattr(peer.pin, POOLS[name]):
        pool = peer.pool(name, q, v, last)
        calls["pinocchio"] = Call("function(threads, pool, q, v, last, result)", pool)
    micro = {key: 1e6 * value / BATCH_STATES for key, value in time_calls(calls, rounds).items()}
    if peer is not None and "pinocchio" in calls and peer.nv == robot.nv:
        theirs = calls["pinocchio"].names["result"].T @ peer.embedding
        peer.require_agreement(f"{name} of many states", out, theirs)
    return Timing(name, None, micro["plain"], micro.get("pinocchio"), BATCH_STATES)
