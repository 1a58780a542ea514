"""Slider-cranks as URDF text: one with measured joints, one that names no independent joint."""

from __future__ import annotations

from four_bars import joint, links

SLIDER_CRANK = """<robot name="engine"><link name="base"/>
 <link name="crank"/><link name="rod"/><link name="piston"/>
 <joint name="crank" type="continuous" independent="false"><parent link="base"/>
  <child link="crank"/><axis xyz="0 0 1"/></joint>
 <joint name="rod" type="continuous" independent="false"><origin xyz="0.1 0 0"/>
  <parent link="crank"/><child link="rod"/><axis xyz="0 0 1"/></joint>
 <joint name="piston" type="prismatic" independent="true"><parent link="base"/>
  <child link="piston"/><axis xyz="1 0 0"/><limit lower="0" upper="1" effort="1" velocity="1"/>
 </joint>
 <loop name="pin" type="revolute"><predecessor link="rod"><origin xyz="0.3 0 0"/></predecessor>
  <successor link="piston"/><axis xyz="0 0 1"/></loop></robot>"""

SLIDER = (
    '<robot name="slider">'
    + links("ground", "crank", "rod", "piston")
    + joint("turn", "ground", "crank")
    + joint("knee", "crank", "rod", 0.3)
    + joint("stroke", "ground", "piston", 1.3, type="prismatic", axis="1 0 0")
    + '<loop name="pin" type="revolute"><axis xyz="0 0 1"/><predecessor link="rod">'
    '<origin xyz="1 0 0"/></predecessor><successor link="piston"/></loop></robot>'
)
