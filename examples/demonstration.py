"""The frame of the demonstrations over ROS: how they begin, fail and end."""

from __future__ import annotations

import os
import random
import signal
import sys
from argparse import ArgumentParser
from collections.abc import Callable

import rclpy
from rclpy.signals import SignalHandlerOptions

from mbdyn_ros.compiler.runtime import library
from mbdyn_ros.errors import MbdynError

PRIORITY = {"realtime_priority": 20}
"""Linux grants it to some users; the nodes go on without it."""


class DemoError(RuntimeError):
    """The demonstration did not go as it should; the message says where."""


def arguments(module: str, description: str | None) -> ArgumentParser:
    """The command line of a demonstration, with the DDS domain that it uses."""
    parser = ArgumentParser(prog=f"python -m {module}", description=description)
    parser.add_argument("--domain", type=int, default=random.randint(1, 100), help="ROS_DOMAIN_ID")
    return parser


def environment(domain: int) -> dict[str, str]:
    """The environment of nodes that only this machine and this DDS domain see."""
    return {
        "ROS_DOMAIN_ID": str(domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_LOCALHOST_ONLY": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def run(demonstrate: Callable[[rclpy.Context], None], domain: int) -> int:
    """Run a demonstration in a ROS context; return the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # KeyboardInterrupt: ends the nodes too
    # Before the context: DDS reads it from the environment.
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    context = rclpy.Context()
    rclpy.init(
        context=context, domain_id=domain, signal_handler_options=SignalHandlerOptions.NO
    )
    try:
        # Nodes that start together would each compile them, half a minute on a small machine.
        library.runtime(), library.stepping()
        demonstrate(context)
    except (DemoError, MbdynError) as error:
        print(f"demo failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("demo interrupted", file=sys.stderr)
        return 130
    finally:
        rclpy.shutdown(context=context)
    return 0
