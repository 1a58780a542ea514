"""The YAML file of an environment: walls by formulas that are read and never run, points, stops."""

from __future__ import annotations

import ast
import math
import operator
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import yaml

from ...equations.algebra.spatial import SX
from ...errors import InputError, ModelError, brief, suggestion
from ...model.read.srdf import read_disabled_pairs
from ...model.read.yaml_source import YamlSource
from ...number import to_finite
from .curved_rods import CurvedRod
from .environment import Environment
from .height_field import height_field
from .link_contacts import LinkContacts
from .points import Point
from .surfaces import FRICTION, RESTITUTION, Surface

LONGEST = 2000
"""Characters of a formula."""

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: lambda over, under: SX(over) / under, ast.Pow: lambda base, power: SX(base) ** power,
    ast.UAdd: operator.pos, ast.USub: operator.neg,
}  # fmt: skip

FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    **{name: (getattr(ca, name), 1) for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt"
    )},
    "abs": (ca.fabs, 1), "atan2": (ca.atan2, 2), "hypot": (ca.hypot, 2),
    "min": (ca.fmin, 2), "max": (ca.fmax, 2),
}  # fmt: skip
"""CasADi's function of each name, and how many arguments it takes."""

AXES = ("x", "y", "z")


def formula(text: str) -> Callable[[SX], SX]:
    """The function of a world point (3,) that a formula in x, y, z describes.

    Parameters
    ----------
    text : numbers, x, y, z (m), pi, + - * / **, parentheses, and the `FUNCTIONS`.

    Raises
    ------
    InputError
        It is not such a formula; the message says which part is not.

    Examples
    --------
    >>> formula("z - 0.1*sin(3*x)")(SX([0.0, 1.0, 2.0]))
    SX(2)
    """
    if len(text) > LONGEST:
        raise InputError(f"the formula has {len(text)} characters; write it in {LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", None) or str(error)
        raise InputError(
            f"{text!r} is not a formula: {reason}; write one such as z - 0.1*x"
        ) from None
    try:
        _value(tree, SX.sym("x", 3), text)  # refused before anybody asks
    except RecursionError:
        raise InputError(f"{text[:40]!r}... is nested too deeply to be a formula") from None
    return lambda x: SX(_value(tree, x, text))


def _value(node: ast.AST, x: SX, text: str) -> Any:
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, (int, float))
        and not isinstance(node.value, bool)
    ):
        number = to_finite(str(node.value))
        if number is not None:
            return number
    if isinstance(node, ast.Name):
        if node.id in AXES:
            return x[AXES.index(node.id)]
        if node.id == "pi":
            return math.pi
        known = (*AXES, "pi", *FUNCTIONS)
        raise InputError(
            f"{text!r}: there is no {node.id!r}{suggestion(node.id, known)}; there are "
            f"{', '.join(known)}"
        )
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left, x, text), _value(node.right, x, text))
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.operand, x, text))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        name = node.func.id
        if name in FUNCTIONS:
            function, count = FUNCTIONS[name]
            if len(node.args) != count:
                raise InputError(f"{text!r}: {name} takes {count} values, not {len(node.args)}")
            return function(*(_value(argument, x, text) for argument in node.args))
        raise InputError(
            f"{text!r}: there is no function {name!r}{suggestion(name, FUNCTIONS)}; there are "
            f"{', '.join(FUNCTIONS)}"
        )
    part = ast.get_source_segment(text.strip(), node) or type(node).__name__  # type: ignore[arg-type]
    where = "" if part == text.strip() else f"{text!r}: "
    raise InputError(
        f"{where}{part!r} is not a number, x, y, z, pi, one of + - * / ** or a function; write a "
        "formula such as z - 0.1*sin(3*x)"
    )


NUMBER, NUMBERS = YamlSource.number, YamlSource.numbers
VECTOR, TRUTH = YamlSource.vector, YamlSource.truth

