"""Models of an SDF, one inside the other or included, and the names that each knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..xml_source import XmlSource
from .include import included_model

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

WORLD = "world"
MODEL_FRAME = "__model__"
MOST_ELEMENTS = 50_000
"""Links, joints, frames and models of a robot, those of included files counted each time."""


@dataclass(frozen=True)
class Scope:
    """A model or a world in which names are meant.

    Attributes
    ----------
    document, element : where it is written.
    prefix : of its names, from outside: "arm::" for what stands in a model `arm`.
    frame : the full name of its frame.
    placed_by : the `<include>` or `<model>` with its pose, and the scope around that; None for
        the outermost.
    is_static : whether it is fixed in the world.
    """

    document: XmlSource
    element: Element
    prefix: str = ""
    frame: str = MODEL_FRAME
    placed_by: tuple[Element, Scope] | None = None
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


def scopes(document: XmlSource, outermost: Element) -> Iterator[Scope]:
    """A model or world, and all models in it, outer ones first."""
    is_world = outermost.tag == WORLD
    frame = WORLD if is_world else MODEL_FRAME
    elements = 0
    static = (outermost.findtext("static") or "").strip().lower() in ("true", "1")
    for scope in _with_inner(Scope(document, outermost, frame=frame, is_static=static)):
        elements += len(scope.element)
        if elements > MOST_ELEMENTS:
            raise document.error(
                outermost,
                f"its models and what they include have more than {MOST_ELEMENTS} elements; "
                "do files include each other several times?",
            )
        yield scope


def _with_inner(scope: Scope) -> Iterator[Scope]:
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
            Scope(
                document, model, inner,
                # a merged model's frame has a name that nobody can write
                f"{scope.prefix}{name} (merged)" if merged else f"{scope.prefix}{name}",
                (element, scope),
                scope.is_static or static or _says_static(model),
            )
        )  # fmt: skip


def _says_static(element: Element) -> bool:
    return (element.findtext("static") or "").strip().lower() in ("true", "1")


def _files_around(scope: Scope | None) -> list[str]:
    """The files that lead to a scope, the innermost first."""
    files: list[str] = []
    while scope is not None:
        if scope.document.name not in files:
            files.append(scope.document.name)
        scope = scope.placed_by[1] if scope.placed_by else None
    return files
