"""Drawings in YAML: points, ground, links, gears, inputs; the library's mechanisms are such."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.read.yaml_source import YamlSource
from .drawing import Drawing, DrawnGears, DrawnLink

if TYPE_CHECKING:
    import yaml

LIBRARY = Path(__file__).parent / "library"
"""The mechanisms that are drawings, a file each."""

DRAWING_KEYS = ("name", "title", "points", "ground", "links", "gears", "inputs", "output",
                "settings")  # fmt: skip
LINK_KEYS = ("points", "mass", "inertia", "center", "width", "slides_on", "along", "teeth")
GEAR_KEYS = ("driver", "driven", "on", "internal", "ratio", "teeth")


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
        {one: _link(document, one, node) for one, node in links.items()},
        _names(document, values["inputs"], "inputs"),
        document.text(values["output"], "output") if "output" in values else None,
        [_gears(document, node) for node in document.records(values, "gears")],
        {one: document.number(node, one) for one, node in settings.items()},
        name,
        document.text(values["title"], "title") if "title" in values else "",
    )


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


def _link(document: YamlSource, name: str, node: yaml.Node) -> dict[str, Any]:
    values = document.mapping(node, f"link {name}", LINK_KEYS)
    if "points" not in values:
        raise document.error(node, f"link {name} has no points; give their names")
    given: dict[str, Any] = {}
    for key, value in values.items():
        what = f"{key} of {name}"
        if key == "points":
            given[key] = _names(document, value, what)
        elif key in ("slides_on", "along"):
            given[key] = document.text(value, what)
        elif key == "center":
            given[key] = _pair(document, value, what)
        else:
            given[key] = document.number(value, what)
    return given


def _gears(document: YamlSource, node: yaml.Node) -> dict[str, Any]:
    values = document.mapping(node, "a pair of gears", GEAR_KEYS)
    for key in ("driver", "driven"):
        if key not in values:
            raise document.error(node, f"a pair of gears has no {key}; name it")
    read = {"ratio": document.number, "teeth": document.number, "internal": document.truth}
    return {key: read.get(key, document.text)(value, key) for key, value in values.items()}


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
    )  # fmt: skip
