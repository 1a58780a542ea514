"""The package of ros2_control plugins is of one piece, and what needs no ROS in it works."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from scipy.linalg import expm

from mbdyn_ros.export.headers import INCLUDE

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "mbdyn_ros_controllers"
SOURCES = PACKAGE / "src"
HEADERS = PACKAGE / "include" / PACKAGE.name
CMAKE = (PACKAGE / "CMakeLists.txt").read_text()
PLUGINS = ("mbdyn_ros_controllers.xml", "simulated_system.xml")
VERSION = ElementTree.parse(PACKAGE / "package.xml").findtext("version")
COMPILER = shutil.which("g++") or shutil.which("c++")
CRANE = ROOT / "urdf" / "manipulator.urdf"


def of_code(pattern):
    """Return all that a pattern finds in the sources."""
    return set(re.findall(pattern, all_code()))


def all_code():
    """Return the sources and headers, one after the other."""
    files = [*sorted(HEADERS.glob("*.hpp")), *sorted(SOURCES.glob("*.cpp"))]
    return "".join(path.read_text() for path in files)


def test_all_that_is_linked_is_declared():
    listed = re.search(r"set\(dependencies\n(.*?)\n\)", CMAKE, re.DOTALL)[1].split()
    declared = [one.text for one in ElementTree.parse(PACKAGE / "package.xml").iter("depend")]
    assert sorted(declared) == declared
    assert sorted([*listed, "mbdyn_ros"]) == declared
    included = of_code(r'#include "([a-z_]+)/[a-z_/]+\.hpp"')
    own = {"mbdyn_ros", PACKAGE.name}
    assert included - own <= set(listed)


def test_all_sources_are_compiled():
    assert set(re.findall(r"src/(\w+\.cpp)", CMAKE)) == {
        path.name for path in SOURCES.glob("*.cpp")
    }


def test_files_have_the_form_of_ros():
    """A notice of copyright, guards by package and file, lines of at most 100 characters."""
    for path in [*PACKAGE.rglob("*.hpp"), *PACKAGE.rglob("*.cpp")]:
        text = path.read_text()
        assert text.startswith("// Copyright 2026 mbdyn_ros developers\n"), path
        assert max(map(len, text.splitlines())) <= 100, path
        if path.suffix == ".hpp":
            guard = f"{PACKAGE.name}__{path.stem}_HPP_".upper()
            assert f"#ifndef {guard}\n#define {guard}\n" in text
            assert text.endswith(f"#endif  // {guard}\n")
    for package in (ROOT, PACKAGE, ROOT / "mbdyn_ros_interfaces"):
        name = ElementTree.parse(package / "package.xml").findtext("name")
        log = (package / "CHANGELOG.rst").read_text().splitlines()
        assert log[1] == f"Changelog for package {name}" and log[4] == "Forthcoming"


def test_versions_are_that_of_the_manifest():
    assert set(re.findall(r'MBDYN_ROS_VERSION="([^"]*)"', CMAKE)) == {VERSION}


def test_plugins_that_are_described_are_exported():
    described = {
        (one.get("type"), one.get("base_class_type"))
        for file in PLUGINS
        for one in ElementTree.parse(PACKAGE / file).iter("class")
    }
    found = of_code(r"PLUGINLIB_EXPORT_CLASS\(([\w:]+),\s*([\w:]+)\)")
    assert described == found
    assert len(described) == 4
    for kind, file in zip(("controller", "hardware"), PLUGINS, strict=True):
        assert f"pluginlib_export_plugin_description_file({kind}_interface {file})" in CMAKE


@pytest.mark.parametrize("path", sorted(SOURCES.glob("*.yaml")), ids=lambda path: path.stem)
def test_parameters_are_used(path):
    [(space, parameters)] = yaml.safe_load(path.read_text()).items()
    assert space == path.stem
    code = all_code()
    for name, one in parameters.items():
        assert one["description"], name
        assert re.search(rf"params_?\.{name}\b|Params::{name}\b", code), name
    assert f"{space}_parameters src/{path.name}" in CMAKE


def test_parameters_that_are_read_once_cannot_be_set_later():
    """Broadcasters read all of their own when they are configured."""
    assert (HEADERS / "broadcaster.hpp").read_text().count("->get_params()") == 1
    for name in ("loop_state_broadcaster", "external_effort_broadcaster"):
        [parameters] = yaml.safe_load((SOURCES / f"{name}.yaml").read_text()).values()
        assert [key for key, one in parameters.items() if not one.get("read_only")] == []


def test_example_has_parameters_that_exist():
    example = yaml.safe_load((PACKAGE / "config" / "dynamics_controller.yaml").read_text())
    known = yaml.safe_load((SOURCES / "dynamics_controller.yaml").read_text())
    given = example["dynamics_controller"]["ros__parameters"]
    assert set(given) <= set(known["dynamics_controller"])
    types = {
        one.get("name")
        for one in ElementTree.parse(PACKAGE / "mbdyn_ros_controllers.xml").iter("class")
    }
    manager = example["controller_manager"]["ros__parameters"]
    asked = {one["type"] for one in manager.values() if isinstance(one, dict)}
    assert {one for one in asked if one.startswith(PACKAGE.name)} <= types


needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")


@pytest.fixture(scope="module")
def builder(tmp_path_factory):
    """Return a function that runs build_robot_library with a cache of its own."""
    folder = tmp_path_factory.mktemp("controllers")
    program = folder / "build_robot_library"
    compile_cpp(["build_robot_library.cpp", "robot_library.cpp"], program, "-ldl")
    mbdyn = folder / "bin" / "mbdyn"  # the command line of this tree
    mbdyn.parent.mkdir()
    mbdyn.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mbdyn_ros "$@"\n')
    mbdyn.chmod(0o755)
    path = f"{mbdyn.parent}{os.pathsep}{os.environ['PATH']}"
    surroundings = {**os.environ, "PATH": path, "XDG_CACHE_HOME": str(folder / "cache")}
    surroundings["PYTHONPATH"] = str(ROOT)

    def run(*arguments, before=None, path=path):
        return subprocess.run(
            [program, *arguments], env={**surroundings, "PATH": path}, preexec_fn=before,
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    return run


@needs_compiler
def test_a_library_is_built_once_and_found_again(builder):
    first, second = builder(CRANE), builder(CRANE)
    assert first.returncode == 0, first.stderr
    assert second.stdout == first.stdout
    library = Path(first.stdout.strip())
    assert library.is_file()
    assert [path.name for path in library.parent.iterdir()] == [library.name]  # nothing is left


@needs_compiler
def test_joints_that_do_not_determine_the_robot_are_refused(builder):
    answer = builder(CRANE, "--joint", "slew_joint", "--joint", "boom_joint")
    assert answer.returncode == 1
    assert "with the parameter joints [slew_joint, boom_joint] mbdyn failed" in answer.stderr
    assert "loop 'tilt_pin' has mobility 1, but none of its joints (" in answer.stderr


@needs_compiler
def test_other_links_and_files_are_refused(builder, tmp_path):
    answer = builder(CRANE, "--variable", "toool")
    assert answer.returncode == 1
    assert "there is no link 'toool'" in answer.stderr
    missing = builder(tmp_path / "none.urdf")
    assert missing.returncode == 1
    assert "cannot be read" in missing.stderr
    assert builder("--help").returncode == 2


@needs_compiler
def test_what_builds_has_no_priority_of_real_time(builder, tmp_path):
    def real_time():
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))

    try:
        subprocess.run(["true"], preexec_fn=real_time, check=True)
    except subprocess.SubprocessError:
        pytest.skip("this user may not run at a priority of real time")
    said = "import os; print('policy', os.sched_getscheduler(0) - os.SCHED_OTHER); exit(1)"
    mbdyn = tmp_path / "mbdyn"
    mbdyn.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{said}"\n')
    mbdyn.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    assert "policy 0" in builder(CRANE, "--variable", "none", before=real_time, path=path).stderr


@pytest.fixture(scope="module")
def growth(tmp_path_factory):
    """Return a function that calls growth_of_loop."""
    folder = tmp_path_factory.mktemp("sampled")
    main = folder / "main.cpp"
    main.write_text(GROWTH)
    compile_cpp([main, "sampled_loop.cpp"], folder / "growth")

    def run(flow, feedback, period):
        inputs, states = feedback.shape
        numbers = [*flow.ravel(), *feedback.ravel(), period]
        text = " ".join(repr(float(x)) for x in numbers)
        answer = subprocess.run(
            [folder / "growth"], input=f"{states} {inputs} {text}", capture_output=True, text=True
        )
        return float(answer.stdout)

    return run


@needs_compiler
def test_growth_is_the_largest_eigenvalue(growth):
    """By SciPy's exponential and NumPy's eigenvalues, for masses with springs and dampers."""
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(20):
        n, period = int(rng.integers(1, 5)), 1e-3
        root = rng.normal(size=(n, n))
        by_mass = np.linalg.inv(root @ root.T + np.eye(n))
        flow = np.block([[np.zeros((n, n)), np.eye(n), np.zeros((n, n))],
                         [-10 * by_mass, -by_mass, by_mass]])  # fmt: skip
        feedback = -np.hstack([np.diag(rng.uniform(0, 5e4, n)), np.diag(rng.uniform(0, 2e3, n))])
        whole = np.zeros((3 * n, 3 * n))
        whole[: 2 * n] = flow
        loop = expm(whole * period)
        loop[2 * n :] = np.hstack([feedback, np.zeros((n, n))])
        expected = np.log(np.abs(np.linalg.eigvals(loop)).max()) / period
        assert growth(flow, feedback, period) == pytest.approx(expected, rel=1e-4, abs=0.05)
        seen.add(expected > 0)
    assert seen == {True, False}


@needs_compiler
def test_a_reference_moves_on_between_its_messages(tmp_path):
    """By its velocities and accelerations, for 0.1 s; then it stands. Efforts stay."""
    main = tmp_path / "main.cpp"
    main.write_text(CARRIED)
    compile_cpp([main], tmp_path / "carried")

    def estimate(values, age):
        text = " ".join(map(str, [*values, age]))
        answer = subprocess.run([tmp_path / "carried"], input=text, capture_output=True, text=True)
        return [float(one) for one in answer.stdout.split()]

    whole = [1.0, 2.0, 0.5, -0.5, 3.0, 4.0, 7.0]
    for age in (0.0, 0.02, -0.03):
        q, v, a = (np.array(whole[k : k + 2]) for k in (0, 2, 4))
        expected = [*(q + age * v + age**2 * a / 2), *(v + age * a), *a, 7.0]
        assert estimate(whole, age) == pytest.approx(expected, rel=1e-12)
    stopped = [1.0 + 0.05 + 0.015, 2.0 - 0.05 + 0.02, 0, 0, 0, 0, 7.0]
    assert estimate(whole, 5.0) == pytest.approx(stopped, rel=1e-12)
    nan = np.nan
    bare = estimate([1.0, 2.0, 0.5, nan, nan, nan, nan], 0.02)
    assert bare == pytest.approx([1.01, 2.0, 0.5, nan, nan, nan, nan], nan_ok=True)


@needs_compiler
def test_the_age_of_a_state_is_that_of_its_message(tmp_path):
    """Of a later one, of one that is not kept any more, and of another clock: that of before.

    Where the hardware has a message first: that of the last such one, once that message came. Each
    with whether it is stale, and by how much another clock is behind.
    """
    main = tmp_path / "main.cpp"
    main.write_text(AGES)
    compile_cpp([main], tmp_path / "ages")
    answer = subprocess.run([tmp_path / "ages"], capture_output=True, text=True)
    reported = [[float(one) for one in line.split()] for line in answer.stdout.splitlines()]
    assert np.array(reported) == pytest.approx(
        np.array(
            [
                [0.0, 0, 0], [0.003, 0, 0], [0.001, 0, 0], [0.001, 0, 0], [0.001, 0, 0],
                [0.001, 1, 0], [0.002, 0, 0], [0.002, 1, 0], [0.002, 1, 0], [0.0015, 0, 0],
                [0.0005, 0, 0], [0.0, 0, 5.0], [0.0, 0, -0.2],
            ]
        )
    )  # fmt: skip


def compile_cpp(sources, program, *libraries):
    """Compile files of the package, warnings being errors."""
    command = [COMPILER, "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
    command += [f'-DMBDYN_ROS_VERSION="{VERSION}"', "-I", INCLUDE, "-I", PACKAGE / "include"]
    command += [SOURCES / one for one in sources] + ["-o", program, *libraries]
    subprocess.run(command, check=True, timeout=120)


GROWTH = """
#include <iostream>
#include <vector>
#include "mbdyn_ros_controllers/sampled_loop.hpp"
int main() {
  std::size_t states = 0, inputs = 0;
  std::cin >> states >> inputs;
  std::vector<double> flow(states * (states + inputs)), feedback(inputs * states);
  double period = 0.0;
  for (auto *list : {&flow, &feedback}) {
    for (double &x : *list) std::cin >> x;
  }
  std::cin >> period;
  std::cout.precision(17);
  std::cout << mbdyn_ros_controllers::growth_of_loop(flow, feedback, states, inputs, period);
}
"""

CARRIED = """
#include <iostream>
#include <string>
#include "mbdyn_ros_controllers/carried_reference.hpp"
int main() {
  std::vector<double> values;
  for (std::string word; std::cin >> word;) values.push_back(std::stod(word));
  const double age = values.back();
  values.pop_back();
  std::cout.precision(17);
  for (std::size_t k = 0; k < values.size(); ++k) {
    std::cout << mbdyn_ros_controllers::carried(values, 2, k, age) << " ";
  }
}
"""

AGES = """
#include <iostream>
#include "mbdyn_ros_controllers/state_age.hpp"
using mbdyn_ros_controllers::StateAge;
int main() {
  StateAge age, other;
  const std::int64_t ms = 1'000'000;
  const auto show = [&](StateAge &one, double sum, std::int64_t now) {
    std::cout << one.at(sum, now) << " " << one.stale() << " " << one.off() << "\\n";
  };
  show(age, 0.5, 100 * ms);
  for (int k = 0; k < 10; ++k) age.add(0.5 + 0.1 * k, (100 + k) * ms);
  show(age, 0.5 + 0.1 * 7, 110 * ms);
  show(age, 0.5 + 0.1 * 9, 110 * ms);
  show(age, 7.0, 111 * ms);
  show(age, 0.5, 111 * ms);
  show(age, 0.5 + 0.1 * 8, 5000 * ms);
  age.add(0.5 + 0.1 * 9, 110 * ms);
  show(age, 0.5 + 0.1 * 9, 112 * ms);
  show(age, 0.5 + 0.1 * 9, 9 * ms);
  show(age, 8.0, 300 * ms);
  age.add(8.0, 299 * ms + ms / 2);
  show(age, 8.0, 301 * ms);
  show(age, 9.0, 302 * ms);
  other.add(0.5, 100 * ms);
  show(other, 0.5, 5100 * ms);
  other.add(0.5, 5300 * ms);
  show(other, 0.5, 5100 * ms);
}
"""
