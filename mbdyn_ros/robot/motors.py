"""Efforts at motors, behind the transmissions of a description: methods of `Robot`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ..arguments import coordinate_array
from ..array import Array, ArrayLike
from ..model.transmission import Transmission

if TYPE_CHECKING:
    from .robot import Robot


def motor_labels(self: Robot) -> tuple[str, ...]:
    """A name for each number of `motor_effort`, of motors and of joints that have none told."""
    return _motors(self)[0]


def motor_effort(self: Robot, effort: ArrayLike) -> Array:
    """Efforts of the motors that give the actuated joints theirs.

    Parameters
    ----------
    effort : (n,) or (N, n), N m or N, of `effort_labels`, as `inverse_dynamics` gives them.

    Returns
    -------
    (m,) or (N, m) of `motor_labels`: by the work that both do, with reductions and signs, of
    differentials and four-bar linkages too. What their rotors take is part of it, where the
    description tells their inertia (`armature`). Where several transmissions drive a joint, the
    efforts of least norm; a joint without one has a motor of its own, with reduction 1.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> robot = mbdyn_ros.load(CART.replace("</robot>", '''<transmission name="belt">
    ...   <joint name="rail"/><actuator name="motor"><mechanicalReduction>-50</mechanicalReduction>
    ...   </actuator></transmission></robot>'''))
    >>> robot.motor_labels, robot.motor_effort([100.0])
    (('motor',), array([-2.]))
    """
    given = coordinate_array("effort", effort, self.effort_labels)
    result: Array = given @ _motors(self)[1].T
    return result


def _motors(robot: Robot) -> tuple[tuple[str, ...], Array]:
    """Names of the motors, and their efforts (m, n) by unit efforts of the joints."""
    order = {label: k for k, label in enumerate(robot.effort_labels)}
    driving = [one for one in robot.model.transmissions if set(one.joints) & set(order)]
    geared = {joint for one in driving for joint in one.joints}
    own = [label for label in order if label not in geared]
    named = [(one, motor) for one in driving for motor in one.motors]
    counts = Counter([*(motor for _, motor in named), *own])
    places = {(id(one), motor): k for k, (one, motor) in enumerate(named)}
    labels = [motor if counts[motor] == 1 else f"{one.name}/{motor}" for one, motor in named]
    efforts = np.zeros((len(named) + len(own), len(order)))
    for group in _groups(driving):
        joints = list(dict.fromkeys(joint for one in group for joint in one.joints))
        rates = np.zeros((sum(len(one.motors) for one in group), len(joints)))
        rows, first = [], 0
        for one in group:
            columns = [joints.index(name) for name in one.joints]
            rates[first : first + len(one.motors), columns] = one.rates
            rows += [places[id(one), motor] for motor in one.motors]
            first += len(one.motors)
        regular = rates.shape[0] == rates.shape[1]
        inverse = np.linalg.inv(rates.T) if regular else np.linalg.pinv(rates.T)
        for k, joint in enumerate(joints):
            if joint in order:  # passive joints have no effort
                efforts[rows, order[joint]] = inverse[:, k]
    for k, label in enumerate(own, len(named)):
        efforts[k, order[label]] = 1.0
    return (*labels, *own), efforts


def _groups(transmissions: list[Transmission]) -> list[list[Transmission]]:
    """Transmissions that share joints, together."""
    groups: list[tuple[set[str], list[Transmission]]] = []
    for one in transmissions:
        joints, members = set(one.joints), [one]
        apart = []
        for others, group in groups:
            if others & joints:
                joints, members = joints | others, [*group, *members]
            else:
                apart.append((others, group))
        groups = [*apart, (joints, members)]
    return [members for _, members in groups]
