"""Tables for the C of a step among walls: its programs, its tables, and where a motion stands."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from ...array import Array
from ...compiler.bound import Bound
from ...compiler.compiled_kernel import CompiledKernel
from ...compiler.runtime.library import stepping
from ...equations.contact.contact import ContactGeometry, distances
from ...equations.contact.stepping import (
    RowsLayout,
    RubbingRows,
    contact_rows,
    damped_dynamics,
    damped_mass,
)
from ...equations.position_rate import position_rate
from ...equations.programs import energy, forward_dynamics, mass_matrix
from ...errors import InputError
from ...integration.methods import FixedMethod, RungeKutta
from ...robot import Robot
from ..contact.contacts import Contacts
from ..contact.precision import STEPS_IN_C, Precision

SIZE, NUMBER, ADDRESS = ctypes.c_size_t, ctypes.c_double, ctypes.c_void_p

PROGRAMS = "acceleration", "mass", "distances", "rows", "rate", "energy"
"""Of a robot among walls, in the order of C."""


class Walls(ctypes.Structure):
    """`struct walls` of runtime/walls.h."""

    _fields_ = [
        *((name, ADDRESS) for name in PROGRAMS),
        *((name, SIZE) for name in ("nq", "nv", "ne", "contacts", "rubbing", "bodies", "slots")),
        ("body", ADDRESS),
        ("partner", ADDRESS),
        ("normal", ADDRESS),
        ("point", ADDRESS),
        ("rubs", ctypes.c_int64),
        ("bounds", ctypes.c_int64),
        *((name, ADDRESS) for name in ("still_v", "still_q", "restitution", "friction", "home")),
        *((name, NUMBER) for name in ("touching", "graze", "closed", "slow", "settled", "window")),
        ("stages", ctypes.c_int),
        ("damped", ctypes.c_int),
        ("tableau", ADDRESS),
    ]


class Motion(ctypes.Structure):
    """`struct walled` of runtime/walls.h."""

    _fields_ = [
        ("planes", ADDRESS),
        *((name, ADDRESS) for name in ("q", "v", "effort", "wrenches", "force", "slip", "mode")),
        ("slow", ADDRESS),
        ("whole", ADDRESS),
        *((name, NUMBER) for name in ("time", "step", "lost", "residual", "trimmed")),
        ("impacts", ADDRESS),
        *((name, SIZE) for name in ("hits", "most_hits", "merged")),
        ("memory", ADDRESS),
        ("room", ADDRESS),
    ]


def is_compiled(robot: Robot) -> bool:
    """Whether programs of a robot run in C; else steps cannot."""
    return robot.calls.kernel(mass_matrix).compiled


@dataclass(frozen=True, eq=False)
class Laws:
    """The laws of contacts: e and mu (m,) each, how exact they are, and when they are one (s)."""

    restitution: Array
    friction: Array
    precision: Precision
    tie_window: float


class StepInC:
    """The programs and tables of one robot among walls; serves any number of motions.

    Attributes
    ----------
    walls : what C reads.
    rubbing : rows of dry friction. contacts : how many there are.
    layout : where they stand in the result of `rows`, a bound call at q; None where there are none.
    body, partner : where their bodies stand there, see `RowsLayout`; of slots they change.
    points : of every pair of a point and a wall the place in the body's frame, and the radius.
    """

    def __init__(self, robot: Robot, geometry: ContactGeometry, laws: Laws) -> None:
        system = robot.calls.traced
        damped = system.has("damping") and not system.is_deep
        self.damped = damped
        rubs = RubbingRows.of(system)
        self.contacts, self.rubbing = geometry.count, len(rubs)
        wanted: list[tuple[object, ...]] = [
            (damped_dynamics,) if damped else (forward_dynamics, None, False, False),
            (damped_mass,) if damped else (mass_matrix,),
            (position_rate,),
            (energy,),
        ]
        if self.contacts:
            wanted.append((distances, geometry))
        if self.contacts or self.rubbing:
            wanted.append((contact_rows, geometry))
        kernels = robot.calls.load(*wanted)
        named: dict[str, CompiledKernel] = {}
        for kernel in kernels:
            assert isinstance(kernel, CompiledKernel)
            named[kernel.program.name] = kernel
        self._kernels, self.home = kernels, robot.calls.home
        self.layout = layout = RowsLayout.of(system, geometry)
        self.rows = Bound(named["contact_rows"]) if "contact_rows" in named else None
        labels = {label: i for i, label in enumerate(robot.position_labels)}
        still_v = [k for k, _ in rubs.single] + [-1 for _ in rubs.own]
        still_q = [labels.get(robot.velocity_labels[k], -1) if k >= 0 else -1 for k in still_v]
        self._kept = [
            np.array(one, dtype=np.int64)
            for one in (layout.body, layout.partner, layout.normal, still_v, still_q)
        ]
        self.points = np.array(
            [
                [*point.place, point.radius]
                for point in geometry.points
                for _ in range(len(geometry.faces))
            ]
        ).reshape(-1, 4)
        self._laws = [np.ascontiguousarray(one) for one in (laws.restitution, laws.friction)]
        self.body, self.partner, *_ = self._kept
        body, partner, normal, at_v, at_q = (one.ctypes.data for one in self._kept)

        def program(*names: str) -> int | None:
            found = [named[name] for name in names if name in named]
            return found[0].alone.address.value if found else None

        precision = laws.precision
        self.walls = Walls(
            acceleration=program("damped_dynamics", "forward_dynamics"),
            mass=program("damped_mass", "mass_matrix"),
            distances=program("distances"),
            rows=program("contact_rows"),
            rate=program("position_rate"), energy=program("energy"),
            nq=robot.nq, nv=robot.nv, ne=len(robot.effort_labels),
            contacts=self.contacts, rubbing=self.rubbing, bodies=len(system.tree.bodies),
            slots=geometry.slots,
            body=body, partner=partner, normal=normal, point=self.points.ctypes.data,
            rubs=layout.rubbing, bounds=layout.bound,
            still_v=at_v, still_q=at_q,
            restitution=self._laws[0].ctypes.data, friction=self._laws[1].ctypes.data,
            home=self.home.ctypes.data,
            touching=precision.touching, graze=precision.graze, closed=precision.closed,
            slow=precision.resting_speed, settled=precision.settled, window=laws.tie_window,
        )  # fmt: skip

    @classmethod
    def among(cls, robot: Robot, contacts: Contacts | None) -> StepInC:
        """The programs of a robot with these contacts, or with none."""
        if contacts is None:
            nothing = Laws(np.zeros(0), np.zeros(0), STEPS_IN_C, 0.0)
            return cls(robot, ContactGeometry((), ()), nothing)
        window = contacts.environment.tie_window
        laws = Laws(contacts.restitution, contacts.friction, STEPS_IN_C, window)
        return cls(robot, contacts.geometry, laws)

    def accelerate_by(self, robot: Robot, wrenches: bool) -> None:
        """Let accelerations ask for wrenches on all bodies, or not; motions have new memory."""
        program = damped_dynamics if self.damped else forward_dynamics
        kernel = robot.calls.kernel(program, None, wrenches, self.damped)
        assert isinstance(kernel, CompiledKernel)
        self._kernels.append(kernel)
        self.walls.acceleration = kernel.alone.address.value

    def use(self, method: FixedMethod) -> None:
        """Take the steps of free motion by this method."""
        runs_stages = isinstance(method, RungeKutta)
        self._tableau = (
            np.array([*method.matrix.ravel(), *method.weights, method.divisor])
            if isinstance(method, RungeKutta)
            else np.zeros(1)
        )
        self.walls.stages = len(method.weights) if isinstance(method, RungeKutta) else 0
        self.walls.damped = int(self.damped and not runs_stages)
        self.walls.tableau = self._tableau.ctypes.data


class MotionInC:
    """One motion: its arrays, and the call that takes its steps.

    Attributes
    ----------
    effort, force, slip, mode, slow, whole, impacts : see `struct walled` in C.
    """

    def __init__(self, step: StepInC, q: Array, v: Array, most_impacts: int) -> None:
        self._step, library = step, stepping()
        walls = ctypes.byref(step.walls)
        sizes = (library.room_of_motion, library.memory_of_motion, library.size_of_impact)
        for one in sizes:
            one.restype = SIZE
        self._size_of_memory = lambda: library.memory_of_motion(walls) + 1
        room, impact = library.room_of_motion(walls), library.size_of_impact(walls)
        self.force = np.zeros(3 * step.contacts + step.rubbing)
        self.slip, self.mode = np.zeros(3 * step.contacts), np.zeros(step.contacts)
        self.slow, self.whole = np.zeros(len(v)), np.zeros(3 * step.contacts)
        self.impacts = np.zeros((most_impacts, impact))
        self._memory, self._room = np.zeros(self._size_of_memory()), np.zeros(room)
        self._arrays = q, v
        self.motion = Motion(
            q=q.ctypes.data, v=v.ctypes.data,
            force=self.force.ctypes.data, slip=self.slip.ctypes.data, mode=self.mode.ctypes.data,
            slow=self.slow.ctypes.data, whole=self.whole.ctypes.data,
            impacts=self.impacts.ctypes.data, most_hits=most_impacts,
            memory=self._memory.ctypes.data, room=self._room.ctypes.data,
        )  # fmt: skip
        self._call = library.walled_steps
        self._call.restype = ctypes.c_long
        self._given = walls, ctypes.byref(self.motion)

    @property
    def effort(self) -> Array:
        """Efforts (ne,) that drive the next steps."""
        return self._effort

    @effort.setter
    def effort(self, effort: Array) -> None:
        if effort.shape != (self._step.walls.ne,) or not effort.flags.c_contiguous:
            raise InputError(f"effort must be {self._step.walls.ne} contiguous numbers")
        self._effort, self.motion.effort = effort, effort.ctypes.data

    def take_wrenches(self, on_bodies: Array | None) -> None:
        """Feel wrenches (bodies, 6) from the next step on, as `accelerate_by` says: or none."""
        self._wrenches = on_bodies
        self.motion.wrenches = None if on_bodies is None else on_bodies.ctypes.data
        if len(self._memory) != self._size_of_memory():
            self._memory = np.zeros(self._size_of_memory())
            self.motion.memory = self._memory.ctypes.data

    def take_impacts(self) -> Array:
        """The rows of the impacts since the last call; see `record_impact` in C."""
        count, self.motion.hits = self.motion.hits, 0
        return self.impacts[:count].copy() if count else self.impacts[:0]

    def take_planes(self, planes: Array) -> None:
        """Heed the planes (slots, 11) of its slots, as they are at each step."""
        self._planes = planes
        self.motion.planes = planes.ctypes.data

    def steps(self, count: int) -> int:
        """Take up to so many steps; see `walled_steps`."""
        return int(self._call(*self._given, ctypes.c_long(count)))

    def slow_down(self, share: float, energy: float) -> None:
        """Keep this share of all velocities, which has taken so much energy (J)."""
        self._arrays[1][:] *= share
        self.slip *= share
        self.motion.trimmed += energy

    def forget(self) -> None:
        """Know nothing of the steps before."""
        for array in (self.force, self.slip, self.mode, self.whole, self._memory):
            array[:] = 0.0
        self.slow[:] = self._arrays[1]
