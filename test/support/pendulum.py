"""A pendulum whose efforts are one line; and caches of compiled programs to look into.

Processes that tests start import this, and nothing that takes long.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbdyn_ros
from mbdyn_ros.compiler import cache, gcc, loading

PENDULUM = """<robot name="pendulum"><link name="world"/><link name="rod"><inertial>
  <origin xyz="0.5 0 0"/><mass value="2"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><axis xyz="0 1 0"/><dynamics damping="0.5"/>
    <parent link="world"/><child link="rod"/></joint></robot>"""
INERTIA = 0.1 + 2 * 0.5**2


def effort(q: float, v: float, a: float) -> float:
    return INERTIA * a + 0.5 * v - 9.81 * np.cos(q)


def check(robot: mbdyn_ros.Robot) -> None:
    """Right, for one and for many; the second call takes the short way."""
    for _ in range(3):
        found = robot.inverse_dynamics([0.3], [2.0], [-1.0])
        np.testing.assert_allclose(found, [effort(0.3, 2.0, -1.0)], rtol=1e-14)
    many = robot.inverse_dynamics([[0.3], [0.1]], [2.0], [-1.0])
    np.testing.assert_allclose(many, [[effort(x, 2.0, -1.0)] for x in (0.3, 0.1)], rtol=1e-14)


CACHED = (
    gcc.toolchain,
    cache._prepared_folder,
    cache._temporary_folder,
    loading._notice_interpreter,
)
"""Functions that find out something once a process."""


def forget() -> None:
    for function in CACHED:
        function.cache_clear()


def programs(folder: Path) -> dict[str, str]:
    """The library of every program in a folder, both by their names; not that of the runtime."""
    links = {path.name: path.resolve().name for path in folder.iterdir() if path.is_symlink()}
    return {name: library for name, library in links.items() if not name.startswith("runtime-")}
