"""How a formula becomes a program: it is declared where it stands, and known by its name.

@program("q v a", output="effort", loaded=True)
def inverse_dynamics(system, q, z, v, a, wrenches=None, friction=True): ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from ..errors import InputError, shown, suggestion

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
    inputs: str,
    *,
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
) -> Callable[[Callable[P, R]], Formula[P, R]]:
    """Declare the formula below as a program.

    Parameters
    ----------
    inputs : names of its inputs; those of one number as `name:1`, of six as `name:6`.
    output, matrix, about, loaded and so on : see `Declaration`.
    """

    def declare(formula: Callable[P, R]) -> Formula[P, R]:
        kinds = loaded, internal, stepped, integrated, differentiated, long
        made: Formula[P, R] = Formula(formula, inputs, output, matrix, about, *kinds, needs)
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
