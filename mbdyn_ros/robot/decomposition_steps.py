"""Virtual decomposition of a machine at one state, body by body, as numbers.

Symbols are those of `equations.textbook.virtual_decomposition`, which computes them.
"""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..equations.algebra.spatial import SX
from ..equations.textbook.virtual_decomposition import Cut, VirtualDecomposition
from ..prepare.tree import WORLD
from .module_steps import Draft, evaluated, parallel_serial_study, title
from .robot import Robot
from .steps import Steps

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
