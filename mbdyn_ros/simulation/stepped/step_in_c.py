"""Steps in compiled code: the programs and tables of a robot among walls, and one motion."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from ...array import Array
from ...compiler.kernel import Bound, CompiledKernel, fixed_zeros
from ...compiler.runtime.library import can_step, stepping, structure, touching
from ...equations.contact.contact import ContactGeometry, distances
from ...equations.contact.reach import Sparsity, flattened
from ...equations.contact.stepping import (
    DryFrictionRows,
    RowsLayout,
    contact_rows,
    damped_mass,
    travel,
)
from ...equations.programs import (
    damped_dynamics,
    energy,
    forward_dynamics,
    has_constant_inertia,
    mass_matrix,
    sliding_dynamics,
    step_rate,
)
from ...errors import InputError
from ...integration.methods import FixedMethod
from ...program.program import Declaration
from ...robot import Robot
from ..contact.contacts import Contacts, Indices, mobility_in_c
from ..contact.environment import MOST_POINTS
from ..contact.precision import STEPS_IN_C, Precision
from .solid_tables import SolidTables

SIZE, NUMBER, ADDRESS = ctypes.c_size_t, ctypes.c_double, ctypes.c_void_p

CONTACT_ARRAYS = ("force", "trend", "turning", "slip")
"""Of a motion, numbers of every contact."""

CROWDED_CONTACTS = 2
"""`motion.crowded` in C where active contacts had no room, not pairs of convex shapes."""

SLOT_SIZE = 22
"""Numbers of a slot, see `struct motion` in C."""

PROGRAMS = {
    "acceleration": ("damped_dynamics", "sliding_dynamics", "forward_dynamics"),
    "mass": ("damped_mass", "mass_matrix"),
    "distances": ("distances",),
    "rows": ("contact_rows",),
    "rate": ("step_rate",),
    "energy": ("energy",),
}
"""Of a robot among walls, in the order of C: what it is there, and the programs that may be it."""


Walls = structure("contact/model.hpp", "walls")
Programs = structure("contact/model.hpp", "programs")
Motion = structure("contact/model.hpp", "motion")


def is_compiled(robot: Robot) -> bool:
    """Whether programs of a robot run in C, and there is a C++ compiler for steps around them."""
    return robot.calls.kernel(step_rate).compiled and can_step()


@dataclass(frozen=True, eq=False)
class Laws:
    """The laws of contacts: e and mu (m,) each, how exact they are, and when they are one (s).

    beyond : contacts that are out of reach wherever they are.
    special : (m, 9) as `Surface.laws` has them; None where no wall has any.
    most_active : contacts that there is room for in one step.
    """

    restitution: Array
    friction: Array
    precision: Precision
    tie_window: float
    beyond: Indices
    special: Array | None = None
    most_active: int = 0


class StepInC:
    """The programs and tables of one robot among walls; serves any number of motions.

    Attributes
    ----------
    walls : what C reads.
    rubbing : rows of dry friction. contacts : how many there are.
    layout : their places in the result of `rows`, a bound call at q; None where there are none.
    body, partner : where their bodies stand there, see `RowsLayout`; of slots they change.
    points : of every pair of a point and a wall the place in the body's frame, and the radius.
    """

    def __init__(self, robot: Robot, geometry: ContactGeometry, laws: Laws) -> None:
        system = robot.calls.traced
        self._robot, self._with_wrenches = robot, False
        self._damping, rubs = system.has("damping"), DryFrictionRows.of(system)
        self.contacts, self.rubbing = geometry.count, len(rubs)
        wanted: list[tuple[object, ...]] = [
            (self._dynamics,),
            (damped_mass,) if self._damping else (mass_matrix,),
            (step_rate,),
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
        self._kernels, self._named, self.home = kernels, named, robot.calls.home
        self.layout = layout = RowsLayout.of(system, geometry)
        self.rows = Bound(named["contact_rows"]) if "contact_rows" in named else None
        labels = {label: i for i, label in enumerate(robot.position_labels)}
        still_v = [k for k, _ in rubs.single] + [-1 for _ in rubs.own]
        still_q = [labels.get(robot.velocity_labels[k], -1) if k >= 0 else -1 for k in still_v]
        self._kept = [
            np.array(one, dtype=np.int64)
            for one in (
                layout.body,
                layout.partner,
                layout.normal,
                still_v,
                still_q,
                rubs.leaders(system),
                system.given,
                laws.beyond,
            )
        ]
        self._mobility, self._moves = mobility_in_c(layout)
        self._sparsity = reach = Sparsity.of(system, geometry)
        self._path, self._reach = flattened(reach.path), flattened(reach.reach)
        found = travel(system, geometry)
        self._travel = None if found is None else [np.ascontiguousarray(one) for one in found]
        self.points = np.array(
            [
                [*point.place, point.radius]
                for point in geometry.points
                for _ in range(len(geometry.faces))
            ]
        ).reshape(-1, 4)
        self._laws = [np.ascontiguousarray(one) for one in (laws.restitution, laws.friction)]
        self._special = None if laws.special is None else np.ascontiguousarray(laws.special)
        self.body, self.partner, *_ = self._kept
        body, partner, normal, at_v, at_q, slides, given, beyond = (
            one.ctypes.data for one in self._kept
        )

        def program(*names: str) -> int | None:
            found = [named[name] for name in names if name in named]
            return found[0].scalar.address.value if found else None

        self._turns, rate = bool(system.quaternions), named["step_rate"]
        self._rate = (self._turns and rate.vectors) or rate.scalar
        precision = laws.precision
        self.walls = Walls(
            **{name: program(*names) for name, names in PROGRAMS.items() if name != "rate"},
            rate=self._rate.address,
            nq=robot.nq, nv=robot.nv, ne=len(robot.effort_labels),
            contacts=self.contacts, rubbing=self.rubbing, bodies=len(system.tree.bodies),
            most_active=min(self.contacts, laws.most_active),
            slots=geometry.slots,
            body=body, partner=partner, normal=normal,
            mobility=ctypes.addressof(self._mobility), point=self.points.ctypes.data,
            rubs=layout.rubbing, bounds=layout.bound, rates=system.tree.nv, slides=slides,
            path_start=self._path[0].ctypes.data, reach_start=self._reach[0].ctypes.data,
            path=self._path[1].ctypes.data, reach=self._reach[1].ctypes.data,
            travel_q=self._travel and self._travel[0].ctypes.data,
            travel_v=self._travel and self._travel[1].ctypes.data,
            still_v=at_v, still_q=at_q,
            restitution=self._laws[0].ctypes.data, friction=self._laws[1].ctypes.data,
            laws=None if self._special is None else self._special.ctypes.data,
            given=given, givens=len(system.given), beyond=beyond, beyonds=len(laws.beyond),
            home=self.home.ctypes.data,
            constant_mass=int(not self._damping and has_constant_inertia(system)),
            touching=precision.touching, graze=precision.graze, closed=precision.closed,
            slow=precision.resting_speed, settled=precision.settled, window=laws.tie_window,
        )  # fmt: skip

    @classmethod
    def among(
        cls, robot: Robot, contacts: Contacts | None, precision: Precision = STEPS_IN_C
    ) -> StepInC:
        """The programs of a robot with these contacts, or with none."""
        if contacts is None:
            nothing = Laws(np.zeros(0), np.zeros(0), precision, 0.0, np.zeros(0, dtype=np.int64))
            return cls(robot, ContactGeometry((), ()), nothing)
        around = contacts.environment
        laws = Laws(
            contacts.restitution, contacts.friction, precision, around.tie_window,
            contacts.beyond, contacts.special, around.most_active,
        )  # fmt: skip
        step = cls(robot, contacts.geometry, laws)
        if contacts.geometry.slots:
            fall = float(np.linalg.norm(robot.gravity))
            order, pairs = step.layout.order, contacts.solid_pairs
            reach = step._sparsity.bodies
            step._take_solids(SolidTables(pairs, order, fall, contacts.solid_laws, reach))
        return step

    def _take_solids(self, tables: SolidTables) -> None:
        self._solids = tables
        self.walls.solids = ctypes.addressof(tables.solids)
        self.walls.broad_phase = ctypes.cast(touching().broad_phase, ADDRESS)
        self.walls.follow = ctypes.cast(touching().follow, ADDRESS)

    def feel_wrenches(self, wrenches: bool) -> None:
        """Let accelerations ask for wrenches on all bodies, or not; motions have new memory."""
        self._with_wrenches = wrenches
        self.walls.acceleration = self._address(self._dynamics)

    @property
    def _dynamics(self) -> Declaration:
        """The program of accelerations."""
        if self._damping:
            return damped_dynamics
        return sliding_dynamics if self.rubbing else forward_dynamics

    def _address(self, program: Declaration) -> int | None:
        wrenches = self._with_wrenches and program.loaded
        kernel = self._robot.calls.kernel(program, None, wrenches)
        assert isinstance(kernel, CompiledKernel)
        self._kernels.append(kernel)
        return kernel.scalar.address.value

    def use_vectors(self) -> None:
        """Let rollouts take several motions at once, where all programs are there for vectors.

        Loops without closed form, convex shapes, and walls with laws of their own are closed, found
        and solved one by one: so they stay as they are.
        """
        alone = self.walls.slots or self.walls.laws
        if alone or any(kernel.scalar.memory for kernel in self._named.values()):
            return
        from concurrent.futures import ThreadPoolExecutor  # slow to import

        with ThreadPoolExecutor() as pool:
            names = [name for name in self._named if self._turns or name != "step_rate"]
            made = pool.map(lambda name: self._named[name].vectors, names)
            vectors = dict(zip(names, made, strict=True))
        if None in vectors.values():
            return
        found = {
            name: next((one.address.value for own in names if (one := vectors.get(own))), None)
            for name, names in PROGRAMS.items()
            if name != "rate"
        }
        self._vectors = Programs(**found)
        self.walls.vectors = ctypes.addressof(self._vectors)

    def use(self, method: FixedMethod) -> None:
        """Take the steps of free motion by this method."""
        self._tableau = np.array(method.tableau)
        self.walls.stages = method.stages
        self.walls.damped = int(self._damping and not method.stages)
        self.walls.tableau = self._tableau.ctypes.data


class MotionInC:
    """One motion: its arrays, and the call that takes its steps.

    Attributes
    ----------
    effort, force, trend, turning, slip, mode, reaction, slow, whole, impacts, planes, blocks : see
        `struct motion` in C.
    """

    def __init__(self, step: StepInC, q: Array, v: Array, most_impacts: int) -> None:
        self._step, library = step, stepping()
        walls = ctypes.byref(step.walls)
        sizes = (library.room_of_motion, library.memory_of_motion, library.size_of_impact)
        for one in sizes:
            one.restype = SIZE
        self._size_of_memory = lambda: library.memory_of_motion(walls) + 1
        room, impact = library.room_of_motion(walls), library.size_of_impact(walls)
        self.force = fixed_zeros(3 * step.contacts + step.rubbing)
        self.trend, self.turning = fixed_zeros(step.contacts), fixed_zeros(3 * step.contacts)
        self.slip, self.mode = fixed_zeros(3 * step.contacts), fixed_zeros(step.contacts)
        self.slow, self.whole = fixed_zeros(len(v)), fixed_zeros(3 * step.contacts)
        self.reaction = fixed_zeros(3 * len(v))
        self.impacts = fixed_zeros(most_impacts, impact)
        self._memory, self._room = fixed_zeros(self._size_of_memory()), fixed_zeros(room)
        self._clear, slots = fixed_zeros(2 + len(q)), step.walls.slots
        self.planes = fixed_zeros(slots, SLOT_SIZE)
        self.blocks = fixed_zeros(slots // MOST_POINTS, 4)
        self._arrays = q, v
        self.motion = Motion(
            q=q.ctypes.data, v=v.ctypes.data,
            **{name: getattr(self, name).ctypes.data for name in CONTACT_ARRAYS},
            mode=self.mode.ctypes.data, reaction=self.reaction.ctypes.data,
            slow=self.slow.ctypes.data, whole=self.whole.ctypes.data,
            impacts=self.impacts.ctypes.data, most_hits=most_impacts,
            memory=self._memory.ctypes.data, room=self._room.ctypes.data,
            planes=self.planes.ctypes.data if slots else None, blocks=self.blocks.ctypes.data,
            clear=self._clear.ctypes.data,
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
        # a view of it cannot be resized, and neither can what it is a view of
        self._effort, self.motion.effort = effort[...], effort.ctypes.data

    def take_wrenches(self, on_bodies: Array | None) -> None:
        """Feel wrenches (bodies, 6) from the next step on, as `feel_wrenches` says: or none."""
        self._wrenches = on_bodies
        self.motion.wrenches = None if on_bodies is None else on_bodies.ctypes.data
        if len(self._memory) != self._size_of_memory():
            self._memory = np.zeros(self._size_of_memory())
            self.motion.memory = self._memory.ctypes.data

    def take_impacts(self) -> Array:
        """The rows of the impacts since the last call, until the next step; see `record_impact`."""
        count, self.motion.hits = self.motion.hits, 0
        return self.impacts[:count]

    def steps(self, count: int) -> int:
        """Take up to `count` steps; see `walled_steps`."""
        return int(self._call(*self._given, ctypes.c_long(count)))

    def slow_down(self, share: float, energy: float) -> None:
        """Keep this share of all velocities, which has taken so much energy (J)."""
        self._arrays[1][:] *= share
        self.slip *= share
        self.motion.trimmed += energy

    def go_on_from(self, other: MotionInC) -> None:
        """Take time, efforts, accounts and, if they are the same, contacts of a motion before."""
        for name, kind, *_ in Motion._fields_:
            if kind is not ADDRESS and name != "most_hits":
                setattr(self.motion, name, getattr(other.motion, name))
        self.effort = other.effort
        for name in (*CONTACT_ARRAYS, "mode", "reaction", "slow", "whole", "planes", "blocks"):
            mine, before = getattr(self, name), getattr(other, name)
            if mine.shape == before.shape:
                mine[:] = before

    def repeat(self, other: MotionInC) -> None:
        """Be another motion by the same programs, in memory of its own."""
        self.go_on_from(other)
        self.effort = other.effort.copy()
        for name in ("_memory", "_clear"):
            getattr(self, name)[:] = getattr(other, name)

    def forget(self) -> None:
        """Know nothing of the steps before."""
        kept = (getattr(self, name) for name in CONTACT_ARRAYS)
        others = self.mode, self.reaction, self.whole, self._memory, self.planes, self.blocks
        for array in (*kept, *others):
            array[:] = 0.0
        self.slow[:] = self._arrays[1]
