"""The nodes that publish on a topic, by name: a second one is noticed."""

from __future__ import annotations

from collections.abc import Collection
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


def others_on(node: Node, publisher: Any) -> list[str]:
    """Full names of the nodes that publish where this publisher of a node does."""
    names, own = senders_of(node, publisher.topic_name), node.get_fully_qualified_name()
    if own in names:
        names.remove(own)
    return names
