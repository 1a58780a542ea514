"""Draw docs/concepts_clusters.svg: a crane, its tree and loops, its cluster tree, and G.

python scripts/clusters.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import mbdyn_ros

FIGURE = Path(__file__).resolve().parent.parent / "docs" / "concepts_clusters.svg"

SIZE = 1000, 790
"""Pixels."""

COLORS = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
"""Of the clusters: those of Okabe and Ito."""

INK, FAINT = "#222222", "#999999"

Point = tuple[float, float]


class Drawing:
    """Elements of an SVG, in pixels."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def text(
        self, at: Point, words: str, size: int = 15, anchor: str = "start",
        color: str = INK, weight: str = "normal",
    ) -> None:  # fmt: skip
        """Write words at a point of their base line."""
        self.lines.append(
            f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{color}" font-weight="{weight}" stroke="white" stroke-width="3" '
            f'stroke-opacity="0.6" paint-order="stroke">{words}</text>'
        )

    def line(
        self, points: Sequence[Point], color: str = INK, width: float = 2, dashes: str = "none"
    ) -> None:
        """Draw straight lines from point to point."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.lines.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}" '
            f'stroke-linecap="round" stroke-linejoin="round" stroke-dasharray="{dashes}"/>'
        )

    def plate(self, points: Sequence[Point], color: str) -> None:
        """Draw a body that joins points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.lines.append(
            f'<polygon points="{path}" fill="{color}" fill-opacity="0.25" stroke="{color}" '
            'stroke-width="5" stroke-linejoin="round"/>'
        )

    def circle(self, at: Point, radius: float, color: str, fill: str = "white") -> None:
        """Draw a circle."""
        self.lines.append(
            f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius}" fill="{fill}" '
            f'stroke="{color}" stroke-width="2.5"/>'
        )

    def box(self, corner: Point, size: Point, color: str, opacity: float) -> None:
        """Draw a shaded rectangle with round corners."""
        self.lines.append(
            f'<rect x="{corner[0]:.1f}" y="{corner[1]:.1f}" width="{size[0]:.1f}" '
            f'height="{size[1]:.1f}" rx="12" fill="{color}" fill-opacity="{opacity}" '
            f'stroke="{color}"/>'
        )

    def loop(self, start: Point, end: Point, bulge: float) -> None:
        """Draw a loop joint of the graph: a dashed arc that bulges to the right."""
        middle = (start[0] + end[0]) / 2 + 2 * bulge, (start[1] + end[1]) / 2
        self.lines.append(
            f'<path d="M {start[0]:.1f} {start[1]:.1f} Q {middle[0]:.1f} {middle[1]:.1f} '
            f'{end[0]:.1f} {end[1]:.1f}" fill="none" stroke="{INK}" stroke-width="2.5" '
            'stroke-dasharray="6 5"/>'
        )

    def svg(self) -> str:
        """The whole picture."""
        width, height = SIZE
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif"><rect width="{width}" height="{height}" fill="white"/>'
        )
        return "\n".join([head, *self.lines, "</svg>", ""])


def numbers(robot: mbdyn_ros.Robot) -> dict[str, int]:
    """Numbers of the tree joints, 1, 2, ..., by the link that each of them moves."""
    joints = {joint.name: joint.child for joint in robot.model.joints}
    return {joints[name]: k for k, name in enumerate(robot.joint_names, 1)}


def colors(robot: mbdyn_ros.Robot) -> dict[str, str]:
    """Colours of the moving bodies, by their clusters."""
    return {
        robot.system.tree.bodies[body].name: COLORS[k]
        for k, cluster in enumerate(robot.system.clusters)
        for body in cluster.bodies
    }


def matrix(robot: mbdyn_ros.Robot) -> np.ndarray:
    """G (joints, nv) at home: velocities of all joints for each independent one."""
    columns = [robot.joint_state(robot.home_position, unit)[1] for unit in np.eye(robot.nv)]
    return np.array(columns).T


def draw_machine(to: Drawing, robot: mbdyn_ros.Robot) -> None:
    """The crane from the side: bodies as plates, tree joints numbered, closing pins cut."""
    pose = {
        link.name: robot.frame_pose(robot.home_position, link.name) for link in robot.model.links
    }
    color, number = colors(robot), numbers(robot)

    def pixel(point: np.ndarray) -> Point:
        return 60 + 132 * float(point[0]), 370 - 132 * float(point[2])

    at = {name: pixel(one[:3, 3]) for name, one in pose.items()}
    pin = {
        loop.successor: pixel((pose[loop.successor] @ [*loop.successor_frame.translation, 1])[:3])
        for loop in robot.model.loops
    }
    to.text((20, 30), "a", 17, weight="bold")
    to.text((42, 30), "A crane, cut at two closing pins")
    x, y = at["base"]
    to.line([(x - 40, y), (x + 40, y)], FAINT, 5)
    to.line([(x, y), at["column"]], FAINT, 9)
    to.plate([at["column"], at["lift_barrel"], at["boom"]], color["column"])
    to.plate([at["boom"], pin["boom"], at["jib"], at["tilt_barrel"]], color["boom"])
    to.plate([at["jib"], pin["jib"], at["extension"]], color["jib"])
    to.line([at["extension"], at["tool"]], color["extension"], 6)
    for side, arm in (("lift", "boom"), ("tilt", "jib")):
        shade = color[f"{side}_rod"]
        to.line([at[f"{side}_barrel"], at[f"{side}_rod"]], shade, 13)
        to.line([at[f"{side}_rod"], pin[arm]], shade, 5)
    for name, place in at.items():
        if name in number:
            to.circle(place, 10, color[name])
            to.text((place[0], place[1] + 5), str(number[name]), 13, "middle")
    for loop in robot.model.loops:
        x, y = pin[loop.successor]
        to.circle((x, y), 8, INK)
        to.line([(x - 12, y + 12), (x + 12, y - 12)], INK, 2)
        to.text((x + 14, y + (24 if loop.name == "lift_pin" else -12)), loop.name, 14)


