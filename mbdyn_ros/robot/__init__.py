"""The object users hold, and the calls of its programs."""

from .reading import example, load
from .robot import Robot
from .saving import save_mjcf, save_sdf, save_urdf

__all__ = ["Robot", "example", "load", "save_mjcf", "save_sdf", "save_urdf"]
