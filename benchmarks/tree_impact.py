"""The simulation of the tree robot's paper: five impacts inside a circle.

    python benchmarks/tree_impact.py [--plots docs] [--animation tree_impact.webp] [--json]

The paper is "Dynamic modeling of tree-type robotic systems by combining 3x3 rotation and 4x4
transformation matrices" (its tables 1 and 3, figures 14 to 19). Ten rods of 1 m fall without
friction inside a circle; every impact is elastic. The paper's text gives no radius: 2.5 m is
inferred, from the instants and angles of its table 3.
"""

from __future__ import annotations

import argparse
import json
import time
from math import pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np

import mbdyn_ros
from mbdyn_ros import Robot, Trajectory
from mbdyn_ros.export.operation_count import TREE_MOTION
from mbdyn_ros.model.model import Array
from mbdyn_ros.program.program import count_operations

ROOT = Path(__file__).resolve().parent.parent
RADIUS, DURATION = 2.5, 1.5
CORNER = -(1 + sqrt(3)) / 2
START = np.array(
    [CORNER, CORNER, pi / 6, pi / 6, -2 * pi / 3, pi / 6, pi / 6, -2 * pi / 3, pi / 3, 0,
     2 * pi / 3, -pi / 3]
)  # fmt: skip
"""X1, X2, q1 to q10 (m, rad). The paper prints -1.366, which breaks the symmetry."""

TABLE_3 = [
    (0.3851, 33.12, 6.32, 5.26),
    (0.5698, 25.38, 8.62, 31.42),
    (1.01, 36.87, 8.64, 4.12),
    (1.082, 0.0, 12.48, 57.46),
    (1.387, 34.108, 30.14, 15.96),
]
"""The paper's: time s, angle of attack deg, velocity jump along the normal m/s, impulse N s."""

BRANCHES = (4, 5, 4, 5)
"""Rods from O1 to O5, O8, O9 and O11: the branches, whose formulas of table 1 add up."""

RODS = [(1, 2), (2, 3), (3, 4), (4, 5), (3, 6), (6, 7), (7, 8), (6, 9), (6, 10), (10, 11)]
"""Ends places of the ten rods."""

MIRROR = {1: 5, 2: 4, 3: 3, 6: 6, 9: 9, 7: 10, 8: 11, 4: 2, 5: 1, 10: 7, 11: 8}
"""Points places that are mirror images of each other in the line X1 = 0."""


def load() -> tuple[Robot, mbdyn_ros.Environment]:
    """The robot and its wall."""
    robot = mbdyn_ros.load(ROOT / "urdf" / "tree_robot.urdf")
    return robot, mbdyn_ros.read_environment(ROOT / "config" / "tree_robot_walls.yaml")


def run(
    robot: Robot, walls: mbdyn_ros.Environment, rtol: float, times: Array | None = None
) -> Trajectory:
    """The paper's 1.5 s."""
    return mbdyn_ros.simulate(
        robot, START, np.zeros(12), DURATION, rtol=rtol, atol=rtol / 10, environment=walls,
        times=times,
    )  # fmt: skip


def points(robot: Robot, walls: mbdyn_ros.Environment, trajectory: Trajectory) -> Array:
    """Positions and velocities (N, 11, 2, 2) of O1 to O11 in the plane: [x, x'], [X1, X2]."""
    result = []
    for link, xyz in walls.contact_points(robot):
        place = np.array([*xyz, 1.0])
        pose = robot.frame_pose(trajectory.q, link)
        arm = pose[:, :3, :3] @ place[:3]
        J = robot.jacobian(trajectory.q, link)
        motion = np.einsum("nij,nj->ni", J, trajectory.v)
        speed = motion[:, :3] + np.cross(motion[:, 3:], arm)
        result.append(np.stack([(pose @ place)[:, :3], speed], axis=1)[:, :, [0, 2]])
    return np.stack(result, axis=1)


def asymmetry(places: Array) -> float:
    """Largest distance (m) of a point from the mirror image of its partner."""
    images = places[:, [MIRROR[k + 1] - 1 for k in range(11)], 0] * [-1, 1]
    return float(np.abs(images - places[:, :, 0]).max())


def operations(robot: Robot) -> dict[str, Any]:
    """Products and sums of the equations of motion against the formulas of table 1."""
    from mbdyn_ros.equations.algebra.spatial import SX, joint_motion
    from mbdyn_ros.equations.textbook import gibbs_appell as ga

    tree = robot.system.tree
    q, v, effort = SX.sym("q", tree.nq), SX.sym("v", tree.nv), SX.sym("effort", tree.nv)
    joints = [joint_motion(body, q[body.q]) for body in tree.bodies]
    system = ga.gibbs_appell(tree, joints, v, effort, robot.gravity)
    import casadi as ca

    outputs = ca.cse([ca.densify(part) for part in system])
    ours = count_operations(ca.Function("f", [q, v, effort], outputs))
    return {
        "ours": [ours["multiplications"], ours["additions"]],
        **{
            f"{row.principle} ({row.authors})": [
                sum(map(formula, BRANCHES)) for formula in (row.products, row.sums) if formula
            ]
            for row in TREE_MOTION
        },
    }


