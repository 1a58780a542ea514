"""A subscription that a loop reads itself, past the executor, and the publishers that it heeds.

An executor in Python takes 200 us and more to deliver a message, and delivers it from another
thread; here a look for a message costs 1 us, taking one 3 us, and rclpy's reading of it 30 us.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile

UNKNOWN = "a node that is gone"


def senders_of(node: Node, topic: str, known: Collection[bytes] | None = None) -> list[str]:
    """Full names of the nodes that publish on a topic, one for each publisher.

    Parameters
    ----------
    topic : its full name.
    known : ids of the publishers that are asked about; default all.
    """
    found = [
        f"{one.node_namespace.rstrip('/')}/{one.node_name}"
        for one in node.get_publishers_info_by_topic(topic)
        if known is None or bytes(one.endpoint_gid) in known
    ]
    return sorted(found) + [UNKNOWN] * (len(known or ()) - len(found))


def sender_id(info: Mapping[str, Any]) -> bytes:
    """The id of a message's publisher; empty where the middleware does not give it."""
    return bytes((info["publisher_gid"] or {}).get("data", b""))


class Senders:
    """The publishers on a topic whose messages had an effect lately.

    Parameters
    ----------
    topic : as the subscription gave it.
    """

    def __init__(self, node: Node, topic: str) -> None:
        self._node, self._topic = node, node.resolve_topic_name(topic)
        self._heeded: set[bytes] = set()

    def heed(self, sender: bytes) -> None:
        """Count a message of this publisher."""
        self._heeded.add(sender)

    def names(self) -> list[str]:
        """Full names of their nodes, of the time since this was asked before."""
        heeded, self._heeded = self._heeded, set()
        return senders_of(self._node, self._topic, heeded) if heeded else []


class Gaps:
    """Messages that publishers numbered and that never came: queues that were full.

    Attributes
    ----------
    count : of them in all.
    """

    def __init__(self) -> None:
        self.count = self._reported = 0
        self._last: dict[bytes, int] = {}

    def heed(self, info: Mapping[str, Any]) -> None:
        """Look at the number of a message; none where the middleware does not give one."""
        number, sender = info["publication_sequence_number"] or 0, sender_id(info)
        last = self._last.get(sender, number)
        self.count += max(0, number - last - 1)
        self._last[sender] = max(number, last)

    def since_asked(self) -> int:
        """How many were lost since this was asked before."""
        lost, self._reported = self.count - self._reported, self.count
        return lost


def others_on(node: Node, publisher: Any) -> list[str]:
    """Full names of the nodes that publish where this publisher of a node does."""
    names, own = senders_of(node, publisher.topic_name), node.get_fully_qualified_name()
    if own in names:
        names.remove(own)
    return names


class _NotExecuted(CallbackGroup):
    """Keeps the executor away from its entities."""

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        pass


class Inbox:
    """The messages of a topic, as they come. One thread may read; stop it before the node ends.

    Parameters
    ----------
    read : makes a message of its bytes; by default rclpy does.

    Attributes
    ----------
    sender : id of the publisher of the message that was taken last.
    sequence : its number among all that were published there.
    topic : as it was given.
    """

    def __init__(
        self, node: Node, kind: Any, topic: str, qos: QoSProfile | int,
        read: Callable[[bytes], Any] | None = None,
    ) -> None:  # fmt: skip
        self._node, self._kind, self.topic, self._read = node, kind, topic, read
        self.sender, self._senders = b"", Senders(node, topic)
        self.sequence = 0
        self._group = _NotExecuted()
        self._subscription = node.create_subscription(
            kind, topic, lambda message: None, qos, callback_group=self._group
        )
        self._handle = self._subscription.handle
        assert node.context.handle is not None
        self._waiting = _rclpy.WaitSet(1, 0, 0, 0, 0, 0, node.context.handle)
        self._listens = False

    def __iter__(self) -> Iterator[Any]:
        """Take every waiting message, oldest first."""
        while (message := self.take()) is not None:
            yield message

    def take(self) -> Any:
        """The oldest waiting message; None where there is none."""
        read = self._read
        taken = self._handle.take_message(self._kind, read is not None)
        if taken is None:
            return None
        message, info = taken
        self.sender = sender_id(info)
        self.sequence = info["publication_sequence_number"] or 0
        return message if read is None else read(message)

    def wait(self, timeout: float) -> bool:
        """Wait, without the interpreter, until a message is there, s at most; whether one is."""
        waiting = self._waiting
        if not self._listens:  # rcl drops from a wait set what nothing came to
            waiting.clear_entities()
            waiting.add_subscription(self._handle)
        waiting.wait(round(timeout * 1e9))
        self._listens = waiting.is_ready("subscription", 0)
        return self._listens

    def close(self) -> None:
        """Stop receiving; the inbox may not be read afterwards."""
        self._node.destroy_subscription(self._subscription)

    def heed(self) -> None:
        """Count the message that was taken last: it had an effect."""
        self._senders.heed(self.sender)

    def senders(self) -> list[str]:
        """Names of the nodes whose messages had an effect since this was asked before."""
        return self._senders.names()
