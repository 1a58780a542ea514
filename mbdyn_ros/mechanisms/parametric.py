"""The equations of a mechanism with its numbers as symbols: one program for all designs.

The recursions of `equations` are traced as for any robot, on a tree whose placements and inertias
are symbols, and with the closed form of the mechanism's position.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca
import numpy as np

from ..equations.algebra.complex_plane import Complex
from ..equations.algebra.spatial import SX, CosineSine, Position
from ..equations.loops.embedding import Embedding
from ..equations.loops.linkage import Linkage
from ..equations.system import System
from ..equations.textbook.denoc_loops import ClosedDenoc
from ..model.read.urdf import read_urdf
from ..prepare.clusters import Closure, Cluster, Gear
from ..prepare.coordinates import choose_coordinates
from ..prepare.tree import WORLD, Tree
from ..program.symbols import serialized
from .design import Design
from .layout import Direction, MechanismLayout, mesh_factors, relative
from .symbolic_tree import layout_tree, planar_pose
from .toggles import home
from .urdf_writer import write_urdf

PLANE_ROWS = 2
"""Rows of a pin that count: the first two hold it in the plane; the rest are redundant."""

ALL_ROWS = 5


@dataclass(frozen=True, eq=False)
class MechanismClosedForm:
    """The position of a mechanism for `Linkage`: of its dependent joints, by body."""

    mechanism: Design
    layout: MechanismLayout

    @property
    def given_bodies(self) -> tuple[int, ...]:
        """The driven bodies."""
        return tuple(self.layout.order[name] for name in self.mechanism.inputs)

    def positions(self, *q: SX) -> dict[int, Position]:
        """Turns and slides of the others."""
        solved = self.mechanism.solve([Direction(ca.cos(one), ca.sin(one), one) for one in q])
        result: dict[int, Position] = {}
        for k, (name, moved) in enumerate(relative(self.layout, solved).items()):
            if name not in self.mechanism.inputs:
                result[k] = CosineSine(moved.re, moved.im) if isinstance(moved, Complex) else moved
        return result

    def values(self, *q: SX) -> dict[int, SX]:
        """Angles within half a turn, and slides."""
        return {
            k: ca.atan2(one.sine, one.cosine) if isinstance(one, CosineSine) else one
            for k, one in self.positions(*q).items()
        }


@dataclass(frozen=True, eq=False)
class ParametricSystem(System):
    """A system whose `parameters` represent the numbers of `mechanism`.

    pinned : its linkage held by the pins, also where gears determine its position.
    """

    mechanism: Design = field(kw_only=True)
    pinned: Linkage = field(kw_only=True)

    def denoc(self, q: SX, v: SX) -> tuple[ClosedDenoc, Embedding]:
        """The equations by DeNOC, cut open at the pins, and the motion they are taken at."""
        embedding = self.embedding(q, SX(0, 1))
        pinned = replace(self, linkages=(self.pinned,))
        return ClosedDenoc.of(pinned, embedding, embedding.velocity(v)), embedding

    @serialized
    def digest(self) -> str:
        """Hash of all expressions that the equations depend on."""
        q = SX.sym("q", self.coordinates.nq)
        expressions: list[Any] = [self.gravity, self.embedding(q, SX(0, 1)).matrix]
        for body in self.tree.bodies:
            inertia = body.inertia
            expressions += [body.placement.translation, inertia.mass, inertia.first, inertia.second]
        assert self.parameters is not None
        for closure in self.pinned.cluster.closures:
            frames = closure.predecessor_frame, closure.successor_frame
            expressions += [frame.translation for frame in frames]
        function = ca.Function("numbers", [q, self.parameters], expressions)
        content = hashlib.sha256(function.serialize().encode())
        for body in self.tree.bodies:
            content.update(f"{body.kind} {body.parent} {body.placement.rotation}".encode())
        content.update(repr((self.coordinates.q, self.coordinates.effort)).encode())
        return content.hexdigest()


@functools.cache
@serialized
def parametric_system(kind: type[Design]) -> ParametricSystem:
    """The system of all mechanisms of a kind."""
    example = kind()
    names = [*example.numbers(), *kind.unknowns]
    parameters = SX.sym("parameters", len(names))
    symbolic = kind.of_numbers({name: parameters[k] for k, name in enumerate(names)})
    layout = symbolic.layout()
    model = read_urdf(write_urdf(example, home(example)))
    inputs = [part.joint for part in layout.parts if part.name in kind.inputs]
    tree = layout_tree(layout)
    form = MechanismClosedForm(symbolic, layout)
    pinned = _linkage(tree, form, tuple(closures(layout, tree)), _meshes(layout))
    linkage = _linkage(tree, form, (), _gears(layout)) if layout.gears else pinned
    return ParametricSystem(
        tree,
        (linkage.cluster,),
        (linkage,),
        choose_coordinates(model, False, inputs, inputs),
        ca.vertcat(0, -symbolic.gravity, 0),
        np.zeros(tree.nq),
        parameters,
        mechanism=symbolic,
        pinned=pinned,
    )


def _linkage(
    tree: Tree,
    form: MechanismClosedForm,
    loops: tuple[Closure, ...],
    gears: tuple[Gear, ...] = (),
) -> Linkage:
    """All parts as one constrained cluster, by pins or by gears."""
    bodies = tuple(range(len(tree.bodies)))
    rows = [ALL_ROWS * pin + row for pin in range(len(loops)) for row in range(PLANE_ROWS)]
    rows += [ALL_ROWS * len(loops) + gear for gear in range(len(gears))]
    given = form.given_bodies
    dependent = tuple(body for body in bodies if body not in given)
    cluster = Cluster(bodies, loops, gears)
    return Linkage(cluster, bodies, given, dependent, tuple(rows), form if loops else None)


def _meshes(layout: MechanismLayout) -> tuple[Gear, ...]:
    """Wheels that drive each other."""
    order = layout.order
    return tuple(
        Gear(
            mesh.name,
            tuple((order[name], factor) for name, factor in mesh_factors(layout, mesh).items()),
            -mesh.phase,
            (),
        )
        for mesh in layout.meshes
    )


def _gears(layout: MechanismLayout) -> tuple[Gear, ...]:
    """Parts that copy another's angle."""
    order = layout.order
    return tuple(
        Gear(driven, ((order[driven], 1.0), (order[driver], -factor)), 0.0, ())
        for driven, driver, factor in layout.gears
    )


def closures(layout: MechanismLayout, tree: Tree) -> list[Closure]:
    """The pins as loops of the tree."""
    order = layout.order

    def path(name: str) -> tuple[int, ...]:
        result: list[int] = []
        body = order.get(name, WORLD)
        while body != WORLD:
            result.insert(0, body)
            body = tree.bodies[body].parent
        return tuple(result)

    result = []
    for pin in layout.pins:
        first, second = path(pin.first), path(pin.second)
        while first and second and first[0] == second[0]:
            first, second = first[1:], second[1:]
        result.append(
            Closure(
                name=pin.name,
                type="revolute",
                axis=np.array([0.0, 0.0, 1.0]),
                predecessor=order.get(pin.first, WORLD),
                predecessor_frame=planar_pose(pin.at_first),
                predecessor_path=first,
                successor=order.get(pin.second, WORLD),
                successor_frame=planar_pose(pin.at_second),
                successor_path=second,
            )
        )
    return result
