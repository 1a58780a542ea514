"""Models of robots: what a description says, as immutable data; read, written and edited."""

from ..errors import ModelError, ModelWarning
from .model import Combination, Coupling, Inertia, Joint, Limits, Link, Loop, Mimic, Model, Pose
from .read.description import read_description
from .read.dh_table import read_dh_table
from .read.side_car import read_mechanism
from .read.urdf import read_urdf

__all__ = [
    "Combination",
    "Coupling",
    "Inertia",
    "Joint",
    "Limits",
    "Link",
    "Loop",
    "Mimic",
    "Model",
    "ModelError",
    "ModelWarning",
    "Pose",
    "read_description",
    "read_dh_table",
    "read_mechanism",
    "read_urdf",
]
