"""Inertias as MuJoCo takes them: those of moving bodies positive, and such as bodies can have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..inertia import RigidInertia
from ..model import Array, Inertia, Model, Pose
from .elements import element, number, numbers

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

LEAST = 1e-12
"""Mass (kg) and moments (kg m^2) that a moving body has at least: MuJoCo refuses 0."""

SPARE = 1e-12
"""Share of the largest moment by which the other two together are larger, for MuJoCo's rounding."""

SLIGHT = 1e-9
"""Share of the largest moment up to which a change is not reported."""


class Inertias:
    """The inertia of every link as it is written.

    Parameters
    ----------
    shares : how much of its inertia a link keeps, where closing bodies carry the rest.
    omitted : takes words about those that had to change.
    """

    def __init__(self, model: Model, shares: Mapping[str, float], omitted: list[str]) -> None:
        self._written = {
            link.name: scaled(link.inertia, shares.get(link.name, 1.0))
            for link in model.links
            if link.inertia is not None and (link.inertia.mass or link.inertia.moments.any())
        }
        moving = {joint.child for joint in model.joints if joint.nv}
        moving |= {model.root} if model.floating_base else set()
        for head, members in _groups(model).items():
            self._fit(head, members, head in moving, omitted)

    def of(self, link: str) -> Inertia | None:
        """The inertia of a link; None for none."""
        return self._written.get(link)

    def _fit(self, head: str, members: Mapping[str, Pose], moves: bool, omitted: list[str]) -> None:
        """Let the links of a rigid body have what MuJoCo takes."""
        own = {name: self._written[name] for name in members if name in self._written}
        if not moves:
            for name, inertia in own.items():
                if not _is_sound(inertia):
                    del self._written[name]  # it does nothing there
            return
        if own and all(map(_is_sound, own.values())):
            return
        for name in own:
            del self._written[name]
        whole = _together(members, own)
        if not _is_sound(whole):
            before, whole = whole, _sound(whole)
            change = np.abs(whole.moments - before.moments).max()
            if not own:
                omitted.append(
                    f'that "{head}" has no mass: MuJoCo refuses that, and has {LEAST:g} kg'
                )
            elif change > SLIGHT * np.abs(before.moments).max():
                omitted.append(
                    f'the inertia of "{head}": MuJoCo takes none like it; its moments are changed '
                    f"by {change:.3g} kg m^2"
                )
        self._written[head] = whole


def write_inertial(body: Element, inertia: Inertia) -> None:
    """The `<inertial>` of a body."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.moments.tolist()
    one = element(body, "inertial", pos=numbers(inertia.center), mass=number(inertia.mass))
    if xy or xz or yz:
        one.set("fullinertia", numbers((xx, yy, zz, xy, xz, yz)))
    else:
        one.set("diaginertia", numbers((xx, yy, zz)))


def scaled(inertia: Inertia, share: float) -> Inertia:
    """A share of an inertia."""
    if share == 1.0:
        return inertia
    return replace(inertia, mass=share * inertia.mass, moments=share * inertia.moments)


def least(inertia: Inertia | None) -> Inertia:
    """An inertia, or the smallest that MuJoCo takes in its place."""
    if inertia is not None and _is_sound(inertia):
        return inertia
    return _sound(inertia or Inertia())


def _groups(model: Model) -> dict[str, dict[str, Pose]]:
    """The links of every rigid body, with their poses in its first one, by the first one."""
    place: dict[str, tuple[str, Pose]] = {}
    groups: dict[str, dict[str, Pose]] = {}

    def of(link: str) -> tuple[str, Pose]:
        if link not in place:
            joint = model.joint_to(link)
            if joint is None or joint.nv:
                place[link] = link, Pose()
            else:
                head, pose = of(joint.parent)
                place[link] = head, pose @ joint.origin
        return place[link]

    for link in model.links:
        head, pose = of(link.name)
        groups.setdefault(head, {})[link.name] = pose
    return groups


def _together(members: Mapping[str, Pose], own: Mapping[str, Inertia]) -> Inertia:
    """The inertia of all in the first link's axes, about their centre of mass."""
    whole = RigidInertia.sum([(members[name], inertia) for name, inertia in own.items()])
    center = whole.center
    about = np.dot(center, center) * np.eye(3) - np.outer(center, center)
    return Inertia(whole.mass, center, whole.second - whole.mass * about)


def _is_sound(inertia: Inertia) -> bool:
    a, b, c = np.linalg.eigvalsh(inertia.moments)
    return bool(inertia.mass >= LEAST and a >= LEAST and a + b >= c * (1 + SPARE))


def _sound(inertia: Inertia) -> Inertia:
    """The nearest that MuJoCo takes: moments raised."""
    moments, axes = np.linalg.eigh((inertia.moments + inertia.moments.T) / 2)
    moments = np.maximum(moments, LEAST)
    moments[0] = max(moments[0], moments[2] * (1 + 2 * SPARE) - moments[1])
    turned: Array = axes @ np.diag(moments) @ axes.T
    return Inertia(max(inertia.mass, LEAST), inertia.center, (turned + turned.T) / 2)
