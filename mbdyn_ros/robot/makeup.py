"""Make-up of a robot at a glance: properties of `Robot`, and its text."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from ..equations.tree.regressor import moving_links as links_of
from ..model.tree import WORLD

if TYPE_CHECKING:
    from .robot import Robot


def links(self: Robot) -> tuple[str, ...]:
    """All links in document order, which `frame_pose` and its like take.

    A joint that is split into several of one coordinate brings links without mass between these,
    each named as the joint that moves it, such as `platform_joint/x`.
    """
    return tuple(link.name for link in self.model.links)


def moving_links(self: Robot) -> tuple[str, ...]:
    """The links that joints can move, in the order of `regressor`."""
    return tuple(links_of(self.system.tree))


def frames(self: Robot) -> dict[str, str]:
    """Every link, and the link that it moves with, the child of the joint that moves it.

    That is itself where no fixed joint lies between, and the root where it is fixed to the world.
    """
    tree = self.system.tree
    return {
        link: tree.bodies[body].name if body != WORLD else self.model.root
        for link, body in ((name, tree.frames[name][0]) for name in links(self))
    }


def numerical_joints(self: Robot) -> tuple[str, ...]:
    """A name for each position that loops determine without closed form, (nz,), in order of `z`.

    A joint of several coordinates has one for each, such as "wrist/first" and "wrist/second", as
    in the positions of `joint_state`. `numerical_positions` gives the numbers.
    """
    by_row = dict(zip(*_tree_labels(self), strict=True))
    return tuple(by_row[row] for row in self.system.walked_rows)


def walked_joints(self: Robot) -> tuple[str, ...]:
    """Deprecated: `numerical_joints`, which tells the coordinates of one joint apart."""
    warnings.warn(
        "robot.walked_joints is called robot.numerical_joints now", DeprecationWarning, 2
    )
    return numerical_joints(self)


def _tree_labels(robot: Robot) -> tuple[list[int], list[str]]:
    """Rows of the tree's positions that joints have, and the name of each."""
    coordinates = robot.system.coordinates
    return list(coordinates.joint_rows[0]), list(coordinates.joint_labels)


def total_mass(self: Robot) -> float:
    """Mass (kg) of the links that joints can move."""
    return float(self.system.mass)


def text(self: Robot) -> str:
    """A line about the robot."""
    loops = len(self.model.loops) + len(self.model.couplings)
    parts = [
        f"nq {self.nq}",
        f"nv {self.nv}",
        f"{len(self.actuated_joints)} of {len(self.joint_names)} joints actuated",
        f"{len(self.model.links)} links",
        f"{self.total_mass:.4g} kg",
        *([f"{loops} loops and couplings"] if loops else []),
        "floating base" if self.floating_base else "fixed base",
    ]
    return f"<Robot {self.model.name!r}: {', '.join(parts)}>"