def draw_graph(to: Drawing, robot: mbdyn_ros.Robot) -> None:
    """Bodies as circles, tree joints as lines, loops as dashed arcs; clusters are shaded."""
    at: dict[str, Point] = {
        "base": (548, 195), "column": (628, 195), "boom": (727, 110), "lift_barrel": (727, 215),
        "lift_rod": (727, 315), "jib": (845, 110), "tilt_barrel": (845, 215),
        "tilt_rod": (845, 315), "extension": (958, 110),
    }  # fmt: skip
    color, number = colors(robot), numbers(robot)
    to.text((530, 30), "b", 17, weight="bold")
    to.text((552, 30), "Tree joints (solid), loop joints (dashed), clusters")
    for body, width, height in (
        ("column", 84, 85), ("boom", 108, 295), ("jib", 108, 295), ("extension", 82, 85)
    ):  # fmt: skip
        x, y = at[body]
        to.box((x - 42, y - 34), (width, height), color[body], 0.12)
    for joint in robot.model.joints:
        if joint.name in robot.joint_names:
            to.line([at[joint.parent], at[joint.child]])
    for loop in robot.model.loops:
        to.loop(at[loop.predecessor], at[loop.successor], 48)
    for name, place in at.items():
        to.circle(place, 15, color.get(name, FAINT))
        to.text((place[0], place[1] + 5), str(number.get(name, 0)), 14, "middle")
        to.text((place[0], place[1] + 33), name, 13, "middle")


def draw_cluster_tree(to: Drawing, robot: mbdyn_ros.Robot) -> None:
    """A box a cluster, as a joint of a tree again."""
    to.text((20, 440), "c", 17, weight="bold")
    to.text((42, 440), "The cluster tree: a joint each, with axes S G")
    x, y, width, names = 20, 530, 98, ["slew", "lift", "tilt", "telescope"]
    to.circle((x + 14, y + 40), 15, FAINT)
    to.text((x + 14, y + 45), "0", 14, "middle")
    bodies = robot.system.tree.bodies
    number = numbers(robot)
    x += 29
    for k, cluster in enumerate(robot.system.clusters):
        left = x + 20 + k * (width + 20)
        to.line([(left - 20, y + 40), (left, y + 40)])
        to.box((left, y - 20), (width, 122), COLORS[k], 0.18)
        inside = sorted(number[bodies[body].name] for body in cluster.bodies)
        n = len(inside)
        to.text((left + width / 2, y + 8), names[k], 15, "middle", weight="bold")
        to.text((left + width / 2, y + 34), ", ".join(map(str, inside)), 15, "middle")
        to.text((left + width / 2, y + 64), f"S: {6 * n}×{n}", 14, "middle")
        to.text((left + width / 2, y + 86), f"G: {n}×1", 14, "middle")
    to.text((20, 668), "Tree joints 2, 3, 4 have three velocities. Of the five rows", 14)
    to.text((20, 690), "of lift_pin two are independent, as in every planar", 14)
    to.text((20, 712), "loop: one velocity is left. The tilt cluster is the same.", 14)


def draw_matrix(to: Drawing, robot: mbdyn_ros.Robot) -> None:
    """G at home, its blocks in the colours of the clusters."""
    to.text((530, 440), "d", 17, weight="bold")
    to.text((552, 440), "Velocities of all joints: v = G(y) w, here at home")
    left, top, width, height = 720, 490, 66, 34
    values, color, number = matrix(robot), colors(robot), numbers(robot)
    body = {k: name for name, k in number.items()}
    independent = [robot.joint_names.index(name) for name in robot.independent_joints]
    for j, k in enumerate(independent):
        x = left + (j + 0.5) * width
        to.text((x, top - 12), f"w{k + 1}", 15, "middle", color[body[k + 1]], "bold")
    for i, name in enumerate(robot.joint_names):
        y = top + i * height
        weight = "bold" if i in independent else "normal"
        to.text((left - 12, y + 22), f"{i + 1}  {name}", 14, "end", weight=weight)
        for j, k in enumerate(independent):
            own = color[body[i + 1]] == color[body[k + 1]]
            if own:
                to.lines.append(
                    f'<rect x="{left + j * width}" y="{y}" width="{width}" height="{height}" '
                    f'fill="{color[body[k + 1]]}" fill-opacity="0.2"/>'
                )
            assert own or abs(values[i, j]) < 1e-12
            words = f"{values[i, j]:.3g}".replace("-", "−") if own else "·"
            to.text((left + (j + 0.5) * width, y + 22), words, 15, "middle")
    bottom = top + len(robot.joint_names) * height
    for x, inner in ((left, left + 8), (left + 4 * width, left + 4 * width - 8)):
        to.line([(inner, top), (x, top), (x, bottom), (inner, bottom)])


def figure() -> str:
    """The text of the figure."""
    robot, to = mbdyn_ros.example("crane"), Drawing()
    for draw in (draw_machine, draw_graph, draw_cluster_tree, draw_matrix):
        draw(to, robot)
    return to.svg()


if __name__ == "__main__":
    FIGURE.write_text(figure())
