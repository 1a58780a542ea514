"""The `<equality>` of an MJCF: loops, mimics, couplings, joints that are locked, held links.

A tendon whose length is a sum of joint positions couples these joints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from ...joints.quaternion import rotation_rows
from ...model import Combination, Joint, Limits, Loop, Mimic, Pose
from ...pose import COMPOSED, snap
from .compiled import Compiled, ElementNames


@dataclass(frozen=True)
class Hold:
    """An active `connect` or `weld` by its number: its two bodies, and its frames in them."""

    number: int
    is_weld: bool
    bodies: tuple[int, int]
    frames: tuple[Pose, Pose]


def active_holds(compiled: Compiled) -> Iterator[Hold]:
    """The holds that are active from the beginning, except those of mocap bodies.

    Bodies that are one without them are held by none.
    """
    for hold in _holds(compiled):
        if compiled.model.eq_active0[hold.number] and not _led(compiled.model, hold):
            if not _is_idle(compiled.model, hold):
                yield hold


def idle_holds(compiled: Compiled) -> int:
    """How many holds there are of bodies that are one without them."""
    return sum(_is_idle(compiled.model, hold) for hold in _holds(compiled))


def _is_idle(model: Any, hold: Hold) -> bool:
    one, other = (model.body_weldid[body] for body in hold.bodies)
    return bool(one == other)


def led_holds(compiled: Compiled) -> int:
    """How many holds there are of mocap bodies."""
    return sum(_led(compiled.model, hold) for hold in _holds(compiled))


def is_mocap(model: Any, body: int) -> bool:
    """Whether a body is led by motion capture, or is carried by one that is."""
    return bool(model.body_mocapid[model.body_rootid[body]] >= 0)


def _led(model: Any, hold: Hold) -> bool:
    return any(is_mocap(model, body) for body in hold.bodies)


def _holds(compiled: Compiled) -> Iterator[Hold]:
    model, kinds = compiled.model, compiled.mujoco.mjtEq
    for k in range(model.neq):
        if int(model.eq_type[k]) not in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
            continue
        is_weld = bool(model.eq_type[k] == kinds.mjEQ_WELD)
        one, other = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        if model.eq_objtype[k] == compiled.mujoco.mjtObj.mjOBJ_SITE:
            first, second = (
                pose_of(model.site_pos[site], model.site_quat[site]) for site in (one, other)
            )
            bodies = int(model.site_bodyid[one]), int(model.site_bodyid[other])
            yield Hold(k, is_weld, bodies, (first, second))
            continue
        data = model.eq_data[k]
        if is_weld:  # the place in the second body comes first
            frames = pose_of(data[3:6], data[6:10]), Pose(translation=data[:3])
        else:
            frames = Pose(translation=data[:3]), Pose(translation=data[3:6])
        yield Hold(k, is_weld, (one, other), frames)


def pose_of(position: Any, quaternion: Any) -> Pose:
    """The pose of a position (3,) and a quaternion (w, x, y, z) of any length."""
    w, x, y, z = np.asarray(quaternion) / np.linalg.norm(quaternion)
    return Pose(snap(np.array(rotation_rows(x, y, z, w)), within=COMPOSED), np.array(position))


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
        Tendons are coupled by a polynomial, a tendon is not a sum of joints, or something deforms.
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
    """y - y0 = a + b (x - x0) + c (x - x0)^2 + ..., from the positions in the file."""
    model = compiled.model
    follower, leader = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
    name = names.joints[follower]
    offset = float(model.qpos0[model.jnt_qposadr[follower]])
    polynomial = _polynomial(compiled, k)
    if leader < 0 or not any(polynomial[1:]):
        result.held[name] = offset + polynomial[0]
        return
    led_by = names.joints[leader]
    from_file = Polynomial((-float(model.qpos0[model.jnt_qposadr[leader]]), 1.0))
    start, ratio, *powers = Polynomial(polynomial)(from_file).coef.tolist()
    offset += start
    chain = [led_by]
    while chain[-1] in result.mimics:
        chain.append(result.mimics[chain[-1]].joint)
    if any(polynomial[2:]) or name in result.mimics or name in chain:
        factors = ((name, 1.0), (led_by, -ratio))
        more = ((led_by, tuple(-one for one in powers)),) if any(powers) else ()
        result.couplings.append(Combination(_name(compiled, k), factors, offset, powers=more))
    else:
        result.mimics[name] = Mimic(led_by, ratio, offset)


def _couple_tendons(compiled: Compiled, names: ElementNames, k: int, result: Equalities) -> None:
    """The same of the lengths of tendons that are sums of joint positions."""
    model = compiled.model
    start, ratio, *powers = _polynomial(compiled, k)
    if any(powers):
        raise compiled.error(
            f'<equality> "{_name(compiled, k)}"',
            f'polycoef="{start:g} {ratio:g} {" ".join(f"{one:g}" for one in powers)}" is not '
            "linear, and tendons are coupled linearly only; couple the joints themselves "
            "(<joint>), write the mechanism as <connect>, or remove the equality",
        )
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


def _polynomial(compiled: Compiled, k: int) -> list[float]:
    """The coefficients of the polynomial of an equality, of the lowest power first."""
    coefficients: list[float] = compiled.model.eq_data[k][: HIGHEST + 1].tolist()
    return coefficients


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
