"""Arrays in the robot's order from numbers that come with the names of joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...arguments import require_unit_quaternions
from ...errors import InputError
from ...model.model import Array
from ...robot import Robot

LARGEST_SENT = 1e12
"""Numbers beyond this, in SI units, are mistakes: no robot is so far, so fast or so strong, an
angle so large is known to a hundredth of a degree only, and products of larger ones overflow."""


def require_reasonable(what: str, numbers: Array | Sequence[float], labels: Sequence[str]) -> None:
    """Refuse NaN, infinity and absurdly large numbers, naming the first joint that has one."""
    sound = np.abs(numbers) <= LARGEST_SENT
    if not sound.all():
        k = int(np.argmin(sound))
        must = f"at most {LARGEST_SENT:g} in size" if np.isfinite(numbers[k]) else "finite"
        raise InputError(f"{what} of {labels[k]} is {numbers[k]:g}: every number must be {must}")


LONGEST_NAME = 200
"""Characters of an unknown name that a refusal repeats: it may be a book, and the loop waits."""


def quoted(name: str) -> str:
    """A name in quotes, or its beginning where it is very long."""
    if len(name) <= LONGEST_NAME:
        return repr(name)
    return f"{name[:LONGEST_NAME]!r}... ({len(name)} characters)"


def require_known(names: Sequence[str], known: Sequence[str], what: str) -> None:
    """Refuse unknown and repeated names."""
    for k, name in enumerate(names):
        if name not in known:
            raise InputError(
                f"there is no {what} {quoted(name)}; there are {', '.join(known) or 'none'}"
            )
        if name in names[:k]:
            raise InputError(f"{what} {name!r} is named twice")


def columns(blocks: Mapping[str, slice], names: Sequence[str]) -> list[int]:
    """The places of the coordinates of joints, one joint after the other."""
    return [k for name in names for k in range(blocks[name].start, blocks[name].stop)]


def effort_blocks(robot: Robot) -> dict[str, slice]:
    """The actuated joints, the floating base first, and where their efforts are."""
    return {name: block.v for name, block in robot.system.coordinates.effort_blocks.items()}


def joint_efforts(robot: Robot, names: Sequence[str], efforts: Sequence[float]) -> Array:
    """Efforts (n,) in the robot's order; zeros for none.

    Parameters
    ----------
    names : actuated joints in the order of `efforts`, the floating base or not; empty for the
        robot's order without the base.

    Raises
    ------
    InputError
        Unknown, repeated or missing joint, wrong length, or a number that is not finite or
        absurdly large.
    """
    blocks, result = effort_blocks(robot), np.zeros(len(robot.effort_labels))
    chosen = tuple(names) or robot.actuated_joints
    require_known(chosen, tuple(blocks), "actuated joint")
    for name in robot.actuated_joints:
        if name not in chosen:
            raise InputError(f"actuated joint {name!r} is missing: name all of them, or none")
    if not len(efforts):
        return result
    places = columns(blocks, chosen)
    if len(efforts) != len(places):
        raise InputError(
            f"effort has {len(efforts)} numbers, expected {len(places)}: {', '.join(chosen)}"
        )
    result[places] = efforts
    require_reasonable("effort", result, robot.effort_labels)
    return result


def partial_position(
    robot: Robot, names: Sequence[str], numbers: Sequence[float], start: Array
) -> Array:
    """A position (nq,) from that of some joints; the others as in `start`.

    Raises
    ------
    InputError
        Unknown or repeated joint, wrong length, or a number that is not finite or
        absurdly large.
    """
    blocks = {name: block.q for name, block in robot.system.coordinates.blocks.items()}
    require_known(names, tuple(blocks), "independent joint")
    chosen = list(names) or (list(blocks) if len(numbers) else [])
    places = columns(blocks, chosen)
    if len(numbers) != len(places):
        raise InputError(
            f"{len(numbers)} positions are given for {len(places)} coordinates: "
            f"{', '.join(robot.position_labels[i] for i in places) or 'none'}"
        )
    q = start.copy()
    q[places] = numbers
    require_reasonable("position", q, robot.position_labels)
    require_unit_quaternions(robot.system.coordinates, q)
    robot.joint_state(q)  # refuses where the loops cannot be closed
    return q
