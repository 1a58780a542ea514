"""An MJCF as MuJoCo compiles it, without the files that the motion does not depend on.

Texts and numbers that would crash MuJoCo are refused before it sees them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....errors import ModelError
from ....number import to_float
from ...shapes import Mesh
from ..source_text import TEXT, NamedText, Source, load_text
from ..xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

NUMBERS = {
    "BODY": ("body_pos", "body_quat", "body_mass", "body_ipos", "body_iquat", "body_inertia"),
    "JOINT": ("jnt_pos", "jnt_axis", "jnt_stiffness"),
    "EQUALITY": ("eq_data",),
    "KEY": ("key_qpos",),
}
"""Fields that must be finite, by the kind of element."""

UNPAINTED = [0.5, 0.5, 0.5, 1.0]
"""The colour of a shape that has none of its own; its material's counts then."""


@dataclass(frozen=True)
class Compiled:
    """A compiled MJCF.

    Attributes
    ----------
    document : its main file.
    mujoco : the package.
    spec, model : what MuJoCo made of it.
    meshes : the mesh of a shape, by the shape's number; None for one that is not a plain file.
    """

    document: XmlSource
    mujoco: Any
    spec: Any
    model: Any
    meshes: dict[int, Mesh | None]

    @property
    def name(self) -> str:
        """Where it comes from."""
        return self.document.name

    def name_of(self, kind: str, number: int) -> str:
        """The name of an element, empty where it has none; `kind` as in mjtObj: BODY, JOINT."""
        types = self.mujoco.mjtObj
        found = self.mujoco.mj_id2name(self.model, getattr(types, f"mjOBJ_{kind}"), number)
        return found or ""

    def error(self, what: str, problem: str) -> ModelError:
        """The error to raise for an element."""
        return ModelError(f"{self.name}: {what}: {problem}")


