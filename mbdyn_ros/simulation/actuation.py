"""The actuators of a robot as efforts, by states integrated with its motion or next to it.

The states go over a step at the joints' speeds as they are at its start, by a linearly implicit
method of order 2 (Rosenbrock, L-stable), and the forces that follow act in the whole step. So
pressures and speeds take turns, as positions and velocities do in the semi-implicit method: a
column of oil swings without gaining energy while the step is below a third of its period.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from ..compiler.kernel import Bound
from ..equations.programs import joint_position, joint_velocity
from ..errors import InputError, SimulationError, suggestion
from ..model.actuators import ElectricDrive, HydraulicCylinder
from ..model.model import Array
from ..robot import Robot
from .effort import EffortFunction

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
    """A hydraulic cylinder. Its states are pressures in units of the supply, and its valve's u.

    With the areas A of the piston's sides, its position x and its speed v, oil flows as

        p_a' = beta(p_a) / V_a (Q_a - A_a v - leak),   V_a = dead + A_a x
        p_b' = beta(p_b) / V_b (Q_b + A_b v + leak),   V_b = dead + A_b (stroke - x)

    through four edges of the valve by the orifice law Q = K u sqrt(dp), K = flow / sqrt(drop),
    which is linear below `LAMINAR`. Air in the oil gives way: beta falls with the pressure to
    nothing at a vacuum, which is therefore never passed. Above `relief` a chamber opens to the
    tank, and below the tank's pressure it draws oil from there.

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


class Motor:
    """An electric drive. Its state is the current (A), none without inductance.

    V = R i + L i' + k w with the speed w = ratio v of the motor; the joint feels ratio k i. The
    rotor's inertia is the joint's armature.

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


Commands = Callable[[float, Array, Array], Array]
"""Openings of valves (-1 to 1) and voltages of motors, at the time (s) and the state q, v."""


Equations = Cylinder | Motor


def equations(robot: Robot) -> list[Equations]:
    """Those of every actuator of a robot.

    Raises
    ------
    InputError
        The joint of one is not actuated.
    """
    efforts, source = robot.effort_labels, robot.model.source
    for one in robot.model.actuators:
        if one.joint not in efforts:
            raise InputError(
                f"{source}: actuator {one.name!r} moves joint {one.joint!r}, which is not "
                f"actuated; the actuated joints are {', '.join(efforts)}"
            )
    return [
        Cylinder(one) if isinstance(one, HydraulicCylinder) else Motor(one)
        for one in robot.model.actuators
    ]


class Actuation:
    """Efforts of actuated joints by their actuators, on top of others.

    An `EffortFunction`: a call reads `states` and writes `rates`.

    Parameters
    ----------
    robot : of a description with actuators.
    commands : (n,) in the order of `names`, or a function commands(t, q, v) -> (n,).
    others : efforts of other joints, which add up with theirs.

    Attributes
    ----------
    names : of the actuators, in the order of their commands.
    labels, scale : of the states (k,), and the units that they are counted in.
    states, rates : (k,) scaled, and their rates (1/s) as of the last call.

    Raises
    ------
    InputError
        There are no actuators, the joint of one is not actuated, or commands are out of range.
    """

    def __init__(self, robot: Robot, commands: object, others: EffortFunction) -> None:
        if not robot.model.actuators:
            raise InputError(
                f"{robot.model.source}: commands are of actuators, and the robot has none: give "
                "them in a side-car file under actuators (docs/actuators.md), or give efforts"
            )
        self.parts = equations(robot)
        self.names = tuple(part.name for part in self.parts)
        self._source, self._others = robot.model.source, others
        efforts = list(robot.effort_labels)
        self._places = [efforts.index(part.joint) for part in self.parts]
        self.labels = tuple(label for part in self.parts for label in part.labels)
        self.scale = np.array([unit for part in self.parts for unit in part.scale])
        self.states, self.rates = np.zeros((2, len(self.labels)))
        self._commands = self._checked(commands)
        self._position = Bound(robot.calls.kernel(joint_position))
        self._velocity = Bound(robot.calls.kernel(joint_velocity))
        bodies = {body.label: body for body in robot.system.tree.bodies}
        joints = [bodies[part.joint] for part in self.parts]
        self._in_q = [body.q.start for body in joints]
        self._in_v = [body.v.start for body in joints]

    @property
    def fastest(self) -> float:
        """Greatest rate (1/s) at which states settle, about."""
        return max(part.fastest for part in self.parts)

    def rest(self, robot: Robot, q: Array, given: Mapping[str, float] | None) -> None:
        """Take states that hold the robot at rest, and those that are given by label."""
        v = np.zeros(robot.nv)
        efforts = np.zeros(len(robot.effort_labels))
        if len(efforts) >= robot.nv:  # else no efforts hold it
            efforts = robot.inverse_dynamics(q, v, v) - self._others(0.0, q, v)
        states: list[float] = []
        for part, place in zip(self.parts, self._places, strict=True):
            states += part.start(float(efforts[place]))
        self.states[:] = states
        for label, value in (given or {}).items():
            if label not in self.labels:
                raise InputError(
                    f"{self._source}: no actuator has the state {label!r}"
                    f"{suggestion(label, self.labels)}; there are {', '.join(self.labels)}"
                )
            k = self.labels.index(label)
            number = float(value)
            if not math.isfinite(number) or (label.endswith(tuple("ab")) and number < 0):
                raise InputError(f"{self._source}: {label} cannot start at {value!r}")
            self.states[k] = number / self.scale[k]

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Efforts (n,) at the states in `states`."""
        commands = self._commands(t, q, v)
        self._position.q[:] = self._velocity.q[:] = q
        self._velocity.v[:] = v
        self._position()
        self._velocity()
        places, speeds = self._position.result, self._velocity.result
        result = np.array(self._others(t, q, v), dtype=np.float64)
        states, rates = self.states.tolist(), []
        first = 0
        for k, part in enumerate(self.parts):
            own = states[first : first + part.size]
            place, speed = float(places[self._in_q[k]]), float(speeds[self._in_v[k]])
            if not math.isfinite(place + speed + sum(own)):  # a trial beyond what can be reached
                result[self._places[k]] = math.nan
                rates += [math.nan] * part.size
            else:
                result[self._places[k]] += part.force(own, speed, commands[k])
                rates += part.rates(own, place, speed, commands[k])
            first += part.size
        self.rates[:] = rates
        return result

    def _checked(self, commands: object) -> Callable[[float, Array, Array], list[float]]:
        """The commands as a function that refuses what is out of range."""
        if callable(commands):
            function = commands

            def at(t: float, q: Array, v: Array) -> list[float]:
                if not math.isfinite(q.sum() + v.sum()):
                    return [0.0] * len(self.parts)
                return self._in_range(
                    function(float(t), q.copy(), v.copy()), SimulationError, f" at t = {t:.9g} s"
                )

            return at
        constant = self._in_range(commands, InputError, "")
        return lambda t, q, v: constant

    def _in_range(
        self, given: object, kind: type[InputError | SimulationError], when: str
    ) -> list[float]:
        """The commands as numbers, refused by the name of an actuator."""
        try:
            numbers = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            numbers = np.zeros(0)
        if numbers.shape != (len(self.parts),):
            raise kind(
                f"{self._source}: commands are {given!r}{when}; expected {len(self.parts)} numbers "
                f"in the order {', '.join(self.names)}"
            )
        for part, number in zip(self.parts, numbers.tolist(), strict=True):
            if not abs(number) <= part.largest:
                what = "voltage" if part.unit else "valve command"
                raise kind(
                    f"{self._source}: the {what} of {part.name!r} is {number:g}{part.unit}{when}; "
                    f"it must be from {-part.largest:g} to {part.largest:g}{part.unit}"
                )
        result: list[float] = numbers.tolist()
        return result


