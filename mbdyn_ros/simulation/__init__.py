"""Motion of robots in time."""

from .simulate import simulate
from .trajectory import StoppedSimulationError, Trajectory, Transition

__all__ = ["StoppedSimulationError", "Trajectory", "Transition", "simulate"]
