"""How much of an answer is noise: what rounding of its arguments makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..errors import MbdynError
from ..model.model import Array

ARGUMENT_ROUNDING = 4 * np.finfo(float).eps
"""Share of an argument, or rad, m and their like where it is small, that rounding may change."""

SIGNS = (-ARGUMENT_ROUNDING, ARGUMENT_ROUNDING)

ROUNDED_TIMES = 4
"""Ways to round all arguments that are tried."""

SAFETY = 8.0
"""The noise over the largest change that was seen."""


def rounding_noise(function: Callable[..., Array], arguments: Sequence[Array]) -> Array:
    """How far (n,) from 0 numbers of the function's answer may be by rounding alone.

    The function has no jump: dry friction, for one, is left out of it.
    """
    random, result = np.random.default_rng(0), function(*arguments)
    noise = np.zeros_like(result)
    for _ in range(ROUNDED_TIMES):
        rounded = [
            one + np.maximum(np.abs(one), 1.0) * random.choice(SIGNS, one.shape)
            for one in arguments
        ]
        try:
            noise = np.maximum(noise, np.abs(function(*rounded) - result))
        except MbdynError:
            break  # at the edge of what has an answer
    return SAFETY * noise
