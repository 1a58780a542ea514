"""What tests of C++ share: compilers, robots, and libraries built of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from corpus import urdf_file
from night import is_night
from random_loops import draw, walked

import mbdyn_ros
from mbdyn_ros.export.c_export import Exported
from mbdyn_ros.export.headers import INCLUDE

Array = np.ndarray
HERE = Path(__file__).resolve().parent
URDF = HERE.parents[1] / "urdf"
SOURCES = HERE / "cpp"
STRICT_C = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow", "-Werror",
            "-Wstrict-prototypes", "-Wmissing-prototypes"]  # fmt: skip
STRICT = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
CC, CXX = shutil.which("gcc") or shutil.which("clang"), shutil.which("g++") or shutil.which(
    "clang++"
)
needs_cxx = pytest.mark.skipif(CC is None or CXX is None, reason="no compiler of C and C++")

BODY = """<link name="{0}"><inertial><origin xyz="0.1 0.02 {1}"/><mass value="{2}"/>
  <inertia ixx="0.05" iyy="0.06" izz="0.07" ixy="0.001" ixz="0" iyz="-0.002"/></inertial></link>"""


def command(*arguments: object, given: bytes | None = None) -> bytes:
    """Standard output of a program that must succeed."""
    done = subprocess.run([str(one) for one in arguments], input=given, capture_output=True)
    assert done.returncode == 0, (done.stdout + done.stderr).decode(errors="replace")
    return done.stdout


def compiled(source: str, target: Path, *more: str, compiler: str | None = CXX) -> Path:
    """A program of test/support/cpp, by day not optimized."""
    command(compiler, *STRICT, "-O1" if is_night() else "-O0", "-I", INCLUDE, "-I", SOURCES,
            SOURCES / source, *more, "-o", target, "-ldl", "-pthread")  # fmt: skip
    return target


def library_of(written: Exported, compiler: str | None = CC) -> Path:
    """The library to open at run time, of a package that was written."""
    folder, name = written.files[0].parent, written.files[0].stem
    target = folder / f"{name}_model.so"
    command(compiler, *STRICT_C, "-O0", "-fPIC", "-shared", "-DMBDYN_ROS_LIBRARY", "-I", folder,
            folder / f"{name}.c", folder / f"{name}_model.c", "-o", target, "-lm")  # fmt: skip
    return target


def hexapod() -> str:
    """A platform on six legs that push, by Stewart (1965); the legs' lengths are its inputs."""
    parts = [BODY.format("ground", 0, 1), BODY.format("plate", 0, 8)]
    parts.append('<joint name="p" type="floating"><parent link="ground"/><child link="plate"/>'
                 "</joint>")  # fmt: skip
    loops = []
    for k in range(6):
        low, high = (np.pi / 3 * (k // 2 * 2 + side * (k % 2 * 2 - 1)) for side in (0.8, 0.2))
        foot = f"{np.cos(low):.6f} {np.sin(low):.6f} 0"
        parts += [BODY.format(f"lower{k}", 0.2, 1), BODY.format(f"upper{k}", 0.6, 0.5)]
        parts.append(
            f'<joint name="foot{k}" type="universal"><origin xyz="{foot}"/><axis xyz="0 0 1"/>'
            f'<parent link="ground"/><child link="lower{k}"/></joint>'
            f'<joint name="leg{k}" type="prismatic"><axis xyz="0 0 1"/><parent link="lower{k}"/>'
            f'<child link="upper{k}"/><limit lower="-1" upper="2" effort="900" velocity="1"/>'
            '<dynamics damping="2"/></joint>'
        )
        pin = f"{0.5 * np.cos(high):.6f} {0.5 * np.sin(high):.6f} 0"
        loops.append(f"""<loop name="pin{k}" type="spherical">
          <predecessor link="upper{k}"><origin xyz="0 0 0.5"/></predecessor>
          <successor link="plate"><origin xyz="{pin}"/></successor></loop>""")
    return f'<robot name="hexapod">{"".join([*parts, *loops])}</robot>'


LEGS = "{independent: [leg0, leg1, leg2, leg3, leg4, leg5], home: {p/z: 1.0}}"


def robot_of(name: str) -> mbdyn_ros.Robot:
    """A robot of ours, of the corpus, or a random mechanism; "walked" ones search their loops."""
    if name == "hexapod":
        return mbdyn_ros.load(hexapod(), LEGS)
    if name in ("ur5", "panda", "flying ur5"):
        file = urdf_file("panda.urdf" if name == "panda" else "ur5_robot.urdf")
        return mbdyn_ros.load(file, floating_base=name.startswith("flying"))
    if (URDF / f"{name}.urdf").exists():
        return mbdyn_ros.load(URDF / f"{name}.urdf")
    robot = draw(name.removeprefix("walked "), 1).load()
    return walked(robot) if name.startswith("walked") else robot


def motion(robot: mbdyn_ros.Robot, count: int = 8) -> list[dict[str, Array]]:
    """States along a motion near home, where all loops close."""
    random = np.random.default_rng(7)
    way = random.uniform(-0.02, 0.02, (2, robot.nv))
    found = []
    for share in np.linspace(-1, 1, count):
        q = robot.integrate(robot.home_position, way[0] + share * way[1])
        v, a, force = random.normal(size=(3, robot.nv))
        effort = random.normal(size=len(robot.effort_labels))
        found.append({"q": q, "v": v, "a": a, "effort": effort, "force": force})
    return found


def environment() -> dict[str, str]:
    """That of this process, for CMake."""
    return dict(os.environ)
