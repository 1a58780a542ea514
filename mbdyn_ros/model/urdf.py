"""A URDF read into a `Model`."""

from __future__ import annotations

import os

from .inertia_check import inertia_warnings
from .model import Model
from .remarks import Remarks
from .structure import check_ends, check_mimics, check_unique, find_root
from .urdf_joint import read_joint
from .urdf_link import read_link
from .vocabulary import report_unknown
from .xml_source import XmlSource

CLOSURES = ("loop", "coupling", "constraint", "loop_joint")


def read_urdf(source: str | os.PathLike[str]) -> Model:
    """Read a URDF.

    Parameters
    ----------
    source : str or os.PathLike
        A path, or the XML text (a str that holds a ``<``).

    Returns
    -------
    Model
        Links and joints in document order, SI units, rad. What looked wrong but can be computed
        is in `Model.warnings`.

    Raises
    ------
    ModelError
        What cannot be read, or is no tree of links; the message gives file, line, element,
        the value found and what to do.

    Notes
    -----
    - A missing origin is the identity, a missing axis (1, 0, 0), a missing inertial no inertia, a
      missing product of inertia 0, a missing ``<inertia>`` a point mass (warned). Axes are made
      unit vectors; those of fixed and floating joints are not looked at.
    - Limits: a missing ``<limit>``, velocity or effort is no bound; so is a pair of missing
      lower and upper, while one that is missing beside the other is 0, as in URDF. Infinite
      bounds may be written. A velocity or effort of 0 or less, and lower = upper = 0, are what
      real files write for "unknown": taken as no bound, with a warning. Limits of fixed,
      planar and floating joints, and positions of continuous ones, are not looked at.
    - Damping and friction act on every coordinate of a joint. Negative damping is computed,
      with a warning; negative friction is refused.
    - A mimic on a fixed joint is dropped with a warning.
    - Inertias that no body can have are computed as they stand, with a warning.
    - Not looked at, because they are not dynamics: visual, collision, material, transmission,
      ros2_control, gazebo, sensor, safety_controller, calibration. What is no URDF at all is
      ignored with a warning, but loops, couplings and unexpanded xacro are refused.

    Examples
    --------
    >>> model = read_urdf('''<robot name="pendulum">
    ...   <link name="base"/>
    ...   <joint name="pin" type="continuous">
    ...     <parent link="base"/> <child link="arm"/> <axis xyz="0 3 0"/>
    ...   </joint>
    ...   <link name="arm">
    ...     <inertial> <origin xyz="0 0 -1"/> <mass value="2"/>
    ...       <inertia ixx="0.1" iyy="0.1" izz="0.01"/> </inertial>
    ...   </link>
    ... </robot>''')
    >>> model.root, model.joint("pin").axis, model.link("arm").inertia.mass
    ('base', array([0., 1., 0.]), 2.0)
    """
    document = XmlSource(source)
    robot = document.root
    if robot.tag != "robot":
        raise document.error(robot, "this is no URDF: the outermost element must be <robot>")
    _refuse_xacro(document)
    _refuse_closures(document)
    remarks = Remarks(document)
    _remark_gazebo_joints(document, remarks)
    report_unknown(document, remarks)
    links = tuple(read_link(document, element, remarks) for element in robot.iterchildren("link"))
    joints = tuple(
        read_joint(document, element, remarks) for element in robot.iterchildren("joint")
    )
    check_unique(document.name, links, "link")
    check_unique(document.name, joints, "joint")
    check_ends(document.name, links, joints)
    root = find_root(document.name, links, joints)
    check_mimics(document.name, joints)
    warnings = remarks.warnings() + inertia_warnings(document.name, links)
    return Model(
        name=robot.get("name") or "robot",
        root=root,
        links=links,
        joints=joints,
        source=document.name,
        warnings=tuple(warnings),
    )


def _refuse_xacro(document: XmlSource) -> None:
    for prefix, namespace in document.root.nsmap.items():
        if prefix == "xacro" or "xacro" in namespace:
            for element in document.root.iter(f"{{{namespace}}}*"):
                name = str(element.tag).rpartition("}")[2]
                raise document.error(
                    element,
                    f"<{prefix}:{name}> is not expanded; run xacro first "
                    "(xacro robot.urdf.xacro > robot.urdf)",
                )


def _refuse_closures(document: XmlSource) -> None:
    for element in document.root:
        tag = str(element.tag).rpartition("}")[2]
        if tag in CLOSURES or tag.endswith("_constraint"):
            raise document.error(
                element,
                "closed loops and couplings are not supported in this version; remove it to "
                "compute the open tree (a different machine), or wait for a version that has them",
            )


def _remark_gazebo_joints(document: XmlSource, remarks: Remarks) -> None:
    """A joint in `<gazebo>` is how people close loops for Gazebo: say that it is not there."""
    for gazebo in document.root.iterchildren("gazebo"):
        for joint in gazebo.iterchildren("joint"):
            remarks.add(joint, "a <joint> in <gazebo> is not read; a loop it closes stays open")
