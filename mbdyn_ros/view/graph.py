"""The graph of a robot: links as boxes, joints as lines from left to right, loops dashed.

A link stands to the right of the one that carries it, on the row of its first descendant without
descendants. Each line turns once and ends level, so that the joint's name has a place of its own
above it; loops run in the channels between the rows.
"""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, writing
from ..extras import require
from ..model.model import Joint, Loop, Model
from .figure import as_they_stand
from .scene.visuals import outwards

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..robot import Robot

ROW, GAP, PAD, MARGIN = 0.66, 0.16, 0.1, 0.3
"""Inches: from row to row, before a line turns, inside a box, around the picture."""

BOX = 0.36
"""Height of a box, inches."""

NAME, NOTE = 8.5, 6.5
"""Sizes of type, points."""

GLYPH = 0.58
"""Width of a letter in its size."""

ROLES = {
    "actuated": ("#d55e00", 2.2),
    "independent": ("#0072b2", 2.2),
    "passive": ("#3b3f46", 1.4),
    "fixed": ("#a5a8ad", 0.8),
}
"""Colour and width (points) of the line of a joint, by its role."""

FAINT = "#6f7277"
"""Colour of fixed joints and of small print."""

LOOP_COLOR = "#8e3b8e"

SHADES = ("#fdf0d5", "#e0f0e3", "#e2ebf7", "#f6e3ec", "#efeadf", "#e3f3f4")
"""Colours of the clusters, in turn."""


@dataclass(frozen=True)
class GraphBox:
    """A link's place: left edge, middle, width and where the line to it turns, inches."""

    x: float
    y: float
    width: float
    turn: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.width


def graph_svg(robot: Robot) -> str:
    """The graph of links, joints, loops and clusters as SVG text."""
    text = io.StringIO()
    _save(graph_figure(robot), text, "svg")
    return text.getvalue()


def save_graph(robot: Robot, path: str | os.PathLike[str]) -> None:
    """Write the graph as .svg or .png, by the name's end.

    Raises
    ------
    InputError
        Another end, or the file cannot be written.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in (".svg", ".png"):
        raise InputError(f"{target}: a graph is written as .svg or .png")
    with writing(target):
        _save(graph_figure(robot), target, kind[1:])


def graph_figure(robot: Robot) -> Figure:
    """The graph as a matplotlib figure (no window, no global state)."""
    require("plot")
    from matplotlib.figure import Figure  # its import takes long

    model = robot.model
    boxes, clusters = layout(model), _clusters(robot)
    roles = {_role(robot, joint) for joint in model.joints}
    top, low = max(box.y for box in boxes.values()), min(box.y for box in boxes.values())
    right = max(7.0, *(box.right for box in boxes.values()))
    legend = _legend(roles, bool(model.loops), clusters, right)
    foot = low - ROW - 0.2 * (legend[-1][1] if legend else 0)
    size = right + 2 * MARGIN, top + ROW - foot + 2 * MARGIN
    figure = Figure(figsize=size, facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-MARGIN, right + MARGIN)
    axes.set_ylim(foot - MARGIN, top + ROW + MARGIN)
    axes.text(0, top + ROW, model.name, fontsize=12, weight="bold", va="center")
    for shade, links in zip(cycle(SHADES), clusters.values(), strict=False):
        for link in links:
            _draw_shade(axes, boxes[link], shade)
    for joint in model.joints:
        _draw_joint(axes, joint, _role(robot, joint), boxes)
    for k, loop in enumerate(model.loops):
        _draw_loop(axes, loop, boxes, k)
    for name, box in boxes.items():
        _draw_link(axes, model, name, box)
    for x, line, text, kind, style in legend:
        _draw_entry(axes, (x, low - ROW - 0.2 * line), text, kind, style)
    as_they_stand(*axes.texts)
    return figure


def layout(model: Model) -> dict[str, GraphBox]:
    """The place of every link."""
    carried: dict[str, list[Joint]] = {}
    for joint in model.joints:
        carried.setdefault(joint.parent, []).append(joint)
    order = [model.root, *(joint.child for joint in outwards(model))]
    rows: dict[str, float] = {}
    stack, free = [model.root], 0
    while stack:
        name = stack.pop()
        if name not in carried:
            rows[name], free = -free * ROW, free + 1
        stack += [joint.child for joint in reversed(carried.get(name, ()))]
    for name in reversed(order):
        if name in carried:
            rows[name] = rows[carried[name][0].child]
    boxes = {model.root: GraphBox(0.0, rows[model.root], _width(model.root, NAME) + 2 * PAD, 0.0)}
    for name in order:
        turn = boxes[name].right + GAP
        heirs = carried.get(name, ())
        label = max((_width(_label(joint), NAME) for joint in heirs), default=0.0)
        for joint in heirs:
            child = joint.child
            width = _width(child, NAME) + 2 * PAD
            boxes[child] = GraphBox(turn + label + 2 * GAP, rows[child], width, turn)
    return boxes


def _label(joint: Joint) -> str:
    """A text as wide as what stands along a joint's line."""
    return max(joint.name, " " * round(len(_kind(joint)) * NOTE / NAME), key=len)


def _kind(joint: Joint) -> str:
    return joint.type if joint.mimic is None else f"{joint.type}, mimics {joint.mimic.joint}"


def _save(figure: Figure, target: Any, kind: str) -> None:
    import matplotlib

    options: dict[str, Any] = {"metadata": {"Date": None}} if kind == "svg" else {"dpi": 150}
    # text stays text, and the same robot gives the same file
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "mbdyn"}):
        figure.savefig(target, format=kind, **options)


def _width(text: str, size: float) -> float:
    """About the width of a text, inches."""
    return GLYPH * size / 72 * len(text)


