"""Compiled programs: the cache, the compiler and its absence, threads, and the hot path."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import threading
import time
import tracemalloc
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from interpreting import interpreting

import mbdyn_ros
from mbdyn_ros import CompilerWarning, InputError
from mbdyn_ros.compiler import cache, gcc, loading
from mbdyn_ros.compiler.options import Options
from mbdyn_ros.compiler.runtime.library import runtime

CACHED = (
    gcc.toolchain,
    cache._prepared_folder,
    cache._temporary_folder,
    loading._notice_interpreter,
)
"""What is found out once a process."""

PENDULUM = """<robot name="pendulum"><link name="world"/><link name="rod"><inertial>
  <origin xyz="0.5 0 0"/><mass value="2"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><axis xyz="0 1 0"/><dynamics damping="0.5"/>
    <parent link="world"/><child link="rod"/></joint></robot>"""
INERTIA = 0.1 + 2 * 0.5**2


def effort(q: float, v: float, a: float) -> float:
    return INERTIA * a + 0.5 * v - 9.81 * np.cos(q)


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of its own, and nothing remembered; gives the folder of compiled programs.

    The runtime library is there from before, but for other processes.
    """
    runtime()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    forget()
    yield tmp_path / "cache" / "mbdyn_ros"
    monkeypatch.undo()
    forget()


def forget() -> None:
    for function in CACHED:
        function.cache_clear()


def check(robot: mbdyn_ros.Robot) -> None:
    """Right, for one and for many; the second call takes the short way."""
    for _ in range(3):
        found = robot.inverse_dynamics([0.3], [2.0], [-1.0])
        np.testing.assert_allclose(found, [effort(0.3, 2.0, -1.0)], rtol=1e-14)
    many = robot.inverse_dynamics([[0.3], [0.1]], [2.0], [-1.0])
    np.testing.assert_allclose(many, [[effort(x, 2.0, -1.0)] for x in (0.3, 0.1)], rtol=1e-14)


