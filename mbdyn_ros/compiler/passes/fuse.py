"""Maps over equally many columns that follow each other become one.

What a block leaves in a table the next still finds in the first cache: loop fusion (Allen, Kennedy,
*Optimizing Compilers for Modern Architectures*, 2002, section 6.2). Every column is by itself, so
nothing forbids it.
"""

from __future__ import annotations

from dataclasses import replace

from ..ir import Code, Constant, Map, Step
from ..options import Options


def fuse(code: Code, options: Options) -> Code:
    """Join maps between which there are constants at most; these come before."""
    steps: list[Step] = []
    last = -1  # where the map is that another may join
    for step in code.steps:
        before = steps[last] if last >= 0 else None
        if isinstance(step, Constant):
            steps.insert(last if last >= 0 else len(steps), step)
            last += last >= 0
        elif isinstance(step, Map) and isinstance(before, Map) and before.columns == step.columns:
            steps[last] = Map(step.columns, (*before.blocks, *step.blocks))
        else:
            last = len(steps) if isinstance(step, Map) else -1
            steps.append(step)
    return replace(code, steps=tuple(steps))
