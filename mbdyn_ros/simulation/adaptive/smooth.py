"""Accelerations of a robot whose joints have no dry friction: one compiled call."""

from __future__ import annotations

import numpy as np

from ...compiler.kernel import Bound, Kernel
from ...equations.dry_friction import tree_friction
from ...equations.position_rate import motion_rate
from ...equations.system import System
from ...model.model import Array
from ...robot import Robot
from ..contact.records import Contact
from ..coulomb import fastest_damping
from ..trajectory import Transition

FARTHEST_STAGE = 10.0
"""Motion of a loop's joint (rad or m) that no stage of a step may make: where a trial goes wild, no
walk need go after it."""


def friction_coefficients(system: System) -> tuple[Array, Array]:
    """Damping (N m s/rad or N s/m) and dry friction (N m or N), (nv,) each, as v feels them.

    A joint that follows another one by v_tree = G v adds G^2 d to its damping and |G| f to its
    dry friction. In closed loops G changes with the position; these are the numbers at home.
    """
    damping, dry = tree_friction(system.tree)
    if not damping.any() and not dry.any():
        return np.zeros(system.coordinates.nv), np.zeros(system.coordinates.nv)
    share = system.embedding_at_home
    return (share**2).T @ damping, np.abs(share).T @ dry


class Smooth:
    """Accelerations and friction losses; nothing ever switches.

    This is the interface of every kind of dynamics that the integrator drives.
    """

    switching = False
    """Whether the integrator has to watch `violated`."""

    holding: Array
    """Efforts that hold joints at rest, as of the last `acceleration`; none here."""

    drifts = False
    """Whether joints at rest have to be kept there by `hold`."""

    load: Array
    """Forces (nv,) of walls on the coordinates, which joints at rest have to hold."""

    kernel: Kernel | None = None
    """Rates of the whole motion, if they are those of one program."""

    def __init__(self, robot: Robot) -> None:
        self.holding = np.zeros(0)
        self.load = np.zeros(robot.nv)
        self._robot = robot
        self.kernel = robot.calls.kernel(motion_rate)
        self.kernel.farthest = FARTHEST_STAGE
        self._forward = Bound(self.kernel)
        self._a = self._forward.rate[robot.nq : robot.nq + robot.nv]
        self._damping, _ = friction_coefficients(robot.system)
        damped = bool(self._damping.any())
        self._friction_vector = robot.bind("friction_vector") if damped else None

    def start(self, t: float, q: Array, v: Array, effort: Array) -> list[Transition]:
        """Choose the mode of motion at the start."""
        return []

    def acceleration(self, q: Array, v: Array, effort: Array) -> Array:
        """Accelerations (nv,); the array is overwritten by the next call."""
        forward = self._forward
        forward.q[:] = q
        forward.v[:] = v
        forward.effort[:] = effort
        forward()
        return self._a

    def contacts_held(self, q: Array, v: Array, effort: Array) -> tuple[Contact, ...]:
        """Contacts that rest, with their forces."""
        return ()

    def response(self, q: Array, matrix: Array, forces: Array) -> Array:
        """Accelerations (nv, k) caused by forces (nv, k); `matrix` (nv, nv) is that of mass."""
        return np.asarray(np.linalg.solve(matrix, forces), dtype=np.float64)

    def hold(self, q: Array, v: Array) -> None:
        """Take from v, in place, what joints at rest have gathered by rounding."""

    def damping_rate(self, q: Array) -> float:
        """Greatest rate (1/s) at which damping slows a motion that is possible now."""
        if self._friction_vector is None:
            return 0.0
        return fastest_damping(self._robot.mass_matrix(q), np.diag(self._damping))

    def loss(self, q: Array, v: Array) -> float:
        """Power that friction takes, W."""
        friction = self._friction_vector
        if friction is None:
            return 0.0
        friction.q[:] = q
        friction.v[:] = v
        friction()
        return float(friction.effort @ v)

    def violated(self, q: Array, v: Array, effort: Array) -> bool:
        """Whether the state lies beyond the end of the present mode."""
        return False

    def switch(self, t: float, q: Array, v: Array, effort: Array) -> list[Transition]:
        """Go on from a violation in another mode; `v` may be corrected in place."""
        return []
