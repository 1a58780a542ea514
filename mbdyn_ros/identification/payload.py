"""A payload from two recordings, one with it and one without.

The recording without it determines the machine, drives included; what that leaves of the efforts
of the other one is linear in the ten parameters of the body that a link carries.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..array import Array
from ..errors import InputError, ModelWarning, brief
from ..model.inertia import PARAMETERS, standard_parameters
from ..model.model import Inertia
from ..names import former_name
from ..recording.conditioning import conditioned
from ..recording.measured import Recording
from ..robot import Robot, checked_robot
from ..robot.described import inertia_of
from ..robot.variable import moving_link
from .consistent import consistent
from .evidence import Evidence, estimated, lasting_noise
from .machine import CERTAIN_GAIN, Search

BALL = 0.05
"""Radius of gyration (m) of the body that a payload is near to where it is not determined."""


@dataclass(frozen=True, eq=False)
class Payload:
    """A body that a link carries.

    mass, com, inertia : kg, (3,) m and (3, 3) kg m^2 about its centre of mass, in the link's axes;
        of a body that can be.
    mass_deviation, com_deviation : standard deviations (kg; (3,) m); NaN of what is not determined.
    undetermined : those of m, m c and the moments of inertia about the link's origin whose
        deviations exceed their own size.
    before, after : share of the efforts that is left without it and with it.
    robot : the machine without it, as identified, and with it as a payload.
    """

    link: str
    mass: float
    com: Array
    inertia: Array
    mass_deviation: float
    com_deviation: Array
    undetermined: tuple[str, ...]
    before: float
    after: float
    robot: Robot

    untold = former_name("undetermined")


@brief
def identify_payload(
    robot: Robot,
    link: str,
    loaded: Sequence[Recording],
    empty: Sequence[Recording],
    cutoff: float = 0.0,
) -> Payload:
    """The body that a link carries in some recordings and not in others.

    Parameters
    ----------
    loaded, empty : recordings of `read_recording` with it and without it.
    cutoff : Hz of the filter; 0: as the motion without it asks for.

    Raises
    ------
    InputError
        As `identify_machine`; or the efforts with it determine no mass.
    """
    known = moving_link(checked_robot(robot).system.tree, robot.model.source, link)
    motions = [conditioned(robot, one, cutoff) for one in empty]
    search = Search(robot, motions, empty)
    search.run([])
    guessed = np.array(search.form.scaled, int)[search.gain_deviations() > CERTAIN_GAIN]
    cutoff = cutoff or max(one.cutoff for one in motions)
    rows = search.unexplained([conditioned(robot, one, cutoff) for one in loaded])
    place = robot.moving_links.index(known)
    own = slice(10 * place, 10 * place + 10)
    columns = [
        one.regressor[..., own] + np.tensordot(search.lean, one.leaning[..., own], 1)
        for one, _ in rows
    ]
    left, moving, part = (
        np.concatenate(each) for each in
        zip(*((left, one.moving, one.motion.part) for one, left in rows), strict=True)
    )  # fmt: skip
    moving[:, guessed] = 0.0
    matrix, every = np.concatenate(columns), list(range(10))
    evidence = Evidence.of(matrix, left, moving, part)
    x, noise = evidence.weighted(every)
    root = np.sqrt(moving)
    weighted = matrix * root[:, :, None]
    both = evidence.normal(noise, every)
    noise = lasting_noise([weighted], [left * root - weighted @ x], noise, both)
    normal = evidence.normal(noise, every)
    x, covariance, held = estimated(normal, np.zeros(10), np.ones(10))
    deviation = np.sqrt(np.diag(covariance))
    deviation[held] = np.nan
    if not x[0] > deviation[0]:
        raise InputError(
            f"{robot.model.source}: the efforts with the payload give a mass of {x[0]:.3g} kg with "
            f"a deviation of {deviation[0]:.2g}: move the joints that lift it, and record longer"
        )
    center = x[1:4] / x[0]
    near = standard_parameters(Inertia(x[0], center, 0.4 * x[0] * BALL**2 * np.eye(3)))
    ten = consistent(normal[:-1, :-1], normal[:-1, -1], near, [slice(0, 10)], np.zeros(10, bool))
    body = inertia_of(known, ten)
    by_center = (
        np.diag(covariance)[1:4] + center**2 * covariance[0, 0] - 2 * center * covariance[0, 1:4]
    )
    effort = np.concatenate([one.motion.effort for one, _ in rows])
    size = np.linalg.norm(moving * effort)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        found = search.robot_found()
        found.set_payload(known, body.mass, body.center, body.moments)
    return Payload(
        known, body.mass, body.center, body.moments, float(deviation[0]),
        np.where(np.isfinite(deviation[1:4]), np.sqrt(np.maximum(by_center, 0)) / x[0], np.nan),
        tuple(name for name, value, spread in zip(PARAMETERS, x, deviation, strict=True)
              if not spread < abs(value)),
        float(np.linalg.norm(moving * left) / size),
        float(np.linalg.norm(moving * (left - matrix @ ten)) / size), found,
    )  # fmt: skip
