"""The rates and steps of the simulator's loop, from its parameters."""

from __future__ import annotations

from dataclasses import dataclass

from ..node.parameters import Parameters


@dataclass(frozen=True)
class Settings:
    """Rates and steps of the loop.

    rate : steps per simulated second, Hz; `loop_rate` per second of the world.
    step : of the integration, s; `substeps` of them in one step.
    timeout : of commands, s. unchanged : how long they may stay the same, s; 0: ever.
    hold_at_start : whether joints keep their first position until they are commanded.
    servo_frequency : of joints that follow positions or velocities, Hz.
    every : how many steps for one message of joint states.
    """

    rate: float
    loop_rate: float
    step: float
    substeps: int
    timeout: float
    unchanged: float
    hold_at_start: bool
    servo_frequency: float
    every: int

    @staticmethod
    def read(values: Parameters) -> Settings:
        """The settings for the values of the parameters."""
        rate, substeps = values["rate"], values["substeps"]
        return Settings(
            rate=rate,
            loop_rate=rate * values["real_time_factor"],
            step=1.0 / (rate * substeps),
            substeps=substeps,
            timeout=values["command_timeout"],
            unchanged=values["unchanged_timeout"],
            hold_at_start=values["hold_at_start"],
            servo_frequency=values["servo_frequency"],
            every=max(1, round(rate / (values["publish_rate"] or rate))),
        )
