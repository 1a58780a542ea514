"""The `<actuator>` of a MJCF: which joints are driven, and how strongly."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from .compiled import Compiled
from .equalities import length_factors


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
