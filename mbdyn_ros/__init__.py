"""Exact multibody dynamics for ROS 2 robots that are not simple serial arms."""

from . import piezo as piezo
from .model.errors import (
    CompilerWarning,
    InputError,
    MbdynError,
    ModelError,
    ModelWarning,
    SimulationError,
    SimulationWarning,
    SingularMassMatrixError,
)
from .robot import Robot, load
from .simulation import Trajectory, simulate

__all__ = [
    "CompilerWarning",
    "InputError",
    "MbdynError",
    "ModelError",
    "ModelWarning",
    "Robot",
    "SimulationError",
    "SimulationWarning",
    "SingularMassMatrixError",
    "Trajectory",
    "load",
    "simulate",
]
