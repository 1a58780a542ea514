"""The folder of compiled programs: whose it is, what is in it, and what it outlives."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from pendulum import INERTIA, PENDULUM, check, forget

import mbdyn_ros
from mbdyn_ros import CompilerWarning
from mbdyn_ros.compiler import cache, gcc

pytestmark = pytest.mark.usefixtures("fresh_cache")


def test_the_cache_is_the_users_alone(fresh_cache: Path) -> None:
    old = os.umask(0)
    try:
        check(mbdyn_ros.load(PENDULUM))
    finally:
        os.umask(old)
    assert stat.S_IMODE(fresh_cache.stat().st_mode) == 0o700
    link, made = sorted(fresh_cache.iterdir(), key=lambda path: path.suffix)  # and nothing else
    assert link.name.startswith("inverse_dynamics-") and made.suffix == ".so"
    assert link.resolve() == made


def test_a_program_is_compiled_once(
    compilations: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    check(mbdyn_ros.load(PENDULUM))
    assert len(compilations) == 1
    forget()
    monkeypatch.setattr(
        subprocess, "Popen", lambda *_, **__: pytest.fail("the compiler was called")
    )
    check(mbdyn_ros.load(PENDULUM))
    assert len(compilations) == 1


def library(folder: Path, name: str) -> Path:
    """That of a program, or of the runtime."""
    (link,) = folder.glob(f"{name}-*")
    return link.resolve()


COMPILER = {name: value for name, value in os.environ.items() if name == "CC"}
"""That of the tests: scripts compile a runtime library of their own."""

Script = Callable[..., "subprocess.CompletedProcess[str]"]
"""Runs a script in a process of its own, with these variables in its environment."""


@pytest.fixture(scope="module")
def run_script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Script]:
    """Scripts part from one process that has imported all: to import it again takes a second."""
    parent = subprocess.Popen(
        [sys.executable, "-c", script(FORKS)], env=options({})["env"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert parent.stdin is not None and parent.stdout is not None

    def run(text: str, **environment: str) -> subprocess.CompletedProcess[str]:
        folder = tmp_path_factory.mktemp("script")
        files = folder / "printed", folder / "complaints"
        asked = text, options(environment)["env"], [str(file) for file in files]
        print(json.dumps(asked), file=parent.stdin, flush=True)
        code = int(parent.stdout.readline())
        return subprocess.CompletedProcess(text, code, *(file.read_text() for file in files))

    with parent:
        yield run


@pytest.fixture(scope="module")
def of_another_process(tmp_path_factory: pytest.TempPathFactory, run_script: Script) -> Path:
    """The cache of a process that computed with the pendulum."""
    home = tmp_path_factory.mktemp("another")
    built = run_script("check(mbdyn_ros.load(PENDULUM))", XDG_CACHE_HOME=str(home))
    assert built.returncode == 0, built.stderr
    return home / "mbdyn_ros"


@pytest.fixture
def filled(fresh_cache: Path, of_another_process: Path) -> Path:
    """The fresh_cache folder, filled by another process."""
    return Path(shutil.copytree(of_another_process, fresh_cache, symlinks=True))


def test_the_cache_serves_another_process_without_tracing(filled: Path, run_script: Script) -> None:
    before = {path: path.stat().st_mtime_ns for path in filled.iterdir()}
    done = run_script("check(mbdyn_ros.load(PENDULUM))", CC="false")
    assert done.returncode == 0, done.stderr  # with another compiler: another program, interpreted
    assert "interpreter" in done.stderr
    done = run_script(
        "cache.compile_library = loading.c_source = None\ncheck(mbdyn_ros.load(PENDULUM))"
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert {path: path.stat().st_mtime_ns for path in filled.iterdir()} == before


IMPORTS = """
import sys, warnings
import mbdyn_ros
from mbdyn_ros.compiler import cache, loading
from pendulum import PENDULUM, check
"""
"""Names that scripts use."""

FORKS = """
import json, os

