"""Variable numbers of a robot: which they are, and their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arguments import checked_names, checked_numbers, require_link
from ..array import Array
from ..equations.system import System
from ..equations.variable import AT_JOINTS, GRAVITY, SPRINGS, ParameterLayout, without
from ..errors import InputError, shown, suggestion
from ..model.inertia import RigidInertia, standard_parameters
from ..model.model import Model
from ..prepare.tree import COMPONENTS, WORLD, Tree

NOTHING = ParameterLayout()
"""Nothing is variable."""

ALL = (GRAVITY, *AT_JOINTS)
"""Names of what may vary besides the inertias of links and the numbers of origins."""

ORIGIN = "origin"
"""Ending of the name of an origin where all its numbers are meant."""


@dataclass(eq=False)
class Parameters:
    """Variable numbers of a robot: which they are, and their values.

    Values are (n,), or (N, n) where each row has its own.

    described : the system of the description. layout : what is variable. own, payload : ten
    numbers by link. field : three of gravity, by that name. at_joints : those of `AT_JOINTS`, by
    its names and joint. origins : six of every origin, as `Origin.six`. solid : links of bodies
    that resist every motion by what is not variable, for a layout.
    """

    described: System
    layout: ParameterLayout
    own: dict[str, Array]
    field: dict[str, Array]
    at_joints: dict[str, dict[str, Array]]
    payload: dict[str, Array]
    origins: dict[str, Array]
    solid: tuple[ParameterLayout, set[str]]

    def values(self, layout: ParameterLayout) -> Array:
        """Those of a layout, in its order: (p,) or (N, p)."""
        parts = [self.of_link(link) for link in layout.links]
        parts += [self.field[GRAVITY]] * layout.gravity
        parts += [self.at_joints[group][one] for group, joints in layout.joints for one in joints]
        parts += [
            self.origins[name][..., [COMPONENTS.index(one) for one in chosen]]
            for name, chosen in layout.origins
        ]
        rows = {len(part) for part in parts if part.ndim > 1}
        if len(rows) > 1:
            raise InputError(
                f"parameters of the robot have {' and '.join(map(str, sorted(rows)))} rows: give "
                "all of them as many, or one"
            )
        shape = tuple(rows)
        parts = [np.broadcast_to(part, (*shape, part.shape[-1])) for part in parts]
        return np.concatenate(parts, axis=-1) if parts else np.zeros(0)

    def take(self, other: Parameters) -> None:
        """Take the values of another robot of the same description."""
        self.own, self.payload, self.field = dict(other.own), dict(other.payload), dict(other.field)
        self.at_joints = {group: dict(joints) for group, joints in other.at_joints.items()}
        self.origins = dict(other.origins)

    def of_link(self, link: str) -> Array:
        """A link's own inertia and its payload."""
        own = self.own[link]
        return own + self.payload[link] if link in self.payload else own

    def is_solid(self, link: str) -> bool:
        """Whether the body that a link is part of surely resists every motion."""
        if self.solid[0] is not self.layout:
            rest = without(self.described, self.layout)
            solid = {body for body, one in enumerate(rest.tree.bodies) if resists(one.inertia)}
            links = {link for link, (body, _) in rest.tree.frames.items() if body in solid}
            self.solid = self.layout, links
        return link in self.solid[1] or has_extent(self.of_link(link))


def variable_parameters(model: Model, system: System, variable: Sequence[str]) -> Parameters:
    """The parameters of a robot that was just built."""
    tree = system.tree
    at_joints = {
        group: {
            body.joint: np.array([getattr(body, name) for name in names])
            for body in tree.bodies
            if group != SPRINGS or body.motion.quaternion is None
        }
        for group, names in AT_JOINTS.items()
    }
    own = {
        link: standard_parameters(model.link(link).inertia)
        for link, (body, _) in tree.frames.items()
        if body != WORLD
    }
    layout = checked_layout(system, model.source, variable)
    field = {GRAVITY: system.gravity.copy()}
    six = {name: one.six for name, one in system.origins.items()}
    return Parameters(system, layout, own, field, at_joints, {}, six, (ParameterLayout(), set()))


