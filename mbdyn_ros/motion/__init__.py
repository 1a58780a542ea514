"""Motions given in any joints that determine all others: measured, planned, or driven ones."""

from .conversion import ConvertedTrajectory, convert_trajectory
from .joint_space import JointSpace
from .measured_joints import MeasuredJoints
from .resampling import EffortTrajectory, resample_efforts
from .violation import Violation, first_violation

__all__ = [
    "ConvertedTrajectory",
    "EffortTrajectory",
    "JointSpace",
    "MeasuredJoints",
    "Violation",
    "convert_trajectory",
    "first_violation",
    "resample_efforts",
]
