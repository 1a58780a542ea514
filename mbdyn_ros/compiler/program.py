"""The programs a robot can run: a formulation traced with the robot's numbers folded in."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca

from ..equations.algebra.spatial import SX
from ..equations.contact.contact import ContactGeometry
from ..equations.system import System
from ..program.stages import Staged

Build = Callable[..., SX | Staged]


@dataclass(frozen=True)
class Signature:
    """Names of the inputs of a program and of the array it fills."""

    inputs: tuple[str, ...]
    output: str
    matrix: bool = False


SIGNATURES = {
    "inverse_dynamics": Signature(("q", "v", "a"), "effort"),
    "forward_dynamics": Signature(("q", "v", "effort"), "a"),
    "inverse_dynamics_derivatives": Signature(("q", "v", "a"), "derivatives", matrix=True),
    "forward_dynamics_derivatives": Signature(("q", "v", "effort"), "derivatives", matrix=True),
    "mass_matrix": Signature(("q",), "matrix", matrix=True),
    "regressor": Signature(("q", "v", "a"), "regressor", matrix=True),
    "coriolis_vector": Signature(("q", "v"), "effort"),
    "gravity_vector": Signature(("q",), "effort"),
    "friction_vector": Signature(("q", "v"), "effort"),
    "energy": Signature(("q", "v"), "energy"),
    "joint_position": Signature(("q",), "position"),
    "joint_velocity": Signature(("q", "v"), "velocity"),
    "joint_acceleration": Signature(("q", "v", "a"), "acceleration"),
    "frame_pose": Signature(("q",), "pose", matrix=True),
    "jacobian": Signature(("q",), "jacobian", matrix=True),
    "distances": Signature(("q", "v"), "distances"),
    "contact_state": Signature(("q", "v"), "contact"),
    "rotor_torques": Signature(("q",), "components", matrix=True),
    "pulse_windows": Signature(("q", "force", "torque"), "pulses", matrix=True),
    "pulse_control": Signature(
        ("q", "wanted_q", "wanted_v", "gain", "tolerance", "force", "speed"), "pulses", matrix=True
    ),
    "loop_terms": Signature(("q", "v", "a"), "terms"),
    "reactions": Signature(("q", "v", "a"), "reactions", matrix=True),
    "motion_rate": Signature(("q", "v", "effort"), "rate"),
    "pulsed_motion": Signature(("q", "v", "free", "force", "phase"), "motion", matrix=True),
}
"""Every program by the name of the `Robot` method that it serves."""

LOADED = (
    "inverse_dynamics",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
"""Programs that take wrenches from outside and may leave friction out."""

PULSED = ("rotor_torques", "pulse_windows", "pulse_control", "pulsed_motion")
"""Programs about a link that carries a rotor."""

LINKED = ("frame_pose", "jacobian", *PULSED)
"""Programs about one link."""

TOUCHING = ("distances", "contact_state")
"""Programs about points and walls."""

PARAMETRIC = ("reactions",)
"""Programs of parametric mechanisms alone."""

INTEGRATED = ("motion_rate",)
"""Programs that integrators alone run."""

LOOPS = ("loop_terms",)
"""Programs about closing joints."""

WHOLE = tuple(
    name
    for name in SIGNATURES
    if name not in LINKED + TOUCHING + PARAMETRIC + INTEGRATED + LOOPS
)
"""Programs about nothing but the robot."""

SCALARS = ("force", "gain", "phase", "speed", "tolerance")
"""Inputs of one number; all others have one for each coordinate."""


@dataclass(frozen=True)
class Variant:
    """Which program: its method's name, what it is about, and what it takes into account."""

    name: str
    link: str | None = None
    wrenches: bool = False
    friction: bool = True
    contacts: ContactGeometry | None = None

    def __str__(self) -> str:
        return " ".join(
            [self.name]
            + ([f"of {self.link}"] if self.link is not None else [])
            + (["of points and walls"] if self.contacts is not None else [])
            + (["with wrenches"] if self.wrenches else [])
            + ([] if self.friction else ["without friction"])
        )


