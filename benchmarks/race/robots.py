"""The robots of the race, as one plain URDF that every library reads the same way.

Friction, mimics and limits are left out, since the libraries do not agree on them; meshes too.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.metadata import files
from pathlib import Path

import numpy as np
from lxml import etree

import mbdyn_ros
from mbdyn_ros import Robot
from mbdyn_ros.bench.benchmark import random_state
from mbdyn_ros.model.model import Array, Pose
from mbdyn_ros.model.read.urdf import read_urdf


@dataclass(frozen=True)
class Entry:
    """A robot of the race: a file of example-robot-data, or a chain of `joints` joints."""

    name: str
    file: str | None = None
    joints: int = 0
    floating_base: bool = False


ENTRIES = (
    Entry("UR5", "ur5_robot.urdf"),
    Entry("Panda", "panda.urdf"),
    Entry("Solo12", "solo12.urdf", floating_base=True),
    Entry("G1", "g1_29dof_rev_1_0.urdf", floating_base=True),
    Entry("Talos", "talos_reduced.urdf", floating_base=True),
    *(Entry(f"chain of {n}", joints=n) for n in (5, 10, 20, 50, 100, 200)),
)


class Runner:
    """A robot with a state that every library is asked about.

    text : its URDF. q, v, a, effort : in our order, `effort` causing `a`. A floating base stands
        upright and at rest, where all libraries mean the same by its velocity.
    """

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.text = urdf(entry)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
            self.robot: Robot = mbdyn_ros.load(self.text, floating_base=entry.floating_base)
        self.q, self.v, self.a = random_state(self.robot)
        if entry.floating_base:
            self.q[:7], self.v[:6] = (0, 0, 0, 0, 0, 0, 1), 0.0
        self.effort: Array = self.robot.inverse_dynamics(self.q, self.v, self.a)


def urdf(entry: Entry) -> str:
    """The robot as every library reads it."""
    return chain(entry.joints) if entry.file is None else plain(entry.file)


def robot_file(name: str) -> Path:
    """A URDF of the package example-robot-data."""
    found = [file for file in files("example-robot-data") or [] if file.name == name]
    return Path(str(found[0].locate())).resolve()


def plain(file: str) -> str:
    """The links and joints of a URDF of example-robot-data, and nothing else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        model = read_urdf(robot_file(file))
    root = etree.Element("robot", name=model.name)
    for link in model.links:
        element = etree.SubElement(root, "link", name=link.name)
        if link.inertia is not None and link.inertia.mass:
            moments = link.inertia.moments
            inertial = etree.SubElement(element, "inertial")
            etree.SubElement(inertial, "origin", xyz=words(link.inertia.center))
            etree.SubElement(inertial, "mass", value=repr(float(link.inertia.mass)))
            upper = [(i, j) for i in range(3) for j in range(i, 3)]
            values = {f"i{'xyz'[i]}{'xyz'[j]}": repr(float(moments[i, j])) for i, j in upper}
            etree.SubElement(inertial, "inertia", values)
    for joint in model.joints:
        kind = "revolute" if joint.type == "continuous" else joint.type
        element = etree.SubElement(root, "joint", name=joint.name, type=kind)
        etree.SubElement(element, "parent", link=joint.parent)
        etree.SubElement(element, "child", link=joint.child)
        place(element, joint.origin)
        etree.SubElement(element, "axis", xyz=words(joint.axis))
        if kind != "fixed":
            limit(element)
    return etree.tostring(root, encoding="unicode")


def limit(element: etree._Element) -> None:
    """Write limits that no state of the race comes near."""
    etree.SubElement(element, "limit", lower="-9", upper="9", effort="1e4", velocity="1e4")


def place(element: etree._Element, pose: Pose) -> None:
    """Write the origin of a joint."""
    r = pose.rotation
    pitch = np.arctan2(-r[2, 0], np.hypot(r[0, 0], r[1, 0]))
    if np.hypot(r[0, 0], r[1, 0]) > 1e-9:
        roll, yaw = np.arctan2(r[2, 1], r[2, 2]), np.arctan2(r[1, 0], r[0, 0])
    else:  # the axes of roll and yaw are one
        roll, yaw = np.arctan2(-r[1, 2], r[1, 1]), 0.0
    rpy = np.array([roll, pitch, yaw])
    etree.SubElement(element, "origin", xyz=words(pose.translation), rpy=words(rpy))


def chain(joints: int) -> str:
    """A serial chain of revolute joints with offsets and axes in all directions."""
    random = np.random.default_rng(joints)
    root = etree.Element("robot", name=f"chain{joints}")
    etree.SubElement(root, "link", name="link0")
    for k in range(1, joints + 1):
        element = etree.SubElement(root, "link", name=f"link{k}")
        inertial = etree.SubElement(element, "inertial")
        etree.SubElement(inertial, "origin", xyz=words(random.uniform(-0.1, 0.1, 3)))
        etree.SubElement(inertial, "mass", value=repr(random.uniform(0.5, 2.0)))
        moments = random.uniform(0.01, 0.02, 3)
        values = dict(zip(("ixx", "iyy", "izz"), moments, strict=True))
        inertia = {key: repr(float(value)) for key, value in values.items()}
        etree.SubElement(inertial, "inertia", inertia, ixy="0.001", ixz="0.002", iyz="-0.001")
        element = etree.SubElement(root, "joint", name=f"joint{k}", type="revolute")
        etree.SubElement(element, "parent", link=f"link{k - 1}")
        etree.SubElement(element, "child", link=f"link{k}")
        xyz, rpy = random.uniform(-0.2, 0.2, 3), random.uniform(-1.5, 1.5, 3)
        etree.SubElement(element, "origin", xyz=words(xyz), rpy=words(rpy))
        etree.SubElement(element, "axis", xyz="0 0 1")
        limit(element)
    return etree.tostring(root, encoding="unicode")


def words(values: Array) -> str:
    """Numbers as the attribute of an element, every digit kept."""
    return " ".join(repr(float(value)) for value in values)
