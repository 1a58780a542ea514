"""Formulations side by side: each declares its result, its method, and for which robots it holds.

    @formulation("inverse_dynamics", "Gibbs-Appell", applies=Study.is_tree)
    def efforts(study): ...

A file in `textbook/` that declares one is all that a new formulation needs: `mbdyn ops` counts it,
and a test compares its numbers with those of the compiled programs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from ..model.model import Array
from .actuation import applied, without_springs
from .algebra.spatial import SX, JointMotion
from .loops.embedding import Embedding
from .system import System


class Study:
    """A robot in motion on symbols, as formulations see it: bodies and rotors without springs.

    Attributes
    ----------
    system : the robot. q, z, v, a : its positions (z of loops without closed form), velocities and
        accelerations; effort : of the actuated joints; symbols : these five.
    embedding, joints : the motion of the tree, and of each body's joint.
    velocity, acceleration : of all joints of the tree (nv_tree, 1).
    """

    def __init__(self, system: System) -> None:
        system, coordinates = without_springs(system), system.coordinates
        self.system = system
        self.q, self.z = SX.sym("q", coordinates.nq), SX.sym("z", system.nz)
        self.v, self.a = SX.sym("v", coordinates.nv), SX.sym("a", coordinates.nv)
        self.effort = SX.sym("effort", len(coordinates.effort))
        self.symbols = [self.q, self.z, self.v, self.a, self.effort]
        self.embedding: Embedding = system.embedding(self.q, self.z)
        self.joints: list[JointMotion] = self.embedding.joints
        self.velocity, self.acceleration = self.embedding.motion(self.v, self.a)

    @property
    def gravity(self) -> Array:
        """Gravity (3,), m/s^2."""
        return self.system.gravity

    @functools.cached_property
    def driving(self) -> SX:
        """The efforts among those of all joints of the tree (nv_tree, 1)."""
        return applied(self.system, self.effort)

    def is_shallow(self) -> bool:
        """Whether whole matrices are worth their cost; see `System.is_deep`."""
        return not self.system.is_deep

    def is_shallow_tree(self) -> bool:
        """Whether whole matrices are worth their cost, and nothing constrains the joints."""
        return not (self.system.is_deep or self.system.linkages)


@dataclass(frozen=True)
class Formulation:
    """One quantity by one method.

    gives : "inverse_dynamics" (efforts of the actuated joints, then what else the method finds),
        "mass_matrix" (of the tree's coordinates, or of the independent ones), ...
    method : its author or name. applies : whether it is for this robot, at a reasonable cost.
    """

    gives: str
    method: str
    applies: Callable[[Study], bool]
    expression: Callable[[Study], SX]

    def __str__(self) -> str:
        return f"{self.gives} by {self.method}"


_declared: dict[str, Formulation] = {}

Expression = Callable[[Study], SX]


def formulation(
    gives: str, method: str, applies: Callable[[Study], bool] = lambda study: True
) -> Callable[[Expression], Expression]:
    """Declare the function below, of a `Study`, as a formulation; see `Formulation`."""

    def declare(expression: Expression) -> Expression:
        made = Formulation(gives, method, applies, expression)
        _declared[str(made)] = made
        return expression

    return declare


def declared() -> tuple[Formulation, ...]:
    """The formulations of all files that are imported by now."""
    return tuple(_declared.values())
