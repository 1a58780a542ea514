"""Robots from their files: a path, a text, or the name of one in the box."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..arguments import checked_flag, checked_mapping
from ..errors import InputError, ModelError, brief, shown
from ..model.model import Model
from ..model.read.description import read_description
from ..model.read.installed import boxed_robot, find_robot
from ..model.read.side_car import read_mechanism
from ..model.read.source_text import Source
from ..model.read.srdf import read_srdf
from .robot import Robot


def load(
    source: Source,
    mechanism: str | os.PathLike[str] | None = None,
    home: Mapping[str, float] | str | None = None,
    floating_base: bool | None = None,
    gravity: Sequence[float] | None = None,
    variable: Sequence[str] = (),
    xacro: Mapping[str, object] | None = None,
    srdf: Source | None = None,
) -> Robot:
    """Read a robot description and return the `Robot`.

    Parameters
    ----------
    source : path of a URDF or xacro file or, ending in .yaml or .yml, of a DH table
        (`model.read.dh_table`); or the text of one (see docs/files.md for all formats).
    mechanism : path of a side-car YAML file, or its text: loops, couplings, independent and
        actuated joints, home.
    home : rough position (rad or m) by joint name; joints not named are at 0. Or the name of a
        configuration that the files give.
    floating_base : whether the root link is free to move in the world; by default as the
        description says, and no URDF says so.
    gravity : (3,), m/s^2, in the world; by default the description's, (0, 0, -9.81) where it has
        none.
    variable : links whose inertias, and "gravity", "friction", "armature" and "springs", whose
        numbers may change without compiling (`set_payload`, `set_inertia`, `set_gravity`,
        `set_friction`, `set_armature`, `set_spring`): inputs of the programs, where all others
        are folded. What is set without being named here becomes so. Lengths and angles too
        (`set_origin`): "elbow_joint/x" is where that joint is along x on its parent link (x, y, z,
        roll, pitch, yaw, or origin for all six), "pin/successor/x" a frame of the loop `pin`.
    xacro : arguments of a xacro file, such as ``{"prefix": "left_"}``; text is expanded only where
        they are given (they may be empty).
    srdf : path of an SRDF, or its text: homes, virtual joints, and joints without drives.

    Raises
    ------
    ModelError
        The description cannot be read, or no robot can be like that.
    InputError
        An argument does not fit the description.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import PENDULUM
    >>> robot = mbdyn_ros.load(PENDULUM)
    >>> robot.inverse_dynamics([0.0], [0.0], [0.0])
    array([-9.81])
    """
    with brief:
        if xacro is not None:
            checked_mapping("xacro", xacro)
        if floating_base is not None:
            floating_base = checked_flag("floating_base", floating_base)
        model = _read(source, xacro)
        if srdf is not None:
            model = read_srdf(srdf, model)
        if mechanism is not None:
            model = read_mechanism(mechanism, model)
        return Robot(model, home, floating_base, gravity, variable)


def _read(source: Source, xacro: Mapping[str, object] | None) -> Model:
    """The model of a description; a refusal says where the name is one of our robots."""
    try:
        return read_description(source, xacro)
    except ModelError as error:
        if isinstance(source, str) and "<" not in source and (also := boxed_robot(source)):
            raise ModelError(f"{error}{also}") from None
        raise


def example(name: str, **loading: Any) -> Robot:
    """A robot in the box, loaded.

    Parameters
    ----------
    name : "ur5", "panda", "crane", "excavator", "stewart", "delta", "gripper", "quadruped",
        "four_bar", ... (`mbdyn examples` lists them), or of the package example-robot-data where
        it is installed.
    loading : the other arguments of `load`.

    Raises
    ------
    InputError
        There is no such robot; the message gives similar names.

    Examples
    --------
    >>> import mbdyn_ros
    >>> mbdyn_ros.example("four_bar").independent_joints
    ('crank_joint',)
    """
    with brief:
        if not isinstance(name, str):
            raise InputError(f"an example is a name such as 'ur5', not {shown(name)}")
        return load(find_robot(name), **loading)
