"""Demonstrations, each run from here: `python -m examples.torques`, `.piezo_circle`, ..."""

from mbdyn_ros.extras import say_without_ros

say_without_ros()