def _clusters(robot: Robot) -> dict[str, tuple[str, ...]]:
    """The links that each constrained cluster moves, by its name."""
    frames = robot.system.tree.frames
    return {
        cluster.name: tuple(
            link.name
            for link in robot.model.links
            if frames[link.name][0] in cluster.coupled and not _held(robot.model, link.name)
        )
        for cluster in robot.system.clusters
        if cluster.constrained
    }


def _held(model: Model, link: str) -> bool:
    joint = model.joint_to(link)
    return joint is None or joint.nv == 0


def _role(robot: Robot, joint: Joint) -> str:
    if not joint.nv:
        return "fixed"
    if joint.name in robot.actuated_joints:
        return "actuated"
    return "independent" if joint.name in robot.independent_joints else "passive"


def _draw_shade(axes: Axes, box: GraphBox, shade: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    left = box.turn - 0.07
    corner = (left, box.y - ROW / 2 + 0.04)
    size = (box.right + 0.1 - left, ROW - 0.08)
    style = "round,pad=0,rounding_size=0.1"
    axes.add_patch(FancyBboxPatch(corner, *size, boxstyle=style, fc=shade, ec="none", zorder=0))


def _draw_joint(axes: Axes, joint: Joint, role: str, boxes: Mapping[str, GraphBox]) -> None:
    color, width = ROLES[role]
    start, end = boxes[joint.parent], boxes[joint.child]
    xs, ys = [start.right, end.turn, end.turn, end.x], [start.y, start.y, end.y, end.y]
    axes.plot(xs, ys, color=color, lw=width, zorder=2 if role == "fixed" else 3,
              solid_joinstyle="round")  # fmt: skip
    x, ink = end.turn + 0.08, FAINT if role == "fixed" else "#15171a"
    axes.text(x, end.y + 0.05, joint.name, fontsize=NAME, va="bottom", color=ink)
    axes.text(x, end.y - 0.05, _kind(joint), fontsize=NOTE, va="top", color=FAINT)


def _draw_link(axes: Axes, model: Model, name: str, box: GraphBox) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner, style = (box.x, box.y - BOX / 2), "round,pad=0,rounding_size=0.07"
    fill = "#e9ebee" if name == model.root else "white"
    patch = FancyBboxPatch(corner, box.width, BOX, boxstyle=style, lw=1, zorder=4, fc=fill)
    patch.set_edgecolor("#3b3f46")
    axes.add_patch(patch)
    inertia = model.link(name).inertia
    mass = f"{inertia.mass:.4g} kg" if inertia is not None and inertia.mass else ""
    middle, lift = box.x + box.width / 2, 0.055 if mass else 0.0
    axes.text(middle, box.y + lift, name, fontsize=NAME, ha="center", va="center", zorder=5)
    if mass:
        axes.text(middle, box.y - 0.095, mass, fontsize=NOTE, ha="center", va="center",
                  color=FAINT, zorder=5)  # fmt: skip


def _draw_loop(axes: Axes, loop: Loop, boxes: Mapping[str, GraphBox], k: int) -> None:
    start, end = boxes[loop.predecessor], boxes[loop.successor]
    above = 1 if end.y > start.y else -1
    beside = 0.09 * (k % 3)
    x1, x2 = start.x + start.width / 2 + beside, end.x + end.width / 2 + beside
    channel = start.y + above * ROW / 2
    enters = -above if start.y != end.y else above
    ys = [start.y + above * BOX / 2, channel, channel, end.y + enters * BOX / 2]
    axes.plot([x1, x1, x2, x2], ys, color=LOOP_COLOR, lw=1.6, ls=(0, (4, 2)), zorder=3.5)
    text = f"{loop.name} ({loop.type})"
    beside_it = abs(x1 - x2) < _width(text, NOTE) + 0.4  # no room on the line
    axes.text(
        max(x1, x2) + 0.08 if beside_it else (x1 + x2) / 2, channel, text, fontsize=NOTE + 0.5,
        color=LOOP_COLOR, ha="left" if beside_it else "center", va="center", zorder=6,
        bbox={"fc": "white", "ec": "none", "pad": 1.0},
    )  # fmt: skip


def _legend(
    roles: Collection[str], loops: bool, clusters: Mapping[str, tuple[str, ...]], width: float
) -> list[tuple[float, int, str, str, Any]]:
    """Entries: place along the line, line, text, kind of mark and its style."""
    entries: list[tuple[str, str, Any]] = [
        (f"{role} joint", "line", style) for role, style in ROLES.items() if role in roles
    ]
    if loops:
        entries.append(("loop", "dashes", (LOOP_COLOR, 1.6)))
    for name, shade in zip(clusters, cycle(SHADES), strict=False):
        entries.append((f"cluster {name if len(name) < 40 else name[:37] + '...'}", "patch", shade))
    placed, x, line = [], 0.0, 0
    for text, kind, style in entries:
        wide = 0.75 + _width(text, NOTE + 0.5)
        if x and x + wide > width:
            x, line = 0.0, line + 1
        placed.append((x, line, text, kind, style))
        x += wide
    return placed


def _draw_entry(axes: Axes, at: tuple[float, float], text: str, kind: str, style: Any) -> None:
    x, y = at
    if kind == "patch":
        axes.fill([x, x + 0.3, x + 0.3, x], [y - 0.07, y - 0.07, y + 0.07, y + 0.07], style)
    else:
        color, width = style
        dashes: Any = (0, (4, 2)) if kind == "dashes" else "-"
        axes.plot([x, x + 0.3], [y, y], color=color, lw=width, ls=dashes)
    axes.text(x + 0.38, y, text, fontsize=NOTE + 0.5, va="center")
