"""What tests of exported C share: compilers, robots, and programs built of them."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

URDF = Path(__file__).resolve().parents[2] / "urdf"

STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow", "-Werror",
          "-Wstrict-prototypes", "-Wmissing-prototypes", "-Wdouble-promotion"]  # fmt: skip
GCC = shutil.which("gcc")
needs_gcc = pytest.mark.skipif(GCC is None, reason="no gcc")

TWIG = """<robot name="{name}"><link name="world"/><link name="rod"><inertial>
  <origin xyz="0.3 0 0"/><mass value="1"/><inertia ixx="1" iyy="2" izz="2" ixy="0" ixz="0"
  iyz="0"/></inertial></link>{more}<joint name="swing" type="continuous"><axis xyz="0 1 0"/>
  <parent link="world"/><child link="rod"/><dynamics damping="0.3" friction="0.2"/></joint>
  </robot>"""
WORLD = '<link name="world"/>'

HEAVY = """<link name="world"><inertial><mass value="2"/><inertia ixx="1" iyy="2" izz="2" ixy="0"
  ixz="0" iyz="0"/></inertial></link>"""


def command(*arguments: object) -> str:
    done = subprocess.run([str(one) for one in arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(folder: Path, prefix: str) -> Any:
    """The module of an exported robot, its library compiled next to it."""
    library = folder / f"lib{prefix}.so"
    command(GCC, *STRICT, "-O0", "-fPIC", "-shared", folder / f"{prefix}.c", "-o", library, "-lm")
    spec = importlib.util.spec_from_file_location(f"exported_{prefix}", folder / f"{prefix}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
