"""Motion of robots in time."""

from .environment import Environment
from .environment_file import read_environment
from .impacts import Impact
from .simulate import simulate
from .surfaces import Surface
from .trajectory import StoppedSimulationError, Trajectory, Transition

__all__ = [
    "Environment",
    "Impact",
    "StoppedSimulationError",
    "Surface",
    "Trajectory",
    "Transition",
    "read_environment",
    "simulate",
]