def measure(rounds: int, samples: int = 15001) -> dict[str, Any]:
    """The table, the errors at its samples, and the least time of several runs."""
    robot, walls = load()
    trajectory = run(robot, walls, 1e-11)
    table = [
        {
            "time": impact.time,
            "points": [f"O{k + 1}" for k in impact.points],
            "angle_of_attack": np.degrees(impact.angle_of_attack).tolist(),
            "velocity_jump": (
                impact.normal_velocity_after - impact.normal_velocity_before
            ).tolist(),
            "impulses": impact.impulses.tolist(),
        }
        for impact in trajectory.impacts
    ]
    finer = run(robot, walls, 1e-12, np.linspace(0, DURATION, samples))
    places = points(robot, walls, finer)
    energy = finer.energy.sum(axis=1)
    best = np.inf
    for _ in range(rounds):
        began = time.perf_counter()
        run(robot, walls, 1e-11)
        best = min(best, time.perf_counter() - began)
    return {
        "table": table,
        "energy": float(energy[0]),
        "drift_in_flight": float(np.ptp(energy)),
        "jump_at_impacts": max(abs(one.energy_after - one.energy_before) for one in finer.impacts),
        "asymmetry": asymmetry(places),
        "penetration": float((np.linalg.norm(places[:, :, 0], axis=-1) - RADIUS).max()),
        "steps": trajectory.steps,
        "wall_time": best,
        "operations": operations(robot),
    }


def show(result: dict[str, Any]) -> None:
    """Print everything."""
    print("time s         points   angle deg           jump m/s            impulse N s")
    for row, paper in zip(result["table"], TABLE_3, strict=True):
        ours = (
            f"{row['time']:.9f}   {','.join(row['points']):7}  {row['angle_of_attack'][0]:9.5f}"
            f"           {row['velocity_jump'][0]:9.5f}           {row['impulses'][0]:9.6f}"
        )
        print(ours)
        print(
            f"{paper[0]:<11}   paper    {paper[1]:9}           {paper[2]:9}           {paper[3]:9}"
        )
    print(
        f"energy {result['energy']:.6f} J; drift {result['drift_in_flight']:.1e} J, at impacts "
        f"{result['jump_at_impacts']:.1e} J (rtol 1e-12)\n"
        f"asymmetry {result['asymmetry']:.1e} m; penetration {result['penetration']:.1e} m, of "
        f"15001 samples\n{DURATION} s in {result['steps']} steps and "
        f"{1e3 * result['wall_time']:.0f} ms (rtol 1e-11)"
    )
    for name, (products, sums) in result["operations"].items():
        print(f"{name:40} {products:8.0f} products {sums:8.0f} sums")


