"""The `<include>` of an SDF: the model in another file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from ....errors import ModelError
from ..package_folders import PATHS, package_folders
from ..source_text import TEXT
from ..xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

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
            inner.root, f"is included by {document.name} and is no SDF; write it as one"
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
