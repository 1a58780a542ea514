"""Costs of the formulations in operations, traced on one robot with its numbers folded in."""

from __future__ import annotations

import contextlib

from ..equations.formulation import Study
from ..equations.programs import accelerations
from ..equations.system import System
from ..equations.textbook import formulations
from ..errors import InputError, ModelError
from ..program.operations import operations_of
from . import closed_form_program as closed_form_program  # declares formulations too

Counts = dict[str, int]


def formulation_counts(system: System) -> dict[str, Counts]:
    """Operations of every formulation that applies, without friction, by "what by whom".

    Newton-Euler, composite bodies and articulated bodies, the compiled ones, and Lagrange-Euler
    are traced on the regrouped inertias (`prepare.regrouping`); DeNOC and Gibbs-Appell ask for
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
