"""The parameters of the nodes of piezo robots: a table for each."""

from __future__ import annotations

from dataclasses import replace

from ...ros.node.description import GRAVITY, PRIORITY, SPECS
from ...ros.node.managed_node import AUTOSTART
from ...ros.node.parameters import Spec, one_of
from ...ros.nodes.parameters import INITIAL, LONGEST_GAP, LONGEST_WAIT, MARKER_RATE, STATE_TIMEOUT
from .rotor_state import PHASE_SOURCES

SHARED = (
    *SPECS,
    replace(GRAVITY, read_only=True),
    PRIORITY,
    Spec("rotor_link", "gripper", "link that carries the rotor, at its origin, about its z axis",
         read_only=True),
    Spec("rotor_mass", 0.002, "unbalance of the rotor, kg", 0.0, 1000.0, read_only=True),
    Spec("rotor_radius", 0.005, "distance of the unbalance from the axis, m", 0.0, 100.0,
         read_only=True),
)  # fmt: skip

PIEZO_CONTROLLER = (
    *SHARED,
    AUTOSTART,
    Spec("rate", 1000.0, "cycles per second, Hz", 1.0, 5000.0),
    Spec(
        "rotor_source", PHASE_SOURCES[0], "source of the phase: topic (rotor_state), or clock "
        "(rotor_speed x time)",
        read_only=True,
        check=one_of(PHASE_SOURCES),
    ),
    Spec("rotor_speed", 1000.0, "of the rotor with rotor_source clock, rad/s",
         0.0, 1e5),
    Spec("rotor_timeout", 0.1, "age at which rotor_state is stale, s", 0.001, 3600.0),
    Spec("gain", 50.0, "of the position feedback, 1/s; never more than the rate", 0.0, 1000.0),
    Spec("tolerance", 1e-5, "error that is ignored, rad or m", 0.0, 1.0),
    STATE_TIMEOUT,
    Spec(
        "reference_timeout", 2.0,
        "time after the last point at which the pulses end, s; 0: never", 0.0, 3600.0,
    ),
    LONGEST_WAIT,
    LONGEST_GAP,
    Spec(
        "saturation_timeout", 0.5,
        "time in saturation after which a joint's pulses end, s; 0: at once", 0.0, 3600.0,
    ),
    Spec("target_link", "", "link that ~/target is about; empty: rotor_link", read_only=True),
    Spec("target_orientation", False, "whether the orientation of ~/target counts"),
    Spec("target_speed", 0.2, "of the fastest joint moving to ~/target, rad/s or m/s",
         1e-6, 1000.0),
)  # fmt: skip

PIEZO_SIMULATOR = (
    *SHARED,
    Spec("rate", 1000.0, "joint states and steps per second, Hz", 1.0, 5000.0),
    Spec("rotor_speed", 1000.0, "of the rotor, rad/s; 0: at rest, and all joints are held", 0.0,
             1e5),
    Spec("phase_step", 0.25, "largest part of a turn that one integration step covers, rad",
         0.001, 1.0, read_only=True),
    Spec("pulse_timeout", 0.1, "age of the pulses at which all joints are held, s", 0.001, 3600.0),
    *INITIAL,
    MARKER_RATE,
)  # fmt: skip
