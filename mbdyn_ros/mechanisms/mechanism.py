"""A mechanism: a design with its motion and the efforts that it requires."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import ArrayLike

from ..equations import programs
from ..model.model import Array
from ..program.declaration import Declaration
from ..robot import Robot, load
from .design import Design
from .pose import MechanismPose
from .programs import run
from .toggles import home, reach, require_reach
from .urdf_writer import write_urdf


class Mechanism(Design):
    """A planar mechanism: a `Design` and its answers, by the programs that all designs share.

    Positions q, velocities v and accelerations a are the angles of the driven links (`inputs`)
    in the plane: arrays (n,) or, for N states at once, (N, n).
    """

    def pose(self, q: ArrayLike) -> MechanismPose:
        """The places of its parts at N states q (N, n).

        Raises
        ------
        InputError
            It cannot be assembled at one of them; the words give the limiting angle.
        """
        states = self.states("q", q)
        require_reach(self, states)
        return self.solved(states)

    def joint_state(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
    ) -> tuple[Array, Array | None, Array | None]:
        """Positions, velocities and accelerations (N, joints) of all joints, `joint_names`.

        Positions are angles in the parent part, continuous from state to state, and slides.
        """
        states = self.states("q", q)
        position = self.pose(states).joint_positions()
        velocity = acceleration = None
        if v is not None:
            velocity = self._run(programs.joint_velocity, states, v=v)
        if a is not None:
            rate = np.zeros_like(states) if v is None else v
            acceleration = self._run(programs.joint_acceleration, states, v=rate, a=a)
        return position, velocity, acceleration

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Driving torques (N, n), N m, of a motion of the inputs.

        Parameters
        ----------
        q, v, a : (N, n) rad, rad/s, rad/s^2; a single row serves for all.

        Raises
        ------
        InputError
            It cannot be assembled at one of the positions, with the limiting angle.

        Examples
        --------
        >>> import numpy as np
        >>> from mbdyn_ros.mechanisms import FourBar
        >>> q = np.linspace(0, 2 * np.pi, 360)[:, None]
        >>> FourBar().inverse_dynamics(q, [10.0], [0.0]).shape
        (360, 1)
        """
        return self._run(programs.inverse_dynamics, self.states("q", q), v=v, a=a)

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, effort: ArrayLike) -> Array:
        """Accelerations (N, n), rad/s^2, of the inputs under driving torques (N, n)."""
        return self._run(programs.forward_dynamics, self.states("q", q), v=v, effort=effort)

    def energy(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Kinetic and potential energy (N,), J, the latter zero at the height of the origin."""
        kinetic, potential = self._run(programs.energy, self.states("q", q), v=v).T
        return kinetic, potential

    def _run(self, program: Declaration, q: Array, **others: ArrayLike) -> Array:
        """A compiled program at states (N, n)."""
        require_reach(self, q)
        arrays = [q, *(self.states(key, value) for key, value in others.items())]
        count = max(map(len, arrays))
        for key, array in zip(("q", *others), arrays, strict=True):
            if len(array) not in (1, count):
                raise self.refusal(f"{key} has {len(array)} rows where others have {count}")
        shape = (count, len(self.inputs))
        return run(self, program, *(np.broadcast_to(array, shape) for array in arrays))

    @property
    def home(self) -> Array:
        """Angles (n,) of the inputs at the home of `robot` and `urdf`.

        Zero where the mechanism can be assembled there, else where it is farthest from a toggle.
        """
        return home(self)

    @functools.cached_property
    def range(self) -> tuple[float, float]:
        """Interval of its only input's angle around home, rad; infinite where it turns fully."""
        return reach(self)

    def urdf(self) -> str:
        """URDF+ text: what `mbdyn_ros.load` reads back with the same dynamics."""
        return write_urdf(self, self.home)

    def robot(self) -> Robot:
        """The `Robot`: its q is the inputs' angles, its joints are those of `joint_state`."""
        return load(self.urdf(), gravity=(0.0, 0.0, -float(self.gravity)))
