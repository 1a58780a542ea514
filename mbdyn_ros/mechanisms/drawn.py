"""Mechanisms from drawings: a kind like any other, its position by dyads, gears and groups.

Angles of wheels and of the links on them are linear in the angles of the inputs (Willis'
equation).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, make_dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from ..equations.algebra.complex_plane import Complex
from ..equations.algebra.spatial import SX
from ..model.model import Array
from ..program.symbols import lasting, serialized
from .branch_table import BranchTable, branch_table
from .construction import ConstructionStep, Placing, plan
from .drawing import Drawing
from .dyad import Dyad
from .layout import GROUND, Direction, MechanismLayout, SolvedPosition
from .link import Number
from .mechanism import Mechanism
from .skeleton import Skeleton, drawn_position


class DrawnMechanism(Mechanism):
    """A mechanism from a `Drawing`; `mechanism_kind` makes its fields of it."""

    drawing: ClassVar[Drawing]
    skeleton: ClassVar[Skeleton]
    steps: ClassVar[tuple[ConstructionStep, ...]]
    drawn_defaults: ClassVar[DrawnMechanism]

    def layout(self) -> MechanismLayout:
        """The parts as they are drawn."""
        return self.skeleton.layout(_values(self))

    def solve(self, turns: Sequence[Complex]) -> SolvedPosition:
        """Wheels, then dyad after dyad and group after group."""
        return self._placed(turns, self._found(turns))[0]

    @classmethod
    def of_numbers(cls, numbers: Mapping[str, Number]) -> Any:
        """As of every design; `numbers` may hold the unknowns of groups too."""
        made = super().of_numbers(numbers)
        given = [numbers[name] for name in cls.unknowns if name in numbers]
        if given:
            object.__setattr__(made, "_given", given)
        return made

    def unknown_values(self, q: Array) -> Array:
        """Angles and slides (..., u) of the parts in groups, at q (..., 1)."""
        if not self.unknowns:
            return super().unknown_values(q)
        return np.moveaxis(self.table.at(np.asarray(q)[..., 0]), 0, -1)

    def _closes(self) -> bool:
        """Whether it can be assembled at any angle; of groups at those of the table."""
        if not self.unknowns:
            return super()._closes()
        return self.table.closes

    @functools.cached_property
    def table(self) -> BranchTable:
        """The unknowns of groups over a turn of the input."""
        return branch_table(self)

    def _found(self, turns: Sequence[Any]) -> Sequence[Number]:
        """The unknowns of groups: symbols that are given, or numbers."""
        if not self.unknowns:
            return ()
        return vars(self).get("_given") or list(self.table.at(turns[0].angle))

    def _placed(
        self, turns: Sequence[Any], unknowns: Sequence[Number]
    ) -> tuple[SolvedPosition, list[Array]]:
        """All parts at given unknowns of groups; and the gaps of their pins."""
        layout = self.layout()
        angles = wheel_angles(layout, dict(zip(self.inputs, turns, strict=True)))
        known = dict(zip(self.inputs, turns, strict=True)) | {
            name: Complex(*_unit(angle)) for name, angle in angles.items()
        }
        placing, dyads = Placing(layout, known), list[Dyad]()
        gaps, rest = list[Array](), list(unknowns)
        sliding = {part.name for part in layout.parts if part.slides}
        for step in self.steps:
            if not step.unknowns:
                branch = getattr(self, step.branch) if step.branch else 1
                dyads.append(placing.close(layout.pins[step.pins[0]], branch))
                continue
            for name in step.unknowns:
                value = rest.pop(0)
                if name in sliding:
                    placing.slides[name] = value
                else:
                    placing.turns[name] = Complex(*_unit(value))
            for k in step.pins:
                gap, _ = placing.gap(layout.pins[k])
                gaps += [gap.re, gap.im]
        if self.unknowns and "_given" not in vars(self):
            margin = self.table.margin(turns[0].angle)
            with np.errstate(invalid="ignore"):
                dyads.append(Dyad(None, None, margin, np.sqrt(1 - margin)))
        if angles:
            angles |= {name: one.angle for name, one in zip(self.inputs, turns, strict=True)}
        return SolvedPosition(placing.turns, placing.slides, tuple(dyads), angles), gaps

    @classmethod
    @functools.lru_cache(maxsize=64)
    @serialized
    def gap_function(cls, many: int = 1) -> ca.Function:
        """(numbers, input angle, unknowns) -> gaps of the pins of groups, and their derivatives.

        many : designs and angles, one after the other.
        """
        if many > 1:
            return lasting(cls.gap_function().map(many))
        names = list(cls.drawn_defaults.numbers())
        numbers, angle = SX.sym("numbers", len(names)), SX.sym("angle")
        z = SX.sym("z", len(cls.unknowns))
        symbols = ca.vertsplit(ca.vertcat(numbers, z))
        given = dict(zip((*names, *cls.unknowns), symbols, strict=True))
        turn = Direction(*_unit(angle), angle)
        gaps = ca.vertcat(*cls.of_numbers(given)._placed([turn], ca.vertsplit(z))[1])
        outputs = [ca.densify(gaps), ca.densify(ca.jacobian(gaps, z))]
        return lasting(ca.Function("gaps", [numbers, angle, z], outputs, {"cse": True}))


def _unit(angle: Any) -> tuple[Any, Any]:
    if isinstance(angle, ca.SX):
        return ca.cos(angle), ca.sin(angle)
    return np.cos(angle), np.sin(angle)


def _values(mechanism: Any) -> dict[str, Any]:
    return {one.name: getattr(mechanism, one.name) for one in fields(mechanism)}


@functools.cache
def mechanism_kind(drawing: Drawing) -> type[DrawnMechanism]:
    """The kind of mechanism that a drawing shows, its defaults as drawn.

    Raises
    ------
    InputError
        The drawing names what is not there, does not hang together, or has another mobility than
        inputs; the words say which part.
    """
    drawing.check()
    skeleton = Skeleton(drawing)
    pieces, plain = skeleton.pieces(), skeleton.plain()
    _check_inputs(skeleton)
    layout = skeleton.layout(pieces | plain)
    drawn = drawn_position(drawing)
    turns = {name: drawn[name] for name in drawing.inputs}
    angles = [Direction(one.re, one.im, np.arctan2(one.im, one.re)) for one in turns.values()]
    wheels = wheel_angles(layout, dict(zip(turns, angles, strict=True)))
    known = turns | {name: Complex(*_unit(angle)) for name, angle in wheels.items()}
    steps, branches = [], dict[str, int]()
    for step in plan(layout, known, drawn):
        name = ""
        if step.branch:
            name = f"{layout.pins[step.pins[0]].second}_branch" if branches else "branch"
            branches[name] = int(step.branch)
        steps.append(ConstructionStep(step.pins, step.unknowns, name))
    unknowns = tuple(f"unknown {name}" for step in steps for name in step.unknowns)
    _check_mobility(skeleton, layout, steps, set(known))
    if len(wheels) != len(drawing.gears):
        raise drawing.refusal("its gears determine inputs, or each other twice; leave one out")
    if unknowns and len(drawing.inputs) > 1:
        raise drawing.refusal(
            "it has several inputs and loops that are not dyads; drive it so that dyads solve it"
        )
    kind: Any = make_dataclass(
        drawing.name.title().replace("_", ""),
        [(name, Any, field(default=one)) for name, one in (plain | pieces | branches).items()],
        bases=(DrawnMechanism,), frozen=True, kw_only=True,
        namespace={
            "name": drawing.name, "title": drawing.title, "inputs": drawing.inputs,
            "output": drawing.output, "drawing": drawing, "skeleton": skeleton,
            "steps": tuple(steps), "unknowns": unknowns,
        },
    )  # fmt: skip
    values = {one.name: one.default for one in fields(kind)}
    kind.drawn_defaults = drawn_defaults = kind._unchecked(values)
    if not drawing.settings:
        return kind  # type: ignore[no-any-return]
    values |= drawn_defaults._values(dict(drawing.settings))
    again: Any = make_dataclass(
        kind.__name__, [(name, Any, field(default=one)) for name, one in values.items()],
        bases=(kind,), frozen=True, kw_only=True,
    )  # fmt: skip
    return again  # type: ignore[no-any-return]


def _check_inputs(skeleton: Skeleton) -> None:
    drawing = skeleton.drawing
    for name in drawing.inputs:
        if drawing.link[name].slides_on or skeleton.carriers[name] != GROUND:
            raise drawing.refusal(f"the input {name} must turn about a point of the ground")


def _check_mobility(
    skeleton: Skeleton, layout: MechanismLayout, steps: Sequence[ConstructionStep], known: set[str]
) -> None:
    """Refuse a drawing whose pins do not place all parts."""
    drawing = skeleton.drawing
    closed = {k for step in steps for k in step.pins}
    free = len(layout.parts) - len(known)
    mobility = free - 2 * len(layout.pins) + len(drawing.inputs)
    if len(closed) < len(layout.pins) or free != 2 * len(layout.pins):
        raise drawing.refusal(
            f"its mobility is {mobility} and it has {len(drawing.inputs)} inputs; name as many "
            "inputs as it has freedoms"
            if mobility > 0
            else f"its pins hold it {1 - mobility} times too often to move; leave links out"
        )


Row = dict[str, Any]


def wheel_angles(layout: MechanismLayout, inputs: dict[str, Any]) -> dict[str, Any]:
    """Angle in the plane, rad, of every part that meshes determine.

    inputs : directions of the inputs, with their angles.
    """
    if not layout.meshes:
        return {}
    rows: list[tuple[Row, Any]] = []
    for mesh in layout.meshes:
        row: Row = {}
        right: Any = mesh.phase
        for name, factor in mesh.factors:
            if name in inputs:
                right = right - factor * inputs[name].angle
            elif name != GROUND:
                row[name] = row[name] + factor if name in row else factor
        rows.append((row, right))
    solved: list[tuple[str, Row, Any]] = []
    while rows:
        row, right = rows.pop(0)
        if not row:
            continue
        name = next(iter(row))
        pivot = row.pop(name)
        row = {other: -factor / pivot for other, factor in row.items()}
        right = right / pivot
        rows = [_without(one, name, row, right) for one in rows]
        solved.append((name, row, right))
    found: dict[str, Any] = {}
    for name, row, right in reversed(solved):
        if set(row) <= set(found):
            found[name] = right + sum(factor * found[other] for other, factor in row.items())
    return found


def _without(one: tuple[Row, Any], name: str, row: Row, right: Any) -> tuple[Row, Any]:
    """An equation with `name` = row + right put in."""
    old, rest = one
    if name not in old:
        return one
    share = old[name]
    new = {other: factor for other, factor in old.items() if other != name}
    for other, factor in row.items():
        more = share * factor
        new[other] = new[other] + more if other in new else more
    return new, rest - share * right
