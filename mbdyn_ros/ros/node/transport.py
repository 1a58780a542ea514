"""The way of a node's messages: by UDP, past the shared memory of Fast DDS.

There every message is handed over under a lock that lies in the reader's memory. A process that is
stopped while it holds that lock (Ctrl-Z in the terminal of RViz, a debugger) keeps all who publish
to it for 1 s: one stop in fifty. UDP waits for nobody, and takes 0.1 ms more.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import escape

import rclpy

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

# What ROS asks of Fast DDS for the range LOCALHOST, whatever the variables above say; but for the
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
