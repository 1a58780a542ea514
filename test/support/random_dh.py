"""Random DH tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st

pytest.importorskip("pinocchio")
import pinocchio as pin  # noqa: E402
from random_robots import random_inertia  # noqa: E402

import mbdyn_ros  # noqa: E402
from mbdyn_ros.model.read.dh_table import read_dh_table  # noqa: E402

Array = np.ndarray
QUARTER = np.pi / 2


@dataclass(frozen=True)
class Row:
    """One joint of a random table; moments as ixx, ixy, ixz, iyy, iyz, izz."""

    type: str
    a: float
    alpha: float
    d: float
    theta: float
    mass: float
    centre: tuple[float, ...]
    moments: tuple[float, ...]

    def matrix(self, q: float) -> Array:
        """A (4, 4), eqs (9) to (11), with the vector of (11) in the axes where (9) needs it."""
        theta = self.theta + q * (self.type == "revolute")
        d = self.d + q * (self.type == "prismatic")
        c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(self.alpha), np.sin(self.alpha)
        rotation = np.array([[c, -ca * s, sa * s], [s, ca * c, -sa * c], [0, sa, ca]])
        in_link = np.array([self.a, d * sa, d * ca])  # (11)
        result = np.eye(4)
        result[:3, :3], result[:3, 3] = rotation, rotation @ in_link
        return result


@dataclass(frozen=True)
class RandomDh:
    """A random DH table, as YAML and as Pinocchio sees it."""

    rows: tuple[Row, ...]

    @property
    def weight(self) -> float:
        return 9.81 * sum(row.mass for row in self.rows)

    def yaml(self) -> str:
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        lines = ["joints:"]
        for k, row in enumerate(self.rows):
            moments = ", ".join(f"{key}: {m!r}" for key, m in zip(keys, row.moments, strict=True))
            lines.append(
                f"- {{name: joint{k}, type: {row.type}, a: {row.a!r}, alpha: {row.alpha!r}, "
                f"d: {row.d!r}, theta: {row.theta!r}, mass: {row.mass!r}, "
                f"centre: {list(row.centre)!r}, inertia: {{{moments}}}}}"
            )
        return "\n".join(lines) + "\n"

    def robot(self) -> mbdyn_ros.Robot:
        return mbdyn_ros.Robot(read_dh_table(self.yaml()))

    def judge(self) -> pin.Model:
        """Pinocchio's model, built joint by joint from the table."""
        model = pin.Model()
        place, index = pin.SE3.Identity(), 0
        for k, row in enumerate(self.rows):
            kind = pin.JointModelRZ() if row.type == "revolute" else pin.JointModelPZ()
            turn = pin.SE3(pin.utils.rotate("z", row.theta), np.zeros(3))
            index = model.addJoint(index, kind, place * turn, f"joint{k}")
            place = pin.SE3(pin.utils.rotate("x", row.alpha), np.array([row.a, 0, row.d]))
            ixx, ixy, ixz, iyy, iyz, izz = row.moments
            moments = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
            inertia = pin.Inertia(row.mass, np.array(row.centre), moments)
            model.appendBodyToJoint(index, inertia, place)
        return model


@st.composite
def dh_robots(draw: st.DrawFn, joints: int = 12, least: int = 1) -> RandomDh:
    """Tables with the zeros and quarter turns of real ones, and without."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = []
    for k in range(draw(st.integers(least, joints))):
        link = random_inertia(f"link{k}", random)
        plain = draw(st.booleans())
        a, d = random.normal(size=2) * 0.4 * (random.random(2) < (0.5 if plain else 1.0))
        alpha, theta = random.integers(-2, 3, 2) * QUARTER if plain else random.uniform(-3, 3, 2)
        kind = draw(st.sampled_from(["revolute", "revolute", "prismatic"]))
        numbers = (float(a), float(alpha), float(d), float(theta))
        centre = tuple(float(x) for x in link.center)
        rows.append(Row(kind, *numbers, link.mass, centre, link.moments))
    return RandomDh(tuple(rows))
