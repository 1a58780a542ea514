"""The payload of a link from external efforts: recursive least squares with forgetting.

A payload that the model does not have adds P(q, v) theta to the momentum and B(q, v) theta to its
known rate, theta its ten standard parameters. What an observer filters is therefore

    delta = ((P_0 - P_1) / h + (B_0 + B_1) / 2) theta + noise,

and, filtered alike, external = Y theta: no accelerations are needed. Its normal equations are
summed with weights that fade by e in `memory` seconds. Before the motion has determined anything,
theta is zero with deviations of a body of the scale of `SIZE`, and of the mass that explains the
motion best alone: the mass comes first, then what the motion determines of its place, then of its
inertia.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ..arguments import positive_number, require_link, single_vector
from ..array import Array
from ..compiler.kernel import Bound
from ..equations.momentum import payload_momentum
from ..errors import InputError
from ..model.inertia import PARAMETERS
from ..names import former_name
from ..prepare.tree import WORLD
from ..robot import Robot
from .observer import Observer

SIZE = 0.3
"""m, of payloads and how far they are from the link's origin, before anything is known."""

LARGEST_DEVIATION = 0.1
"""Deviation of a parameter, over that of a body of `SIZE`, up to which the motion determines it."""

POWERS = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
"""Powers of a length in the standard parameters over the mass."""


@dataclass(frozen=True, eq=False)
class Payload:
    """An estimated payload of a link.

    mass : kg. com : (3,) m, in the link's axes. inertia : (3, 3) kg m^2 about its centre of mass.
    parameters, deviations : (10,) the standard parameters and their standard deviations.
    determined : (10,) whether the motion determines each of them.
    """

    link: str
    mass: float
    com: Array
    inertia: Array
    parameters: Array = field(repr=False)
    deviations: Array = field(repr=False)
    determined: tuple[bool, ...] = field(repr=False)

    told = former_name("determined")

    @property
    def remark(self) -> str:
        """The parameters that the motion leaves open, in words; empty where it determines all."""
        pairs = zip(PARAMETERS, self.determined, strict=True)
        open_ = [name for name, determined in pairs if not determined]
        return f"the motion does not determine {', '.join(open_)} of the payload" if open_ else ""

    def body(self) -> tuple[float, Array, Array]:
        """Mass, centre of mass and inertia about it, as far as determined, for `set_payload`.

        A place that is not becomes the link's origin, an inertia that is not, or that no body has,
        that of a point.

        Raises
        ------
        InputError
            Not even the mass is determined, or it is negative.
        """
        if not self.determined[0] or not self.mass >= 0:
            raise InputError(
                f"the mass of the payload of {self.link} is {self.mass:.3g} kg with a deviation of "
                f"{self.deviations[0]:.3g} kg, which is not known well enough. Move the link more"
            )
        com = self.com if all(self.determined[1:4]) else np.zeros(3)
        largest = np.linalg.eigvalsh(self.inertia)[-1]
        is_body = np.linalg.eigvalsh(np.trace(self.inertia) / 2 * np.eye(3) - self.inertia)[0] >= 0
        whole = all(self.determined) and is_body and largest > 0
        return self.mass, com, self.inertia if whole else np.zeros((3, 3))

    def apply(self, robot: Robot) -> None:
        """Hand its `body` to `set_payload` of a robot.

        Raises
        ------
        InputError
            It is not determined; or the link's payload is not variable.
        """
        robot.set_payload(self.link, *self.body())


