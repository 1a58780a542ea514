"""The equations of a mechanism by DeNOC, to be looked at: numbers, and formulas with symbols.

Numbers in brackets are equations of Kumar, Vantmuri, Chittawadigi and Saha, "Dynamic analyses of
four-bar mechanism in MechAnalyzer software".

(18) is shown whole: in the plane W has no element, and W M N is 0.

lambda is what the cut joints bear: of a pin the force (fx, fy) of its first part on its second; of
a slide the force across it and the moment about the second part's origin; of a mesh the moment
on the driven wheel; of a cam the effort on its follower's joint. It is the -lambda of
the paper, whose equation (21) counts in the other direction: J here is [-J_I  J_II].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..equations.algebra.spatial import SX
from ..export.closed_form import SymbolicNumber
from ..export.polynomial import COEFFICIENT_ROUNDING, Polynomial, expand
from ..model.model import Array
from ..program.symbols import serialized
from .cut_open import CutOpen
from .denoc_formulas import DenocFormulas, FollowedCam
from .design import unit_of
from .disk_cam import OF_ARMS, DiskCam
from .layout import MechanismLayout, PartConnection, turned
from .mechanism import Mechanism

MEANINGS = {
    "M": "masses of the uncoupled bodies, (4), (7), (8)",
    "W": "angular velocities, (4), (8); they are across the plane, where they have no element",
    "N_l": "twist propagation, (14)",
    "N_d": "joint motion propagation, (14)",
    "N": "natural orthogonal complement, (10)",
    "N_rate": "its derivative in time, (18)",
    "W M N": "of (18); 0 in the plane, where a spin is along its angular momentum",
    "I": "generalized inertia, (18)",
    "C": "convective inertia, (18)",
    "tau_g": "weight, (17), and springs of cams' followers",
    "J": "what the cut joints hold together, (21)",
    "J_rate": "its derivative in time, (22)",
}
"""The meaning of each matrix, with the numbers of the paper's equations."""

LETTERS = {"mass": "m", "inertia": "I", "length": "l", "center_along": "a", "center_across": "b",
           "ratio": "i", "third_along": "h", "third_across": "k", "lift_slope": "s'",
           "lift_bend": "s''", "swing_slope": "s'", "swing_bend": "s''", "spring_force": "F",
           "spring_moment": "M"}  # fmt: skip
"""Letters for the numbers of links, by the ends of their names."""

OF_JOINTS = {
    (False, False): ("phi", "angle", "in the plane", "rad"),
    (False, True): ("w", "rate", "in the plane", "rad/s"),
    (True, False): ("x", "place", "on its slide", "m"),
    (True, True): ("xd", "speed", "on its slide", "m/s"),
}
"""Letter, words and unit of the motion of a part, by whether it slides, and whether of its rate."""

OF_SLIDE = "lift_slope", "lift_bend", "spring_force"
OF_ARM = "swing_slope", "swing_bend", "spring_moment"
"""Ends of the names of what the law and the spring of a follower are at an instant."""

NO_SYMBOLS = ("branch", "_teeth", "_ratio", "_phase", "_base_radius", "_roller_radius",
              "_pressure_limit",
              *(f"_{end}" for pair in OF_ARMS.items() for end in pair))  # fmt: skip
"""Ends of the names of settings that do not occur in the formulas: of cams s', s'' and the effort
of the spring do."""


