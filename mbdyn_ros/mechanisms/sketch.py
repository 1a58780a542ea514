"""A drawing that is being made, from nothing or from a mechanism in a position."""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ..errors import InputError
from .drawing import Drawing, DrawnLink
from .layout import GROUND
from .link import Bar, Block
from .mechanism import Mechanism
from .pose import MechanismPose

ONE_POINT = 1e-9
"""Distance of pins that are one point, of a mechanism's longest link."""


@dataclass(eq=False)
class Sketch:
    """Points by name (x + i y, m), links between them, those that are fixed, and the driven links.

    Examples
    --------
    >>> sketch = Sketch()
    >>> names = [sketch.add_point(at) for at in (0j, 0.1 + 0j, 0.28 + 0.24j, 0.32 + 0j)]
    >>> sketch.ground += ["A", "D"]
    >>> for ends in ("BC", "AB", "CD"):
    ...     sketch.add_link(ends)
    >>> [one.points for one in sketch.drawing("mine").links], sketch.drawing("mine").inputs
    ([('A', 'B'), ('B', 'C'), ('C', 'D')], ('link_2',))
    """

    points: dict[str, complex] = field(default_factory=dict)
    links: list[DrawnLink] = field(default_factory=list)
    ground: list[str] = field(default_factory=list)
    inputs: tuple[str, ...] = ()

    @staticmethod
    def of(mechanism: Mechanism, pose: MechanismPose, row: int) -> Sketch:
        """A mechanism at instant `row` of a motion.

        Raises
        ------
        InputError
            It has gears or cams, which are not drawn by points.
        """
        layout, sketch = mechanism.layout(), Sketch(inputs=mechanism.inputs)
        if layout.meshes or layout.cams:
            raise mechanism.refusal("gears and cams are drawn in a file, not by their points")
        bars = [one.piece for one in layout.parts if isinstance(one.piece, Bar)]
        near = ONE_POINT * max((float(one.length) for one in bars), default=1.0)

        def point(at: complex) -> str:
            found = (name for name, place in sketch.points.items() if abs(place - at) < near)
            return next(found, "") or sketch.add_point(at)

        for part in layout.parts:
            piece = part.piece
            names = tuple(point(complex(pose.point(part.name, at)[row])) for at in piece.pins)
            link = DrawnLink(part.name, names, float(piece.mass))
            if part.slides:
                moment = float(piece.moment) if isinstance(piece, Block) else None
                link = replace(
                    link, inertia=moment, slides_on=part.parent, along="y" if part.across else "x"
                )
            elif part.parent == GROUND:
                sketch.ground.append(names[0])
            sketch.links.append(link)
        sketch.ground += [
            point(complex(*pin.at_first)) for pin in layout.pins if pin.first == GROUND
        ]
        sketch.ground = list(dict.fromkeys(sketch.ground))
        return sketch

    def add_point(self, at: complex) -> str:
        """Add a point under the next letter; its name."""
        letters = (f"{one}{k or ''}" for k in range(1000) for one in string.ascii_uppercase)
        name = next(one for one in letters if one not in self.points)
        self.points[name] = at
        return name

    def add_link(self, points: Iterable[str], slides: bool = False) -> None:
        """Add a bar or plate between points; or a block at one, which `slides` along x."""
        taken = {one.name for one in self.links}
        name = next(one for k in range(1, 1000) if (one := f"link_{k}") not in taken)
        self.links.append(DrawnLink(name, tuple(points), slides_on=GROUND if slides else None))

    def remove(self, points: list[str]) -> None:
        """Take points away, and all that is at them."""
        self.points = {name: at for name, at in self.points.items() if name not in points}
        self.links = [one for one in self.links if not set(points) & set(one.points)]
        self.ground = [one for one in self.ground if one not in points]

    def drawing(self, name: str) -> Drawing:
        """The drawing, every link on one before it; the first bar on the ground drives where
        nothing else does.

        Raises
        ------
        InputError
            There are no links.
        """
        if not self.links:
            raise InputError(f"{name}: it has no links; join points by one")
        links = {one.name: one for one in self._hung()}
        bars = [one for one in links.values() if one.slides_on is None]
        driven = [one for one in self.inputs if one in links]
        driven = driven or [one.name for one in bars if one.points[0] in self.ground][:1]
        places = tuple((key, (at.real, at.imag)) for key, at in self.points.items())
        every, ground = tuple(links.values()), tuple(self.ground)
        return Drawing(name, name, places, ground, every, tuple(driven), every[-1].name)

    def _hung(self) -> Iterator[DrawnLink]:
        """The links in an order in which each hangs on one before it, by its first point."""
        owned, waiting = set(self.ground), list(self.links)
        while waiting:
            held = [one for one in waiting if one.slides_on is None and owned & set(one.points)]
            held += [one for one in waiting if one.slides_on is not None]
            link = (held or waiting)[0]
            waiting.remove(link)
            first = next((one for one in link.points if one in owned), link.points[0])
            if link.slides_on is None and first != link.points[0]:
                rest = tuple(one for one in link.points if one != first)
                link = replace(link, points=(first, *rest))
            owned |= set(link.points)
            yield link
