"""Followers that leave their cams: flight, landing and bounces of a disk cam's follower.

The follower's joint is at z >= s(theta) (on the side of a rise), as s is where it touches. While it
touches, z = s and lambda, the effort of the cam on its joint, is that of the osculating parabola:

    M [theta''; z''] = f + [-s'; 1] lambda,   z'' - s' theta'' = s'' theta'^2

It leaves where lambda would pull, moves under weight and spring alone, and lands by Newton's law:
z' - s' theta' turns into -e times what it was, by an impulse along [-s'; 1].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..array import Array
from ..errors import InputError, SimulationError
from ..integration.methods import ADAPTIVE, named
from .disk_cam import DiskCam
from .forward import TorqueLaw, torque_law
from .layout import Part
from .mechanism import Mechanism

STRIDE = math.radians(2)
"""Angle of the cam in a step, at most, at its speed when a phase begins: laws have short parts."""

BARELY_BOUNCES = 1e-4
"""Speed of a bounce, as a share of the greatest that the law has at the cam's speed, below which
the follower stays."""

MOST_PHASES = 20_000
"""Flights and contacts of a motion that are too many."""


@dataclass(frozen=True)
class Flight:
    """A follower in the air.

    start, end : s; infinite where it does not land. angle : rad, of the cam at the start.
    gap : the greatest between follower and cam, m or rad of the follower's joint.
    closing : speed at which it lands, m/s or rad/s, and `loss`, J, of the landing.
    """

    start: float
    end: float
    angle: float
    gap: float
    closing: float
    loss: float


@dataclass(frozen=True, eq=False)
class CamMotion:
    """A motion of a cam and a follower that may leave it.

    time : (N,) s. q, v : (N, 2) of cam and follower, rad and m, or rad. gap : (N,) between them at
    the follower's joint. effort : (N,) lambda, of the cam on that joint, N or N m; 0 in flight.
    torque : (N,) N m, at the cam.
    """

    time: Array
    q: Array
    v: Array
    gap: Array
    effort: Array
    torque: Array
    flights: tuple[Flight, ...]


def move_with_flights(
    mechanism: Mechanism,
    q0: float,
    v0: float,
    duration: float,
    torque: Array | Sequence[float] | TorqueLaw | None = None,
    restitution: float = 0.0,
    method: str = "RK45",
    rtol: float = 1e-8,
    atol: float = 1e-10,
    max_step: float = math.inf,
) -> CamMotion:
    """Integrate a cam and its follower, which begins on the cam.

    Parameters
    ----------
    q0, v0 : angle and speed of the cam at time 0, rad and rad/s. duration : s.
    torque : as `forward.move` has it. restitution : e, from 0 to 1.
    method, rtol, atol, max_step : of the integration.

    Raises
    ------
    InputError
        It is not a cam with a follower that carries nothing else, or a number is not finite.

    Examples
    --------
    >>> from mbdyn_ros.mechanisms import MECHANISMS
    >>> fast = move_with_flights(MECHANISMS["disk_cam"](), 0.0, 300.0, 0.02)
    >>> len(fast.flights) > 0
    True
    """
    from scipy.integrate import solve_ivp  # slow to import

    phases = _Phases(mechanism, torque)
    if not 0 <= restitution <= 1:
        raise InputError(f"restitution is {restitution:g}; give a number from 0 to 1")
    for name, number in (("duration", duration), ("rtol", rtol), ("atol", atol)):
        if not (number > 0 and math.isfinite(number)):
            raise InputError(f"{name} is {number:g}; give a number above zero")
    solver = named("method", method, ADAPTIVE).solver()
    steepest = float(np.abs(phases.cam.motion(phases.cam.angles)[1]).max())
    t, y, flying = 0.0, phases.on_cam(np.array([q0, 0.0, v0, 0.0])), False
    rows: list[Array] = []
    flights: list[Flight] = []
    for _ in range(MOST_PHASES):
        stride = STRIDE / max(abs(float(y[2])), 1.0)
        event = phases.gap if flying else phases.push
        found = solve_ivp(
            phases.flight if flying else phases.contact, (t, duration), y, solver, events=[event],
            rtol=rtol, atol=atol, max_step=min(max_step, stride, duration),
        )  # fmt: skip
        if found.status < 0:
            raise SimulationError(
                f"{mechanism.name}: the motion cannot continue after t = {found.t[-1]:.6g} s: "
                f"{found.message}"
            )
        at, states = found.t, found.y.T
        if not flying:
            states = np.array([phases.on_cam(one) for one in states])
        passed = [phases.row(*one, flying) for one in zip(at, states, strict=True)]
        rows += passed
        t, y = float(at[-1]), states[-1]
        if flying:
            gap = max(float(one[5]) for one in passed)
            closing = -phases.opening(y)
            landed = found.status == 1
            bounces = restitution * closing > BARELY_BOUNCES * steepest * abs(y[2])
            e = restitution if bounces else 0.0
            y, loss = phases.landed(y, e) if landed else (y, 0.0)
            flights.append(
                Flight(float(at[0]), t if landed else math.inf, float(states[0, 0]), gap,
                       closing if landed else 0.0, float(loss))
            )  # fmt: skip
            flying = e > 0 or phases.push(t, y) < 0
        else:
            flying = found.status == 1
        if found.status == 0:
            break
    else:
        raise SimulationError(
            f"{mechanism.name}: {MOST_PHASES} flights and contacts by t = {t:.6g} s: the follower "
            "chatters; give less time or a smaller restitution"
        )
    table = np.array(rows)
    gaps, efforts, torques = table[:, 5:].T
    whole = table[:, 0], table[:, 1:3], table[:, 3:5], gaps, efforts, torques
    return CamMotion(*whole, tuple(flights))


class _Phases:
    """The equations of contact and flight of states [theta, z, theta', z']."""

    def __init__(self, mechanism: Mechanism, torque: Any) -> None:
        layout = mechanism.layout()
        if len(layout.cams) != 1 or len(layout.parts) != 2:
            raise mechanism.refusal(
                "flights are of one cam whose follower carries nothing else; leave restitution out"
            )
        mechanism.pose(np.zeros(1))  # refuses what jams or undercuts
        self.cam: DiskCam = layout.cams[0]
        self._law, self._gravity = torque_law(mechanism, torque), float(mechanism.gravity)
        self._parts = [layout.parts[layout.order[one]] for one in self.cam.parts]

    def _loads(self, t: float, y: Array) -> tuple[Array, Array]:
        """Inertias (2,), and efforts (2,) without the cam's on the follower."""
        pairs = (self._free(part, place) for part, place in zip(self._parts, y, strict=False))
        mass, weight = np.array(list(pairs)).T
        return mass, weight + [self._torque(t, y), float(self.cam.spring_effort(y[1]))]

    def _torque(self, t: float, y: Array) -> float:
        return float(np.ravel(self._law(t, y[:1], y[2:3]))[0])

    def _free(self, part: Part, place: float) -> tuple[float, float]:
        """Inertia of a part on the ground, and the effort of its weight, at a joint position."""
        mass, middle = float(part.piece.mass), complex(*part.piece.middle)
        if part.slides:
            return mass, -part.across * mass * self._gravity
        lever = (middle * np.exp(1j * place)).real
        return float(part.piece.moment) + mass * abs(middle) ** 2, -lever * mass * self._gravity

    def _slopes(self, y: Array) -> tuple[float, float, float]:
        """s, s' and s'' at the angle of the cam."""
        place, slope, bend = (float(one[0]) for one in self.cam.motion(y[:1]))
        return place, slope, bend

    def on_cam(self, y: Array) -> Array:
        """The state with the follower on the cam."""
        place, slope, _ = self._slopes(y)
        return np.array([y[0], place, y[2], slope * y[2]])

    def _pressed(self, t: float, y: Array) -> tuple[float, float]:
        """theta'' and lambda in contact."""
        place, slope, bend = self._slopes(y)
        mass, load = self._loads(t, np.array([y[0], place, y[2], slope * y[2]]))
        centrifugal = mass[1] * bend * y[2] ** 2
        turning = (load[0] + slope * (load[1] - centrifugal)) / (mass[0] + slope**2 * mass[1])
        return turning, mass[1] * slope * turning + centrifugal - load[1]

    def contact(self, t: float, y: Array) -> Array:
        """Rate of a state in contact."""
        turning, _ = self._pressed(t, y)
        _, slope, bend = self._slopes(y)
        return np.array([y[2], slope * y[2], turning, slope * turning + bend * y[2] ** 2])

    def flight(self, t: float, y: Array) -> Array:
        """Rate of a state in flight."""
        mass, load = self._loads(t, y)
        return np.concatenate([y[2:], load / mass])

    def push(self, t: float, y: Array) -> float:
        """lambda, positive where the cam pushes: below it the follower leaves."""
        return self.cam.side * self._pressed(t, y)[1]

    def gap(self, t: float, y: Array) -> float:
        """How far the follower's joint is beyond where it touches."""
        return self.cam.side * (float(y[1]) - self._slopes(y)[0])

    def opening(self, y: Array) -> float:
        """The rate of the gap."""
        return self.cam.side * float(y[3] - self._slopes(y)[1] * y[2])

    def landed(self, y: Array, e: float) -> tuple[Array, float]:
        """The state after a landing, and the energy lost (J)."""
        mass, _ = self._loads(0.0, y)
        place, slope, _ = self._slopes(y)
        closing = float(y[3] - slope * y[2])
        felt = 1 / (slope**2 / mass[0] + 1 / mass[1])
        impulse = -(1 + e) * closing * felt
        after = y[2:] + impulse * np.array([-slope / mass[0], 1 / mass[1]])
        return np.array([y[0], place, *after]), 0.5 * felt * (1 - e * e) * closing**2

    def row(self, t: float, y: Array, flying: bool) -> Array:
        """Time, state, gap, lambda and torque (8,) at an instant."""
        gap, effort = (self.gap(t, y), 0.0) if flying else (0.0, self._pressed(t, y)[1])
        return np.array([t, *y, gap, effort, self._torque(t, y)])


for _event in (_Phases.push, _Phases.gap):
    _event.terminal, _event.direction = True, -1.0  # type: ignore[attr-defined]
