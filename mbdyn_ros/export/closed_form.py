"""The equations of motion as trigonometric polynomials, whose numbers may stay symbols.

    P = H(q) qdd + qd^T C(q) qd + g(q)

as in Kulvietis et al. (2011), figure 3. Every element of H, C and g is a polynomial in
C_k = cos(q_k), S_k = sin(q_k) and the positions q_k of slides, with S_k^2 written 1 - C_k^2.
H and g come from the recursions that everything else uses, run on polynomials instead of
numbers; C are the Christoffel symbols of H, which are what the method of Uicker and Kahn finds,

    C_ikl = (dH_ik/dq_l + dH_il/dq_k - dH_kl/dq_i) / 2

Masses, centres, moments of inertia and lengths may stay symbols, each of a body: all links that one
joint moves together. Its frame is at the joint, with z along the axis and x where most numbers
vanish, so that lengths are those of Denavit and Hartenberg: along the axis, and across to the next
one. What is zero in the robot stays zero.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from ..array import Array
from ..equations.algebra.spatial import SX, constant
from ..equations.geometry import SymbolicInertia, SymbolicPose
from ..equations.programs import gravity_vector, joint_space_inertia
from ..equations.system import System
from ..equations.textbook.lagrange_euler import KINDS as JOINT_KINDS
from ..errors import InputError, suggestion
from ..prepare.tree import Body
from ..program.symbols import serialized
from .polynomial import MOST_PRODUCTS, Polynomial, expand

NUMBER_KINDS = ("masses", "centres", "moments", "lengths")
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
    index: int | str
    meaning: str
    unit: str
    value: float


@dataclass(frozen=True, eq=False)
class SymbolicSystem:
    """A robot in which some numbers are symbols: `system.parameters`, in the order of `numbers`."""

    system: System
    numbers: tuple[SymbolicNumber, ...]


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
    """The system with symbols for its numbers of some `NUMBER_KINDS`.

    Raises
    ------
    InputError
        An unknown kind, by name.
    """
    for kind in kinds:
        if kind not in NUMBER_KINDS:
            raise InputError(
                f"{kind!r} cannot be symbols{suggestion(kind, NUMBER_KINDS)}; choose of "
                f"{', '.join(NUMBER_KINDS)}"
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
        k = order.setdefault(body.q.start, len(order) + 1)  # joints that follow others come last
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
    return SymbolicInertia(mass, center, first, second)


@dataclass(frozen=True, eq=False, repr=False)
class Element:
    """One element of H, C or g: its matrix, its indices from 1, and its polynomial."""

    matrix: str
    indices: tuple[int, ...]
    polynomial: Polynomial

    def __repr__(self) -> str:
        place = "".join(map(str, self.indices))
        return f"<Element {self.matrix}{place}: {len(self.polynomial.coefficients)} terms>"


@dataclass(frozen=True, eq=False, repr=False)
class ClosedForm:
    """Every element of H, C and g of one robot.

    robot : its name. joints : names of the independent joints, which order all indices.
    angles : whether each of them turns. gravity : (3,), m/s^2.
    numbers : of the robot that are symbols: variables of the polynomials after the joints.
    elements : H_ij for i <= j, C_ikl for k <= l, g_i; H is symmetric, and C in k and l.
    """

    robot: str
    joints: tuple[str, ...]
    angles: tuple[bool, ...]
    gravity: tuple[float, ...]
    elements: tuple[Element, ...]
    numbers: tuple[SymbolicNumber, ...] = ()

    @property
    def zeros(self) -> int:
        """How many elements are zero in every configuration."""
        return sum(not element.polynomial.coefficients for element in self.elements)

    @property
    def terms(self) -> int:
        """How many terms all elements have."""
        return sum(len(element.polynomial.coefficients) for element in self.elements)

    def __repr__(self) -> str:
        return (
            f"<ClosedForm of {self.robot!r}: {len(self.elements)} elements of H, C and g in "
            f"{', '.join(self.joints)}, {self.zeros} of them zero, {self.terms:,} terms; "
            "closed_form_text.to_text(form) writes it>"
        )


@serialized
def closed_form(system: System, robot: str, source: str, symbols: Sequence[str] = ()) -> ClosedForm:
    """The closed form of a robot of revolute and prismatic joints without closed loops.

    symbols : kinds of numbers that stay symbols (`NUMBER_KINDS`).

    Raises
    ------
    InputError
        The robot has closed loops, a floating base, or other joints; the message names them.
    """
    require_polynomial(system, source)
    coordinates = system.coordinates
    symbolic = with_symbolic_numbers(system, symbols)
    try:
        elements = polynomials(symbolic.system, np.eye(coordinates.nq, dtype=int))
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    gravity = tuple(float(x) for x in system.gravity)
    angles = turning(system)
    labels = coordinates.velocity_labels
    return ClosedForm(robot, labels, angles, gravity, elements, symbolic.numbers)


def turning(system: System) -> tuple[bool, ...]:
    """Whether each independent joint turns; else it slides."""
    kinds = {body.q.start: body.kind for body in system.tree.bodies}
    return tuple(kinds[row] == "revolute" for row in system.coordinates.q)


def polynomials(system: System, sums: np.ndarray, most: int = MOST_PRODUCTS) -> tuple[Element, ...]:
    """Elements of H, C and g as polynomials in the cosines and sines of p = sums q, and in slides.

    Parameters
    ----------
    system : its parameters, if it has any, are variables after the joints.
    sums : (n, n) whole numbers, with an inverse of whole numbers. The identity makes them
        polynomials in those of the positions themselves.
    most : products of two terms that may be needed.
    """
    parameters = system.parameters
    others = [] if parameters is None else [parameters]
    angles, n = turning(system), len(sums)
    p, none = SX.sym("p", n), SX(0, 1)
    q = ca.sparsify(ca.DM(np.linalg.inv(sums).round())) @ p
    mass = ca.densify(joint_space_inertia(system, q, none))
    weight = ca.densify(gravity_vector(system, q, none))
    upper = [(i, j) for i in range(n) for j in range(i, n)]
    above = ca.vertcat(*(mass[i, j] for i, j in upper)) if upper else SX(0, 1)
    function = ca.Function("closed_form", [p, *others], [above, weight], {"cse": True})
    variables = (*angles, *(False for one in others for _ in range(one.numel())))
    masses, weights = expand(function, variables, most)
    table = dict(zip(upper, masses, strict=True))

    def slope(i: int, j: int, k: int) -> Polynomial:
        """dH_ij/dq_k."""
        element = table[min(i, j), max(i, j)]
        parts = [
            element.derivative(m, angles[m]).scaled(float(sums[m, k]))
            for m in np.flatnonzero(sums[:, k]).tolist()
        ]
        return functools.reduce(Polynomial.__add__, parts)

    elements = [Element("H", (i + 1, j + 1), one) for (i, j), one in table.items()]
    for i in range(n):
        for k, m in upper:
            symbol = (slope(i, k, m) + slope(i, m, k) - slope(k, m, i)).scaled(0.5)
            elements.append(Element("C", (i + 1, k + 1, m + 1), symbol))
    return (*elements, *(Element("g", (i + 1,), one) for i, one in enumerate(weights)))


def require_polynomial(system: System, source: str) -> None:
    """Refuse a robot whose equations are not polynomials, by joint."""
    for linkage in system.linkages:
        if not linkage.linear:
            names = ", ".join(system.tree.bodies[body].joint for body in linkage.cluster.coupled)
            raise InputError(
                f"{source}: the equations are not polynomials: the joints {names} form a closed "
                "loop. Export C code instead (without --closed-form)."
            )
    for body in system.tree.bodies:
        if body.kind not in JOINT_KINDS:
            raise InputError(
                f"{source}: the closed form needs revolute or prismatic joints; joint "
                f"{body.joint!r} is {body.kind}"
            )
