"""What a robot is: read from its description, immutable, without mathematics."""

from .description import read_description
from .dh_table import read_dh_table
from .errors import ModelError, ModelWarning
from .mechanism import read_mechanism
from .model import Coupling, Inertia, Joint, Limits, Link, Loop, Mimic, Model, Pose
from .urdf import read_urdf

__all__ = [
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
