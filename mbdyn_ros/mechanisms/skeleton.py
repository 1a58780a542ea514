"""The skeleton of a drawing: which part hangs on which, what pins close, and what is a setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .drawing import Drawing, DrawnGears, DrawnLink
from .layout import GROUND, GearMesh, MechanismLayout, Part, Pin
from .link import Number, Piece, Point

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
        return result

    def _phase(self, gear: DrawnGears) -> float:
        """As drawn, between -pi and pi."""
        from cmath import phase

        driver, driven, on = (
            phase(self.drawing.direction(one)) for one in (gear.driver, gear.driven, gear.on)
        )
        ratio = gear.ratio or 0.0
        return driven - ratio * driver - (1 - ratio) * on

    def pieces(self) -> dict[str, Piece]:
        """The links by name, as drawn."""
        return {one.name: self.drawing.piece(one) for one in self.drawing.links}

    def layout(self, values: Values) -> MechanismLayout:
        """The layout with these settings and pieces."""
        parts = []
        for one in self.drawing.links:
            carrier = self.carriers[one.name]
            at = (
                self._slide_at(one, values) if one.slides_on is not None
                else self._place(carrier, one.points[0], values)
            )  # fmt: skip
            across = one.slides_on is not None and one.along == "y"
            slides = one.slides_on is not None
            parts.append(Part(one.name, carrier, at, values[one.name], slides, across))
        pins = [
            Pin(f"{first}_{second}_pin" if first != GROUND else f"{second}_pin",
                first, self._place(first, point, values), second,
                self._place(second, point, values))
            for first, second, point in self.closing
        ]  # fmt: skip
        meshes = tuple(self._mesh(one, values) for one in self.drawing.gears)
        return MechanismLayout(tuple(parts), tuple(pins), (), meshes)

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