@dataclass(frozen=True, eq=False)
class Program:
    """The expression of one program over its `symbols`.

    equations : the result, or stages that lead to it.

    Where loops have no closed form the symbol `z` stands behind `q`, for the positions of their
    dependent joints; what runs the program finds them.
    """

    variant: Variant
    symbols: dict[str, SX]
    equations: SX | Staged

    @functools.cached_property
    def result(self) -> SX:
        """The result as one expression."""
        equations = self.equations
        return equations.solved if isinstance(equations, Staged) else equations

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the result."""
        return self.equations.shape

    @property
    def sizes(self) -> dict[str, int]:
        """How many numbers every input has."""
        return {name: symbol.numel() for name, symbol in self.symbols.items()}

    @property
    def length(self) -> int:
        """How many operations a run takes, about."""
        equations = self.equations
        if isinstance(equations, Staged):
            return sum(stage.length for stage in equations.stages.listed)
        return int(self.function.n_instructions())

    @functools.cached_property
    def function(self) -> ca.Function:
        """The CasADi function; its result is stored row by row, as NumPy's arrays are."""
        inputs, names, result = list(self.symbols.values()), list(self.symbols), self.result
        options = {"cse": True}
        return ca.Function("program", inputs, [ca.densify(result).T], names, ["result"], options)

    @property
    def symbolic(self) -> ca.Function:
        """The same for users of CasADi: the result in its own shape."""
        inputs, output = list(self.symbols.values()), SIGNATURES[self.variant.name].output
        names, options = list(self.symbols), {"cse": True}
        if output in names:
            output = "result"
        return ca.Function(self.variant.name, inputs, [self.result], names, [output], options)

    @property
    def operations(self) -> dict[str, int]:
        """Multiplications, additions, divisions and function calls of the result alone."""
        function = ca.Function("count", list(self.symbols.values()), [self.result], {"cse": True})
        return count_operations(function)


def trace(system: System, variant: Variant) -> Program:
    """Run the formulation behind `variant` on symbols."""
    coordinates = system.coordinates
    sizes = {"q": coordinates.nq, "z": system.nz}
    sizes["effort"] = len(coordinates.effort)
    sizes.update(dict.fromkeys(SCALARS, 1))
    first, *others = SIGNATURES[variant.name].inputs
    names = first, "z", *others
    symbols = {name: SX.sym(name, sizes.get(name, coordinates.nv)) for name in names}
    if variant.wrenches:
        symbols["wrenches"] = SX.sym("wrenches", 6, len(system.tree.bodies))
    equations = _equations(system, variant, symbols)
    if not system.nz:
        del symbols["z"]
    if system.parameters is not None:
        symbols["parameters"] = system.parameters
    return Program(variant, symbols, equations)


def _equations(system: System, variant: Variant, symbols: dict[str, SX]) -> SX | Staged:
    """The expression of a program."""
    x = list(symbols.values())
    if variant.name == "forward_dynamics":
        return _accelerations(system, variant, symbols)
    if variant.name == "motion_rate":
        x.append(_accelerations(system, Variant("forward_dynamics"), symbols))
    build: Build = getattr(system, variant.name)
    if variant.name in LOADED:
        wrenches = x.pop() if variant.wrenches else None
        return build(*x, wrenches, variant.friction)
    about = [one for one in (variant.link, variant.contacts) if one is not None]
    return build(*x, *about)


def _accelerations(system: System, variant: Variant, symbols: dict[str, SX]) -> SX:
    """Forward dynamics by the formulation with the fewest operations."""
    x = list(symbols.values())
    wrenches = x.pop() if variant.wrenches else None
    builds = system.forward_dynamics().values()
    inputs = [symbol for symbol in symbols.values() if symbol.numel()]
    if system.parameters is not None:
        inputs.append(system.parameters)
    return _cheapest(inputs, [build(*x, wrenches, variant.friction) for build in builds])


def _cheapest(inputs: Sequence[SX], results: Sequence[SX]) -> SX:
    """The expression with the fewest operations."""

    def cost(result: SX) -> int:
        function = ca.Function("count", list(inputs), [result], {"cse": True})
        return sum(COST[kind] * n for kind, n in count_operations(function).items())

    return min(results, key=cost) if len(results) > 1 else results[0]


COST = {"multiplications": 1, "additions": 1, "divisions": 5, "functions": 20}
"""Rough relative cost of the kinds of operations, for choosing between programs."""

KINDS = {
    "multiplications": (ca.OP_MUL, ca.OP_SQ),
    "additions": (ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE),
    "divisions": (ca.OP_DIV, ca.OP_INV),
    "functions": (ca.OP_SIN, ca.OP_COS, ca.OP_SQRT, ca.OP_SIGN),
}
"""The operations that count; a doubling is an addition, a change of sign is none."""


def count_operations(function: ca.Function) -> dict[str, int]:
    """Count the operations of a program by kind."""
    counts = dict.fromkeys(KINDS, 0)
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        for kind, operations in KINDS.items():
            counts[kind] += operation in operations
    return counts
