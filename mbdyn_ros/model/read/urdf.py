"""A URDF read into a `Model`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..foreign import foreign_of
from ..model import Combination, Coupling, Inertia, Joint, Link, Loop, Model
from ..split_joints import split_joints
from .closures import (
    CLOSING,
    LOOPS,
    HeldJoint,
    cut_joints,
    cut_warnings,
    held_joints,
    independent_joints,
    loop_of,
    read_foreign_loops,
    read_loop,
    read_marks,
)
from .couplings import couple_joints, read_coupling
from .shape import Material, read_collisions, read_materials, read_visuals
from .source_text import TEXT, Source
from .structure import (
    check_closures,
    check_ends,
    check_mimics,
    check_unique,
    find_root,
    inertia_warnings,
)
from .transmissions import read_transmissions
from .urdf_choices import read_choices
from .urdf_joint import read_dampings, read_joint
from .vocabulary import CHOICES, OWN, report_unknown
from .xml_source import Remarks, XmlSource, in_degrees, local_name, read_pose

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


DRIVES = ("ros2_control", "transmission")
"""Elements for other programs of which the drives are read here."""
WORLD = "world"
"""Name of a link that files of MoveIt and Drake hang robots on without declaring it."""

NO_GAZEBO_JOINT = (
    "a <joint> in <gazebo> is not read; a loop it closes stays open: write it as a <loop>"
)


def read_urdf(source: Source) -> Model:
    """Read a URDF.

    Parameters
    ----------
    source : str, os.PathLike or NamedText
        A path, or the XML text (a str that holds a ``<``).

    Returns
    -------
    Model
        Links, joints and loops in document order, SI units, rad. What looked wrong but can be
        computed is in `Model.warnings`.

    Raises
    ------
    ModelError
        What cannot be read, or is not a tree of links; the message gives file, line, element,
        the value found and what to do.

    Notes
    -----
    - A missing origin is the identity, a missing axis (1, 0, 0), a missing inertial no inertia, a
      missing product of inertia 0, a missing ``<inertia>`` a point mass (warned). Axes are made
      unit vectors; those of fixed, floating and spherical joints are not looked at.
    - Joint types beyond URDF: ``screw`` with ``<screw pitch="..."/>`` (m/rad), ``spherical``,
      ``universal``; see docs/joints.md.
    - Limits: a missing ``<limit>``, velocity or effort is not a bound; so is a pair of missing
      lower and upper, while one that is missing while the other is there is 0, as in URDF. Infinite
      bounds may be written. A velocity or effort of 0 or less, and lower = upper = 0, are what
      real files write for "unknown": taken as no bound, with a warning. Limits of joints with
      none or several freedoms, and positions of continuous ones, are not looked at.
    - Damping and friction act on every coordinate of a joint. Negative damping is computed,
      with a warning; negative friction is refused.
    - A mimic on a fixed joint is dropped with a warning.
    - Inertias that no body can have are computed as they are, with a warning.
    - Of ros2_control the joints that it drives and its transmissions are read; of transmissions
      (simple, differential, four-bar linkage) the reductions, and rotors as `armature` of joints.
    - A parent ``world`` that is not declared is a link without inertia, with a warning.
    - Shapes are read for those who ask what touches what or how it looks; one that cannot be read
      is refused only then.
    - Choices may be in the file, as in a side-car: see `urdf_choices`.
    - Kept unchanged, because they are not dynamics: gazebo, sensor, safety_controller,
      calibration. What is not a URDF at all is ignored with a warning, but
      other constraints and unexpanded xacro are refused.
    - Loops and couplings are read from URDF+, and loops from the words of Drake, Isaac Sim and
      a proposal for URDF (`read_foreign_loops`). A link that is the child of several joints is
      taken for a loop too: the first of them that leaves a tree is kept, the others are cut, with a
      warning. `Model.independent` is None unless a joint is marked ``independent``; then a
      movable joint without a mark is independent, as in URDF+, unless it mimics another.

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
    if robot.tag == "mujocoinclude":
        raise document.error(
            robot, "this is a part of a MJCF; load the file that includes it, which begins <mujoco>"
        )
    if robot.tag != "robot":
        raise document.error(robot, "this is not a URDF: the outermost element must be <robot>")
    _refuse_xacro(document)
    for element in robot:
        if local_name(element) == "joint":  # of Drake, for types that URDF does not have
            element.tag = "joint"
    remarks = Remarks(document)
    _remark_gazebo_joints(document, remarks)
    _keep_first_origins(document, remarks)
    report_unknown(document, remarks)
    materials = read_materials(document)
    links = tuple(
        read_link(document, element, remarks, materials) for element in robot.iterchildren("link")
    )
    elements = list(robot.iterchildren("joint"))
    joints = tuple(read_joint(document, element, remarks) for element in elements)
    check_unique(document.name, links, "link")
    check_unique(document.name, joints, "joint")
    links = _with_world(document, remarks, links, joints)
    check_ends(document.name, links, joints)
    transmissions, joints = read_transmissions(document, joints, remarks)
    tags = set(map(local_name, robot))
    is_marked = any("independent" in element.attrib for element in elements)
    is_shared = len({joint.child for joint in joints}) < len(joints)
    if is_marked or is_shared or any(map(CLOSING.fullmatch, tags)):
        found = _read_closures(document, links, joints, remarks)
    else:
        found = _Structure(find_root(document.name, links, joints), links, joints)
    joints = found.joints
    _remark_degrees(document, remarks)
    check_mimics(document.name, joints)
    foreign = list(_foreign(document))
    model = Model(
        name=robot.get("name") or "robot",
        root=found.root,
        links=found.links,
        joints=joints,
        source=document.name,
        warnings=(
            *remarks.warnings(), *inertia_warnings(document.name, links), *found.warnings,
        ),  # fmt: skip
        loops=found.loops,
        couplings=tuple(one for _, one in found.coupled),
        independent=found.independent,
        driven=driven_joints(
            document, {joint.name for joint in joints if joint.nv and joint.mimic is None}
        ),
        transmissions=transmissions,
        foreign=tuple(foreign_of(*one) for one in foreign),
        unused=Counter(str(one.tag) for one, *_ in foreign if one.tag not in DRIVES),
    )
    if found.coupled:
        model = couple_joints(model, found.coupled)
    if not tags.isdisjoint(CHOICES):
        model = read_choices(document, model)
    dampings = {one.get("name", ""): read_dampings(document, one) for one in elements}
    return _with_dampings(model, dampings)