mbdyn_ros.load
for line in sys.stdin:
    text, environment, files = json.loads(line)
    child = os.fork()
    if not child:
        os.environ.clear()
        os.environ.update(environment)
        for number, file in enumerate(files, start=1):
            os.dup2(os.open(file, os.O_CREAT | os.O_WRONLY), number)
        exec(text)
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Runs a script a line, each in a process that leaves as any other does."""


def script(text: str) -> str:
    return f"{IMPORTS}\n{text}"


def options(environment: dict[str, str]) -> dict:
    folders = [Path(__file__).parents[1] / "support", Path(mbdyn_ros.__file__).parent.parent]
    paths = os.pathsep.join([*map(str, folders), os.environ.get("PYTHONPATH", "")])
    return {
        "env": {**os.environ, **COMPILER, "PYTHONPATH": paths, **environment},
        "capture_output": True,
        "text": True,
        "timeout": 60,
    }


@pytest.mark.long
def test_two_processes_compile_at_once(fresh_cache: Path) -> None:
    """Both get right answers, whoever is first; one library remains, and one runtime."""
    settings = options({})
    for key in ("capture_output", "timeout"):
        settings.pop(key)
    text = script("sys.stdin.readline(); check(mbdyn_ros.load(PENDULUM)); print('right')")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", f"{text}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **settings,
        )
        for _ in range(3)
    ]
    answers = [process.communicate("go\n", timeout=60) for process in processes]
    assert answers == [("right\n", "")] * 3
    assert sorted(path.suffix for path in fresh_cache.iterdir()) == ["", "", ".so", ".so"]


def test_others_wait_for_who_compiles(fresh_cache: Path, tmp_path: Path) -> None:
    """Locks of files tell threads apart as they do processes."""
    log, compiler = tmp_path / "log", tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\necho "$@" >> "{log}"\nsleep 0.2\nexec cc "$@"\n')
    compiler.chmod(0o755)
    chain = gcc.Toolchain((str(compiler),))
    with ThreadPoolExecutor(3) as pool:
        made = set(pool.map(lambda _: cache.text_library("int x;", chain), range(3)))
    assert [line.count("-o ") for line in log.read_text().splitlines()].count(1) == 1
    assert list(fresh_cache.iterdir()) == [*made]


def test_nobody_waits_for_ever(fresh_cache: Path) -> None:
    """A process that was stopped while it compiles holds its lock."""

    class Quick(gcc.Toolchain):
        def compile(self, source: str, target: Path) -> None:
            target.write_text(source)

    chain = Quick(gcc.required_toolchain().command, longest=0.1)
    library = cache.text_library("int x;", chain)
    library.unlink()
    with library.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert cache.text_library("int x;", chain) == library and cache.is_sealed(library)


def test_a_library_appears_complete_or_not_at_all(fresh_cache: Path) -> None:
    """Killed while compiling, nothing is left that a later process would load."""

    class Killed(gcc.Toolchain):
        def compile(self, source: str, target: Path) -> None:
            super().compile(source, target)
            assert target.is_file() and not list(fresh_cache.glob("*.so"))  # it is elsewhere
            raise KeyboardInterrupt

    library = cache.cache_folder() / "x.so"
    with pytest.raises(KeyboardInterrupt):
        cache.compile_library("int x;", library, Killed(gcc.required_toolchain().command))
    assert list(fresh_cache.iterdir()) == []
    cache.compile_library("int x;", library)
    assert cache.is_sealed(library)


@pytest.mark.parametrize(
    "name, size",
    [
        ("inverse_dynamics", 0),
        pytest.param("inverse_dynamics", 60, marks=pytest.mark.long),
        pytest.param("inverse_dynamics", 4096, marks=pytest.mark.long),
        ("inverse_dynamics", -1),
        ("runtime", 4096),
    ],
)
def test_a_damaged_library_is_built_again(
    name: str, size: int, filled: Path, run_script: Script
) -> None:
    """Cut off by a crash of the machine; a process that dies is not an answer either."""
    damaged = library(filled, name)
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:size])
    again = run_script("check(mbdyn_ros.load(PENDULUM))")
    assert again.returncode == 0 and not again.stderr, again
    assert len(damaged.read_bytes()) == len(whole)


def test_a_foreign_library_is_built_again(filled: Path, run_script: Script) -> None:
    """One that loads but has no program in it, and one that is none."""
    folder = filled.parent
    foreign = library(filled, "inverse_dynamics")
    whole = foreign.read_bytes()
    source, other = folder / "other.c", folder / "other.so"
    source.write_text("int other(void) { return 1; }")
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(other)], check=True)
    for content in (other.read_bytes(), b"none"):
        foreign.write_bytes(content + cache.SEAL + hashlib.sha256(content).digest())
        done = run_script("check(mbdyn_ros.load(PENDULUM))")
        assert done.returncode == 0 and not done.stderr, done.stderr
        assert len(foreign.read_bytes()) == len(whole)


@pytest.mark.sparse
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o500])
def test_a_folder_open_to_others_is_not_used(fresh_cache: Path, mode: int) -> None:
    if mode == 0o500 and os.geteuid() == 0:
        pytest.skip("root writes anywhere")
    fresh_cache.mkdir(parents=True)
    fresh_cache.chmod(mode)
    robot = mbdyn_ros.load(PENDULUM)
    with pytest.warns(
        CompilerWarning, match=f"{fresh_cache} is unusable.*XDG_CACHE_HOME"
    ) as caught:
        check(robot)
        robot.compile("mass_matrix", "gravity_vector")
    assert len([one for one in caught if one.category is CompilerWarning]) == 1
    assert list(fresh_cache.iterdir()) == []
    folder = cache.cache_folder()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(list(folder.glob("*.so"))) == 3
    fresh_cache.chmod(0o700)


def test_a_private_folder_is_shared_by_threads(
    fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads that find out at the same time that the cache does not serve use one folder."""
    fresh_cache.mkdir(parents=True)
    fresh_cache.chmod(0o777)
    together = threading.Barrier(2)
    temporary_directory = cache.tempfile.TemporaryDirectory

    def slowly(**settings: object) -> object:
        if settings["prefix"] == "mbdyn_ros-":
            with contextlib.suppress(threading.BrokenBarrierError):
                together.wait(0.3)  # for a second thread that must not come
        return temporary_directory(**settings)

    monkeypatch.setattr(cache.tempfile, "TemporaryDirectory", slowly)
    with warnings.catch_warnings(), ThreadPoolExecutor(4) as pool:
        warnings.simplefilter("ignore", CompilerWarning)
        answers = [pool.submit(cache.cache_folder) for _ in range(4)]
        (folder,) = {answer.result(timeout=60) for answer in answers}
    gc.collect()
    assert folder.is_dir()
    check(mbdyn_ros.load(PENDULUM))


