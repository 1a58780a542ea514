"""The process of a node: starts it, ends it in order, and exits with 0 or with one clear line.

Signals are taken by a handler of our own: those of rclpy close the ROS context first, and a node
that wants to send zero torque before it dies could not any more.
"""

from __future__ import annotations

import gc
import logging
import math
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from ...compiler.cache import LOG
from ...errors import MbdynError
from .refusals import in_words, one_line
from .signals import INTERRUPTION, hear

if TYPE_CHECKING:
    from .robot_node import RobotNode


import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

PATIENCE = 2.0
"""Seconds that a callback, or the making of a node, may go on when the node shall end, before it is
interrupted; and after which one more signal ends a node that does not come to its end."""

CHOICES = (
    "FASTDDS_BUILTIN_TRANSPORTS",
    "FASTDDS_DEFAULT_PROFILES_FILE",
    "FASTRTPS_DEFAULT_PROFILES_FILE",
    "ROS_LOCALHOST_ONLY",
)
"""Variables with which a user chooses the transport himself."""

PROFILES_BESIDE = "DEFAULT_FASTDDS_PROFILES.xml"
"""A file in the working directory that does the same."""

RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"

# What ROS asks of Fast DDS for the range LOCALHOST, whatever the variables above say, without the
# shared memory.
_LOCALHOST = """<?xml version="1.0" encoding="UTF-8"?>
<dds xmlns="http://www.eprosima.com"><profiles>
  <transport_descriptors><transport_descriptor>
    <transport_id>udp</transport_id><type>UDPv4</type>
    <maxInitialPeersRange>32</maxInitialPeersRange>
  </transport_descriptor></transport_descriptors>
  <participant profile_name="node" is_default_profile="true"><rtps>
    <builtin>
      <metatrafficUnicastLocatorList><locator/></metatrafficUnicastLocatorList>
      <initialPeersList>{peers}</initialPeersList>
    </builtin>
    <userTransports><transport_id>udp</transport_id></userTransports>
    <useBuiltinTransports>false</useBuiltinTransports>
  </rtps></participant>
</profiles></dds>
"""
_PEER = "<locator><udpv4><address>{}</address></udpv4></locator>"


@contextmanager
def past_shared_memory() -> Iterator[None]:
    """Let ROS contexts and their first nodes, made within, talk by UDP alone.

    In the shared memory of Fast DDS every message is handed over under a lock that lies in the
    reader's memory. A process that is stopped while it holds that lock (Ctrl-Z in the terminal of
    RViz, a debugger) keeps all who publish to it for 1 s: one stop in fifty. UDP waits for nobody,
    and takes 0.1 ms more.

    Where the user has chosen a transport, or the middleware is not Fast DDS, nothing changes.
    """
    chosen = any(os.environ.get(name) for name in CHOICES) or Path(PROFILES_BESIDE).exists()
    if chosen or not rclpy.get_rmw_implementation_identifier().startswith("rmw_fastrtps"):
        yield
    elif os.environ.get(RANGE, "").upper() != "LOCALHOST":
        with _environment(FASTDDS_BUILTIN_TRANSPORTS="UDPv4"):
            yield
    else:
        others = [one for one in os.environ.get("ROS_STATIC_PEERS", "").split(";") if one]
        peers = "".join(_PEER.format(escape(one)) for one in ("127.0.0.1", *others))
        with tempfile.TemporaryDirectory() as folder:
            profile = Path(folder, "localhost.xml")
            profile.write_text(_LOCALHOST.format(peers=peers))
            given = {"FASTDDS_DEFAULT_PROFILES_FILE": str(profile), RANGE: "SYSTEM_DEFAULT"}
            with _environment(**given):
                yield


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def run(create: Callable[[], RobotNode], name: str, args: list[str] | None = None) -> int:
    """Run one node until a signal that would end or suspend it; return the exit code."""
    return Process(name).run(create, args)


class RosLog(logging.Handler):
    """The part of Python's log that a node passes on to that of ROS."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._logger = get_logger(name)

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a record on, in one line."""
        self._logger.info(one_line(record.getMessage()))


