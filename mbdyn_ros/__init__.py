"""Exact multibody dynamics for ROS 2 robots that are not simple serial arms."""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from . import piezo as piezo

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


def __getattr__(name: str) -> Any:
    """`mbdyn_ros.piezo`, loaded when first asked for."""
    if name == "piezo":
        import importlib

        return importlib.import_module(".piezo", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
