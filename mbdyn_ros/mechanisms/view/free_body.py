"""One link of a mechanism cut free: what acts on it, and Newton's and Euler's equations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...export.document import HTML, mathml
from ...model.model import Array
from ...view.figure import color_of
from ...view.page.charts import Curve
from ..analysis import Analysis
from ..link import Points
from .forces import PlaneMotion, pushes
from .shown_mechanism import extent

LAW = (
    r"M_i\,\dot t_i + W_i M_i\,t_i = w_i",
    r"M_i = \operatorname{diag}(I_i, m_i, m_i), \; t_i = [\omega; \dot c_x; \dot c_y]",
    r"W_i M_i\,t_i = [\omega \times I_i\,\omega; 0; 0] = 0",
)
"""Newton's and Euler's equations of a link in the plane, (4) and (5) of the paper."""

STYLE = """<style>
.free-body { font-size: 11px; line-height: 1.8; overflow-x: auto; padding: 0 1.8em 0 0.6em; }
.free-body math { margin: 0.5em 0; }
.free-body td:not(:first-child) { text-align: right; }
.free-body td:first-child, .free-body th:first-child { min-width: 0; width: 30%; }
</style>"""

BLOCK_SHARE = 0.02
"""Half the side of a drawn block, of the mechanism's size."""

SHOWN_DECIMALS = 9
"""Of numbers in equations: what is below is rounding."""

ARROW = 0.25
"""The longest arrow, of the mechanism's size."""


@dataclass(frozen=True, eq=False)
class Action:
    """Action on a part: force (N,) in N at a place (N,) in m, x + i y; moment (N,), N m."""

    name: str
    place: Points
    force: Points
    moment: Array


def actions_on(analysis: Analysis, name: str) -> Iterator[Action]:
    """The forces and moments on a part: its weight, those of joints, meshes, cams and springs."""
    pose, mechanism = analysis.pose, analysis.mechanism
    layout, none = pose.layout, np.zeros(len(analysis.motion))
    piece = layout.parts[layout.order[name]].piece
    weight = np.full(len(none), -1j * float(piece.mass) * float(mechanism.gravity))
    yield Action("weight", pose.point(name, piece.middle), weight, none)
    for one in pushes(analysis):
        if name in one.joint.parts:
            sign = 1 if name == one.joint.parts[1] else -1
            yield Action(one.joint.name, one.place, sign * one.force, sign * one.moment)
    for cam in layout.cams:
        if name == cam.follower:
            push = cam.spring_effort(cam.motion(analysis.cam_angle(cam))[0])
            place = pose.origins[name]
            if cam.arm is None:
                yield Action("spring", place, push * pose.directions[name], none)
            else:
                yield Action("spring", place, none.astype(complex), push)


class FreeBody:
    """The free-body diagram of a part, and its equations, at the instants of a motion."""

    def __init__(self, analysis: Analysis, name: str) -> None:
        layout, moves = analysis.mechanism.layout(), PlaneMotion(analysis)
        piece = layout.parts[layout.order[name]].piece
        self.actions = tuple(actions_on(analysis, name))
        self._name, self._size = name, extent(analysis.pose)
        self._numbers = float(piece.moment), float(piece.mass)
        self._center = analysis.pose.point(name, piece.middle)
        self._rates = moves.spin(name), moves.acceleration(name, piece.middle)
        outline = np.array(analysis.pose.outline(name))
        if len(outline) == 1:
            corners = np.array([1 + 1j, -1 + 1j, -1 - 1j, 1 - 1j])
            turned = corners[:, None] * analysis.pose.directions[name]
            outline = outline + BLOCK_SHARE * self._size * turned
        self._outline = np.concatenate([outline, outline[:1]])
        forces = np.abs([one.force for one in self.actions])
        self._full = float(np.nanmax(np.median(forces, axis=1))) or 1.0

    def lines(self, row: int) -> tuple[list[Curve], list[Curve]]:
        """The part, and the arrows of the forces on it, at an instant."""
        edge = self._outline[:, row]
        drawn = [Curve(self._name, edge.imag, "#969ca4", width=3.0, x=edge.real)]
        arrows = []
        for k, one in enumerate(self.actions):
            force, start = complex(one.force[row]), complex(one.place[row])
            if not abs(force) > 0:
                continue
            long = ARROW * self._size * min(abs(force) / self._full, 1.5)
            ends = np.array([start, start + long * force / abs(force)])
            name = f"{one.name} {abs(force):.3g} N"
            arrows.append(Curve(name, ends.imag, color_of(k), x=ends.real))
        return drawn, arrows

    def sums(self, row: int) -> tuple[Array, Array]:
        """M t_rate, and w: moment about the centre of mass (N m), force along x and y (N), each
        (3,)."""
        inertia, mass = self._numbers
        spin, acceleration = (one[row] for one in self._rates)
        moved = mass * complex(acceleration)
        rows = np.array([self._wrench(one, row) for one in self.actions])
        return np.array([inertia * spin, moved.real, moved.imag]), rows.sum(axis=0)

    def _wrench(self, one: Action, row: int) -> list[float]:
        force, arm = complex(one.force[row]), complex(one.place[row] - self._center[row])
        return [float(one.moment[row]) + (arm.conjugate() * force).imag, force.real, force.imag]

    def equations(self, row: int) -> str:
        """HTML: the equations in symbols and numbers, and what each action adds to w."""
        inertia, mass = (_number(one) for one in self._numbers)
        spin, acceleration = (one[row] for one in self._rates)
        rates = (float(spin), acceleration.real, acceleration.imag)
        moved, wrench = self.sums(row)
        diagonal = [[inertia, "0", "0"], ["0", mass, "0"], ["0", "0", mass]]
        numbers = _matrix(diagonal) + _column(rates) + "=" + _column(moved)
        rows = [
            (f"{one.name}", *map(_number, (float(one.moment[row]), *self._wrench(one, row))))
            for one in self.actions
        ]
        header = ("on the " + self._name, "M (N m)", "n (N m)", "f_x (N)", "f_y (N)")
        sums = HTML.table((header, [*rows, ("w_i", "", *map(_number, wrench))]))
        said = "<p>M acts at the joint, n about the centre of mass c: M + r × f.</p>"
        laws = (mathml(one, display=True) for one in (*LAW, numbers))
        return "".join([STYLE, '<div class="free-body">', *laws, *sums, said, "</div>"])


def _matrix(rows: Sequence[Sequence[str]]) -> str:
    """The LaTeX of a matrix of numbers or formulas."""
    lines = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\begin{{bmatrix}} {lines} \end{{bmatrix}}"


def _column(values: Array | tuple[float, ...]) -> str:
    return _matrix([[_number(one)] for one in values])


def _number(value: float) -> str:
    return f"{round(float(value), SHOWN_DECIMALS) + 0.0:.4g}"
