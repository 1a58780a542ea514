"""Damping and dry friction of the independent coordinates, wherever the robot stands."""

from __future__ import annotations

import numpy as np

from ..model.errors import SimulationError
from ..model.model import Array
from ..robot import Robot
from .smooth import friction_coefficients

CREEP = 1e-300
"""A velocity with a sign but without damping."""


class Coulomb:
    """Coefficients of D v + F sign(v).

    In a loop of one freedom a joint with friction f moves by v_tree = G(q) v, so F = |G(q)| f
    changes with the position. Joints whose motion mixes several coordinates have no such form.

    rubbing : (nv,) which coordinates feel dry friction.
    """

    def __init__(self, robot: Robot) -> None:
        system = robot._system
        self._damping, self._dry = friction_coefficients(system)
        for linkage in system.linkages:
            bodies = [system.tree.bodies[k] for k in linkage.cluster.tied]
            rough = [body.joint for body in bodies if body.friction]
            if rough and len(linkage.independent) > 1:
                raise SimulationError(
                    f"{robot.model.source}: the dry friction of {', '.join(rough)} cannot be "
                    "simulated: it stands in a closed loop with several freedoms. Set its "
                    "friction to 0, or use damping."
                )
        fixed = all(linkage.linear for linkage in system.linkages)
        self._friction = None if fixed else robot.bind("friction_vector")
        self.rubbing = self._dry > 0

    def dry(self, q: Array) -> Array:
        """F (nv,), N m or N."""
        return self._dry if self._friction is None else self._at(q, CREEP)

    def damping(self, q: Array) -> Array:
        """D (nv,), N m s/rad or N s/m."""
        return self._damping if self._friction is None else self._at(q, 1.0) - self._at(q, CREEP)

    def _at(self, q: Array, speed: float) -> Array:
        assert self._friction is not None
        self._friction.q[:] = q
        self._friction.v[:] = speed
        self._friction()
        result: Array = np.abs(self._friction.effort)
        return result
