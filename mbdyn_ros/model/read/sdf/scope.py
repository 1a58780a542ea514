"""Models of an SDF, nested or included, the names known in each, and the words of their texts."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

import numpy as np

from ....errors import ModelError
from ....number import LARGEST, to_finite, to_float
from ...joints.quaternion import rotation_rows
from ...model import Pose
from ...pose import COMPOSED, normalized, rotation_from_rpy, snap
from ..source_text import PATHS, TEXT, package_folders
from ..xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

NO_BOUND = 1e16
"""Limits from here on are what SDF writes for none."""


def text_of(document: XmlSource, parent: Element | None, tag: str) -> str:
    """The text of a child; empty where it is not there."""
    child = None if parent is None else document.child(parent, tag)
    return "" if child is None else (child.text or "").strip()


def numbers_of(document: XmlSource, element: Element, count: tuple[int, ...]) -> list[float]:
    """The finite numbers in the text of an element, one of the counts of them; none for none."""
    words = (element.text or "").split()
    values = [to_finite(word) for word in words]
    found = [one for one in values if one is not None]
    if len(found) != len(words) or len(words) not in (0, *count):
        raise document.error(
            element,
            f'"{" ".join(words)}" is not {" or ".join(map(str, count))} finite numbers '
            f"(below {LARGEST:g})",
        )
    return found


def number(
    document: XmlSource, parent: Element | None, tag: str, default: float, infinite: bool = False
) -> float:
    """The number in a child; `default` where there is no child, or nothing in it."""
    child = None if parent is None else document.child(parent, tag)
    if child is None or not (child.text or "").strip():
        return default
    if infinite:
        value = to_float((child.text or "").strip())
        if value is not None and not math.isnan(value):
            return value if abs(value) < NO_BOUND else math.copysign(math.inf, value)
    return numbers_of(document, child, (1,))[0]


def vector(
    document: XmlSource, parent: Element | None, tag: str, default: tuple[float, ...]
) -> tuple[float, ...]:
    """The numbers in a child, as many as `default` has."""
    child = None if parent is None else document.child(parent, tag)
    found = [] if child is None else numbers_of(document, child, (len(default),))
    return tuple(found) or default


def truth(document: XmlSource, parent: Element, tag: str, default: bool = False) -> bool:
    """The true or false in a child."""
    word = text_of(document, parent, tag).lower()
    if word not in ("", "true", "false", "1", "0"):
        raise document.error(parent, f"<{tag}> is {word!r}; write true or false")
    return word in ("true", "1") if word else default


def pose_of(document: XmlSource, element: Element | None) -> Pose:
    """The pose in a `<pose>`: xyz (m) and roll, pitch, yaw, or a quaternion; identity for none."""
    if element is None:
        return Pose()
    form = element.get("rotation_format", "euler_rpy")
    if form not in ("euler_rpy", "quat_xyzw"):
        raise document.error(element, f'rotation_format="{form}" is not euler_rpy or quat_xyzw')
    values = numbers_of(document, element, (6,) if form == "euler_rpy" else (7,))
    if not values:
        return Pose()
    if form == "euler_rpy":
        degrees = element.get("degrees", "false").lower() in ("true", "1")
        angles = (math.radians(one) if degrees else one for one in values[3:])
        return Pose(np.array(rotation_from_rpy(*angles)), np.array(values[:3]))
    quaternion = normalized(tuple(values[3:]))
    if quaternion is None:
        raise document.error(element, "the quaternion 0 0 0 0 has no direction; no turn is 0 0 0 1")
    return Pose(snap(np.array(rotation_rows(*quaternion)), within=COMPOSED), np.array(values[:3]))


WORLD = "world"
MODEL_FRAME = "__model__"
MOST_ELEMENTS = 50_000
"""Links, joints, frames and models of a robot, those of included files counted each time."""


@dataclass(frozen=True)
class SdfScope:
    """A model or a world in which names are meant.

    Attributes
    ----------
    document, element : where it is written.
    prefix : of its names, from outside: "arm::" for elements of a model `arm`.
    frame : the full name of its frame.
    placed_by : the `<include>` or `<model>` with its pose, and the scope around that; None for
        the outermost.
    is_static : whether it is fixed in the world.
    """

    document: XmlSource
    element: Element
    prefix: str = ""
    frame: str = MODEL_FRAME
    placed_by: tuple[Element, SdfScope] | None = None
    is_static: bool = False

    @property
    def version(self) -> tuple[int, ...]:
        """The version of SDF in which it is written."""
        words = self.document.root.get("version", "1.0").split(".")
        return tuple(int(word) if word.isdigit() else 0 for word in words)

    @property
    def is_world(self) -> bool:
        """Whether it is a world, whose frame is that of the world."""
        return str(self.element.tag) == WORLD

    def full(self, name: str) -> str:
        """The full name of what is called `name` here."""
        if name == MODEL_FRAME:
            return self.frame
        if name == WORLD or (name == "__root__"):
            return WORLD
        if name.startswith("__parent__::") and self.placed_by is not None:
            return self.placed_by[1].full(name.removeprefix("__parent__::"))
        if name.endswith(f"::{MODEL_FRAME}"):
            name = name.removesuffix(f"::{MODEL_FRAME}")
        return self.prefix + name


def scopes(document: XmlSource, outermost: Element) -> Iterator[SdfScope]:
    """A model or world, and all models in it, outer ones first."""
    is_world = outermost.tag == WORLD
    frame = WORLD if is_world else MODEL_FRAME
    elements = 0
    static = (outermost.findtext("static") or "").strip().lower() in ("true", "1")
    for scope in _with_inner(SdfScope(document, outermost, frame=frame, is_static=static)):
        elements += len(scope.element)
        if elements > MOST_ELEMENTS:
            raise document.error(
                outermost,
                f"its models and what they include have more than {MOST_ELEMENTS} elements; "
                "do files include each other several times?",
            )
        yield scope


def _with_inner(scope: SdfScope) -> Iterator[SdfScope]:
    yield scope
    for element in scope.element:
        if element.tag not in ("model", "include"):
            continue
        document, model, static = scope.document, element, False
        merged = False
        if element.tag == "include":
            found = included_model(scope.document, element, _files_around(scope))
            if found is None:
                continue
            document, model = found
            merged = element.get("merge", "false").lower() in ("true", "1")
            static = _says_static(element)
        name = element.findtext("name") if element.tag == "include" else element.get("name")
        name = (name or model.get("name") or "").strip()
        if not name:
            raise document.error(model, "this model has no name; give it one")
        inner = scope.prefix if merged else f"{scope.prefix}{name}::"
        yield from _with_inner(
            SdfScope(
                document, model, inner,
                # a merged model's frame has a name that files cannot use
                f"{scope.prefix}{name} (merged)" if merged else f"{scope.prefix}{name}",
                (element, scope),
                scope.is_static or static or _says_static(model),
            )
        )  # fmt: skip


def _says_static(element: Element) -> bool:
    return (element.findtext("static") or "").strip().lower() in ("true", "1")


def _files_around(scope: SdfScope | None) -> list[str]:
    """The files that lead to a scope, the innermost first."""
    files: list[str] = []
    while scope is not None:
        if scope.document.name not in files:
            files.append(scope.document.name)
        scope = scope.placed_by[1] if scope.placed_by else None
    return files


MODEL_PATHS = (
    "SDF_PATH", "GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "GAZEBO_MODEL_PATH", *PATHS
)  # fmt: skip
"""Environment variables that say where models lie."""


def included_model(
    document: XmlSource, element: Element, files: Sequence[str]
) -> tuple[XmlSource, Element] | None:
    """The file that an `<include>` names, and the model in it; None where it has lights alone.

    files : those that lead here.

    Raises
    ------
    ModelError
        There is no such file, it has not one model, or it includes itself.
    """
    uri = (element.findtext("uri") or "").strip()
    if not uri:
        raise document.error(element, "names no <uri>; add one, such as model://gripper")
    folder = None if document.name == TEXT else Path(document.name).resolve().parent
    file = next((one for one in _files(uri, folder) if one.is_file()), None)
    if file is None:
        raise document.error(
            element,
            f'includes "{uri}", and there is no such file; a model is looked for in the folders '
            f"above this file and in {', '.join(MODEL_PATHS)}",
        )
    if str(file) in (os.path.abspath(name) for name in files):
        raise document.error(element, f'includes "{uri}", which includes this file')
    inner = XmlSource(file)
    if inner.root.tag != "sdf":
        raise inner.error(
            inner.root, f"is included by {document.name} and is not an SDF; write it as one"
        )
    models = list(inner.root.iterchildren("model"))
    if not models and any(one.tag in ("light", "actor") for one in inner.root):
        return None
    if len(models) != 1:
        raise ModelError(
            f"{inner.name}: is included by {document.name}:{element.sourceline} and has "
            f"{len(models)} models; it must have one"
        )
    return inner, models[0]


def _files(uri: str, folder: Path | None) -> Iterator[Path]:
    """The files that a name may mean."""
    parts = urlparse(uri)
    inside = unquote(parts.path).lstrip("/")
    if parts.scheme in ("model", "package"):
        for place in package_folders(parts.netloc, folder, MODEL_PATHS):
            yield from _model_files(place / inside)
    elif parts.scheme == "file":
        yield from _model_files(Path(unquote(parts.path)))
    elif not parts.scheme:
        yield from _model_files(Path(uri) if folder is None else folder / uri)
        for place in package_folders(uri, folder, MODEL_PATHS):
            yield from _model_files(place)


def _model_files(path: Path) -> Iterator[Path]:
    """The file itself; of a folder, what its model.config names, else model.sdf."""
    if not path.is_dir():
        yield path.resolve()
        return
    config = path / "model.config"
    if config.is_file():
        for element in reversed(list(XmlSource(config).root.iterchildren("sdf"))):
            yield (path / (element.text or "").strip()).resolve()
    yield (path / "model.sdf").resolve()
