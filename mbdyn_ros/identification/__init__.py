"""Robots from measurements: their inertias from efforts, their geometry from poses and joints."""

from ..robot.base_parameters import BaseParameters, base_parameters
from .calibration import Calibration, calibrate
from .excitation import Excitation, excitation
from .identified import Identification
from .inertias import identify
from .machine import identify_machine
from .payload import Payload, identify_payload
from .verdict import Verdict

__all__ = [
    "BaseParameters",
    "Calibration",
    "Excitation",
    "Identification",
    "Payload",
    "Verdict",
    "base_parameters",
    "calibrate",
    "excitation",
    "identify",
    "identify_machine",
    "identify_payload",
]
