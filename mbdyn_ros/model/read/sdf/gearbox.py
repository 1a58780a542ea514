"""The `gearbox` of an SDF: two hinges on one body, whose turns it ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...model import Combination
from .frames import Frames
from .joints import SdfJoint, axis_of, end_of
from .scope import Scope
from .words import number

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

ALONG_HINGE = 1e-6
"""Sine of the largest angle between a gearbox's axis and that of its hinge."""


def read_gearbox(
    scope: Scope, element: Element, frames: Frames, joints: Sequence[SdfJoint]
) -> Combination:
    """theta_2 = -ratio theta_1, the turns of child and parent from the reference body.

    Raises
    ------
    ModelError
        There is no hinge between the reference body and an end, or its axis is another one.
    """
    document = scope.document
    name = scope.full(document.read_name(element))
    ratio = number(document, element, "gearbox_ratio", 1.0)
    if ratio == 0.0:
        raise document.error(element, "its <gearbox_ratio> is 0 and would hold the child still")
    body = end_of(scope, element, "gearbox_reference_body", frames)
    factors = []
    for role, tag, weight in (("parent", "axis", ratio), ("child", "axis2", 1.0)):
        link = end_of(scope, element, role, frames)
        axis = frames.pose(frames.joint(name)).rotation @ axis_of(scope, element, tag, frames, name)
        hinge, sign = _hinge(body, link, joints)
        if hinge is None:
            raise document.error(
                element,
                f'no hinge joins its reference body "{body}" to its {role} "{link}"; a gearbox '
                "ties two hinges on one body",
            )
        turned = frames.pose(hinge.joint.parent) @ hinge.joint.origin
        along = float(turned.rotation @ hinge.joint.axis @ axis)
        if np.sqrt(max(0.0, 1.0 - along * along)) > ALONG_HINGE:
            raise document.error(
                element, f'its <{tag}> is not parallel to the axis of joint "{hinge.joint.name}"'
            )
        factors.append((hinge.joint.name, weight * sign * float(np.sign(along))))
    return Combination(name, tuple(factors), 0.0, element.sourceline)


def _hinge(body: str, link: str, joints: Sequence[SdfJoint]) -> tuple[SdfJoint | None, float]:
    """The hinge between two links, and 1 where it turns the second, -1 where the first."""
    for one in joints:
        if one.joint.type in ("revolute", "continuous"):
            if (one.joint.parent, one.joint.child) == (body, link):
                return one, 1.0
            if (one.joint.parent, one.joint.child) == (link, body):
                return one, -1.0
    return None, 0.0
