"""Masses, lengths and moments of inertia that stay symbols in a closed form.

Each belongs to a body: all links that one joint moves together. Its frame stands at the joint,
with z along the axis and x where most numbers vanish, so that lengths are those of Denavit and
Hartenberg: along the axis, and across to the next one. What is zero in the robot stays zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from ..array import Array
from ..equations.algebra.spatial import SX, constant
from ..equations.geometry import SymbolicPose
from ..equations.system import System
from ..errors import InputError, suggestion
from ..prepare.tree import Body
from ..program.symbols import serialized

KINDS = ("masses", "centres", "moments", "lengths")
"""Kinds of numbers that may be symbols."""

AXES = "xyz"

MOMENTS = [(i, j) for i in range(3) for j in range(i, 3)]
"""Places of the moments of inertia."""

ABSENT = 1e-12
"""Share of the largest centre, moment or length of a robot under which one is zero."""


@dataclass(frozen=True)
class SymbolicNumber:
    """One number of a robot that is a symbol in formulas.

    letter, index : its name is letter_index, such as m_3. meaning, unit, value : in the robot.
    """

    letter: str
    index: int
    meaning: str
    unit: str
    value: float


@dataclass(frozen=True, eq=False)
class SymbolicSystem:
    """A robot in which some numbers are symbols: `system.parameters`, in the order of `numbers`."""

    system: System
    numbers: tuple[SymbolicNumber, ...]


@dataclass(frozen=True, eq=False)
class _Inertia:
    """A `RigidInertia` that may be symbols."""

    mass: Any
    center: Any
    first: Any
    second: Any


class _Found:
    """Symbols in the order in which they were asked for."""

    def __init__(self) -> None:
        self.numbers: list[SymbolicNumber] = []
        self.symbols: list[SX] = []

    def symbol(self, one: SymbolicNumber) -> SX:
        self.numbers.append(one)
        self.symbols.append(SX.sym(f"{one.letter}_{one.index}"))
        return self.symbols[-1]


@serialized
def with_symbolic_numbers(system: System, kinds: Sequence[str]) -> SymbolicSystem:
    """The system with symbols for its numbers of some `KINDS`.

    Raises
    ------
    InputError
        An unknown kind, by name.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise InputError(
                f"{kind!r} cannot be symbols{suggestion(kind, KINDS)}; choose of {', '.join(KINDS)}"
            )
    if not kinds:
        return SymbolicSystem(system, ())
    found, tree = _Found(), system.tree
    largest = _largest(tree.bodies)
    bodies = []
    order = {row: k for k, row in enumerate(system.coordinates.q, start=1)}
    links = [
        ", ".join(link for link, (at, own) in tree.parts.items() if at == k and own.mass)
        for k in range(len(tree.bodies))
    ]
    for body, moved in zip(tree.bodies, links, strict=True):
        k = order.setdefault(body.q.start, len(order) + 1)  # joints that follow others stand last
        placement: Any = body.placement
        if "lengths" in kinds:
            shift = _vector(
                found, body.placement.translation, largest["lengths"], "l", k,
                f"of the origin of {body.joint} in the frame before, along its {{}}",
            )  # fmt: skip
            placement = SymbolicPose(body.placement.rotation, shift)
        inertia = _inertia(found, body, moved, k, kinds, largest)
        bodies.append(replace(body, placement=placement, inertia=inertia))
    known = ca.vertcat(SX(0, 1), *found.symbols)
    symbolic = replace(
        system,
        tree=replace(tree, bodies=tuple(bodies)),
        parameters=known,
        known_by=f"{system.digest()} {tuple(kinds)}",
    )
    return SymbolicSystem(symbolic, tuple(found.numbers))


def _largest(bodies: Sequence[Body]) -> dict[str, float]:
    """The largest number of each kind."""
    return {
        "lengths": max((float(np.abs(b.placement.translation).max()) for b in bodies), default=0),
        "centres": max((float(np.abs(b.inertia.center).max()) for b in bodies), default=0),
        "moments": max((float(np.abs(b.inertia.second).max()) for b in bodies), default=0),
    }


def _vector(found: _Found, values: Array, largest: float, letter: str, k: int, meaning: str) -> SX:
    """A vector (3, 1) with symbols for the lengths that do not vanish."""
    return ca.vertcat(*(
        found.symbol(SymbolicNumber(f"{letter}{axis}", k, meaning.format(axis), "m", float(value)))
        if abs(value) > ABSENT * largest else SX(1, 1)
        for axis, value in zip(AXES, values, strict=True)
    ))  # fmt: skip


def _inertia(
    found: _Found, body: Body, links: str, k: int, kinds: Sequence[str], largest: dict[str, float]
) -> Any:
    """The inertia about the origin of its frame, of symbols and numbers."""
    own = body.inertia
    if not own.mass:
        return own
    about = own.second - own.mass * (
        own.center @ own.center * np.eye(3) - np.outer(own.center, own.center)
    )
    about[np.abs(about) <= ABSENT * largest["moments"]] = 0.0
    mass, center, moments = SX(own.mass), constant(own.center), constant(about)
    if "masses" in kinds:
        meaning = f"mass of {links}"
        mass = found.symbol(SymbolicNumber("m", k, meaning, "kg", own.mass))
    if "centres" in kinds:
        meaning = f"centre of mass of {links} in the frame of {body.joint}, {{}}"
        center = _vector(found, own.center, largest["centres"], "c", k, meaning)
    if "moments" in kinds:
        moments = SX(3, 3)
        for i, j in MOMENTS:
            if about[i, j]:
                axes = AXES[i] + AXES[j]
                meaning = f"moment of {links} about the centre of mass, {axes}"
                one = SymbolicNumber(f"I{axes}", k, meaning, "kg m^2", float(about[i, j]))
                moments[i, j] = moments[j, i] = found.symbol(one)
    first = mass * center
    second = moments + mass * (ca.dot(center, center) * SX.eye(3) - center @ center.T)
    return _Inertia(mass, center, first, second)
