"""What makes a program another one, and what is swept from the cache."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest
from pendulum import INERTIA, PENDULUM, check, effort, forget, programs

import mbdyn_ros
from mbdyn_ros.compiler import cache
from mbdyn_ros.compiler.options import Options

pytestmark = pytest.mark.usefixtures("fresh_cache")


def test_robots_never_share_a_program(fresh_cache: Path) -> None:
    """Anything that changes an answer changes the library's name."""
    changes = {
        "mass": ('mass value="2"', 'mass value="2.0000000000000004"'),
        "length": ('xyz="0.5 0 0"', 'xyz="0.5 0 1e-9"'),
        "inertia": ('iyy="0.1"', 'iyy="0.2"'),
        "axis": ('xyz="0 1 0"', 'xyz="0 -1 0"'),
        "damping": ('damping="0.5"', 'damping="0.25"'),
        "friction": ('damping="0.5"', 'damping="0.5" friction="1"'),
    }
    texts = [PENDULUM, *(PENDULUM.replace(*change) for change in changes.values())]
    loaded = [mbdyn_ros.load(text) for text in texts]
    loaded += [mbdyn_ros.load(PENDULUM, gravity=g) for g in ((0, 0, 0), (0, 0, -9.80665))]
    loaded += [mbdyn_ros.load(PENDULUM.replace('"world"', '"base"'), floating_base=False)]
    for robot in loaded[:-1]:
        robot.inverse_dynamics([0.3], [2.0], [-1.0])
    names = programs(fresh_cache)
    assert len(names) == len(set(names.values())) == len(loaded) - 1
    check(loaded[0])
    np.testing.assert_allclose(
        loaded[7].inverse_dynamics([0.3], [2.0], [-1.0]), [1.0 - INERTIA], rtol=1e-14
    )
    # names say nothing about the equations of the whole robot
    assert mbdyn_ros.load(PENDULUM).inverse_dynamics([0.3], [2.0], [-1.0]).shape == (1,)
    assert programs(fresh_cache) == names


def test_variants_never_share_a_program(fresh_cache: Path) -> None:
    robot = mbdyn_ros.load(PENDULUM)
    zeros = [0.3], [2.0], [-1.0]
    pull = {"rod": [0.0, 0, 1, 0, 0, 0]}
    robot.inverse_dynamics(*zeros)
    robot.inverse_dynamics(*zeros, friction=False)
    robot.inverse_dynamics(*zeros, pull)
    robot.inverse_dynamics(*zeros, pull, friction=False)
    robot.bind("frame_pose", "rod")
    robot.bind("frame_pose", "world")
    robot.bind("jacobian", "rod")
    found = programs(fresh_cache)
    assert len(found) == len(set(found.values())) == 7
    without = robot.inverse_dynamics(*zeros, friction=False)
    np.testing.assert_allclose(without, [effort(0.3, 0.0, -1.0)], rtol=1e-14)


def test_the_compiler_is_part_of_the_name(
    fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(mbdyn_ros.load(PENDULUM))
    forget()
    monkeypatch.setenv("CC", "cc -O1")
    check(mbdyn_ros.load(PENDULUM))
    found = programs(fresh_cache)
    assert len(found) == len(set(found.values())) == 2


def test_one_text_is_compiled_once(compilations: list[Path]) -> None:
    """For whoever writes it, under whatever name."""
    text = "int answer(void) { return 42; }"
    one, other = (cache.cached_library(name, name, lambda: text) for name in ("one", "other"))
    assert one == other == cache.text_library(text) == compilations[0] and len(compilations) == 1
    assert len(programs(one.parent)) == 2


def test_the_options_of_the_compiler_are_part_of_the_name(fresh_cache: Path) -> None:
    """A program written otherwise is another one, though robot and formulation are the same."""
    check(mbdyn_ros.load(PENDULUM))
    robot = mbdyn_ros.load(PENDULUM)
    robot.calls.options = Options(longest_block=0, longest_vector_block=0, piece=2)
    check(robot)
    found = programs(fresh_cache)
    assert len(found) == len(set(found.values())) == 2


def test_what_nobody_used_for_long_is_swept(fresh_cache: Path) -> None:
    """Libraries, links to what is not there, and folders of compilers that died."""
    check(mbdyn_ros.load(PENDULUM))
    (kept,) = programs(fresh_cache).values()
    long_ago = time.time() - 2 * cache.UNUSED
    old, new = fresh_cache / "old.so", fresh_cache / "new.so"
    dead, alive = fresh_cache / ".build-dead", fresh_cache / ".build-alive"
    for folder in (dead, alive):
        (folder / "left" / "behind").mkdir(parents=True)
    for file in (old, new):
        file.write_bytes(b"")
    for path in (old, dead):
        os.utime(path, (long_ago, long_ago))
    (fresh_cache / "link").symlink_to("nothing.so")
    (fresh_cache / "link to old").symlink_to(old.name)
    cache._sweep.cache_clear()
    cache._sweep(fresh_cache)
    cache._sweep.cache_clear()
    cache._sweep(fresh_cache)  # the link to what went may have come first
    assert list(programs(fresh_cache).values()) == [kept]
    assert {path.name for path in fresh_cache.iterdir() if not path.is_symlink()} == {
        kept, new.name, alive.name
    }  # fmt: skip


def test_what_is_used_is_not_swept(fresh_cache: Path) -> None:
    check(mbdyn_ros.load(PENDULUM))
    (used,) = fresh_cache.glob("*.so")
    long_ago = time.time() - 2 * cache.UNUSED
    os.utime(used, (long_ago, long_ago))
    check(mbdyn_ros.load(PENDULUM))
    assert time.time() - used.stat().st_mtime < 3600
