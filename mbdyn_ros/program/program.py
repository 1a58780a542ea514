"""A program: a formula declared where it stands, traced for a robot, and known by its name.

@program("q v a", output="effort", loaded=True)
def inverse_dynamics(system, q, z, v, a, wrenches=None, friction=True): ...

Programs stand between robotics, which declares them, and the compiler, which makes kernels of them.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeVar

import casadi as ca
from casadi import SX

from ..array import Array
from ..errors import InputError, shown, suggestion
from .continuation import LoopFunctions
from .stages import Staged
from .symbols import SerializedProperty, serialized

if TYPE_CHECKING:
    from ..integration.methods import FixedMethod

P = ParamSpec("P")
R = TypeVar("R")

NEEDS = {"mass", "drives", "variables"}
"""Conditions of an answer: every motion moves mass, efforts drive every coordinate, numbers of the
robot are variable."""


class Declaration:
    """Declaration of the program that a formula makes.

    The formula takes what the program is traced for, then one expression for each input, `z`
    after the first (the positions of loops without closed form); then, if `loaded`, wrenches and
    whether friction counts; or what the program is about.

    Attributes
    ----------
    name : of the formula.
    inputs : names of the input arrays, in order. sized : those of a fixed number of numbers, and
        how many; all others have one for each coordinate.
    output : name of the array of results.
    matrix : whether that has rows and columns.
    about : "link", "frame" (a link and axes) or "contacts" where a program is about one; else "".
    loaded : whether wrenches from outside may act, and friction be left out.
    internal : whether it serves other code alone, and users do not call it by its name.
    stepped : whether compiled code that takes steps calls it for vectors of states, not over arrays
        alone; that of all internal ones may.
    integrated : methods by which compiled code integrates motions, where it is the rate of q at
        (q, v).
    differentiated : whether derivatives by q and z are taken in it, so that all that depends on
        them must be written out.
    long : whether its text is so long, or so seldom wanted, that it is compiled and counted by its
        name alone.
    needs : conditions without which there is no answer, words of `NEEDS`.
    """

    def __init__(
        self,
        formula: Callable[..., Any],
        inputs: str,
        output: str,
        matrix: bool = False,
        about: str = "",
        loaded: bool = False,
        internal: bool = False,
        stepped: bool = False,
        integrated: tuple[FixedMethod, ...] = (),
        differentiated: bool = False,
        long: bool = False,
        needs: str = "",
    ) -> None:
        self.formula, self.name = formula, formula.__name__
        self.__doc__, self.__module__ = formula.__doc__, formula.__module__
        pairs = [word.partition(":") for word in inputs.split()]
        self.inputs = tuple(name for name, _, _ in pairs)
        self.sized = {name: int(size) for name, _, size in pairs if size}
        self.output, self.matrix, self.about = output, matrix, about
        self.loaded, self.internal, self.stepped = loaded, internal, stepped or internal
        self.integrated, self.differentiated, self.long = integrated, differentiated, long
        self.needs = frozenset(needs.split())
        if unknown := self.needs - NEEDS:
            raise TypeError(f"{self!r} needs {sorted(unknown)}; there are {sorted(NEEDS)}")

    def __repr__(self) -> str:
        return f"<program {self.name}({', '.join(self.inputs)}) -> {self.output}>"


class Formula(Declaration, Generic[P, R]):
    """A declared formula, which other formulas call as before."""

    formula: Callable[P, R]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The expression that the formula gives."""
        return self.formula(*args, **kwargs)


_declared: dict[str, Declaration] = {}


def program(
    inputs: str, *, output: str, **options: Any
) -> Callable[[Callable[P, R]], Formula[P, R]]:
    """Declare the formula below as a program.

    Parameters
    ----------
    inputs : names of its inputs; those of one number as `name:1`, of six as `name:6`.
    output, options : see `Declaration`.
    """

    def declare(formula: Callable[P, R]) -> Formula[P, R]:
        made: Formula[P, R] = Formula(formula, inputs, output, **options)
        if made.name in _declared and _declared[made.name].__module__ != made.__module__:
            raise TypeError(f"two formulas are declared as the program {made.name!r}")
        _declared[made.name] = made
        return made

    return declare


def offered(about: str = "", long: bool = False) -> tuple[str, ...]:
    """Names of the programs, about a link or about nothing else, that users call by name.

    long : whether of the `long` ones instead of all others.
    """
    return tuple(
        name
        for name, one in _declared.items()
        if one.about == about and one.long == long and not one.internal
    )


def declared(name: object) -> Declaration:
    """The program that users call by this name.

    Raises
    ------
    InputError
        There is none; the message has the nearest name.
    """
    known = (*offered(), *offered(long=True), *offered("link"), *offered("frame"))
    if isinstance(name, str) and name in known:
        return _declared[name]
    near = suggestion(shown(name).strip("'"), known)
    raise InputError(f"there is no program {shown(name)}{near}; there are {', '.join(known)}")


