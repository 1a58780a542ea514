"""A serial robot as a table of Denavit and Hartenberg.

The file is YAML; lengths in m, angles in rad, masses in kg, moments in kg m^2:

    name: arm                # of the robot; "dh_robot" if not given
    base: base_link          # link that is fixed; "base_link" if not given
    joints:                  # from the base outwards
      - name: shoulder
        type: revolute       # or prismatic
        a: 0.3               # along the turned x, to the next axis
        alpha: 0.0           # about that x, to the next axis
        d: 0.1               # along the joint's z; of a prismatic joint at position 0
        theta: 0.0           # about the joint's z; of a revolute joint at position 0
        link: upper_arm      # the link it moves; "link1", "link2", ... if not given
        mass: 2.0
        centre: [-0.15, 0, 0]                            # of mass, in the link's frame
        inertia: {ixx: 0.01, iyy: 0.02, izz: 0.02, ixy: 0, ixz: 0, iyz: 0}    # about the centre
        limits: {lower: -1.5, upper: 1.5, velocity: 2.0, effort: 50.0}  # all if not given: none

These are all the entries; all others that a joint has must be there, except products of inertia,
which are 0 if not given, and limits. Joint k turns or slides link k along the z axis of link k - 1,
and the frame of link k is at its far end (the "standard" convention):

    A_{k-1}^k = Rz(theta) Tz(d) Tx(a) Rx(alpha)

with the joint's position added to theta (revolute) or d (prismatic). This is eqs (8) to (10) of
Kulvietis et al. (2011); their eq (11) gives its last column in the axes of link k, whereas (9)
needs it in those of link k - 1: (a cos(theta), a sin(theta), d).
"""

from __future__ import annotations

import os

import numpy as np
import yaml

from ..model import Inertia, Joint, Limits, Link, Model, Pose
from ..pose import rotation_from_rpy
from .structure import inertia_warnings
from .yaml_source import YamlSource

KEYS = ("name", "base", "joints")
NUMBERS = ("a", "alpha", "d", "theta")
REQUIRED = ("type", *NUMBERS, "mass", "centre", "inertia")
JOINT_KEYS = ("name", *REQUIRED, "link", "limits")
LIMITS = ("lower", "upper", "velocity", "effort")
TYPES = ("revolute", "prismatic")
MOMENTS = ("ixx", "iyy", "izz")
PRODUCTS = ("ixy", "ixz", "iyz")


def read_dh_table(source: str | os.PathLike[str]) -> Model:
    """Read a DH table; `mbdyn_ros.Robot` makes a robot of the model.

    Parameters
    ----------
    source : a path, or the YAML text (a str of several lines, or one that begins with a ``{``);
        see the module for its content.

    Returns
    -------
    Model
        The frame of every link is the table's. Between link k - 1 and link k lies a link without
        mass, "<joint>/axis", that the joint moves and to which link k is fixed.

    Raises
    ------
    ModelError
        An entry is missing, not finite or unknown; the message gives file, line and joint.

    Examples
    --------
    >>> import mbdyn_ros
    >>> model = read_dh_table('''
    ... joints:
    ... - {name: lift, type: prismatic, a: 0, alpha: 0, d: 0.2, theta: 0,
    ...    mass: 3, centre: [0, 0, 0], inertia: {ixx: 0.1, iyy: 0.1, izz: 0.1}}
    ... - {name: swing, type: revolute, a: 0.5, alpha: 0, d: 0, theta: 0,
    ...    mass: 1, centre: [-0.25, 0, 0], inertia: {ixx: 0, iyy: 0.02, izz: 0.02}}''')
    >>> robot = mbdyn_ros.Robot(model)
    >>> robot.frame_pose([0.1, 0.0], "link2")[:3, 3]
    array([0.5, 0. , 0.3])
    >>> robot.gravity_vector([0.0, 0.0])
    array([39.24,  0.  ])
    """
    document = YamlSource(source)
    members = document.mapping(document.root, "a DH table").get("members")
    if members is not None:
        raise document.error(
            members, "these are members of a world: use World.load, or mbdyn simulate --world"
        )
    values = document.mapping(document.root, "a DH table", KEYS)
    if "joints" not in values or not document.records(values, "joints"):
        raise document.error(
            values.get("joints", document.root), "a DH table needs joints; list one or more"
        )
    root = document.text(values["base"], "base") if "base" in values else "base_link"
    title = document.text(values["name"], "the name of a robot") if "name" in values else "dh_robot"
    line = document.line(values.get("base", document.root))
    links, taken = [Link(root, line=line)], {root: line}
    joints: list[Joint] = []
    for number, node in enumerate(document.records(values, "joints"), start=1):
        axis, end, own = _read_joint(document, node, number, links[-1].name)
        what = f'joint "{axis.name}"'
        if any(other.name in (axis.name, end.name) for other in joints):
            raise document.error(node, f"{what}: the name is taken by an earlier joint; rename one")
        for link in own:
            if link.name in taken:
                raise document.error(
                    node,
                    f'{what}: its link "{link.name}" has the name of a link in line '
                    f"{taken[link.name]}; rename one",
                )
            taken[link.name] = document.line(node)
        links += own
        joints += [axis, end]
    return Model(
        title,
        root,
        tuple(links),
        tuple(joints),
        document.name,
        tuple(inertia_warnings(document.name, links)),
    )


