"""Formulas that a piezo robot's microprocessor evaluates: torques, pulses and controller.

X_i, Y_i, H_ii and g_i are trigonometric polynomials of the robot, as in its closed form; what is
made of them, eqs (3) and (5) of Kulvietis et al. (2011) and those of `pulse_equations`, is the
same for every robot.
"""

from __future__ import annotations

import casadi as ca

from ..equations.algebra.spatial import SX
from ..equations.programs import gravity_vector, mass_matrix, spring_vector
from ..export.closed_form import ClosedForm, Element, require_polynomial, turning
from ..export.polynomial import expand
from ..program.symbols import serialized
from ..robot import Robot
from . import programs
from .rotor import Rotor
from .torque import require_rotor


@serialized
def torque_formulas(robot: Robot, rotor: Rotor, link: str) -> ClosedForm:
    """X_i, Y_i, H_ii and g_i of a robot whose link carries a rotor, as polynomials.

    Q_i = m r w^2 (X_i cos(wt) + Y_i sin(wt)) is the torque of eq. (5).

    Parameters
    ----------
    robot : an open chain or tree of turning and sliding joints.
    rotor : turns about the z axis of `link`, at its origin; it must be a `Rotor`, but its numbers
        do not stand in the formulas.

    Raises
    ------
    InputError
        Closed loops, other joints, no rotor or an unknown link.

    Examples
    --------
    >>> import mbdyn_ros
    >>> robot = mbdyn_ros.load('''{name: rod, joints: [{name: swing, type: revolute, a: 0.5,
    ...   alpha: 0, d: 0, theta: 0, mass: 2, centre: [-0.25, 0, 0], link: tip,
    ...   inertia: {ixx: 0, iyy: 0.1, izz: 0.1}}]}''', gravity=[0, -10, 0])
    >>> form = torque_formulas(robot, Rotor(0.002, 0.005, 1000.0), "tip")
    >>> [(one.matrix, one.polynomial.coefficients) for one in form.elements]
    [('X', {}), ('Y', {(0,): 0.5}), ('H', {(0,): 0.225}), ('g', {(2,): 5.0})]
    """
    require_rotor(robot, rotor, link)
    system = robot.system
    require_polynomial(system, robot.model.source)
    n, none = robot.nv, SX(0, 1)
    q = SX.sym("q", n)
    components = programs.rotor_torques(system, q, none, link)
    weight = gravity_vector(system, q, none) + spring_vector(system, q, none)
    columns = [components[:, 0], components[:, 1], ca.diag(mass_matrix(system, q, none)), weight]
    function = ca.Function("torques", [q], [ca.densify(one) for one in columns], {"cse": True})
    angles = turning(system)
    elements = [
        Element(matrix, (k + 1, k + 1) if matrix == "H" else (k + 1,), polynomial)
        for matrix, polynomials in zip("XYHg", expand(function, angles), strict=True)
        for k, polynomial in enumerate(polynomials)
    ]
    gravity = tuple(float(x) for x in system.gravity)
    labels = robot.velocity_labels
    return ClosedForm(robot.model.name, labels, angles, gravity, tuple(elements))
