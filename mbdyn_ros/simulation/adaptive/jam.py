"""Painleve's paradox: sliding contacts for which rigid bodies have no motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...array import Array
from ...errors import ContactError
from ..contact.rows import Assembly, Flags

JAMMED = 1e-2
"""Share of the normal acceleration by a push of the wall that friction leaves, where it jams."""


def jams(assembly: Assembly, response: Callable[[Array], Array]) -> Flags:
    """Which contacts (k,) pull themselves in by friction as hard as the wall pushes them out.

    The normal acceleration by such a contact's own force, friction included, is next to nothing
    or negative.

    Parameters
    ----------
    response : accelerations (nv, m) by unit forces along rows (m, nv).
    """
    normal = assembly.blocks.normal
    walls = assembly.rows[normal]
    by_force = assembly.rows @ response(assembly.columns)
    by_push = np.einsum("ki,ik->k", walls, response(walls))
    found: Flags = np.diag(by_force)[normal] <= JAMMED * by_push
    return found


def refuse(names: Sequence[str]) -> None:
    """Raise `SimulationError` where there are names of contacts that jam."""
    if names:
        raise ContactError(
            f"friction jams {', '.join(names)}: it pulls the point into the wall as hard as "
            "the wall pushes it out, so that rigid bodies have no motion that obeys Coulomb's "
            "law (Painleve's paradox); lower the friction of the wall"
        )
