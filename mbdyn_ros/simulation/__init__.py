"""Motion of robots in time."""

from .adaptive.simulate import simulate
from .contact.environment import Environment
from .contact.environment_file import read_environment
from .contact.impacts import Impact
from .contact.surfaces import Surface
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
