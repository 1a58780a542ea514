"""A `<link>` of a URDF."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..model import Inertia, Link
from .placement import read_pose
from .remarks import Remarks
from .shape import Material, read_collisions, read_visuals
from .xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


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
