"""Measurements of speed and of accuracy, each a script that prints its numbers."""
