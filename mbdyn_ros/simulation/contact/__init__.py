"""Walls, and the points of a robot that meet them."""
