"""The packages agree with each other and with the ROS contract."""

import ast
import os
import re
import runpy
import subprocess
import sys
import tarfile
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

import mbdyn_ros

ROOT = Path(__file__).resolve().parent.parent
INTERFACES = ROOT / "mbdyn_ros_interfaces"
CONTROLLERS = ROOT / "mbdyn_ros_controllers"
MANIFESTS = [one / "package.xml" for one in (ROOT, INTERFACES, CONTROLLERS)]


def promised():
    """Return the fields of every service and message, as the documentation prints them."""
    page = runpy.run_path(str(ROOT / "docs" / "_extensions" / "ros_reference.py"))["interfaces"]()
    return {
        name: [fields(part) for part in definition.split("\n---\n")]
        for name, definition in re.findall(r"^### (\w+)\n```.*?\n\n(.*?)\n```$", page, DOTALL)
    }


def fields(definition):
    """Return {name: type} of a part of a definition, types as in Python."""
    found = {}
    for line in definition.splitlines():
        kind, _, rest = line.partition("#")[0].strip().partition(" ")
        if not rest:
            continue
        element = kind.removesuffix("[]")
        element = {"float64": "double", "bool": "boolean"}.get(element, element)
        if element[0].isupper():
            element = f"mbdyn_ros_interfaces/{element}"
        found[rest.strip()] = f"sequence<{element}>" if kind.endswith("[]") else element
    return found


DOTALL = re.DOTALL | re.MULTILINE
PROMISED = promised()
CONTRACT = {name: parts for name, parts in PROMISED.items() if len(parts) == 2}
MESSAGES = {name: parts[0] for name, parts in PROMISED.items() if len(parts) == 1}


def setup_arguments():
    """Return the keyword arguments of setup.py's setup() that are plain literals."""
    call = next(
        node
        for node in ast.walk(ast.parse((ROOT / "setup.py").read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "setup"
    )
    arguments = {}
    for keyword in call.keywords:
        try:
            arguments[keyword.arg] = ast.literal_eval(keyword.value)
        except ValueError:
            continue
    return arguments


def test_versions_are_in_step():
    version = setup_arguments()["version"]
    assert mbdyn_ros.__version__ == version
    for manifest in MANIFESTS:
        assert ElementTree.parse(manifest).findtext("version") == version
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == version


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.parent.name)
def test_manifest_is_read_by_the_ros_tools(manifest):
    """An invalid maintainer's address, for one, makes colcon ignore that this is a ROS package."""
    catkin_pkg = pytest.importorskip("catkin_pkg.package")
    warnings = []
    package = catkin_pkg.parse_package(str(manifest), warnings=warnings)
    package.validate(warnings=warnings)
    assert warnings == []


OPTIONAL = {"control_msgs", "simulation_interfaces"}
"""Packages of ROS that a node serves where they are."""


def test_what_nodes_import_of_ros_is_declared():
    """`rosdep install` brings all of it."""
    needed = set()
    for path in (ROOT / "mbdyn_ros").rglob("*.py"):
        text = path.read_text()
        if not re.search("_msgs|_srvs|_interfaces|rclpy|ament_", text):
            continue  # most files, which take seconds to read as Python
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and not node.level:
                needed.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Import):
                needed |= {one.name.partition(".")[0] for one in node.names}
    of_ros = re.compile(r"_msgs$|_srvs$|_interfaces$|^rclpy$|^ament_")
    ros = {name for name in needed if of_ros.search(name)}
    declared = {one.text for one in ElementTree.parse(MANIFESTS[0]).iter("exec_depend")}
    assert {"rclpy", "sensor_msgs"} < ros and ros - OPTIONAL <= declared


def test_commands_that_are_installed_exist():
    for script in setup_arguments()["entry_points"]["console_scripts"]:
        module, function = script.split("=")[1].strip().split(":")
        assert callable(getattr(import_module(module), function)), script


def test_nodes_have_names_of_their_own_on_the_path_and_plain_ones_in_ros():
    scripts = setup_arguments()["entry_points"]["console_scripts"]
    installed = {script.split(" = ")[0]: script.split(":")[1] for script in scripts}
    nodes = {path.name: path for path in (ROOT / "scripts" / "nodes").iterdir()}
    assert installed == {"mbdyn": "mbdyn"} | {f"mbdyn_{name}": name for name in nodes}
    for name, path in nodes.items():
        assert path.stat().st_mode & 0o111 and f"import {name}\n" in path.read_text()


def test_every_definition_is_generated():
    cmake_lists = (INTERFACES / "CMakeLists.txt").read_text()
    listed = re.findall(r'"((?:msg|srv|action)/\w+\.\w+)"', cmake_lists)
    present = [
        path.relative_to(INTERFACES).as_posix()
        for kind in ("msg", "srv", "action")
        for path in INTERFACES.glob(f"{kind}/*.{kind}")
    ]
    assert sorted(listed) == sorted(present)


def test_contract_covers_every_service():
    assert sorted(CONTRACT) == sorted(path.stem for path in (INTERFACES / "srv").glob("*.srv"))


@pytest.mark.parametrize("name", CONTRACT)
def test_service_has_the_fields_of_the_contract(name):
    """Order too: it is part of the hash by which ROS 2 nodes recognize each other's types."""
    service = getattr(import_module("mbdyn_ros_interfaces.srv"), name)
    for part, fields in zip((service.Request, service.Response), CONTRACT[name], strict=True):
        assert list(part.get_fields_and_field_types().items()) == list(fields.items())


