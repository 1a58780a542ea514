"""Mechanisms from drawings: a skeleton, and a kind like any other on the drawn branch."""

from __future__ import annotations

import cmath
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..model.model import Array, Model
from .branch_table import BranchTable, branch_table
from .disk_cam import OF_ARMS, DiskCam
from .drawing import Drawing, DrawnCam, DrawnGears, DrawnLink
from .kinematics import COEFFICIENTS, Kinematics
from .layout import GROUND, GearMesh, MechanismLayout, Part, PartConnection
from .link import Number, Piece, Point
from .mechanism import Mechanism

SLIDE_LIMIT, ARM_LIMIT = 30.0, 45.0
"""Usual limits of pressure angles, deg, of followers that slide and that turn."""

Values = Mapping[str, Any]
"""Settings and pieces by the names of a design's fields."""


@dataclass(frozen=True)
class Skeleton:
    """The parts of a drawing as they hang on each other.

    carriers : by link, the part that it hangs on. closing : first and second part, and the point
    that they share.
    """

    drawing: Drawing

    @cached_property
    def owners(self) -> dict[str, str]:
        """The first part that has each point."""
        owners = dict.fromkeys(self.drawing.ground, GROUND)
        for one in self.drawing.links:
            for point in one.points:
                owners.setdefault(point, one.name)
        return owners

    @cached_property
    def carriers(self) -> dict[str, str]:
        """The part that each link hangs on or slides on."""
        order = [GROUND, *self.drawing.link]
        found = {}
        for one in self.drawing.links:
            carrier = one.slides_on or self.owners[one.points[0]]
            if carrier not in order[: order.index(one.name)]:
                raise self.drawing.refusal(
                    f"{one.name} hangs on nothing: list it after the part that it slides on"
                    if one.slides_on
                    else f"{one.name} hangs on nothing by its first point {one.points[0]}; begin "
                    "with a point of the ground or of a link listed before it"
                )
            found[one.name] = carrier
        return found

    @cached_property
    def closing(self) -> list[tuple[str, str, str]]:
        """First part, second part and point of every pin that closes a loop."""
        found = []
        for one in self.drawing.links:
            for k, point in enumerate(one.points):
                owner = self.owners[point]
                if owner != one.name and (k or one.slides_on):
                    found.append((owner, one.name, point))
        return found

    def plain(self) -> dict[str, float]:
        """The settings that belong to no link, as drawn."""
        drawing, result = self.drawing, dict[str, float]()
        for point in drawing.ground:
            x, y = drawing.places[point].real, drawing.places[point].imag
            if x or y:
                result |= {f"{point}_x": x, f"{point}_y": y}
        for one in drawing.links:
            if one.slides_on is not None:
                result[f"{one.name}_offset"] = drawing.slide(one)[1]
        for gear in drawing.gears:
            if gear.ratio is not None:
                result[f"{gear.driven}_ratio"] = gear.ratio
                result[f"{gear.driven}_phase"] = self._phase(gear)
            elif gear.driven == GROUND and gear.teeth is not None:
                result["ring_teeth"] = gear.teeth
        for cam in drawing.cams:
            result |= dict(self._cam_numbers(cam).values())
        return result

    def _cam_numbers(self, cam: DrawnCam) -> dict[str, tuple[str, float]]:
        """The settings of a cam by field of `DiskCam`: names, and values, the base circle's as
        drawn."""
        drawing, follower = self.drawing, self.drawing.link[cam.driven]
        sliding = follower.slides_on is not None
        roller = drawing.places[follower.points[0 if sliding else 1]]
        seen = (roller - drawing.origin(cam.driver)) / (1j if follower.along == "y" else 1)
        prime = abs(seen.real) if cam.flat else abs(seen)
        found = {"base_radius": prime - cam.roller, "lift": cam.law.lift}
        if not cam.flat:
            limit = SLIDE_LIMIT if sliding else ARM_LIMIT
            found["roller_radius"] = cam.roller
            found["pressure_limit"] = limit if cam.limit is None else cam.limit
        found |= {"stiffness": cam.stiffness, "preload": cam.preload}
        ends = {} if sliding else OF_ARMS
        return {key: (f"{cam.driver}_{ends.get(key, key)}", one) for key, one in found.items()}

    def _phase(self, gear: DrawnGears) -> float:
        """As drawn, between -pi and pi."""
        names = gear.driver, gear.driven, gear.on
        driver, driven, on = (cmath.phase(self.drawing.direction(one)) for one in names)
        ratio = gear.ratio or 0.0
        return driven - ratio * driver - (1 - ratio) * on

    def pieces(self) -> dict[str, Piece]:
        """The links by name, as drawn."""
        return {one.name: self.drawing.piece(one) for one in self.drawing.links}

    def layout(self, values: Values) -> MechanismLayout:
        """The layout with these settings and pieces."""
        parts = []
        for one in self.drawing.links:
            carrier, slides = self.carriers[one.name], one.slides_on is not None
            start = one.points[0]
            at = self._slide_at(one, values) if slides else self._place(carrier, start, values)
            across = slides and one.along == "y"
            parts.append(Part(one.name, carrier, at, values[one.name], slides, across))
        pins = []
        for first, second, point in self.closing:
            ends = ((part, self._place(part, point, values)) for part in (first, second))
            name = f"{first}_{second}_pin" if first != GROUND else f"{second}_pin"
            pins.append(PartConnection(name, *next(ends), *next(ends)))
        meshes = tuple(self._mesh(one, values) for one in self.drawing.gears)
        cams = tuple(self._cam(one, values) for one in self.drawing.cams)
        return MechanismLayout(tuple(parts), tuple(pins), (), meshes, cams)

    def _cam(self, cam: DrawnCam, values: Values) -> DiskCam:
        drawing, follower = self.drawing, self.drawing.link[cam.driven]
        sliding = follower.slides_on is not None
        numbers = {key: values[name] for key, (name, _) in self._cam_numbers(cam).items()}
        axle = self._place(GROUND, drawing.link[cam.driver].points[0], values)
        start = drawing.origin(cam.driven) - drawing.origin(cam.driver)
        direction = drawing.direction(cam.driven)
        if sliding:
            foot, arm = self._slide_at(follower, values), None
            rises = (start * direction.conjugate()).real > 0
        else:
            foot, arm = self._place(GROUND, follower.points[0], values), values[cam.driven].length
            rises = (start * direction.conjugate()).imag > 0
        return DiskCam(
            cam.driver, cam.driven, cam.law, cam.flat, follower.along == "y", arm, axle, foot,
            1 if rises else -1, **numbers,
        )  # fmt: skip

    def _place(self, part: str, point: str, values: Values) -> Point:
        """A point in the axes of a part."""
        if part == GROUND:
            return values.get(f"{point}_x", 0.0), values.get(f"{point}_y", 0.0)
        pin: Point = values[part].pins[self.drawing.link[part].points.index(point)]
        return pin

    def _slide_at(self, one: DrawnLink, values: Values) -> Point:
        offset = values[f"{one.name}_offset"]
        return (0.0, offset) if one.along == "x" else (offset, 0.0)

    def _mesh(self, gear: DrawnGears, values: Values) -> GearMesh:
        if gear.ratio is not None:
            ratio, phase = (values[f"{gear.driven}_{one}"] for one in ("ratio", "phase"))
            return GearMesh(gear.driver, gear.driven, gear.on, ratio, phase)
        ring: Number = values.get("ring_teeth")
        driven = ring if gear.driven == GROUND else values[gear.driven].teeth
        ratio = values[gear.driver].teeth / driven
        return GearMesh(gear.driver, gear.driven, gear.on, ratio if gear.internal else -ratio)


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
        """Turns and slides (..., u) of the parts in groups, at q (..., n); the laws of cams."""
        if self.drawn.groups:
            return self.table.at(np.asarray(q)[..., 0], self.vector().ndim == 1)
        if not self.unknowns:
            return super().unknown_values(q)
        columns = [
            one for cam in self.cams for one in cam.coefficients(self.shaft_angle(cam.cam, q))
        ]
        return np.stack(np.broadcast_arrays(*columns), axis=-1)

    def transmissions(self, q: Array) -> list[Array]:
        """As of every design; of cams sines of pressure angles, NaN where they cannot work."""
        sines = [
            np.where(one.is_sound, np.sin(one.pressure_angle(self.shaft_angle(one.cam, q))), np.nan)
            for one in self.cams
        ]
        found = self.kinematics().transmissions(*self._columns(q)) if sines else []
        return [*found, *sines] or super().transmissions(q)

    def _closes(self) -> bool:
        """Whether it can be assembled at any angle; of groups at those of the table."""
        if self.drawn.groups:
            return self.table.closes
        for cam in self.cams:
            if cam.problem is not None:
                raise self.refusal(cam.problem)
        return super()._closes()

    @functools.cached_property
    def cams(self) -> tuple[DiskCam, ...]:
        """Its disk cams."""
        return self.layout().cams

    def model(self) -> Model:
        """As of every mechanism; a cam has none."""
        if self.cams:
            raise self.refusal(
                "a URDF cannot say how a cam moves its follower: its law is in pieces; leave the "
                "cam out, or write the numbers with --output"
            )
        return super().model()

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
    if unknowns and drawing.cams:
        raise drawing.refusal(
            "it has cams and loops that are not dyads; leave the cams out, or close it by dyads"
        )
    if unknowns and len(drawing.inputs) > 1:
        raise drawing.refusal(
            "it has several inputs and loops that are not dyads; drive it so that dyads solve it"
        )
    for cam in drawn.layout.cams:
        unknowns += tuple(f"{cam.name} {k}" for k in range(COEFFICIENTS))
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
    given = len(drawing.inputs) + len(drawn.wheels) + len(drawn.followers)
    free = len(drawn.layout.parts) - given
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
