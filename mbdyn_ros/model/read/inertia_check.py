"""Inertias that no body can have: computed as they stand, but said."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..model import Link

MOMENT_ROUNDING = 1e-9
"""Violations below this fraction of the largest principal moment are rounding."""


def inertia_warnings(source: str, links: Iterable[Link]) -> list[str]:
    """One message for each link whose inertia is not one of a rigid body.

    The principal moments must be positive or zero and none may exceed the sum of the other two
    (which makes the matrix of second moments of mass positive semidefinite); a link without
    mass has no moments.
    """
    found = [(link, link.inertia) for link in links if link.inertia is not None]
    if not found:
        return []
    principal = np.linalg.eigvalsh(np.array([inertia.moments for _, inertia in found]))
    messages = []
    for (link, inertia), (small, middle, large) in zip(found, principal.tolist(), strict=True):
        scale = MOMENT_ROUNDING * max(abs(small), abs(large))
        numbers = f"principal moments {small:.6g}, {middle:.6g}, {large:.6g} kg m^2"
        place = f'{source}:{link.line}: <link name="{link.name}">'
        if inertia.mass == 0.0 and scale > 0.0:
            messages.append(f"{place}: has moments of inertia but no mass ({numbers})")
        elif small < -scale:
            messages.append(f"{place}: inertia not positive definite ({numbers})")
        elif large - small - middle > scale:
            messages.append(
                f"{place}: inertia breaks the triangle inequality, no body has it: the largest "
                f"exceeds the sum of the others ({numbers})"
            )
    return messages
