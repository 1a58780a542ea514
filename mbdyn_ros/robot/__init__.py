"""The object users hold, and the calls of its programs."""

from .reading import example, load
from .robot import Robot, checked_robot
from .saving import save_mjcf, save_sdf, save_urdf

__all__ = ["Robot", "checked_robot", "example", "load", "save_mjcf", "save_sdf", "save_urdf"]
