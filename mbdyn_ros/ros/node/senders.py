"""The nodes that publish on a topic, by name: a second one is noticed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from rclpy.node import Node

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
    """The id of a message's publisher; empty where the middleware does not tell."""
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
        self.count = self._told = 0
        self._last: dict[bytes, int] = {}

    def heed(self, info: Mapping[str, Any]) -> None:
        """Look at the number of a message; none where the middleware does not tell."""
        number, sender = info["publication_sequence_number"] or 0, sender_id(info)
        last = self._last.get(sender, number)
        self.count += max(0, number - last - 1)
        self._last[sender] = max(number, last)

    def since_asked(self) -> int:
        """How many were lost since this was asked before."""
        lost, self._told = self.count - self._told, self.count
        return lost


def others_on(node: Node, publisher: Any) -> list[str]:
    """Full names of the nodes that publish where this publisher of a node does."""
    names, own = senders_of(node, publisher.topic_name), node.get_fully_qualified_name()
    if own in names:
        names.remove(own)
    return names