def plot(folder: Path) -> None:
    """Figures 14 to 17 and 19 in one picture, figure 18 in another."""
    from matplotlib.patches import Circle

    from mbdyn_ros.view.figure import color_of, empty_figure, legend_beside, save_figure, tidy

    robot, walls = load()
    times = np.linspace(0, DURATION, 3001)
    trajectory = run(robot, walls, 1e-11, times)
    places = points(robot, walls, trajectory)
    hits = [one.time for one in trajectory.impacts]
    figure = empty_figure(13, 12)
    grid = figure.add_gridspec(3, 2, height_ratios=(1, 1, 0.6))
    panels = [
        (0, 0, "X1 (m), figure 14"),
        (1, 0, "X1' (m/s), figure 15"),
        (0, 1, "X2 (m), figure 16"),
        (1, 1, "X2' (m/s), figure 17"),
    ]
    groups = sorted({min(one, image) - 1 for one, image in MIRROR.items()})
    for order, axis, title in panels:
        axes = figure.add_subplot(grid[order, axis])
        for k in range(11):
            image = MIRROR[k + 1] - 1  # a point and its image have one colour
            colour = color_of(groups.index(min(k, image)))
            axes.plot(times, places[:, k, order, axis], lw=1.2, label=f"O{k + 1}", color=colour,
                      ls="-" if k <= image else "--")  # fmt: skip
        for hit in hits:
            axes.axvline(hit, color="0.8", lw=0.8, zorder=0)
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_ylabel(title.partition(",")[0])
        axes.set_xlabel("time (s)")
        axes.set_xlim(0, DURATION)
        tidy(axes)
        if axis:
            legend_beside(axes)
    axes = figure.add_subplot(grid[2, :])
    kinetic, potential = trajectory.energy.T
    rows = (("kinetic", kinetic), ("potential", potential), ("total", kinetic + potential))
    for k, (name, values) in enumerate(rows):
        axes.plot(times, values, lw=1.2, label=name, color=color_of(k))
    axes.set_title("energy, figure 19", loc="left", fontsize=10)
    axes.set_ylabel("energy (J)")
    axes.set_xlabel("time (s)")
    axes.set_xlim(0, DURATION)
    tidy(axes)
    legend_beside(axes)
    figure.suptitle(
        "Tree robot among walls. Dashed: the mirror image of the solid line of its colour; "
        "in X2 and X2' both coincide.", fontsize=10,
    )  # fmt: skip
    save_figure(figure, folder / "tree_impact.png")

    instants = np.array([0.0, 0.2, *hits[:2], 0.8, *hits[2:4], 1.25, hits[4]])
    poses = points(robot, walls, run(robot, walls, 1e-11, instants))
    figure = empty_figure(9.5, 9.6)
    for n, instant in enumerate(instants):
        axes = figure.add_subplot(3, 3, n + 1)
        axes.add_patch(Circle((0, 0), RADIUS, fill=False, ec="0.4"))
        place = poses[n, :, 0]
        for one, two in RODS:
            axes.plot(*place[[one - 1, two - 1]].T, "-", color=color_of(0), lw=2)
        axes.plot(*place.T, "o", color=color_of(4), ms=3)
        for impact in trajectory.impacts:
            if impact.time == instant:
                axes.plot(*place[list(impact.points)].T, "o", mfc="none", mec=color_of(1), ms=11)
                names = ", ".join(f"O{k + 1}" for k in impact.points)
                axes.text(0, -2.9, f"impact of {names}", color=color_of(1), ha="center", fontsize=8)
        axes.set_title(f"{instant:.4f} s", fontsize=9)
        axes.set_xlim(-3.1, 3.1)
        axes.set_ylim(-3.1, 2.7)
        axes.set_xticks(range(-2, 3))
        axes.set_yticks(range(-2, 3))
        axes.set_xlabel("X1 (m)", fontsize=8)
        axes.set_ylabel("X2 (m)", fontsize=8)
        axes.tick_params(labelsize=8)
        axes.set_aspect("equal")
        tidy(axes)
    save_figure(figure, folder / "tree_impact_poses.png")


SLOWNESS, FRAMES = 5, 20
"""Of the animation: seconds for one of the motion, frames a second."""


def animate(file: Path) -> None:
    """The motion in slow motion, the points of an impact in its colour for a third of a second."""
    from io import BytesIO

    from matplotlib.figure import Figure
    from matplotlib.patches import Circle
    from PIL import Image

    from mbdyn_ros.view.figure import color_of

    robot, walls = load()
    times = np.linspace(0, DURATION, round(DURATION * SLOWNESS * FRAMES) + 1)
    trajectory = run(robot, walls, 1e-11, times)
    pictures = []
    for instant, place in zip(times, points(robot, walls, trajectory)[:, :, 0], strict=True):
        figure = Figure(figsize=(4, 4))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.add_patch(Circle((0, 0), RADIUS, fill=False, ec="0.4", lw=1.5))
        for one, two in RODS:
            axes.plot(*place[[one - 1, two - 1]].T, "-", color=color_of(0), lw=3)
        axes.plot(*place.T, "o", color=color_of(4), ms=4)
        for impact in trajectory.impacts:
            if 0 <= instant - impact.time < 1 / 3 / SLOWNESS:
                hit = place[list(impact.points)]
                axes.plot(*hit.T, "o", mfc="none", mec=color_of(1), mew=2, ms=13)
        axes.text(-2.6, -2.6, f"{instant:.2f} s", fontsize=10)
        axes.set(xlim=(-2.7, 2.7), ylim=(-2.7, 2.7), aspect="equal")
        axes.axis("off")
        image = BytesIO()
        figure.savefig(image, dpi=90)
        pictures.append(Image.open(image).convert("RGB"))
    first, *others = pictures
    first.save(
        file, save_all=True, append_images=others, duration=1000 // FRAMES, loop=0, quality=50
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plots", type=Path, help="folder for the figures")
    parser.add_argument("--animation", type=Path, help="file of the motion, .webp or .gif")
    parser.add_argument("--rounds", type=int, default=20, help="runs that are timed")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    arguments = parser.parse_args()
    result = measure(arguments.rounds)
    if arguments.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    if arguments.plots is not None:
        plot(arguments.plots)
    if arguments.animation is not None:
        animate(arguments.animation)


if __name__ == "__main__":
    main()
