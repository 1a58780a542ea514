"""Robots that meet walls in steps: a block to throw, an arm that lifts and lands."""

from __future__ import annotations

import numpy as np

CORNER = -(1 + 3**0.5) / 2
START = np.array([CORNER, CORNER, *np.pi * np.array([1, 1, -4, 1, 1, -4, 2, 0, 4, -2]) / 6])

BLOCK = """<robot name="block"><link name="block"><inertial><mass value="3"/>
  <inertia ixx="0.05" iyy="0.06" izz="0.08" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
CORNERS = [("block", (x, y, z)) for x in (0.3, -0.3) for y in (0.2, -0.2) for z in (0.1, -0.1)]

ARM = """<robot name="arm"><link name="base"/>
  <link name="cart"><inertial><mass value="2"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="foot"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="0 0 1"/>
  <limit lower="-9" upper="9" effort="99" velocity="99"/></joint>
  <joint name="leg" type="prismatic"><parent link="cart"/><child link="foot"/>
  <origin xyz="0 0 -1"/><axis xyz="0 0 1"/><dynamics friction="{dry}"/>
  <limit lower="-9" upper="9" effort="99" velocity="99"/></joint></robot>"""
