"""Four-bars and other small loops as URDF text, and how they are loaded."""

from __future__ import annotations

import mbdyn_ros
from mbdyn_ros import Robot

INERTIAL = (
    '<inertial><origin xyz="{} 0 0"/><mass value="1"/>'
    '<inertia ixx="0.1" iyy="0.2" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial>'
)


def links(*names: str) -> str:
    return "".join(f'<link name="{name}">{INERTIAL.format(0.2)}</link>' for name in names)


def joint(name: str, parent: str, child: str, x: float = 0, y: float = 0, **more: str) -> str:
    kind, axis = more.get("type", "continuous"), more.get("axis", "0 0 1")
    limit = '<limit lower="-9" upper="9" effort="9" velocity="9"/>' if kind == "prismatic" else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{x} {y} 0"/><axis xyz="{axis}"/>{limit}</joint>'
    )


def four_bar(a: float = 0.3, b: float = 1.0, c: float = 0.7, d: float = 0.9) -> str:
    """Ground along x, hinges about z; the tip of the coupler is on its x axis, as the rocker's."""
    return (
        '<robot name="linkage">'
        + links("ground", "crank", "coupler", "rocker")
        + joint("j1", "ground", "crank")
        + joint("j2", "crank", "coupler", a)
        + joint("j4", "ground", "rocker", d)
        + f"<!-- {b} {c} --></robot>"
    )


def pin(
    x1: float = 1.0,
    x2: float = 0.7,
    kind: str = "revolute",
    axis: str = "[0, 0, 1]",
    name: str = "pin",
) -> str:
    return (
        f"loops:\n  - {{name: {name}, type: {kind}, axis: {axis},\n"
        f"     predecessor: {{link: coupler, xyz: [{x1}, 0, 0]}},\n"
        f"     successor: {{link: rocker, xyz: [{x2}, 0, 0]}}}}\n"
    )


HOME = {"j1": 1.0, "j2": -0.5, "j4": 1.7}


def load(mechanism: str = pin(), text: str | None = None, **options: object) -> Robot:
    options.setdefault("home", HOME)
    return mbdyn_ros.load(text or four_bar(), mechanism, **options)
