"""Nodes under test: in this process, in a ROS context of their own, with a client next to them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")

import pytest  # noqa: E402

rclpy = pytest.importorskip("rclpy")
srv = pytest.importorskip("mbdyn_ros_interfaces.srv")

from rclpy.callback_groups import CallbackGroup  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from robot_text import body_text, link  # noqa: E402

WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
DOMAIN = (int(os.environ.get("ROS_DOMAIN_ID", os.getpid())) + WORKER) % 100 + 1
"""Of this worker: tests side by side do not hear each other."""

SHARED_DOMAIN = (DOMAIN + 49) % 100 + 1
"""Of rigs that tests of a file share, while others have nodes of the same names."""

PATIENCE = 60.0
"""Seconds that are waited for what comes at once, or within seconds on a busy machine."""

Result = TypeVar("Result")


MOMENTS = (0.1, 0.2, 0.25)
"""Of the links of these robots, kg m^2."""

ARM = f"""<robot name="arm"><link name="base"/>
  {link("upper", 2, MOMENTS, "0.4 0 0")}
  {link("lower", 1, MOMENTS, "0.3 0 0")}
  {link("finger", 0.1, MOMENTS)}
  {link("thumb", 0.1, MOMENTS)}
  <joint name="shoulder" type="revolute"><axis xyz="0 1 0"/><parent link="base"/>
    <child link="upper"/><limit lower="-3" upper="3" effort="50" velocity="9"/></joint>
  <joint name="elbow" type="continuous"><axis xyz="0 1 0"/><origin xyz="1 0 0"/>
    <parent link="upper"/><child link="lower"/></joint>
  <joint name="grip" type="prismatic"><axis xyz="0 0 1"/><origin xyz="0.5 0 0"/>
    <parent link="lower"/><child link="finger"/>
    <limit lower="0" upper="0.1" effort="20" velocity="1"/><dynamics damping="1"/></joint>
  <joint name="mirror" type="prismatic"><axis xyz="0 0 -1"/><origin xyz="0.5 0 0"/>
    <parent link="lower"/><child link="thumb"/><mimic joint="grip" multiplier="2"/>
    <limit lower="0" upper="0.2" effort="20" velocity="1"/></joint>
</robot>"""
"""Two joints that turn, a gripper of two fingers, one of which follows the other."""

JOINTS = ["shoulder", "elbow", "grip"]

CART = f"""<robot name="cart"><link name="floor"/>{link("sled", 2, MOMENTS)}
  <joint name="glide" type="planar"><axis xyz="0 0 1"/><parent link="floor"/>
    <child link="sled"/></joint></robot>"""

STONE = body_text("stone", moments=MOMENTS)

GHOST = """<robot name="ghost"><link name="base"/><link name="nothing"/>
  <joint name="rail" type="prismatic"><parent link="base"/><child link="nothing"/><axis/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


class Unserved(CallbackGroup):
    """Subscriptions that no executor serves: their messages are taken by who wants them."""

    def can_execute(self, entity: Any) -> bool:
        """None."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """None."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """None began."""


class Heard(list[Any]):
    """The messages of a topic, taken from their subscription some at a time.

    An executor needs 1 ms for each of the hundreds that come in a second.
    """

    def __init__(self, subscription: Any) -> None:
        super().__init__()
        self._subscription, self._one_at_a_time = subscription, threading.Lock()

    def take(self) -> None:
        """Add what has come since."""
        with self._one_at_a_time, self._subscription.handle:
            handle, kind = self._subscription.handle, self._subscription.msg_type
            while taken := handle.take_message(kind, False):
                self.append(taken[0])

    def clear(self) -> None:
        """Drop all that has come."""
        self.take()
        super().clear()


class Rig:
    """A context, an executor in a thread, a client node and the nodes under test.

    A second thread takes the messages that the client hears.
    """

    def __init__(self, domain: int = DOMAIN) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.client = rclpy.create_node("client", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.client)
        self.nodes: list[Any] = []
        self._closing = False
        self._unserved = Unserved()
        self._heard: list[Heard] = []
        self._threads = [threading.Thread(target=one) for one in (self._spin, self._hear)]
        for thread in self._threads:
            thread.start()

    def add(
        self,
        kind: type,
        /,
        namespace: str = "",
        remap: Sequence[tuple[str, str]] = (),
        **parameters: Any,
    ) -> Any:
        """Start a node with parameters."""
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        rules = [part for old, new in remap for part in ("-r", f"{old}:={new}")]
        node = kind(
            context=self.context, parameter_overrides=overrides, namespace=namespace,
            cli_args=["--ros-args", *rules],
        )  # fmt: skip
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def call(self, kind: Any, service: str, /, **fields: Any) -> Any:
        """Call a service, with a request of these fields."""
        client = self.client.create_client(kind, service)
        try:
            assert client.wait_for_service(timeout_sec=PATIENCE), f"no service {service}"
            future = client.call_async(kind.Request(**fields))
            self.wait(future.done)
            return future.result()
        finally:
            self.client.destroy_client(client)

    def listen(self, kind: Any, topic: str, qos: Any = 1000) -> list[Any]:
        """A list that fills with the messages of a topic."""
        subscription = self.client.create_subscription(
            kind, topic, lambda message: None, qos, callback_group=self._unserved
        )
        self._heard.append(Heard(subscription))
        return self._heard[-1]

    def publisher(self, kind: Any, topic: str, qos: Any = 10) -> Any:
        """A publisher that has found its subscriber."""
        publisher = self.client.create_publisher(kind, topic, qos)
        self.wait(lambda: publisher.get_subscription_count() > 0)
        return publisher

    def wait(self, ready: Callable[[], Result], limit: float = PATIENCE) -> Result:
        """What `ready` returns when it is true."""
        end = time.monotonic() + limit
        while True:
            self._take()
            if result := ready():
                return result
            assert time.monotonic() < end, "nothing came in time"
            time.sleep(0.005)

    def set(self, node: Any, **parameters: Any) -> str:
        """Set parameters as a service call does; return the reason of a refusal."""
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        result = node.set_parameters_atomically(overrides)
        return "" if result.successful else result.reason or "refused"

    def close(self) -> None:
        """End everything."""
        for node in self.nodes:
            node.stop()
        self._closing = True
        self.executor.create_task(lambda: None)  # it looks up
        for thread in self._threads:
            thread.join()
        self.executor.shutdown()
        for node in [*self.nodes, self.client]:
            node.destroy_node()
        rclpy.shutdown(context=self.context)

    def _spin(self) -> None:
        while not self._closing:
            self.executor.spin_once()

    def _hear(self) -> None:
        while not self._closing:
            self._take()
            time.sleep(0.005)

    def _take(self) -> None:
        for messages in list(self._heard):
            messages.take()


FORKS = """
import json, os, sys
from mbdyn_ros.executables import NODES, run
from importlib import import_module

