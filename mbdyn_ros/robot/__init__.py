"""The object users hold, and the calls of its programs."""

from .robot import Robot, load

__all__ = ["Robot", "load"]
