"""A robot's model, its equations in numbers, and the calls of its programs.

Everything else that a `Robot` does stands on this: see `robot.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arguments import Wrenches, checked_home, single_vector
from ..array import Array
from ..assembly.build import build_robot
from ..equations.singularity import massless_directions
from ..equations.system import System
from ..equations.tree.regressor import moving_links
from ..errors import InputError, ModelWarning, SingularMassMatrixError, brief, warn
from ..model.model import BASE_JOINT, Model, constant
from ..model.split_joints import joints_of_parts, quaternions_in_loops, split_joints
from ..names import former_name
from ..prepare.tree import WORLD
from ..program.program import Declaration
from .calls import Calls
from .home import EARTH, INTERNAL, Home, assignment_refusal, choice_text, home_warnings, named_home
from .variable import variable_parameters


class Core:
    """A robot's model, its equations, and the calls of its programs; see `Robot`."""

    model: Model
    joint_names: tuple[str, ...]
    independent_joints: tuple[str, ...]
    dependent_joints: tuple[str, ...]
    actuated_joints: tuple[str, ...]
    nq: int
    nv: int
    position_labels: tuple[str, ...]
    velocity_labels: tuple[str, ...]
    effort_labels: tuple[str, ...]
    gravity: Array
    floating_base: bool
    warnings: tuple[str, ...]
    home: Home
    massless_links: tuple[str, ...]
    calls: Calls

    def __init__(
        self,
        model: Model,
        home: Mapping[str, float] | str | None = None,
        floating_base: bool | None = None,
        gravity: Sequence[float] | None = None,
        variable: Sequence[str] = (),
    ) -> None:
        if isinstance(home, str):
            home = named_home(model, home)
        if floating_base is None:
            floating_base = model.floating_base
        if gravity is None:
            gravity = model.gravity or EARTH
        self._described = model
        apart = joints_of_parts(model, home) if isinstance(home, Mapping) else set()
        if model.loops:
            apart |= quaternions_in_loops(model)
        if apart:
            model = split_joints(model, apart)
        field = constant(single_vector("gravity", gravity, ("x", "y", "z")), (3,))
        movable = [joint.name for joint in model.joints if joint.nv]
        rough = checked_home(home, movable, model.source)
        self._rough, self._seen = rough, 0
        model, self._system, self._assemblies, notes = build_robot(
            model, floating_base, field, rough
        )
        self._keep(model=model, gravity=field, floating_base=floating_base)
        coordinates = self.system.coordinates
        self._keep(
            joint_names=coordinates.joint_names,
            independent_joints=coordinates.independent,
            dependent_joints=coordinates.dependent,
            actuated_joints=coordinates.actuated,
            nq=coordinates.nq,
            nv=coordinates.nv,
            position_labels=coordinates.position_labels,
            velocity_labels=coordinates.velocity_labels,
            effort_labels=coordinates.effort_labels,
        )
        rows_q, rows_v = coordinates.joint_rows
        self._joint_rows = np.array(rows_q, dtype=np.intp), np.array(rows_v, dtype=np.intp)
        self._keep(home=self._home_by_name())
        self._parameters = variable_parameters(model, self._system, variable)
        self._start_calls(self._system.home)
        self._find_massless_links()
        self._choice_said = self._limits_said = False
        self._keep(warnings=tuple(self._all_warnings(notes)))
        for text in self.warnings:
            warn(text, ModelWarning)

    def _keep(self, **values: object) -> None:
        """Set attributes that users read, and cannot set."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse what would be reported and not computed with; say what to call instead."""
        if not name.startswith("_"):
            raise InputError(assignment_refusal(name, dir(type(self))))
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise InputError(assignment_refusal(name, dir(type(self))))

    def __dir__(self) -> list[str]:
        """The public attributes and methods."""
        return sorted(name for name in super().__dir__() if name not in INTERNAL)

    def _start(self, calls: Calls) -> None:
        """Run programs by these calls."""
        self._keep(calls=calls)
        self._plain = calls.plain
        self._rollouts: dict[bool, Any] = {}

    def __getstate__(self) -> dict[str, object]:
        """Attributes for a copy or a pickle: all but those that `_start` makes of the calls."""
        return {key: one for key, one in vars(self).items() if key not in ("_plain", "_rollouts")}

    def __setstate__(self, state: dict[str, object]) -> None:
        self._keep(**state)
        self._start(self.calls)

    def _start_calls(self, home: Array) -> None:
        """Run programs with what is variable as it is now."""
        given = self._parameters
        described = replace(given.described, home=home)
        self._start(Calls(described, self.model.source, given.layout, given.values(given.layout)))
        self._seen = 0

    @property
    def system(self) -> System:
        """The robot as the equations see it, with its current numbers."""
        # None while the robot is built. Not by vars(self): an object that was once asked for its
        # dictionary keeps it, and each of its attributes costs 15 ns more (CPython 3.11).
        calls: Calls | None = getattr(self, "calls", None)
        if calls is not None and self._seen != calls.changes and self._parameters.layout:
            self._seen, self._system = calls.changes, calls.system()
        return self._system

    @property
    def links(self) -> tuple[str, ...]:
        """All links in document order, for `frame_pose` and similar methods.

        A joint that is split into several of one coordinate brings links without mass between
        these, each named as the joint that moves it, such as `platform_joint/x`.
        """
        return tuple(link.name for link in self.model.links)

    @property
    def moving_links(self) -> tuple[str, ...]:
        """The links that joints can move, in the order of `regressor`."""
        return tuple(moving_links(self.system.tree))

    @property
    def frames(self) -> dict[str, str]:
        """Every link, and the link that it moves with, the child of the joint that moves it.

        That is itself where no fixed joint lies between, and the root where it is fixed to the
        world.
        """
        tree = self.system.tree
        return {
            link: tree.bodies[body].name if body != WORLD else self.model.root
            for link, body in ((name, tree.frames[name][0]) for name in self.links)
        }

    @property
    def numerical_joints(self) -> tuple[str, ...]:
        """A name for each position that loops determine without closed form, (nz,), in order of
        `z`.

        A joint of several coordinates has one for each, such as "wrist/first" and "wrist/second",
        as in the positions of `joint_state`. `numerical_positions` gives the numbers.
        """
        coordinates = self.system.coordinates
        by_row = dict(zip(coordinates.joint_rows[0], coordinates.joint_labels, strict=True))
        return tuple(by_row[row] for row in self.system.numerical_dependent_rows)

    walked_joints = former_name("numerical_joints")

    @property
    def total_mass(self) -> float:
        """Mass (kg) of the links that joints can move."""
        return float(self.system.mass)

    def __repr__(self) -> str:
        """A line about the robot."""
        closed = {"loop": len(self.model.loops), "coupling": len(self.model.couplings)}
        parts = [
            f"nq {self.nq}",
            f"nv {self.nv}",
            f"{len(self.actuated_joints)} of {len(self.joint_names)} joints actuated",
            f"{len(self.model.links)} links",
            f"{self.total_mass:.4g} kg moving",
            *(f"{n} {what}{'s' * (n > 1)}" for what, n in closed.items() if n),
            "floating base" if self.floating_base else "fixed base",
        ]
        return f"<Robot {self.model.name!r}: {', '.join(parts)}>"

    def _find_massless_links(self) -> None:
        """Keep the links that can move without moving mass, as they are now."""
        names = {BASE_JOINT: self.model.root}
        names.update((joint.name, joint.child) for joint in self.model.joints)
        blocks = self.system.coordinates.blocks.values()
        joints = [block.joint for block in blocks for _ in range(block.kind.nv)]
        found = tuple(dict.fromkeys(names[joints[k]] for k in massless_directions(self.system)))
        self._keep(massless_links=found)

    def _all_warnings(self, notes: Sequence[str]) -> Iterator[str]:
        """Warnings of what looks wrong; `notes` were taken when the robot was built."""
        source = self.model.source
        yield from self.model.warnings
        yield from (f"{source}: {note}" for note in notes)
        if self._assemblies:
            yield from home_warnings(self.model, self._system, self._assemblies)
        if self.massless_links:
            yield (
                f"{source}: {self._massless_text()}: inverse dynamics is right, forward "
                "dynamics will be refused"
            )

    def _massless_text(self) -> str:
        """Words about the links without mass."""
        links = ", ".join(repr(link) for link in self.massless_links)
        return f"no mass resists the motion of link {links}"

    def require_mass(self, purpose: str) -> None:
        """Raise `SingularMassMatrixError`, by link name, where `purpose` has no answer."""
        if self.massless_links:
            raise SingularMassMatrixError(
                f"{self.model.source}: {purpose} has no answer, because the mass matrix is "
                f"singular: {self._massless_text()}. Give the links mass and inertia, or fix "
                "their joints."
            )

    def require_single(self, purpose: str) -> None:
        """Raise `InputError` where every row of batches has parameters of its own."""
        rows = self.calls.rows
        if rows is not None:
            raise InputError(
                f"{self.model.source}: {purpose} is of one robot, but {len(rows.numbers)} values"
                " of its parameters are set, one for each row of a batch: set single ones before"
            )

    def _require_answer(self, program: Declaration) -> None:
        """Refuse a program that has no answer for this robot.

        Raises
        ------
        SingularMassMatrixError
            Forward dynamics, or an inverse of the mass matrix, of links without mass, by name.
        InputError
            Inverse dynamics where the actuated joints do not determine the motion; derivatives by
            parameters where nothing is variable.
        """
        if "variables" in program.needs and not self._parameters.layout:
            raise InputError(
                f"{self.model.source}: nothing is variable; name links, gravity or friction in "
                "load(..., variable=[...])"
            )
        if program.loaded:
            self.say_choice()
        if "mass" in program.needs:
            self.require_mass(program.name.replace("_", " "))
        if "drives" not in program.needs:
            return
        moved = self.nv - len(self._system.given)
        if len(self.effort_labels) < moved:
            idle = [name for name in self.independent_joints if name not in self.actuated_joints]
            raise InputError(
                f"{self.model.source}: inverse dynamics has no answer: {moved} coordinates move, "
                f"and efforts act at {len(self.effort_labels)} "
                f"({', '.join(self.effort_labels) or 'none'}). Use forward dynamics, or name more "
                f"actuated joints, such as {', '.join(idle)}; if nothing drives a turn because it "
                "is idle, as that of a rod between two balls, make one ball universal, or lock it: "
                "robot.locked, or mbdyn edit --lock"
            )

    def say_choice(self) -> None:
        """Warn once, before the first dynamics, of independent joints chosen by default."""
        if not self._choice_said:
            self._choice_said = True
            if self.dependent_joints and (text := choice_text(self.model, self.system)):
                warn(text, ModelWarning)

    def _checked(
        self,
        program: Declaration,
        values: tuple[object, ...],
        wrenches: Wrenches | None = None,
        friction: bool = True,
        out: Array | None = None,
    ) -> Array:
        """Run a program on any arguments, or say why it has no answer; see `Calls.call`."""
        with brief:
            self._require_answer(program)
            return self.calls.call(program, values, wrenches, friction, out=out)

    def _home_by_name(self) -> Home:
        """The closed home configuration of the joints with one coordinate."""
        calls: Calls | None = getattr(self, "calls", None)
        home = (self._system.home if calls is None else calls.tree_home()).tolist()
        bodies = {body.joint: body for body in self._system.tree.bodies}
        single = [name for name in self.joint_names if self.model.joint(name).nq == 1]
        return Home({name: home[bodies[name].q.start] for name in single})
