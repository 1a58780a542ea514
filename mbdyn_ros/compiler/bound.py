"""Kernels with arrays of their own: calling one costs the program and little else."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..array import Array, NoNumbers, as_numbers
from ..errors import InputError
from .kernel import Kernel, fixed_zeros


class Bound(functools.partial):  # type: ignore[type-arg]
    """A kernel with preallocated arrays: fill the inputs, call, read the output.

    The arrays are attributes named as the method's arguments (`q`, `v`, `a`, `effort`,
    `wrenches`), the output also as `result`. They stay where they are: an assignment copies
    numbers of the same shape into them. A call checks nothing, returns nothing and allocates
    nothing; one `Bound` serves one thread. A copy has arrays of its own, with the same numbers.

    Raises
    ------
    InputError
        What is assigned does not fit, or the program has no such array. A pickle is asked for.
    """

    arguments: tuple[Array, ...]
    result: Array

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Array: ...

    def __new__(cls, kernel: Kernel) -> Bound:
        """Allocate the arrays and tie the program to them."""
        arguments = tuple(fixed_zeros(*shape) for shape in kernel.inputs.values())
        result = fixed_zeros(*kernel.shape)
        call, kept = kernel.tie(arguments, result)
        self = super().__new__(cls, call)
        own: dict[str, object] = dict(zip(kernel.inputs, arguments, strict=True))
        own[kernel.program.declaration.output] = own["result"] = result
        vars(self).update(own, arguments=arguments, _kernel=kernel, _kept=kept)
        kernel.bound.add(self)
        return self

    def move(self, kernel: Kernel) -> None:
        """Run another kernel of the same program from now on, on the same arrays."""
        call, kept = kernel.tie(self.arguments, self.result)
        vars(self).update(_kernel=kernel, _kept=kept)
        super().__setstate__((call, (), {}, vars(self)))  # type: ignore[misc]
        kernel.bound.add(self)

    def __setattr__(self, name: str, value: object) -> None:
        arrays = {key: one for key, one in vars(self).items() if isinstance(one, np.ndarray)}
        if name not in arrays:
            raise InputError(f"{self._program} has no array {name!r}; it has {', '.join(arrays)}")
        try:
            given = as_numbers(value)
        except NoNumbers as error:
            raise InputError(f"{name} of {self._program} must be numbers: {error}") from None
        if given.shape != arrays[name].shape:
            raise InputError(
                f"{name} of {self._program} has shape {arrays[name].shape}; what is assigned to "
                f"it has shape {given.shape}"
            )
        arrays[name][...] = given

    def __copy__(self) -> Bound:
        other = Bound(vars(self)["_kernel"])
        for theirs, ours in zip(other.arguments, self.arguments, strict=True):
            theirs[...] = ours
        other.result[...] = self.result
        return other

    def __deepcopy__(self, memo: object) -> Bound:
        return self.__copy__()

    def __repr__(self) -> str:
        kernel = vars(self)["_kernel"]
        inputs = ", ".join(f"{name} {array.shape}" for name, array in
                           zip(kernel.inputs, self.arguments, strict=True))  # fmt: skip
        output = kernel.program.declaration.output
        return f"<Bound {kernel.program.name}: {inputs} -> {output} {self.result.shape}>"

    def __reduce__(self) -> NoReturn:
        raise InputError(
            f"{self._program} is bound to memory of this process and cannot be pickled: "
            "pickle the robot, and bind it again where it arrives"
        )

    @property
    def _program(self) -> str:
        """The program in words."""
        return f"the bound {vars(self)['_kernel'].program.name}"


class BoundBatch:
    """A kernel with arrays for N states: fill `arguments` in place, call, read `result`.

    Attributes
    ----------
    arguments : the inputs, (N, ...) each. result : (N, ...).
    """

    def __init__(self, kernel: Kernel, count: int) -> None:
        self.arguments = tuple(fixed_zeros(count, *shape) for shape in kernel.inputs.values())
        self.result = fixed_zeros(count, *kernel.shape)
        self._kernel, self._call = kernel, kernel.tie_batch(self.arguments, self.result)

    def __call__(self) -> None:
        """Run it."""
        self._call()
