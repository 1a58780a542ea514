"""Which method takes the steps of a simulation: a named one, or what damping allows."""

from __future__ import annotations

from ...integration.methods import FIXED, RK4, SEMI_IMPLICIT, FixedMethod, named

AUTO = "auto"
"""The name of the choice between `RK4` and `SEMI_IMPLICIT`."""

STIFFEST_FOR_RK4 = 1.0
"""Largest step times damping rate for rk4 in "auto". It is stable up to 2.78; the damping rate
is taken at one position and differs at others."""


class StepMethod:
    """The choice of a method of fixed steps.

    Parameters
    ----------
    name : one of `integration.methods.FIXED`, or "auto": rk4 unless damping is too stiff for it.

    Raises
    ------
    InputError
        There is no such method; the message has the list.

    Examples
    --------
    >>> [StepMethod("auto").at(1e-3, rate).name for rate in (10.0, 1e6)]
    ['rk4', 'semi_implicit']
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._named = None if name == AUTO else named("method", name, FIXED, AUTO)

    def at(self, step: float, damping_rate: float) -> FixedMethod:
        """The method for steps of that length (s), where damping is as fast as that (1/s)."""
        stiff = step * damping_rate > STIFFEST_FOR_RK4
        return self._named or (SEMI_IMPLICIT if stiff else RK4)
