"""Chains of any length."""

from __future__ import annotations

import mbdyn_ros
from mbdyn_ros import Robot


def chain(joints: int, slides: tuple[int, ...] = ()) -> Robot:
    """Joints across each other, links alike; some joints slide."""
    parts = ['<robot name="chain"><link name="l0"/>']
    for k in range(1, joints + 1):
        axis = ("0 0 1", "0 1 0", "1 0 0")[k % 3]
        kind = "prismatic" if k in slides else "continuous"
        parts.append(
            f'<link name="l{k}"><inertial><origin xyz="0.05 0.01 0.02" rpy="0.1 0.2 0.3"/>'
            '<mass value="1"/><inertia ixx="0.01" iyy="0.02" izz="0.015" ixy="0.001" ixz="0" '
            f'iyz="0.002"/></inertial></link><joint name="j{k}" type="{kind}">'
            f'<origin xyz="0.1 0.02 0.03" rpy="0.3 0.2 0.1"/><axis xyz="{axis}"/>'
            '<limit lower="-9" upper="9" effort="9" velocity="9"/>'
            f'<parent link="l{k - 1}"/><child link="l{k}"/></joint>'
        )
    return mbdyn_ros.load("".join(parts) + "</robot>")
