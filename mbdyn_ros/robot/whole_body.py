"""The robot as a whole: mass, centre of mass, momentum and energy, as methods of `Robot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..array import Array, ArrayLike
from ..equations import centroidal
from ..equations.link_energy import link_energies as energies_of
from ..errors import InputError
from ..program.declaration import Declaration

if TYPE_CHECKING:
    from .robot import Robot


def center_of_mass(self: Robot, q: ArrayLike, out: Array | None = None) -> Array:
    """Centre of mass (3,) or (N, 3) of the links that joints move, in the world (m)."""
    found = self._plain.center_of_mass(q, out)
    return _of_mass(self, centroidal.center_of_mass, (q,), out) if found is None else found


def center_of_mass_velocity(
    self: Robot, q: ArrayLike, v: ArrayLike, out: Array | None = None
) -> Array:
    """Its velocity (3,) or (N, 3), m/s."""
    found = self._plain.center_of_mass_velocity(q, v, out)
    if found is None:
        found = _of_mass(self, centroidal.center_of_mass_velocity, (q, v), out)
    return found


def center_of_mass_jacobian(self: Robot, q: ArrayLike, out: Array | None = None) -> Array:
    """Its velocity per velocity coordinate (3, nv) or (N, 3, nv)."""
    found = self._plain.center_of_mass_jacobian(q, out)
    if found is None:
        found = _of_mass(self, centroidal.center_of_mass_jacobian, (q,), out)
    return found


def centroidal_momentum(self: Robot, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
    """Linear momentum, and angular momentum about the centre of mass: (6,) or (N, 6).

    In world axes, N s and N m s.
    """
    found = self._plain.centroidal_momentum(q, v, out)
    if found is None:
        found = _of_mass(self, centroidal.centroidal_momentum, (q, v), out)
    return found


def centroidal_momentum_matrix(self: Robot, q: ArrayLike, out: Array | None = None) -> Array:
    """A (6, nv) or (N, 6, nv) of `centroidal_momentum` = A v."""
    found = self._plain.centroidal_momentum_matrix(q, out)
    if found is None:
        found = _of_mass(self, centroidal.centroidal_momentum_matrix, (q,), out)
    return found


def centroidal_momentum_rate(
    self: Robot, q: Array, v: Array, a: Array, out: Array | None = None
) -> Array:
    """Rate of `centroidal_momentum` (6,) or (N, 6) along a motion, N and N m.

    What all forces on the robot, gravity among them, sum up to, and their moment about the centre
    of mass.
    """
    found = self._plain.centroidal_momentum_rate(q, v, a, out)
    if found is None:
        found = _of_mass(self, centroidal.centroidal_momentum_rate, (q, v, a), out)
    return found


def link_energies(
    self: Robot, q: Array, v: Array, out: Array | None = None
) -> tuple[Array, Array]:
    """Kinetic and potential energy (J) of every link of `moving_links`: two arrays (L,) or (N, L).

    Their sums are `energy`. `out` (2, L) or (N, 2, L) takes both.
    """
    whole = self._plain.link_energies(q, v, out)
    if whole is None:
        whole = self._checked(energies_of, (q, v), out=out)
    return whole[..., 0, :], whole[..., 1, :]


def _of_mass(
    self: Robot, program: Declaration, values: tuple[ArrayLike, ...], out: Array | None
) -> Array:
    """A program that needs a centre of mass."""
    if not self.total_mass:
        raise InputError(
            f"{self.model.source}: what moves has no mass, so there is no centre of mass; give "
            "its links an <inertial>"
        )
    return self._checked(program, values, out=out)
