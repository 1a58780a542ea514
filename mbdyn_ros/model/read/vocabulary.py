"""The words of URDF, so that a misspelt or foreign one is reported and not passed over.

This is what `urdf_parser_py` does well: its classes declare every element and attribute of URDF.
Its reader is not used: it gives no lines, prints what it does not know to stderr through a global
hook, requires what real files leave out and reads "nan" and "1_0" as numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from urdf_parser_py import urdf

from ...errors import suggestion
from ..joints.types import JOINT_TYPES
from .closures import LOOPS
from .xml_source import Remarks, XmlSource, is_unexpanded, local_name

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

DECLARED = {
    "robot": urdf.Robot,
    "link": urdf.Link,
    "joint": urdf.Joint,
    "inertial": urdf.Inertial,
    "inertia": urdf.Inertia,
    "origin": urdf.Pose,
    "limit": urdf.JointLimit,
    "dynamics": urdf.JointDynamics,
    "mimic": urdf.JointMimic,
}
ATTRIBUTES: dict[str, frozenset[str]] = {
    tag: frozenset(declared.XML_REFL.attribute_map) for tag, declared in DECLARED.items()
} | {
    "axis": frozenset({"xyz"}),
    "parent": frozenset({"link"}),
    "child": frozenset({"link"}),
    "mass": frozenset({"value"}),
}
CHILDREN: dict[str, frozenset[str]] = {
    tag: frozenset(declared.XML_REFL.element_map) for tag, declared in DECLARED.items()
}
# Newer than urdf_parser_py: URDF 1.1 (urdfdom 5), ros2_control, and sensors as the wiki has them.
ATTRIBUTES["origin"] |= {"quat_xyzw"}
ATTRIBUTES["limit"] |= {"acceleration", "deceleration", "jerk"}
CHILDREN["robot"] |= {"ros2_control", "sensor", "gazebo"}
CHILDREN["link"] |= {"sensor"}
# Found in real files; other programs' words, which say nothing about the dynamics.
ATTRIBUTES["link"] |= {"type"}
ATTRIBUTES["joint"] |= {"dont_collapse"}
CHILDREN["link"] |= {"collision_checking", "contact", "kinematic", "self_filter", "surface"}
# URDF+ (arXiv 2411.19753): closed loops.
ATTRIBUTES["joint"] |= {"independent"}
ATTRIBUTES |= {
    "loop": frozenset({"name", "type"}),
    "coupling": frozenset({"name", "type", "offset"}),
    "predecessor": frozenset({"link"}),
    "successor": frozenset({"link"}),
    "ratio": frozenset({"value"}),
}
CHILDREN["robot"] |= {"loop", "coupling"}
# Closed loops in the words of others (`read_foreign_loops`).
CHILDREN["robot"] |= set(LOOPS)
# What a side-car file and other formats say (`urdf_choices`).
CHOICES = ("home", "independent", "actuated", "gravity", "floating_base", "actuator")
CHILDREN["robot"] |= set(CHOICES)
CHILDREN |= {
    "loop": frozenset({"predecessor", "successor", "axis", "screw"}),
    "coupling": frozenset({"predecessor", "successor", "ratio", "joint"}),
    "predecessor": frozenset({"origin"}),
    "successor": frozenset({"origin"}),
}
# Of this project: what drives and springs do to a joint (docs/joints.md).
ATTRIBUTES["dynamics"] |= {"armature", "spring_stiffness", "spring_reference"}
# Types of joints beyond URDF: an element named as the type holds the numbers it needs.
NUMBERS = {
    one.name: frozenset(number.name for number in one.numbers)
    for one in JOINT_TYPES.values()
    if one.numbers
}
ATTRIBUTES |= NUMBERS
CHILDREN["joint"] |= {*NUMBERS, "screw_thread_pitch"}  # the latter in the words of Drake
READ = {
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic", *NUMBERS),
    "loop": ("predecessor", "successor", "axis"),
    "coupling": ("predecessor", "successor", "ratio"),
    "predecessor": ("origin",),
    "successor": ("origin",),
}
"""The elements in which the dynamics is written; all others are ignored by design."""
FORCES = ("linear_bushing_rpy",)
"""Elements of other programs that act on the motion."""
OWN = {
    "robot": ("link", "joint", "loop", "coupling", "material", *CHOICES),
    "link": (*READ["link"], "visual", "collision"),
    "joint": READ["joint"],
}
"""The elements that a model is made of; all others are other programs' business."""


def report_unknown(document: XmlSource, remarks: Remarks) -> None:
    """Add a remark on each attribute and element of the dynamics that URDF does not have."""
    robot = document.root
    _report_children(robot, remarks)
    for tag in ("link", "joint", "loop", "coupling"):
        for element in robot.iterchildren(tag):
            _report(element, remarks)


def _report(element: Element, remarks: Remarks) -> None:
    tag = str(element.tag)
    if is_unexpanded(element.get("name", "")):
        remarks.add(element, "its name is an unexpanded xacro expression; run xacro first")
    known = ATTRIBUTES[tag]
    foreign = [f'"{name}"{suggestion(str(name), known)}' for name in set(element.attrib) - known]
    if foreign:
        remarks.add(element, f"not URDF, and not used: {', '.join(sorted(foreign))}")
    _report_children(element, remarks)
    read = READ.get(tag, ())
    for child in element:
        if child.tag in read:
            _report(child, remarks)


def _report_children(element: Element, remarks: Remarks) -> None:
    known = CHILDREN.get(str(element.tag), frozenset())
    strange = (name for name in map(local_name, element) if name not in known)
    for tag in dict.fromkeys(strange):
        problem = f"{suggestion(tag, known)} is not URDF here; not used"
        if tag in FORCES:
            problem = " exerts forces, which are not computed"
        remarks.add(element, f"<{tag}>{problem}")
