"""Short formulas that are written down again and again, traced once.

Python and CasADi take 5 to 30 us for every operation on small matrices, however few numbers these
have. A function of CasADi puts in all operations of a formula at once, in a tenth of that time, and
simplifies each as it does when written out: products with 0 and 1 vanish, and the expressions are
the same.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import casadi as ca

from ...program.symbols import lasting

Formula = TypeVar("Formula", bound=Callable[..., object])


def inlined(*shapes: int | tuple[int, int]) -> Callable[[Formula], Formula]:
    """Decorate a formula of dense vectors (n,) and matrices (m, n), given by their shapes.

    It must do the same whatever the arguments are: what asks whether one of them is zero would get
    the answer of a symbol.
    """

    def decorate(formula: Formula) -> Formula:
        @functools.cache
        def traced() -> ca.Function:
            sizes = [(one, 1) if isinstance(one, int) else one for one in shapes]
            symbols = [ca.SX.sym(f"x{k}", *size) for k, size in enumerate(sizes)]
            results: Any = formula(*symbols)
            several = list(results) if isinstance(results, tuple) else [results]
            return lasting(ca.Function(formula.__name__.strip("_"), symbols, several))

        @functools.wraps(formula)
        def call(*arguments: ca.SX) -> object:
            return traced()(*arguments)

        return call  # type: ignore[return-value]

    return decorate
