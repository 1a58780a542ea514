"""Closed forms as one evaluates them: with few products.

A polynomial is taken apart by Horner's scheme in many variables: the cosine, sine or slide that
occurs in most of its terms is taken out of them, and so on with what is left of both parts.
Parts that several elements share are evaluated once, as are parts that are the negative of one.

Where the axes of neighbouring joints are parallel, only the sum of their angles turns what lies
further out: the polynomials are in its sine and cosine, which makes them much shorter.

Next to it the scheme of the paper (Kulvietis et al. 2011, section 4), in the angles of single
joints: a dictionary of the monomials in ascending order of their powers, each by one product from
one before it, and then every element as the sum of coefficients times entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from ..equations.algebra.spatial import SX
from ..equations.formulation import Study, formulation
from ..equations.system import System
from ..equations.textbook.lagrange_euler import is_short_chain
from ..program.program import program
from .c_library import CProgram
from .closed_form import polynomials, require_polynomial, turning, with_symbolic_numbers
from .polynomial import MOST_PRODUCTS, Polynomial

AXES_ALONG = 1e-12
"""Deviation of a direction cosine from 1 under which axes are parallel."""

MOST_PRODUCTS_EVALUATED = 16_000
"""Products of two terms in polynomials that are evaluated: thousands of terms, not more."""

Powers = tuple[int, ...]


def closed_form_efforts(
    system: System,
    q: SX,
    v: SX,
    a: SX,
    most: int = MOST_PRODUCTS_EVALUATED,
    by_dictionary: bool = False,
) -> tuple[SX, SX]:
    """H (n, n) and P = H qdd + qd^T C qd + g (n, 1), evaluated by the closed forms.

    by_dictionary : by the paper's dictionary of monomials instead of Horner's scheme.

    Parameters
    ----------
    system : one chain of revolute and prismatic joints.
    q, v, a : independent positions, velocities and accelerations (n, 1).
    most : products of two terms that may be needed.

    Raises
    ------
    InputError
        The polynomials have too many terms.
    """
    angles = turning(system)
    n = len(angles)
    sums = np.eye(n, dtype=int) if by_dictionary else angle_sums(system)
    p = [ca.dot(ca.sparsify(ca.DM(row)), q) for row in sums]
    variables = [ca.cos(one) if angle else one for one, angle in zip(p, angles, strict=True)]
    known = [] if system.parameters is None else ca.vertsplit(system.parameters)
    variables += known
    variables += [ca.sin(one) if angle else SX(0) for one, angle in zip(p, angles, strict=True)]
    scheme = _Dictionary(variables) if by_dictionary else _Horner(variables)
    values = {
        (one.matrix, *one.indices): scheme.value(one.polynomial)
        for one in polynomials(system, sums, max(most, MOST_PRODUCTS) if known else most)
    }
    mass, efforts = SX(n, n), []
    for i in range(n):
        for j in range(n):
            mass[i, j] = values["H", min(i, j) + 1, max(i, j) + 1]
        effort = values["g", i + 1]
        for k in range(n):
            effort += mass[i, k] * a[k]
            rates = sum(
                (values["C", i + 1, k + 1, m + 1] * (v[m] if m == k else 2 * v[m])
                 for m in range(k, n)), SX(0)
            )  # fmt: skip
            effort += rates * v[k]
        efforts.append(effort)
    return mass, ca.vertcat(*efforts)


def angle_sums(system: System) -> np.ndarray:
    """The whole numbers (n, n) of p = sums q: how far each body has turned about its axis.

    Along parallel axes from their first joint on; slides as they are.
    """
    tree, row = system.tree, {start: k for k, start in enumerate(system.coordinates.q)}
    sums = np.eye(tree.nv, dtype=int)
    for body in tree.bodies:
        before = tree.bodies[body.parent] if body.parent >= 0 else None
        if before is not None and body.kind == before.kind == "revolute":
            along = body.placement.rotation[2, 2]  # both turn about their z axes
            if abs(along) > 1 - AXES_ALONG:
                k, parent = row[body.q.start], row[before.q.start]
                sums[k] += round(along) * sums[parent]
    return sums


def _by_powers(polynomial: Polynomial) -> dict[Powers, float]:
    """Coefficients by the powers of all variables: cosines and slides, then sines."""
    return {
        (*(code // 2 for code in codes), *(code % 2 for code in codes)): value
        for codes, value in polynomial.coefficients.items()
    }


class _Dictionary:
    """Polynomials by a dictionary of monomials, each from one before it by one product."""

    def __init__(self, variables: list[SX]) -> None:
        self._variables = variables
        self._entries: dict[Powers, SX] = {(0,) * len(variables): SX(1)}

    def value(self, polynomial: Polynomial) -> SX:
        """The polynomial as an expression of the variables: cosines and slides, then sines."""
        terms = _by_powers(polynomial)
        return sum((terms[one] * self._entry(one) for one in sorted(terms)), SX(0))

    def _entry(self, powers: Powers) -> SX:
        if powers not in self._entries:
            last = max(k for k, power in enumerate(powers) if power)
            before = (*powers[:last], powers[last] - 1, *powers[last + 1 :])
            self._entries[powers] = self._entry(before) * self._variables[last]
        return self._entries[powers]


class _Horner:
    """Polynomials by Horner's scheme, each part once."""

    def __init__(self, variables: list[SX]) -> None:
        self._variables = variables
        self._known: dict[frozenset[tuple[Powers, float]], SX] = {}

    def value(self, polynomial: Polynomial) -> SX:
        """The polynomial as an expression of the variables: cosines and slides, then sines."""
        return self._value(_by_powers(polynomial))

    def _value(self, terms: dict[Powers, float]) -> SX:
        if not terms:
            return SX(0)
        key = frozenset(terms.items())
        opposite = frozenset((powers, -value) for powers, value in terms.items())
        if opposite in self._known:
            return -self._known[opposite]
        if key not in self._known:
            self._known[key] = self._taken_apart(terms)
        return self._known[key]

    def _taken_apart(self, terms: dict[Powers, float]) -> SX:
        uses = np.count_nonzero(np.array(list(terms)), axis=0)
        most = int(np.argmax(uses))
        if not uses[most]:
            return SX(*terms.values())
        divided, rest = {}, {}
        for powers, value in terms.items():
            if powers[most]:
                divided[(*powers[:most], powers[most] - 1, *powers[most + 1 :])] = value
            else:
                rest[powers] = value
        product = self._variables[most] * self._value(divided)
        return product + self._value(rest) if rest else product


