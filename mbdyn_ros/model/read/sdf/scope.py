"""Models of an SDF, nested or included from other files, and the names known in each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from ....errors import ModelError
from ..package_folders import PATHS, package_folders
from ..source_text import TEXT
from ..xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


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
