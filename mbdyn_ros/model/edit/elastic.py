"""A link made elastic: cut across into rigid segments that torsion springs hold together.

An even beam of the length L bends by M = EI / r. Cut into n + 1 segments, of L/n each and of half
of that at both ends, with springs of k = EI n / L in between, it has the beam's deflections and
eigenfrequencies to second order in 1/n (Wittbrodt, Adamiec-Wojcik and Wojciech, Dynamics of
Flexible Multibody Systems, 2006: rigid finite elements). Straight, the segments together have the
mass, the centre and the moments that the link had, to rounding: what holds of the rigid robot holds
of this one at bends of 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...errors import InputError
from ..inertia import Inertia
from ..model import Array, Joint, Model, Pose
from ..split_joints import whole_joints
from .parts import direction, require, split_where_named, three_numbers

LACKING = 1e-6
"""Share of a beam's moment by which a link's own may fall short of it: rounding of a file."""

AT_END = 1e-9
"""Distance (m) from the end of a beam that rounding of a file explains."""


def with_elastic_link(
    model: Model,
    link: str,
    start: Sequence[float],
    end: Sequence[float],
    rigidity: Sequence[tuple[Sequence[float], float]],
    segments: int = 4,
    loss_time: float = 0.0,
) -> Model:
    """The robot with an elastic link, as n + 1 rigid segments between n springs.

    Parameters
    ----------
    link : its name. The frame of that name, with its shapes, stays where it was: on the last
        segment if the beam ends at its origin, as links of a DH table do, else on the first.
        Segments are called LINK_1, LINK_2, ..., springs LINK_bend_1 to LINK_bend_n (with a second
        number where there are several directions).
    start, end : (3,) m in its frame, of the beam: `start` is on the side of the link's parent.
        Joints that the link carries are at one of them.
    rigidity : pairs of an axis (3,) in the link's frame and EI in N m^2, by which it bends about
        it; along the beam GJ, by which it twists.
    segments : n, the springs for each axis.
    loss_time : s, damping over stiffness (Kelvin and Voigt).

    Raises
    ------
    InputError
        There is no such link; it is part of a loop, or carries a joint elsewhere; its moments
        are less than those of an even beam of its mass, or a number is impossible.
    """
    model = whole_joints(model)
    require(model, "link", link, model._links)
    what = f"{model.source}: link {link!r}"
    begin, finish = (
        np.array(three_numbers(model.source, name, one))
        for name, one in (("start", start), ("end", end))
    )
    beam = finish - begin
    length = float(np.linalg.norm(beam))
    if not length > 0:
        raise InputError(f"{what}: its beam starts where it ends; give both places")
    if isinstance(segments, bool) or not isinstance(segments, int) or segments < 1:
        raise InputError(f"{what}: segments is {segments!r}; give a whole number from 1 on")
    if not (np.isfinite(loss_time) and loss_time >= 0):
        raise InputError(f"{what}: loss_time is {loss_time!r}; give seconds, 0 or more")
    springs = [(direction(model.source, "axis", axis), float(size)) for axis, size in rigidity]
    for _, size in springs:
        if not (np.isfinite(size) and size > 0):
            raise InputError(f"{what}: a rigidity is {size:g}; give EI or GJ in N m^2 above 0")
    if not springs:
        raise InputError(f"{what}: rigidity is empty; give [(axis, EI in N m^2), ...]")
    if any(link in (loop.predecessor, loop.successor) for loop in model.loops):
        raise InputError(f"{what} closes a loop; take a link of no loop's, or open the loop there")
    outer = float(np.linalg.norm(finish)) < AT_END
    if outer and link == model.root:
        raise InputError(f"{what} is the root; let its beam start at its origin")
    old = model.link(link)
    inertias = _shared(what, old.inertia, begin, beam, segments)
    frame = replace(old, inertia=None if outer else inertias[0])
    first = carrier = f"{link}_1" if outer else link
    bare = replace(old, visuals=(), collisions=())
    links = [replace(bare, name=first, inertia=inertias[0])] if outer else []
    joints: list[Joint] = []
    at = np.zeros(3)
    for k in range(1, segments + 1):
        place = begin + (k - 0.5) / segments * beam
        for i, (axis, size) in enumerate(springs, 1):
            name = f"{link}_{k + outer}" + (f"_{i}" if i < len(springs) else "")
            stiffness = size * segments / length
            joints.append(
                Joint(
                    f"{link}_bend_{k}" + (f"_{i}" if len(springs) > 1 else ""), "continuous",
                    carrier, name, Pose(np.eye(3), place - at), axis, damping=loss_time * stiffness,
                    spring_stiffness=stiffness,
                )
            )  # fmt: skip
            own = inertias[k] if i == len(springs) else None
            shifted = own and replace(own, center=own.center - place)
            links.append(replace(bare, name=name, inertia=shifted))
            carrier, at = name, place
    bends = tuple(one.name for one in joints)
    if outer:
        joints.append(Joint(f"{link}_end", "fixed", carrier, link, Pose(np.eye(3), -at)))
    new = {one.name for one in links} | {one.name for one in joints}
    known = {one.name for one in model.links} | {one.name for one in model.joints}
    if taken := sorted(new & known):
        raise InputError(f"{what}: there is a {taken[0]!r} already; rename it first")

    def moved(joint: Joint) -> Joint:
        if joint.child == link:
            return replace(joint, child=first)
        if joint.parent != link:
            return joint
        near, far = (
            float(np.linalg.norm(joint.origin.translation - one)) < AT_END
            for one in (begin, finish)
        )
        if not near and not far:
            raise InputError(
                f"{what} carries joint {joint.name!r} at {joint.origin.translation.tolist()} m, "
                f"which is neither end of its beam; let the beam end there"
            )
        if near or outer:
            return replace(joint, parent=first if near else link)
        place = joint.origin.translation - at
        return replace(joint, parent=carrier, origin=Pose(joint.origin.rotation, place))

    free = tuple(one.name for one in model.joints if one.nv and one.mimic is None)
    return split_where_named(
        replace(
            model,
            links=(*(frame if one.name == link else one for one in model.links), *links),
            joints=(*map(moved, model.joints), *joints),
            independent=None if model.independent is None else (*model.independent, *bends),
            actuated=free if model.actuated is None and not model.driven else model.actuated,
        )
    )


def _shared(
    what: str, inertia: Inertia | None, begin: Array, beam: Array, segments: int
) -> list[Inertia]:
    """The link's inertia in segments, in its frame: those of the beam, and the rest by length."""
    if inertia is None or not inertia.mass > 0:
        raise InputError(f"{what} has no mass to be shared; give it an inertia")
    shares = np.full(segments + 1, 1.0 / segments)
    shares[[0, -1]] /= 2
    middles = np.cumsum(shares) - shares / 2
    square = float(beam @ beam)
    across = square * np.eye(3) - np.outer(beam, beam)
    rest = inertia.moments - inertia.mass / 12 * across
    least = float(np.linalg.eigvalsh(rest).min())
    if least < -LACKING * inertia.mass * square:
        raise InputError(
            f"{what}: its moments of inertia are {-least:.3g} kg m^2 less than those of an even "
            f"beam of {inertia.mass:g} kg and {np.sqrt(square):g} m; give the part that bends"
        )
    return [
        Inertia(
            share * inertia.mass,
            inertia.center + (middle - 0.5) * beam,
            share * (share**2 * inertia.mass / 12 * across + rest),
        )
        for share, middle in zip(shares, middles, strict=True)
    ]
