"""Compiled code under the checks of ASan and UBSan: addresses, and undefined behaviour."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1"

WORK = """
import warnings
import numpy as np
import mbdyn_ros

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)

def call(name, **options):
    robot = mbdyn_ros.example(name, **options)
    q, v, a = robot.neutral() * 1.0, rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    effort = rng.normal(size=len(robot.effort_labels))
    for many in ((), (3,), (300,)):
        given = [np.broadcast_to(x, (*many, len(x))) for x in (q, v, a)]
        robot.inverse_dynamics(*given)
        robot.mass_matrix(given[0])
        robot.coriolis_vector(*given[:2])
        robot.joint_state(given[0])
    robot.forward_dynamics(q, v, effort)
    bound = robot.bind("inverse_dynamics")
    bound.q, bound.v = q, v
    for _ in range(20):
        bound.q[-1] += 1e-3
        bound()
    return robot, q, v, effort

def calls():
    for name in ("ur5", "four_bar", "boom"):
        robot, q, v, effort = call(name)
        robot.inverse_dynamics_derivatives(q, v, v)
        robot.rollout(q, 0 * v, np.zeros((4, 20, len(effort))), 1e-3, friction=False)
        mbdyn_ros.simulate(robot, q, 0 * v, 0.05)
        stepper = mbdyn_ros.Stepper(robot, 1e-3)
        stepper.set_state(q, 0 * v)
        stepper.advance(50)
    tool = mbdyn_ros.example("ur5", variable=["tool0"])
    for mass in (1.0, np.linspace(0.0, 1.0, 300)):
        tool.set_payload("tool0", mass)
        tool.inverse_dynamics(*np.zeros((3, 6)))
    call("quadruped", floating_base=True)

def lengths():
    for name, origin, at in (
        ("four_bar", "rocker_joint/x", [0.32, 0.0, 0.0]),
        ("gripper", "left_follower_joint/x", [-0.045, 0.0, 0.03]),
    ):
        robot, q, v, effort = call(name, variable=[origin])
        frame = origin.rpartition("/")[0]
        at = np.array(at)
        step = 1e-3 * (np.array(list("xyz")) == origin[-1])
        bound = robot.bind("inverse_dynamics")
        bound.q, bound.v = q, v
        for k in range(5):
            robot.set_origin(frame, at + k * step)
            bound()
        robot.inverse_dynamics_by_parameters(q, v, v)
        robot.set_origin(frame, at + np.outer(np.arange(300) / 300, step))
        robot.inverse_dynamics(np.tile(q, (300, 1)), v, v)

def walls():
    floor = mbdyn_ros.Environment(
        [mbdyn_ros.Surface(lambda x: x[2], restitution=0.4, friction=0.6)]
    )
    robot = mbdyn_ros.example("quadruped", floating_base=True)
    q, v = robot.home_position * 1.0, np.full(robot.nv, 0.1)
    q[2] += 0.6
    stepper = mbdyn_ros.Stepper(robot, 1e-3, floor)
    stepper.set_state(q, v)
    stepper.advance(800)
    efforts = np.zeros((12, 400, len(robot.effort_labels)))
    starts = v + 0.3 * rng.normal(size=(12, robot.nv))
    robot.rollout(np.tile(q, (12, 1)), starts, efforts, 1e-3, environment=floor)
    mbdyn_ros.simulate(robot, q, v, 0.45, environment=floor)

def shapes():
    from mbdyn_ros.model.shapes import Box, Capsule, Cylinder, Ellipsoid
    hills = mbdyn_ros.Surface(
        lambda x: x[2] - 0.08 * np.sin(6 * x[0]) * np.cos(5 * x[1]), name="hills"
    )
    box, rod, drum = Box((0.3, 0.2, 0.1)), Capsule(0.05, 0.4), Cylinder(0.1, 0.3)
    kinds = box, rod, drum, Ellipsoid((0.1, 0.2, 0.15))
    for world in (mbdyn_ros.World([hills]), mbdyn_ros.World()):
        if not world.environment.surfaces:
            world.add("floor", Box((4, 4, 0.1)))
            world.add("log", Cylinder(0.1, 1.0), xyz=(0, 0, 0.15), rpy=(1.5, 0.1, 0))
        for k, shape in enumerate(kinds):
            world.add(f"thing{k}", shape, mass=1.0, xyz=(0.1 * k - 0.2, 0.05 * k, 0.4 + 0.4 * k))
        stepper = world.stepper(2e-3)
        stepper.advance(600)
        assert len(stepper.contacts) > 3

{work}()
print("done")
"""


def sanitizer() -> str:
    """The library of the address sanitizer, which has to be there before Python."""
    if not shutil.which("gcc") or not shutil.which("g++"):
        pytest.skip("needs gcc and g++")
    words = ["gcc", "-print-file-name=libasan.so"]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(found):
        pytest.skip("needs libasan")
    return found


def run(text: str, cache: Path, timeout: float = 900.0) -> subprocess.CompletedProcess[str]:
    """Run Python whose runtime and programs are built with ASan and UBSan.

    Lightly optimized: of vectors, whose functions -O3 repeats, GCC checks a thousand places.
    """
    compilers = {}
    for name, command in (("CC", "gcc"), ("CXX", "g++")):
        script = cache / command
        script.write_text(f'#!/bin/sh\nexec env -u LD_PRELOAD {command} {SANITIZE} "$@" -O1\n')
        script.chmod(0o755)
        compilers[name] = str(script)
    environment = {
        **os.environ,
        **compilers,
        "XDG_CACHE_HOME": str(cache),
        "LD_PRELOAD": sanitizer(),
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    }
    words = [sys.executable, "-c", text]
    return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=timeout)


@pytest.mark.parametrize("work", ["calls", "lengths", "walls", "shapes"])
def test_compiled_code_is_clean(work: str, tmp_path: Path) -> None:
    """Calls, batches, rollouts, simulations; steps among walls, shapes on hills and each other."""
    done = run(WORK.replace("{work}", work), tmp_path)
    assert done.returncode == 0 and "done" in done.stdout, done.stderr[-6000:]


READ_BEHIND = """
import ctypes
import numpy as np
from mbdyn_ros.compiler.cache import cached_library

TEXT = '#include <string.h>\\nvoid read(const double* v, double* to) { memcpy(to, v, 19 * 8); }'
library = ctypes.CDLL(str(cached_library("wrong", "wrong", lambda: TEXT)))
library.read(*(ctypes.c_void_p(np.zeros(n).ctypes.data) for n in (18, 19)))
print("done")
"""


def test_a_read_behind_an_array_of_python_is_found(tmp_path: Path) -> None:
    """The judge of the tests above: 19 numbers are read of an array that has 18."""
    done = run(READ_BEHIND, tmp_path)
    assert done.returncode != 0 and "heap-buffer-overflow" in done.stderr, done.stderr[-2000:]
