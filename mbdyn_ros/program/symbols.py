"""Who may touch CasADi's expressions: one thread at a time.

CasADi counts without a lock who uses a node of an expression (SX), and all expressions share the
nodes of common numbers. Two threads that build, copy or drop expressions at once crash the process.
So whatever touches them is `serialized`, until its last one is dropped; and a function that
outlives it, with expressions inside, is `lasting`. Numbers may be computed in any thread. A fork
waits for it too: CasADi has locks of its own, which the child would find taken forever.
"""

from __future__ import annotations

import functools
import traceback
from collections import deque
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import casadi as ca

from ..locks import Lock

OPERATIONS = {"add": ca.OP_ADD, "sub": ca.OP_SUB, "mul": ca.OP_MUL, "truediv": ca.OP_DIV}

Operator = Callable[[ca.SX, Any], Any]


def _direct(operation: int, searching: Operator, reflected: bool) -> Operator:
    """An operator that does what CasADi's own, `searching`, does."""
    binary = ca.SX.binary

    def operator(self: ca.SX, other: Any) -> Any:
        if not isinstance(other, (ca.SX, float, int)):
            return searching(self, other)
        return binary(operation, other, self) if reflected else binary(operation, self, other)

    return operator


def use_direct_operators() -> None:
    """Let `+`, `-`, `*` and `/` of all expressions (SX) go straight to their operation.

    CasADi's own try the signatures of every type it has (float, DM, SX, MX), and ask each operand
    for its shape several times: 20 to 40 us, where the operation takes 2. With an expression or a
    number on the other side, nothing has to be tried. All else is left to CasADi, and the results
    are the same expressions.
    """
    for name, operation in OPERATIONS.items():
        for method in (f"__{name}__", f"__r{name}__"):
            searching = getattr(ca.SX, method)
            setattr(ca.SX, method, _direct(operation, searching, method.startswith("__r")))


def answer_at_once() -> None:
    """Let an expression say at once that it is neither numbers (DM) nor a graph (MX).

    All other functions of CasADi ask that too before they take it for the expression that it is.
    Where it does not answer, they look for an array of NumPy and of SciPy in it, which takes half
    of their time. Its shape they ask for as often: here that is one call instead of five.
    """
    nothing = [].clear  # a function in C that gives None: no quicker answer
    answers = {"__DM__": nothing, "__MX__": nothing, "shape": property(ca.SX.size)}
    for name, answer in answers.items():
        setattr(ca.SX, name, answer)


use_direct_operators()
answer_at_once()

P = ParamSpec("P")
R = TypeVar("R")

_owned = Lock(reentrant=True, forks_wait=True)

_dropped: deque[object] = deque()
"""Unused functions; they are deleted the next time that a thread is alone."""


def serialized(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function that touches expressions while no other such function runs."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with _owned:
            try:
                return function(*args, **kwargs)
            except BaseException as error:
                traceback.clear_frames(error.__traceback__)  # with the expressions in them
                raise
            finally:
                while _dropped:
                    _dropped.pop()

    return run


class SerializedProperty(functools.cached_property[R]):
    """A cached property that touches expressions.

    It has one lock with all that does: with a lock of its own, as cached properties have before
    Python 3.12, two threads could wait for each other.
    """

    def __init__(self, function: Callable[[Any], R]) -> None:
        super().__init__(serialized(function))
        vars(self)["lock"] = _owned


class _Lasting:
    """An object that any thread may drop."""

    _drop = _dropped.append  # found here when the interpreter ends, and modules are empty

    def __del__(self) -> None:
        if "this" in self.__dict__:  # CasADi's own object
            self._drop(self.__dict__.pop("this"))


class _LastingBuffer(_Lasting, ca.FunctionBuffer):  # type: ignore[misc]
    """A buffer of a lasting function."""


class _LastingFunction(_Lasting, ca.Function):  # type: ignore[misc]
    """A function that may be used and dropped in any thread, and its buffers too."""

    def buffer(self) -> tuple[ca.FunctionBuffer, Callable[[], None]]:
        """See `casadi.Function`."""
        buffer, evaluate = super().buffer()
        buffer.__class__ = _LastingBuffer
        return buffer, evaluate


def lasting(function: ca.Function) -> ca.Function:
    """The function itself, made fit to be dropped in any thread."""
    function.__class__ = _LastingFunction
    return function
