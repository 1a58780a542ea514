"""A prescribed motion of the command line: the efforts that it requires, and its files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InputError, suggestion
from ...model.model import Array
from ...number import to_floats
from ...recording.table import Table
from ...recording.write import write_table
from ...view.figure import save_figure
from .. import Analysis, CrankMotion, Friction, Mechanism
from ..crank_motion import LAWS, from_table, joint_table
from ..view import plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def prescribed(made: Mechanism, options: dict[str, Any], points: int = 361) -> CrankMotion:
    """The prescribed motion of the command line; all cranks of several turn alike."""
    kind, ends = options["motion"], (options["start"], options["turn"])
    if kind in LAWS:
        law, names = LAWS[kind]
        given = options | {"speed": speed_of(options), "duration": options["duration"] or 1.0}
        return law(*(given[name] for name in names), *ends, points).shared(len(made.inputs))
    if not (Path(kind).suffix or Path(kind).exists()):
        raise InputError(
            f"--motion: there is no law and no file {kind!r}{suggestion(kind, LAWS)}; the laws are "
            f"{', '.join(LAWS)}"
        )
    return from_table(kind, made.inputs)


def speed_of(options: dict[str, Any], otherwise: float = 10.0) -> float:
    """The speed of --speed, rad/s."""
    return otherwise if options["speed"] is None else float(options["speed"])


def analyse(made: Mechanism, options: dict[str, Any]) -> Analysis:
    """The analysis of the mechanism in that motion."""
    motion, friction = prescribed(made, options), _friction(options["friction"])
    with guided(options):
        return Analysis(made, motion, friction)


@contextlib.contextmanager
def guided(options: dict[str, Any]) -> Iterator[None]:
    """Name the options that choose the motion, where a mechanism cannot follow it."""
    try:
        yield
    except InputError as error:
        if options["motion"] not in LAWS:
            raise
        raise InputError(
            f"{error}; choose a motion within this range with --start and --turn (rad)"
        ) from None


def _friction(texts: tuple[str, ...]) -> Friction | dict[str, Friction] | None:
    """The friction of --friction: of all joints, or of each by its name."""
    found: dict[str, Friction] = {}
    for text in texts:
        joint, _, numbers = text.rpartition("=")
        values = to_floats(numbers) or []
        if not 2 <= len(values) <= 3:
            raise InputError(
                f"--friction {text}: give [JOINT=]COEFFICIENT,RADIUS[,DAMPING], as in 0.1,0.01"
            )
        if joint.strip() in found:
            raise InputError(f"--friction: {joint.strip() or 'all joints'} is given twice")
        found[joint.strip()] = Friction(*values)
    if "" in found and len(found) > 1:
        raise InputError("--friction: give it of all joints once, or of each by its name")
    return found.get("", found or None)


def draw(analysis: Analysis, options: dict[str, Any], cams: bool = False) -> None:
    """The files of a prescribed motion; `cams`: the plot shows cams instead of torques."""
    from ..view.cam_plots import plot_cams

    curve = curve_of(analysis, options["curve"])
    write_files(
        options, lambda: plot_cams(analysis) if cams else plots.plot_drive(analysis, curve),
        lambda: table_of(analysis, curve),
    )  # fmt: skip
    if options["gif"]:
        plots.animate(analysis, options["gif"], curve)


def write_files(
    options: dict[str, Any], figure: Callable[[], Figure], table: Callable[[], Table]
) -> None:
    """The files of --plot and --output."""
    if options["plot"]:
        save_figure(figure(), options["plot"])
    if options["output"]:
        write_table(table(), options["output"])


def curve_of(analysis: Analysis, text: str | None) -> Array | None:
    """The path that --curve asks for."""
    if text is None:
        return None
    part, equals, at = text.partition("=")
    place = to_floats(at) or []
    if not equals or len(place) != 2:
        raise InputError(f"--curve {text}: give PART=ALONG,ACROSS, as in coupler=0.15,0.1")
    return analysis.curve(part.strip(), (place[0], place[1]))


def table_of(analysis: Analysis, curve: Array | None = None) -> Table:
    """All numbers of a prescribed motion."""
    made, table = analysis.mechanism, motion_table(analysis)
    for quantity, values in (
        ("effort", analysis.torque), ("effort_without_gravity", analysis.torque_without_gravity),
    ):  # fmt: skip
        table[quantity] = dict(zip(made.inputs, values.T, strict=True))
    table["reaction"] = {
        f"{name}/{axis}": values[:, k]
        for name, values in analysis.reactions.items()
        for k, axis in enumerate(("fx", "fy", "moment"))
    }
    if analysis.contact_forces:
        table["contact"] = dict(analysis.contact_forces)
    table["shaking"] = dict(zip(("fx", "fy", "moment"), analysis.shaking.T, strict=True))
    if curve is not None:
        table["curve"] = {"x": curve[:, 0], "y": curve[:, 1]}
    return table


def motion_table(analysis: Analysis) -> Table:
    """The motion of all joints, relative, and of all parts in the plane, absolute."""
    made = analysis.mechanism
    table = joint_table(analysis.motion.time, made.joint_names, analysis.joints)
    parts = [part.name for part in made.layout().parts]
    for order, values in zip(("", "_rate", "_acceleration"), analysis.in_plane, strict=True):
        table[f"plane{order}"] = dict(zip(parts, values.T, strict=True))
    return table
