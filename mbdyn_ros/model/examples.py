"""Small robots, as URDF text, for the examples in docstrings."""

CART = """<robot name="cart"><link name="world"/><link name="cart"><inertial><mass value="2"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="rail" type="prismatic"><axis xyz="1 0 0"/>
    <parent link="world"/><child link="cart"/></joint></robot>"""
"""A mass of 2 kg that slides along x."""

PENDULUM = """<robot name="pendulum"><link name="world"/>
  <link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><axis xyz="0 1 0"/>
    <parent link="world"/><child link="rod"/></joint></robot>"""
"""A rod of 2 kg and 1 m that turns about y at its end, and points along x at 0."""
