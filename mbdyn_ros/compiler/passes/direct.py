"""Products that are the result go where they belong at once, not through a table.

Copy propagation (Aho, Lam, Sethi, Ullman, *Compilers*, 2006, section 9.1.5), for tables.
"""

from __future__ import annotations

from dataclasses import replace

from ..ir import Code, Product, Put
from ..options import Options


def direct(code: Code, options: Options) -> Code:
    """Let the products of the last table, where one step makes all, fill the result."""
    *steps, before, last = code.steps if len(code.steps) > 1 else 2 * code.steps
    if not isinstance(last, Put) or not isinstance(before, Product):
        return code
    if len(before.matrices) < len(before.table.widths):  # another step makes some of its matrices
        return code
    result = replace(last.result, widths=before.table.widths)
    product = Product(result, before.matrices)
    return replace(code, steps=(*steps, product), result=result)
