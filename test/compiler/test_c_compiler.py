"""The C compiler: how it is called, how it fails, and its absence."""

from __future__ import annotations

import dataclasses
import shutil
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from pendulum import INERTIA, PENDULUM, check, forget

import mbdyn_ros
from mbdyn_ros import CompilerWarning, InputError
from mbdyn_ros.compiler import cache, gcc
from mbdyn_ros.compiler.options import Options
from mbdyn_ros.program.program import Program

pytestmark = pytest.mark.usefixtures("fresh_cache")


def test_cc_is_honoured(fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    case: str, fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    assert not fresh_cache.exists()
    with pytest.raises(InputError, match="position of hinge is nan"):
        robot.gravity_vector([np.nan])


@pytest.mark.parametrize("status", [1, 139])
def test_a_compiler_that_fails(
    status: int, fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken"
    broken.write_text(f'#!/bin/sh\necho "fatal: out of luck" >&2\nexit {status}\n')
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.warns(CompilerWarning, match="(?s)broken: fatal: out of luck") as caught:
        check(mbdyn_ros.load(PENDULUM))
        check(mbdyn_ros.load(PENDULUM))
    assert len(caught) == 1
    assert list(fresh_cache.iterdir()) == []


def test_a_compiler_that_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "false")
    with pytest.warns(CompilerWarning, match="false: exit status 1"):
        check(mbdyn_ros.load(PENDULUM))


def test_a_compiler_that_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Success reported, nothing written; and a written file that is not a library."""
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


def compiler(path: Path, script: str, **limits: float) -> gcc.Toolchain:
    """A compiler that is a shell script."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return gcc.Toolchain((str(path),), **limits)


def test_a_compiler_that_hangs(fresh_cache: Path, tmp_path: Path) -> None:
    """It is ended with all that it started, though that holds on to its output; then it is called
    no more."""
    note = tmp_path / "note"
    script = f'sleep 1000 & echo $! >> "{note}"\nwait'
    hanging = compiler(tmp_path / "hanging", script, patience=1.0)
    for _ in range(3):
        with pytest.raises(gcc.CompilationError, match="hanging: no answer in 1 s; it hangs, and"):
            cache.compile_library("int x;", cache.cache_folder() / "x.so", hanging)
    (child,) = note.read_text().split()
    # A signal is answered when the processor comes round to the process.
    end = time.monotonic() + 60
    while (state := Path("/proc", child, "stat")).exists() and state.read_text().split()[2] != "Z":
        assert time.monotonic() < end, "what the compiler started is left"
        time.sleep(0.01)
    assert list(fresh_cache.iterdir()) == []


def test_a_program_that_takes_too_long(fresh_cache: Path, tmp_path: Path) -> None:
    """The compiler is asked whether it hangs, and may compile the next one."""
    note = tmp_path / "note"
    script = f'echo "$*" >> "{note}"; case "$*" in *-dM*) exit;; esac; sleep 1000'
    slow = compiler(tmp_path / "slow", script, longest=0.1)
    assert slow.lanes == 2
    for _ in range(2):
        with pytest.raises(gcc.CompilationError, match=r"slow: not done after 0.1 s"):
            cache.compile_library("int x;", cache.cache_folder() / "x.so", slow)
    asked = ["-dM" in line for line in note.read_text().splitlines()]
    assert asked == [True, False, True, False, True]


def test_a_compiler_that_prints_no_text(tmp_path: Path) -> None:
    garbled = compiler(tmp_path / "garbled", r"printf 'bad \377 luck' >&2; exit 1")
    with pytest.raises(gcc.CompilationError, match="garbled: bad \ufffd luck"):
        cache.compile_library("int x;", tmp_path / "x.so", garbled)


@pytest.mark.parametrize("where", ["", ">&2"])
def test_a_compiler_that_prints_for_ever(where: str, tmp_path: Path) -> None:
    """Its output filled the memory for as long as it was waited for."""
    endless = compiler(tmp_path / "endless", f"yes endless {where}")
    with pytest.raises(gcc.CompilationError, match="endless: printed more than 1048576 bytes"):
        cache.compile_library("int x;", tmp_path / "x.so", endless)


def test_no_memory_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(cache, "compile_library", exhausted)
    with pytest.warns(CompilerWarning, match="compiled: there was not enough memory to compile"):
        check(mbdyn_ros.load(PENDULUM))


def test_a_compiler_that_leaves_a_folder_behind(fresh_cache: Path, tmp_path: Path) -> None:
    """With its temporary files, that one which is killed does not remove."""
    script = 'mkdir -p "$TMPDIR/mine/deep"; echo text > "$TMPDIR/mine/deep/file"; exec cc "$@"'
    untidy = compiler(tmp_path / "untidy", script)
    cache.compile_library("int x;", cache.cache_folder() / "x.so", untidy)
    assert [path.name for path in fresh_cache.iterdir()] == ["x.so"]


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
    with pytest.warns(CompilerWarning, match="No space left on device") as said:
        check(mbdyn_ros.load(PENDULUM))
    assert not any("Install" in str(one.message) for one in said)  # a compiler is there


def test_interpreting_on_request(monkeypatch: pytest.MonkeyPatch, compilations: list[Path]) -> None:
    """By the environment or by options; a robot like an earlier one is not traced."""
    monkeypatch.setenv("MBDYN_INTERPRET", "1")
    with warnings.catch_warnings(action="error"):
        check(mbdyn_ros.load(PENDULUM))
    monkeypatch.setattr(Program, "function", property(lambda self: pytest.fail("traced again")))
    monkeypatch.setenv("MBDYN_INTERPRET", "0")
    robot = mbdyn_ros.load(PENDULUM)
    robot.calls.options = Options(interpret=True)
    check(robot)
    assert not compilations


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_a_library_is_known_by_its_sources_alone(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by what Python translates next to them, at the first import and whenever it likes."""
    sources = tmp_path / "runtime"
    shutil.copytree(gcc.RUNTIME, sources, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(gcc, "RUNTIME", sources)
    chain = gcc.Toolchain(("cc",), language=language)
    before = chain.digest
    (sources / "__pycache__").mkdir()
    (sources / "__pycache__" / "library.cpython-311.pyc").write_bytes(b"translated")
    assert dataclasses.replace(chain).digest == before
    for file in (one for one in sources.rglob("*") if one.suffix in (".c", ".h", ".cpp", ".hpp")):
        text = file.read_bytes()
        file.write_bytes(text + b"/* changed */")
        changes = language == "cpp" or file.suffix in (".c", ".h")
        assert (dataclasses.replace(chain).digest != before) == changes, file
        file.write_bytes(text)