def test_the_private_folder_goes_with_the_process(fresh_cache: Path, run_script: Script) -> None:
    fresh_cache.mkdir(parents=True)
    fresh_cache.chmod(0o777)
    done = run_script(
        "warnings.simplefilter('ignore')\ncheck(mbdyn_ros.load(PENDULUM))\n"
        "print(cache.cache_folder(), len(list(cache.cache_folder().glob('*.so'))))"
    )
    assert done.returncode == 0, done.stderr
    folder, count = done.stdout.split()
    assert count == "2" and not Path(folder).exists()


def test_no_folder_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """XDG_CACHE_HOME is a file: as for a folder that others may write to."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.warns(CompilerWarning, match="is unusable"):
        check(mbdyn_ros.load(PENDULUM))


def test_the_cache_is_deleted_meanwhile(fresh_cache: Path) -> None:
    """By a user who frees disk space; what is loaded goes on, new programs are right."""
    robot = mbdyn_ros.load(PENDULUM)
    check(robot)
    shutil.rmtree(fresh_cache)
    check(robot)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompilerWarning)
        np.testing.assert_allclose(robot.mass_matrix([0.1]), [[INERTIA]], rtol=1e-14)


def test_the_cache_has_a_greatest_size(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries that nobody loaded for the longest time go first, with what points to them."""
    fresh_cache.mkdir(parents=True, mode=0o700)
    for age in range(4):
        library = fresh_cache / f"{age}.so"
        library.write_bytes(bytes(1000))
        (fresh_cache / f"program-{age}").symlink_to(library.name)
        os.utime(library, (time.time() - 100 * age,) * 2)
    monkeypatch.setattr(cache, "LARGEST_CACHE", 2500)
    cache._sweep.__wrapped__(fresh_cache)
    assert sorted(path.name for path in fresh_cache.iterdir()) == [
        "0.so", "1.so", "program-0", "program-1",
    ]  # fmt: skip
