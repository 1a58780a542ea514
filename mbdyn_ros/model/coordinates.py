"""Which coordinates move a robot: independent, dependent and actuated joints.

The spanning tree has a coordinate for every movable joint. A mimic joint follows another one,
so the independent coordinates q give those of the tree by q_tree = P q + p0 and v_tree = V v.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .model import JOINT_COORDINATES, Array, Joint, Model, constant
from .tree import BASE_JOINT, coordinates


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Names of the joints and the constant map from independent to tree coordinates.

    joint_names : every movable joint of the description, in document order.
    independent, dependent, actuated : subsets of it; `independent` orders q, v and a (behind
        the base's coordinates of a floating base), `actuated` orders the efforts.
    position, offset, velocity : P (nq_tree, nq), p0 (nq_tree,), V (nv_tree, nv).
    joint_rows : tree position and velocity coordinates of `joint_names`, one after the other.
    position_labels, velocity_labels : a name for each independent coordinate.
    """

    joint_names: tuple[str, ...]
    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    actuated: tuple[str, ...]
    position: Array
    offset: Array
    velocity: Array
    joint_rows: tuple[list[int], list[int]]
    position_labels: tuple[str, ...]
    velocity_labels: tuple[str, ...]

    @property
    def nq(self) -> int:
        """Number of independent position coordinates."""
        return self.position.shape[1]

    @property
    def nv(self) -> int:
        """Number of independent velocity coordinates."""
        return self.velocity.shape[1]

    @property
    def quaternions(self) -> tuple[int, ...]:
        """Where in q the unit quaternions of floating joints begin."""
        return tuple(k for k, name in enumerate(self.position_labels) if name.endswith("/qx"))

    @property
    def coupled(self) -> bool:
        """Whether any joint follows another one."""
        return bool(self.dependent)


def independent_coordinates(model: Model, floating_base: bool = False) -> Coordinates:
    """Split the movable joints of `model`: those that mimic another one are dependent."""
    slices = coordinates(model, floating_base)
    movable = [joint for joint in model.joints if joint.nv]
    free = [joint for joint in movable if joint.mimic is None]
    names = ([BASE_JOINT] if floating_base else []) + [joint.name for joint in free]
    q_columns, v_columns = {}, {}
    nq = nv = 0
    for name in names:
        q, v = slices[name]
        q_columns[name] = slice(nq, nq + q.stop - q.start)
        v_columns[name] = slice(nv, nv + v.stop - v.start)
        nq, nv = q_columns[name].stop, v_columns[name].stop

    nq_tree = max((q.stop for q, _ in slices.values()), default=0)
    nv_tree = max((v.stop for _, v in slices.values()), default=0)
    position, offset = np.zeros((nq_tree, nq)), np.zeros(nq_tree)
    velocity = np.zeros((nv_tree, nv))
    for name in names:
        q, v = slices[name]
        position[q, q_columns[name]] = np.eye(q.stop - q.start)
        velocity[v, v_columns[name]] = np.eye(v.stop - v.start)
    for joint in movable:
        if joint.mimic is not None:
            leader, multiplier, shift = _leader(model, joint)
            q, v = slices[joint.name]
            position[q, q_columns[leader]] = multiplier
            offset[q] = shift
            velocity[v, v_columns[leader]] = multiplier

    independent = tuple(joint.name for joint in free)
    return Coordinates(
        joint_names=tuple(joint.name for joint in movable),
        independent=independent,
        dependent=tuple(joint.name for joint in movable if joint.mimic is not None),
        actuated=independent,
        position=constant(position, position.shape),
        offset=constant(offset, offset.shape),
        velocity=constant(velocity, velocity.shape),
        joint_rows=(
            [row for joint in movable for row in range(*slices[joint.name][0].indices(nq_tree))],
            [row for joint in movable for row in range(*slices[joint.name][1].indices(nv_tree))],
        ),
        position_labels=_labels(model, names, 0),
        velocity_labels=_labels(model, names, 1),
    )


def _labels(model: Model, joints: list[str], kind: int) -> tuple[str, ...]:
    """A name for each position (kind 0) or velocity (kind 1) coordinate of the joints."""
    labels = []
    for name in joints:
        type_ = "floating" if name == BASE_JOINT else model.joint(name).type
        for part in JOINT_COORDINATES[type_][kind]:
            labels.append(f"{name}/{part}" if part else name)
    return tuple(labels)


def _leader(model: Model, joint: Joint) -> tuple[str, float, float]:
    """The independent joint at the end of a chain of mimics, with the product of the maps."""
    multiplier, shift = 1.0, 0.0
    while joint.mimic is not None:
        shift += multiplier * joint.mimic.offset
        multiplier *= joint.mimic.multiplier
        joint = model.joint(joint.mimic.joint)
    return joint.name, multiplier, shift
