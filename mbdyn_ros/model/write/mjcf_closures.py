"""Loops, couplings and mimics as MuJoCo's equalities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..closing_types import Rotation, Translation
from ..model import Array, Coupling, Inertia, Loop, Model, Pose, factors_of
from ..pose import across, rotation_onto
from .elements import element, number, numbers
from .mjcf_inertias import least, scaled

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

ARM = 0.1
"""Distance (m) along its axis of the two points that close a hinge."""


@dataclass(frozen=True, eq=False)
class ClosingBody:
    """A body that hangs on a loop's predecessor by the closing joint.

    It carries a share of its successor, to which it is welded by `site`. steps : name, type and
    axis of its joints. home : their positions.
    """

    name: str
    site: str
    pose: Pose
    steps: tuple[tuple[str, str, Array], ...]
    home: list[float]
    inertia: Inertia


class Closings:
    """The sites and bodies by which loops are closed.

    Parameters
    ----------
    home : positions (nq,) of the joints where the loops are closed.
    """

    def __init__(self, model: Model, home: Mapping[str, Array], omitted: list[str]) -> None:
        self._sites: dict[str, list[tuple[str, Pose]]] = {}
        self._bodies: dict[str, list[ClosingBody]] = {}
        self._shared: dict[str, int] = {}
        self.equalities: list[tuple[str, dict[str, str]]] = []
        own = [loop for loop in model.loops if not _is_plain(loop)]
        for loop in own:
            self._shared[loop.successor] = self._shared.get(loop.successor, 0) + 1
        for loop in model.loops:
            if loop in own:
                self._add_body(model, loop, home, omitted)
            else:
                self._add_sites(loop)

    def shares(self) -> dict[str, float]:
        """How much of its inertia a link keeps."""
        return {link: 1 / (1 + count) for link, count in self._shared.items()}

    def sites_on(self, link: str) -> list[tuple[str, Pose]]:
        """The sites on a link, by name."""
        return self._sites.get(link, [])

    def bodies_on(self, link: str) -> list[ClosingBody]:
        """The closing bodies that hang on a link."""
        return self._bodies.get(link, [])

    def _site(self, link: str, name: str, pose: Pose) -> str:
        self._sites.setdefault(link, []).append((name, pose))
        return name

    def _pair(self, loop: Loop, mark: str, at: Array) -> dict[str, str]:
        """A site on either end, `at` in the loop's frame."""
        there = Pose(np.eye(3), at)
        return {
            "site1": self._site(
                loop.predecessor, f"{loop.name}/predecessor{mark}", loop.predecessor_frame @ there
            ),
            "site2": self._site(
                loop.successor, f"{loop.name}/successor{mark}", loop.successor_frame @ there
            ),
        }

    def _add_sites(self, loop: Loop) -> None:
        tag = "weld" if loop.closing.turn is Rotation.NOWHERE else "connect"
        sites = self._pair(loop, "", np.zeros(3))
        self.equalities.append((tag, {"name": loop.name, **sites}))
        if loop.closing.turn is Rotation.ABOUT:
            sites = self._pair(loop, "/axis", ARM * loop.axis)
            self.equalities.append((tag, {"name": f"{loop.name}/axis", **sites}))

    def _add_body(
        self, model: Model, loop: Loop, home: Mapping[str, Array], omitted: list[str]
    ) -> None:
        site = f"{loop.name}/end"
        steps = tuple(_steps(loop))
        successor = model.link(loop.successor).inertia
        if successor is None or not successor.mass:
            omitted.append(
                f'that what closes the loop "{loop.name}" has no mass: as its successor has none '
                "to share, MuJoCo gets the smallest it takes, and holds the loop softly"
            )
            inertia = least(None)
        else:
            share = 1 / (1 + self._shared[loop.successor])
            inertia = _moved(scaled(successor, share), loop.successor_frame.inverse())
        apart = (link_pose(model, home, loop.predecessor) @ loop.predecessor_frame).inverse() @ (
            link_pose(model, home, loop.successor) @ loop.successor_frame
        )
        body = ClosingBody(
            f"{loop.name}/end", site, loop.predecessor_frame, steps, _positions(loop, apart),
            inertia,
        )  # fmt: skip
        self._bodies.setdefault(loop.predecessor, []).append(body)
        other = self._site(loop.successor, f"{loop.name}/successor", loop.successor_frame)
        self.equalities.append(("weld", {"name": loop.name, "site1": site, "site2": other}))


