"""Meshes: where the files lie, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from ...errors import InputError
from ...extras import require
from .package_folders import package_folders

ENDINGS = (".stl", ".obj", ".dae", ".ply", ".glb", ".gltf", ".off")
"""Of meshes that are read; archives are not unpacked."""

LARGEST_MESH = 256 * 2**20
"""Bytes of a mesh file."""


def find_mesh(name: str, folder: Path | None) -> Path | None:
    """The file that a URDF means by `name`; None where there is none.

    Parameters
    ----------
    name : a path, file:// or package://PACKAGE/path.
    folder : of the URDF; None for one that is not a file. A package is looked for in the folders
        above it, then in ROS_PACKAGE_PATH and AMENT_PREFIX_PATH.
    """
    return next((path for path in _candidates(name, folder) if path.is_file()), None)


def _candidates(name: str, folder: Path | None) -> Iterator[Path]:
    parts = urlparse(name)
    if parts.scheme in ("package", "model"):
        inner = Path(unquote(parts.path).lstrip("/"))
        if ".." in inner.parts or not parts.netloc.strip("."):
            return
        for package in package_folders(parts.netloc, folder):
            yield package / inner
    elif parts.scheme == "file":
        yield Path(unquote(parts.path))
    elif not parts.scheme or len(parts.scheme) == 1:  # one letter is a drive
        yield Path(name) if folder is None else folder / name


def load_mesh(path: Path) -> Any:
    """The scene of a mesh file, as `trimesh` has it.

    Raises
    ------
    InputError
        The file cannot be read as a mesh, is larger than any, or has another ending.
    MissingPackageError
        trimesh is not installed.
    """
    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"{path}: meshes are read from files that end in {', '.join(ENDINGS)}; convert it"
        )
    if path.stat().st_size > LARGEST_MESH:
        raise InputError(f"{path}: larger than {LARGEST_MESH} bytes; simplify the mesh")
    require("mesh")
    import trimesh

    try:
        scene = trimesh.load_scene(path)
        if not scene.geometry:
            raise ValueError("it holds no triangles")
    except ImportError as error:  # of what reads this kind of file
        raise InputError(f"{path}: {error}: pip install 'mbdyn_ros[mesh]'") from None
    except Exception as error:  # readers of broken files raise whatever comes
        raise InputError(f"{path}: cannot be read as a mesh: {error}") from None
    return scene
