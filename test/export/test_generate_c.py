"""Exported C: it compiles without a warning, alone, and computes what the robot computes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_tools import GCC, HEAVY, STRICT, TWIG, URDF, WORLD, built, command, needs_gcc
from click.testing import CliRunner
from corpus import urdf_file
from random_loops import draw, walked
from robot_text import hinge_text

import mbdyn_ros
from mbdyn_ros.__main__ import main

pytestmark = pytest.mark.usefixtures("interpreted")
Array = np.ndarray


def robot_of(name: str) -> mbdyn_ros.Robot:
    """A robot of ours, of the corpus, or a random mechanism, its loops walked."""
    if name == "ur5":
        return mbdyn_ros.load(urdf_file("ur5_robot.urdf"))
    if name == "flying":
        text = TWIG.format(name="flying", more="").replace(WORLD, HEAVY)
        return mbdyn_ros.load(text, floating_base=True)
    if name.startswith("walked "):
        robot = walked(draw(name.removeprefix("walked "), 1).load())
        assert robot.system.nz
        return robot
    return mbdyn_ros.load(next(URDF.glob(f"{name}.*")))


def states(robot: mbdyn_ros.Robot, count: int = 4) -> list[tuple[Array, Array, Array]]:
    """States near home, where all loops close."""
    random = np.random.default_rng(7)
    found = []
    for _ in range(count):
        q = np.array([robot.home.get(one, 0.0) for one in robot.position_labels])
        q = q + random.uniform(-0.02, 0.02, robot.nq)
        for start in robot.system.coordinates.quaternions:
            turn = random.normal(size=4)
            q[start : start + 4] = turn / np.linalg.norm(turn)
        found.append((q, *random.normal(size=(2, robot.nv))))
    return found


def assert_near(ours: Array, theirs: Array) -> None:
    scale = np.abs(theirs).max(initial=1e-6)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11 * scale)


@pytest.mark.sparse
@needs_gcc
@pytest.mark.parametrize(
    "name",
    ["ur5", "boom", "tree_robot", "flying", "walked mimic", "walked spatial planar"],
)
def test_what_is_compiled_computes_what_the_robot_computes(name: str, tmp_path: Path) -> None:
    robot = robot_of(name)
    written = robot.generate_c(tmp_path)
    assert all(path.is_file() for path in written.files) and not written.omitted
    prefix = written.files[0].stem
    module = built(tmp_path, prefix)
    assert module.POSITIONS == robot.position_labels and module.EFFORTS == robot.effort_labels
    exported = module.load()
    for q, v, a in states(robot):
        effort = robot.inverse_dynamics(q, v, a)
        assert_near(exported.inverse_dynamics(q, v, a), effort)
        assert_near(exported.forward_dynamics(q, v, effort), robot.forward_dynamics(q, v, effort))
        assert_near(exported.mass_matrix(q), robot.mass_matrix(q))
        assert_near(exported.gravity_vector(q), robot.gravity_vector(q))
        for one in (one for one in module.PROGRAMS if one.startswith("jacobian_")):
            link = next(link.name for link in robot.model.links if one == f"jacobian_{link.name}")
            assert_near(getattr(exported, one)(q), robot.jacobian(q, link))
    text = written.files[1].read_text()
    kept = re.findall(r"static (?!const )[^(]*[=;]|alloc|extern", text)
    assert not kept, "the library keeps something between calls"
    test = tmp_path / "run"
    command(GCC, *STRICT, tmp_path / f"test_{prefix}.c", tmp_path / f"{prefix}.c",
            "-O0", "-o", test, "-lm")  # fmt: skip
    assert command(test).count("ok ") == len(written.functions)


@needs_gcc
def test_the_test_program_finds_a_wrong_number(tmp_path: Path) -> None:
    mbdyn_ros.load(TWIG.format(name="twig", more="")).generate_c(tmp_path)
    source = tmp_path / "twig.c"
    text = source.read_text()
    assert "* 0.3" in text or "0.3 *" in text
    source.write_text(re.sub(r"\b0\.3\b", "0.3001", text))
    command(GCC, tmp_path / "test_twig.c", source, "-o", tmp_path / "run", "-lm")
    done = subprocess.run([tmp_path / "run"], capture_output=True, text=True)
    assert done.returncode == 1 and "WRONG twig_inverse_dynamics" in done.stdout
    assert "ok    twig_mass_matrix" in done.stdout


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, ...]]:
    """Header and code of two robots with closed loops, one of which is searched."""
    folder = tmp_path_factory.mktemp("strange")
    names = ("boom", "walked mimic")
    return [tuple(robot_of(name).generate_c(folder / name).files[:2]) for name in names]


@pytest.mark.parametrize(
    ("compiler", "more"),
    [
        ("clang", []),
        ("arm-none-eabi-gcc", ["-mcpu=cortex-m4", "-mthumb", "-ffreestanding"]),
        ("g++", ["-x", "c++", "-std=c++11"]),
    ],
)  # fmt: skip
def test_other_compilers_have_nothing_to_say(
    compiler: str, more: list[str], tmp_path: Path, strange: list[tuple[Path, ...]]
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    strict = STRICT if compiler != "g++" else ["-Wall", "-Wextra", "-pedantic", "-Werror"]
    for header, code in strange:
        source = header if compiler == "g++" else code
        command(compiler, *strict, *more, "-O0", "-c", source, "-o", tmp_path / "object.o")


@needs_gcc
def test_threads_do_not_disturb_each_other(tmp_path: Path) -> None:
    robot = robot_of("walked mimic")
    written = robot.generate_c(tmp_path, links=[])
    module = built(tmp_path, written.files[0].stem)
    points = states(robot, 40)
    expected = [module.load().gravity_vector(q) for q, _, _ in points]
    wrong: list[int] = []

    def work(start: int) -> None:
        mine = module.load()
        for k in [*range(start, 40), *range(start)] * 20:
            if not np.allclose(mine.gravity_vector(points[k][0]), expected[k], rtol=1e-9):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(10 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@needs_gcc
@pytest.mark.parametrize("name", ["boom", "walked mimic"])
def test_out_of_reach_is_said(name: str, tmp_path: Path) -> None:
    written = robot_of(name).generate_c(tmp_path, links=[])
    module = built(tmp_path, written.files[0].stem)
    exported = module.load()
    with pytest.raises(ValueError, match="mass_matrix has no finite answer"):
        exported.mass_matrix([np.nan])
    q = states(robot_of(name), 1)[0][0]
    assert np.isfinite(exported.mass_matrix(q)).all()  # and it recovers
    with pytest.raises(ValueError, match=r"q has shape \(2,\), not \(1,\)"):
        exported.mass_matrix([0.0, 1.0])
    with pytest.raises(TypeError, match="mass_matrix takes q"):
        exported.mass_matrix()


@needs_gcc
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
def test_cmake_builds_tests_and_loads(tmp_path: Path) -> None:
    mbdyn_ros.load(TWIG.format(name="twig", more="")).generate_c(tmp_path / "twig")
    build = tmp_path / "twig" / "build"
    command("cmake", "-S", tmp_path / "twig", "-B", build, "-DBUILD_SHARED_LIBS=ON")
    command("cmake", "--build", build)
    assert "100% tests passed" in command("ctest", "--test-dir", build)
    script = "from twig import load; print(load().gravity_vector([0.0])[0])"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path / "twig", capture_output=True, text=True
    )
    assert float(done.stdout) == pytest.approx(-0.3 * 9.81, rel=1e-15)


def test_header_says_units_and_order(tmp_path: Path) -> None:
    robot = mbdyn_ros.load(URDF / "manipulator.urdf")
    header = robot.generate_c(tmp_path, links=["tool"]).files[0].read_text()
    assert re.search(r"q:\n \*   \[0\] slew_joint +rad\n \*   \[1\] lift_rod_joint +m\n", header)
    efforts = r"effort:\n \*   \[0\] slew_joint +N m\n \*   \[1\] lift_rod_joint +N\n"
    assert re.search(efforts, header)
    assert "gravity 0 0 -9.81 m/s^2" in header and "#define CRANE_NQ 4" in header
    assert "int crane_jacobian_tool(const double q[4], double jacobian[24]);" in header
    assert header.count("jacobian_") == 1


def test_names_fit_c(tmp_path: Path) -> None:
    for name, prefix in {
        "3-DoF arm": "robot_3_DoF_arm", "float": "robot_float", "math": "robot_math", "a.b": "a_b",
        "*/": "robot___", "öl": "robot__l",
    }.items():  # fmt: skip
        robot = mbdyn_ros.load(TWIG.format(name=name, more=""))
        files = robot.generate_c(tmp_path / prefix).files
        assert files[0].name == f"{prefix}.h"
        if GCC:
            command(GCC, *STRICT, "-fsyntax-only", files[1], files[2])
    tip = '<link name="{0}"/><joint name="{0}" type="fixed"><parent link="rod"/><child link="{0}"/>'
    more = "".join(f"{tip}</joint>".format(name) for name in ("tip 1", "tip-1"))
    clash = mbdyn_ros.load(TWIG.format(name="twig", more=more))
    with pytest.raises(mbdyn_ros.InputError, match="'tip 1' and 'tip-1' would have one name in C"):
        clash.generate_c(tmp_path / "clash")
    assert len(clash.generate_c(tmp_path / "clash", links=["tip-1", "tip-1"]).functions) == 5


def test_what_has_no_answer_is_left_out_and_said(tmp_path: Path) -> None:
    with pytest.warns(mbdyn_ros.ModelWarning):
        robot = mbdyn_ros.load(hinge_text(mass=0))
    written = robot.generate_c(tmp_path)
    assert written.omitted == ("forward_dynamics: no mass resists the motion of rod",)
    assert "There is no forward_dynamics: no mass" in written.files[0].read_text()
    second = '<joint name="lean" type="continuous"><axis xyz="0 1 0"/><parent link="rod"/>' \
        '<child link="tip"/></joint><link name="tip"><inertial><mass value="1"/><inertia ixx="1" ' \
        'iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'  # fmt: skip
    pair = TWIG.format(name="pair", more=second)
    written = mbdyn_ros.load(pair, mechanism="{actuated: [lean]}").generate_c(tmp_path)
    assert written.omitted == ("inverse_dynamics: the actuated joints do not determine the motion",)
    assert written.functions[-2:] == ("pair_forward_dynamics", "pair_jacobian_tip")


def test_bad_input_is_refused(tmp_path: Path) -> None:
    robot = mbdyn_ros.load(TWIG.format(name="twig", more=""))
    file = tmp_path / "file"
    file.touch()
    for directory, message in [
        (file, "is a file; name a folder"), (file / "in", "cannot be"), ("", "must be a path"),
        (3, "must be a path"), ("/proc/nowhere", "cannot be written"),
    ]:  # fmt: skip
        with pytest.raises(mbdyn_ros.InputError, match=message):
            robot.generate_c(directory)  # type: ignore[arg-type]
    for links, message in (
        (["nix"], "no link 'nix'"), ("rod", "must be a list"), ([1], r"names; it is \[1\]"),
    ):  # fmt: skip
        with pytest.raises(mbdyn_ros.InputError, match=message):
            robot.generate_c(tmp_path, links)  # type: ignore[arg-type]
    robot.generate_c(tmp_path)
    robot.generate_c(tmp_path)  # ours may be overwritten
    (tmp_path / "CMakeLists.txt").write_text("project(mine)\n")
    before = (tmp_path / "twig.c").stat().st_mtime_ns
    with pytest.raises(mbdyn_ros.InputError, match="CMakeLists.txt is there already and was not"):
        robot.generate_c(tmp_path)
    assert (tmp_path / "twig.c").stat().st_mtime_ns == before
    still = mbdyn_ros.load('<robot name="r"><link name="a"/></robot>')
    with pytest.raises(mbdyn_ros.InputError, match="nothing moves"):
        still.generate_c(tmp_path)


def run(*arguments: object) -> Any:
    """The command `mbdyn codegen`."""
    return CliRunner().invoke(main, ["codegen", *map(str, arguments)])


def test_long_closed_forms_are_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    piezo = URDF / "piezo_robot.yaml"
    terms = mbdyn_ros.load(piezo).closed_form().terms
    for most in (terms, terms - 1):
        monkeypatch.setattr("mbdyn_ros.cli.codegen.READABLE_TERMS", most)
        found = run(piezo, "--closed-form", "--digits", 3)
        said = f"Warning: the closed form has {terms:,} terms" in found.output
        assert (found.exit_code, said) == (0, most < terms)


def test_command_line(tmp_path: Path) -> None:
    boom, piezo = URDF / "boom.urdf", URDF / "piezo_robot.yaml"
    done = run(boom, "-o", tmp_path / "c", "--link", "load", "--json")
    assert done.exit_code == 0 and '"boom_jacobian_load"' in done.output
    assert f"wrote {tmp_path / 'c' / 'boom.c'}" in run(boom, "-o", tmp_path / "c").output
    text = run(piezo, "--closed-form", "--digits", 3)
    assert text.exit_code == 0 and "\nC111 = 0\n" in text.output
    for end, start in (("txt", "# piezo"), ("md", "# piezo"), ("tex", "\\doc")):
        file = tmp_path / f"piezo.{end}"
        assert "153 elements, 30 of them zero" in run(piezo, "--closed-form", "-o", file).output
        assert file.read_text().startswith(start)
    listed = run(piezo, "--closed-form", "--json").output
    assert '"zeros": 30' in listed and '"C111": "0"' in listed
    for arguments, status, message in [
        ([boom], 2, "name a folder"), ([boom, "-o", boom], 1, "is a file"),
        ([boom, "-o", tmp_path / "d", "--link", "nix"], 1, "no link 'nix'"),
        ([boom, "-o", tmp_path / "d", "--digits", 3], 2, "go with --closed-form"),
        ([boom, "--closed-form"], 1, "form a closed loop"),
        ([piezo, "--closed-form", "--link", "x"], 2, "--link goes with C code"),
        ([piezo, "--closed-form", "-o", tmp_path / "x.pdf"], 1, "must end in"),
        ([piezo, "--closed-form", "-o", tmp_path / "x.md", "--format", "latex"], 2, "does not fit"),
    ]:  # fmt: skip
        done = run(*arguments)
        assert (done.exit_code, message in done.output) == (status, True), done.output


@needs_gcc
def test_lengths_that_change_between_calls(tmp_path: Path) -> None:
    """Loops without closed form are closed with the lengths of every call, at the same q too."""
    lengths = ["right_pin/predecessor/z", "right_pin/successor/x"]
    robot = mbdyn_ros.example("gripper", variable=lengths)
    robot.generate_c(tmp_path, parameters=lengths)
    exported = built(tmp_path, "gripper").load()
    q, values = np.array([0.1]), robot.parameter_values()
    for factors in ([1.0, 1.0], [1.05, 0.97], [1.2, 1.1], [1.0, 1.0]):
        robot.set_parameter_values(values * factors)
        for at in (q, q, -q):
            found = exported.mass_matrix(at, values * factors)
            np.testing.assert_allclose(found, robot.mass_matrix(at), rtol=1e-11)
    with pytest.raises(ValueError, match="mass_matrix has no finite answer there"):
        exported.mass_matrix(q, 3.0 * values)  # too long to close
    np.testing.assert_allclose(exported.mass_matrix(q, values), robot.mass_matrix(q), rtol=1e-11)