OPTIONS: dict[str, Callable[..., Any]] = {
    "tie_window": NUMBER,
    "joint_limits": TRUTH,
    "limit_restitution": NUMBER,
}
"""Arguments of `Environment` that the file may give."""

KEYS = ("surfaces", "links", "laws", *OPTIONS)
"""Keys of walls, and of links on each other, in a file."""

ALONG_AXIS: dict[str, Callable[..., Any]] = {"center": VECTOR, "axis": VECTOR, "inside": TRUTH}

COMMON: dict[str, Callable[..., Any]] = {"restitution": NUMBER, "friction": NUMBER}

LAWS: dict[str, dict[str, Callable[..., Any]]] = {
    "yielding": dict.fromkeys(("stiffness", "damping", "dissipation", "exponent"), NUMBER),
    "moving": {"velocity": VECTOR},
    "resisting": dict.fromkeys(("rolling", "torsion"), NUMBER),
}
"""Methods of `Surface` that give it laws of its own, and their arguments with their readers."""


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
    `restitution`, `friction` and the arguments of `Surface.yielding`, `moving` and `resisting`. An
    expression has `g`: a formula in x, y, z, or several.
    `links` lets links touch each other: `restitution`, `friction`, `disabled` pairs of links,
    `srdf`, a file that has more of them, `convex`, see `LinkContacts`, and `pairs`, records with
    `links` (two) and their `restitution` and `friction`. `laws` are records with a `link`, a
    `surface`, and what is not the surface's own: `restitution`, `friction`. `points` are records
    with `link`, `xyz` and `radius`, or a `CurvedRod` with `link`, `start`, `through`, `end` and
    `radius`; without them a robot's own are taken.

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
    values = document.mapping(document.root, "an environment", ("points", *KEYS))
    options = environment_arguments(document, values)
    given = options.get("joint_limits"), options.get("links"), options["surfaces"]
    if not any(given):
        raise document.error(document.root, "there are no surfaces; give some")
    if "points" in values:
        points = [_read_point(document, node) for node in document.records(values, "points")]
        options["points"] = points
    try:
        return Environment(**options)
    except InputError as error:
        raise ModelError(f"{document.name}: {error}") from error


def environment_arguments(
    document: YamlSource, values: dict[str, yaml.Node], convex: bool = False
) -> dict[str, Any]:
    """The arguments of `Environment` that a file gives by its `KEYS`.

    convex : of links, where the file does not say.
    """
    surfaces: list[Surface] = []
    for node in document.records(values, "surfaces"):
        surface = _read_surface(document, node)
        if surface.name in [other.name for other in surfaces]:
            raise document.error(node, f'two surfaces have the name "{surface.name}"; rename one')
        surfaces.append(surface)
    given = {key: read for key, read in OPTIONS.items() if key in values}
    options = {key: read(document, values[key], key) for key, read in given.items()}
    if "links" in values:
        options["links"] = _read_links(document, values["links"], convex)
    laws = _read_laws(document, values, surfaces)
    return {"surfaces": surfaces, "laws": laws, **options}


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
        what = f"{what}: there is no type"
        raise document.unknown_name(kind_node, what, kind, SURFACE_TYPES)
    make, readers, needed = SURFACE_TYPES[kind]
    readers = {
        **readers,
        **COMMON,
        **{key: one for law in LAWS.values() for key, one in law.items()},
    }
    for key in needed:
        if key not in fields:
            raise document.error(node, f"{what}: has no {key}; add {key}: ...")
    arguments = {}
    for key, value in fields.items():
        if key not in readers:
            raise document.unknown_key(value, f"{what}: a {kind}", key, readers)
        arguments[key] = readers[key](document, value, f"{what}: its {key}")
    try:
        given = {
            law: {key: arguments.pop(key) for key in keys if key in arguments}
            for law, keys in LAWS.items()
        }
        if given["yielding"] and "stiffness" not in given["yielding"]:
            raise InputError(f"{what}: {', '.join(given['yielding'])} needs a stiffness (N/m)")
        surface = make(name=name, **arguments)
        for law, numbers in given.items():
            surface = getattr(surface, law)(**numbers) if numbers else surface
        return surface
    except InputError as error:
        raise document.error(node, str(error)) from error