class Process:
    """One node, from its start to its end.

    A signal makes the node quiet at once, from a thread of its own: the main thread may be in a
    callback, or waiting for messages where no signal reaches it. A callback that takes long (a
    reference of many points is checked, a program compiled) is interrupted.

    A node that is being made is interrupted at once where it reads and compiles its robot.
    Elsewhere it is made to its end first, which takes a moment, and then ends as any other.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._node: RobotNode | None = None
        self._executor: SingleThreadedExecutor | None = None
        self._asked: float | None = None
        self._ending: float | None = None

    def run(self, create: Callable[[], RobotNode], args: list[str] | None = None) -> int:
        """Run the node that `create` makes; return the exit code."""
        hear(self._on_signal)
        with self._listening():
            try:
                self._live(create, args)
            except (KeyboardInterrupt, ExternalShutdownException):
                pass
            except Exception as error:  # rclpy's own too, about arguments and parameter files
                if self._node is not None and not isinstance(error, MbdynError):
                    raise
                if self._asked is None:  # else CasADi may have reported an interrupt as an error
                    return refuse(self._name, error)
            finally:
                self._ending = time.monotonic()
                if self._node is not None:
                    self._node.stop()
                    self._node.destroy_node()
                rclpy.try_shutdown()
        hear(signal.SIG_IGN)  # it has ended well: none shall kill what is left of the interpreter
        if self._asked is not None and self._node is None:
            print(f"{self._name}: stopped while it was starting", file=sys.stderr)
        return 0

    def _live(self, create: Callable[[], RobotNode], args: list[str] | None) -> None:
        with past_shared_memory():
            rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
            LOG.addHandler(RosLog(self._name))
            LOG.setLevel(logging.INFO)
            self._node = create()
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        sys.setswitchinterval(5e-4)  # the loop thread waits for the interpreter no longer
        gc.collect()
        gc.freeze()
        while self._asked is None:
            spin_some(self._executor, self._node)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._asked is None:
            self._asked = now
        if self._ending is not None:
            if now - self._ending > PATIENCE:
                os._exit(1)
        elif now - self._asked > PATIENCE:
            raise KeyboardInterrupt
        elif self._node is None:
            # Where Python cannot pass it on it says so: not in our one line.
            sys.unraisablehook = lambda lost: None
            INTERRUPTION.ask()

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Run a thread that Python wakes for every signal."""
        ours, pythons = socket.socketpair()
        pythons.setblocking(False)
        thread = threading.Thread(target=self._hush, args=(ours,), name="signals")
        thread.start()
        before = signal.set_wakeup_fd(pythons.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            pythons.close()
            thread.join()
            ours.close()

    def _hush(self, signals: socket.socket) -> None:
        """At every signal, until the end: make the node quiet, and the main thread look up."""
        signals.settimeout(PATIENCE)
        while True:
            try:
                if not signals.recv(1):
                    return
            except TimeoutError:
                if self._asked is not None and self._ending is None:
                    self._asked = -math.inf  # longer ago than anybody is patient
                    main = threading.main_thread().ident
                    assert main is not None
                    signal.pthread_kill(main, signal.SIGTERM)
                continue
            if self._ending is None and self._node is not None:
                self._node.quiet()
            if self._ending is None and self._executor is not None:
                self._executor.wake()


def spin_some(executor: SingleThreadedExecutor, node: Node) -> None:
    """Serve callbacks for a while; one that fails is logged, and the node goes on."""
    try:
        executor.spin_once(timeout_sec=0.25)
    except (KeyboardInterrupt, ExternalShutdownException):
        raise
    except MbdynError as error:
        node.get_logger().error(f"a callback failed: {in_words(error)}", throttle_duration_sec=1.0)
    except Exception:
        if not node.context.ok():
            raise
        node.get_logger().error(
            f"a callback failed: {traceback.format_exc()}", throttle_duration_sec=1.0
        )


def refuse(name: str, error: Exception) -> int:
    """Say in one line why the node does not start."""
    words = in_words(error)
    if type(error).__name__ == "UnknownROSArgsError":  # which rclpy keeps to itself
        words = f"unknown after --ros-args: {str(error).strip('[]').replace(chr(39), '')}"
    print(f"{name}: {words}", file=sys.stderr)
    return 1
