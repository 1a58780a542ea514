"""A mechanism in a prescribed motion: torques, reactions, shaking, transmission."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..equations.programs import joint_velocity
from ..errors import InputError
from ..model.model import Array
from ..names import former_name
from .crank_motion import CrankMotion
from .disk_cam import DiskCam
from .layout import turned
from .mechanism import Mechanism
from .parametric import run
from .pose import MechanismPose
from .reactions import Friction, FrictionForces, friction_forces, reactions, shaking
from .toggles import require_closed_path

STANDING_SPEED = 1e-9
"""Ratio of speeds below which the output stands still: a dead centre."""

IN_LINE = 1e-6
"""Sine of the angle between links below which a parallelogram lies in line."""


@dataclass(frozen=True)
class Analysis:
    """A mechanism in a prescribed motion of its inputs; every quantity is computed on first access.

    friction : of every joint, or by name; it is in torques and reactions.

    Raises
    ------
    InputError
        A toggle stops the motion; the message gives the limiting angle.

    Examples
    --------
    >>> from mbdyn_ros.mechanisms import FourBar, constant_speed
    >>> analysis = Analysis(FourBar(), constant_speed(10.0))
    >>> analysis.torque.shape, sorted(analysis.reactions)
    ((361, 1), ['coupler_joint', 'coupler_pin', 'crank_joint', 'rocker_joint'])
    """

    mechanism: Mechanism
    motion: CrankMotion
    friction: Friction | Mapping[str, Friction] | None = None

    def __post_init__(self) -> None:
        require_closed_path(self.mechanism, self.mechanism.states("q", self.motion.q))

    @functools.cached_property
    def torque(self) -> Array:
        """Driving torque of every input (N, n), N m."""
        if self.joint_friction is not None:
            return self.joint_friction.torque
        return self.mechanism.inverse_dynamics(self.motion.q, self.motion.v, self.motion.a)

    @functools.cached_property
    def joint_friction(self) -> FrictionForces | None:
        """The friction of the joints; None if none is given."""
        if self.friction is None:
            return None
        motion = self.motion.q, self.motion.v, self.motion.a
        return friction_forces(self.mechanism, motion, self.pose, self.friction)

    rubbing = former_name("joint_friction")

    @property
    def effective_torque(self) -> Array:
        """Root of the mean over time of the squared torque (n,), N m: what heats a motor."""
        return mean_square(self.torque, self.motion.time) ** 0.5

    @functools.cached_property
    def torque_without_gravity(self) -> Array:
        """Driving torque (N, n), N m, where nothing weighs."""
        weightless = self.mechanism.designs(gravity=0.0)  # it closes where this one does
        if self.friction is not None:
            return Analysis(weightless, self.motion, self.friction).torque
        return weightless.inverse_dynamics(self.motion.q, self.motion.v, self.motion.a)

    @functools.cached_property
    def pose(self) -> MechanismPose:
        """The places of the parts."""
        return self.mechanism.pose(self.motion.q)

    @functools.cached_property
    def joints(self) -> tuple[Array, Array, Array]:
        """Positions, velocities, accelerations (N, joints) of all joints."""
        motion = self.motion
        state = self.mechanism.joint_state(motion.q, motion.v, motion.a)
        assert state[1] is not None and state[2] is not None
        return state[0], state[1], state[2]

    @functools.cached_property
    def in_plane(self) -> tuple[Array, Array, Array]:
        """Angles in the plane, their rates and accelerations (N, parts); of slides as `joints`."""
        layout, result = self.mechanism.layout(), []
        for order, values in enumerate(self.joints):
            angles = turned(layout, values, rate=order > 0)
            columns = [
                values[:, k] if part.slides else angles[part.name]
                for k, part in enumerate(layout.parts)
            ]
            result.append(np.stack(columns, axis=-1))
        return result[0], result[1], result[2]

    @functools.cached_property
    def reactions(self) -> Mapping[str, Array]:
        """Force and moment (N, 3) in every joint and pin: fx, fy (N), moment (N m).

        Of the parent on the part about the joint's place, or of the first part on the second in a
        closing pin; axes of the ground. A driven joint's moment is the torque. Found by DeNOC:
        the multipliers are the forces in the pins. Those of a parallelogram grow without bound
        towards the positions where it lies in line, and are NaN there.
        """
        motion = self.motion
        if self.joint_friction is not None:
            return self.joint_friction.reactions
        values = run(self.mechanism, reactions, motion.q, motion.v, motion.a)
        layout = self.mechanism.layout()
        if layout.gears:
            first, second = (self.pose.directions[one] for one in ("coupler", "rocker"))
            values[np.abs((first.conj() * second).imag) < IN_LINE] = np.nan
        return {one.name: values[:, k] for k, one in enumerate(layout.force_carriers)}

    def cam_angle(self, cam: DiskCam) -> Array:
        """The angle (N,) of a cam, rad."""
        return self.mechanism.shaft_angle(cam.cam, self.motion.q)

    @functools.cached_property
    def contact_forces(self) -> Mapping[str, Array]:
        """Force (N,), N, with which every cam presses on its follower; where it is negative the
        follower lifts off, unless something holds it."""
        found = {}
        for cam in self.mechanism.layout().cams:
            force, rise = self.reactions[cam.name], cam.rise(self.cam_angle(cam))
            along = force[:, 0] * rise.real + force[:, 1] * rise.imag
            found[cam.name] = np.copysign(np.hypot(force[:, 0], force[:, 1]), along)
        return found

    @property
    def lift_offs(self) -> list[str]:
        """Words about followers that lift off their cams."""
        found = []
        for cam in self.mechanism.layout().cams:
            off = np.flatnonzero(self.contact_forces[cam.name] < 0)
            if len(off):
                angle = np.degrees(self.cam_angle(cam)[off[0]])
                stiffness, preload = cam.spring_settings
                found.append(
                    f"the {cam.follower} lifts off with the {cam.cam} at {angle:.4g} deg; a "
                    f"stronger {preload} or {stiffness}, or less speed, holds it; "
                    "all numbers are of a follower that is held in contact; --fd --restitution E "
                    "lets it fly"
                )
        return found

    @functools.cached_property
    def shaking(self) -> Array:
        """Shaking force and moment (N, 3): what the parts' inertia does to the ground.

        Forces fx, fy (N) and the moment (N m) about the origin; weight is not in them.
        """
        motion = self.motion
        values: Array = run(self.mechanism, shaking, motion.q, motion.v, motion.a)[..., 0]
        return values

    @functools.cached_property
    def transmission_angles(self) -> Array:
        """Angle (N, dyads), rad, at which each dyad passes on its force; best at pi/2.

        Between coupler and rocker; between coupler and the normal of a slide; between a lever's
        normal and the motion of the block's pin around its pivot. 0 or pi at a toggle.
        """
        return transmission_angles(self.mechanism, self.motion.q)

    @functools.cached_property
    def output_rate(self) -> Array:
        """Speed of the output per unit speed of the input (N,), 1 or m: d output / d input.

        Zero at the output's dead centres. Of a mechanism with one input.
        """
        if len(self.mechanism.inputs) != 1:
            raise self.mechanism.refusal(
                "it has two inputs, so one speed of the output per speed of the input does not "
                "exist; see `joints`"
            )
        return output_rate(self.mechanism, self.motion.q)

    @functools.cached_property
    def mechanical_advantage(self) -> Array:
        """Effort at the output per effort at the input (N,), 1 or 1/m; infinite at dead centres."""
        rate = self.output_rate
        still = np.abs(rate) < STANDING_SPEED
        return np.where(still, np.inf, 1 / np.where(still, 1.0, rate))

    def curve(self, part: str, at: tuple[float, float]) -> Array:
        """Path (N, 2), m, of a point of a part, given along and across it: a coupler curve."""
        if part not in self.pose.origins:
            known = ", ".join(self.pose.origins)
            raise self.mechanism.refusal(f"there is no part {part!r}; there are {known}")
        points = self.pose.point(part, at)
        return np.stack([points.real, points.imag], axis=-1)


def output_rate(mechanism: Mechanism, q: Array) -> Array:
    """See `Analysis.output_rate`; at N positions (N, 1) of the input."""
    rates = run(mechanism, joint_velocity, q, np.ones_like(q))
    return rates[:, mechanism.joint_names.index(f"{mechanism.output}_joint")]


def mean_square(values: Array, time: Array) -> Array:
    """Mean over time (N,) of squared values (N, ...)."""
    return mean(np.square(values), time)


def mean(values: Array, time: Array) -> Array:
    """Mean over time (N,) of values (N, ...), straight between the instants."""
    steps = np.diff(time)
    weights = np.append(steps, 0.0) + np.append(0.0, steps)
    whole: Array = np.tensordot(weights, values, 1) / weights.sum()
    return whole


def transmission_angles(mechanism: Mechanism, q: Array) -> Array:
    """See `Analysis.transmission_angles`; at N positions (N, n) of the inputs."""
    cosines = [np.broadcast_to(one, len(q)) for one in mechanism.transmissions(q)]
    return np.arccos(np.clip(np.stack(cosines, axis=-1), -1.0, 1.0))


def compare(
    mechanism: Mechanism, motion: CrankMotion, setting: str, values: Sequence[float]
) -> dict[float, Analysis]:
    """Analyses of one motion for several values of a setting, by value.

    Raises
    ------
    InputError
        A value is invalid for the setting.
    """
    if not len(values):
        raise InputError(f"compare {setting}: expected at least one value, got none")
    return {
        float(value): Analysis(mechanism.replaced(**{setting: value}), motion) for value in values
    }