def _read_joint(
    document: YamlSource, node: yaml.Node, number: int, parent: str
) -> tuple[Joint, Joint, list[Link]]:
    """The moving joint of one row, the fixed one after it, and the links that they move."""
    values = document.mapping(node, _spoken(node, number), JOINT_KEYS)
    if "name" not in values:
        raise document.error(node, f"joint {number} has no name; give it one")
    name = document.text(values["name"], f"the name of joint {number}")
    what = f'joint "{name}"'
    for key in REQUIRED:
        if key not in values or document.is_empty(values[key]):
            raise document.error(values.get(key, node), f"{what}: has no {key}; add {key}: ...")
    kind = document.text(values["type"], f"{what}: its type")
    if kind not in TYPES:
        raise document.error(
            values["type"], f'{what}: its type "{kind}" is not one of {", ".join(TYPES)}'
        )
    a, alpha, d, theta = (document.number(values[key], f"{what}: its {key}") for key in NUMBERS)
    link = f"link{number}"
    if "link" in values:
        link = document.text(values["link"], f"{what}: the name of its link")
    line = document.line(node)
    axis_link = f"{name}/axis"
    turn = Pose(np.array(rotation_from_rpy(0.0, 0.0, theta)))
    reach = Pose(np.array(rotation_from_rpy(alpha, 0.0, 0.0)), np.array([a, 0.0, d]))
    z = np.array([0.0, 0.0, 1.0])
    limits = _read_limits(document, values["limits"], what) if "limits" in values else Limits()
    moving = Joint(name, kind, parent, axis_link, turn, z, limits, line=line)
    fixed = Joint(f"{name}/end", "fixed", axis_link, link, reach, line=line)
    inertia = _read_inertia(document, values, what)
    return moving, fixed, [Link(axis_link, line=line), Link(link, inertia, line)]


def _read_limits(document: YamlSource, node: yaml.Node, what: str) -> Limits:
    given = document.mapping(node, f"{what}: its limits", LIMITS)
    limits = {key: document.number(value, f"{what}: its {key}") for key, value in given.items()}
    for key in ("velocity", "effort"):
        if limits.get(key, 0.0) < 0.0:
            raise document.error(
                given[key], f"{what}: its {key} limit {limits[key]:g} is negative; correct it"
            )
    if "lower" in limits and "upper" in limits and limits["lower"] > limits["upper"]:
        raise document.error(
            given["lower"],
            f"{what}: its lower limit {limits['lower']:g} is above the upper one "
            f"{limits['upper']:g}; exchange them",
        )
    return Limits(**limits)


def _read_inertia(document: YamlSource, values: dict[str, yaml.Node], what: str) -> Inertia:
    mass = document.number(values["mass"], f"{what}: its mass")
    if mass < 0.0:
        raise document.error(values["mass"], f"{what}: its mass {mass:g} is negative; correct it")
    centre = document.vector(values["centre"], f"{what}: its centre")
    given = document.mapping(values["inertia"], f"{what}: its inertia", (*MOMENTS, *PRODUCTS))
    for key in MOMENTS:
        if key not in given:
            raise document.error(
                values["inertia"], f"{what}: its inertia has no {key}; add {key}: ..."
            )
    number = {key: document.number(node, f"{what}: its {key}") for key, node in given.items()}
    ixx, iyy, izz = (number[key] for key in MOMENTS)
    ixy, ixz, iyz = (number.get(key, 0.0) for key in PRODUCTS)
    moments = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    return Inertia(mass, np.array(centre), moments)


def _spoken(node: yaml.Node, number: int) -> str:
    """A joint as messages name it before its row is checked."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == "name" and isinstance(value, yaml.ScalarNode) and value.value:
                return f'joint "{value.value}"'
    return f"joint {number}"