COST = {"multiplications": 1, "additions": 1, "divisions": 5, "functions": 20}
"""Rough relative cost of the kinds of operations, for choosing between formulations."""

COUNTED_KINDS = {
    "multiplications": (ca.OP_MUL, ca.OP_SQ),
    "additions": (ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE),
    "divisions": (ca.OP_DIV, ca.OP_INV),
    "functions": (ca.OP_SIN, ca.OP_COS, ca.OP_SQRT, ca.OP_SIGN),
}
"""The operations that count; a doubling is an addition, a change of sign is none."""


def count_operations(function: ca.Function) -> dict[str, int]:
    """Count the operations of a program by kind."""
    counts = Counter(map(function.instruction_id, range(function.n_instructions())))
    return {kind: sum(map(counts.__getitem__, those)) for kind, those in COUNTED_KINDS.items()}


def operations_of(inputs: Sequence[SX], result: SX) -> dict[str, int]:
    """Count the operations of an expression over its inputs by kind."""
    return count_operations(ca.Function("count", list(inputs), [result], {"cse": True}))


def cheapest(inputs: Sequence[SX], results: Sequence[SX]) -> SX:
    """The expression with the fewest operations, weighted by `COST`."""

    def cost(result: SX) -> int:
        return sum(COST[kind] * n for kind, n in operations_of(inputs, result).items())

    return min(results, key=cost) if len(results) > 1 else results[0]


PACKAGE = Path(__file__).parent.parent

UNIT_TOLERANCE = 1e-6
"""Largest deviation from 1 of a quaternion's squared length that a checked call accepts."""

ROBOTICS = ("model", "prepare", "program", "equations", "assembly")
"""Folders of the package whose code every formula stands on."""


def _no_terms() -> ca.Function:
    raise AssertionError("programs of this subject read nothing of loops but positions")


@dataclass(frozen=True, eq=False)
class Closing:
    """How to find z, the dependent positions of loops without closed form, at given inputs q.

    Every loop is walked from home to its independent positions (`continuation.reach`).

    counts : numbers of independent and of dependent positions of every loop, in the order of z.
    places : where in q the independent positions stand, loop by loop.
    home : (ny + nz,) closed configuration to start from: all independent positions, then z.
    equations : traces the equations of every loop.
    terms : traces what all programs need of the loops, as a function of q, z and the parameters: a
        column, which may follow z.
    kept : how many parameters follow home.
    """

    counts: tuple[tuple[int, int], ...]
    places: tuple[int, ...]
    home: Array
    equations: Callable[[], Sequence[LoopFunctions]]
    terms: Callable[[], ca.Function] = _no_terms
    kept: int = 0

    @property
    def ny(self) -> int:
        """Number of independent positions of all these loops."""
        return sum(ny for ny, _ in self.counts)

    @property
    def nz(self) -> int:
        """Number of dependent positions; 0 where every loop has a closed form."""
        return sum(nz for _, nz in self.counts)


class Subject(Protocol):
    """Subject that a program is traced for, such as the system of a robot.

    parameters : symbols (p, 1) that stand for numbers of it; None where all are numbers.
    with_home : whether these symbols are no input of programs: whoever runs them keeps their
        numbers after home.
    closing : the positions that it leaves to whoever runs the program.
    quaternions : where in q unit quaternions begin.
    """

    @property
    def parameters(self) -> SX | None: ...

    @property
    def with_home(self) -> bool: ...

    @property
    def closing(self) -> Closing: ...

    @property
    def quaternions(self) -> tuple[int, ...]: ...

    def shape(self, name: str) -> tuple[int, int]:
        """Rows and columns of the input of that name, `wrenches` among them."""
        ...

    def digest(self) -> str:
        """Hash of every number and expression that formulas take from it."""
        ...


