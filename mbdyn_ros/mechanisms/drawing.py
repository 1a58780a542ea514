"""The drawing of a mechanism: points, links, sliders, gears and cams, also as a file.

A link hangs by its first point on the part listed before it that has this point; wherever else it
shares a point with one listed before it, a pin closes a loop.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, unknown
from ..model.read.yaml_source import YamlSource
from .cam_law import LawSegment, MotionLaw
from .layout import GROUND
from .link import ORDINALS, Block, Cam, Link, Piece, Plate, Wheel

if TYPE_CHECKING:
    import yaml


MOST_POINTS = len(ORDINALS) + 3
"""Of a link."""


@dataclass(frozen=True)
class DrawnLink:
    """A link of a drawing.

    points : names; a bar has two, a plate more, a wheel its axle, a block its pin.
    mass, inertia, center, width : as of a `Link`, seen from the first point, x towards the second.
    slides_on, along : of a block, the part that it slides on and whose axis: "x" or "y".
    teeth : of a wheel.
    """

    name: str
    points: tuple[str, ...]
    mass: float = 1.0
    inertia: float | None = None
    center: tuple[float, float] | None = None
    width: float = 0.0
    slides_on: str | None = None
    along: str = "x"
    teeth: float | None = None


@dataclass(frozen=True)
class DrawnGears:
    """Two parts that mesh; see `layout.GearMesh`.

    on : the part that carries both axles. internal : one of them is a ring.
    ratio : of parts without teeth. teeth : of the ring where the driven part is the ground.
    """

    driver: str
    driven: str
    on: str = GROUND
    internal: bool = False
    ratio: float | None = None
    teeth: float | None = None


@dataclass(frozen=True)
class DrawnCam:
    """A disk cam, a link of one point, and its follower: a block on the ground, or an arm on the
    ground whose second point is the roller's centre; as drawn the cam is at the start of the law.

    law : segments of the follower's motion. flat : the block has a flat face.
    roller, limit, stiffness, preload : see `DiskCam`.
    """

    driver: str
    driven: str
    law: MotionLaw
    flat: bool = False
    roller: float = 0.0
    limit: float | None = None
    stiffness: float = 0.0
    preload: float = 0.0


@dataclass(frozen=True)
class Drawing:
    """A mechanism as it is drawn.

    points : name and place (x, y), m. ground : the points that are fixed.
    inputs : links on the ground that are driven. output : the part whose motion is looked at.
    settings : numbers that are not as drawn, by the names of `Mechanism.settings`.
    """

    name: str
    title: str
    points: tuple[tuple[str, tuple[float, float]], ...]
    ground: tuple[str, ...]
    links: tuple[DrawnLink, ...]
    inputs: tuple[str, ...]
    output: str
    gears: tuple[DrawnGears, ...] = ()
    settings: tuple[tuple[str, float], ...] = ()
    cams: tuple[DrawnCam, ...] = ()

    def refusal(self, problem: str) -> InputError:
        """The error that says what is wrong with it."""
        return InputError(f"{self.name}: {problem}")

    @cached_property
    def places(self) -> dict[str, complex]:
        """Points by name, x + i y."""
        return {name: complex(*at) for name, at in self.points}

    @cached_property
    def link(self) -> dict[str, DrawnLink]:
        """Links by name."""
        return {one.name: one for one in self.links}

    def check(self) -> None:
        """Refuse what names nothing, or names something twice."""
        names = [GROUND, *(one.name for one in self.links)]
        for what, given in (("point", [name for name, _ in self.points]), ("link", names)):
            twice = {one for one in given if given.count(one) > 1}
            if twice:
                raise self.refusal(f"there are two {what}s {min(twice)!r}; rename one")
        self._known("ground", self.ground, self.places, "point")
        if not self.ground:
            raise self.refusal("the ground has no points; name those that are fixed")
        for one in self.links:
            self._check_link(one)
        parts = dict.fromkeys(names)
        for gear in self.gears:
            self._known("gears", (gear.driver, gear.driven, gear.on), parts, "link")
            self._check_gear(gear)
        for cam in self.cams:
            self._known("cams", (cam.driver, cam.driven), self.link, "link")
            self._check_cam(cam)
        self._known("inputs", self.inputs, self.link, "link")
        self._known("output", (self.output,), self.link, "link")
        if not self.inputs:
            raise self.refusal("nothing drives it; name the driven links as inputs")

    def _check_link(self, one: DrawnLink) -> None:
        self._known(one.name, one.points, self.places, "point")
        if len(set(one.points)) != len(one.points):
            raise self.refusal(f"{one.name} has a point twice")
        count = len(one.points)
        if one.slides_on is not None or one.teeth is not None or self.is_cam(one.name):
            kind = "is a cam" if self.is_cam(one.name) else "is a wheel"
            kind = kind if one.slides_on is None else "slides"
            if count != 1:
                raise self.refusal(f"{one.name} {kind} and has {count} points; give it one")
            if one.slides_on is not None and one.along not in ("x", "y"):
                raise self.refusal(f"{one.name} slides along {one.along!r}; give x or y")
        elif not 2 <= count <= MOST_POINTS:
            raise self.refusal(f"{one.name} has {count} points; give it 2 to {MOST_POINTS}")
        else:
            start, end = (self.places[name] for name in one.points[:2])
            if start == end:
                raise self.refusal(f"{one.name} has no length: its first two points coincide")

    def _check_gear(self, gear: DrawnGears) -> None:
        for name in (gear.driver, gear.driven):
            given = gear.teeth if name == GROUND else self.teeth(name)
            if gear.ratio is None and given is None:
                raise self.refusal(
                    f"gears of {gear.driver} and {gear.driven}: {name} has no teeth; give it "
                    "teeth, or give the gears a ratio"
                )
            if given is not None and not given > 0:
                raise self.refusal(f"{name} has {given:g} teeth; give more than 0")
        if gear.ratio == 0:
            raise self.refusal(f"gears of {gear.driver} and {gear.driven}: the ratio is 0")
        if GROUND == gear.driver:
            raise self.refusal("the ground drives nothing; name it as driven")

    def _check_cam(self, cam: DrawnCam) -> None:
        where, follower = f"cam of {cam.driver} and {cam.driven}", self.link[cam.driven]
        if cam.driver not in self.turned:
            raise self.refusal(
                f"{where}: {cam.driver} is neither an input nor turned by one through gears on the "
                "ground; a cam must be driven"
            )
        taken = [name for one in self.cams if one is not cam for name in (one.driver, one.driven)]
        for name in (cam.driver, cam.driven):
            if name in taken:
                raise self.refusal(f"{where}: {name} has another cam or follower; give it one")
        on_ground = follower.slides_on == GROUND
        if not on_ground and (follower.points[0] not in self.ground or len(follower.points) < 2):
            raise self.refusal(
                f"{where}: {cam.driven} must slide on the ground, or turn about a point of the "
                "ground, its first, and have its roller at its second"
            )
        if cam.flat and not on_ground:
            raise self.refusal(f"{where}: an arm has a roller; give flat: true to a block alone")
        if cam.flat and cam.roller:
            raise self.refusal(f"{where}: it has a flat face and a roller; give one of them")

    @property
    def turned(self) -> set[str]:
        """The inputs, and the wheels that gears on the ground turn with them."""
        found = set(self.inputs)
        for gear in self.gears * len(self.gears):  # in whatever order they drive each other
            if gear.on == GROUND and found & {gear.driver, gear.driven}:
                found |= {gear.driver, gear.driven} - {GROUND}
        return found

    def is_cam(self, name: str) -> bool:
        """Whether a link is a disk cam."""
        return any(cam.driver == name for cam in self.cams)

    def teeth(self, name: str) -> float | None:
        """Of a wheel."""
        return self.link[name].teeth if name in self.link else None

    def _known(self, where: str, names: Any, known: Any, what: str) -> None:
        for name in names:
            if name not in known:
                raise self.refusal(f"{where}: {unknown(what, name, known)}")

    # -- shapes --------------------------------------------------------------------------------

    def direction(self, name: str) -> complex:
        """The drawn direction of the x axis of a part."""
        one = self.link.get(name)
        if one is None or one.teeth is not None or self.is_cam(name):
            return 1.0
        if one.slides_on is not None:
            return self.direction(one.slides_on) * (1j if one.along == "y" else 1)
        start, end = (self.places[point] for point in one.points[:2])
        return (end - start) / abs(end - start)

    def origin(self, name: str) -> complex:
        """The drawn origin of a part."""
        return self.places[self.link[name].points[0]] if name in self.link else 0.0

    def slide(self, one: DrawnLink) -> tuple[float, float]:
        """Drawn slide of a block and its offset, in the axes of the part it slides on."""
        on = str(one.slides_on)
        seen = (self.origin(one.name) - self.origin(on)) / self.direction(on)
        return (seen.real, seen.imag) if one.along == "x" else (seen.imag, seen.real)

    def piece(self, one: DrawnLink) -> Piece:
        """The part with its lengths as drawn."""
        if one.slides_on is not None:
            return Block(one.mass, one.inertia or 0.0)
        if one.teeth is not None:
            return Wheel(one.teeth, one.mass, one.inertia or 0.0)
        if self.is_cam(one.name):
            return Cam(one.mass, one.inertia or 0.0)
        start, direction = self.origin(one.name), self.direction(one.name)
        seen = [(self.places[point] - start) / direction for point in one.points]
        length = abs(seen[1])
        if len(seen) == 2:
            return Link(length, one.mass, one.width, one.center, one.inertia)
        rest = [(_rounded(at.real, length), _rounded(at.imag, length)) for at in seen[2:]]
        plate = Plate(length, rest[0], one.mass, one.center, one.inertia)
        return replace(plate, **dict(zip(ORDINALS, rest[1:], strict=False)))  # type: ignore[arg-type]


def _rounded(value: float, size: float) -> float:
    """A coordinate without the rounding of the turn that led to it."""
    return round(value, 14 - math.floor(math.log10(size)))


LIBRARY = Path(__file__).parent / "library"
"""The mechanisms that are drawings, a file each."""

DRAWING_KEYS = ("name", "title", "points", "ground", "links", "gears", "cams", "inputs",
                "output", "settings")  # fmt: skip


def read_drawing(source: str | os.PathLike[str]) -> Drawing:
    """The drawing in a YAML file or text.

    Raises
    ------
    ModelError
        It cannot be read; the words say file, line and what to do.

    Examples
    --------
    >>> toggle = read_drawing('''
    ... points: {O: [0, 0], A: [0.1, 0], B: [0.4, 0]}
    ... ground: [O]
    ... links:
    ...   crank: {points: [O, A]}
    ...   rod: {points: [A, B], mass: 0.5}
    ...   slider: {points: [B], slides_on: ground}
    ... inputs: [crank]
    ... ''')
    >>> toggle.output
    'slider'
    """
    document = YamlSource(source, "mechanism", ", ".join(DRAWING_KEYS))
    values = document.mapping(document.root, "a mechanism", DRAWING_KEYS)
    for key in ("points", "ground", "links", "inputs"):
        if key not in values:
            raise document.error(document.root, f"it has no {key}; give them")
    points = document.mapping(values["points"], "points")
    links = document.mapping(values["links"], "links")
    stem = Path(document.name).stem if os.path.exists(document.name) else "mechanism"
    name = document.text(values["name"], "name") if "name" in values else stem
    settings = document.mapping(values["settings"], "settings") if "settings" in values else {}
    return drawing_of(
        {one: _pair(document, node, f"point {one}") for one, node in points.items()},
        _names(document, values["ground"], "ground"),
        {one: _record(document, node, DrawnLink, f"link {one}", f" of {one}", ("points",))
         for one, node in links.items()},
        _names(document, values["inputs"], "inputs"),
        document.text(values["output"], "output") if "output" in values else None,
        [_record(document, node, DrawnGears, "a pair of gears", "", ("driver", "driven"))
         for node in document.records(values, "gears")],
        {one: document.number(node, one) for one, node in settings.items()},
        name,
        document.text(values["title"], "title") if "title" in values else "",
        [_record(document, node, DrawnCam, "a cam", "", ("driver", "driven", "law"))
         for node in document.records(values, "cams")],
    )  # fmt: skip


def _drawn_link(name: str, given: Mapping[str, Any]) -> DrawnLink:
    """A link of lists."""
    lists = {key: tuple(one) for key, one in given.items() if isinstance(one, (list, tuple))}
    return DrawnLink(name, **{**given, **lists})


def _names(document: YamlSource, node: yaml.Node, what: str) -> tuple[str, ...]:
    return tuple(document.text(one, f"a name in {what}") for one in document.sequence(node, what))


def _pair(document: YamlSource, node: yaml.Node, what: str) -> tuple[float, float]:
    numbers = document.numbers(node, what)
    if len(numbers) != 2:
        raise document.error(node, f"{what} has {len(numbers)} numbers; give [x, y], m")
    return numbers[0], numbers[1]


def _law(document: YamlSource, node: yaml.Node, _: str) -> MotionLaw:
    """A law of segments, their `over` in deg."""
    segments = []
    for one in document.sequence(node, "the law of a cam"):
        read = _record(document, one, LawSegment, "a segment", "", ("over",))
        segments.append(LawSegment(**{**read, "over": math.radians(read["over"])}))
    try:
        return MotionLaw(tuple(segments))
    except InputError as error:
        raise document.error(node, str(error)) from None


READERS: dict[str, Callable[[YamlSource, Any, str], Any]] = {
    "str": YamlSource.text, "float": YamlSource.number, "bool": YamlSource.truth,
    "tuple[str, ...]": _names, "tuple[float, float]": _pair, "MotionLaw": _law,
}  # fmt: skip
"""By the type of a field of a record."""


def _record(
    document: YamlSource, node: yaml.Node, kind: type, what: str, whose: str, needed: Sequence[str]
) -> dict[str, Any]:
    """The fields of a class that a mapping gives, by name."""
    read = {
        one.name: READERS[str(one.type).removesuffix(" | None")]
        for one in fields(kind) if one.name != "name"
    }  # fmt: skip
    values = document.mapping(node, what, tuple(read))
    for key in needed:
        if key not in values:
            raise document.error(node, f"{what} has no {key}; add {key}: ...")
    return {key: read[key](document, value, f"{key}{whose}") for key, value in values.items()}


def drawing_of(
    points: Mapping[str, tuple[float, float]],
    ground: Any,
    links: Mapping[str, Mapping[str, Any]],
    inputs: Any,
    output: str | None = None,
    gears: Any = (),
    settings: Mapping[str, float] | None = None,
    name: str = "mechanism",
    title: str = "",
    cams: Any = (),
) -> Drawing:
    """The drawing of lists, as in a file.

    Examples
    --------
    >>> from mbdyn_ros.mechanisms.drawn import mechanism_kind
    >>> drawing = drawing_of(
    ...     points={"O": (0, 0), "A": (0.1, 0), "B": (0.28, 0.24), "D": (0.32, 0)},
    ...     ground=["O", "D"],
    ...     links={"crank": {"points": ["O", "A"]}, "coupler": {"points": ["A", "B"]},
    ...            "rocker": {"points": ["D", "B"], "mass": 0.7}},
    ...     inputs=["crank"],
    ... )
    >>> mechanism_kind(drawing)().inverse_dynamics([[0.3]], [10.0], [0.0]).shape
    (1, 1)
    """
    return Drawing(
        name, title or name,
        tuple((one, (float(at[0]), float(at[1]))) for one, at in points.items()),
        tuple(ground),
        tuple(_drawn_link(one, link) for one, link in links.items()),
        tuple(inputs), output or list(links)[-1],
        tuple(DrawnGears(**gear) for gear in gears), tuple((settings or {}).items()),
        tuple(DrawnCam(**cam) for cam in cams),
    )  # fmt: skip
