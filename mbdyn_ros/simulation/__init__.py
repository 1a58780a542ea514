"""Motion of robots in time."""

from .contact.curved_rods import CurvedRod
from .contact.environment import Environment
from .contact.environment_file import read_environment
from .contact.impulses import Contact, Impact
from .contact.link_contacts import LinkContacts
from .contact.surfaces import Surface
from .given_motion import GivenMotion
from .simulate import simulate
from .stepped.stepper import Stepper
from .stepped.walled_rollout import rollout_among_walls
from .trajectory import StoppedSimulationError, Trajectory, Transition
from .world import World

__all__ = [
    "Contact",
    "CurvedRod",
    "Environment",
    "GivenMotion",
    "Impact",
    "LinkContacts",
    "Stepper",
    "StoppedSimulationError",
    "Surface",
    "Trajectory",
    "Transition",
    "World",
    "read_environment",
    "rollout_among_walls",
    "simulate",
]
