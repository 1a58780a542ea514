"""A piezo robot whose contacts open at times that are known."""

from __future__ import annotations

import numpy as np

from mbdyn_ros.piezo import (
    PulseWindows,
)

TURN = 2 * np.pi
HOME = np.array([0.0, 0.3, 0.8, -0.5, 0.6, 0.0])

INERTIAL = """<inertial><origin xyz="0.1 0.02 -0.03"/><mass value="0.5"/>
  <inertia ixx="0.004" iyy="0.003" izz="0.005" ixy="0.0002" ixz="0" iyz="0"/></inertial>"""

LIFT = f"""<robot name="lift"><link name="world"/><link name="cage">{INERTIAL}</link>
  <joint name="rail" type="prismatic"><axis xyz="1 0 0"/><origin rpy="0 -0.9 0"/>
    <parent link="world"/><child link="cage"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


def open_windows(names: tuple[str, ...], on: list[float], off: list[float]) -> PulseWindows:
    zeros = np.zeros(len(names))
    return PulseWindows(
        names, np.array(on), np.array(off), zeros, zeros.astype(bool), zeros, zeros, ()
    )