GAMMA = 1.0 - math.sqrt(0.5)
"""Of the method, for which it is L-stable."""

NUDGE = 1e-7
"""Difference of a scaled state from which slopes are taken."""


class SteppedActuation:
    """The actuators of a robot that moves in steps.

    Attributes
    ----------
    labels : of the states. largest : (n,) of the commands, by the efforts of the robot; infinite
        where a joint has no actuator.
    """

    def __init__(self, robot: Robot) -> None:
        self._parts = equations(robot)
        efforts, joints = robot.effort_labels, robot.system.coordinates.joint_labels
        self._places = [efforts.index(part.joint) for part in self._parts]
        self._joints = [joints.index(part.joint) for part in self._parts]
        self.labels = tuple(label for part in self._parts for label in part.labels)
        self._states: list[list[float]] = [part.start(0.0) for part in self._parts]
        self.largest = np.full(len(efforts), np.inf)
        for part, place in zip(self._parts, self._places, strict=True):
            self.largest[place] = part.largest

    @property
    def values(self) -> list[float]:
        """The states in SI units: pressures (Pa), openings, currents (A)."""
        return [
            one * unit
            for part, own in zip(self._parts, self._states, strict=True)
            for one, unit in zip(own, part.scale, strict=True)
        ]

    def rest(self, robot: Robot, q: Array) -> None:
        """Take states that hold the robot at rest, as far as they can."""
        needed = np.zeros(len(robot.effort_labels))
        if len(needed) >= robot.nv:
            still = np.zeros(robot.nv)
            needed = robot.inverse_dynamics(q, still, still)
        held = zip(self._parts, self._places, strict=True)
        self._states = [part.start(float(needed[place])) for part, place in held]

    def take_over(self, other: SteppedActuation) -> None:
        """Go on from the states of another robot's actuators of the same joints."""
        theirs = {part.joint: own for part, own in zip(other._parts, other._states, strict=True)}
        for k, part in enumerate(self._parts):
            self._states[k] = theirs.get(part.joint, self._states[k])

    def drive(self, efforts: Array, positions: Array, speeds: Array, span: float) -> None:
        """Go on by a step (s), and put forces in the place of the commands among `efforts`.

        Parameters
        ----------
        efforts : (n,) commands of joints with actuators, efforts of all others; changed.
        positions, speeds : (m,) of all joints.
        """
        for k, (part, place, joint) in enumerate(
            zip(self._parts, self._places, self._joints, strict=True)
        ):
            command = min(max(float(efforts[place]), -part.largest), part.largest)
            x, v = float(positions[joint]), float(speeds[joint])

            if part.size:
                rates = partial(_rates, part, x, v, command)
                self._states[k] = _over(rates, np.array(self._states[k]), span).tolist()
            efforts[place] = part.force(self._states[k], v, command)


def _rates(part: Equations, x: float, v: float, command: float, states: Array) -> Array:
    return np.array(part.rates(states.tolist(), x, v, command))


def _over(rates: Callable[[Array], Array], y: Array, span: float) -> Array:
    """States after a step."""
    f = rates(y)
    slopes = np.empty((len(y), len(y)))
    for k in range(len(y)):
        moved = y.copy()
        moved[k] += NUDGE
        slopes[:, k] = (rates(moved) - f) / NUDGE
    matrix = np.eye(len(y)) - GAMMA * span * slopes
    first = np.linalg.solve(matrix, f)
    second = np.linalg.solve(matrix, rates(y + span * first) - 2 * first)
    result: Array = y + span * (1.5 * first + 0.5 * second)
    return result
