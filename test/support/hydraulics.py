"""Robots that cylinders and screws drive, as URDF text."""

from __future__ import annotations

SLED = """<robot name="sled"><link name="world"/>
  <link name="mass"><inertial><mass value="500"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="rail" type="prismatic"><axis xyz="0 0 1"/><parent link="world"/>
    <child link="mass"/><limit lower="-0.25" upper="0.25" effort="1e6" velocity="9"/></joint>
</robot>"""

LIFT = """actuators:
- name: lift
  type: hydraulic
  joint: rail
  bore: 0.08
  rod: 0.04
  stroke: 0.5
  extension: 0.25
  dead_volume: 2.0e-4
  supply: 2.0e+7
  tank: 2.0e+5
  relief: {relief}
  air: {air}
  leakage: {leakage}
  valve: {{flow: 1.0e-3, drop: 3.5e+6, bandwidth: {bandwidth}}}
  friction: {{dry: 200, static: 400, stribeck: 0.02, slip: 0.005, viscous: 1000}}
"""

SCREW = """actuators:
- {{name: spindle, type: electric, joint: rail, torque_constant: 0.1, resistance: 0.5,
   inductance: {inductance}, voltage: 48, lead: 0.01, rotor_inertia: 1.0e-4,
   friction: {{viscous: 2000}}}}
"""
WEIGHT = 500 * 9.81