@dataclass(frozen=True)
class Symbol(SymbolicNumber):
    """A variable of the formulas; an `angle` occurs in them as its cosine and sine."""

    index: str
    angle: bool = False


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix of the formulation: what its rows and columns are about, and its elements.

    formulas : of all elements, row by row. values : (rows, columns), at the instant; what is
    rounding of the sum of its terms is 0.
    """

    meaning: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    formulas: tuple[tuple[Polynomial, ...], ...]
    values: Array


@dataclass(frozen=True, eq=False)
class DenocEquations:
    """The equations of a mechanism at an instant and a cut.

    bodies : in the order of the twists. joints : that move them. driven : those with a drive.
    cuts : the cut joints. subsystems : the bodies of each tree that the cuts leave.
    symbols : the variables of all formulas, in their order. zeros : numbers of the mechanism
    that are 0 and do not occur in them. matrices : by name, as in `MEANINGS`.
    thd, thdd : rates and accelerations (n,) of the joints. tau : efforts (n,), 0 in passive ones.
    multipliers : lambda (m,). multiplier_names : what each element is.
    steps : rows of passive joints, and the elements of lambda that they give.
    """

    mechanism: Mechanism
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    driven: tuple[str, ...]
    cuts: tuple[PartConnection, ...]
    subsystems: tuple[tuple[str, ...], ...]
    symbols: tuple[Symbol, ...]
    zeros: tuple[str, ...]
    matrices: Mapping[str, Matrix]
    thd: Array
    thdd: Array
    tau: Array
    multipliers: Array
    multiplier_names: tuple[str, ...]
    steps: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]

    @property
    def right_side(self) -> Array:
        """I thdd + C thd - tau_g (n,) of (17): what tau and J^T lambda make up together."""
        inertia, convective, weight = (self.matrices[name].values for name in ("I", "C", "tau_g"))
        found: Array = inertia @ self.thdd + convective @ self.thd - weight[:, 0]
        return found

    @property
    def bordered(self) -> tuple[Array, Array, Array]:
        """A (n + m, n + m), x and B (n + m,) of (22): A x = B, with x = [thdd; -lambda]."""
        inertia, convective, J = (self.matrices[name].values for name in ("I", "C", "J"))
        rate = self.matrices["J_rate"].values
        drift = _without_rounding(rate @ self.thd, abs(rate) @ abs(self.thd))
        weight = self.matrices["tau_g"].values[:, 0]
        A = np.block([[inertia, J.T], [J, np.zeros((len(J), len(J)))]])
        B = np.concatenate([self.tau + weight - convective @ self.thd, 0.0 - drift])
        return A, np.concatenate([self.thdd, -self.multipliers]), B

    def determinant(self, step: int) -> Polynomial | None:
        """Of J^T in the rows and elements of a step; None where it has more than two of each."""
        passive, unknown = self.steps[step]
        J = self.matrices["J"].formulas
        if len(passive) == 1:
            return J[unknown[0]][passive[0]]
        if len(passive) != 2:
            return None
        (i, j), (k, m) = passive, unknown
        return J[k][i] * J[m][j] - J[m][i] * J[k][j]


@serialized
def denoc_equations(
    mechanism: Mechanism,
    q: ArrayLike,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    cut: Sequence[str] = (),
) -> DenocEquations:
    """The equations of a mechanism by DeNOC, at an instant and a cut.

    Parameters
    ----------
    q, v, a : (n,) rad, rad/s, rad/s^2, of the inputs; rates are 0 by default.
    cut : names of the joints to cut, one for each loop; by default the closing pins.

    Raises
    ------
    InputError
        It cannot be assembled there, or not be cut so.

    Examples
    --------
    >>> from mbdyn_ros.mechanisms import FourBar
    >>> found = denoc_equations(FourBar(), [1.0], [20.0], cut=["coupler_joint"])
    >>> found.subsystems
    (('crank',), ('rocker', 'coupler'))
    """
    driven = tuple(f"{name}_joint" for name in mechanism.inputs)
    whole = {key: float(one) for key, one in mechanism.numbers().items()}
    cams = mechanism.layout().cams
    fixed = {key: one for key, one in whole.items() if key.endswith(NO_SYMBOLS)}
    numbers = {key: one for key, one in whole.items() if key not in fixed}
    ratios = {f"{one.name}_ratio": float(one.ratio) for one in mechanism.layout().meshes}
    shown = {key: SX.sym(key) for key, value in numbers.items() if value}
    symbolic = type(mechanism).of_numbers({**fixed, **numbers, **shown})
    layout = symbolic.layout()
    shown |= {key: SX.sym(key) for key in ratios}
    numbers |= ratios
    laws = [_law(mechanism, one, q) for one in cams]
    for law in laws:
        numbers |= law
        shown |= {key: SX.sym(key) for key in law}
    followed = [
        FollowedCam(one, *(shown[key] for key in law)) for one, law in zip(cams, laws, strict=True)
    ]
    meshes = [replace(one, ratio=shown[f"{one.name}_ratio"]) for one in layout.meshes]
    geared = {name for mesh in layout.meshes for name, _ in mesh.factors}
    geared |= {name for one in cams for name in (one.cam, one.follower)}
    for name in cut:
        if name.removesuffix("_joint") in geared:
            raise mechanism.refusal(f"teeth or a cam press on {name}; cut a joint without them")
    opened = CutOpen.of(layout, cut, driven, mechanism.refusal)
    formulas = DenocFormulas(opened, SX(symbolic.gravity), driven, meshes, followed)
    places, rates, accelerations = _motion(mechanism, opened, q, v, a)

    closed, parameters = formulas.closed, ca.vertcat(*shown.values())
    variables = ca.vertcat(formulas.places, formulas.rates, parameters)
    values = np.concatenate([places, rates, [numbers[key] for key in shown]]).tolist()
    symbols = _symbols(opened, list(shown), values)
    outputs = {name: ca.densify(one) for name, one in formulas.matrices().items()}
    function = ca.Function("denoc", [variables], list(outputs.values()), {"cse": True})
    angles = [one.angle for one in symbols]
    polynomials = expand(function, angles)
    labels = _labels(opened, layout)
    matrices = {}
    for (name, output), elements in zip(outputs.items(), polynomials, strict=True):
        columns = np.array(elements, dtype=object).reshape(output.shape[::-1])
        rows = tuple(map(tuple, columns.T))
        numbers_there = np.array([[one.value(values, angles) for one in row] for row in rows])
        matrices[name] = Matrix(MEANINGS[name], *labels[name], rows, numbers_there)

    drive = ca.Function(
        "drive", [variables, formulas.accelerations], list(formulas.inverse_dynamics())
    )
    torque, multipliers = (np.array(one).ravel() for one in drive(values, accelerations))
    joints = tuple(hung.joint.name for hung in opened.parts)
    apart = formulas.differences
    thd, thdd = (_without_rounding(apart @ one, np.abs(apart) @ np.abs(one))
                 for one in (rates, accelerations))  # fmt: skip
    tau = np.zeros(len(joints))
    tau[list(closed.actuated)] = torque
    bodies = tuple(hung.part.name for hung in opened.parts)
    return DenocEquations(
        mechanism,
        bodies,
        joints,
        driven,
        opened.cuts,
        tuple(tuple(bodies[i] for i in one.bodies) for one in closed.subsystems),
        symbols,
        tuple(key.replace("_", " ") for key, value in numbers.items() if not value),
        matrices,
        thd,
        thdd,
        tau,
        multipliers,
        labels["J"][0],
        tuple((tuple(rows), tuple(unknown)) for rows, unknown in closed.solution_order()),
    )


def _law(mechanism: Mechanism, cam: DiskCam, q: ArrayLike) -> dict[str, float]:
    """s', s'' and the effort of the spring of a cam's follower, by the names of their symbols."""
    place, slope, bend = cam.motion(mechanism.shaft_angle(cam.cam, mechanism.states("q", q)))
    values = slope[0], bend[0], cam.spring_effort(place[0])
    ends = OF_SLIDE if cam.arm is None else OF_ARM
    return {f"{cam.cam}_{end}": float(one) for end, one in zip(ends, values, strict=True)}


def _without_rounding(values: Array, sizes: Array) -> Array:
    """Sums, 0 where they are rounding of terms that add up to `sizes` in magnitude."""
    return np.where(np.abs(values) > COEFFICIENT_ROUNDING * sizes, values, 0.0)


def _motion(
    mechanism: Mechanism, opened: CutOpen, q: ArrayLike, v: ArrayLike | None, a: ArrayLike | None
) -> Array:
    """Places, rates and accelerations (3, n) of the parts in the tree, of turns absolute angles."""
    rest = np.zeros(len(mechanism.inputs))
    states = [mechanism.states(key, rest if one is None else one) for key, one in
              (("q", q), ("v", v), ("a", a))]  # fmt: skip
    if len(states[0]) != 1:
        raise mechanism.refusal(f"q has {len(states[0])} rows; the equations are of one instant")
    joints = np.array(mechanism.joint_state(*states))
    layout = mechanism.layout()
    angles = [turned(layout, one, rate=order > 0) for order, one in enumerate(joints)]
    sliding = {part.name: joints[:, 0, k] for k, part in enumerate(layout.parts) if part.slides}
    return np.stack(
        [
            sliding[hung.joint.second]
            if hung.joint.slides
            else [float(one[hung.part.name][0]) for one in angles]
            for hung in opened.parts
        ],
        axis=1,
    )


def _symbols(opened: CutOpen, shown: Sequence[str], values: Array) -> tuple[Symbol, ...]:
    """The variables of the formulas: places, rates, numbers of the mechanism."""
    found: list[tuple[str, str, str, str, bool]] = []
    for rate in (False, True):
        for hung in opened.parts:
            name = hung.joint.second if hung.joint.slides else hung.part.name
            letter, what, where, unit = OF_JOINTS[hung.joint.slides, rate]
            found.append((letter, name, f"{what} of the {name} {where}", unit, letter == "phi"))
    for name in shown:
        end = next((one for one in LETTERS if name.endswith(f"_{one}")), None)
        unit = "1" if name.endswith(OF_ARM[:2]) else unit_of(name)
        letter, index = (name, "") if end is None else (LETTERS[end], name[: -len(end) - 1])
        if name == "gravity":
            letter = "g"
        found.append((letter, index, name.replace("_", " "), unit, False))
    return tuple(
        Symbol(letter, index, what, unit, float(value), angle)
        for (letter, index, what, unit, angle), value in zip(found, values, strict=True)
    )


def _labels(
    opened: CutOpen, layout: MechanismLayout
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Names of the rows and columns of every matrix."""
    bodies = [hung.part.name for hung in opened.parts]
    joints = tuple(hung.joint.name for hung in opened.parts)
    twists = tuple(f"{body} {one}" for body in bodies for one in ("w", "cd_x", "cd_y"))
    held = tuple(
        f"{cut.name} {what}"
        for cut in opened.cuts
        for what in (("across", "moment") if cut.slides else ("x", "y"))
    )
    held += tuple(f"{one.name} moment" for one in layout.meshes)
    held += tuple(f"{one.name} {'force' if one.arm is None else 'moment'}" for one in layout.cams)
    return {
        **dict.fromkeys(("M", "W", "N_l"), (twists, twists)),
        **dict.fromkeys(("N_d", "N", "N_rate", "W M N"), (twists, joints)),
        **dict.fromkeys(("I", "C"), (joints, joints)),
        "tau_g": (joints, ("effort",)),
        **dict.fromkeys(("J", "J_rate"), (held, joints)),
    }
