"""What each formulation costs, traced on one robot with its numbers folded in."""

from __future__ import annotations

import contextlib

import casadi as ca

from ..equations.algebra.spatial import SX
from ..equations.loops.embedding import Embedding
from ..equations.programs import accelerations, inverse_dynamics, mass_matrix
from ..equations.system import System
from ..equations.textbook import gibbs_appell
from ..equations.textbook.denoc_loops import ClosedDenoc
from ..equations.textbook.lagrange_euler import LagrangeEuler, require_serial
from ..errors import InputError
from ..program.operations import operations_of
from .closed_form_program import closed_form_efforts

Counts = dict[str, int]

SHORT = 12
"""Joints up to which Lagrange-Euler, of cost n^4, is traced."""


def formulation_counts(system: System) -> dict[str, Counts]:
    """Operations of every formulation that applies, without friction, by "what by whom".

    Newton-Euler, composite bodies and articulated bodies, the compiled ones, and Lagrange-Euler
    are traced on the regrouped inertias (`model.regrouping`); DeNOC and Gibbs-Appell ask for
    masses and their centres and are traced on the bodies' own. Lagrange-Euler is for serial
    robots: its matrices multiplied, and where they are short enough its closed forms evaluated;
    Gibbs-Appell for trees; of loops, DeNOC counts its multipliers too. Their cost grows
    with powers of the number of joints: Lagrange-Euler is left out beyond 12 joints, the other two
    where `programs.accelerations` finds the robot too deep for its mass matrix.

    Returns
    -------
    {"inverse_dynamics by Newton-Euler": {"multiplications": ..., ...}, ...}.
    """
    coordinates = system.coordinates
    q, z = SX.sym("q", coordinates.nq), SX.sym("z", system.nz)
    v, a = SX.sym("v", coordinates.nv), SX.sym("a", coordinates.nv)
    effort = SX.sym("effort", len(coordinates.effort))
    symbols = [q, z, v, a, effort]
    embedding = system.embedding(q, z)
    joints, gravity = embedding.joints, system.gravity
    velocity, acceleration = embedding.motion(v, a)

    results = {
        "inverse_dynamics by Newton-Euler": inverse_dynamics(system, q, z, v, a, None, False),
        "mass_matrix by composite bodies": mass_matrix(system, q, z),
    }
    for way, build in accelerations(system).items():
        results[f"forward_dynamics by {way}"] = build(q, z, v, effort, None, False)
    if _is_serial(system) and system.tree.nv <= SHORT:
        form = LagrangeEuler(system.regrouped, joints, gravity)
        results["inverse_dynamics by Lagrange-Euler"] = form.efforts(velocity, acceleration)
        results["mass_matrix by Lagrange-Euler"] = form.H
        with contextlib.suppress(InputError):  # too many terms
            mass, efforts = closed_form_efforts(system, q, v, a)
            results["mass_matrix by Lagrange-Euler, closed form"] = mass
            results["inverse_dynamics by Lagrange-Euler, closed form"] = efforts
    if len(accelerations(system)) > 1:
        results.update(_by_whole_matrices(system, embedding, velocity, acceleration, effort))
    return {name: operations_of(symbols, result) for name, result in sorted(results.items())}


def _by_whole_matrices(
    system: System, embedding: Embedding, velocity: SX, acceleration: SX, effort: SX
) -> dict[str, SX]:
    """What DeNOC and Gibbs-Appell give."""
    results, joints, gravity = {}, embedding.joints, system.gravity
    denoc = ClosedDenoc(system, embedding, velocity)
    with contextlib.suppress(InputError):  # more loops than its order of solution can take
        results["inverse_dynamics by DeNOC"] = ca.vertcat(*denoc.inverse_dynamics(acceleration))
    results["mass_matrix by DeNOC"] = denoc.denoc.generalized_inertia
    if not system.linkages:
        motion = (system.tree, joints, velocity)
        driving = SX.zeros(system.tree.nv)
        driving[list(system.coordinates.effort)] = effort
        theirs = gibbs_appell.inverse_dynamics(*motion, acceleration, gravity)
        results["inverse_dynamics by Gibbs-Appell"] = theirs
        matrix, right = gibbs_appell.gibbs_appell(*motion, driving, gravity)
        results["mass_matrix by Gibbs-Appell"] = matrix
        results["equations of motion by Gibbs-Appell"] = ca.horzcat(matrix, right)
    return results


def _is_serial(system: System) -> bool:
    try:
        require_serial(system.tree)
    except InputError:
        return False
    return not system.linkages and system.tree.nv > 0
