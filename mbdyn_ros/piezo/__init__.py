"""Piezo robots: moved by an unbalanced rotor and by joints that are freed at the right phase.

Examples
--------
>>> import numpy as np
>>> import mbdyn_ros
>>> robot = mbdyn_ros.load('''<robot name="slide"><link name="world"/><link name="cart">
...   <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
...   </inertial></link><joint name="rail" type="prismatic"><axis xyz="1 0 0"/>
...     <parent link="world"/><child link="cart"/></joint></robot>''')
>>> rotor = Rotor(0.1, 0.01, 100.0)                               # 10 N

Windows of the rotor's turn in which the joint is free, for a mean force:

>>> windows = pulse_windows(robot, [0.0], rotor, [-5 / np.pi], "cart")
>>> np.degrees(windows.on), np.degrees(windows.off), windows.saturated
(array([150.]), array([210.]), array([False]))
>>> pulse_windows(robot, [0.0], rotor, [7.0], "cart").mean_torque * np.pi
array([10.])

The motion that such pulses make in two turns:

>>> motion = PiezoMotion(robot, rotor, "cart")
>>> motion.command(pulse_windows(robot, motion.q, rotor, [2.0], "cart"))
>>> motion.advance(4 * np.pi / rotor.speed)
>>> [round(pulse.achieved, 6) for pulse in motion.pulses]
[2.0]

One cycle of the controller that keeps the joint on its path:

>>> control = PulseController(robot, rotor, "cart", gain=8.0)
>>> control.wanted_q[:] = 0.001
>>> control.cycle()
>>> control.mean_torque.round(4), control.saturated
(array([1.5609]), array([0.]))
"""

from .c_programs import generate_c
from .contact import Contact, RotorDrive
from .controller import PulseController
from .motion import PiezoMotion, Pulse
from .path import JointPath, PiezoRun, circle, follow
from .programs import generalized_torques, torque_components
from .pulses import PulseWindows, pulse_windows
from .rotor import Rotor
from .slipping_motion import SlippingMotion

__all__ = [
    "Contact",
    "JointPath",
    "PiezoMotion",
    "PiezoRun",
    "Pulse",
    "PulseController",
    "PulseWindows",
    "Rotor",
    "RotorDrive",
    "SlippingMotion",
    "circle",
    "follow",
    "generate_c",
    "generalized_torques",
    "pulse_windows",
    "torque_components",
]
