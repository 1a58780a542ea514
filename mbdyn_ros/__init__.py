"""Exact multibody dynamics for ROS 2 robots that are not simple serial arms."""

from . import piezo as piezo
from .errors import (
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
from .simulation import (
    Environment,
    Impact,
    Surface,
    Trajectory,
    Transition,
    read_environment,
    simulate,
)

__all__ = [
    "CompilerWarning",
    "Environment",
    "Impact",
    "InputError",
    "MbdynError",
    "ModelError",
    "ModelWarning",
    "Robot",
    "SimulationError",
    "SimulationWarning",
    "SingularMassMatrixError",
    "Surface",
    "Trajectory",
    "Transition",
    "load",
    "read_environment",
    "simulate",
]
