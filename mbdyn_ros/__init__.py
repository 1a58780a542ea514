"""Exact rigid multibody dynamics for ROS 2, made for machines with closed loops.

A robot comes from a file or from the box, and answers in SI units:

>>> import mbdyn_ros
>>> robot = mbdyn_ros.example("crane")  # yours: mbdyn_ros.load("my_robot.urdf")
>>> robot.joint_names[:2]
('slew_joint', 'boom_joint')
>>> q = robot.home_position
>>> efforts = robot.inverse_dynamics(q, 0 * q, 0 * q)  # N m and N, of robot.actuated_joints

`print(robot.report())` says what was understood, and `help(robot.inverse_dynamics)` explains a
call. From there:

- motion: `simulate(robot, q0, v0, duration)`, with walls as `Environment([Surface.plane()])`;
  `Stepper` for equal steps at a rate; `World` for several robots and bodies
- speed: `robot.bind("inverse_dynamics")` for loops at a rate, batches by a leading dimension,
  `robot.rollout` for many motions
- control: `control.Controller`, `control.Observer`; in C++ by `robot.generate_cpp("folder")`
- real machines: `identification.identify_machine`, `identification.calibrate`
- plans: `motion.time_optimal`, `motion.convert_trajectory`, `robot.casadi("forward_dynamics")`
- linkages and piezo robots: `mechanisms`, `piezo`

Errors are `MbdynError`s that name the file, the joint and the number. The command `mbdyn` does most
of this in a shell; nodes for ROS 2 are started with `ros2 launch mbdyn_ros`.
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

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

if _TYPE_CHECKING:
    from . import control as control
    from . import identification as identification
    from . import mechanisms as mechanisms
    from . import motion as motion
    from . import piezo as piezo
    from . import recording as recording
    from . import simulation as simulation
    from .control import Controller
    from .robot import Robot, example, load, save_mjcf, save_sdf, save_urdf
    from .simulation import (
        Contact,
        Environment,
        GivenMotion,
        Impact,
        LinkContacts,
        Stepper,
        Surface,
        Trajectory,
        Transition,
        World,
        read_environment,
        simulate,
    )

__all__ = [
    "CompilerWarning",
    "Contact",
    "Controller",
    "DeadPointError",
    "Environment",
    "GivenMotion",
    "Impact",
    "InputError",
    "LinkContacts",
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
    "World",
    "example",
    "load",
    "read_environment",
    "save_mjcf",
    "save_sdf",
    "save_urdf",
    "simulate",
]

__version__ = "0.1.0"

_PLACES = {
    "Controller": ".control",
    **dict.fromkeys(("Robot", "example", "load", "save_mjcf", "save_sdf", "save_urdf"), ".robot"),
}
"""Where names that are loaded when first asked for come from, if not from `simulation`."""

_MODULES = (
    "control", "identification", "mechanisms", "motion", "piezo", "recording", "simulation",
)  # fmt: skip
"""Modules that users name without importing them."""


def __getattr__(name: str) -> _Any:
    """Robots, simulation and applications, loaded when first asked for.

    Whoever imports the package alone, to hear signals or to print a help, need not wait for them.
    """
    if name in _MODULES:
        return _importlib.import_module(f".{name}", __name__)
    if name in __all__:
        module = _importlib.import_module(_PLACES.get(name, ".simulation"), __name__)
        value = globals()[name] = getattr(module, name)
        return value
    if not name.startswith("_"):
        _importlib.import_module(".robot", __name__)
        if name in globals():  # a module that was imported along with it, such as `model`
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names of the module, with those that are not loaded yet."""
    loaded = [name for name in globals() if not name.startswith("_") or name.startswith("__")]
    return sorted({*loaded, *__all__, *_MODULES})
