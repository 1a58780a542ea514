"""xacro: macros, properties and included files, expanded into the XML that they stand for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import InputError, ModelError, suggestion
from ...locks import Lock
from .package_folders import find_package
from .source_text import TEXT, NamedText, Source, load_text, refuse_document_type

ELEMENT = re.compile(r"<xacro:\w")

_ALONE = Lock()  # the package keeps the file at hand in variables of its own


def is_xacro(source: Source) -> bool:
    """Whether a source is to be expanded: a file .xacro, or any file that has elements of xacro.

    Text is not: what a topic brings runs no expressions unless somebody says so.
    """
    if isinstance(source, NamedText) or (isinstance(source, str) and "<" in source):
        return False
    if isinstance(source, (str, os.PathLike)) and os.fspath(source).lower().endswith(".xacro"):
        return True
    return has_xacro(load_text(source)[1])


def has_xacro(text: str) -> bool:
    """Whether a text has elements of xacro."""
    return ELEMENT.search(text) is not None


def xacro_arguments(texts: Iterable[str], what: str) -> dict[str, str]:
    """Arguments as they are written for xacro, such as `prefix:=left_`; `what` begins messages.

    Examples
    --------
    >>> xacro_arguments(["prefix:=left_", "ur_type:=ur5e"], "--xacro")
    {'prefix': 'left_', 'ur_type': 'ur5e'}
    """
    arguments: dict[str, str] = {}
    for text in texts:
        name, mark, value = text.partition(":=")
        if not mark or not name.strip():
            raise InputError(f"{what}: {text!r} is no argument such as prefix:=left_")
        if name.strip() in arguments:
            raise InputError(f"{what}: {name.strip()!r} is given twice")
        arguments[name.strip()] = value.strip()
    return arguments


def expand_xacro(source: Source, arguments: Mapping[str, object] | None = None) -> NamedText:
    """The XML that a xacro file or text stands for.

    Parameters
    ----------
    source : its path, or its text.
    arguments : values of its `<xacro:arg>`, by name.

    Returns
    -------
    NamedText
        Lines are those of the expansion.

    Raises
    ------
    ModelError
        xacro is not installed, or it refuses: the message gives the file, those that include it,
        and the macros around the place.

    Notes
    -----
    `$(find package)` looks where meshes are looked for: in the folders above the file, then in
    ROS_PACKAGE_PATH and AMENT_PREFIX_PATH.
    """
    name, text = load_text(source)
    try:
        import xacro
    except ImportError:
        raise ModelError(
            f"{name}: is xacro, and the package that expands it is not installed: "
            "pip install 'mbdyn_ros[xacro]' (or run xacro first and load what it writes)"
        ) from None
    refuse_document_type(text, name)
    given = _Arguments({key: _written(value) for key, value in (arguments or {}).items()})
    folder = None if name == TEXT else Path(name).resolve().parent
    with _ALONE, _packages_from(folder):
        xacro.init_stacks(None if name == TEXT else os.path.abspath(name))
        try:
            document = xacro.parse(text)
            xacro.process_doc(document, mappings=given)
        except Exception as error:  # expressions of the file raise whatever comes
            raise ModelError(f"{name}: xacro: {_words(error, xacro, name)}") from None
        finally:
            xacro.substitution_args_context["arg"] = {}
    for one in given.asked_for_by_nobody():
        raise ModelError(
            f'{name}: xacro: there is no <xacro:arg name="{one}">'
            f"{suggestion(one, given.declared)}; its arguments are "
            f"{', '.join(sorted(given.declared)) or 'none'}"
        )
    return NamedText(name, document.toxml())


class _Arguments(dict[str, str]):
    """Values by name, which knows the names that were asked for."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self._given = tuple(values)
        self.declared: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.declared.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.declared.add(name)
        return super().__getitem__(name)

    def asked_for_by_nobody(self) -> list[str]:
        """The names that were given and never asked for."""
        return [name for name in self._given if name not in self.declared]


def _written(value: object) -> str:
    """A value as xacro writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextmanager
def _packages_from(folder: Path | None) -> Iterator[None]:
    """Have `$(find package)` answered by `find_package`; xacro asks ROS alone."""
    from xacro import substitution_args

    def find(package: str) -> str:
        found = find_package(package, folder)
        if found is None:
            raise substitution_args.SubstitutionException(
                f'there is no package "{package}" in the folders above the file, in '
                "ROS_PACKAGE_PATH or AMENT_PREFIX_PATH"
            )
        return str(found)

    asked = substitution_args._eval_find
    substitution_args._eval_find = substitution_args._eval_dict["find"] = find
    try:
        yield
    finally:
        substitution_args._eval_find = substitution_args._eval_dict["find"] = asked


def _words(error: Exception, xacro: Any, name: str) -> str:
    """The words of xacro, and the place: macros and files from the inside outwards."""
    reason = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, RecursionError):
        reason = "includes or macros go on without end"
    inner = getattr(error, "exc", None)
    if isinstance(inner, FileNotFoundError):
        reason = f"there is no file {inner.filename}, which is included"
    macros = [f"<xacro:{one.body.getAttribute('name')}>" for one in reversed(xacro.macrostack)]
    files = [one for one in reversed(xacro.filestack) if one and one != os.path.abspath(name)]
    around = [f"in {', in '.join(macros)}"] if macros else []
    if files:
        around.append(f"in {', included by '.join(files)}")
    return "; ".join([reason, *around])
