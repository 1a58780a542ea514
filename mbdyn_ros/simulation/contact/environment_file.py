"""The YAML file of an environment: walls, the points that may hit them, stops."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from ...errors import InputError, ModelError, brief, suggestion
from ...model.read.srdf import read_disabled_pairs
from ...model.read.yaml_source import YamlSource
from .environment import Environment
from .expression import formula
from .height_field import height_field
from .link_contacts import LinkContacts
from .points import Point
from .surfaces import Surface

NUMBER, NUMBERS = YamlSource.number, YamlSource.numbers
VECTOR, TRUTH = YamlSource.vector, YamlSource.truth

OPTIONS: dict[str, Callable[..., Any]] = {
    "tie_window": NUMBER,
    "joint_limits": TRUTH,
    "limit_restitution": NUMBER,
}
"""Arguments of `Environment` that the file may give."""

ALONG_AXIS: dict[str, Callable[..., Any]] = {"center": VECTOR, "axis": VECTOR, "inside": TRUTH}

COMMON: dict[str, Callable[..., Any]] = {"restitution": NUMBER, "friction": NUMBER}


def _formulas(document: YamlSource, node: yaml.Node, what: str) -> list[str]:
    """One formula, or a list of them: the faces of a wall with edges."""
    nodes = document.sequence(node, what) if isinstance(node, yaml.SequenceNode) else [node]
    for one in nodes:
        if document.is_empty(one) or one.value == "":
            raise document.error(one, f"{what} is empty; write a formula such as z - 0.1*x")
    return [document.text(one, what) for one in nodes]


def _rows(document: YamlSource, node: yaml.Node, what: str) -> list[tuple[float, ...]]:
    return [document.numbers(row, what) for row in document.sequence(node, what)]


def _of_formulas(name: str, g: list[str], **options: Any) -> Surface:
    try:
        faces = [formula(text) for text in g]
    except InputError as error:
        raise InputError(f"surface {name!r}: g: {error}") from None
    return Surface(lambda x: [face(x) for face in faces], name=name, **options)


SURFACE_TYPES: dict[
    str, tuple[Callable[..., Surface], dict[str, Callable[..., Any]], tuple[str, ...]]
] = {
    "plane": (Surface.plane, {"point": VECTOR, "normal": VECTOR}, ()),
    "sphere": (Surface.sphere, {"radius": NUMBER, "center": VECTOR, "inside": TRUTH}, ("radius",)),
    "cylinder": (Surface.cylinder, {"radius": NUMBER, **ALONG_AXIS}, ("radius",)),
    "elliptic_cylinder": (
        Surface.elliptic_cylinder,
        {"semi_axes": NUMBERS, **ALONG_AXIS, "major": VECTOR},
        ("semi_axes",),
    ),
    "expression": (_of_formulas, {"g": _formulas}, ("g",)),
    "height_field": (
        height_field,
        {"heights": _rows, "spacing": NUMBER, "corner": VECTOR},
        ("heights", "spacing"),
    ),
    "box": (Surface.box, {"size": VECTOR, "center": VECTOR}, ("size",)),
}
"""Constructor, keys with their readers, and keys that must be there, by type."""


@brief
def read_environment(source: str | os.PathLike[str]) -> Environment:
    """Read walls from a YAML file.

    Parameters
    ----------
    source : a path, or the YAML text (of several lines, or beginning with a brace or a key).

    Returns
    -------
    Environment

    Raises
    ------
    ModelError
        What cannot be read or makes no sense; the message gives file and line.

    Notes
    -----
    Every surface has a `name`, a `type` (plane, sphere, cylinder, elliptic_cylinder, box,
    height_field, expression), the arguments of the constructor of that name, and may have
    `restitution` and `friction`. An expression has `g`: a formula in x, y, z, or several.
    `links` lets links touch each other: `restitution`, `friction`, `disabled` pairs of links,
    `srdf`, a file that has more of them, and `convex`, see `LinkContacts`. `points` are records
    with `link`, `xyz` and `radius`; without them a robot's own are taken.

    Examples
    --------
    >>> from mbdyn_ros.simulation import read_environment
    >>> environment = read_environment('''
    ... surfaces:
    ...   - {name: floor, type: plane, restitution: 0.5, friction: 0.6}
    ...   - {name: dome, type: sphere, radius: 4, center: [0, 0, 1]}
    ... points:
    ...   - {link: foot, xyz: [0, 0, -0.02]}''')
    >>> environment.surfaces[0]
    Surface('floor', restitution=0.5, friction=0.6)
    """
    document = YamlSource(source, "environment", "surfaces")
    values = document.mapping(
        document.root, "an environment", ("surfaces", "points", "links", *OPTIONS)
    )
    surfaces: list[Surface] = []
    for node in document.records(values, "surfaces"):
        surface = _read_surface(document, node)
        if surface.name in [other.name for other in surfaces]:
            raise document.error(node, f'two surfaces have the name "{surface.name}"; rename one')
        surfaces.append(surface)
    given = {key: read for key, read in OPTIONS.items() if key in values}
    options = {key: read(document, values[key], key) for key, read in given.items()}
    if "links" in values:
        options["links"] = _read_links(document, values["links"])
    if not surfaces and not options.get("joint_limits") and "links" not in options:
        raise document.error(document.root, "there are no surfaces; give some")
    points = None
    if "points" in values:
        points = [_read_point(document, node) for node in document.records(values, "points")]
    try:
        return Environment(surfaces, points, **options)
    except InputError as error:
        raise ModelError(f"{document.name}: {error}") from error


def _read_surface(document: YamlSource, node: yaml.Node) -> Surface:
    fields = document.mapping(node, "a surface")
    for key, choice in (("name", ""), ("type", f" of {', '.join(SURFACE_TYPES)}")):
        if key not in fields:
            raise document.error(node, f"this surface has no {key}; give it one{choice}")
    name = document.text(fields.pop("name"), "the name of a surface")
    what = f'surface "{name}"'
    kind_node = fields.pop("type")
    kind = document.text(kind_node, f"{what}: its type")
    if kind not in SURFACE_TYPES:
        raise document.error(
            kind_node,
            f'{what}: there is no type "{kind}"{suggestion(kind, SURFACE_TYPES)}; there are '
            f"{', '.join(SURFACE_TYPES)}",
        )
    make, readers, needed = SURFACE_TYPES[kind]
    readers = {**readers, **COMMON}
    for key in needed:
        if key not in fields:
            raise document.error(node, f"{what}: has no {key}; add {key}: ...")
    arguments = {}
    for key, value in fields.items():
        if key not in readers:
            raise document.error(
                value,
                f'{what}: a {kind} has no "{key}"{suggestion(key, readers)}; it has '
                f"{', '.join(readers)}",
            )
        arguments[key] = readers[key](document, value, f"{what}: its {key}")
    try:
        return make(name=name, **arguments)
    except InputError as error:
        raise document.error(node, str(error)) from error


def _read_links(document: YamlSource, node: yaml.Node) -> LinkContacts:
    keys = ("restitution", "friction", "disabled", "srdf", "convex")
    fields = document.mapping(node, "links", keys)
    numbers = {
        key: document.number(fields[key], f"links: {key}")
        for key in ("restitution", "friction")
        if key in fields
    }
    disabled: list[tuple[str, str]] = []
    for pair in document.records(fields, "disabled"):
        names = [document.text(one, "a link") for one in document.sequence(pair, "a pair of links")]
        if len(names) != 2:
            raise document.error(pair, f"disabled has two links in each of its lists, not {names}")
        disabled.append((names[0], names[1]))
    if "srdf" in fields:
        path = Path(document.text(fields["srdf"], "links: srdf"))
        disabled += read_disabled_pairs(Path(document.name).parent / path)
    try:
        convex = "convex" in fields and document.truth(fields["convex"], "links: convex")
        return LinkContacts(**numbers, disabled=disabled, convex=convex)
    except InputError as error:
        raise document.error(node, str(error)) from error


def _read_point(document: YamlSource, node: yaml.Node) -> Point:
    fields = document.mapping(node, "a point", ("link", "xyz", "radius"))
    if "link" not in fields:
        raise document.error(node, "this point names no link; add link: ...")
    link = document.text(fields["link"], "the link of a point")
    what = f'the point on link "{link}"'
    x, y, z, radius = 0.0, 0.0, 0.0, 0.0
    if "xyz" in fields:
        x, y, z = document.vector(fields["xyz"], f"{what}: its xyz")
    if "radius" in fields:
        radius = document.number(fields["radius"], f"{what}: its radius")
        if radius < 0:
            raise document.error(
                fields["radius"], f"{what}: its radius is {radius:g}; give 0 or more"
            )
    return Point(link, (x, y, z), radius)
