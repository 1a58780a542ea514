"""Robots from measurements: their inertias from efforts, their geometry from poses and joints."""

from ..robot.base_parameters import BaseParameters, base_parameters
from .calibration import Calibration, calibrate
from .inertias import identify

__all__ = ["BaseParameters", "Calibration", "base_parameters", "calibrate", "identify"]