def compile_mjcf(source: Source) -> Compiled:
    """Compile a MJCF.

    Raises
    ------
    ModelError
        It is not MJCF, MuJoCo is not installed or refuses the file, or `check_files` does.
    """
    found = NamedText(*load_text(source))
    document = XmlSource(found)
    if document.root.tag != "mujoco":
        raise ModelError(
            f"{found.name}: MJCF is a <mujoco>, and this is a <{document.root.tag}>: put robots "
            "into a world with World.add"
        )
    try:
        import mujoco
    except ImportError:
        raise ModelError(
            f"{found.name}: is MJCF, which MuJoCo reads: pip install 'mbdyn_ros[mjcf]'"
        ) from None
    path = Path(found.name)
    own = set() if found.name == TEXT else {path.resolve()}
    check_files(document, path.parent, own)
    try:
        with quiet(mujoco):
            spec = _spec(mujoco, found)
            meshes = _without_files(mujoco, spec)
            model = spec.compile()
    except (ValueError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        words = " ".join(str(error).split())
        raise ModelError(f"{found.name}: MuJoCo refuses it: {words}") from None
    compiled = Compiled(document, mujoco, spec, model, {shape.id: mesh for shape, mesh in meshes})
    _check_finite(compiled)
    return compiled


def _check_finite(compiled: Compiled) -> None:
    """Refuse numbers that are none, which MuJoCo takes with a warning on the terminal."""
    for kind, fields in NUMBERS.items():
        for field in fields:
            for k, values in enumerate(getattr(compiled.model, field)):
                if not np.isfinite(values).all():
                    name = compiled.name_of(kind, k) or f"number {k}"
                    word = field.partition("_")[2]
                    raise compiled.error(
                        f'<{kind.lower()}> "{name}"', f"its {word} is not finite; correct it"
                    )


def _spec(mujoco: Any, found: NamedText) -> Any:
    """The file; or text, with its files looked for in the folder of its source."""
    if found.name == TEXT:
        return mujoco.MjSpec.from_string(found.text)
    if load_text(found.name)[1] == found.text:
        return mujoco.MjSpec.from_file(found.name)
    spec = mujoco.MjSpec.from_string(found.text)
    spec.modelfiledir = str(Path(found.name).parent)
    return spec


def _without_files(mujoco: Any, spec: Any) -> list[tuple[Any, Mesh | None]]:
    """Take away pictures, and the meshes of which no inertia is made.

    A mesh that only shows or collides is of no use here, and its file need not be there.

    Returns
    -------
    list
        Shapes that are meshes, and their files; None for one that is made or moved in the MJCF.
    """
    spec.compiler.discardvisual = spec.compiler.fusestatic = False
    colors = {one.name: list(one.rgba) for one in spec.materials}
    for one in [*spec.textures, *spec.materials, *spec.skins]:
        spec.delete(one)
    mesh, sphere = mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_SPHERE
    weighed = int(spec.compiler.inertiafromgeom)  # 0: never, 1: always, 2: if none is given
    taken = []
    for body in spec.bodies:
        given = body.name == "world" or weighed == 0 or (weighed == 2 and body.explicitinertial)
        for shape in body.geoms:
            if shape.material and list(shape.rgba) == UNPAINTED and shape.material in colors:
                shape.rgba = colors[shape.material]
            shape.material = ""
            if shape.type == mesh:
                taken.append((shape, _mesh_of(spec, spec.mesh(shape.meshname))))
            elif shape.type == mujoco.mjtGeom.mjGEOM_HFIELD:
                taken.append((shape, None))
            if given and shape.type in (mesh, mujoco.mjtGeom.mjGEOM_HFIELD):
                shape.type, shape.size = sphere, [1.0, 0.0, 0.0]
                shape.meshname = shape.hfieldname = ""
    for site in spec.sites:
        site.material = ""
    for light in spec.lights:
        light.texture = ""
    needed = {shape.meshname for shape in spec.geoms}
    for one in list(spec.meshes):
        if one.name not in needed:
            spec.delete(one)
    return taken


def _mesh_of(spec: Any, mesh: Any) -> Mesh | None:
    if mesh is None or not mesh.file or any(mesh.refpos) or any(mesh.refquat[1:]):
        return None
    folder = Path(spec.modelfiledir or ".") / spec.meshdir
    name = Path(mesh.file).name if spec.strippath else mesh.file
    return Mesh(str(folder / name), tuple(float(one) for one in mesh.scale))


LARGEST_SIZE = 100_000
"""Keyframes, user data and memory that `<size>` asks for."""

MOST_COPIES = 20_000
"""Of elements in a `<replicate>`, `<composite>` or `<flexcomp>`, those around it counted."""

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
    """How often an element occurs in the robot, by the counts of what is around it."""
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


class ElementNames:
    """Names for bodies and joints as links and joints need them.

    Parameters
    ----------
    compiled : the MJCF.

    Attributes
    ----------
    bodies, joints : a name for each, by number.
    """

    def __init__(self, compiled: Compiled) -> None:
        model = compiled.model
        self.bodies = _distinct(
            [compiled.name_of("BODY", k) for k in range(model.nbody)],
            [f"body{k}" for k in range(model.nbody)],
        )
        bodies = model.jnt_bodyid.tolist()
        self.joints = _distinct(
            [compiled.name_of("JOINT", k) for k in range(model.njnt)],
            [
                f"{self.bodies[body]}/joint{k - model.body_jntadr[body] + 1}"
                if model.body_jntnum[body] > 1
                else f"{self.bodies[body]}/joint"
                for k, body in enumerate(bodies)
            ],
        )
        self._lines = {
            (str(element.tag), name): element.sourceline
            for element in compiled.document.root.iter("body", "joint", "freejoint")
            if (name := element.get("name"))
        }

    def line(self, tag: str, name: str) -> int | None:
        """The line of an element in the main file; None where it is not there."""
        return self._lines.get((tag, name))


def _distinct(given: list[str], otherwise: list[str]) -> list[str]:
    """The given names, and unused ones for what has no name."""
    taken = set(given)
    result = []
    for name, other in zip(given, otherwise, strict=True):
        while not name and other in taken:
            other += "_"
        taken.add(other)
        result.append(name or other)
    return result
