"""A node next to those that are measured."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor

NAMESPACE = "bench"
PATIENCE = 60.0
"""s, until a node is there, or answers."""


class Peer:
    """A node whose executor turns only while something is waited for.

    name : what its complaints begin with.
    """

    def __init__(self, context: rclpy.Context, name: str) -> None:
        self.node: Any = rclpy.create_node(name, namespace=NAMESPACE, context=context)
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self.node)

    def until(self, ready: Callable[[], object], what: str) -> None:
        """Turn the executor until that; end with what is missing where it never comes."""
        end = time.monotonic() + PATIENCE
        while not ready():
            if time.monotonic() > end:
                sys.exit(f"{self.node.get_name()}: {what} in {PATIENCE:g} s")
            self._executor.spin_once(timeout_sec=0.002)

    def turn(self, seconds: float) -> None:
        """Turn the executor for a while."""
        end = time.perf_counter() + seconds
        while (rest := end - time.perf_counter()) > 0:
            self._executor.spin_once(timeout_sec=rest)

    def client(self, kind: Any, service: str) -> Any:
        """A client that has found its service."""
        client = self.node.create_client(kind, service)
        self.until(client.service_is_ready, f"no service {service}")
        return client

    def call(self, kind: Any, service: str, **fields: Any) -> Any:
        """The answer of a service."""
        future = self.client(kind, service).call_async(kind.Request(**fields))
        self.until(future.done, f"no answer of {service}")
        return future.result()


@contextmanager
def private_domain() -> Iterator[tuple[rclpy.Context, Mapping[str, str]]]:
    """A context in a domain of this measurement's own, and what nodes in it have as environment."""
    domain = int(os.environ.get("ROS_DOMAIN_ID") or random.randint(1, 100))
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    try:
        yield (
            context,
            {"ROS_DOMAIN_ID": str(domain), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
    finally:
        rclpy.shutdown(context=context)
