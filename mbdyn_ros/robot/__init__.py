"""The object users hold, and the calls of its programs."""

from .robot import Robot, load
from .saving import save_mjcf, save_sdf, save_urdf

__all__ = ["Robot", "load", "save_mjcf", "save_sdf", "save_urdf"]
