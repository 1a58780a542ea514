"""The positions z that CasADi functions of loops without closed form take: order and meaning."""

import numpy as np
import pytest

import mbdyn_ros

pytestmark = pytest.mark.usefixtures("interpreted")

BODY = """<inertial><origin xyz="{c}"/><mass value="{m}"/>
<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial>"""


def rssr(size, ball):
    """Return a crank and a rocker in crossing planes; the coupler's first joint is `ball`."""

    def at(*xyz):
        return " ".join(str(size * x) for x in xyz)

    def body(m, *c):
        return BODY.format(c=at(*c), m=m * size**3, i=0.01 * m * size**5)

    return f"""<robot name="rssr"><link name="base"/><link name="crank">{body(1, 0.15, 0, 0)}</link>
    <link name="coupler">{body(2, 0.25, 0.15, 0.35)}</link>
    <link name="rocker">{body(1.5, 0, 0.05, 0.35)}</link>
    <joint name="crank_joint" type="continuous"><parent link="base"/><child link="crank"/>
      <axis xyz="0 0 1"/></joint>
    <joint name="wrist" type="{ball}"><parent link="crank"/><child link="coupler"/>
      <origin xyz="{at(0.3, 0, 0)}"/>{'<axis xyz="0 1 0"/>' * (ball == "universal")}</joint>
    <joint name="rocker_joint" type="continuous"><parent link="base"/><child link="rocker"/>
      <origin xyz="{at(0.8, 0.2, 0)}"/><axis xyz="1 0 0"/></joint>
    <loop name="end" type="spherical">
      <predecessor link="coupler"><origin xyz="{at(0.5, 0.3, 0.7)}"/></predecessor>
      <successor link="rocker"><origin xyz="{at(0, 0.1, 0.7)}"/></successor></loop></robot>"""


ROBOTS = {
    "universal RSSR": lambda: mbdyn_ros.load(rssr(1.0, "universal")),
    "universal RSSR of kilometres": lambda: mbdyn_ros.load(rssr(1000.0, "universal")),
    "universal RSSR of millimetres": lambda: mbdyn_ros.load(rssr(0.001, "universal")),
    "RSSR": lambda: mbdyn_ros.load(rssr(1.0, "spherical")),
    "Stewart": lambda: mbdyn_ros.example("stewart"),
    "delta": lambda: mbdyn_ros.example("delta"),
}


@pytest.mark.sparse
@pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning")
@pytest.mark.parametrize("name", ROBOTS)
def test_names_and_numbers_of_z_are_those_of_joint_state(name):
    robot = ROBOTS[name]()
    q = robot.home_position + (0.05 if "RSSR" in name else 0.005)
    z = robot.numerical_positions(q)
    labels = robot.system.coordinates.joint_labels
    assert len(set(robot.numerical_joints)) == len(robot.numerical_joints) == z.size > 0
    by_name = dict(zip(labels, robot.joint_state(q)[0], strict=True))
    assert [by_name[one] for one in robot.numerical_joints] == z.tolist()
    gap = np.array(robot.casadi("closure")(q, z))
    assert np.abs(gap).max() < (1e-8 if "kilometres" in name else 1e-11)
    expected = robot.mass_matrix(q)
    error = np.array(robot.casadi("mass_matrix")(q, z)) - expected
    assert np.abs(error).max() < 1e-12 * np.abs(expected).max()
    rows = robot.numerical_positions([q, robot.home_position])
    assert rows.shape == (2, z.size) and np.abs(rows[0] - z).max() < 1e-12


def test_joints_of_several_coordinates_are_distinguished():
    robot = mbdyn_ros.load(rssr(1.0, "universal"))
    assert robot.numerical_joints == ("rocker_joint", "wrist/first", "wrist/second")
    with pytest.warns(DeprecationWarning, match="numerical_joints"):
        assert robot.walked_joints == robot.numerical_joints
    assert mbdyn_ros.example("four_bar").numerical_positions([0.3]).shape == (0,)
