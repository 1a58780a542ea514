"""Mechanisms from drawings: a kind like any other, on the assembly branch that is drawn."""

from __future__ import annotations

import cmath
import functools
from collections.abc import Mapping
from dataclasses import field, fields, make_dataclass
from typing import Any, ClassVar

import numpy as np

from ..model.model import Array
from .branch_table import BranchTable, branch_table
from .drawing import Drawing
from .kinematics import Kinematics
from .layout import GROUND, MechanismLayout
from .mechanism import Mechanism
from .skeleton import Skeleton


class DrawnMechanism(Mechanism):
    """A mechanism from a `Drawing`; `mechanism_kind` makes its fields of it.

    drawn : its positions on symbols. drawn_home : those of the joints by body, as drawn.
    """

    drawing: ClassVar[Drawing]
    skeleton: ClassVar[Skeleton]
    drawn: ClassVar[Kinematics]
    drawn_home: ClassVar[Mapping[int, float]]
    drawn_defaults: ClassVar[DrawnMechanism]
    branches: ClassVar[tuple[str, ...]] = ()

    def layout(self) -> MechanismLayout:
        """The parts as they are drawn."""
        return self.skeleton.layout({one.name: getattr(self, one.name) for one in fields(self)})

    @classmethod
    def kinematics(cls) -> Kinematics:
        """The positions of all mechanisms of the drawing."""
        return cls.drawn

    def unknown_values(self, q: Array) -> Array:
        """Turns and slides (..., u) of the parts in groups, at q (..., 1)."""
        if not self.unknowns:
            return super().unknown_values(q)
        return np.moveaxis(self.table.at(np.asarray(q)[..., 0]), 0, -1)

    def transmissions(self, q: Array) -> list[Array]:
        """As of every design; of groups the cosine whose sine is the determinant."""
        if not self.unknowns:
            return super().transmissions(q)
        with np.errstate(invalid="ignore"):
            group = np.sqrt(1 - self.table.margin(np.asarray(q)[..., 0]))
        return [*self.kinematics().transmissions(*self._columns(q)), group]

    def _closes(self) -> bool:
        """Whether it can be assembled at any angle; of groups at those of the table."""
        if not self.unknowns:
            return super()._closes()
        return self.table.closes

    @functools.cached_property
    def table(self) -> BranchTable:
        """The unknowns of groups over a turn of the input."""
        return branch_table(self)


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
    named = {
        "name": drawing.name, "title": drawing.title, "inputs": drawing.inputs,
        "output": drawing.output, "drawing": drawing, "skeleton": skeleton,
    }  # fmt: skip
    kind = _subclass(DrawnMechanism, plain | pieces, named)
    drawn, home = Kinematics(kind), _drawn_home(skeleton)
    _check_mobility(drawing, drawn)
    if drawn.stuck:
        raise drawing.refusal(
            f"its gears turn {drawn.stuck}, on which links hang, and not the part that carries it; "
            "hang it on the ground or on a part that they turn"
        )
    unknowns = tuple(f"unknown {drawn.layout.parts[body].name}" for body in drawn.unknowns)
    if unknowns and len(drawing.inputs) > 1:
        raise drawing.refusal(
            "it has several inputs and loops that are not dyads; drive it so that dyads solve it"
        )
    named = {"drawn": drawn, "drawn_home": home, "unknowns": unknowns}
    kind = _subclass(kind, drawn.branches_at(home), named)
    kind.drawn_defaults = kind.described()
    settings = kind.drawn_defaults._values(dict(drawing.settings))
    return _subclass(kind, settings, {}) if settings else kind


def _subclass(
    base: type[DrawnMechanism], defaults: Mapping[str, Any], named: Mapping[str, Any]
) -> type[DrawnMechanism]:
    """A kind with more fields, or with other defaults of them."""
    name = {"name": base.__name__, **named}["name"]
    made: Any = make_dataclass(
        name.title().replace("_", ""),
        [(name, Any, field(default=one)) for name, one in defaults.items()],
        bases=(base,), frozen=True, kw_only=True, namespace=dict(named),
    )  # fmt: skip
    return made  # type: ignore[no-any-return]


def _drawn_home(skeleton: Skeleton) -> dict[int, float]:
    """Positions of the joints by body, as drawn."""
    drawing, home = skeleton.drawing, dict[int, float]()
    for body, one in enumerate(drawing.links):
        if one.slides_on is not None:
            home[body] = drawing.slide(one)[0]
        else:
            turn = drawing.direction(one.name) / drawing.direction(skeleton.carriers[one.name])
            home[body] = cmath.phase(turn)
    return home


def _check_inputs(skeleton: Skeleton) -> None:
    drawing = skeleton.drawing
    for name in drawing.inputs:
        if drawing.link[name].slides_on or skeleton.carriers[name] != GROUND:
            raise drawing.refusal(f"the input {name} must turn about a point of the ground")


def _check_mobility(drawing: Drawing, drawn: Kinematics) -> None:
    """Refuse a drawing whose pins and gears do not place all parts."""
    pins = len(drawn.layout.pins)
    free = len(drawn.layout.parts) - len(drawing.inputs) - len(drawn.wheels)
    mobility = free - 2 * pins + len(drawing.inputs)
    if drawn.dyads.turns is None or free != 2 * pins:
        raise drawing.refusal(
            f"its mobility is {mobility} and it has {len(drawing.inputs)} inputs; name as many "
            "inputs as it has freedoms"
            if mobility > 0
            else f"its pins hold it {1 - mobility} times too often to move; leave links out"
        )
    if len(drawn.wheels) != len(drawing.gears):
        raise drawing.refusal("its gears determine inputs, or each other twice; leave one out")
