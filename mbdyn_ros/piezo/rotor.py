"""The unbalanced rotor in the gripper of a piezo robot."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..array import Array, NoNumbers, as_numbers
from ..errors import InputError


@dataclass(frozen=True)
class Rotor:
    """A point mass that turns about the z axis of a link.

    Parameters
    ----------
    mass : kg. radius : m. speed : rad/s. All positive.

    Raises
    ------
    InputError
        A number is not finite or not positive.

    Examples
    --------
    >>> rotor = Rotor(mass=0.002, radius=0.005, speed=100.0)
    >>> rotor.amplitude
    0.1
    >>> rotor.force(0.0)
    array([0.1, 0. , 0. ])
    """

    mass: float
    radius: float
    speed: float

    def __post_init__(self) -> None:
        for name in ("mass", "radius", "speed"):
            value = getattr(self, name)
            number = np.asarray(value)
            if number.ndim or number.dtype.kind not in "iuf" or not math.isfinite(float(number)):
                raise InputError(f"the rotor's {name} must be a finite number, not {value!r}")
            if number <= 0:
                raise InputError(f"the rotor's {name} is {value}; it must be positive")
            object.__setattr__(self, name, float(number))
        if not 0.0 < self.amplitude < math.inf:
            raise InputError(
                f"the rotor's force m r w^2 is {self.amplitude} N; correct mass, radius or speed"
            )

    @property
    def amplitude(self) -> float:
        """m r w^2, N."""
        return self.mass * self.radius * self.speed * self.speed

    def force(self, angle: float | Array) -> Array:
        """Force on the link (3,) or (N, 3), N, in its axes at its origin; angle (N,), rad.

        Eq. (3) of Kulvietis et al. (2011): m r w^2 (cos, sin, 0).
        """
        return self.amplitude * direction(angle)


def direction(angle: float | Array) -> Array:
    """The direction (3,) or (N, 3) of a rotor's force in the axes of its link; angle (N,), rad."""
    phase = checked_angle(angle)
    return np.stack([np.cos(phase), np.sin(phase), np.zeros_like(phase)], axis=-1)


def checked_angle(angle: object) -> Array:
    """Return the rotor's angle as finite float64 numbers of shape () or (N,)."""
    try:
        phase = as_numbers(angle)
    except NoNumbers:
        raise InputError(f"the rotor's angle must be one or more numbers, not {angle!r}") from None
    if phase.ndim > 1 or not np.isfinite(phase).all():
        raise InputError(f"the rotor's angle must be finite numbers () or (N,); it is {angle!r}")
    return phase