class _Structure(NamedTuple):
    """A tree of links and joints, and what closes it; `warnings` are of joints cut.

    coupled : the couplings, each with what messages call its place.
    """

    root: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    loops: tuple[Loop, ...] = ()
    independent: tuple[str, ...] | None = None
    warnings: Sequence[str] = ()
    coupled: Sequence[tuple[str, Coupling | Combination]] = ()


def _read_closures(
    document: XmlSource, links: tuple[Link, ...], joints: tuple[Joint, ...], remarks: Remarks
) -> _Structure:
    """The tree and all that closes it: loops, couplings and joints that share a child."""
    robot = document.root
    marks = read_marks(document, remarks)
    couplings = [
        read_coupling(document, element, remarks) for element in robot.iterchildren("coupling")
    ]
    needed = _needed(joints, marks, couplings)
    joints, cut = cut_joints(links, joints, needed)
    root = find_root(document.name, links, joints)
    closings: list[Loop | HeldJoint] = [
        read_loop(document, element) for element in robot.iterchildren("loop")
    ]
    closings += read_foreign_loops(document, joints)
    held = held_joints(cut, needed)
    kept = {one.name for one in held}
    coupled = [
        (f'{document.name}:{one.line}: <coupling name="{one.name}">', one) for one in couplings
    ]
    check_closures(links, joints, _placed(document.name, closings, coupled, cut))
    warnings = cut_warnings(document.name, joints, cut, held)
    marked = (*joints, *(one.joint for one in held))  # those of loops have no marks
    loops = [loop_of(joint) for joint in cut if joint.name not in kept]
    independent = None
    if marks:
        independent = independent_joints(document.name, marked, marks, [*closings, *loops])
    held += [one for one in closings if isinstance(one, HeldJoint)]
    loops = [one for one in closings if isinstance(one, Loop)] + loops
    loops += [one.loop for one in held]
    joints += tuple(one.joint for one in held)
    links += tuple(one.link for one in held)
    check_unique(document.name, joints, "joint")
    return _Structure(root, links, joints, tuple(loops), independent, warnings, coupled)


