"""The process of a node: starts it, ends it in order, and exits with 0 or with one clear line.

Ctrl-C and SIGTERM are taken by handlers of our own: those of rclpy close the ROS context first,
and a node that wants to send zero torque before it dies could not any more.
"""

from __future__ import annotations

import gc
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from ...errors import MbdynError
from .refusals import one_line

if TYPE_CHECKING:
    from .robot_node import RobotNode


def run(create: Callable[[], RobotNode], name: str, args: list[str] | None = None) -> int:
    """Run one node until Ctrl-C or SIGTERM; return the exit code."""
    asked_to_stop = False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked_to_stop
        again, asked_to_stop = asked_to_stop, True
        if again or node is None:
            raise KeyboardInterrupt  # asked twice, or while it starts; CasADi loses every other

    node: RobotNode | None = None
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask)
    try:
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
        node = create()
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        sys.setswitchinterval(5e-4)  # the loop thread waits for the interpreter no longer
        gc.collect()
        gc.freeze()
        while not asked_to_stop:
            spin_some(executor, node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except Exception as error:  # rclpy's own too, about arguments and parameter files
        if node is not None and not isinstance(error, MbdynError):
            raise
        if not asked_to_stop:  # else CasADi may have reported an interrupt as an error
            return refuse(name, error)
    finally:
        if node is not None:
            node.stop()
            node.destroy_node()
        rclpy.try_shutdown()
    return 0


def spin_some(executor: SingleThreadedExecutor, node: Node) -> None:
    """Serve callbacks for a while; one that fails is logged, and the node goes on."""
    try:
        executor.spin_once(timeout_sec=0.25)
    except (KeyboardInterrupt, ExternalShutdownException):
        raise
    except Exception:
        if not node.context.ok():
            raise
        node.get_logger().error(
            f"a callback failed: {traceback.format_exc()}", throttle_duration_sec=1.0
        )


def refuse(name: str, error: Exception) -> int:
    """Say in one line why the node does not start."""
    print(f"{name}: {one_line(error) or type(error).__name__}", file=sys.stderr)
    return 1
