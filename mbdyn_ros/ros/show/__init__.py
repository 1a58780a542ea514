"""Robots and walls as markers, and the viewer of a running system."""
