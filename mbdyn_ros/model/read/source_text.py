"""The text of a description, from a file or as given, decoded, without a document type; and where
the folders of packages lie that descriptions name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...errors import ModelError

TEXT = "<text>"
"""The name of a source given as text."""

MAXIMUM_BYTES = 256 * 2**20
DECLARATION = re.compile(rb"""\A<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
XML_DECLARATION = re.compile(r"\A\s*<\?xml\s[^>]*\?>")
BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True)
class NamedText:
    """The text of a description that was made of a file, and the name of that file."""

    name: str
    text: str


Source = str | os.PathLike[str] | NamedText
"""A description: a path, its text, or text with the name of its file."""


def load_text(source: Source) -> tuple[str, str]:
    """Return the name and the text of a source: a path, or the text itself if it holds a ``<``.

    The XML declaration is dropped (its lines stay): the text is decoded, it could only
    contradict that.
    """
    name, text = _load(source)
    return name, XML_DECLARATION.sub(lambda found: "\n" * found.group().count("\n"), text)


def _load(source: Source) -> tuple[str, str]:
    if isinstance(source, NamedText):
        return source.name, source.text
    if isinstance(source, str) and "<" in source:
        return TEXT, source.lstrip("\ufeff")
    if isinstance(source, str) and not source.strip():
        raise ModelError("the robot description is empty; give a path or the XML text")
    if not isinstance(source, (str, os.PathLike)):
        raise ModelError(f"a robot description is a path or XML text, not {type(source).__name__}")
    name = os.fspath(source)
    return name, read_text(name, "nor XML text, which holds a '<'")


def read_text(name: str, otherwise: str) -> str:
    """The decoded text of a file; `otherwise` says why a name is not the text itself."""
    shown = name if len(name) < 300 else f"{name[:300]}..."
    try:
        with open(name, "rb") as file:
            data = file.read(MAXIMUM_BYTES + 1)
    except FileNotFoundError:
        raise ModelError(f"{shown}: no such file ({otherwise})") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError(f"{shown!r}: cannot be read: {reason}") from None
    if len(data) > MAXIMUM_BYTES:
        raise ModelError(
            f"{name}: larger than {MAXIMUM_BYTES} bytes; this is not a robot description"
        )
    if not data.strip():
        raise ModelError(f"{name}: the file is empty")
    return _decode(data, name)


def _decode(data: bytes, name: str) -> str:
    encoding = "utf-8"
    for mark, marked in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            encoding = marked
            break
    else:
        declared = DECLARATION.match(data)
        if declared:
            encoding = declared.group(1).decode("ascii")
    try:
        return data.decode(encoding).lstrip("\ufeff")
    except LookupError:
        raise ModelError(f'{name}:1: unknown encoding "{encoding}"; save it as UTF-8') from None
    except ValueError as error:
        line = data[: getattr(error, "start", 0)].count(b"\n") + 1
        raise ModelError(
            f"{name}:{line}: the bytes are not {encoding} text; save the file as UTF-8"
        ) from None


def refuse_document_type(text: str, name: str) -> None:
    """Refuse a DOCTYPE before the parser sees it.

    One can stand only before the root element, after comments and processing instructions;
    entities can be declared only inside one.
    """
    position = 0
    while True:
        position = text.find("<", position)
        if position < 0:
            return
        for start, end in (("<?", "?>"), ("<!--", "-->")):
            if text.startswith(start, position):
                position = text.find(end, position + len(start))
                break
        else:
            break
        if position < 0:
            return
    if text.startswith("<!", position):
        line = text.count("\n", 0, position) + 1
        raise document_type_error(name, line)


def document_type_error(name: str, line: int) -> ModelError:
    """The error to raise for a document type in that line."""
    return ModelError(
        f"{name}:{line}: a document type or entity declaration (<!DOCTYPE ...>) is refused "
        "for safety; remove it and write out what it stands for"
    )


PATHS = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH")
"""Environment variables that say where packages lie."""


def package_folders(
    package: str, folder: Path | None, variables: Iterable[str] = PATHS
) -> Iterator[Path]:
    """The folders that may be a package's, the likeliest first; not all are there.

    Parameters
    ----------
    package : its name.
    folder : of the file that names it, looked at with the folders above it; None for text.
    variables : environment variables with folders to look at then.
    """
    for above in [] if folder is None else [folder, *folder.parents]:
        if above.name == package:
            yield above
        if above.parent != above:  # the root of the file system holds no packages
            yield above / package
    for variable in variables:
        for root in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(root) / package
            yield Path(root) / "share" / package


def find_package(
    package: str, folder: Path | None, variables: Iterable[str] = PATHS
) -> Path | None:
    """The first of `package_folders` that is there; None if there is none."""
    return next((one for one in package_folders(package, folder, variables) if one.is_dir()), None)