@dataclass(frozen=True, eq=False)
class Program:
    """One declared formula for one subject, traced when its expressions are first asked for.

    about : name of a link, or contacts, where the declaration asks for it.
    wrenches : whether it has them as an input, (6, bodies). friction : whether it counts.
    given : whether the terms of loops (`Closing.terms`) follow z and are not written out.
    """

    declaration: Declaration
    subject: Subject
    about: object = None
    wrenches: bool = False
    friction: bool = True
    given: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.declaration, Declaration):
            raise InputError(
                f"{self.declaration!r} is not a program: declare its formula with @program(...)"
            )

    def __str__(self) -> str:
        return " ".join(
            [self.name]
            + ([f"of {self.about}"] if self.about is not None else [])
            + (["with wrenches"] if self.wrenches else [])
            + ([] if self.friction else ["without friction"])
        )

    @property
    def name(self) -> str:
        """Name of the formula."""
        return self.declaration.name

    @property
    def key(self) -> str:
        """Hash of all that the expressions are made from; known without tracing them."""
        given: tuple[object, ...] = self.name, self.about, self.wrenches, self.friction, self.given
        given += self.declaration.integrated
        code = _digest_of_code(self.declaration.__module__)
        return hashlib.sha256(f"{given!r} {self.subject.digest()} {code}".encode()).hexdigest()

    @property
    def loops_key(self) -> str:
        """Hash of all that closes the loops of its subject, the same for all of its programs."""
        code = _digest_of_code(__name__)
        return hashlib.sha256(f"loops {self.subject.digest()} {code}".encode()).hexdigest()

    @SerializedProperty
    def symbols(self) -> dict[str, SX]:
        """The inputs by name, in order.

        Where loops have no closed form the symbol `z` follows `q`, for the positions of
        their dependent joints; what runs the program finds them.
        """
        return {name: x for name, x in self._arguments.items() if name != "z" or x.numel()} | (
            {} if self.subject.parameters is None else {"parameters": self.subject.parameters}
        )

    @SerializedProperty
    def _arguments(self) -> dict[str, SX]:
        """Arguments of the formula, by name."""
        first, *others = self.declaration.inputs
        closing = self.subject.closing
        terms = closing.terms().size1_out(0) if self.given else 0
        shapes = {first: self.subject.shape(first), "z": (closing.nz + terms, 1)}
        shapes.update((name, self.subject.shape(name)) for name in others)
        shapes.update((name, (size, 1)) for name, size in self.declaration.sized.items())
        if self.wrenches:
            shapes["wrenches"] = self.subject.shape("wrenches")
        return {name: SX.sym(name, *shape) for name, shape in shapes.items()}

    @SerializedProperty
    def equations(self) -> SX | Staged:
        """The result, or stages that lead to it."""
        x: list[object] = list(self._arguments.values())
        if self.declaration.loaded:
            wrenches = x.pop() if self.wrenches else None
            x += [wrenches, self.friction]
        elif self.declaration.about:
            x.append(self.about)
        equations: SX | Staged = self.declaration.formula(self.subject, *x)
        return equations

    @SerializedProperty
    def result(self) -> SX:
        """The result as one expression."""
        equations = self.equations
        return equations.solved if isinstance(equations, Staged) else equations

    @property
    def called_with(self) -> dict[str, SX]:
        """The inputs that a call gives: all but z, and what follows home."""
        kept = ("z", "parameters") if self.subject.with_home else ("z",)
        return {name: one for name, one in self.symbols.items() if name not in kept}

    @property
    def kept(self) -> int:
        """How many numbers follow home."""
        parameters = self.subject.parameters
        return parameters.numel() if self.subject.with_home and parameters is not None else 0

    @property
    @serialized
    def terms(self) -> int:
        """How many terms of loops it reads after z: all of them, or none."""
        count = self.subject.closing.nz
        if not self.given or not ca.depends_on(self.result, self.symbols["z"][count:]):
            return 0
        return self.sizes["z"] - count

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
            return equations.length
        return int(self.function.n_instructions())

    @SerializedProperty
    def function(self) -> ca.Function:
        """The CasADi function; its result is stored row by row, as NumPy's arrays are."""
        inputs, names, result = list(self.symbols.values()), list(self.symbols), self.result
        options = {"cse": True}
        return ca.Function("program", inputs, [ca.densify(result).T], names, ["result"], options)

    @property
    @serialized
    def symbolic(self) -> ca.Function:
        """The CasADi function for users, its result in its own shape."""
        inputs, output = list(self.symbols.values()), self.declaration.output
        names, options = list(self.symbols), {"cse": True}
        if output in names:
            output = "result"
        return ca.Function(self.name, inputs, [self.result], names, [output], options)

    @property
    @serialized
    def operations(self) -> dict[str, int]:
        """Multiplications, additions, divisions and function calls of the result alone."""
        return operations_of(list(self.symbols.values()), self.result)


@functools.cache
def _digest_of_code(module: str) -> str:
    """Hash of the code that a formula in that module is made from: new code, new programs."""
    content = hashlib.sha256(ca.CasadiMeta.version().encode())
    inside, _, path = module.partition(".")
    if inside != PACKAGE.name:
        content.update(Path(str(sys.modules[module].__file__)).read_bytes())
    for folder in dict.fromkeys((*ROBOTICS, *path.split(".")[:1])):
        content.update(digest_of_folder(folder).encode())
    return content.hexdigest()


@functools.cache
def digest_of_folder(name: str) -> str:
    """Hash of all Python files in a folder of the package, which need not be there."""
    content = hashlib.sha256()
    for folder, inner, files in os.walk(PACKAGE / name):  # half the time of Path.rglob
        inner.sort()
        for file in sorted(files):
            if file.endswith(".py"):
                with open(os.path.join(folder, file), "rb") as code:
                    content.update(code.read())
    return content.hexdigest()
