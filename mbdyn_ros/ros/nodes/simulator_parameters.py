"""The parameters of the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..node.description import FLOATING_BASE, GRAVITY, PRIORITY, SPECS
from ..node.parameters import DOUBLES, STRINGS, Spec

PARAMETERS = (
    *SPECS,
    FLOATING_BASE,
    GRAVITY,
    PRIORITY,
    Spec("rate", 1000.0, "steps per simulated second, Hz", 1.0, 10000.0),
    Spec("substeps", 1, "integration steps in one step", 1, 1000),
    Spec("real_time_factor", 1.0, "simulated seconds per second", 0.001, 1000.0),
    Spec(
        "publish_rate", 0.0, "joint states per simulated second, Hz; 0: every step", 0.0, 10000.0
    ),
    Spec(
        "joints", STRINGS, "order of ~/commands; empty: all actuated joints", read_only=True
    ),
    Spec("command_timeout", 0.5, "age at which a command counts as zero, s", 0.001, 3600.0),
    Spec("enforce_effort_limits", True, "clamp efforts to <limit effort> of the URDF"),
    Spec(
        "initial_joints", STRINGS, "joints of initial_positions; empty: all", read_only=True
    ),
    Spec("initial_positions", DOUBLES, "position at the start, rad or m; others 0",
         read_only=True),
    Spec(
        "environment", "", "walls that points of the robot hit: path of a YAML file, or its text",
        read_only=True,
    ),
    Spec("start_paused", False, "wait for ~/pause with data: false", read_only=True),
    Spec("publish_clock", False, "publish simulated time on /clock and in stamps",
         read_only=True),
    Spec("frame_id", "", "frame of the joint states; empty: the root link", read_only=True),
    Spec("marker_rate", 30.0, "~/markers per second, Hz; 0: none", 0.0, 100.0, read_only=True),
    Spec(
        "marker_scale", 0.3,
        "length of the arrow of a full effort, and of the robot's mass times 1 m/s, m",
        0.001, 100.0, read_only=True,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """What follows from the parameters for the loop.

    rate : steps per simulated second, Hz; `loop_rate` per second of the world.
    step : of the integration, s; `substeps` of them in one step.
    timeout : of commands, s.
    every : how many steps for one message of joint states.
    """

    rate: float
    loop_rate: float
    step: float
    substeps: int
    timeout: float
    every: int

    @staticmethod
    def read(values: Mapping[str, Any]) -> Settings:
        """The settings for the values of all parameters."""
        rate, substeps = values["rate"], values["substeps"]
        return Settings(
            rate=rate,
            loop_rate=rate * values["real_time_factor"],
            step=1.0 / (rate * substeps),
            substeps=substeps,
            timeout=values["command_timeout"],
            every=max(1, round(rate / (values["publish_rate"] or rate))),
        )
