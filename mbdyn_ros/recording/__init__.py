"""Trajectories in files: CSV and JSON tables, and bags for ROS 2 and Foxglove."""

from .bag import write_bag
from .measured import Recording, Sensors, read_recording
from .read import read_table
from .table import from_json, to_json, write_csv, write_json
from .write import BAGS, TABLES, check_target, write

__all__ = [
    "BAGS",
    "TABLES",
    "Recording",
    "Sensors",
    "check_target",
    "from_json",
    "read_recording",
    "read_table",
    "to_json",
    "write",
    "write_bag",
    "write_csv",
    "write_json",
]
