"""xacro: which files are, and the XML that they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from lxml import etree

from ....errors import InputError
from ..source_text import TEXT, NamedText, Source, load_text
from ..xml_source import parse_xml
from .expansion import Expansion
from .substitutions import Substitutions


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
            raise InputError(f"{what}: {text!r} is not an argument such as prefix:=left_")
        if name.strip() in arguments:
            raise InputError(f"{what}: {name.strip()!r} is given twice")
        arguments[name.strip()] = value.strip()
    return arguments


def expand_xacro(source: Source, arguments: Mapping[str, object] | None = None) -> NamedText:
    """The XML that a xacro file or text stands for.

    Parameters
    ----------
    source : its path, or its text.
    arguments : values of its `<xacro:arg>`, and of the environment variables that it asks for with
        `$(env)` and `$(optenv)`, by name.

    Returns
    -------
    NamedText
        Lines are those of the expansion.

    Raises
    ------
    ModelError
        It cannot be expanded: the message gives file, line, element and expression, the macros
        around the place, and the files that include it.

    Notes
    -----
    No code of a file is run: expressions are computed from their syntax tree, with numbers,
    strings, lists, dictionaries and the functions of xacro and of `math`. Included files and YAML
    lie in the folder or package of the file, or in packages that it names with `$(find package)`,
    which are looked for where meshes are: in the folders above the file, then in ROS_PACKAGE_PATH
    and AMENT_PREFIX_PATH.
    """
    name, text = load_text(source)
    folder = None if name == TEXT else Path(name).absolute().parent
    given = {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in (arguments or {}).items()
    }
    substitutions = Substitutions(folder, given)
    root = Expansion(name, substitutions).expand(parse_xml(text, name))
    substitutions.check_arguments(name)
    return NamedText(name, etree.tostring(root, encoding="unicode"))
