"""Motions given in any joints that determine all others: measured, planned, or driven ones."""

from .conversion import ConvertedTrajectory, convert_trajectory
from .joint_space import JointSpace
from .measured_joints import MeasuredJoints
from .path_limits import MotionLimits, Pump
from .resampling import EffortTrajectory, resample_efforts
from .timed_path import TimedPath, time_optimal
from .violation import Violation, first_violation

__all__ = [
    "ConvertedTrajectory",
    "EffortTrajectory",
    "JointSpace",
    "MeasuredJoints",
    "MotionLimits",
    "Pump",
    "TimedPath",
    "Violation",
    "convert_trajectory",
    "first_violation",
    "resample_efforts",
    "time_optimal",
]