def variable_names(layout: ParameterLayout) -> list[str]:
    """The names by which `load` declares a layout."""
    numbers = [f"{name}/{one}" for name, chosen in layout.origins for one in chosen]
    return [*layout.links, *[GRAVITY] * layout.gravity, *dict(layout.joints), *numbers]


def checked_layout(
    system: System, source: str, more: Sequence[str], layout: ParameterLayout = NOTHING
) -> ParameterLayout:
    """The layout of a list as in `load`, or one with that in it too; all in the robot's order.

    Raises
    ------
    InputError
        What is not a list of names, or names neither a link that moves nor an origin.
    """
    tree, more = system.tree, checked_names("variable", more)
    chosen = {name: list(one) for name, one in layout.origins}
    wanted = set()
    for name in more:
        origin, _, number = name.rpartition("/")
        if name in ALL or name in tree.frames or not origin:
            wanted.add(name if name in ALL else moving_link(tree, source, name))
        else:
            numbers = chosen.setdefault(known_origin(system, source, origin), [])
            numbers += COMPONENTS if number == ORIGIN else [known_component(source, name, number)]
    bodies = [(body.joint, body.motion.quaternion is None) for body in tree.bodies]
    joints = {
        group: tuple(dict.fromkeys(one for one, plain in bodies if group != SPRINGS or plain))
        for group in AT_JOINTS
        if group in wanted or layout.has(group)
    }
    return ParameterLayout(
        tuple(link for link in tree.frames if link in {*layout.links, *wanted}),
        layout.gravity or GRAVITY in wanted,
        tuple(joints.items()),
        tuple(
            (name, tuple(one for one in COMPONENTS if one in chosen[name]))
            for name in system.origins
            if name in chosen
        ),
    )


def known_origin(system: System, source: str, name: object) -> str:
    """The name of a joint, or `loop/predecessor` or `loop/successor`; any other is refused."""
    if not isinstance(name, str) or name not in system.origins:
        raise InputError(
            f"{source}: there is no joint or loop frame {shown(name)}"
            f"{suggestion(shown(name), system.origins)}; the origins are "
            f"{', '.join(system.origins)}"
        )
    return name


def known_component(source: str, name: str, number: str) -> str:
    """One of `COMPONENTS`; any other is refused."""
    if number not in COMPONENTS:
        raise InputError(
            f"{source}: variable {name!r} names no number of an origin: write /{ORIGIN} for all "
            f"six, or one of {', '.join(COMPONENTS)}"
        )
    return number


def moving_link(tree: Tree, source: str, link: object) -> str:
    """The name of a link that joints move; any other is refused."""
    known = require_link(tree, link, source)
    if tree.frames[known][0] == WORLD:
        raise InputError(
            f"{source}: link {known!r} is fixed to the world: no joint moves it, so "
            "its inertia does nothing"
        )
    return known


BROKEN = 1e-9
"""Share of the largest moment of inertia by which rounding may break the rules of bodies."""

UPPER = np.triu_indices(3)