for module in NODES.values():
    import_module(module, "mbdyn_ros")
for line in sys.stdin:
    node, arguments, environment, output = json.loads(line)
    child = os.fork()
    if not child:
        os.environ.clear()
        os.environ.update(environment)
        file = os.open(output, os.O_CREAT | os.O_WRONLY)
        os.dup2(file, 1)
        os.dup2(file, 2)
        sys.argv = [node, "--ros-args", *arguments]
        run(node)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Forks:
    """Processes of nodes, one after the other, that part from one which has imported all.

    folder : for what they print.
    """

    def __init__(self, folder: Path) -> None:
        self._output = folder / "printed"
        self._child = 0
        self._parent = subprocess.Popen(
            [sys.executable, "-c", FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def start(self, node: str, *arguments: str) -> int:
        """Start a node with its `--ros-args`; return its process number."""
        assert self._parent.stdin is not None
        self._end_left_over()
        self._output.unlink(missing_ok=True)
        environment = {**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)}
        job = node, arguments, environment, str(self._output)
        print(json.dumps(job), file=self._parent.stdin, flush=True)
        self._child = self._reported()
        return self._child

    def printed(self) -> str:
        """What it has printed so far."""
        return self._output.read_text() if self._output.exists() else ""

    def ended(self) -> tuple[int, str]:
        """Its exit code, when it has one, and what it printed."""
        code, self._child = self._reported(), 0
        return code, self._output.read_text()

    def close(self) -> None:
        """End the process that they part from."""
        self._end_left_over()
        _, complaints = self._parent.communicate(timeout=PATIENCE)
        assert self._parent.returncode == 0 and not complaints, complaints

    def _end_left_over(self) -> None:
        """A test that failed half way left its node: the next one would wait for it forever."""
        if self._child:
            with suppress(ProcessLookupError):
                os.kill(self._child, signal.SIGKILL)
            self.ended()

    def _reported(self) -> int:
        assert self._parent.stdout is not None
        return int(self._parent.stdout.readline())


@contextmanager
def running_rig(domain: int = DOMAIN) -> Iterator[Rig]:
    """A rig whose nodes leave no thread behind."""
    before = set(threading.enumerate())
    one = Rig(domain)
    yield one
    one.close()
    assert set(threading.enumerate()) <= before


@pytest.fixture
def rig(interpreted: None) -> Iterator[Rig]:
    """A rig of one test."""
    with running_rig() as one:
        yield one


@pytest.fixture(scope="module")
def shared_rig(interpreted_module: None) -> Iterator[Rig]:
    """A rig for nodes that tests of a file only ask."""
    with running_rig(SHARED_DOMAIN) as one:
        yield one


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts an executable with its `--ros-args`; none outlives its test."""
    started = []

    def start(node: str, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [str(Path(sys.executable).with_name(f"mbdyn_{node}")), "--ros-args", *arguments],
            env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
            process.communicate()
