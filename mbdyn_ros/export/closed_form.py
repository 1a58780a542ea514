"""The equations of motion as trigonometric polynomials that one can read.

    P = H(q) qdd + qd^T C(q) qd + g(q)

as in Kulvietis et al. (2011), figure 3. Every element of H, C and g is a polynomial in
C_k = cos(q_k), S_k = sin(q_k) and the positions q_k of slides, with S_k^2 written 1 - C_k^2.
H and g come from the recursions that everything else uses, run on polynomials instead of
numbers; C are the Christoffel symbols of H, which are what the method of Uicker and Kahn finds,

    C_ikl = (dH_ik/dq_l + dH_il/dq_k - dH_kl/dq_i) / 2
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..equations.algebra.spatial import SX
from ..equations.programs import gravity_vector, mass_matrix
from ..equations.system import System
from ..equations.textbook.lagrange_euler import KINDS
from ..errors import InputError
from ..program.symbols import serialized
from .closed_form_symbols import SymbolicNumber, with_symbolic_numbers
from .polynomial import MOST_PRODUCTS, Polynomial, expand


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

    def __repr__(self) -> str:
        return (
            f"<ClosedForm of {self.robot!r}: {len(self.elements)} elements of H, C and g in "
            f"{', '.join(self.joints)}, {self.zeros} of them zero; closed_form_text.to_text(form) "
            "writes it>"
        )


@serialized
def closed_form(system: System, robot: str, source: str, symbols: Sequence[str] = ()) -> ClosedForm:
    """The closed form of a robot of revolute and prismatic joints without closed loops.

    symbols : kinds of numbers that stay symbols (`closed_form_symbols.KINDS`).

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
    mass = ca.densify(mass_matrix(system, q, none))
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
        if body.kind not in KINDS:
            raise InputError(
                f"{source}: the closed form needs revolute or prismatic joints; joint "
                f"{body.joint!r} is {body.kind}"
            )