def count_compilations(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The targets of all compilations from now on."""
    targets: list[Path] = []
    compile_library = cache.compile_library

    def spy(source: str, target: Path, *toolchain: gcc.Toolchain) -> None:
        targets.append(target)
        compile_library(source, target, *toolchain)

    monkeypatch.setattr(cache, "compile_library", spy)
    return targets


def programs(folder: Path) -> dict[str, str]:
    """The library of every program in a folder, both by their names; not that of the runtime."""
    links = {path.name: path.resolve().name for path in folder.iterdir() if path.is_symlink()}
    return {name: library for name, library in links.items() if not name.startswith("runtime-")}


# -- the cache -------------------------------------------------------------------------------------


def test_the_cache_is_the_users_alone(fresh: Path) -> None:
    old = os.umask(0)
    try:
        check(mbdyn_ros.load(PENDULUM))
    finally:
        os.umask(old)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o700
    link, made = sorted(fresh.iterdir(), key=lambda path: path.suffix)  # and nothing else
    assert link.name.startswith("inverse_dynamics-") and made.suffix == ".so"
    assert link.resolve() == made


def test_a_program_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    targets = count_compilations(monkeypatch)
    check(mbdyn_ros.load(PENDULUM))
    assert len(targets) == 1
    forget()
    monkeypatch.setattr(
        subprocess, "Popen", lambda *_, **__: pytest.fail("the compiler was called")
    )
    check(mbdyn_ros.load(PENDULUM))
    assert len(targets) == 1


def library(folder: Path, name: str) -> Path:
    """That of a program, or of the runtime."""
    (link,) = folder.glob(f"{name}-*")
    return link.resolve()


@pytest.fixture(scope="module")
def of_another_process(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache of a process that computed with the pendulum."""
    home = tmp_path_factory.mktemp("another")
    built = run_script("check(mbdyn_ros.load(PENDULUM))", XDG_CACHE_HOME=str(home))
    assert built.returncode == 0, built.stderr
    return home / "mbdyn_ros"


@pytest.fixture
def filled(fresh: Path, of_another_process: Path) -> Path:
    """The fresh folder, filled by another process."""
    return Path(shutil.copytree(of_another_process, fresh, symlinks=True))


def test_the_cache_serves_another_process_without_tracing(filled: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in filled.iterdir()}
    done = run_script("check(mbdyn_ros.load(PENDULUM))", CC="false")
    assert done.returncode == 0, done.stderr  # with another compiler: another program, interpreted
    assert "interpreter" in done.stderr
    done = run_script(
        "cache.compile_library = loading.c_source = None\ncheck(mbdyn_ros.load(PENDULUM))"
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert {path: path.stat().st_mtime_ns for path in filled.iterdir()} == before


def run_script(text: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script(text)], **options(environment))


def script(text: str) -> str:
    return f"from test_kernel import *\n{text}"


def options(environment: dict[str, str]) -> dict:
    folders = [str(Path(__file__).parent), str(Path(mbdyn_ros.__file__).parent.parent)]
    paths = os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")])
    return {
        "env": {**os.environ, "PYTHONPATH": paths, **environment},
        "capture_output": True,
        "text": True,
        "timeout": 60,
    }


def test_two_processes_compile_at_once(fresh: Path) -> None:
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
    assert sorted(path.suffix for path in fresh.iterdir()) == ["", "", ".so", ".so"]


def test_a_library_appears_complete_or_not_at_all(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed while compiling, nothing is left that a later process would load."""
    compile_text = gcc.Toolchain.compile

    def killed(toolchain: gcc.Toolchain, source: str, target: Path) -> None:
        compile_text(toolchain, source, target)
        assert not list(fresh.glob("*.so"))  # it is still elsewhere
        raise KeyboardInterrupt

    monkeypatch.setattr(gcc.Toolchain, "compile", killed)
    with pytest.raises(KeyboardInterrupt):
        mbdyn_ros.load(PENDULUM).inverse_dynamics([0], [0], [0])
    assert list(fresh.iterdir()) == []
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(fresh.parent))
    check(mbdyn_ros.load(PENDULUM))


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
def test_a_damaged_library_is_built_again(name: str, size: int, filled: Path) -> None:
    """Cut off by a crash of the machine; a process that dies is no answer either."""
    damaged = library(filled, name)
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:size])
    again = run_script("check(mbdyn_ros.load(PENDULUM))")
    assert again.returncode == 0 and not again.stderr, again
    assert len(damaged.read_bytes()) == len(whole)


def test_a_foreign_library_is_built_again(filled: Path) -> None:
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


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o500])
def test_a_folder_open_to_others_is_not_used(fresh: Path, mode: int) -> None:
    if mode == 0o500 and os.geteuid() == 0:
        pytest.skip("root writes anywhere")
    fresh.mkdir(parents=True)
    fresh.chmod(mode)
    robot = mbdyn_ros.load(PENDULUM)
    with pytest.warns(CompilerWarning, match=f"{fresh} does not serve.*XDG_CACHE_HOME") as caught:
        check(robot)
        robot.compile("mass_matrix", "gravity_vector")
    assert len([one for one in caught if one.category is CompilerWarning]) == 1
    assert list(fresh.iterdir()) == []
    folder = cache.cache_folder()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(list(folder.glob("*.so"))) == 3
    fresh.chmod(0o700)


def test_a_private_folder_is_shared_by_threads(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads that find out at the same time that the cache does not serve use one folder."""
    fresh.mkdir(parents=True)
    fresh.chmod(0o777)
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


def test_the_private_folder_goes_with_the_process(fresh: Path) -> None:
    fresh.mkdir(parents=True)
    fresh.chmod(0o777)
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
    with pytest.warns(CompilerWarning, match="does not serve"):
        check(mbdyn_ros.load(PENDULUM))


def test_the_cache_is_deleted_meanwhile(fresh: Path) -> None:
    """By a user who frees disk space; what is loaded goes on, new programs are right."""
    robot = mbdyn_ros.load(PENDULUM)
    check(robot)
    shutil.rmtree(fresh)
    check(robot)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompilerWarning)
        np.testing.assert_allclose(robot.mass_matrix([0.1]), [[INERTIA]], rtol=1e-14)


# -- what makes a program another one --------------------------------------------------------------


def test_robots_never_share_a_program(fresh: Path) -> None:
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
    names = programs(fresh)
    assert len(names) == len(set(names.values())) == len(loaded) - 1
    check(loaded[0])
    np.testing.assert_allclose(
        loaded[7].inverse_dynamics([0.3], [2.0], [-1.0]), [1.0 - INERTIA], rtol=1e-14
    )
    # names say nothing about the equations of the whole robot
    assert mbdyn_ros.load(PENDULUM).inverse_dynamics([0.3], [2.0], [-1.0]).shape == (1,)
    assert programs(fresh) == names


def test_variants_never_share_a_program(fresh: Path) -> None:
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
    found = programs(fresh)
    assert len(found) == len(set(found.values())) == 7
    without = robot.inverse_dynamics(*zeros, friction=False)
    np.testing.assert_allclose(without, [effort(0.3, 0.0, -1.0)], rtol=1e-14)


def test_the_compiler_is_part_of_the_name(
    fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(mbdyn_ros.load(PENDULUM))
    forget()
    monkeypatch.setenv("CC", "cc -O1")
    check(mbdyn_ros.load(PENDULUM))
    found = programs(fresh)
    assert len(found) == len(set(found.values())) == 2


def test_one_text_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For whoever writes it, under whatever name."""
    targets = count_compilations(monkeypatch)
    text = "int answer(void) { return 42; }"
    one, other = (cache.cached_library(name, name, lambda: text) for name in ("one", "other"))
    assert one == other == cache.text_library(text) == targets[0] and len(targets) == 1
    assert len(programs(one.parent)) == 2


def test_what_the_compiler_is_told_is_part_of_the_name(fresh: Path) -> None:
    """A program written otherwise is another one, though robot and formulation are the same."""
    check(mbdyn_ros.load(PENDULUM))
    robot = mbdyn_ros.load(PENDULUM)
    robot.calls.options = Options(longest_block=0, longest_vector_block=0, piece=2)
    check(robot)
    found = programs(fresh)
    assert len(found) == len(set(found.values())) == 2


def test_what_nobody_used_for_long_is_swept(fresh: Path) -> None:
    """Libraries, links to what is not there, and folders of compilers that died."""
    check(mbdyn_ros.load(PENDULUM))
    (kept,) = programs(fresh).values()
    long_ago = time.time() - 2 * cache.UNUSED
    old, new = fresh / "old.so", fresh / "new.so"
    dead, alive = fresh / ".build-dead", fresh / ".build-alive"
    for folder in (dead, alive):
        (folder / "left" / "behind").mkdir(parents=True)
    for file in (old, new):
        file.write_bytes(b"")
    for path in (old, dead):
        os.utime(path, (long_ago, long_ago))
    (fresh / "link").symlink_to("nothing.so")
    (fresh / "link to old").symlink_to(old.name)
    cache._sweep.cache_clear()
    cache._sweep(fresh)
    cache._sweep.cache_clear()
    cache._sweep(fresh)  # the link to what went may have come first
    assert list(programs(fresh).values()) == [kept]
    assert {path.name for path in fresh.iterdir() if not path.is_symlink()} == {
        kept, new.name, alive.name
    }  # fmt: skip


def test_what_is_used_is_not_swept(fresh: Path) -> None:
    check(mbdyn_ros.load(PENDULUM))
    (used,) = fresh.glob("*.so")
    long_ago = time.time() - 2 * cache.UNUSED
    os.utime(used, (long_ago, long_ago))
    check(mbdyn_ros.load(PENDULUM))
    assert time.time() - used.stat().st_mtime < 3600


# -- the compiler and its absence ------------------------------------------------------------------


def test_cc_is_honoured(fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its arguments, and with a space in its path."""
    log, folder = tmp_path / "log", tmp_path / "my tools"
    folder.mkdir()
    wrapper = folder / "compiler"
    wrapper.write_text(f'#!/bin/sh\necho "$@" >> "{log}"\nshift\nexec cc "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CC", f"'{wrapper}' --mine")
    check(mbdyn_ros.load(PENDULUM))
    question, line = log.read_text().splitlines()
    assert question.startswith("--mine ") and "-dM" in question  # the width of vectors
    assert line.startswith("--mine -O3 ") and line.endswith("-lm")


@pytest.mark.parametrize("case", ["empty path", "CC names nothing", "CC is blank", "torn CC"])
def test_without_a_compiler(
    case: str, fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One clear notice, and the interpreter's right answers."""
    if case == "empty path":
        monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    else:
        names = {"CC is blank": " ", "torn CC": "'cc", "CC names nothing": "/nowhere/cc -pipe"}
        monkeypatch.setenv("CC", names[case])
        if "blank" in case:
            monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.warns(CompilerWarning, match="no C compiler was found.*Install a C") as caught:
        robot = mbdyn_ros.load(PENDULUM)
        check(robot)
        check(mbdyn_ros.load(PENDULUM))
        robot.compile()
        bound = robot.bind("mass_matrix")
    assert len(caught) == 1
    bound()
    np.testing.assert_allclose(bound.matrix, [[INERTIA]], rtol=1e-14)
    assert not fresh.exists()
    with pytest.raises(InputError, match="position of hinge is nan"):
        robot.gravity_vector([np.nan])


@pytest.mark.parametrize("status", [1, 139])
def test_a_compiler_that_fails(
    status: int, fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken"
    broken.write_text(f'#!/bin/sh\necho "fatal: out of luck" >&2\nexit {status}\n')
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.warns(CompilerWarning, match="(?s)broken: fatal: out of luck") as caught:
        check(mbdyn_ros.load(PENDULUM))
        check(mbdyn_ros.load(PENDULUM))
    assert len(caught) == 1
    assert list(fresh.iterdir()) == []


def test_a_compiler_that_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "false")
    with pytest.warns(CompilerWarning, match="false: exit status 1"):
        check(mbdyn_ros.load(PENDULUM))


def test_a_compiler_that_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Success reported, nothing written; and something written that is no library."""
    monkeypatch.setenv("CC", "true")
    with pytest.warns(CompilerWarning, match="true: it reported success but wrote no library"):
        check(mbdyn_ros.load(PENDULUM))
    forget()
    lying = tmp_path / "lying"
    lying.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho text > "$2"\n')
    lying.chmod(0o755)
    monkeypatch.setenv("CC", str(lying))
    with pytest.warns(CompilerWarning):
        check(mbdyn_ros.load(PENDULUM))


def compiler(path: Path, script: str) -> gcc.Toolchain:
    """A compiler that is a shell script; it is ended after a second."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return gcc.Toolchain((str(path),), longest=1.0)


def test_a_compiler_that_hangs(fresh: Path, tmp_path: Path) -> None:
    """It is ended with all that it started, though that holds on to its output."""
    note = tmp_path / "note"
    hanging = compiler(tmp_path / "hanging", f'sleep 1000 & echo $! > "{note}"\nwait')
    start = time.monotonic()
    with pytest.raises(gcc.CompilationError, match="hanging: not done after 1 s"):
        cache.compile_library("int x;", cache.cache_folder() / "x.so", hanging)
    assert time.monotonic() - start < 20
    child = Path("/proc", note.read_text().strip(), "stat")
    assert not child.exists() or child.read_text().split()[2] == "Z"
    assert list(fresh.iterdir()) == []


def test_a_compiler_that_prints_no_text(tmp_path: Path) -> None:
    garbled = compiler(tmp_path / "garbled", r"printf 'bad \377 luck' >&2; exit 1")
    with pytest.raises(gcc.CompilationError, match="garbled: bad \ufffd luck"):
        cache.compile_library("int x;", tmp_path / "x.so", garbled)


def test_a_compiler_that_leaves_a_folder_behind(fresh: Path, tmp_path: Path) -> None:
    """With its temporary files, that one which is killed does not remove."""
    script = 'mkdir -p "$TMPDIR/mine/deep"; echo text > "$TMPDIR/mine/deep/file"; exec cc "$@"'
    untidy = compiler(tmp_path / "untidy", script)
    cache.compile_library(
        "int x;", cache.cache_folder() / "x.so", dataclasses.replace(untidy, longest=60.0)
    )
    assert [path.name for path in fresh.iterdir()] == ["x.so"]


def test_lanes_are_those_of_the_compiler(tmp_path: Path) -> None:
    ours = gcc.required_toolchain()
    assert ours.lanes in (2, 4, 8)
    narrow = dataclasses.replace(ours, flags=(*ours.flags, "-mno-avx"))
    assert narrow.lanes == 2 and narrow.digest != ours.digest
    with pytest.raises(gcc.CompilationError, match="mute: exit status 1"):
        _ = compiler(tmp_path / "mute", "exit 1").lanes


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.warns(CompilerWarning, match="No space left on device"):
        check(mbdyn_ros.load(PENDULUM))


# -- threads ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("warm", [False, True], ids=["from the start", "when compiled"])
def test_threads_share_a_robot(warm: bool) -> None:
    """Eight threads with states of their own: nobody reads another's."""
    robot = mbdyn_ros.load(PENDULUM)
    if warm:
        robot.compile()
    start = threading.Barrier(8)

    def work(k: int) -> None:
        start.wait(10)
        q = np.array([0.1 * k])
        for i in range(500):
            v, a = np.array([float(i)]), np.array([float(k)])
            found = robot.inverse_dynamics(q, v, a)
            assert abs(found[0] - effort(q[0], v[0], a[0])) < 1e-10
            found = robot.forward_dynamics(q, v, found)
            assert abs(found[0] - k) < 1e-9
            if i % 50 == 0:
                found = robot.inverse_dynamics(np.tile(q, (5, 1)), v, a)
                assert np.abs(found - effort(q[0], v[0], a[0])).max() < 1e-10

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work, k) for k in range(8)]:
            done.result(timeout=60)


# -- the hot path ----------------------------------------------------------------------------------

NAMES = {
    "inverse_dynamics": (("q", "v", "a"), "effort"),
    "forward_dynamics": (("q", "v", "effort"), "a"),
    "mass_matrix": (("q",), None),
    "coriolis_vector": (("q", "v"), None),
    "gravity_vector": (("q",), None),
    "friction_vector": (("q", "v"), None),
    "frame_pose": (("q",), None),
    "jacobian": (("q",), None),
}


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("name", NAMES)
def test_bound_arrays(name: str, compiled: bool) -> None:
    """Named as the method's arguments, filled in place, the output also as `.result`."""
    with contextlib.nullcontext() if compiled else interpreting():
        check_bound_arrays(mbdyn_ros.load(PENDULUM), name)


def check_bound_arrays(robot: mbdyn_ros.Robot, name: str) -> None:
    inputs, output = NAMES[name]
    link = ("rod",) if name in ("frame_pose", "jacobian") else ()
    one, other = robot.bind(name, *link), robot.bind(name, *link)
    values = dict(zip(inputs, ([0.3], [2.0], [-1.0]), strict=False))
    for key, value in values.items():
        array = getattr(one, key)
        assert array.shape == (1,) and array.dtype == np.float64
        array[:] = value
    result = one.result
    assert one() is None
    assert one.result is result
    if output is not None:
        assert getattr(one, output) is result
    expected = getattr(robot, name)(*values.values(), *link)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-14, atol=1e-16)
    # the other one has arrays of its own
    before = other.result.copy()
    assert np.array_equal(other.q, [0.0])
    other.q[:] = 0.7
    other()
    np.testing.assert_allclose(result, expected, rtol=1e-14, atol=1e-16)
    assert np.array_equal(one.q, [0.3])
    if name not in ("friction_vector", "mass_matrix", "coriolis_vector"):
        assert not np.array_equal(other.result, before)


def test_bound_without_friction() -> None:
    robot = mbdyn_ros.load(PENDULUM)
    for friction in (True, False):
        bound = robot.bind("inverse_dynamics", friction=friction)
        bound.q[:], bound.v[:], bound.a[:] = 0.3, 2.0, -1.0
        bound()
        np.testing.assert_allclose(bound.effort, effort(0.3, 2.0 * friction, -1.0), rtol=1e-14)


def test_bound_outlives_its_robot() -> None:
    bound = mbdyn_ros.load(PENDULUM).bind("inverse_dynamics")
    gc.collect()
    bound.q[:], bound.v[:], bound.a[:] = 0.3, 2.0, -1.0
    bound()
    np.testing.assert_allclose(bound.effort, effort(0.3, 2.0, -1.0), rtol=1e-14)


def test_bound_energy() -> None:
    bound = mbdyn_ros.load(PENDULUM).bind("energy")
    bound.q[:], bound.v[:] = 0.3, 2.0
    bound()
    kinetic, potential = bound.energy
    np.testing.assert_allclose(kinetic, INERTIA * 2, rtol=1e-14)
    np.testing.assert_allclose(potential, -9.81 * np.sin(0.3), rtol=1e-14)
    assert bound.result is bound.energy


def test_a_bound_call_allocates_nothing() -> None:
    bound = mbdyn_ros.load(PENDULUM).bind("inverse_dynamics")
    rounds = [None] * 1000
    for _ in rounds:
        bound()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.take_snapshot()
        tracemalloc.reset_peak()
        start = tracemalloc.get_traced_memory()[0]
        for _ in rounds:
            bound()
        now, peak = tracemalloc.get_traced_memory()
        del before
    finally:
        tracemalloc.stop()
    assert now - start < 500 and peak - start < 1000  # the loop's own few bytes


def test_writing_a_nan_does_no_harm() -> None:
    """Nothing is checked: NaN in, NaN out, and the next call is right again."""
    bound = mbdyn_ros.load(PENDULUM).bind("inverse_dynamics")
    bound.q[:] = np.nan
    bound()
    assert np.isnan(bound.effort).all()
    bound.q[:] = 0.0
    bound()
    np.testing.assert_allclose(bound.effort, [-9.81])


def test_no_movable_joints() -> None:
    """Programs without numbers compile and run as others do."""
    robot = mbdyn_ros.load('<robot name="stone"><link name="stone"/></robot>')
    robot.compile()
    for name in ("inverse_dynamics", "forward_dynamics"):
        for _ in range(2):
            assert getattr(robot, name)([], [], []).shape == (0,)
            assert getattr(robot, name)(np.zeros((3, 0)), [], []).shape == (3, 0)
        bound = robot.bind(name)
        bound()
        assert bound.result.shape == (0,)
    assert robot.energy([], []) == (0.0, 0.0)
    assert robot.mass_matrix(np.zeros((2, 0))).shape == (2, 0, 0)
