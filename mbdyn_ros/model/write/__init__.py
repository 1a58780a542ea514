"""Robots written as files: URDF+."""
