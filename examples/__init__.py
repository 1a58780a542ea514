"""Demonstrations, each run from here: `python -m examples.torques`, `.piezo_circle`, ..."""
