"""What a robot is: read from its description, immutable, without mathematics."""

from .errors import ModelError, ModelWarning
from .model import Inertia, Joint, Limits, Link, Mimic, Model, Pose
from .urdf import read_urdf

__all__ = [
    "Inertia",
    "Joint",
    "Limits",
    "Link",
    "Mimic",
    "Model",
    "ModelError",
    "ModelWarning",
    "Pose",
    "read_urdf",
]
