"""The CMake package of a robot: built, tested, installed, found by another project; bad input."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_tools import HEAVY, TWIG, WORLD
from click.testing import CliRunner
from cpp_tools import STRICT, URDF, command, library_of, needs_cxx

import mbdyn_ros
from mbdyn_ros.__main__ import main

pytestmark = pytest.mark.usefixtures("interpreted")

PROJECT = """cmake_minimum_required(VERSION 3.14)
project(consumer CXX)
find_package(twig 1.0 REQUIRED)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE twig::twig ${CMAKE_DL_LIBS})
"""

CONSUMER = """#include <cstdio>
#include <mbdyn_ros/library.hpp>
#include <twig.hpp>
int main(int, char **arguments) {
  using namespace robots;
  twig::Robot robot;
  twig::Robot::Efforts effort{};
  const twig::Robot::Positions q{0.5};
  if (robot.gravity_compensation(q, effort) != mbdyn_ros::Status::ok) return 1;
  const auto library = mbdyn_ros::Library::open(arguments[1]);
  if (!library.table()) return 2;
  mbdyn_ros::Model model(*library.table());
  double same = 0.0;
  if (model.gravity_effort(q.data(), nullptr, &same) != mbdyn_ros::Status::ok) return 3;
  std::printf("%.17g %.17g %s", effort[0], same, library.table()->robot);
}
"""


def twig() -> mbdyn_ros.Robot:
    """A pendulum that rubs."""
    return mbdyn_ros.load(TWIG.format(name="twig", more=""))


@pytest.mark.long
@needs_cxx
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
def test_another_project_finds_the_package(tmp_path: Path) -> None:
    robot, package, prefix = twig(), tmp_path / "package", tmp_path / "installed"
    robot.generate_cpp(package)
    build = tmp_path / "build"
    known = [f"-DCMAKE_{language}_COMPILER_WORKS=1" for language in ("C", "CXX")]
    warnings = f"-DCMAKE_CXX_FLAGS={' '.join(STRICT[1:])}"
    command("cmake", "-S", package, "-B", build, warnings, f"-DCMAKE_INSTALL_PREFIX={prefix}",
            "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_BUILD_TYPE=Debug", *known)  # fmt: skip
    command("cmake", "--build", build)
    assert b"100% tests passed" in command("ctest", "--test-dir", build)
    assert b"100 cycles: worst computation" in command(build / "example_loop", "100")
    command("cmake", "--install", build)

    project = tmp_path / "project"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(PROJECT)
    (project / "main.cpp").write_text(CONSUMER)
    command("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
            "-DCMAKE_BUILD_TYPE=Debug", *known)  # fmt: skip
    command("cmake", "--build", project / "build")
    linked, opened, name = command(
        project / "build" / "consumer", prefix / "lib" / "twig_model.so"
    ).split()
    effort = robot.inverse_dynamics([0.5], [0.0], [0.0])[0]
    assert float(linked) == float(opened) == pytest.approx(effort, rel=1e-14)
    assert name == b"twig"


@pytest.mark.sparse
@needs_cxx
@pytest.mark.parametrize("name", ["new", "std", "3-DoF", "öl", "mbdyn_ros"])
def test_names_that_are_none_in_cpp(name: str, tmp_path: Path) -> None:
    robot = mbdyn_ros.load(TWIG.format(name=name, more=""))
    written = robot.generate_cpp(tmp_path)
    prefix = written.files[0].stem
    assert prefix.startswith("robot_")
    command(shutil.which("g++") or shutil.which("clang++"), *STRICT, "-fsyntax-only", "-I",
            tmp_path, tmp_path / "example_loop.cpp")  # fmt: skip
    assert f'name = "{name}"' in (tmp_path / f"{prefix}.hpp").read_text() or not name.isascii()


@pytest.mark.long
@needs_cxx
def test_packages_of_robots_that_lack_answers(tmp_path: Path) -> None:
    """A floating base, a link without mass, a joint without a drive."""
    hull = TWIG.format(name="flying", more="").replace(WORLD, HEAVY)
    flying = mbdyn_ros.load(hull, floating_base=True)
    second = '<joint name="lean" type="continuous"><axis xyz="0 1 0"/><parent link="rod"/>' \
        '<child link="tip"/></joint><link name="tip"/>'  # fmt: skip
    with pytest.warns(mbdyn_ros.ModelWarning):
        light = mbdyn_ros.load(TWIG.format(name="light", more=second))
    heavy = second.replace('name="tip"/>', """name="tip"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>""")
    free = mbdyn_ros.load(TWIG.format(name="free", more=heavy), mechanism="{actuated: [lean]}")
    for robot in (flying, light, free):
        folder = tmp_path / robot.model.name
        written = robot.generate_cpp(folder)
        library_of(written)
        command(shutil.which("g++") or shutil.which("clang++"), *STRICT, "-fsyntax-only", "-I",
                folder, folder / "example_loop.cpp")  # fmt: skip
    assert "is_driven = true, is_solid = false" in (tmp_path / "light" / "light.hpp").read_text()
    assert "is_driven = false, is_solid = true" in (tmp_path / "free" / "free.hpp").read_text()


def test_bad_input_is_refused(tmp_path: Path) -> None:
    robot = twig()
    (tmp_path / "file").touch()
    for directory, message in [
        (tmp_path / "file", "is a file; name a folder"), ("", "must be a path"),
        ("/proc/nowhere", "cannot be written"),
    ]:  # fmt: skip
        with pytest.raises(mbdyn_ros.InputError, match=message):
            robot.generate_cpp(directory)
    with pytest.raises(mbdyn_ros.InputError, match="no link 'nix'"):
        robot.generate_cpp(tmp_path, ["nix"])
    with pytest.raises(mbdyn_ros.InputError, match="no link 'nix'"):
        robot.generate_cpp(tmp_path, parameters=["nix"])
    with pytest.raises(mbdyn_ros.InputError, match="fixed to the world"):
        robot.generate_cpp(tmp_path, parameters=["world"])
    robot.generate_cpp(tmp_path)
    robot.generate_cpp(tmp_path)  # ours may be overwritten
    law = tmp_path / "mbdyn_ros" / "computed_torque.hpp"
    law.write_text("// mine\n")
    with pytest.raises(mbdyn_ros.InputError, match="computed_torque.hpp is there already and was"):
        robot.generate_cpp(tmp_path)
    assert law.read_text() == "// mine\n"
    still = mbdyn_ros.load('<robot name="r"><link name="a"/></robot>')
    with pytest.raises(mbdyn_ros.InputError, match="nothing moves"):
        still.generate_cpp(tmp_path / "still")


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*arguments: object) -> Any:
        return CliRunner().invoke(main, ["codegen", *map(str, arguments)])

    monkeypatch.setenv("PATH", "")  # no compiler is needed to write
    done = run(URDF / "four_bar.urdf", "--cpp", "-o", tmp_path / "c", "--variable", "coupler",
               "--json")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert '"four_bar_gravity_effort"' in done.output and "four_bar.hpp" in done.output
    assert '"coupler/m"' in (tmp_path / "c" / "four_bar.hpp").read_text()
    four_bar = URDF / "four_bar.urdf"
    for arguments, message in [
        (["--cpp"], "name a folder"), (["--cpp", "--closed-form"], "do not go with --closed-form"),
        (["--cpp", "-o", tmp_path / "d", "--precision", "single"], "--precision goes with C code"),
        (["--cpp", "-o", tmp_path / "d", "--digits", 3], "go with --closed-form"),
    ]:  # fmt: skip
        done = run(four_bar, *arguments)
        assert (done.exit_code, message in done.output) == (2, True), done.output
    assert not (tmp_path / "d").exists()


@needs_cxx
def test_the_page_compiles(tmp_path: Path) -> None:
    """Every block of C++ in docs/cpp.md, as it stands there."""
    mbdyn_ros.example("ur5").generate_cpp(tmp_path, links=[])
    page = (URDF.parent / "docs" / "cpp.md").read_text()
    blocks = re.findall(r"^```cpp\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    for number, block in enumerate(blocks):
        source = tmp_path / f"block_{number}.cpp"
        if "int main()" not in block:
            includes = re.findall(r"^#include .*$", block, re.MULTILINE)
            rest = re.sub(r"^#include .*$", "", block, flags=re.MULTILINE)
            block = "\n".join(includes) + "\nint main() {\n" + rest + "}\n"
        source.write_text(block)
        command(shutil.which("g++") or shutil.which("clang++"), "-std=c++17", "-Wall", "-Wextra",
                "-Werror", "-Wno-unused-variable", "-fsyntax-only", "-I", tmp_path,
                source)  # fmt: skip


def test_description_hashes_are_of_the_text(tmp_path: Path) -> None:
    from mbdyn_ros.export.cpp_export import description_hash

    text = TWIG.format(name="twig", more="")
    file = tmp_path / "twig.urdf"
    file.write_text(f'<?xml version="1.0"?>\n{text}\n')
    mbdyn_ros.load(file).generate_cpp(tmp_path / "file")
    mbdyn_ros.load(text).generate_cpp(tmp_path / "text", description=text)
    mbdyn_ros.load(text).generate_cpp(tmp_path / "none")
    mbdyn_ros.load(text.replace("0.3 0 0", "0.4 0 0")).generate_cpp(tmp_path / "other")
    said = {
        name: [
            line.strip(' ;"')
            for line in (tmp_path / name / "twig.hpp").read_text().splitlines()
            if line.startswith('    "') and len(line) in (7, 71)
        ]
        for name in ("file", "text", "none", "other")
    }
    assert said["file"] == said["text"] and said["file"][0] == description_hash(text)
    assert said["none"] == ["", said["file"][1]]
    assert said["other"][1] != said["file"][1]
    assert len(np.unique(said["file"])) == 2
