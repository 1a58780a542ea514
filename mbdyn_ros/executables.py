"""The executables: each hears signals before it imports what takes long."""

from __future__ import annotations

import contextlib
import os
import sys
from functools import partial
from importlib import import_module
from types import FrameType
from typing import NoReturn

from .cli.interrupts import leave_when_interrupted
from .extras import without_ros
from .ros.node.signals import hear

NODES = {
    "computed_torque": ".ros.nodes.computed_torque",
    "effort_observer": ".ros.nodes.effort_observer",
    "inverse_dynamics_server": ".ros.nodes.inverse_dynamics_server",
    "loop_state_publisher": ".ros.nodes.loop_state_publisher",
    "piezo_controller": ".piezo.ros.piezo_controller",
    "piezo_simulator": ".piezo.ros.piezo_simulator",
    "simulator": ".ros.nodes.simulator",
    "torque_feedforward": ".ros.nodes.torque_feedforward",
    "trajectory_converter": ".ros.nodes.trajectory_converter",
}
"""Every node, and the module whose `main` runs it."""


def run(name: str) -> NoReturn:
    """Run a node, and leave with its exit code."""

    def leave(number: int, frame: FrameType | None) -> None:
        # At once: there is nothing to clean up yet, and an exception can get lost in an import.
        try:
            os.write(2, f"{name}: stopped while it was starting\n".encode())
        except OSError:
            pass  # the terminal is closed
        os._exit(0)

    hear(leave)
    try:
        node = import_module(NODES[name], __package__)
    except ImportError as error:
        if (error.name or "").partition(".")[0] == __package__:
            raise
        print(f"{name}: {without_ros(error)}", file=sys.stderr)
        sys.exit(1)
    code: int = node.main()
    # A managed node that is half made, refused or stopped while it was starting, crashes when the
    # interpreter takes it apart. All else has ended by now.
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # the terminal is closed
            stream.flush()
    os._exit(code)


def mbdyn() -> None:
    """Run the command `mbdyn`."""
    leave_when_interrupted()
    import_module(".__main__", __package__).main(prog_name="mbdyn")


computed_torque = partial(run, "computed_torque")
effort_observer = partial(run, "effort_observer")
inverse_dynamics_server = partial(run, "inverse_dynamics_server")
loop_state_publisher = partial(run, "loop_state_publisher")
piezo_controller = partial(run, "piezo_controller")
piezo_simulator = partial(run, "piezo_simulator")
simulator = partial(run, "simulator")
torque_feedforward = partial(run, "torque_feedforward")
trajectory_converter = partial(run, "trajectory_converter")
