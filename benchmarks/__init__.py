"""Measurements of speed and of accuracy, each a script that prints its numbers."""

from mbdyn_ros.extras import say_without_ros

say_without_ros()
