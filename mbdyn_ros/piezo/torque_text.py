"""Formulas of a piezo robot's torques, pulses and controller as text, Markdown and LaTeX.

X_i, Y_i, H_ii and g_i are trigonometric polynomials of the robot, as in its closed form; what is
made of them, eqs (3) and (5) of Kulvietis et al. (2011) and those of `pulse_equations`, is the
same for every robot. The text is Python: it defines the controller, in the order of evaluation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from ..equations.algebra.spatial import SX
from ..equations.programs import gravity_vector, joint_space_inertia, spring_vector
from ..export.closed_form import ClosedForm, Element, require_polynomial, turning
from ..export.closed_form_text import (
    PREAMBLE,
    legend,
    plain_legend,
    set_formulas,
    to_elements,
    zeros_line,
)
from ..export.polynomial import expand
from ..names import in_latex, in_markdown, in_markdown_code, in_text
from ..program.symbols import serialized
from ..robot import Robot
from . import programs
from .programs import require_rotor
from .rotor import Rotor


@dataclass(frozen=True)
class FormulaStep:
    """One formula for every joint: its result, in LaTeX, and in Python."""

    words: str
    latex: str
    python: str


STEPS = (
    FormulaStep(
        "the rotor's force, eq. (3), N",
        r"F = m r \omega^2",
        "def F(m, r, w): return m*r*w**2",
    ),
    FormulaStep(
        "its torque at the phase wt, eq. (5), N m or N",
        r"Q_i = F (X_i \cos \omega t + Y_i \sin \omega t) = R_i \cos(\omega t - \psi_i)",
        "def Q(F, X, Y, wt): return F*(X*cos(wt) + Y*sin(wt))",
    ),
    FormulaStep(
        "amplitude and phase of that",
        r"R_i = F \sqrt{X_i^2 + Y_i^2},\quad \psi_i = \operatorname{atan2}(Y_i, X_i)",
        "def R(F, X, Y): return F*sqrt(X**2 + Y**2)\ndef psi(X, Y): return atan2(Y, X)",
    ),
    FormulaStep(
        "half the width of the pulse that gives the mean torque T over a turn",
        r"d_i = \arcsin \min\left(1, \frac{\pi |T_i|}{R_i}\right),\quad "
        r"d_i = 0 \text{ if } R_i = 0",
        "def half(T, R): return asin(min(1, pi*abs(T)/R)) if R else 0",
    ),
    FormulaStep(
        "when the transducer is on, phases of the rotor",
        r"\text{on}_i, \text{off}_i = \psi_i + \pi\,[T_i < 0] \mp d_i \pmod{2 \pi}",
        "def on(psi, T, d): return (psi + pi*(T < 0) - d) % (2*pi)\n"
        "def off(psi, T, d): return (psi + pi*(T < 0) + d) % (2*pi)",
    ),
    FormulaStep(
        "controller: the displacement wanted in the next turn, rad or m; 0 within the tolerance",
        r"s_i = \frac{2 \pi}{\omega} (\dot q_i^\text{ref} + k (q_i^\text{ref} - q_i))",
        "def displacement(q, q_ref, v_ref, k, w): return 2*pi/w*(v_ref + k*(q_ref - q))",
    ),
    FormulaStep(
        "load against the motion; the joint stays held, T = 0, unless R_i is larger and not 0",
        r"\gamma_i = g_i \operatorname{sign} s_i < R_i,\quad 0 < R_i",
        "def load(g, s): return g if s >= 0 else -g\ndef able(R, y): return 0 < R and y < R",
    ),
    FormulaStep(
        "the widest pulse: beyond it the torque drives back",
        r"\bar d_i = \arccos \min(1, \max(0, \gamma_i / R_i))",
        "def widest(R, y): return acos(min(1, max(0, y/R)))",
    ),
    FormulaStep(
        "what a pulse of half-width d moves, times H w^2",
        r"f_i(d) = 2 d\, (R_i \sin d - \gamma_i d)",
        "def f(d, R, y): return 2*d*(R*sin(d) - y*d)",
    ),
    FormulaStep(
        "inverse dynamics: f_i(d) = H_ii w^2 |s_i|, at most f_i of the widest; Newton's method",
        r"d \leftarrow d + \frac{H_{ii} \omega^2 |s_i| - f_i(d)}{f_i'(d)},\quad "
        r"d_0 = \sqrt{\frac{H_{ii} \omega^2 |s_i|}{2 (R_i - \gamma_i)}},\quad "
        r"f_i'(d) = 2 (R_i \sin d - \gamma_i d) + 2 d (R_i \cos d - \gamma_i)",
        "def inverse(s, R, y, H, w):\n"
        "    most = widest(R, y)\n"
        "    wanted = min(H*w**2*abs(s), f(most, R, y))\n"
        "    d = min(sqrt(wanted/(2*(R - y))), most)\n"
        "    for _ in range(6):\n"
        "        slope = 2*(R*sin(d) - y*d) + 2*d*(R*cos(d) - y)\n"
        "        d = min(max(d + (wanted - f(d, R, y))/(slope if slope > 0 else 1), 0), most)\n"
        "    return d",
    ),
    FormulaStep(
        "and the mean torque that this is",
        r"T_i = \frac{R_i}{\pi} \sin(d)\, \operatorname{sign} s_i",
        "def T(R, d, s): return (1 if s >= 0 else -1)*R*sin(d)/pi if R else 0",
    ),
)
"""The formulas that are the same for every robot, in the order of their evaluation."""

REMARK = (
    "X_i, Y_i: torque of a force of 1 N along x, y of the rotor's link; H_ii: inertia; "
    "g_i: torque that holds the joint"
)

HEADS = {"X": "X, m", "Y": "Y, m", "H": "H, kg m^2", "g": "g, N m"}
"""Headings of the polynomials; of slides X and Y are 1, H kg and g N."""


def torques_in_text(form: ClosedForm, digits: int | None = None) -> str:
    """The formulas as Python: polynomials, then functions that every joint takes."""
    lines = [f"# {in_text(form.robot)}: torques of the rotor, pulse windows, controller"]
    lines += [*plain_legend(form), f"# {REMARK}"]
    lines += [f"{name} = {formula}" for name, formula in to_elements(form, digits).items()]
    for step in STEPS:
        lines += ["", f"# {step.words}", step.python]
    return "\n".join(lines) + "\n"


def torques_in_markdown(form: ClosedForm, digits: int | None = None) -> str:
    """Headings, and formulas between double dollars."""
    lines = [f"# {in_markdown(form.robot)}: torques of the rotor, pulse windows, controller", ""]
    lines += [f"- {line}" for line in (*legend(form, in_markdown_code), in_markdown(REMARK))]
    for matrix, head in HEADS.items():
        lines += ["", f"## {in_markdown(head)}"]
        elements = [one for one in form.elements if one.matrix == matrix]
        for formula in set_formulas(form, elements, "aligned", digits):
            lines += ["", f"$$\n{formula}\n$$"]
        lines += [part for zeros in zeros_line(elements) for part in ("", zeros)]
    lines += ["", "## Of every joint"]
    for step in STEPS:
        lines += ["", f"{in_markdown(step.words)}:", "", f"$${step.latex}$$"]
    return "\n".join(lines) + "\n"


def torques_in_latex(form: ClosedForm, digits: int | None = None) -> str:
    """A document with amsmath."""
    lines = [f"{PREAMBLE}\\section*{{{in_latex(form.robot)}}}", "\\begin{itemize}"]
    lines += [f"\\item {line}" for line in (*legend(form, in_latex), in_latex(REMARK))]
    lines += ["\\end{itemize}", *set_formulas(form, form.elements, "align*", digits)]
    lines += zeros_line(form.elements)
    for step in STEPS:
        lines += ["", f"{in_latex(step.words)}:", f"\\[{step.latex}\\]"]
    return "\n".join([*lines, "\\end{document}"]) + "\n"


TORQUE_FORMATS: dict[str, Callable[[ClosedForm, int | None], str]] = {
    "text": torques_in_text,
    "markdown": torques_in_markdown,
    "latex": torques_in_latex,
}
"""How they can be written."""


@serialized
def torque_formulas(robot: Robot, rotor: Rotor, link: str) -> ClosedForm:
    """X_i, Y_i, H_ii and g_i of a robot whose link carries a rotor, as polynomials.

    Q_i = m r w^2 (X_i cos(wt) + Y_i sin(wt)) is the torque of eq. (5).

    Parameters
    ----------
    robot : an open chain or tree of turning and sliding joints.
    rotor : turns about the z axis of `link`, at its origin; it must be a `Rotor`, but its numbers
        do not occur in the formulas.

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
    inertia = ca.diag(joint_space_inertia(system, q, none))
    columns = [components[:, 0], components[:, 1], inertia, weight]
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
