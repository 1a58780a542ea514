"""A tree of screw, spherical and universal joints, and Pinocchio's own models of them."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import mbdyn_ros
from mbdyn_ros.model.pose import across

Array = np.ndarray
PITCH = 0.07

JOINTS = (
    ("lift", "screw", "base", "nut", "0.1 0.2 0.3", "0.3 -0.2 0.9", "1 2 -2"),
    ("ball", "spherical", "nut", "arm", "0.2 -0.1 0.4", "0.5 0.1 -0.4", ""),
    ("cardan", "universal", "arm", "shaft", "0.3 0.1 -0.2", "-0.7 0.2 0.1", "2 -1 0.5"),
    ("elbow", "revolute", "shaft", "hand", "0 0.3 0.1", "0.1 0.9 0.2", "0 1 1"),
    ("nod", "universal", "nut", "head", "0 0 0.2", "0 0 0", "0 0 1"),
    ("eye", "spherical", "head", "lens", "0.05 0 0.1", "0 0.3 0", ""),
    ("drill", "screw", "lens", "tip", "0 0 0.1", "0 0 0", "0 0 1"),
    ("rail", "prismatic", "tip", "end", "0 0.1 0", "0.2 0 0", "1 0 0"),
)


def urdf(joints: tuple[tuple[str, ...], ...] = JOINTS) -> str:
    """A tree of such joints, every link with mass."""
    text = ['<robot name="joints">']
    for k, name in enumerate(("base", *(joint[3] for joint in joints))):
        text.append(
            f'<link name="{name}"><inertial><origin xyz="0.1 {0.02 * k} 0.2" rpy="0.1 {k} 0.3"/>'
            f'<mass value="{1 + 0.3 * k}"/><inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" '
            'ixz="-0.002" iyz="0.003"/></inertial></link>'
        )
    for name, kind, parent, child, xyz, rpy, axis in joints:
        text.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/>'
            + (f'<axis xyz="{axis}"/>' if axis else "")
            + (f'<screw pitch="{PITCH}"/>' if kind == "screw" else "")
            + ('<limit lower="-9" upper="9" velocity="9" effort="9"/>' if kind in LIMITED else "")
            + "</joint>"
        )
    return "\n".join([*text, "</robot>"])


LIMITED = ("revolute", "prismatic")


def judge(model: mbdyn_ros.model.Model, floating_base: bool) -> pin.Model:
    """The same robot by Pinocchio's joint models, in the same order of coordinates."""
    result = pin.Model()
    places: dict[str, int] = {model.root: 0}
    if floating_base:
        free = pin.JointModelFreeFlyer()
        places[model.root] = result.addJoint(0, free, pin.SE3.Identity(), "root")
    for joint in model.joints:
        at = pin.SE3(joint.origin.rotation, joint.origin.translation)
        parent, axis = places[joint.parent], joint.axis
        e1, e2 = across(axis)
        steps = {
            "screw": lambda a=axis: [pin.JointModelHelicalUnaligned(*a, PITCH)],
            "spherical": lambda: [pin.JointModelSpherical()],
            "universal": lambda one=e1, two=e2: [
                pin.JointModelRevoluteUnaligned(one), pin.JointModelRevoluteUnaligned(two)
            ],
            "revolute": lambda a=axis: [pin.JointModelRevoluteUnaligned(a)],
            "prismatic": lambda a=axis: [pin.JointModelPrismaticUnaligned(a)],
        }[joint.type]()  # fmt: skip
        for k, step in enumerate(steps):
            parent = result.addJoint(parent, step, at, f"{joint.name}/{k}")
            at = pin.SE3.Identity()
        places[joint.child] = parent
    for link in model.links:
        inertia = link.inertia
        if inertia is not None and places[link.name]:
            body = pin.Inertia(inertia.mass, inertia.center, inertia.moments)
            result.appendBodyToJoint(places[link.name], body, pin.SE3.Identity())
        result.addFrame(
            pin.Frame(link.name, places[link.name], 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME)
        )
    return result


class Both:
    """A robot by us and by Pinocchio, and a state."""

    def __init__(self, floating_base: bool) -> None:
        self.ours = mbdyn_ros.load(urdf(), floating_base=floating_base)
        self.theirs = judge(self.ours.model, floating_base)
        self.data = self.theirs.createData()
        random = np.random.default_rng(3)
        self.q = random.uniform(-1, 1, self.ours.nq)
        for start in self.ours.system.coordinates.quaternions:
            self.q[start : start + 4] /= np.linalg.norm(self.q[start : start + 4])
        self.v, self.a = random.normal(size=(2, self.ours.nv))
