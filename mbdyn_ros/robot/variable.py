"""Variable numbers of a robot: which they are, and their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arguments import checked_names, require_link
from ..array import Array
from ..equations.system import System
from ..equations.tree.regressor import standard_parameters
from ..equations.variable import AT_JOINTS, GRAVITY, SPRINGS, Layout, without
from ..errors import InputError
from ..model.model import Model
from ..model.tree import WORLD, Tree
from .rigid_body import has_extent, resists

NOTHING = Layout()
"""Nothing is variable."""

ALL = (GRAVITY, *AT_JOINTS)
"""Names of what may vary besides the inertias of links."""


@dataclass(eq=False)
class Parameters:
    """Variable numbers of a robot: which they are, and their values.

    Values are (n,), or (N, n) where each row has its own.

    described : the system of the description. layout : what is variable. own, payload : ten
    numbers by link. field : three of gravity, by that name. at_joints : those of `AT_JOINTS`, by
    its names and joint. solid : links of bodies that resist every motion by what is not variable,
    for a layout.
    """

    described: System
    layout: Layout
    own: dict[str, Array]
    field: dict[str, Array]
    at_joints: dict[str, dict[str, Array]]
    payload: dict[str, Array]
    solid: tuple[Layout, set[str]]

    def values(self, layout: Layout) -> Array:
        """Those of a layout, in its order: (p,) or (N, p)."""
        parts = [self.of_link(link) for link in layout.links]
        parts += [self.field[GRAVITY]] * layout.gravity
        parts += [self.at_joints[group][one] for group, joints in layout.joints for one in joints]
        rows = {len(part) for part in parts if part.ndim > 1}
        if len(rows) > 1:
            raise InputError(
                f"parameters of the robot have {' and '.join(map(str, sorted(rows)))} rows: give "
                "all of them as many, or one"
            )
        shape = tuple(rows)
        parts = [np.broadcast_to(part, (*shape, part.shape[-1])) for part in parts]
        return np.concatenate(parts, axis=-1) if parts else np.zeros(0)

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
    layout = checked_layout(tree, model.source, variable)
    field = {GRAVITY: system.gravity.copy()}
    return Parameters(system, layout, own, field, at_joints, {}, (Layout(), set()))


def variable_names(layout: Layout) -> list[str]:
    """The names that tell `load` of a layout."""
    return [*layout.links, *[GRAVITY] * layout.gravity, *dict(layout.joints)]


def checked_layout(
    tree: Tree, source: str, more: Sequence[str], layout: Layout = NOTHING
) -> Layout:
    """The layout of a list as in `load`, or one with that in it too; all in the robot's order.

    Raises
    ------
    InputError
        What is no list of names, or names no link that moves.
    """
    more = checked_names("variable", more)
    wanted = {name if name in ALL else moving_link(tree, source, name) for name in more}
    bodies = [(body.joint, body.motion.quaternion is None) for body in tree.bodies]
    joints = {
        group: tuple(dict.fromkeys(one for one, plain in bodies if group != SPRINGS or plain))
        for group in AT_JOINTS
        if group in wanted or layout.has(group)
    }
    return Layout(
        tuple(link for link in tree.frames if link in {*layout.links, *wanted}),
        layout.gravity or GRAVITY in wanted,
        tuple(joints.items()),
    )


def moving_link(tree: Tree, source: str, link: object) -> str:
    """The name of a link that joints move; any other is refused."""
    known = require_link(tree, link, source)
    if tree.frames[known][0] == WORLD:
        raise InputError(
            f"{source}: link {known!r} is fixed to the world: no joint moves it, so "
            "its inertia does nothing"
        )
    return known
