"""A hydraulic cylinder in time: pressures of its chambers and its valve's spool.

With the areas A of the piston's sides, the way x of the piston and its speed v, oil flows as

    p_a' = beta(p_a) / V_a (Q_a - A_a v - leak),   V_a = dead + A_a x
    p_b' = beta(p_b) / V_b (Q_b + A_b v + leak),   V_b = dead + A_b (stroke - x)

through four edges of the valve by the orifice law Q = K u sqrt(dp), K = flow / sqrt(drop), which
is linear below `LAMINAR`. Air in the oil gives way: beta falls with the pressure to nothing at a
vacuum, which is therefore never passed. Above `relief` a chamber opens to the tank, and below the
tank's pressure it draws oil from there.
"""

from __future__ import annotations

import math

from ...model.actuators import HydraulicCylinder

ATMOSPHERE = 101325.0
"""Pa, on the rod, and of the air that oil takes along."""

ADIABATIC = 1.4
"""Exponent of the air's compression."""

LAMINAR = 1e4
"""Pressure drop (Pa) below which flow through an edge is proportional to it."""

OVERRIDE = 0.02
"""Share of its pressure by which a relief valve is exceeded at the rated flow."""

VACUUM = 1.0
"""Pa, the least pressure that oil has here."""


class Cylinder:
    """The equations of one cylinder. Its states are pressures in units of the supply, and u.

    labels, scale : of the states, and their units (Pa, Pa, 1). size : how many there are.
    largest : of its command, the wanted opening of its valve: 1 lets the rod out.
    """

    unit = ""
    largest = 1.0

    def __init__(self, data: HydraulicCylinder) -> None:
        self.data = data
        self.name, self.joint = data.name, data.joint
        self.area = math.pi / 4 * data.bore**2
        self.ring = math.pi / 4 * (data.bore**2 - data.rod**2)
        self.conductance = data.valve.flow / math.sqrt(data.valve.drop)
        self.lags = data.valve.bandwidth > 0.0
        names = ("pressure_a", "pressure_b", *["opening"] * self.lags)
        self.labels = tuple(f"{data.name}/{name}" for name in names)
        self.scale = (data.supply, data.supply, *[1.0] * self.lags)
        self.size = len(self.labels)

    @property
    def fastest(self) -> float:
        """Greatest rate (1/s) at which its states settle, about."""
        slope = self.conductance / math.sqrt(LAMINAR)
        relief = self.data.valve.flow / (OVERRIDE * self.data.relief)
        return self.data.bulk_modulus / self.data.dead_volume * (slope + relief)

    def start(self, force: float) -> list[float]:
        """States at rest that hold a force (N), as far as supply and relief let them."""
        data = self.data
        low = data.tank + 0.1 * (data.supply - data.tank)
        b = max(low, ((self.area * low - force) + self._rod_force) / self.ring)
        b = min(b, data.relief)
        a = min(max((force + self.ring * b - self._rod_force) / self.area, data.tank), data.relief)
        return [a / data.supply, b / data.supply, *[0.0] * self.lags]

    @property
    def _rod_force(self) -> float:
        """Force (N) of the air on the rod, against the way out, as in `force`."""
        return -ATMOSPHERE * (self.area - self.ring)

    def force(self, states: list[float], speed: float, command: float) -> float:
        """Force (N) on the joint."""
        a, b = (one * self.data.supply for one in states[:2])
        pushed = a * self.area - b * self.ring + self._rod_force
        return pushed - self.data.friction.force(speed)

    def rates(self, states: list[float], place: float, speed: float, command: float) -> list[float]:
        """Rates (1/s) of the states at the joint's position (m), its speed and a command."""
        data = self.data
        a, b = (max(one * data.supply, VACUUM) for one in states[:2])
        opening = states[2] if self.lags else command
        out, back = max(opening, 0.0), max(-opening, 0.0)
        supply, tank = data.supply, data.tank
        flow_a = out * self._flow(supply - a) - back * self._flow(a - tank)
        flow_b = back * self._flow(supply - b) - out * self._flow(b - tank)
        leak = data.leakage * (a - b)
        flow_a += self._guard(a) - leak
        flow_b += self._guard(b) + leak
        x = min(max(place + data.extension, 0.0), data.stroke)
        volume_a = data.dead_volume + self.area * x
        volume_b = data.dead_volume + self.ring * (data.stroke - x)
        result = [
            self._bulk(a) / volume_a * (flow_a - self.area * speed) / supply,
            self._bulk(b) / volume_b * (flow_b + self.ring * speed) / supply,
        ]
        if self.lags:
            result.append(2 * math.pi * data.valve.bandwidth * (command - opening))
        return result

    def _flow(self, drop: float) -> float:
        """Flow (m^3/s) over one edge, wide open."""
        return self.conductance * drop / (drop * drop + LAMINAR * LAMINAR) ** 0.25

    def _guard(self, pressure: float) -> float:
        """Flow (m^3/s) in from the tank below its pressure, out to it above relief."""
        data = self.data
        if pressure < data.tank:
            return self._flow(data.tank - pressure)
        return -data.valve.flow / (OVERRIDE * data.relief) * max(pressure - data.relief, 0.0)

    def _bulk(self, pressure: float) -> float:
        """Bulk modulus (Pa) of the oil with its air."""
        share = self.data.air
        if not share:
            return self.data.bulk_modulus
        air = share * (ATMOSPHERE / pressure) ** (1 / ADIABATIC) / (ADIABATIC * pressure)
        return 1 / (1 / self.data.bulk_modulus + air)