@program("q v a", output="effort", internal=True)
def closed_form_inverse_dynamics(system: System, q: SX, z: SX, v: SX, a: SX) -> SX:
    """P = H qdd + qd^T C qd + g (nv, 1), by the closed forms; without friction."""
    return closed_form_efforts(system, q, v, a)[1]


@program("q", output="matrix", matrix=True, internal=True)
def closed_form_mass_matrix(system: System, q: SX, z: SX) -> SX:
    """H (nv, nv) by the closed forms."""
    rest = SX.zeros(len(system.coordinates.v))
    return closed_form_efforts(system, q, rest, rest)[0]


CLOSED_FORMS = (
    CProgram(
        closed_form_inverse_dynamics, None,
        "Efforts that cause the accelerations a, by the closed form; without friction.", {},
    ),
    CProgram(closed_form_mass_matrix, None, "Mass matrix, by the closed form.", {}),
)  # fmt: skip
"""The closed forms as programs to export next to the recursions."""


def closed_form_programs(
    system: System, source: str, symbols: Sequence[str] = ()
) -> tuple[CProgram, ...]:
    """The closed forms as `Robot.generate_c` takes them.

    symbols : kinds of numbers that are arguments (`closed_form.NUMBER_KINDS`).

    Raises
    ------
    InputError
        The robot has none: closed loops, or joints that neither turn nor slide.
    """
    require_polynomial(system, source)
    if not symbols:
        return CLOSED_FORMS
    symbolic = with_symbolic_numbers(system, symbols)
    values = np.array([one.value for one in symbolic.numbers])
    listed = "; ".join(
        f"[{k}] {one.letter}_{one.index}: {one.meaning}, {one.value:.6g} {one.unit}"
        for k, one in enumerate(symbolic.numbers)
    )
    return tuple(
        replace(
            one, text=f"{one.text} Parameters: {listed}.", subject=symbolic.system,
            examples={"parameters": lambda state: values},
        )
        for one in CLOSED_FORMS
    )  # fmt: skip


@formulation("inverse_dynamics", "Lagrange-Euler, closed form", applies=is_short_chain)
def _efforts(study: Study) -> SX:
    return closed_form_efforts(study.system, study.q, study.v, study.a)[1]


@formulation("mass_matrix", "Lagrange-Euler, closed form", applies=is_short_chain)
def _inertia(study: Study) -> SX:
    return closed_form_efforts(study.system, study.q, study.v, study.a)[0]


@formulation("inverse_dynamics", "Lagrange-Euler, dictionary of monomials", applies=is_short_chain)
def _efforts_by_dictionary(study: Study) -> SX:
    return closed_form_efforts(study.system, study.q, study.v, study.a, by_dictionary=True)[1]


@formulation("mass_matrix", "Lagrange-Euler, dictionary of monomials", applies=is_short_chain)
def _inertia_by_dictionary(study: Study) -> SX:
    return closed_form_efforts(study.system, study.q, study.v, study.a, by_dictionary=True)[0]
