"""An MJCF, as MuJoCo understands it, read into a `Model`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...actuators import Transmission, simple
from ...model import Combination, Loop, Model, Pose
from ...split_joints import quaternions_in_loops, split_joints
from ..couplings import couple_joints
from ..source_text import Source
from ..structure import check_closures, check_mimics, check_unique, inertia_warnings
from .bodies import BALL, FREE, HINGE, SLIDE, read_bodies
from .compiled import Compiled, ElementNames, compile_mjcf
from .equalities import Equalities, idle_holds, is_mocap, led_holds, length_factors, read_equalities


@dataclass
class Actuators:
    """Joints by number: those that are driven, limits of efforts, and their motors with gears.

    `elsewhere` counts actuators that act on no joint.
    """

    driven: list[int] = field(default_factory=list)
    efforts: dict[int, float] = field(default_factory=dict)
    geared: list[tuple[int, str, float]] = field(default_factory=list)
    elsewhere: int = 0


def read_actuators(compiled: Compiled) -> Actuators:
    """The actuators; several on one joint add up, and `actuatorfrcrange` bounds their sum."""
    model, kinds = compiled.model, compiled.mujoco.mjtTrn
    result = Actuators()
    for k in range(len(model.actuator_trntype)):
        kind, target = int(model.actuator_trntype[k]), int(model.actuator_trnid[k, 0])
        if kind in (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT):
            gear = float(model.actuator_gear[k, 0])
            effort = abs(gear) * _largest_force(compiled, k) if gear else 0.0
            name = compiled.name_of("ACTUATOR", k)
            if gear:
                result.geared.append((target, name or f"actuator{k}", gear))
            result.driven.append(target)
            result.efforts[target] = result.efforts.get(target, 0.0) + effort
        elif kind == kinds.mjTRN_TENDON and (factors := length_factors(model, target)):
            for joint, _ in factors:
                result.driven.append(joint)
                result.efforts[joint] = math.inf
        else:
            result.elsewhere += 1
    for joint in range(model.njnt):
        if model.jnt_actfrclimited[joint]:
            largest = float(abs(model.jnt_actfrcrange[joint]).max())
            result.efforts[joint] = min(result.efforts.get(joint, math.inf), largest)
    return result


def _largest_force(compiled: Compiled, k: int) -> float:
    """The largest force of an actuator: as limited, or of a motor by its largest control."""
    model, mujoco = compiled.model, compiled.mujoco
    if model.actuator_forcelimited[k]:
        return float(abs(model.actuator_forcerange[k]).max())
    is_motor = (
        model.actuator_gaintype[k] == mujoco.mjtGain.mjGAIN_FIXED
        and model.actuator_biastype[k] == mujoco.mjtBias.mjBIAS_NONE
        and model.actuator_dyntype[k] == mujoco.mjtDyn.mjDYN_NONE
    )
    if is_motor and model.actuator_ctrllimited[k]:
        largest = abs(model.actuator_ctrlrange[k]).max()
        return float(abs(model.actuator_gainprm[k, 0]) * largest)
    return math.inf


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
    - Joints are where MuJoCo has them; a body with several joints, or with one off its origin,
      has links without mass between, `joint/moved` and `joint/axis`.
    - Where all hangs from one free body that is the root, and `Model.floating_base` is True.
    - Constraints of equalities are hard here, and soft in MuJoCo.
    - Geoms of the world are not part of the robot; `Model.unused` names them.
    - Keyframes are `Model.homes`, except for the poses of free bodies, which q has; home is the one
      called home, else the first, else the positions in the file.
    """
    return model_of(compile_mjcf(source))


def model_of(compiled: Compiled, starts: Mapping[int, Pose] | None = None) -> Model:
    """The model of a compiled MJCF, see `read_mjcf`.

    Parameters
    ----------
    starts : where free joints count from, by their number; with them the world is the root.
    """
    if compiled.model.nflex:
        raise compiled.error("<flex>", "bodies that deform are not computed; remove it")
    names = ElementNames(compiled)
    actuators = read_actuators(compiled)
    bodies = read_bodies(compiled, names, actuators.efforts, starts)
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
            *(scenery_warnings(compiled) if starts is None else ()),
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
        unused=forces | unused_elements(compiled, starts is not None),
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


def home_of(compiled: Compiled) -> np.ndarray:
    """Home in MuJoCo's numbers: the keyframe of that name, else the first, else as written."""
    keys = [compiled.name_of("KEY", k) for k in range(compiled.model.nkey)]
    if not keys:
        return np.array(compiled.model.qpos0)
    return np.array(compiled.model.key_qpos[keys.index(HOME) if HOME in keys else 0])


def _with_homes(compiled: Compiled, names: ElementNames, model: Model) -> Model:
    """The model with the keyframes as homes."""
    mujoco = compiled.model
    homes = {
        compiled.name_of("KEY", k) or f"key{k}": _positions(q, compiled, names, model)
        for k, q in enumerate(mujoco.key_qpos)
    }
    home = _positions(home_of(compiled), compiled, names, model)
    return replace(model, homes=homes, home={name: at for name, at in home.items() if at})


