"""Piezo robots: moved by an unbalanced rotor and by joints that are freed at the right phase."""

from .controller import PulseController
from .motion import PiezoMotion, Pulse
from .path import JointPath, PiezoRun, circle, follow
from .pulses import PulseWindows, pulse_windows
from .rotor import Rotor
from .torque import generalized_torques, torque_components

__all__ = [
    "JointPath",
    "PiezoMotion",
    "PiezoRun",
    "Pulse",
    "PulseController",
    "PulseWindows",
    "Rotor",
    "circle",
    "follow",
    "generalized_torques",
    "pulse_windows",
    "torque_components",
]
