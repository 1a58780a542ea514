"""Robots whose origins vary, and the same robots loaded anew with lengths folded."""

from __future__ import annotations

import numpy as np

from mbdyn_ros.model.pose import roll_pitch_yaw
from mbdyn_ros.robot.described import described_model
from mbdyn_ros.robot.robot import Robot

ROBOTS = {
    "ur5": ["elbow_joint/origin", "wrist_1_joint/x", "tool0_fixed_joint/origin"],
    "panda": ["panda_joint3/origin", "panda_joint6/z"],
    "quadruped": ["front_left_shank_joint/z", "hind_right_foot_joint/origin"],
    "tree_robot": [],
    "four_bar": ["rocker_joint/x", "coupler_pin/predecessor/x", "coupler_pin/successor/x"],
    "boom": ["rod_pin/predecessor/x", "barrel_joint/x"],
    "crane": ["lift_pin/successor/x", "lift_pin/successor/z", "tilt_barrel_joint/x"],
    "excavator": [],
    "parallelogram_arm": [],
    "gripper": [],
    "delta": [],
    "stewart": [],
}
"""Robots and numbers of them that vary; by default lengths of two origins."""


def lengths(robot: Robot, count: int = 2) -> list[str]:
    """The longest component of the last origins that are not zero: a length in its structure."""
    names = []
    for name, origin in robot.system.origins.items():
        far = np.abs(origin.pose.translation)
        if far.max() > 1e-3:
            names.append(f"{name}/{'xyz'[int(far.argmax())]}")
    return names[-count:]


def disturbed(robot: Robot, rng: np.random.Generator, size: float = 0.003) -> None:
    """Set every variable origin a little elsewhere."""
    for name, chosen in robot._parameters.layout.origins:
        six = robot._parameters.described.origins[name].six
        change = [size * rng.normal() * (one in chosen) for one in "xyz"]
        angles = None
        if "yaw" in chosen:
            model = robot._parameters.described.origins[name].at(
                np.array([*six[:3], *(size * rng.normal(size=3))])
            )
            angles = roll_pitch_yaw(model.rotation)
        robot.set_origin(name, six[:3] * (1 + np.array(change)) + change, angles)


def loaded_anew(robot: Robot) -> Robot:
    """The robot of the description with the lengths that hold now, all of them folded."""
    return Robot(described_model(robot), robot.home, robot.floating_base, robot.gravity.tolist())
