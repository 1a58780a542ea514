"""Operation counts of the formulations: traced on one robot, and the literature's formulas.

For serial robots with n joints: Kulvietis, Bansevicius, Cepulkauskas and Kulvietiene, "Computer
algebra for solving dynamics problems of piezoelectric robots with large number of joints" (2011),
tables 2 and 3, whose own closed forms are those of one robot with six joints.
For each branch of m links of a tree: Shafei and Shafei, "Dynamic modeling of tree-type robotic
systems by combining 3x3 rotation and 4x4 transformation matrices" (2018), table 1.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..equations.formulation import Study
from ..equations.programs import accelerations
from ..equations.system import System
from ..equations.textbook import formulations
from ..equations.textbook.gibbs_appell import branches
from ..equations.textbook.lagrange_euler import KINDS
from ..errors import InputError, ModelError
from ..prepare.tree import Tree
from ..program.program import operations_of
from . import closed_form_program as closed_form_program

Counts = dict[str, int]


def formulation_counts(system: System) -> dict[str, Counts]:
    """Operations of every formulation that applies, without friction, by "what by whom".

    Newton-Euler, composite bodies and articulated bodies, the compiled ones, and Lagrange-Euler
    are traced on the regrouped inertias (`equations.regrouping`); DeNOC and Gibbs-Appell ask for
    masses and their centres and are traced on the bodies' own. Lagrange-Euler is for serial
    robots of at most 12 joints: its matrices multiplied, and where they are short enough its
    closed forms evaluated. Gibbs-Appell is for trees; of loops, DeNOC counts its multipliers too;
    both are left out where the robot is too deep for its mass matrix (`System.is_deep`).

    Returns
    -------
    {"inverse_dynamics by Newton-Euler": {"multiplications": ..., ...}, ...}.
    """
    study, results = Study(system), {}
    given = (study.q, study.z, study.v, study.effort)
    for way, build in accelerations(study.system).items():
        results[f"forward_dynamics by {way}"] = build(*given, None, False)
    for one in formulations():
        if one.applies(study):
            with contextlib.suppress(InputError, ModelError):  # too many terms, loops or efforts
                results[str(one)] = one.expression(study)
    return {name: operations_of(study.symbols, one) for name, one in sorted(results.items())}


Line = tuple[str, str, int | None, int | None]
"""Authors, principle, products, sums; None where a formula gives none at this size."""


@dataclass(frozen=True)
class Row:
    """An algorithm, and its products and sums as polynomials; None if none is given."""

    authors: str
    principle: str
    products: Callable[[int], float]
    sums: Callable[[int], float] | None = None


INVERSE_DYNAMICS = (
    Row("Luh et al.", "Newton-Euler", lambda n: 150 * n - 48),
    Row("Angeles et al.", "Kane", lambda n: 105 * n - 109),
    Row("Balafoutis and Patel", "Newton-Euler", lambda n: 93 * n - 69),
    Row("Mata et al.", "Gibbs-Appell", lambda n: 96 * n - 101),
)
"""Products of the inverse dynamics of a serial robot (table 2)."""

OWN_INVERSE_DYNAMICS: Line = ("Kulvietis et al.", "Lagrange-Euler, closed form", 371, None)
OWN_MASS_MATRIX: Line = ("Kulvietis et al.", "Lagrange-Euler, closed form", 144, 186)
"""Of the paper's robot with six joints (tables 2 and 3)."""

MASS_MATRIX = (
    Row(
        "Walker and Orin",
        "Newton-Euler",
        lambda n: 12 * n**2 + 56 * n - 27,
        lambda n: 7 * n**2 + 67 * n - 56,
    ),
    Row(
        "Angeles and Ma",
        "Newton-Euler",
        lambda n: n**3 + 17 * n**2 - 21 * n + 8,
        lambda n: n**3 + 14 * n**2 - 16 * n + 5,
    ),
    Row(
        "Mata et al.",
        "Gibbs-Appell",
        lambda n: 11.5 * n**2 + 19.5 * n - 49,
        lambda n: 8.5 * n**2 + 31.5 * n - 69,
    ),
)
"""Products and sums of the inertia matrix of a serial robot (table 3)."""

TREE_MOTION = (
    Row(
        "Hollerbach",
        "Lagrange, 4x4",
        lambda m: 340 * m**2 + 1296 * m + 504,
        lambda m: 463 / 2 * m**2 + 2111 / 2 * m + 350,
    ),
    Row(
        "Mata et al.",
        "Gibbs-Appell, 3x3",
        lambda m: 186 * m**2 + 57 * m - 162,
        lambda m: 148 * m**2 + 145 * m - 215,
    ),
    Row(
        "Shafei and Shafei",
        "Gibbs-Appell, 3x3 and 4x4",
        lambda m: 507 / 2 * m**2 + 1631 / 2 * m + 297,
        lambda m: 146 * m**2 + 643 * m + 165,
    ),
)
"""Products and sums of the equations of motion of a tree, of one branch (table 1).

The paper gives them for n_b branches of n_m links, in proportion to n_b.
"""


def literature_tables(tree: Tree, counts: Mapping[str, Mapping[str, int]]) -> dict[str, list[Line]]:
    """The tables by title, at the size of a robot, each ending with our own counts.

    Tables 2 and 3 where the robot is one chain of revolute and prismatic joints, table 1 for
    other trees of them, floating or not (links of several branches count in each, as there);
    none for loops and other joints.

    Parameters
    ----------
    tree : the robot without its loops.
    counts : as `formulation_counts` gives them.
    """
    kinds = {body.kind for body in tree.bodies if body.parent >= 0}
    if not tree.bodies or not kinds <= set(KINDS):
        return {}
    chains, n = branches(tree), tree.nv
    if len(chains) == 1 and n == len(tree.bodies):
        inverse, matrix = _lines(INVERSE_DYNAMICS, n), _lines(MASS_MATRIX, n)
        if n == 6:
            inverse.append(OWN_INVERSE_DYNAMICS)
            matrix.append(OWN_MASS_MATRIX)
        return {
            f"Inverse dynamics, {n} joints": inverse + _ours(counts, "inverse_dynamics by "),
            f"Mass matrix, {n} joints": matrix + _ours(counts, "mass_matrix by "),
        }
    heavy = [sum(tree.bodies[i].inertia.mass > 0 for i in chain) for chain in chains]
    title = f"Equations of motion, branches of {', '.join(map(str, heavy))} links"
    ours = _ours(counts, "equations of motion by ") + _ours(counts, "forward_dynamics by ")
    return {title: _lines(TREE_MOTION, *heavy) + ours}


def _lines(rows: Sequence[Row], *sizes: int) -> list[Line]:
    """The rows at a size, or summed over several."""

    def at_size(formula: Callable[[int], float] | None) -> int | None:
        value = -1 if formula is None else round(sum(map(formula, sizes)))
        return value if value > 0 else None

    return [(row.authors, row.principle, at_size(row.products), at_size(row.sums)) for row in rows]


def _ours(counts: Mapping[str, Mapping[str, int]], prefix: str) -> list[Line]:
    return [
        ("mbdyn_ros", name[len(prefix) :], one["multiplications"], one["additions"])
        for name, one in counts.items()
        if name.startswith(prefix)
    ]