def _with_dampings(model: Model, dampings: Mapping[str, tuple[float, ...]]) -> Model:
    """The model with joints split whose coordinates have different dampings."""
    differing = {one.name for one in model.joints if len(set(dampings.get(one.name, ()))) > 1}
    if not differing:
        return model
    model = split_joints(model, differing)
    of_part: dict[str, float] = {}
    for name in differing:
        those = (one.name for one in model.joints if one.part_of == name)
        of_part |= zip(those, dampings[name], strict=True)
    return replace(model, joints=tuple(
        replace(one, damping=of_part.get(one.name, one.damping)) for one in model.joints
    ))  # fmt: skip


def _with_world(
    document: XmlSource, remarks: Remarks, links: tuple[Link, ...], joints: tuple[Joint, ...]
) -> tuple[Link, ...]:
    """The links, and the world as one more where joints hang on it and nobody declares it."""
    elements = document.root.iterchildren("joint")
    hanging = [one for one, joint in zip(elements, joints, strict=True) if joint.parent == WORLD]
    if not hanging or any(link.name == WORLD for link in links):
        return links
    for element in hanging:
        problem = f"its parent {WORLD!r} is not declared; taken as a link without inertia"
        remarks.add(element, problem)
    return (Link(WORLD), *links)


def _foreign(document: XmlSource) -> Iterator[tuple[Element, str, str]]:
    """The elements that are read by other programs, and their places."""
    for element in document.root:
        if element.tag not in OWN["robot"] and local_name(element) not in LOOPS:
            yield element, "robot", ""
    for owner in ("link", "joint"):
        for element in document.root.iterchildren(owner):
            for child in element:
                if child.tag not in OWN[owner]:
                    yield child, owner, element.get("name", "")


def _needed(
    joints: Iterable[Joint],
    marks: Mapping[str, bool],
    couplings: Iterable[Coupling | Combination],
) -> set[str]:
    """Joints that must have a position of their own."""
    needed = {name for name, independent in marks.items() if independent}
    for one in couplings:
        if isinstance(one, Combination):
            needed |= {name for name, _ in one.factors}
    for joint in joints:
        if joint.mimic is not None:
            needed |= {joint.name, joint.mimic.joint}
    return needed


def _placed(
    source: str,
    closings: list[Loop | HeldJoint],
    couplings: Iterable[tuple[str, Coupling | Combination]],
    cut: Iterable[Joint],
) -> Iterator[tuple[str, Loop | Coupling | Combination]]:
    """All that closes loops, with its place for messages."""
    for one in closings:
        loop = one if isinstance(one, Loop) else one.written_loop
        yield f'{source}:{loop.line}: <loop name="{loop.name}">', loop
    yield from couplings
    for joint in cut:
        yield f'{source}:{joint.line}: <joint name="{joint.name}">', loop_of(joint)


def _refuse_xacro(document: XmlSource) -> None:
    for prefix, namespace in document.root.nsmap.items():
        if prefix == "xacro" or "xacro" in namespace:
            for element in document.root.iter(f"{{{namespace}}}*"):
                name = local_name(element)
                way = ", or load the text with xacro={}" if document.name == TEXT else ""
                raise document.error(
                    element,
                    f"<{prefix}:{name}> is not expanded; run xacro first "
                    f"(xacro robot.urdf.xacro > robot.urdf){way}",
                )


