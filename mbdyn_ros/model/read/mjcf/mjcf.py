"""A MJCF, as MuJoCo understands it, read into a `Model`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...actuators import Transmission, simple
from ...model import Combination, Loop, Model
from ...split_joints import quaternions_in_loops, split_joints
from ..closure_check import check_closures
from ..couplings import couple_joints
from ..inertia_check import inertia_warnings
from ..source_text import Source
from ..structure import check_mimics, check_unique
from .actuators import read_actuators
from .bodies import BALL, HINGE, SLIDE, read_bodies
from .compiled import Compiled, compile_mjcf
from .equalities import Equalities, read_equalities
from .names import Names
from .unused import scenery_warnings, unused_elements, unused_forces

HOME = "home"
"""The keyframe that is home; without it the first one is."""


def read_mjcf(source: Source) -> Model:
    """Read a MJCF; MuJoCo resolves its classes, defaults, includes and units.

    Parameters
    ----------
    source : a path, or the XML text.

    Raises
    ------
    ModelError
        MuJoCo is not installed or refuses the file, a file that is included is not there, or the
        file has what cannot be computed: a coupling that is not linear, bodies that deform.

    Notes
    -----
    - Masses and inertias are those of the compiled model, those made of shapes too.
    - Joints are where MuJoCo has them; a body with several joints, or with one beside its origin,
      has links without mass between, `joint/moved` and `joint/axis`.
    - Where all hangs from one free body that is the root, and `Model.floating_base` is True.
    - Constraints of equalities are hard here, and soft in MuJoCo.
    - Geoms of the world are no part of the robot; `Model.unused` names them.
    - Keyframes are `Model.homes`, but for the poses of free bodies, which q has; home is the one
      called home, else the first, else where all stands as it is written.
    """
    compiled = compile_mjcf(source)
    if compiled.model.nflex:
        raise compiled.error("<flex>", "bodies that deform are not computed; remove it")
    names = Names(compiled)
    actuators = read_actuators(compiled)
    bodies = read_bodies(compiled, names, actuators.efforts)
    equalities = read_equalities(compiled, names)
    joints = tuple(map(equalities.applied, bodies.joints))
    movable = {joint.name for joint in joints if joint.nv and joint.mimic is None}
    single = {joint.name for joint in joints if joint.nv == 1}
    forces = unused_forces(compiled, actuators, bodies.is_free)
    model = Model(
        name=compiled.spec.modelname or "robot",
        root=bodies.root,
        links=tuple(bodies.links),
        joints=joints,
        source=compiled.name,
        warnings=(
            *_warnings(compiled, forces),
            *scenery_warnings(compiled),
            *bodies.warnings,
            *inertia_warnings(compiled.name, bodies.links),
        ),  # fmt: skip
        loops=tuple(equalities.loops),
        couplings=tuple(equalities.couplings),
        driven=tuple(
            dict.fromkeys(name for k in actuators.driven if (name := names.joints[k]) in movable)
        ),
        transmissions=tuple(
            Transmission(name, (name,), (names.joints[k],), simple(gear))
            for k, name, gear in actuators.geared
            if names.joints[k] in single
        ),
        gravity=_gravity(compiled),
        floating_base=bodies.is_free,
        unused=forces | unused_elements(compiled),
    )
    return _with_homes(compiled, names, _checked(compiled, model, equalities))


def _checked(compiled: Compiled, model: Model, equalities: Equalities) -> Model:
    """The model, if its names differ and its equalities tie what they can tie."""
    check_unique(model.source, model.links, "body")
    check_unique(model.source, model.joints, "joint")
    check_mimics(model.source, model.joints)
    own: list[Loop | Combination] = [*equalities.loops, *equalities.couplings]
    placed = [(f'{model.source}: <equality> "{one.name}"', one) for one in own]
    check_closures(model.links, model.joints, placed)
    model = couple_joints(
        model, [(place, one) for place, one in placed if isinstance(one, Combination)]
    )
    return split_joints(model, quaternions_in_loops(model))


def _warnings(compiled: Compiled, forces: Mapping[str, int]) -> list[str]:
    if not forces:
        return []
    listed = ", ".join(f"{what} ({count})" for what, count in forces.items())
    return [f"{compiled.name}: acts on the motion and is not used: {listed}"]


def _gravity(compiled: Compiled) -> tuple[float, float, float]:
    option = compiled.model.opt
    if option.disableflags & compiled.mujoco.mjtDisableBit.mjDSBL_GRAVITY:
        return 0.0, 0.0, 0.0
    x, y, z = option.gravity.tolist()
    return x, y, z


def _with_homes(compiled: Compiled, names: Names, model: Model) -> Model:
    """The model with the keyframes as homes."""
    mujoco = compiled.model
    homes = {
        compiled.name_of("KEY", k) or f"key{k}": _positions(q, compiled, names, model)
        for k, q in enumerate(mujoco.key_qpos)
    }
    home = homes.get(HOME) or next(iter(homes.values()), None)
    if home is None:
        home = _positions(mujoco.qpos0, compiled, names, model)
    return replace(model, homes=homes, home={name: at for name, at in home.items() if at})


def _positions(q: np.ndarray, compiled: Compiled, names: Names, model: Model) -> dict[str, float]:
    """The positions of joints of one coordinate, those that a ball was split into too."""
    own = compiled.model
    known = {joint.name for joint in model.joints if joint.nq == 1}
    result = {}
    for k, kind in enumerate(own.jnt_type.tolist()):
        name, at = names.joints[k], own.jnt_qposadr[k]
        if kind in (HINGE, SLIDE) and name in known:
            result[name] = float(q[at])
        elif kind == BALL and f"{name}/yaw" in known:
            angles = _yaw_pitch_roll(q[at : at + 4])
            result |= {f"{name}/{one}": angle for one, angle in angles.items()}
    return result


def _yaw_pitch_roll(quaternion: np.ndarray) -> dict[str, float]:
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return {
        "yaw": float(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))),
        "pitch": float(np.arcsin(np.clip(2 * (w * y - z * x), -1.0, 1.0))),
        "roll": float(np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))),
    }
