"""Robots written as files for others, and for us."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from ..arguments import checked_file
from ..errors import ModelWarning, brief, warn
from ..model import edit
from ..model.model import Model
from ..model.split_joints import whole_joints
from ..model.write.elements import write_text
from ..model.write.mjcf import mjcf_text
from ..model.write.sdf import LOST_COUPLING, sdf_text
from ..model.write.urdf import unreadable_shapes, urdf_text
from .core import Core
from .described import arguments_text, described_model, home_positions


class Named(Protocol):
    """A part of a robot that has a name."""

    @property
    def name(self) -> str: ...


class Saved(NamedTuple):
    """A file that was written, and in words what it does not say."""

    path: Path
    omitted: tuple[str, ...]


@brief
def save_urdf(self: Core | Model, path: str | os.PathLike[str]) -> Saved:
    """Write the robot, or a model, as URDF+; `load` restores it from the file.

    Numbers that were set since (payloads, inertias, friction) are written as they hold now.
    Relative names of meshes are changed so that they lead to the same files. Choices and
    actuators of a side-car file are in the file too. See docs/editing.md.

    Returns
    -------
    The path, and in words what the file does not say.

    Raises
    ------
    InputError
        The file cannot be written, or numbers hold that are one a row of a batch.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     saved = mbdyn_ros.load(CART).save_urdf(pathlib.Path(folder) / "cart.urdf")
    ...     mbdyn_ros.load(saved.path).mass_matrix([0.0])
    array([[2.]])
    """
    path = checked_file("path", path)
    model = self if isinstance(self, Model) else described_model(self)
    text = urdf_text(model, path.parent)
    omitted = unreadable_shapes(model)
    if not isinstance(self, Model):
        omitted += arguments_text(self)
    return Saved(write_text(path, text), tuple(omitted))


@brief
def save_mjcf(self: Core, path: str | os.PathLike[str]) -> Saved:
    """Write the robot as MJCF, for MuJoCo, with its loops, drives and home.

    Joints and links keep their names. Loops, mimics and couplings are `equality` constraints,
    actuated joints have motors, the keyframe `home` is the closed home. See docs/editing.md.
    It returns and refuses what `save_urdf` does.
    """
    path = checked_file("path", path)
    model = whole_joints(described_model(self))
    text, omitted = mjcf_text(model, home_positions(self, model), self.actuated_joints, path.parent)
    return Saved(write_text(path, text), (*omitted, *_machines(model, "MJCF")))


@brief
def save_sdf(self: Core, path: str | os.PathLike[str]) -> Saved:
    """Write the robot as SDF, for Gazebo and Drake; a loop is a second parent of a link.

    It returns and refuses what `save_urdf` does. See docs/editing.md.

    Warns
    -----
    ModelWarning
        SDF cannot write a coupling, so that the robot of the file moves more freely.
    """
    path = checked_file("path", path)
    model = described_model(self)
    joints, links = (_unscoped(those) for those in (model.joints, model.links))
    loops = _unscoped((*model.loops, *model.couplings))
    if joints or links or loops:
        model = edit.renamed(model, joints, links, loops)
    model = whole_joints(model)
    text, omitted = sdf_text(model, home_positions(self, model), path.parent)
    saved = Saved(write_text(path, text), (*omitted, *_machines(model, "SDF")))
    if lost := [one for one in omitted if one.startswith(LOST_COUPLING)]:
        warn(
            f"{path.name}: SDF cannot write {'; '.join(lost)}: its <mimic> joins two joints, so "
            "these move freely in the file; save as URDF+ or MJCF to keep them coupled",
            ModelWarning,
        )
    return saved


class Saving(Core):
    """Robots written as files."""

    save_urdf = save_urdf
    save_mjcf = save_mjcf
    save_sdf = save_sdf


def _machines(model: Model, language: str) -> Iterator[str]:
    """Words about actuators that only URDF+ can say."""
    if names := [one.name for one in model.actuators]:
        yield f"actuators: {', '.join(names)}; {language} has none with oil or currents"


def _unscoped(those: Iterable[Named]) -> dict[str, str]:
    """Other names of those whose names SDF would take for inner models'."""
    return {one.name: one.name.replace("::", ".") for one in those if "::" in one.name}


WRITERS: dict[str, Callable[[Core, str | os.PathLike[str]], Saved]] = {
    ".urdf": save_urdf,
    ".xml": save_mjcf,
    ".sdf": save_sdf,
}
"""The writers of robots, by the end of the file's name."""
