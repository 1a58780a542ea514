"""Arguments of calls: converted where harmless, refused by joint name where not."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .array import NoNumbers, all_finite, as_number, as_numbers
from .equations.frames import AXES, Frame
from .errors import InputError, SimulationWarning, brief, shown, suggestion, warn
from .model.model import BASE_JOINT, Array
from .prepare.coordinates import Coordinates
from .prepare.tree import WORLD, Tree
from .program.program import UNIT_TOLERANCE

Wrenches = Mapping[str, object]
"""Link name -> [force, torque] (6,) or (N, 6)."""

JointState = tuple[Array, Array | None, Array | None]
"""Positions, velocities and accelerations of all joints; None for what is not asked for."""

ROUNDED_UNIT = 1e-3
"""Largest deviation from 1 of the length of a quaternion in a message: these have few digits."""

LONG_STEP = 1.0
"""s; a step from here on was rather meant as milliseconds."""

LARGEST_COUNT = 2**31 - 1
"""Largest whole number of anything that is counted."""

JOINT_STATE_PARTS = ("positions", "velocities", "accelerations")

OF_BASE = f"{BASE_JOINT}/"
"""Prefix of labels of a floating base."""

WRENCH_LABELS = ("force x", "force y", "force z", "torque x", "torque y", "torque z")


class Sealed:
    """Its public attributes are not assigned to once it is `sealed`, but where there is a setter.

    What was made of it before would not see the other value, and go on with the old one in silence.
    """

    OTHERWISE: ClassVar[Mapping[str, str]] = {}
    """Attribute -> what to do instead; "" is for all others."""

    _sealed = False

    def seal(self) -> None:
        """Refuse new attributes from now on."""
        self._sealed = True

    def __setattr__(self, name: str, value: object) -> None:
        settable = getattr(getattr(type(self), name, None), "fset", None) is not None
        if self._sealed and not name.startswith("_") and not settable:
            kind = type(self).__name__
            remedy = self.OTHERWISE.get(name) or self.OTHERWISE.get("", f"make another {kind}")
            raise InputError(f"{name} of a {kind} cannot be assigned: {remedy}")
        super().__setattr__(name, value)


def coordinate_array(what: str, value: object, labels: Sequence[str]) -> Array:
    """Return `value` as float64 of shape (n,) or (N, n) for the n coordinates `labels`.

    Raises
    ------
    InputError
        Not numbers, or a shape that does not fit; the message names the joints.
    """
    try:
        array = as_numbers(value)
    except NoNumbers as error:
        raise InputError(f"{what} must be numbers, one for each joint: {error}") from None
    if array.ndim not in (1, 2) or array.shape[-1] != len(labels):
        raise InputError(
            f"{what} has shape {array.shape}, but the robot has {len(labels)} "
            f"coordinates there: expected ({len(labels)},) or (N, {len(labels)}) in the order "
            f"{', '.join(labels) or '(none)'}"
        )
    return array


def whole_efforts(value: object, labels: Sequence[str]) -> object:
    """Efforts (..., n) of all coordinates, where those of a floating base's joints alone are given.

    A floating base has no motor: it gets zeros. Anything else is handed on as it is.
    """
    if not (labels and labels[0].startswith(OF_BASE)):  # which comes first
        return value
    base = sum(label.startswith(OF_BASE) for label in labels)
    if isinstance(value, (np.ndarray, list, tuple)):
        try:
            array = as_numbers(value)
        except NoNumbers:
            return value
        if array.ndim and array.shape[-1] == len(labels) - base:
            return np.concatenate([np.zeros((*array.shape[:-1], base)), array], axis=-1)
    return value


def single_vector(what: str, value: object, labels: Sequence[str]) -> Array:
    """Return `value` as finite float64 numbers of shape (n,), or refuse it."""
    array = coordinate_array(what, value, labels)
    if array.ndim != 1:
        raise InputError(f"{what} has shape {array.shape}: expected ({len(labels)},)")
    require_finite(what, array, labels)
    return array


def require_finite(what: str, array: Array, labels: Sequence[str]) -> None:
    """Refuse NaN and infinity in (n,) or (N, n), naming the first joint, and row, that has one."""
    if all_finite(array) if array.ndim == 1 else np.isfinite(array).all():
        return
    for place, number in enumerate(array.ravel().tolist()):
        if not math.isfinite(number):
            row, k = divmod(place, len(labels))
            which = f"{number} in row {row}" if array.ndim > 1 else f"{number}"
            raise InputError(f"{what} of {labels[k]} is {which}: every number must be finite")


def step_length(what: str, value: object) -> float:
    """Return `value` as a positive, finite length of a step (s); warn of one meant as ms."""
    number = positive_number(what, value, "a positive number of seconds")
    if number >= LONG_STEP:
        warn(f"{what} is {number:g} s; a millisecond is 1e-3", SimulationWarning)
    return number


def positive_number(what: str, value: object, kind: str = "a finite number above zero") -> float:
    """Return `value` as a positive, finite number, or refuse it; `kind` is what it must be."""
    try:
        number = as_number(value)
    except NoNumbers:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise InputError(f"{what} must be {kind}; it is {shown(value)}")
    return number


def checked_numbers(what: str, value: object) -> Array:
    """Return `value` as float64 of any shape, refused where it is not numeric."""
    try:
        return as_numbers(value)
    except NoNumbers as error:
        raise InputError(f"{what} must be numbers: {error}") from None


def checked_count(what: str, value: object, least: int = 0, most: int = LARGEST_COUNT) -> int:
    """Return `value` as a whole number, refused where it is not one from `least` to `most`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise InputError(f"{what} must be a whole number; it is {shown(value)}")
    if not least <= value <= most:
        raise InputError(f"{what} must be from {least} to {most}; it is {shown(value)}")
    return int(value)