def standard_numbers(what: str, mass: object, com: object, inertia: object | None) -> Array:
    """Mass, first moments, and moments about the link's origin: (10,), or (N, 10) where one has N.

    Parameters
    ----------
    what : the inertia in words, for messages.
    mass : () or (N,), kg. com : (3,) or (N, 3), m, in the link's axes. inertia : (3, 3) or
        (N, 3, 3), kg m^2, about the centre of mass in the link's axes; None: a point's.

    Raises
    ------
    InputError
        Not finite numbers of these shapes; or no body has them: a negative mass, moments that are
        not symmetric, not positive, or of which one is larger than the other two together.
    """
    m = _numbers(f"mass of {what}", mass, ())
    c = _numbers(f"com of {what}", com, (3,))
    point = np.zeros((3, 3))
    moments = _numbers(f"inertia of {what}", point if inertia is None else inertia, (3, 3))
    if np.any(m < 0):
        raise InputError(f"the mass of {what} is {float(m.min()):g} kg: no body has less than 0")
    size = np.abs(moments).max(axis=(-2, -1))
    twisted = np.abs(moments - moments.swapaxes(-2, -1)).max(axis=(-2, -1)) > BROKEN * size
    if twisted.any():
        raise InputError(
            f"the inertia of {what} is not symmetric: {_first(moments, twisted)}; write ixy = iyx"
        )
    if size.any():
        principal: Array = np.asarray(np.linalg.eigvalsh(moments), dtype=np.float64)
        least, largest = principal[..., 0], principal[..., 2]
        negative = least < -BROKEN * size
        if negative.any():
            raise InputError(
                f"the inertia of {what} has a negative principal moment "
                f"({_first(least, negative):g} kg m^2): no body has that. Check its signs"
            )
        wide = largest > (principal[..., 0] + principal[..., 1]) + BROKEN * size
        if wide.any():
            raise InputError(
                f"the inertia of {what} has the principal moments {_first(principal, wide)} "
                "kg m^2: no body has one that is larger than the other two together. Check that "
                "they are about the centre of mass, and their unit"
            )
        empty = (m == 0) & (size > 0)
        if empty.any():
            raise InputError(f"{what} has moments of inertia, but no mass: no body has that")
    count = {x.shape[:-n] if n else x.shape for x, n in ((m, 0), (c, 1), (moments, 2))} - {()}
    if len(count) > 1:
        sizes = ", ".join(str(one[0]) for one in sorted(count))
        raise InputError(f"the values of {what} have different numbers of rows: {sizes}")
    m = m[..., None]
    outer = c[..., :, None] * c[..., None, :]
    square = np.sum(c * c, axis=-1)[..., None, None] * np.eye(3)
    about_origin = moments + m[..., None] * (square - outer)
    first, six = m * c, about_origin[..., UPPER[0], UPPER[1]]
    rows = np.broadcast_shapes(m.shape[:-1], first.shape[:-1], six.shape[:-1])
    parts = [np.broadcast_to(x, (*rows, x.shape[-1])) for x in (m, first, six)]
    return np.concatenate(parts, axis=-1)


def require_body(what: str, ten: Array) -> None:
    """Refuse ten numbers (10,) or (N, 10) that no body has; see `standard_numbers`."""
    m, first, six = ten[..., 0], ten[..., 1:4], ten[..., 4:]
    c = first / np.where(m == 0, 1.0, m)[..., None]
    moments = six[..., [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    square = np.sum(first * c, axis=-1)[..., None, None] * np.eye(3)
    about_center = moments - square + first[..., :, None] * c[..., None, :]
    standard_numbers(what, m, c, about_center)


def resists(inertia: RigidInertia) -> bool:
    """Whether a body with this inertia resists every motion."""
    return bool(inertia.mass > 0 and np.linalg.eigvalsh(inertia.second)[0] > 0)


def has_extent(numbers: Array) -> bool:
    """Whether ten numbers (10,) or (N, 10) are all those of a body that resists every motion."""
    moments = numbers[..., 4:][..., [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    return bool((numbers[..., 0] > 0).all() and (np.linalg.eigvalsh(moments)[..., 0] > 0).all())


def _numbers(what: str, value: object, shape: tuple[int, ...]) -> Array:
    """Finite numbers of a shape, or rows of them."""
    array = checked_numbers(f"the {what}", value)
    if array.shape[array.ndim - len(shape) :] != shape or array.ndim > len(shape) + 1:
        raise InputError(
            f"the {what} has shape {array.shape}; give {shape or 'a number'}, or N of them"
        )
    if not np.isfinite(array).all():
        raise InputError(f"the {what} must be finite; it is {array.tolist()}")
    return array


def _first(values: Array, where: Array) -> object:
    """The first of some values where something holds."""
    found = values if where.ndim == 0 else values[int(np.flatnonzero(where)[0])]
    return found.tolist()
