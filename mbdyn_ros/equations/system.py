"""A robot as its equations see it, and the motion of its tree that they are built on."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ..array import Array
from ..model.model import ACTING
from ..prepare.clusters import Cluster
from ..prepare.coordinates import Coordinates
from ..prepare.tree import WORLD, Origin, Tree
from ..program.continuation import LoopFunctions
from ..program.evaluation import Evaluation
from ..program.program import Closing
from ..program.symbols import SerializedProperty
from .algebra.spatial import SX
from .loops.embedding import Embedding, LoopTerms
from .loops.linkage import Linkage, loop_functions, rows_at_positions
from .regrouping import regrouped

DEEP = 200
"""Mean square of the numbers of coordinates that move a body, from which on forward dynamics by
the mass matrix costs at least 1.5 times that by articulated bodies: a chain of 24 joints."""

SHALLOW = 16
"""The same up to which it costs less than by articulated bodies: a chain of 6 joints."""


@dataclass(frozen=True, eq=False)
class System:
    """All that the equations of a robot need.

    tree, clusters : the bodies, and how constraints group them.
    linkages : the constrained clusters, solved for their independent joints.
    coordinates : which joints are independent and actuated.
    gravity : (3,) (m/s^2). home : tree positions (nq_tree,) of a closed configuration.
    parameters : symbols (p, 1) that stand for numbers of the robot; None where all are numbers.
    grouped : `regrouped` where parameters are inertias; None where they stay as they are.
    known_by : what identifies a system with parameters; empty where its numbers do. Then
        the parameters follow home where programs run.
    origins : of joints and loop frames, by name.

    Programs are traced for it (`program.program.Subject`). They take the independent positions q
    and, where loops have no closed form, the positions z of their dependent joints, which
    `terms` may follow.
    """

    tree: Tree
    clusters: tuple[Cluster, ...]
    linkages: tuple[Linkage, ...]
    coordinates: Coordinates
    gravity: Array
    home: Array
    parameters: SX | None = None
    grouped: Tree | None = None
    known_by: str = ""
    origins: Mapping[str, Origin] = field(default_factory=dict)

    @functools.cached_property
    def regrouped(self) -> Tree:
        """The tree with inertias merged where only their sum matters; symbols stay as they are."""
        if self.parameters is None:
            return regrouped(self.tree)
        return self.tree if self.grouped is None else self.grouped

    @property
    def with_home(self) -> bool:
        """Whether the parameters follow home."""
        return bool(self.known_by)

    @property
    def mass(self) -> float:
        """Mass (kg) of all that joints can move."""
        return sum(body.inertia.mass for body in self.tree.bodies)

    @functools.cached_property
    def is_deep(self) -> bool:
        """Whether bodies are carried by so many joints that whole matrices cost too much."""
        return self._mean_square_depth > DEEP

    @property
    def is_shallow(self) -> bool:
        """Whether bodies are carried by so few joints that whole matrices cost least."""
        return self._mean_square_depth <= SHALLOW

    @functools.cached_property
    def _mean_square_depth(self) -> float:
        """Mean square of the numbers of coordinates that move a body."""
        depth: list[int] = []
        for body in self.tree.bodies:
            above = depth[body.parent] if body.parent != WORLD else 0
            depth.append(above + body.v.stop - body.v.start)
        return sum(number**2 for number in depth) / max(1, len(depth))

    @property
    def numerical_linkages(self) -> tuple[Linkage, ...]:
        """The linkages whose positions have no closed form."""
        return tuple(one for one in self.linkages if not one.linear and one.closed_form is None)

    def rows(self, linkage: Linkage, places: Sequence[int] | None = None) -> list[int]:
        """Tree positions of the joints at some places of a linkage, of all if None."""
        coupled = linkage.cluster.coupled
        chosen = coupled if places is None else [coupled[k] for k in places]
        return [self.tree.bodies[body].q.start for body in chosen]

    @property
    def numerical_dependent_rows(self) -> list[int]:
        """Tree positions of the dependent joints that have no closed form."""
        return [row for one in self.numerical_linkages for row in self.rows(one, one.dependent)]

    @property
    def numerical_independent_rows(self) -> list[int]:
        """Tree positions of the independent joints of the loops that have no closed form."""
        return [row for one in self.numerical_linkages for row in self.rows(one, one.independent)]

    @property
    def closing(self) -> Closing:
        """How the positions of loops without closed form are found; home is read anew."""
        order, numerical_linkages = list(self.coordinates.q), self.numerical_linkages
        return Closing(
            counts=tuple((len(one.independent), len(one.dependent)) for one in numerical_linkages),
            places=tuple(order.index(row) for row in self.numerical_independent_rows),
            home=self.home[[*self.numerical_independent_rows, *self.numerical_dependent_rows]],
            equations=lambda: self.numerical_loops,
            terms=lambda: self.terms.function,
            kept=0 if self._varied is None else self._varied.numel(),
        )

    @functools.cached_property
    def _varied(self) -> SX | None:
        """The parameters, where loops without closed form have some among their lengths."""
        if self.parameters is None or not self.with_home:
            return None
        frames = [
            frame
            for one in self.numerical_linkages
            for frame in (
                *(self.tree.bodies[body].placement for body in one.cluster.bodies),
                *(frame for closure in one.cluster.closures for _, frame in closure.ends),
            )
        ]
        parts = (part for frame in frames for part in (frame.rotation, frame.translation))
        return self.parameters if any(isinstance(part, SX) for part in parts) else None

    @functools.cached_property
    def numerical_loops(self) -> list[LoopFunctions]:
        """The equations of the loops without closed form, by which all programs walk."""
        varied = self._varied
        return [loop_functions(self.tree, one, varied) for one in self.numerical_linkages]

    @property
    def nz(self) -> int:
        """Number of dependent positions that have no closed form."""
        return len(self.numerical_dependent_rows)

    @property
    def quaternions(self) -> tuple[int, ...]:
        """Where in q the unit quaternions of floating joints begin."""
        return self.coordinates.quaternions

    def shape(self, name: str) -> tuple[int, int]:
        """Rows and columns of a program's input: one number a coordinate, a wrench a body.

        `slides` are one number for each velocity of the tree, `held` are efforts.
        """
        if name == "wrenches":
            return 6, len(self.tree.bodies)
        sizes = {"q": self.coordinates.nq, "effort": len(self.coordinates.effort)}
        sizes |= {"slides": self.tree.nv, "held": len(self.coordinates.effort)}
        return sizes.get(name, self.coordinates.nv), 1

    @SerializedProperty
    def embedding_at_home(self) -> Array:
        """G (nv_tree, nv) as numbers, at home; the same everywhere where only gears constrain."""
        home = self.home[list(self.coordinates.q)], self.home[self.numerical_dependent_rows]
        return np.array(ca.evalf(self.embedding(*(SX(part) for part in home)).matrix))

    @SerializedProperty
    def residuals(self) -> dict[Linkage, Evaluation]:
        """Residuals (m, 1) of the linkages' rows as functions of their joints' positions.

        What rounding leaves open counts as closed.
        """
        pairs = [(one, rows_at_positions(self.tree, one.cluster)) for one in self.linkages]
        return {
            one: Evaluation("residual", [x], [one.beyond_tolerances(rows.residual)])
            for one, (x, rows) in pairs
        }

    @functools.cached_property
    def terms(self) -> LoopTerms:
        """Terms that all programs need of the loops without closed form."""
        order = list(self.coordinates.q)
        places = [order.index(row) for row in self.numerical_independent_rows]
        linkages, nq = self.numerical_linkages, self.coordinates.nq
        return LoopTerms(self.tree, linkages, nq, places, self._varied)

    def embedding(self, q: SX, z: SX) -> Embedding:
        """The motion of the tree at independent positions; `terms` may follow z."""
        known = self.terms.known(z) if z.shape[0] > self.nz else {}
        return Embedding(self.tree, self.linkages, self.coordinates, q, z[: self.nz], known)

    def matrix_rate(self, embedding: Embedding, q: SX, z: SX, v: SX) -> SX:
        """dG/dt (nv_tree, nv) at the velocity `v`; `q` and `z` are plain symbols.

        G depends on joints of loops alone, and no quaternion is among these.
        """
        matrix = embedding.matrix
        if not self.linkages:
            return SX(*matrix.shape)
        moving = SX.zeros(q.shape[0])
        for motion, in_q, in_v in self.coordinates.motions:
            if motion.quaternion is None:
                moving[in_q] = v[in_v]
        columns = {body.q.start: body.v.start for body in self.tree.bodies}
        numerical_linkages = matrix[[columns[row] for row in self.numerical_dependent_rows], :] @ v
        numbers = ca.jtimes(matrix.nz[:], ca.vertcat(q, z), ca.vertcat(moving, numerical_linkages))
        return SX(matrix.sparsity(), ca.densify(numbers))

    def closure(self, q: SX, z: SX) -> SX:
        """Residual (nz, 1) of the loops that have no closed form, rows of full rank."""
        embedding, rest = self.embedding(q, z), SX.zeros(self.tree.nv)
        residuals = (
            embedding.rows(one, rest).residual[list(one.rows)] for one in self.numerical_linkages
        )
        return ca.vertcat(SX(0, 1), *residuals)

    @functools.cached_property
    def turning(self) -> frozenset[str]:
        """The joints that turn in loops, where a whole turn changes nothing."""
        return frozenset(
            self.tree.bodies[body].joint
            for linkage in self.linkages
            if not linkage.cluster.gears
            for body in linkage.cluster.coupled
            if self.tree.bodies[body].motion.is_periodic
        )

    @functools.cached_property
    def given(self) -> tuple[int, ...]:
        """The velocities of independent coordinates that are given, whatever acts on them."""
        places = [body.v for body in self.tree.bodies if body.given]
        return tuple(
            k
            for k, row in enumerate(self.coordinates.v)
            if any(one.start <= row < one.stop for one in places)
        )

    def given_part(self, v: Array) -> Array:
        """Velocities (nv,) with zeros where they are not given."""
        part = np.zeros_like(v)
        part[list(self.given)] = v[list(self.given)]
        return part

    @functools.cached_property
    def has_friction(self) -> bool:
        """Whether any joint has damping or dry friction."""
        return self.has("damping", "friction")

    def has(self, *acting: str) -> bool:
        """Whether any joint has one of these numbers of `Joint`, or a symbol for it."""
        numbers = (getattr(body, name) for body in self.tree.bodies for name in acting)
        return any(isinstance(one, SX) or one for one in numbers)

    def digest(self) -> str:
        """Hash of every number that the equations depend on; home is an input of programs."""
        content = hashlib.sha256(self.known_by.encode())
        if self.known_by:
            return content.hexdigest()
        for body in self.tree.bodies:
            content.update(f"{body.kind} {body.parent} {body.q} {body.v}".encode())
            for numbers in (
                [body.offset, body.inertia.mass, *(getattr(body, name) for name in ACTING)],
                body.placement.rotation,
                body.placement.translation,
                body.axis,
                body.inertia.first,
                body.inertia.second,
            ):
                content.update(np.asarray(numbers, dtype=np.float64).tobytes())
        for link, (index, pose) in self.tree.frames.items():
            content.update(f"{link} {index}".encode())
            content.update(pose.rotation.tobytes() + pose.translation.tobytes())
        for _, own in self.tree.parts.values():
            content.update(np.float64(own.mass).tobytes())
            content.update(own.first.tobytes() + own.second.tobytes())
        for linkage in self.linkages:
            content.update(repr((linkage.independent, linkage.dependent, linkage.rows)).encode())
            content.update(repr((linkage.cluster.gears, linkage.closed_form)).encode())
            content.update(repr((linkage.tolerances, linkage.unit)).encode())
            for closure in linkage.cluster.closures:
                content.update(f"{closure.type} {closure.bodies} {closure.axis.tolist()}".encode())
                for frame in (closure.predecessor_frame, closure.successor_frame):
                    content.update(frame.rotation.tobytes() + frame.translation.tobytes())
        indices = (self.coordinates.q, self.coordinates.v, self.coordinates.effort)
        content.update(repr(indices).encode() + self.gravity.tobytes())
        return content.hexdigest()
