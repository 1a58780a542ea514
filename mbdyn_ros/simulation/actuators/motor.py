"""An electric drive in time: the current of its motor.

V = R i + L i' + k w with the speed w = ratio v of the motor; the joint feels ratio k i. The rotor's
inertia is the joint's armature.
"""

from __future__ import annotations

from ...model.actuators import ElectricDrive


class Motor:
    """The equations of one drive. Its state is the current (A), none without inductance.

    labels, scale : of the states, and their units; unit_current is that of the current (A).
    largest : of its command, V.
    """

    unit = " V"

    def __init__(self, data: ElectricDrive) -> None:
        self.data = data
        self.name, self.joint, self.largest = data.name, data.joint, data.voltage
        self.labels = (f"{data.name}/current",) if data.inductance else ()
        self.unit_current = data.voltage / data.resistance
        self.scale = (self.unit_current,) if data.inductance else ()
        self.size = len(self.labels)

    @property
    def fastest(self) -> float:
        """Greatest rate (1/s) at which its current settles."""
        return self.data.resistance / self.data.inductance if self.size else 0.0

    def start(self, force: float) -> list[float]:
        """The current that holds a force (N) or torque (N m)."""
        if not self.size:
            return []
        return [force / (self.data.ratio * self.data.torque_constant) / self.unit_current]

    def current(self, states: list[float], speed: float, command: float) -> float:
        """Current, A."""
        if self.size:
            return states[0] * self.unit_current
        return (command - self._emf(speed)) / self.data.resistance

    def force(self, states: list[float], speed: float, command: float) -> float:
        """Force (N) or torque (N m) on the joint."""
        torque = self.data.torque_constant * self.current(states, speed, command)
        return self.data.ratio * torque - self.data.friction.force(speed)

    def rates(self, states: list[float], place: float, speed: float, command: float) -> list[float]:
        """Rate (1/s) of the state."""
        if not self.size:
            return []
        dropped = self.data.resistance * states[0] * self.unit_current + self._emf(speed)
        return [(command - dropped) / self.data.inductance / self.unit_current]

    def _emf(self, speed: float) -> float:
        return self.data.torque_constant * self.data.ratio * speed
