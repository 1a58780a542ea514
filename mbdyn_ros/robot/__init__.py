"""The object users hold, and the calls of its programs."""

from .robot import Robot, checked_robot, example, load
from .saving import save_mjcf, save_sdf, save_urdf

__all__ = ["Robot", "checked_robot", "example", "load", "save_mjcf", "save_sdf", "save_urdf"]
