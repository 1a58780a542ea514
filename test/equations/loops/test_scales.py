"""Loops of any size: what counts in a robot of metres counts in one of nanometres."""

from __future__ import annotations

import numpy as np
import pytest
from rounded_robots import mechanism, scaled

import mbdyn_ros

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.mark.sparse
@pytest.mark.parametrize(
    ("kind", "factors"),
    [
        ("crank-rocker", (1e-9, 1e-6, 1e3, 1e6)),
        ("triangle", (1e-9, 1e6)),
        ("five-bar", (1e-9, 1e6)),
        ("Bennett", (1e-9, 1e6)),
        pytest.param("spherical wrist", (1e-9, 1e-6, 1e-3, 1e3, 1e6), marks=pytest.mark.long),
        pytest.param("excavator", (1e-9, 1e-6, 1e-3, 1e3), marks=pytest.mark.long),
        pytest.param("spatial spherical", (1e-9, 1e-3, 1e3), marks=pytest.mark.long),
    ],
)
def test_a_robot_of_any_size_moves_like_its_model(kind: str, factors: tuple[float, ...]) -> None:
    m = mechanism(kind)
    pair = m.pair()
    robot, (q, v, a, _) = pair.robot, pair.state(1, reach=0.2)
    whole, mass = robot.joint_state(q, v, a), robot.mass_matrix(q)
    slides = {joint.name for joint in m.joints if joint.type == "prismatic"}
    for factor in factors:
        other = scaled(m, factor).load()
        units = np.array([factor if x in slides else 1.0 for x in robot.independent_joints])
        every = np.array([factor if x in slides else 1.0 for x in robot.joint_names])
        for ours, theirs in zip(other.joint_state(q * units, v * units, a * units), whole,
                                strict=True):  # fmt: skip
            assert ours is not None and theirs is not None
            assert np.abs(ours / every - theirs).max() < 1e-12 * np.abs(theirs).max()
        ours = other.mass_matrix(q * units) * np.outer(units, units) / factor**2
        assert np.abs(ours - mass).max() < 1e-12 * np.abs(mass).max()


def test_links_of_micrometres_beside_moments_of_inertia_of_centimetres() -> None:
    """Whose rows a rounding to an absolute number of digits would not distinguish."""
    bars = [("a", 1.8e-6, -1.9), ("b", 0.47e-6, 3.24), ("c", 1.51e-6, -2.18)]

    def text(unit: float) -> str:
        a, b, c = (length * unit for _, length, _ in bars)
        links = "".join(
            f'<link name="{name}"><inertial><mass value="{unit**-2!r}"/><origin xyz="0 0 0"/>'
            '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            for name in "abc"
        )
        joints = "".join(
            f'<joint name="j{child}" type="continuous"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{x!r} 0 0"/><axis xyz="0 0 1"/></joint>'
            for parent, child, x in (("w", "a", 0.0), ("a", "b", a), ("w", "c", 0.38e-6 * unit))
        )
        return (
            f'<robot name="r"><link name="w"/>{links}{joints}<loop name="p" type="revolute">'
            f'<predecessor link="b"><origin xyz="{b!r} 0 0"/></predecessor><successor link="c">'
            f'<origin xyz="{c!r} 0 0"/></successor><axis xyz="0 0 1"/></loop></robot>'
        )

    home = {"ja": -1.9, "jb": 3.24, "jc": -2.18}
    tiny, plain = (mbdyn_ros.load(text(unit), home=home) for unit in (1.0, 1e6))
    q = [tiny.home[tiny.independent_joints[0]] + 0.05]
    for ours, theirs in zip(tiny.joint_state(q, [1.0], [0.5]), plain.joint_state(q, [1.0], [0.5]),
                            strict=True):  # fmt: skip
        np.testing.assert_allclose(ours, theirs, rtol=1e-11)
    np.testing.assert_allclose(tiny.mass_matrix(q), plain.mass_matrix(q), rtol=1e-11)


@pytest.mark.parametrize("factor", [1e-9, 1e6])
def test_the_end_of_a_slide_is_known_at_any_size(factor: float) -> None:
    m = mechanism("triangle")
    if m.independent != [(slide := next(x.name for x in m.joints if x.type == "prismatic"))]:
        m.independent = [slide]
    plain, other = m.load(), scaled(m, factor).load()
    far = plain.home[slide] + 50.0
    ends = []
    for robot, unit in ((plain, 1.0), (other, factor)):
        with pytest.raises(mbdyn_ros.InputError, match="the nearest that can be reached") as caught:
            robot.joint_state([far * unit])
        ends.append(float(str(caught.value).split(f"reached is {slide} = ")[1].split()[0]) / unit)
    assert ends[0] == pytest.approx(ends[1], rel=2e-3)


@pytest.mark.parametrize("far", [1e17, 1e300])
def test_positions_that_are_none_are_refused_at_once(far: float) -> None:
    m = mechanism("triangle")
    m.independent = [next(x.name for x in m.joints if x.type == "prismatic")]
    with pytest.raises(mbdyn_ros.InputError, match="a gap of") as caught:
        m.load().joint_state([far])
    assert f"a gap of {far:.3g} m is left" in str(caught.value)
    with pytest.raises(mbdyn_ros.InputError, match="farther than 500000"):
        mechanism("Bennett").load().joint_state([far])
