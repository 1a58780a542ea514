"""A program ready to run: compiled where a C compiler is, interpreted elsewhere."""

from __future__ import annotations

import abc
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ..array import Array
from ..errors import InputError
from ..program.program import Program


class Tied(Protocol):
    """A call that is tied to a kernel."""

    def move(self, kernel: Kernel) -> None:
        """Run another kernel of the same program from now on."""
        ...


class Kernel(abc.ABC):
    """One program, ready to run.

    Attributes
    ----------
    program : what it computes, not traced.
    inputs : shape of every input array by name, in order.
    shape : shape of the result.
    compiled : whether C runs, not the interpreter.
    home : where walks to the positions of loops without closed form start; see
        `Closing.home`. The parameters of the equations follow, where these are not inputs.
        Every call reads it anew.
    bound : the calls that are tied to it and may be tied to another kernel (`Bound.move`).
    farthest : distance (rad or m) from the last positions beyond which calls that are tied from
        now on leave loops open; 0: there is none.
    """

    compiled: bool

    def __init__(
        self,
        program: Program,
        inputs: dict[str, tuple[int, int]],
        shape: tuple[int, int],
        home: Array,
    ) -> None:
        self.program, self.home, self.farthest = program, home, 0.0
        self.bound: weakref.WeakSet[Tied] = weakref.WeakSet()
        self.inputs: dict[str, tuple[int, ...]] = {
            name: (rows, columns) if name == "wrenches" else (rows * columns,)
            for name, (rows, columns) in inputs.items()
        }
        self.shape: tuple[int, ...] = (
            shape if program.declaration.matrix else (shape[0] * shape[1],)
        )
        self._ndim = [len(one) for one in self.inputs.values()]

    @property
    def plain(self) -> Callable[..., Array | None] | None:
        """The plain call, of the inputs alone or of all arguments of the method; see `call`.

        None where programs are interpreted.
        """
        return None

    def batch(
        self,
        arrays: Sequence[Array],
        count: int,
        out: Array | None = None,
        homes: Array | None = None,
        apart: bool = False,
    ) -> Array:
        """Run over N states: inputs of shape (N, ...), or of one state's shape for all.

        Parameters
        ----------
        out : (N, ...) contiguous float64 for the results; default a new array.
        homes : (N, n) contiguous: every state has a home of its own, with its parameters.
        apart : whether every state is run by itself: a vector of states walks from one position.

        Returns
        -------
        The results (N, ...); a row with NaN or infinity has them in its result alone. All rows
        are computed with the parameters that the kernel had when the batch began.

        Raises
        ------
        InputError
            There are not as many homes as states.
        """
        if homes is not None and len(homes) != count:
            raise InputError(
                f"a batch of {count} states needs as many rows of parameters; got {len(homes)}"
            )
        arrays = [np.ascontiguousarray(array, dtype=np.float64) for array in arrays]
        result = np.empty((count, *self.shape)) if out is None else out
        if result.size:
            self._fill(arrays, result, homes, apart)
        return result

    @abc.abstractmethod
    def tie(self, arguments: Sequence[Array], result: Array) -> tuple[Callable[[], Any], object]:
        """A call of the program on arrays that stay, and what must stay with it."""

    @abc.abstractmethod
    def tie_batch(self, arguments: Sequence[Array], result: Array) -> Callable[[], Any]:
        """A call of the program over the states of arrays (N, ...), which the caller keeps."""

    @abc.abstractmethod
    def _fill(
        self,
        arrays: Sequence[Array],
        result: Array,
        homes: Array | None = None,
        apart: bool = False,
    ) -> None:
        """Run over all states of contiguous arrays."""


def memory(array: Array) -> Any:
    """The memory of a contiguous array, as one row of numbers."""
    return memoryview(array.reshape(-1))  # type: ignore[arg-type]


def snapshot(home: Array) -> Array:
    """A copy of numbers that other threads may set meanwhile: all of them before, or all after."""
    return np.frombuffer(bytes(memory(home))) if home.size else home  # under the GIL throughout


def fixed_zeros(*shape: int) -> Array:
    """An array for code that keeps its address: it cannot be resized."""
    return np.zeros(shape)[...]
