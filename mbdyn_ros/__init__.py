"""Exact multibody dynamics for ROS 2 robots that are not simple serial arms."""

import importlib
from typing import TYPE_CHECKING, Any

from .errors import (
    CompilerWarning,
    DeadPointError,
    InputError,
    MbdynError,
    MissingPackageError,
    ModelError,
    ModelWarning,
    SimulationError,
    SimulationWarning,
    SingularMassMatrixError,
)

if TYPE_CHECKING:
    from . import piezo as piezo
    from . import simulation as simulation
    from .robot import Robot, example, load, save_mjcf, save_sdf, save_urdf
    from .simulation import (
        Contact,
        Environment,
        Impact,
        Stepper,
        Surface,
        Trajectory,
        Transition,
        read_environment,
        simulate,
    )

__all__ = [
    "CompilerWarning",
    "Contact",
    "Environment",
    "Impact",
    "DeadPointError",
    "InputError",
    "MbdynError",
    "MissingPackageError",
    "ModelError",
    "ModelWarning",
    "Robot",
    "SimulationError",
    "SimulationWarning",
    "SingularMassMatrixError",
    "Stepper",
    "Surface",
    "Trajectory",
    "Transition",
    "example",
    "load",
    "read_environment",
    "save_mjcf",
    "save_sdf",
    "save_urdf",
    "simulate",
]

ROBOT = ("Robot", "example", "load", "save_mjcf", "save_sdf", "save_urdf")
"""Names from `robot`; all others that are lazy are from `simulation`."""


def __getattr__(name: str) -> Any:
    """Robots, simulation and piezo robots, loaded when first asked for.

    Whoever imports the package alone, to hear signals or to print a help, need not wait for them.
    """
    if name in ("piezo", "simulation"):
        return importlib.import_module(f".{name}", __name__)
    if name in __all__:
        place = ".robot" if name in ROBOT else ".simulation"
        found = globals()[name] = getattr(importlib.import_module(place, __name__), name)
        return found
    if not name.startswith("_"):
        importlib.import_module(".robot", __name__)
        if name in globals():  # a module that came with it, such as `model`
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names of the module, with those that are not loaded yet."""
    return sorted({*globals(), *__all__, "piezo", "simulation"})