def checked_flag(what: str, value: object) -> bool:
    """Return `value` as True or False; only these, 1 and 0 are taken."""
    if isinstance(value, (bool, int, np.bool_, np.integer)) and value in (0, 1):
        return bool(value)
    raise InputError(f"{what} must be True or False; it is {shown(value)}")


def checked_text(what: str, value: object) -> str:
    """Return `value`, refused where it is not a string."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be text; it is {shown(value)}")
    return value


def checked_names(what: str, value: object) -> tuple[str, ...]:
    """Return a list of names as a tuple; a single string is refused, as is anything but names."""
    names: tuple[object, ...] | None = None
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        with contextlib.suppress(Exception):  # of somebody's own __iter__
            names = tuple(value)
    if names is None or not all(isinstance(one, str) for one in names):
        kind = "the text " if isinstance(value, str) else ""
        raise InputError(f"{what} must be a list of names; it is {kind}{shown(value)}")
    return tuple(str(one) for one in names)


def checked_mapping(what: str, value: object) -> Mapping[str, Any]:
    """Return a mapping by name, refused where it is not one."""
    if not isinstance(value, Mapping) or not all(isinstance(one, str) for one in value):
        raise InputError(f"{what} must be a mapping by name; it is {shown(value)}")
    return value


def checked_file(what: str, value: object) -> Path:
    """Return the path of a file to write; anything that does not name a file is refused."""
    if not isinstance(value, (str, os.PathLike)) or not isinstance(os.fspath(value), str):
        raise InputError(f"{what} must be a path; it is {shown(value)}")
    path = Path(value)
    if not path.name or "\0" in str(path):
        raise InputError(f"{what} must name a file; it is {shown(value)}")
    return path


def no_environment(given: object) -> InputError:
    """The error of an argument `environment` that is not an Environment."""
    return InputError(
        f"environment must be an Environment, not {shown(given)}: write Environment([surface, ...])"
    )


def require_unit_quaternions(coordinates: Coordinates, position: Array) -> None:
    """Refuse orientations of floating joints, in (nq,) or (N, nq), that are not unit quaternions.

    NaN and infinity pass here.
    """
    for start in coordinates.quaternions:
        quaternions = np.atleast_2d(position)[:, start : start + 4]
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.einsum("ij,ij->i", quaternions, quaternions)
            wrong = (np.abs(squares - 1) > UNIT_TOLERANCE) & np.isfinite(squares)
        for k in np.flatnonzero(wrong):
            joint = coordinates.position_labels[start].rpartition("/")[0]
            length = math.sqrt(squares[k])
            row = f"row {k}: " if position.ndim > 1 else ""
            remedy = "Divide it by its length" if length else "Give (0, 0, 0, 1) for no rotation"
            raise InputError(
                f"{row}the orientation of {joint} must be a unit quaternion (x, y, z, w); "
                f"{quaternions[k].tolist()} has length {length:.9g}. {remedy}."
            )


def unit_quaternion(what: str, quaternion: Array) -> Array:
    """A quaternion (x, y, z, w) of about unit length, divided by its length.

    Raises
    ------
    InputError
        Another length, or numbers that are not finite.
    """
    length = float(np.linalg.norm(quaternion))
    if not abs(length - 1) <= ROUNDED_UNIT:
        raise InputError(
            f"{what} {quaternion.tolist()} has length {length:.6g}: it must be "
            "a unit quaternion (x, y, z, w)"
        )
    return quaternion / length


def broadcast_count(arrays: Mapping[str, tuple[Array, int]]) -> int | None:
    """The common batch size of arrays given with their single dimension; None for one state."""
    sizes = {name: len(array) for name, (array, single) in arrays.items() if array.ndim > single}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise InputError(f"the batches have different lengths: {listed}")
    return next(iter(sizes.values()), None)


def require_out(out: object, shape: tuple[int, ...]) -> Array:
    """Return `out`, refused where results of this shape cannot be written into it in place."""
    if not isinstance(out, np.ndarray):
        raise InputError(f"out must be a NumPy array; it is {type(out).__name__}")
    if out.shape != shape or out.dtype != np.float64:
        raise InputError(
            f"out has shape {out.shape} and type {out.dtype}: the result needs {shape}, float64"
        )
    if not (out.flags.c_contiguous and out.flags.writeable and out.flags.aligned):
        raise InputError("out must be writable and contiguous, row by row (np.empty makes it so)")
    return out


def written_joint_state(state: JointState, out: object) -> JointState:
    """A joint state in the three arrays `out`, or in an array of its own where one is None."""
    if not isinstance(out, (list, tuple)) or len(out) != len(state):
        raise InputError(
            "out must be three arrays, for positions, velocities and accelerations, or None for "
            f"one of them; it is {shown(out)}"
        )
    for what, part, array in zip(JOINT_STATE_PARTS, state, out, strict=True):
        if array is not None and part is None:
            raise InputError(f"out has an array for {what}, which are not requested")
        if array is not None and part is not None:
            require_out(array, part.shape)
    for part, array in zip(state, out, strict=True):
        if array is not None:
            array[...] = part
    position, velocity, acceleration = state
    return (
        position if out[0] is None else out[0],
        velocity if out[1] is None else out[1],
        acceleration if out[2] is None else out[2],
    )


@brief
def require_link(tree: Tree, link: object, source: str) -> str:
    """Return `link`, refused where the robot has no such link."""
    if not isinstance(link, str) or link not in tree.frames:
        raise InputError(
            f"{source}: there is no link {shown(link)}{suggestion(link, tree.frames)}; "
            f"the links are {', '.join(tree.frames)}"
        )
    return link


@brief
def require_frame(tree: Tree, link: object, axes: object, source: str) -> Frame:
    """Return a link and axes; unknown links and axes are refused."""
    if not isinstance(axes, str) or axes not in AXES:
        raise InputError(f"axes must be one of {', '.join(AXES)}; got {shown(axes)}")
    return Frame(require_link(tree, link, source), str(axes))


def checked_home(
    home: Mapping[str, float] | None, joints: Sequence[str], source: str
) -> dict[str, float]:
    """A rough configuration by joint name, refused where it names no movable joint."""
    if home is None:
        return {}
    if not isinstance(home, Mapping):
        raise InputError(f"home must map joint names to positions; it is {shown(home)}")
    checked = {}
    for name, position in home.items():
        if name not in joints:
            raise InputError(
                f"home names {shown(name)}, which is not a movable joint of "
                f"{source}{suggestion(name, joints)}; "
                f"the joints are {', '.join(joints)}"
            )
        checked[name] = float(single_vector("home position", [position], (name,))[0])
    return checked


def body_wrenches(tree: Tree, wrenches: Wrenches, source: str) -> Array:
    """Wrenches on links, moved to the frames of their bodies: (bodies, 6) or (N, bodies, 6).

    A wrench on a link that is fixed to the world moves nothing.
    """
    if not isinstance(wrenches, Mapping):
        raise InputError(
            f"wrenches must map link names to [force, torque] (6,); they are {shown(wrenches)}"
        )
    total = np.zeros((len(tree.bodies), 6))
    for link, value in wrenches.items():
        body, pose = tree.frames[require_link(tree, link, source)]
        wrench = coordinate_array(f"the wrench on {link}", value, WRENCH_LABELS)
        for row in np.atleast_2d(wrench):
            require_finite(f"the wrench on {link}", row, WRENCH_LABELS)
        if body == WORLD:
            continue
        force = wrench[..., :3] @ pose.rotation.T
        torque = wrench[..., 3:] @ pose.rotation.T + np.cross(pose.translation, force)
        moved = np.concatenate([force, torque], axis=-1)
        if moved.ndim == 2 and total.ndim == 2:
            total = np.repeat(total[None], len(moved), axis=0)
        if moved.ndim == 2 and len(moved) != len(total):
            raise InputError(
                f"the wrench on {link} has {len(moved)} rows, another one has {len(total)}"
            )
        total[..., body, :] += moved
    return total


def sample_times(times: object, duration: float) -> Array:
    """The instants of the result, refused where they do not rise within the duration."""
    try:
        array = as_numbers(times)
    except NoNumbers as error:
        raise InputError(f"times must be numbers, s: {error}") from None
    if array.ndim != 1:
        raise InputError(f"times has shape {array.shape}; expected (N,)")
    if not np.isfinite(array).all() or (np.diff(array) <= 0).any():
        raise InputError("times must be finite and rise from each to the next")
    if len(array) and (array[0] < 0 or array[-1] > duration):
        raise InputError(
            f"times run from {array[0]:g} to {array[-1]:g} s; the simulation from 0 to "
            f"{duration:g} s"
        )
    return array
