"""The `<equality>` of an MJCF: loops, mimics, couplings of joints, and joints that are locked.

A tendon whose length is a sum of joint positions couples these joints.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...model import Combination, Joint, Limits, Loop, Mimic
from .compiled import Compiled
from .holding import active_holds
from .names import ElementNames

HIGHEST = 4
"""The highest power of a polynomial in an equality."""


@dataclass
class Equalities:
    """Loops, mimics and couplings of a MJCF; `held` holds the positions of joints held still."""

    loops: list[Loop] = field(default_factory=list)
    mimics: dict[str, Mimic] = field(default_factory=dict)
    couplings: list[Combination] = field(default_factory=list)
    held: dict[str, float] = field(default_factory=dict)

    def applied(self, joint: Joint) -> Joint:
        """The joint as they have it."""
        if joint.name in self.held:
            at = joint.pose(np.array([self.held[joint.name]]))
            return replace(
                joint, type="fixed", origin=joint.origin @ at, limits=Limits(), damping=0.0,
                friction=0.0,
            )  # fmt: skip
        return replace(joint, mimic=self.mimics.get(joint.name))


def read_equalities(compiled: Compiled, names: ElementNames) -> Equalities:
    """All equalities that are active from the beginning.

    Raises
    ------
    ModelError
        A polynomial is not linear, a tendon is not a sum of joints, or something deforms.
    """
    model, kinds = compiled.model, compiled.mujoco.mjtEq
    result = Equalities()
    for hold in active_holds(compiled):
        first, second = (names.bodies[body] for body in hold.bodies)
        kind = "fixed" if hold.is_weld else "spherical"
        result.loops.append(Loop(_name(compiled, hold.number), kind, first, second, *hold.frames))
    for k in range(model.neq):
        if not model.eq_active0[k]:
            continue
        if model.eq_type[k] == kinds.mjEQ_JOINT:
            _couple_joints(compiled, names, k, result)
        elif model.eq_type[k] == kinds.mjEQ_TENDON:
            _couple_tendons(compiled, names, k, result)
        elif int(model.eq_type[k]) not in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
            raise compiled.error(
                f'<equality> "{_name(compiled, k)}"', "is of a body that deforms; remove it"
            )
    return result


def _couple_joints(compiled: Compiled, names: ElementNames, k: int, result: Equalities) -> None:
    """y - y0 = a + b (x - x0), from the positions in the file."""
    model = compiled.model
    follower, leader = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
    name = names.joints[follower]
    start, ratio = _line(compiled, k)
    offset = start + float(model.qpos0[model.jnt_qposadr[follower]])
    if leader < 0 or ratio == 0.0:
        result.held[name] = offset
        return
    led_by = names.joints[leader]
    offset -= ratio * float(model.qpos0[model.jnt_qposadr[leader]])
    chain = [led_by]
    while chain[-1] in result.mimics:
        chain.append(result.mimics[chain[-1]].joint)
    if name in result.mimics or name in chain:
        factors = ((name, 1.0), (led_by, -ratio))
        result.couplings.append(Combination(_name(compiled, k), factors, offset))
    else:
        result.mimics[name] = Mimic(led_by, ratio, offset)


def _couple_tendons(compiled: Compiled, names: ElementNames, k: int, result: Equalities) -> None:
    """The same of the lengths of tendons that are sums of joint positions."""
    model = compiled.model
    start, ratio = _line(compiled, k)
    factors: dict[str, float] = {}
    offset = start
    for tendon, weight in ((int(model.eq_obj1id[k]), 1.0), (int(model.eq_obj2id[k]), -ratio)):
        if tendon < 0 or not weight:
            continue
        sum_of = length_factors(model, tendon)
        if sum_of is None:
            raise compiled.error(
                f'<equality> "{_name(compiled, k)}"',
                "is of a tendon that runs over sites, which is not computed; remove it, or write "
                "<connect> or <joint>",
            )
        offset += weight * float(model.tendon_length0[tendon])
        for number, factor in sum_of:
            joint = names.joints[number]
            factors[joint] = factors.get(joint, 0.0) + weight * factor
    coupled = tuple((joint, factor) for joint, factor in factors.items() if factor)
    if len(coupled) == 1:
        ((joint, factor),) = coupled
        result.held[joint] = offset / factor
    else:
        result.couplings.append(Combination(_name(compiled, k), coupled, offset))


def _line(compiled: Compiled, k: int) -> tuple[float, float]:
    """The first two coefficients of a polynomial that has no others."""
    coefficients = compiled.model.eq_data[k][: HIGHEST + 1].tolist()
    if any(coefficients[2:]):
        polynomial = " ".join(f"{one:g}" for one in coefficients)
        raise compiled.error(
            f'<equality> "{_name(compiled, k)}"',
            f'polycoef="{polynomial}" is not linear, and only linear couplings are computed; '
            "write the mechanism itself as <connect>, or remove the equality",
        )
    return coefficients[0], coefficients[1]


def _name(compiled: Compiled, k: int) -> str:
    return compiled.name_of("EQUALITY", k) or f"equality{k}"


JOINT_WRAP = 1
"""MuJoCo's mark of a joint in a tendon."""


def length_factors(model: Any, tendon: int) -> list[tuple[int, float]] | None:
    """Joints and what their positions are multiplied by; None of a tendon that runs over sites."""
    first = model.tendon_adr[tendon]
    wraps = range(first, first + model.tendon_num[tendon])
    if any(model.wrap_type[k] != JOINT_WRAP for k in wraps):
        return None
    return [(int(model.wrap_objid[k]), float(model.wrap_prm[k])) for k in wraps]
