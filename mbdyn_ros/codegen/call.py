"""The plain call: arguments copied in, program run, one number checked, result copied out.

A call through here costs half a microsecond more than the program. It serves float64 arrays of
the exact shape and finite numbers; anything else raises one of `UNFIT`, and the caller finds
out why.
"""

from __future__ import annotations

from collections.abc import Callable

from ..model.model import Array
from .kernel import Bound, Kernel, memory

UNFIT = (TypeError, ValueError, BufferError)
"""What a call raises when its arguments are not plain finite float64 arrays of the right shape.

Assigning to a memoryview compares format and shape as strictly as needed, in 90 ns.
"""


def plain_call(kernel: Kernel) -> Callable[..., Array]:
    """Return a function of the kernel's inputs, one or two or three arrays; for one thread."""
    bound, flag = Bound.checked(kernel)
    copy = bound.result.copy
    bad = memory(flag)
    views = [memory(array) for array in bound.arguments]
    if len(views) == 1:
        (x,) = views

        def call_one(q: Array) -> Array:
            x[:] = q
            bound()
            if bad[0]:
                raise ValueError
            return copy()

        return call_one
    if len(views) == 2:
        x, y = views

        def call_two(q: Array, v: Array) -> Array:
            x[:] = q
            y[:] = v
            bound()
            if bad[0]:
                raise ValueError
            return copy()

        return call_two
    x, y, z = views

    def call_three(q: Array, v: Array, a: Array) -> Array:
        x[:] = q
        y[:] = v
        z[:] = a
        bound()
        if bad[0]:
            raise ValueError
        return copy()

    return call_three