def _read_laws(
    document: YamlSource, values: dict[str, yaml.Node], surfaces: Sequence[Surface]
) -> dict[tuple[str, str], tuple[float, float]]:
    """Restitution and friction of links on surfaces; what is not given is that of the surface."""
    usual = {one.name: {key: getattr(one, key) for key in COMMON} for one in surfaces}
    laws = {}
    for node in document.records(values, "laws"):
        one = document.mapping(node, "a law", ("link", "surface", *COMMON))
        for key in ("link", "surface"):
            if key not in one:
                raise document.error(node, f"this law names no {key}; add {key}: ...")
        link, wall = (document.text(one[key], f"laws: {key}") for key in ("link", "surface"))
        given = {key: document.number(one[key], f"laws: {key}") for key in COMMON if key in one}
        numbers = usual.get(wall, {}) | given
        laws[link, wall] = numbers.get("restitution", 0.0), numbers.get("friction", 0.0)
    return laws


def _read_links(document: YamlSource, node: yaml.Node, convex: bool) -> LinkContacts:
    keys = ("restitution", "friction", "disabled", "srdf", "convex", "pairs")
    fields = document.mapping(node, "links", keys)
    numbers = {
        key: document.number(fields[key], f"links: {key}")
        for key in ("restitution", "friction")
        if key in fields
    }
    disabled = [
        _read_pair(document, pair, "disabled") for pair in document.records(fields, "disabled")
    ]
    usual = numbers.get("restitution", RESTITUTION), numbers.get("friction", FRICTION)
    laws = {}
    for node_of_pair in document.records(fields, "pairs"):
        one = document.mapping(node_of_pair, "a pair", ("links", "restitution", "friction"))
        if "links" not in one:
            raise document.error(node_of_pair, "this pair names no links; add links: [one, other]")
        e, mu = (
            document.number(one[key], f"pairs: {key}") if key in one else value
            for key, value in zip(("restitution", "friction"), usual, strict=True)
        )
        laws[_read_pair(document, one["links"], "links")] = e, mu
    if "srdf" in fields:
        path = Path(document.text(fields["srdf"], "links: srdf"))
        disabled += read_disabled_pairs(Path(document.name).parent / path)
    try:
        if "convex" in fields:
            convex = document.truth(fields["convex"], "links: convex")
        return LinkContacts(*usual, disabled=disabled, convex=convex, laws=laws)
    except InputError as error:
        raise document.error(node, str(error)) from error


def _read_pair(document: YamlSource, node: yaml.Node, what: str) -> tuple[str, str]:
    """Two links."""
    names = [document.text(one, "a link") for one in document.sequence(node, "a pair of links")]
    if len(names) != 2:
        raise document.error(node, f"{what} has two links in each of its lists, not {names}")
    return names[0], names[1]


def _read_point(document: YamlSource, node: yaml.Node) -> Point | CurvedRod:
    places = ("start", "through", "end")
    fields = document.mapping(node, "a point", ("link", "xyz", "radius", *places))
    if "link" not in fields:
        raise document.error(node, "this point names no link; add link: ...")
    link = document.text(fields["link"], "the link of a point")
    if set(places) & set(fields):
        what = f'the curved rod on link "{link}"'
        missing = [key for key in (*places, "radius") if key not in fields]
        if missing or "xyz" in fields:
            problem = f"has no {missing[0]}" if missing else "has no xyz"
            raise document.error(
                node, f"{what} {problem}; give it {', '.join(places)} and radius, and nothing else"
            )
        start, through, end = (document.vector(fields[key], f"{what}: its {key}") for key in places)
        radius = document.number(fields["radius"], f"{what}: its radius")
        try:
            return CurvedRod(link, start, through, end, radius)
        except InputError as error:
            raise document.error(node, str(error)) from error
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
