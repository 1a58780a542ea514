"""The robots of tests, as URDF text: links, joints and the small robots that many tests share."""

from __future__ import annotations

from collections.abc import Sequence

Moments = float | Sequence[float]
"""Of a link about its centre of mass, kg m^2: three alike; ixx, iyy, izz; or ixy, ixz, iyz too."""


def inertial(mass: float = 1.0, moments: Moments = 1.0, at: str = "0 0 0", rpy: str = "") -> str:
    """Mass (kg), centre of mass (m) and moments of inertia."""
    given = [moments] * 3 if isinstance(moments, (int, float)) else list(moments)
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    inertia = " ".join(
        f'{name}="{float(value)!r}"' for name, value in zip(names, [*given, 0, 0, 0], strict=False)
    )
    turned = f' rpy="{rpy}"' if rpy else ""
    return (
        f'<inertial><origin xyz="{at}"{turned}/><mass value="{float(mass)!r}"/><inertia {inertia}/>'
        "</inertial>"
    )


def link(
    name: str, mass: float = 1.0, moments: Moments = 1.0, at: str = "0 0 0", more: str = ""
) -> str:
    """A link; one without mass has no inertial."""
    return f'<link name="{name}">{inertial(mass, moments, at) if mass else ""}{more}</link>'


AXIAL = ("continuous", "planar", "prismatic", "revolute")
"""Types of joints that go by an axis."""

LIMIT = '<limit lower="-9" upper="9" effort="9" velocity="9"/>'


def joint(
    name: str, parent: str, child: str, axis: str = "", at: str = "", *,
    kind: str = "continuous", rpy: str = "", more: str = "",
) -> str:  # fmt: skip
    """A joint at a place (m) of its parent; URDF wants limits of those that are not continuous."""
    origin = f'<origin xyz="{at or "0 0 0"}" rpy="{rpy or "0 0 0"}"/>' if at or rpy else ""
    turned = f'<axis xyz="{axis or "1 0 0"}"/>' if axis or kind in AXIAL else ""
    limit = LIMIT if kind in ("prismatic", "revolute") and "<limit" not in more else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{origin}{turned}{limit}{more}</joint>"
    )


def robot_text(*parts: str, name: str = "test", base: str = "world") -> str:
    """A robot of links and joints, the first of which stand on the link `base`."""
    ground = f'<link name="{base}"/>' if base else ""
    return f'<robot name="{name}">{ground}{"".join(parts)}</robot>'


def body_text(name: str, mass: float = 2.0, moments: Moments = 0.1, more: str = "") -> str:
    """A robot of one link, to fly and to fall."""
    return robot_text(link(name, mass, moments, more=more), name=name, base="")


def slide_text(
    mass: float = 2.0, lower: float = -9.0, upper: float = 9.0, axis: str = "0 0 1", *,
    body: str = "block", name: str = "slide",
) -> str:  # fmt: skip
    """A link on a joint along an axis of the world, between its stops."""
    limit = f'<limit lower="{lower}" upper="{upper}" effort="99" velocity="99"/>'
    return robot_text(
        link(body, mass),
        joint(name, "world", body, axis, kind="prismatic", more=limit),
        name="slide",
    )


def hinge_text(
    mass: float = 1.0, moments: Moments = 1.0, at: str = "0 0 0", axis: str = "0 1 0",
    kind: str = "continuous", more: str = "",
) -> str:  # fmt: skip
    """The link "rod", its centre of mass at a place (m), on the joint "hinge"."""
    return robot_text(
        link("rod", mass, moments, at), joint("hinge", "world", "rod", axis, kind=kind, more=more),
        name="pendulum",
    )  # fmt: skip


EMPTY = '<robot name="stone"><link name="stone"/></robot>'
"""A robot without mass and joints."""