def test_fields_are_names_in_yaml_too():
    """`ros2 topic pub` reads messages as YAML, where `on` is a boolean."""
    for name, parts in PROMISED.items():
        for field in [field for part in parts for field in part]:
            assert yaml.safe_load(field) == field, name


def test_messages_have_the_fields_of_the_contract():
    assert sorted(MESSAGES) == sorted(path.stem for path in (INTERFACES / "msg").glob("*.msg"))
    for name, fields in MESSAGES.items():
        message = getattr(import_module("mbdyn_ros_interfaces.msg"), name)
        assert list(message.get_fields_and_field_types().items()) == list(fields.items())


def test_interfaces_cross_the_wire():
    """The compiled type support, not only the Python classes: a message survives serialization."""
    from rclpy.serialization import deserialize_message, serialize_message

    from mbdyn_ros_interfaces.srv import InverseDynamics

    request = InverseDynamics.Request(name=["shoulder"], position=[0.5], velocity=[-1.0])
    assert deserialize_message(serialize_message(request), InverseDynamics.Request) == request


def test_share_folder_is_found_by_package_name():
    from ament_index_python import get_package_share_directory

    for manifest in MANIFESTS[:2]:  # the controllers need a full ROS 2
        name = ElementTree.parse(manifest).findtext("name")
        share = Path(get_package_share_directory(name))
        assert (share / "package.xml").read_bytes() == manifest.read_bytes()
    share = get_package_share_directory("mbdyn_ros")
    assert (Path(share) / "config").is_dir()
    # As `ros2 launch` looks for a file: it follows no link to a folder.
    found = {file for _, _, files in os.walk(share) for file in files}
    assert found >= {path.name for path in ROOT.glob("launch/*.launch.py")}


def test_library_does_not_need_ros():
    """`pip install .` gives the library and `mbdyn` where there is no ROS."""
    code = "import sys; sys.modules['rclpy'] = None; import mbdyn_ros, mbdyn_ros.__main__"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def page_of_the_index(repository):
    """Return the README as an index of packages gets it."""
    source = ast.parse((ROOT / "setup.py").read_text())
    source.body = [node for node in source.body if getattr(node, "name", "") == "page"]
    space = {"re": re}
    exec(compile(source, "setup.py", "exec"), space)
    return space["page"]((ROOT / "README.md").read_text(), repository)


def test_an_index_shows_no_pictures_that_it_has_not():
    """Relative addresses lead nowhere there."""
    alone = page_of_the_index("")
    assert "![" not in alone and not re.search(r"\]\((?!https?:|#)", alone)
    assert "made for machines with closed loops" in alone and "First hour goes on" in alone
    linked = page_of_the_index("https://example.org/mbdyn")
    assert "(https://example.org/mbdyn/raw/main/docs/excavator.webp)" in linked
    assert "](https://example.org/mbdyn/blob/main/docs/first_hour.md)" in linked
    assert not re.search(r"\]\((?!https?:|#)", linked)


SOURCES = ("config", "launch", "mbdyn_ros", "mbdyn_ros_controllers", "mbdyn_ros_interfaces",
           "resource", "scripts/nodes", "urdf")  # fmt: skip
"""Folders that pip and colcon build from."""


@pytest.mark.long
def test_the_source_distribution_is_what_is_built_from(tmp_path):
    """All that git has in these folders and nothing of others, so that a wheel is built from it."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no clone")
    egg, here = ["egg_info", "-e", str(tmp_path)], ["sdist", "--dist-dir", str(tmp_path)]
    make = [sys.executable, "setup.py", "-q", *egg, *here]
    done = subprocess.run(make, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as whole:
        packed = {name.partition("/")[2] for name in whole.getnames()}
        whole.extractall(tmp_path / "source", filter="data")
    tracked = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
    needed = {name for name in tracked if name.startswith(tuple(f"{one}/" for one in SOURCES))}
    assert (
        needed | {"setup.py", "README.md", "LICENSE", "CITATION.cff", "requirements/ros.txt"}
        <= packed
    )
    assert not {name for name in packed & tracked if name.split("/")[0] in ("docs", "test")}
    assert archive.stat().st_size < 2.5e6
    (source,) = (tmp_path / "source").iterdir()
    build = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(tmp_path / "built")]
    done = subprocess.run(build, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "built" / "mbdyn_ros" / "urdf" / "boom.urdf").exists()


def test_the_c_of_the_runtime_is_installed(tmp_path):
    """By pip and by colcon alike, and it is all there for the compiler; what is no more is not."""
    stale = tmp_path / "mbdyn_ros" / "stale.py"
    stale.parent.mkdir()
    stale.touch()
    build = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not stale.exists()
    folder = Path("mbdyn_ros", "compiler", "runtime")
    files, installed = (
        {
            path.relative_to(place): path.read_text()
            for path in place.rglob("*.[ch]*")
            if path.suffix != ".pyc"
        }
        for place in (ROOT / folder, tmp_path / folder)
    )
    assert {Path("runtime.c"), Path("stepping.cpp"), Path("contact/step.hpp")} < set(files)
    assert files == installed
    included = {
        Path(os.path.normpath(path.parent / name))
        for path, text in files.items()
        for name in re.findall(r'#include "(.*)"', text)
    }
    assert included < set(files)