def _remark_gazebo_joints(document: XmlSource, remarks: Remarks) -> None:
    """A joint in `<gazebo>` is how people close loops for Gazebo: say that it is not there."""
    for gazebo in document.root.iterchildren("gazebo"):
        for joint in gazebo.iterchildren("joint"):
            remarks.add(joint, NO_GAZEBO_JOINT)


def _keep_first_origins(document: XmlSource, remarks: Remarks) -> None:
    """Of several origins of a joint keep the first, which alone urdfdom reads."""
    for joint in document.root.iterchildren("joint"):
        origins = list(joint.iterchildren("origin"))
        if len(origins) > 1:
            lines = ", ".join(str(one.sourceline) for one in origins)
            remarks.add(
                joint,
                f"has {len(origins)} <origin> elements (lines {lines}); the first is taken, as "
                "ROS takes it",
            )
        for one in origins[1:]:
            joint.remove(one)


def _remark_degrees(document: XmlSource, remarks: Remarks) -> None:
    """Remark origins of joints, links and loop frames whose rpy looks like degrees."""
    carriers = ("joint", "inertial", "predecessor", "successor")
    for element in document.root.iter(*carriers):
        origin = element.find("origin")
        if origin is not None:
            problem = in_degrees(document.vector(origin, "rpy", (0.0, 0.0, 0.0)))
            if problem:
                remarks.add(element, problem)


def read_link(
    document: XmlSource, element: Element, remarks: Remarks, materials: Mapping[str, Material]
) -> Link:
    """Read one link: its name, its inertia and its shapes."""
    return Link(
        document.read_name(element),
        read_inertia(document, element, remarks),
        element.sourceline,
        read_collisions(document, element),
        read_visuals(document, element, materials),
    )


def read_inertia(document: XmlSource, link: Element, remarks: Remarks) -> Inertia | None:
    """The inertia of a link, its moments turned from the inertial frame into link axes."""
    inertial = document.child(link, "inertial")
    if inertial is None:
        return None
    pose = read_pose(document, inertial)
    mass_element = document.child(inertial, "mass")
    if mass_element is None:
        raise document.error(
            inertial, 'has no <mass>; add <mass value="..."/> or remove the <inertial>'
        )
    mass = document.number(mass_element, "value")
    if mass < 0.0:
        raise document.error(
            mass_element, f'value="{mass_element.get("value")}" is a negative mass; correct it'
        )
    moments = np.zeros((3, 3))
    element = document.child(inertial, "inertia")
    if element is None:
        if mass > 0.0:
            remarks.add(inertial, "has no <inertia>; taken as a point mass")
    else:
        ixx, iyy, izz = (document.number(element, key) for key in ("ixx", "iyy", "izz"))
        ixy, ixz, iyz = (document.number(element, key, 0.0) for key in ("ixy", "ixz", "iyz"))
        moments = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
        turned = pose.rotation @ moments @ pose.rotation.T
        moments = (turned + turned.T) / 2
    return Inertia(mass, pose.translation, moments)


def driven_joints(document: XmlSource, movable: set[str]) -> tuple[str, ...]:
    """Joints with a command interface in `<ros2_control>`, or in a `<transmission>`, in order.

    movable : names of the joints that can be driven; others are left out.
    """
    return tuple(dict.fromkeys(name for name in _named(document) if name in movable))


def _named(document: XmlSource) -> Iterator[str | None]:
    for control in document.root.iter("ros2_control"):
        for joint in control.iter("joint"):
            if joint.find("command_interface") is not None:
                yield joint.get("name")
    for transmission in document.root.iterchildren("transmission"):
        for joint in transmission.iterchildren("joint"):
            yield joint.get("name")