class PayloadEstimator:
    """The payload that a robot carries at a link beyond its description, from an observer.

    Call `update` after each cycle of the observer; ask for `payload` now and then. What is known of
    it already, by `set_payload` of the observer's robot, is part of the answer.

    Parameters
    ----------
    observer : of the robot.
    memory : s, in which what was seen loses its weight by e.
    deviations : (nv,) of the external efforts in free motion, whose ratios count; default: all
        alike.
    """

    def __init__(
        self, observer: Observer, link: str, memory: float = 10.0, deviations: Array | None = None
    ) -> None:
        robot = observer.robot
        self.observer, self.memory = observer, positive_number("memory", memory)
        self.link = require_link(robot.system.tree, link, robot.model.source)
        if robot.system.tree.frames[link][0] == WORLD:
            raise InputError(f"{robot.model.source}: link {link!r} is fixed to the world: "
                             "no joint feels its payload; name a link that moves")  # fmt: skip
        given = np.ones(robot.nv) if deviations is None else deviations
        self._weights = 1 / single_vector("deviations", given, robot.velocity_labels) ** 2
        self._columns = Bound(robot.calls.kernel(payload_momentum, link))
        self._signals = np.zeros((robot.nv, 3, 10))
        self._last = np.zeros((robot.nv, 2, 10))
        self._restarts, self._now = observer.restarts, math.nan
        self.forget()

    def forget(self) -> None:
        """Know nothing, as at the beginning: another payload may have been taken."""
        self._matrix, self._right = np.zeros((10, 10)), np.zeros(10)
        self._square = self._count = 0.0

    def update(self, now: float, external: Array | None = None) -> None:
        """Take the observer's last cycle, at a time (s).

        external : (nv,) its external efforts, less those that are known to be something else.
        """
        observer, step = self.observer, now - self._now
        self._columns.q[:], self._columns.v[:] = observer.q, observer.v
        self._columns()
        columns = self._columns.result.reshape(-1, 2, 10)
        if self._restarts != observer.restarts or not step > 0:
            self._signals[:] = 0.0
        else:
            change, mean = columns - self._last, 0.5 * (columns + self._last)
            self._signals[:, 2] = mean[:, 1] - change[:, 0] / step
            self._signals[:, :2] = observer.filter.transition(step) @ self._signals
            self._sum(step, observer.external if external is None else external)
        self._last[:], self._now, self._restarts = columns, now, observer.restarts

    def _sum(self, step: float, seen: Array) -> None:
        rows = self._signals[:, 0]
        independent = step / (2 * self.observer.filter.time_constant)  # shares of samples
        weights = independent * self._weights
        kept = math.exp(-step / self.memory)
        weighted = rows.T * weights
        self._matrix = kept * self._matrix + weighted @ rows
        self._right = kept * self._right + weighted @ seen
        self._square = kept * self._square + float(weights @ seen**2)
        self._count = kept * self._count + float(independent.sum())

    def payload(self) -> Payload:
        """The payload as it is known now.

        Raises
        ------
        InputError
            Nothing has been seen yet.
        """
        if not self._matrix.any():
            raise InputError(f"nothing is known of the payload of {self.link} yet; move the link")
        alone = self._right[0] / self._matrix[0, 0] if self._matrix[0, 0] > 0 else 0.0
        scale = max(abs(alone), 1e-3 * self.observer.robot.total_mass) * SIZE**POWERS
        matrix, right = self._matrix * np.outer(scale, scale), self._right * scale
        found = np.linalg.lstsq(matrix, right, rcond=1e-9)[0]
        noise = max(self._square - float(right @ found), 1e-12 * self._square) / self._count
        spread = np.linalg.inv(matrix / noise + np.eye(10))
        parameters = spread @ (right / noise) * scale + self.observer.robot.payload(self.link)
        deviations = np.sqrt(spread.diagonal()) * scale
        determined = tuple((deviations <= LARGEST_DEVIATION * scale).tolist())
        return _payload(self.link, parameters, deviations, determined)


def _payload(
    link: str, parameters: Array, deviations: Array, determined: tuple[bool, ...]
) -> Payload:
    """The body of standard parameters."""
    mass = float(parameters[0])
    com = parameters[1:4] / mass if mass else np.zeros(3)
    about = np.zeros((3, 3))
    about[np.triu_indices(3)] = parameters[4:]
    about = about + np.triu(about, 1).T
    inertia = about - mass * (com @ com * np.eye(3) - np.outer(com, com))
    return Payload(link, mass, com, inertia, parameters, deviations, determined)
