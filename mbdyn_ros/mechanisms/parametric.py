"""The equations of a mechanism with its numbers as symbols: one program for all designs of a kind.

The recursions of `equations` are traced as for any robot, on a tree whose placements and inertias
are symbols, and with the closed form of the mechanism's position.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np

from ..array import Array
from ..compiler.kernel import Kernel
from ..compiler.loading import load_kernel
from ..compiler.options import STANDARD
from ..equations.algebra.spatial import SX
from ..equations.loops.embedding import Embedding
from ..equations.loops.linkage import Linkage
from ..equations.system import System
from ..equations.textbook.denoc import ClosedDenoc
from ..locks import Lock
from ..model.model import Joint, Model
from ..prepare.clusters import Closure, Cluster, Gear
from ..prepare.coordinates import choose_coordinates
from ..program.program import Declaration, Program, Subject, digest_of_folder
from ..program.symbols import serialized
from .design import Design
from .kinematics import Kinematics
from .layout import GROUND, GearMesh, mesh_factors

PLANE_ROWS = 2
"""Rows of a pin that count: the first two hold it in the plane; the rest are redundant."""

ALL_ROWS = 5

FOLDER = "mechanisms"
"""The folder of the code that makes systems of designs."""


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

    def digest(self) -> str:
        """Hash of the layout in its numbers' symbols, and of the code that makes the tree of it."""
        made = self.mechanism
        described = f"{made.layout()!r} {made.inputs} {made.branches} {list(made.numbers())}"
        return hashlib.sha256(f"{described} {digest_of_folder(FOLDER)}".encode()).hexdigest()


@functools.cache
@serialized
def parametric_system(kind: type[Design]) -> ParametricSystem:
    """The system of all mechanisms of a kind."""
    form = kind.kinematics()
    layout, tree = form.layout, form.tree
    joints = [
        Joint(part.joint, "prismatic" if part.slides else "continuous", part.parent, part.name)
        for part in layout.parts
    ]
    model = Model(kind.name, GROUND, (), tuple(joints))
    inputs = [f"{name}_joint" for name in kind.inputs]
    pinned = _linkage(form, form.closures, layout.meshes)
    linkage = _linkage(form, (), layout.gears) if layout.gears else pinned
    return ParametricSystem(
        tree,
        (linkage.cluster,),
        (linkage,),
        choose_coordinates(model, False, inputs, inputs),
        ca.vertcat(0, -form.mechanism.gravity, 0),
        np.zeros(tree.nq),
        form.parameters,
        mechanism=form.mechanism,
        pinned=pinned,
    )


def _linkage(form: Kinematics, loops: tuple[Closure, ...], meshes: tuple[GearMesh, ...]) -> Linkage:
    """All parts as one constrained cluster, by pins and by gears."""
    layout, order = form.layout, form.layout.order
    gears = tuple(
        Gear(
            mesh.name,
            tuple((order[name], one) for name, one in mesh_factors(layout, mesh).items()),
            -mesh.phase,
            (),
        )
        for mesh in meshes
    )
    gears += tuple(form.followers.values())
    bodies = tuple(range(len(form.tree.bodies)))
    rows = [ALL_ROWS * pin + row for pin in range(len(loops)) for row in range(PLANE_ROWS)]
    rows += [ALL_ROWS * len(loops) + gear for gear in range(len(gears))]
    dependent = tuple(body for body in bodies if body not in form.given_bodies)
    cluster = Cluster(bodies, loops, gears)
    closed_form = form if loops or form.followers else None
    return Linkage(cluster, bodies, form.given_bodies, dependent, tuple(rows), closed_form)


_kernels: dict[tuple[object, ...], Kernel] = {}
_compiling = Lock()


def kernel(
    kind: type[Design],
    program: Declaration,
    of: Callable[[type[Design]], Subject] = parametric_system,
) -> Kernel:
    """A program of a kind of mechanism, compiled when first asked for.

    of : what it is traced for. That of the system takes the inputs of the program of a robot, then
        "parameters": what `Design.vector` gives.
    """
    key = kind, program, of, STANDARD.interpreted
    with _compiling:
        if key not in _kernels:
            made = Program(program, of(kind))
            home = np.append(made.subject.closing.home, np.zeros(made.kept))
            _kernels[key] = load_kernel(made, home)
        return _kernels[key]


def run(mechanism: Design, program: Declaration, *arguments: Array) -> Array:
    """A program over N states (N, n) of one mechanism, or of N designs (`Design.designs`)."""
    given = [*arguments, mechanism.parameters(arguments[0])]
    return kernel(type(mechanism), program).batch(given, len(arguments[0]))
