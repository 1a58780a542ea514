"""The tree robot of Shafei and Shafei (2018) with curved rods, which its authors leave to others.

    python -m benchmarks.curved_tree [--rise 0.1] [--thickness 0.02]

Each of the ten rods of 1 m is bent to a circular arc between its joints, `rise` m high in its
middle, to the side to which joints turn; mass and length of the chord stay. It starts as the
paper's does, inside the same circle, and every impact is elastic. Printed are the impacts, the
share of the energy that is lost, and the greatest depth of 401 balls along each rod, at 1501
instants.
"""

from __future__ import annotations

import argparse

import numpy as np

import mbdyn_ros
from benchmarks.tree_impact import DURATION, RADIUS, ROOT, START
from mbdyn_ros.array import Array
from mbdyn_ros.simulation import CurvedRod

RODS = [f"link{k}" for k in range(1, 11)]
HALF_CHORD = 0.5


def bent(rise: float) -> mbdyn_ros.Robot:
    """The robot, whose rods of 1 kg have the inertia of thin arcs."""
    bend = (HALF_CHORD**2 + rise**2) / (2 * rise)
    angle = 2 * np.arcsin(HALF_CHORD / bend)
    low, share = bend * np.sin(angle / 2) / (angle / 2), np.sin(angle) / (2 * angle)
    along, across = bend**2 * (0.5 - share), bend**2 * (0.5 + share) - low**2
    robot = mbdyn_ros.load(ROOT / "urdf" / "tree_robot.urdf", variable=RODS)
    for rod in RODS:
        center = (HALF_CHORD, 0.0, rise - bend + low)
        robot.set_inertia(rod, 1.0, center, np.diag([across, across + along, along]))
    return robot


def rods(rise: float, thickness: float) -> list[CurvedRod]:
    """The rods as points that may touch."""
    middle = (HALF_CHORD, 0.0, rise)
    return [CurvedRod(rod, (0, 0, 0), middle, (1, 0, 0), thickness / 2) for rod in RODS]


def deepest(robot: mbdyn_ros.Robot, arcs: list[CurvedRod], q: Array) -> float:
    """How deep (m) balls along the rods are in the wall at positions (N, nq)."""
    depth = -np.inf
    for arc in arcs:
        places = np.array([point.xyz for point in arc.pieces(401)])
        pose = robot.frame_pose(q, arc.link)
        world = np.einsum("nij,kj->nki", pose[:, :3, :3], places) + pose[:, None, :3, 3]
        depth = max(depth, float(np.hypot(world[..., 0], world[..., 2]).max()) + arc.radius)
    return depth - RADIUS


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rise", type=float, default=0.1)
    parser.add_argument("--thickness", type=float, default=0.02)
    options = parser.parse_args()
    arcs = rods(options.rise, options.thickness)
    wall = mbdyn_ros.Surface.cylinder(RADIUS, axis=(0, 1, 0), restitution=1.0, friction=0.0)
    walls = mbdyn_ros.Environment([wall], points=arcs)
    robot = bent(options.rise)
    times = np.linspace(0, DURATION, 1501)
    run = mbdyn_ros.simulate(
        robot, START, np.zeros(12), DURATION, rtol=1e-11, atol=1e-12, environment=walls,
        times=times,
    )  # fmt: skip
    points = walls.contact_points(robot)
    for impact in run.impacts:
        links = ", ".join(points[k].link for k in impact.points)
        impulses = ", ".join(f"{one:.6f}" for one in impact.impulses)
        print(f"{impact.time:.9f} s   {links}   {impulses} N s   loss {impact.loss:.1e} J")
    print(f"imbalance {np.abs(run.imbalance).max():.1e} J, stretches {len(run.stretches)}")
    print(f"deepest {deepest(robot, arcs, run.q):.1e} m")


if __name__ == "__main__":
    main()
