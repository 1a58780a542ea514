"""Planar robots of bodies, pins and drives, as URDF text."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mbdyn_ros

URDF = Path(__file__).resolve().parents[2] / "urdf"


def own(
    name: str, independent: str = "", actuated: str = "", more: tuple[str, str] = ("", ""),
    **options: object,
) -> mbdyn_ros.Robot:  # fmt: skip
    """One of our robots, in other coordinates, with a replacement in its text."""
    text = (URDF / f"{name}.urdf").read_text().replace(*more)
    if not independent:
        return mbdyn_ros.load(text, **options)
    text = re.sub(r' independent="\w+"', "", text)
    mechanism = f"{{independent: [{independent}], actuated: [{actuated}]}}"
    return mbdyn_ros.load(text, mechanism=mechanism, **options)


def body(name: str, x: float, z: float) -> str:
    return f"""<link name="{name}"><inertial><origin xyz="{x} 0 {z}"/><mass value="1"/><inertia
      ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def turn(name: str, parent: str, child: str, at: str = "0 0 0", axis: str = "0 1 0") -> str:
    return f"""<joint name="{name}" type="continuous"><parent link="{parent}"/>
      <child link="{child}"/><origin xyz="{at}"/><axis xyz="{axis}"/></joint>"""


def pin(one: str, at_one: str, two: str, at_two: str, kind: str = "revolute") -> str:
    return f"""<loop name="pin" type="{kind}"><axis xyz="0 1 0"/>
      <predecessor link="{one}"><origin xyz="{at_one}"/></predecessor>
      <successor link="{two}"><origin xyz="{at_two}"/></successor></loop>"""


def robot_of(*parts: str, mechanism: str | None = None, **options: object) -> mbdyn_ros.Robot:
    text = f'<robot name="test"><link name="ground"/>{"".join(parts)}</robot>'
    return mbdyn_ros.load(text, mechanism=mechanism, **options)


@contextmanager
def switches() -> Iterator[list[str]]:
    """The texts of all simulation warnings."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", mbdyn_ros.SimulationWarning)
        yield texts
        texts += [str(one.message) for one in caught if one.category is mbdyn_ros.SimulationWarning]


def slide(name: str, parent: str, child: str, axis: str, more: str = "") -> str:
    return f"""<link name="{child}"/><joint name="{name}" type="prismatic"><parent link="{parent}"/>
      <child link="{child}"/><axis xyz="{axis}"/><dynamics damping="0.3"/>{more}
      <limit lower="-9" upper="9" effort="9" velocity="9"/></joint>"""
