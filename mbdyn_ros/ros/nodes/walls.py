"""The walls of a node's robot, from a parameter."""

from __future__ import annotations

from ...errors import MbdynError, ModelError
from ...robot import Robot
from ...simulation.contact.environment import Environment
from ...simulation.contact.environment_file import read_environment


def walls_of(robot: Robot, source: str) -> Environment | None:
    """The environment that the parameter `environment` names, or holds; None where it is empty.

    Raises
    ------
    ModelError
        It cannot be read, or does not fit the robot.
    """
    if not source:
        return None
    try:
        environment = read_environment(source)
        environment.contact_points(robot)
    except MbdynError as error:
        raise ModelError(f"parameter environment: {error}") from None
    return environment
