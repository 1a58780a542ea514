"""What a robot is: read from its description, immutable, without mathematics."""

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
    "read_mechanism",
    "read_urdf",
]