def write_equalities(root: Element, model: Model, closings: Closings, omitted: list[str]) -> None:
    """All constraints, and the tendons that couple more than two joints."""
    tendons, equalities = element(root, "tendon"), element(root, "equality")
    for tag, attributes in closings.equalities:
        element(equalities, tag, **attributes)
    for joint in model.joints:
        if joint.mimic is not None:
            _tie(
                equalities, f"{joint.name}/mimic", joint.name, joint.mimic.joint,
                joint.mimic.offset, joint.mimic.multiplier,
            )  # fmt: skip
        if joint.type == "screw":
            _tie(
                equalities, f"{joint.name}/pitch", f"{joint.name}/way", joint.name, 0.0,
                joint.numbers["pitch"],
            )  # fmt: skip
    for coupling in model.couplings:
        offset = 0.0 if isinstance(coupling, Coupling) else coupling.offset
        factors = factors_of(model, coupling)
        powers, laws = ({}, ()) if isinstance(coupling, Coupling) else (
            dict(coupling.powers), coupling.laws
        )  # fmt: skip
        if (
            not laws
            and len(factors) == 2
            and all(len(more) < QUARTIC - 1 for more in powers.values())
        ):
            (one, first), (two, second) = sorted(factors, key=lambda factor: factor[0] in powers)
            more = tuple(-coefficient / first for coefficient in powers.get(two, ()))
            _tie(equalities, coupling.name, one, two, offset / first, -second / first, more)
            continue
        if powers or laws:
            coupled = ", ".join(name for name, _ in factors)
            omitted.append(f'coupling "{coupling.name}" of {coupled}: no quartic of one joint')
            continue
        tendon = element(tendons, "fixed", name=coupling.name)
        for name, factor in factors:
            element(tendon, "joint", joint=name, coef=number(factor))
        element(
            equalities, "tendon", name=coupling.name, tendon1=coupling.name,
            polycoef=numbers((offset, 0, 0, 0, 0)),
        )  # fmt: skip


QUARTIC = 5
"""Numbers of a polynomial of MuJoCo's."""


def _tie(
    equalities: Element, name: str, one: str, two: str, offset: float, factor: float,
    powers: tuple[float, ...] = (),
) -> None:  # fmt: skip
    polynomial = (offset, factor, *powers, *(0.0,) * QUARTIC)[:QUARTIC]
    element(equalities, "joint", name=name, joint1=one, joint2=two, polycoef=numbers(polynomial))


def link_pose(model: Model, home: Mapping[str, Array], link: str) -> Pose:
    """Pose of a link in the root link with the joints at those positions."""
    pose = Pose()
    while (joint := model.joint_to(link)) is not None:
        moved = joint.pose(home[joint.name]) if joint.nv else Pose()
        pose, link = joint.origin @ moved @ pose, joint.parent
    return pose


def _is_plain(loop: Loop) -> bool:
    """Whether sites alone close a loop: nothing slides, and it turns about an axis, or all."""
    closing = loop.closing
    return closing.slide is Translation.NOWHERE and closing.turn is not Rotation.BEND


def _steps(loop: Loop) -> Iterator[tuple[str, str, Array]]:
    """The joints that do what the closing joint leaves free."""
    axis, closing = loop.axis, loop.closing
    if closing.slide is Translation.ALONG:
        yield f"{loop.name}/way", "slide", axis
    if closing.slide is Translation.ACROSS:
        for k, key in enumerate("xy"):
            yield f"{loop.name}/{key}", "slide", rotation_onto(axis)[:, k]
    if closing.turn is Rotation.ABOUT:
        yield f"{loop.name}/angle", "hinge", axis
    if closing.turn is Rotation.BEND:
        for key, pin in zip(("first", "second"), across(axis), strict=True):
            yield f"{loop.name}/{key}", "hinge", pin


def _positions(loop: Loop, apart: Pose) -> list[float]:
    """Where those joints are, with the successor's frame `apart` in the predecessor's."""
    first, second = across(loop.axis)
    turned, back = apart.rotation @ second, apart.rotation.T @ first
    if loop.closing.turn is Rotation.ABOUT:
        angles = {"angle": np.arctan2(-turned @ first, turned @ second)}
    else:  # the first pin turns the second one, which turns the axis
        angles = {
            "first": np.arctan2(turned @ loop.axis, turned @ second),
            "second": np.arctan2(back @ loop.axis, back @ first),
        }
    return [
        float(apart.translation @ axis if kind == "slide" else angles[name.rpartition("/")[2]])
        for name, kind, axis in _steps(loop)
    ]


def _moved(inertia: Inertia, pose: Pose) -> Inertia:
    """An inertia in another frame, in which the old one is at `pose`."""
    moments = pose.rotation @ inertia.moments @ pose.rotation.T
    center = pose.rotation @ inertia.center + pose.translation
    return Inertia(inertia.mass, center, (moments + moments.T) / 2)
