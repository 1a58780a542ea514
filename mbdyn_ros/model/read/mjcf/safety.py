"""Texts and numbers of a MJCF that MuJoCo does not survive, refused before it sees them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..number import to_float
from ..xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

LARGEST_SIZE = 100_000
"""Keyframes, user data and memory that `<size>` asks for."""

MOST_COPIES = 20_000
"""Of what stands in a `<replicate>`, `<composite>` or `<flexcomp>`, those around it counted."""

LARGEST_FIELD = 10_000_000
"""Numbers of a height field."""

COPIERS = ("replicate", "composite", "flexcomp")
UNBOUNDED = ("memory", "njmax", "nconmax", "nstack")
"""Attributes of `<size>` that only a simulation would allocate."""


def check_files(document: XmlSource, folder: Path, seen: set[Path], copies: float = 1.0) -> None:
    """Refuse what MuJoCo does not survive, in a file and all that it includes or attaches.

    Raises
    ------
    ModelError
        A file that is not there (MuJoCo does not say which other one names it), an attribute with
        a `%` (MuJoCo prints names as formats of C), or sizes and copies beyond all bounds.
    """
    for element in document.root.iter("*"):
        tag = str(element.tag)
        _check_text(document, element)
        if tag == "size":
            _check_sizes(document, element)
        elif tag == "hfield":
            _check_product(document, element, ("nrow", "ncol"), LARGEST_FIELD, "heights")
        elif tag in COPIERS:
            _copies(document, element, copies)
        name = element.get("file")
        if tag not in ("include", "model") or not name:
            continue  # MuJoCo says so
        file = folder / name
        if not file.is_file():
            raise document.error(element, f'includes "{name}", and there is no file {file}')
        around = element.getparent()
        inner = copies if around is None else _copies(document, around, copies)
        if file.resolve() not in seen or inner > copies:
            seen.add(file.resolve())
            check_files(XmlSource(file), folder, seen, inner)


def _check_text(document: XmlSource, element: Element) -> None:
    for key, value in element.attrib.items():
        if "%" in str(value) and (element.tag, key) != ("text", "data"):
            raise document.error(
                element,
                f'{key}="{value}" has a %, which MuJoCo takes for a format of C; write it without',
            )


def _check_sizes(document: XmlSource, element: Element) -> None:
    for key in element.attrib:
        if key not in UNBOUNDED:
            _check_product(document, element, (str(key),), LARGEST_SIZE, "elements")


def _copies(document: XmlSource, element: Element, outside: float) -> float:
    """How often an element stands in the robot, by the counts of what is around it."""
    total = outside
    one: Element | None = element
    while one is not None:
        if one.tag in COPIERS:
            total *= max(1.0, _product(one, ("count",)))
        if total > MOST_COPIES:
            raise document.error(
                one, f"makes {total:g} copies, and at most {MOST_COPIES} are read; lower its count"
            )
        one = one.getparent()
    return total


def _check_product(
    document: XmlSource, element: Element, keys: tuple[str, ...], most: int, what: str
) -> None:
    if _product(element, keys) > most:
        given = " ".join(f'{key}="{element.get(key)}"' for key in keys)
        raise document.error(
            element, f"{given}: more than {most} {what}, the most that are read; lower it"
        )


def _product(element: Element, keys: tuple[str, ...]) -> float:
    """The product of the numbers in attributes; words that are none are MuJoCo's to refuse."""
    words = " ".join(element.get(key, "") for key in keys).split()
    numbers = [abs(value) for word in words if (value := to_float(word)) is not None]
    return math.prod(numbers)


@contextmanager
def quiet(mujoco: Any) -> Iterator[None]:
    """Have MuJoCo write no MUJOCO_LOG.TXT into the current folder."""
    if not hasattr(mujoco, "set_mju_user_warning"):
        yield
        return
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
