"""The steps of the papers on parallel-serial machines at one state, as numbers to be redone.

Symbols and numbers of equations are those of `equations.textbook.parallel_serial` and of
`equations.textbook.virtual_decomposition`, which compute them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..array import Array
from ..equations.algebra.spatial import SX
from ..equations.formulation import Study
from ..equations.textbook.parallel_serial import (
    Manipulator,
    Module,
    ModuleDynamics,
    Required,
    is_parallel_serial,
)
from ..equations.textbook.virtual_decomposition import Cut, VirtualDecomposition
from ..errors import InputError
from ..prepare.tree import WORLD
from .robot import Robot
from .steps import ZERO_IN_PRINT, Quantity, Steps


def module_steps(
    robot: Robot,
    q: Array,
    v: Array,
    a: Array | None = None,
    effort: Array | None = None,
    friction: bool = True,
) -> list[Steps]:
    """The steps from the base to the tools, for accelerations or for efforts.

    Parameters
    ----------
    q, v : (nq,), (nv,) the state. a : (nv,) accelerations, of inverse dynamics; or
    effort : (nv,) of the actuated joints, of forward dynamics.
    friction : whether that of joints, which is not in the paper, is counted as a further effort.

    Raises
    ------
    InputError
        The machine is not made of single joints and loops of an upper link and a cylinder.

    Examples
    --------
    >>> import numpy as np
    >>> from mbdyn_ros import load
    >>> boom = load("urdf/boom.urdf")
    >>> (steps,) = module_steps(boom, np.array([0.1]), np.zeros(1), a=np.zeros(1))
    >>> round(float(steps["mu"][0, 0])) == round(float(boom.mass_matrix([0.1])[0, 0]))
    True
    """
    study = parallel_serial_study(robot)
    manipulator = Manipulator(study)
    coordinates, order = study.system.coordinates, manipulator.coordinates
    given = study.effort[[coordinates.effort.index(coordinates.v[k]) for k in order]]
    forward = ca.Function("forward", study.symbols, [manipulator.forward(given)])
    required = manipulator.inverse(study.a)
    inverse = ca.Function("inverse", study.symbols, [required.efforts])

    rest, home = np.zeros(robot.nv), robot.system.home[robot.system.numerical_dependent_rows]
    still = np.array(inverse(q, home, v, rest, rest))[:, 0]
    drivers = [coordinates.effort.index(coordinates.v[k]) for k in order]
    lost = (
        robot.inverse_dynamics(q, v, rest, friction=friction)[drivers] - still
    )  # the same at all accelerations
    if a is None:
        acting = np.zeros(robot.nv)
        acting[drivers] = np.asarray(effort)[drivers] - lost
        a = np.zeros(robot.nv)
        a[order] = np.array(forward(q, home, v, rest, acting))[:, 0]

    made = manipulator.assemblies(required.efforts)
    drafts = [
        [*_kinematics(manipulator, n, study), *_dynamics(manipulator, n, study, required, one)]
        for n, one in enumerate(made)
    ]
    result = []
    for n, quantities in enumerate(evaluated(study.symbols, drafts, (q, home, v, a, rest))):
        if abs(lost[n]) > ZERO_IN_PRINT * np.abs(still).max():
            meaning = "further effort, of springs and friction, not in the paper"
            unit = quantities[-1].unit
            quantities.append(Quantity("", "f_0", meaning, unit, np.array([[lost[n]]])))
        result.append(Steps(title(robot, manipulator.modules[n]), tuple(quantities)))
    return result


Draft = tuple[str, str, str, str, SX, str]
"""A `Quantity` on symbols: its body comes last."""


def parallel_serial_study(robot: Robot) -> Study:
    """The robot on symbols; refused where it is not a machine of joints and cylinders."""
    study = Study(robot.system)
    if not is_parallel_serial(study):
        raise InputError(
            f"{robot.model.source}: the steps of the parallel-serial paper are for machines of "
            "single joints and loops in which one cylinder, on the line between its two pins, "
            "turns an upper link; all must be driven, and the cylinders independent. Use "
            "`mbdyn ops` for the formulations that apply to this robot"
        )
    return study


def evaluated(
    symbols: Sequence[SX], drafts: Sequence[Sequence[Draft]], values: Sequence[Array]
) -> list[list[Quantity]]:
    """The quantities of modules at the values of symbols."""
    function = ca.Function("steps", symbols, [one[4] for draft in drafts for one in draft])
    numbers = iter(function.call([ca.DM(one) for one in values]))
    return [
        [
            Quantity(eq, symbol, meaning, unit, np.array(next(numbers)), body)
            for eq, symbol, meaning, unit, _, body in draft
        ]
        for draft in drafts
    ]


def title(robot: Robot, module: Module) -> str:
    """Names of a module's parts, as in the description."""
    bodies = robot.system.tree.bodies
    base = "the world" if module.base == WORLD else bodies[module.base].name
    driver = bodies[module.driver]
    if module.loop is None:
        return f"{driver.kind} joint {driver.joint} moves {driver.name} on {base}"
    upper, barrel = (bodies[k].name for k in list(module.motions)[:2])
    return f"cylinder {driver.joint} (barrel {barrel}, rod {driver.name}) turns {upper} on {base}"