def _positions(
    q: np.ndarray, compiled: Compiled, names: ElementNames, model: Model
) -> dict[str, float]:
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


NO_WAY = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
"""The pose of a free body that has not moved."""

NAMES = 6
"""Number of names that are listed."""


def unused_forces(compiled: Compiled, actuators: Actuators, is_free: bool) -> dict[str, int]:
    """Elements that act on the motion, and how often they are there.

    is_free : whether the base is a free joint, on which nothing acts here.
    """
    model = compiled.model
    tendons = (
        model.tendon_stiffness, model.tendon_damping, model.tendon_frictionloss,
        model.tendon_armature, model.tendon_limited,
    )  # fmt: skip
    pulled = np.any([np.asarray(one, dtype=bool) for one in tendons], axis=0)
    springs = model.jnt_stiffness[model.jnt_type <= BALL]
    counts = {
        "spring of a ball or free joint": np.count_nonzero(springs),
        "tendon force": np.count_nonzero(pulled),
        "gravcomp": np.count_nonzero(model.body_gravcomp),
        "limit of a ball joint": np.count_nonzero(model.jnt_limited[model.jnt_type == BALL]),
        "actuator on no joint": actuators.elsewhere,
        "medium": int(bool(model.opt.density or model.opt.viscosity)),
        "magnetic field or wind": int(bool(model.opt.wind.any())),
        "plugin": model.nplugin,
        "equality of a mocap body": led_holds(compiled),
    }
    for name in ("stiffnesspoly", "dampingpoly"):  # of newer versions
        values = getattr(model, f"jnt_{name}", getattr(model, f"dof_{name}", np.zeros(0)))
        counts[name] = sum(bool(np.any(one)) for one in values)
    for name in ("armature", "damping"):
        values = getattr(model, f"actuator_{name}", np.zeros(0))
        counts[f"actuator {name}"] = np.count_nonzero(values)
    for name in ("armature", "damping", "frictionloss"):
        base = np.flatnonzero((model.jnt_type == FREE) & is_free)
        of_base = getattr(model, f"dof_{name}")[model.jnt_dofadr[base]]
        counts[f"{name} of the free base (write <freejoint/> if a default gave it)"] = (
            np.count_nonzero(of_base)
        )
    return {what: int(count) for what, count in counts.items() if count}


def unused_elements(compiled: Compiled, is_scene: bool) -> dict[str, int]:
    """All others; a scene has the world's geoms, and free bodies where they begin."""
    model, moved = compiled.model, [] if is_scene else _placed_bodies(compiled)
    around = [] if is_scene else np.flatnonzero(model.geom_bodyid == 0).tolist()
    counts = {
        "inactive equality": np.count_nonzero(model.eq_active0 == 0),
        "equality of links that are one without it": idle_holds(compiled),
        "mocap body": model.nmocap,
        "contact exclude": model.nexclude,
        "contact pair": model.npair,
        _named(compiled, "GEOM", "geom of the world", around): len(around),
        _named(compiled, "BODY", "start or keyframe pose of a free body", moved): len(moved),
        "tendon": model.ntendon,
        "sensor": model.nsensor,
        "camera": model.ncam,
        "light": model.nlight,
    }
    return {what: int(count) for what, count in counts.items() if count}


def scenery_warnings(compiled: Compiled) -> list[str]:
    """That nothing holds the robot up where the file's world would."""
    model = compiled.model
    touches = (model.geom_contype | model.geom_conaffinity) != 0
    around = np.flatnonzero((model.geom_bodyid == 0) & touches).tolist()
    if not around:
        return []
    what = _named(compiled, "GEOM", "geoms of the world", around)
    return [
        f"{compiled.name}: {what} ({len(around)}) are no part of the robot, which passes through "
        "them; World.load reads the scene with them, or give walls to simulate and Stepper: "
        "environment=Environment([Surface.plane()])"
    ]


def _placed_bodies(compiled: Compiled) -> list[int]:
    """The free bodies that do not begin at the world's origin; home has them there."""
    model = compiled.model
    found = []
    for joint in np.flatnonzero(model.jnt_type == FREE):
        start, body = model.jnt_qposadr[joint], int(model.jnt_bodyid[joint])
        poses = np.vstack([model.qpos0, model.key_qpos])[:, start : start + 7]
        if not is_mocap(model, body) and (poses != NO_WAY).any():
            found.append(body)
    return found


def _named(compiled: Compiled, kind: str, what: str, numbers: Sequence[int]) -> str:
    """The words for what is counted, with names of the first."""
    names = [name for k in numbers[:NAMES] if (name := compiled.name_of(kind, int(k)))]
    if not names:
        return what
    return f"{what} ({', '.join(names)}{', ...' if len(numbers) > NAMES else ''})"
