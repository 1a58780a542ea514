"""The steps of an impact as the paper of tree robots writes them, as numbers to be redone.

A. M. and H. R. Shafei (2018), numbers of equations in brackets. A contact j at the point r_O, with
the unit normal n_j into free space and the Jacobian J of the point, r_O' = J thd (43), gives the
impulse f_j along the normal. Integrated over the impact (44), the equations of motion are

    I_f (thd+ - thd-) = sum_j J^T n_j f_j                            (45)
    n_j^T J thd+ = -e n_j^T J thd-                                   (46)

and together, with the rows W = n_j^T J of all contacts that take an impulse,

    [ I_f  -W^T ] [ thd+ ]   [ I_f thd- + T ]
    [  W    0   ] [  f   ] = [ -e W thd-    ]                        (47)

T are the impulses of friction along the walls, J^T t_j, which the paper has not: they obey
Coulomb's law, and are taken as the simulation found them. So is e where the law with friction would
gain energy.
"""

from __future__ import annotations

import numpy as np

from ...array import Array
from ...errors import InputError
from ...robot import Robot
from ...robot.steps import Quantity, Steps
from ...units import velocity_unit
from .contacts import Contacts
from .environment import Environment
from .impulses import Impact


def impact_steps(robot: Robot, environment: Environment, impact: Impact) -> Steps:
    """(43) to (47) of an impact of `robot` in `environment`.

    Raises
    ------
    InputError
        Two links with `convex=True` met, whose place is found in compiled steps alone.
    """
    contacts = Contacts(robot, environment)
    which = np.array([_contact(contacts, impact, j) for j in range(len(impact.points))])
    q, before, count = impact.q, impact.v_before, len(which)
    rows = contacts.rows(q, before, which)
    mass, W = robot.mass_matrix(q), rows.W
    friction = np.zeros((count, 3))
    walls = ~np.isnan(rows.normals[:, 0])
    friction[walls, 1:] = np.einsum(
        "kij,kj->ki", rows.frames[walls, 1:], impact.tangential_impulses[walls]
    )
    T = np.einsum("kin,ki->n", rows.J, friction)
    bordered = np.block([[mass, -W.T], [W, np.zeros((count, count))]])
    right = np.concatenate([mass @ before + T, -impact.restitution * (W @ before)])
    # redundant contacts share their load as in the simulation; thd+ is the same for every share
    answer = np.linalg.lstsq(bordered, right, rcond=None)[0]
    unit = ", ".join(
        dict.fromkeys(velocity_unit(robot.model, one) for one in robot.velocity_labels)
    )
    quantities = [
        Quantity("", "theta", "position", "rad, m", q[:, None]),
        Quantity("", "thd-", "velocity before", unit, before[:, None]),
        Quantity("(25)", "I_f", "inertia matrix in flight", "kg m^2, kg m, kg", mass),
    ]
    for j, k in enumerate(which.tolist()):
        name = _name(contacts, k)
        if walls[j]:
            J = rows.frames[j].T @ rows.J[j]
            n = rows.normals[j][:, None]
            place = rows.places[j][:, None]
            quantities += [
                Quantity("", "r_O", "place", "m", place, name),
                Quantity("(43)", "J", "r_O' = J thd, of the point that touches", "m", J, name),
                Quantity("(44)", "n", "unit normal into free space", "", n, name),
            ]
        alpha = np.degrees(impact.angle_of_attack[j])
        if not np.isnan(alpha):
            quantities.append(Quantity("", "alpha", "angle of attack", "deg", _one(alpha), name))
        e = impact.restitution[j]
        quantities += [
            Quantity("(46)", "W", "row n^T J", "m", W[j : j + 1], name),
            Quantity("(46)", "e", "restitution", "", _one(e), name),
        ]
        if contacts.friction[k]:
            t = impact.tangential_impulses[j][:, None]
            quantities.append(Quantity("", "t", "impulse of friction", "N s", t, name))
    return Steps(
        f"impact at {impact.time:.9g} s",
        (
            *quantities,
            Quantity("(47)", "I_i", "inertia matrix of the impact", "", bordered),
            Quantity("(47)", "B", "right side", "", right[:, None]),
            Quantity("(47)", "thd+", "velocity after", unit, answer[: robot.nv, None]),
            Quantity("(47)", "f", "impulses, those of the simulation", "N s, N m s",
                     impact.impulses[:, None]),
        ),
    )  # fmt: skip


def _one(value: float) -> Array:
    return np.array([[value]])


def _contact(contacts: Contacts, impact: Impact, j: int) -> int:
    """The number of an impact's contact: of several faces of one wall, the one that is nearest."""
    count = contacts.geometry.lasting
    named = [
        k
        for k in range(count)
        if (contacts.point(k), contacts.surface(k)) == (impact.points[j], impact.surfaces[j])
    ]
    if not named:
        raise InputError(
            f"the impact at {impact.time:.9g} s is one of {impact.surfaces[j]}: convex shapes "
            "that meet have no rows of their own; take away convex=True to explain impacts"
        )
    g, _, slope = contacts.distances(impact.q, impact.v_before)
    return min(named, key=lambda k: abs(g[k]) / slope[k])


def _name(contacts: Contacts, k: int) -> str:
    """A contact as a body of the steps: the point's link and number, two links, or a stop."""
    point = contacts.point(k)
    return contacts.surface(k) if point < 0 else f"{contacts.points[point].link} ({point})"