def _kinematics(manipulator: Manipulator, n: int, study: Study) -> Iterator[Draft]:
    """The kinematics of a module: (2) to (10)."""
    module, place = manipulator.modules[n], manipulator.coordinates[n]
    bodies = manipulator.bodies
    turns = bodies[module.driver].motion.is_hinge
    unit = "rad" if turns else "m"
    yield "", "x", "position", unit, study.q[place], ""
    yield "", "xd", "velocity", f"{unit}/s", study.v[place], ""
    if module.loop is not None:
        loop, triangle = module.loop, module.loop.triangle
        yield "", "L", "from O, of the upper link, to A, of the barrel", "m", SX(triangle.L), ""
        yield "", "L_1", "from O to P, the pin of the rod", "m", SX(triangle.L_1), ""
        yield "", "x_0", "length of the cylinder at x = 0", "m", SX(triangle.x_0), ""
        yield "(2)", "c", "length of the cylinder, from A to P", "m", loop.c, ""
        places, names = ("O", "A", "P"), ("q", "q_1", "q_2")
        for name, where, cosine, sine in zip(names, places, loop.cosines, loop.sines, strict=True):
            yield "(2)", name, f"angle at {where}", "rad", ca.atan2(sine, cosine), ""
        yield "(5)", "J", "rate of q by c", "rad/m", loop.J, ""
        yield "(5)", "J_1", "rate of q_1 by c", "rad/m", loop.J_1, ""
        yield "(7)", "J_rate", "its derivative in time", "rad/(m s)", loop.J_rate, ""
        yield "(7)", "J_1_rate", "its derivative in time", "rad/(m s)", loop.J_1_rate, ""
    for k, (X, screw, drift) in module.motions.items():
        name = bodies[k].name
        yield "(3)", "X", "takes twists of the base to the body", "", X, name
        yield "(6)", "V", "twist [w; v]", "rad/s, m/s", manipulator.twists[k], name
        yield "(30)", "a", "share of xdd in Vd", "", screw, name
        yield "(10)", "d", "what Vd has at xdd = 0 on a base at rest", "rad/s^2, m/s^2", drift, name


def _dynamics(
    manipulator: Manipulator, n: int, study: Study, required: Required, made: ModuleDynamics
) -> Iterator[Draft]:
    """The dynamics of a module: (11), (12), (34) to (49)."""
    module, loop = manipulator.modules[n], manipulator.modules[n].loop
    turns = manipulator.bodies[module.driver].motion.is_hinge
    force, inertia, unit = ("N m", "kg m^2", "rad") if turns else ("N", "kg", "m")
    names = {k: manipulator.bodies[k].name for k in module.motions}
    for k, name in names.items():
        yield "(11)", "I", "inertia", "kg m^2, kg m, kg", manipulator.inertias[k], name
        yield "(12)", "p", "bias", "N m, N", manipulator.biases[k], name
    yield "(34)", "mu", "inertia that the driver feels", inertia, made.mu, ""
    yield "(42)", "b", "f = mu xdd + b^T Vd_B + beta_0", "kg m, kg", made.b, ""
    yield "(43)", "beta_0", "effort at xdd = 0 on a base at rest", force, made.beta_0, ""
    base = required.accelerations[module.base]
    yield "(8)", "Vd_B", "acceleration of the base, less gravity", "rad/s^2, m/s^2", base, ""
    beta = ca.dot(made.b, base) + made.beta_0
    yield "(34)", "beta", "f = mu xdd + beta", force, beta, ""
    yield "(46)", "xdd", "acceleration", f"{unit}/s^2", study.a[manipulator.coordinates[n]], ""
    yield "(49)", "I^A", "what the base feels of all from here on", "", made.inertia, ""
    yield "(49)", "p^A", "F_B = I^A Vd_B + p^A", "N m, N", made.bias, ""
    for k, name in names.items():
        acceleration = required.accelerations[k]
        yield "(9)", "Vd", "acceleration, less gravity", "rad/s^2, m/s^2", acceleration, name
        yield (
            "(11)",
            "F",
            "wrench [n; f], with all that it carries",
            "N m, N",
            required.wrenches[k],
            name,
        )
    if loop is not None:
        upper, barrel, rod = (required.wrenches[k] for k in module.motions)
        at_barrel = manipulator.transforms[module.driver].T @ rod
        r = ca.vertcat(*loop.r)
        yield "(60)", "r", "from O to P, along and across the cylinder", "m", r, ""
        yield "(59)", "n_O", "moment of U about O", "N m", upper[2], ""
        about_A = loop.triangle.barrel_side * (barrel + at_barrel)[2]
        yield "(59)", "n_A", "moment of C and R about A", "N m", about_A, ""
        yield "(61)", "phi_y", "force of R on U across the cylinder", "N", -about_A / loop.c, ""
    yield "(35)", "f", "effort", force, required.efforts[n], ""


TWIST, WRENCH = "rad/s, m/s", "N m, N"


def decomposition_steps(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    required_v: ArrayLike,
    required_a: ArrayLike,
    body_rate: float,
    damping: float = 0.0,
) -> list[Steps]:
    """The bodies of each module led to required velocities, and the virtual power at its cuts.

    Parameters
    ----------
    q, v : (nq,), (nv,) the state. required_v, required_a : (nv,) v_r and its rate. body_rate : k,
        1/s. damping : K, N m s/rad or N s/m.

    Examples
    --------
    >>> import numpy as np
    >>> from mbdyn_ros import load
    >>> boom = load("urdf/boom.urdf")
    >>> (steps,) = decomposition_steps(boom, [0.1], [0.0], [0.2], [0.0], body_rate=5.0)
    >>> leaves, enters = (steps[name].item() for name in ("p-", "p+"))  # at the passive pin O
    >>> bool(np.isclose(leaves, enters))
    True
    """
    study = parallel_serial_study(robot)
    v_r, a_r = SX.sym("v_r", robot.nv), SX.sym("a_r", robot.nv)
    led = VirtualDecomposition(study, v_r, a_r, SX(body_rate), SX(damping))
    home, rest = robot.system.home[robot.system.numerical_dependent_rows], np.zeros(robot.nv)
    symbols, a = [*study.symbols, v_r, a_r], np.zeros(robot.nv)
    led_by = (np.asarray(one) for one in (required_v, required_a))
    values = [np.asarray(q), home, np.asarray(v), a, rest, *led_by]
    forward = ca.Function("forward", symbols, [led.machine.forward(led.efforts)])
    a[led.machine.coordinates] = np.array(forward(*values))[:, 0]
    modules = led.machine.modules
    drafts = [list(_quantities(led, n)) for n in range(len(modules))]
    made = evaluated(symbols, drafts, values)
    return [Steps(title(robot, modules[n]), tuple(one)) for n, one in enumerate(made)]


def _quantities(led: VirtualDecomposition, n: int) -> Iterator[Draft]:
    module = led.machine.modules[n]
    bodies = led.machine.bodies
    force = "N m" if bodies[module.driver].motion.is_hinge else "N"
    names = {WORLD: "the world", **{k: body.name for k, body in enumerate(bodies)}}
    for k in module.motions:
        yield "", "V_r", "required twist", TWIST, led.required[k], names[k]
        yield "", "F*_r", "required net wrench", WRENCH, led.asked.net[k], names[k]
        change = led.asked.net[k] - led.given.net[k]
        power = ca.dot(led.slips[k], change)
        yield "", "P", "(V_r - V)^T (F*_r - F*), the sum of its flows", "W", power, names[k]
    pairs = zip(led.cuts(n, led.asked), led.cuts(n, led.given), strict=True)
    for asked, given in pairs:
        cut = Cut(asked.inner, asked.outer, asked.transform, asked.wrench - given.wrench)
        outer, where = names[cut.outer], f"on it from {names[cut.inner]}"
        leaves, enters = cut.flows(led.slips)
        yield "", "F_r", f"required wrench {where}", WRENCH, asked.wrench, outer
        yield "", "p-", "virtual power flow that leaves there", "W", leaves, names[cut.inner]
        yield "", "p+", "virtual power flow that enters", "W", enters, outer
    yield "", "f_r", "effort of the driver, with K s", force, led.efforts[n], ""
