"""Shapes of collision: where they touch, and what is said of those that cannot be used."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import mbdyn_ros
from mbdyn_ros import Environment, InputError, SimulationWarning, Surface
from mbdyn_ros.model.read.shape import mesh_surface
from mbdyn_ros.model.shapes import Sphere

trimesh = pytest.importorskip("trimesh")

BODY = """<robot name="thing"><link name="thing"><inertial><mass value="2"/>
  <inertia ixx="0.1" iyy="0.15" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>{}</link></robot>"""
COLLISION = "<collision>{origin}<geometry>{shape}</geometry></collision>"
FLOOR = Environment([Surface.plane(restitution=0, name="floor", friction=0.0)])


def thing(shape: str, origin: str = "") -> mbdyn_ros.Robot:
    text = BODY.format(COLLISION.format(shape=shape, origin=origin))
    return mbdyn_ros.load(text, floating_base=True)


def mesh_file(folder: Path, mesh: object, name: str = "body.stl") -> str:
    mesh.export(folder / name)  # type: ignore[attr-defined]
    return f'<mesh filename="file://{folder / name}" scale="1 2 1"/>'


def test_balls_and_corners() -> None:
    origin = '<origin xyz="0.1 0 0" rpy="1.5707963267948966 0 0"/>'
    (ball,) = FLOOR.contact_points(thing('<sphere radius="0.2"/>', origin))
    assert ball == ("thing", (0.1, 0, 0)) and ball.radius == 0.2
    ends = FLOOR.contact_points(thing('<capsule radius="0.1" length="0.4"/>', origin))
    assert [one.radius for one in ends] == [0.1, 0.1]
    np.testing.assert_allclose([one.xyz for one in ends], [[0.1, 0.2, 0], [0.1, -0.2, 0]])
    corners = FLOOR.contact_points(thing('<box size="0.2 0.4 0.6"/>', origin))
    places = np.array([one.xyz for one in corners])
    np.testing.assert_allclose(np.ptp(places, axis=0), [0.2, 0.6, 0.4])
    *rims, low, high = FLOOR.contact_points(thing('<cylinder radius="0.3" length="0.1"/>'))
    assert [low.xyz[2], high.xyz[2]] == [-0.05, 0.05]
    assert low.axis == high.axis == (0, 0, 1) and low.radius == high.radius == 0.3
    np.testing.assert_allclose([np.hypot(x, y) for _, (x, y, _) in rims], 0.3, rtol=2e-5)


def test_points_inside_others_are_left_out_where_walls_are_flat() -> None:
    shapes = COLLISION.format(origin="", shape='<box size="1 1 1"/>')
    shapes += COLLISION.format(origin="", shape='<sphere radius="0.2"/>')
    robot = mbdyn_ros.load(BODY.format(shapes), floating_base=True)
    assert len(FLOOR.contact_points(robot)) == 8
    assert (
        len(Environment([Surface.sphere(3.0, restitution=1.0, friction=0.0)]).contact_points(robot))
        == 9
    )


@pytest.mark.long
def test_a_box_rests_on_its_corners() -> None:
    robot = thing('<box size="0.6 0.4 0.2"/>')
    trajectory = mbdyn_ros.simulate(
        robot, [0, 0, 0.3, 0, 0, 0, 1], np.zeros(6), 0.4, environment=FLOOR
    )
    assert trajectory.q[-1, 2] == pytest.approx(0.1, abs=1e-9)
    assert len(trajectory.impacts[0].points) == 4


@pytest.mark.parametrize("name", ["body.stl", "body.obj", "body.dae"])
def test_corners_of_a_mesh(tmp_path: Path, name: str) -> None:
    """Of a box the eight corners, in metres of the mesh times its scale."""
    box = trimesh.creation.box((0.2, 0.1, 0.3)).subdivide()
    points = FLOOR.contact_points(thing(mesh_file(tmp_path, box, name)))
    assert len(points) == 8
    np.testing.assert_allclose(np.ptp([one.xyz for one in points], axis=0), [0.2, 0.2, 0.3])


@pytest.mark.parametrize("kind", ["stl", "stl_ascii"])
def test_stl_is_read_as_trimesh_reads_it(tmp_path: Path, kind: str) -> None:
    """The same corners in the same order: a binary file is read without it."""
    path = tmp_path / "body.stl"
    trimesh.creation.icosphere(2, 0.1).export(path, file_type=kind)
    corners, triangles = mesh_surface(path)
    theirs = trimesh.load_mesh(path)
    np.testing.assert_array_equal(corners, theirs.vertices)
    np.testing.assert_array_equal(triangles, theirs.faces)


def test_round_meshes_keep_few_corners(tmp_path: Path) -> None:
    """Those that stand out by 2 mm."""
    ball = trimesh.creation.icosphere(4, 0.1)
    points = FLOOR.contact_points(thing(mesh_file(tmp_path, ball)))
    assert 20 < len(points) < len(ball.vertices) / 10
    hull = ConvexHull([one.xyz for one in points]).equations
    outside = ball.vertices * [1, 2, 1] @ hull[:, :3].T + hull[:, 3]
    assert 0 < outside.max() < 2e-3


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ('<sphere radius="-1"/>', r'<text>:2: <link name="thing"> .* radius is -1'),
        ("", "one shape in its <geometry>, this one has 0"),
        ("<cone/>", "<cone> is not a shape of a URDF"),
        (
            '<mesh filename="package://none/foot.stl"/>',
            r'name="thing".*no file package://none/foot',
        ),
    ],
)
def test_shapes_that_cannot_be_used(shape: str, words: str) -> None:
    """They load; only a request for what they touch is refused."""
    robot = thing(shape)
    with pytest.raises(InputError, match=words):
        FLOOR.contact_points(robot)
    assert (
        len(
            Environment(
                [Surface.plane(restitution=1.0, friction=0.0)], [("thing", (0, 0, 0))]
            ).contact_points(robot)
        )
        == 1
    )


def test_shapes_matter_to_walls_alone() -> None:
    """Stops of joints need no files of meshes."""
    robot = thing('<mesh filename="package://none/foot.stl"/>')
    none = Environment([], joint_limits=True)
    end = mbdyn_ros.simulate(robot, [0, 0, 1, 0, 0, 0, 1], np.zeros(6), 0.1, environment=none)
    assert end.q[-1, 2] == pytest.approx(1 - 9.81 / 2 * 0.01)


def test_hulls_fill_hollows_and_say_so(tmp_path: Path) -> None:
    """Flat walls touch no hollows; others and links are warned of, and touch the hull."""
    ring = trimesh.creation.annulus(0.1, 0.2, 0.1)
    shape = mesh_file(tmp_path, ring)
    robot = thing(shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(FLOOR.contact_points(robot)) > 20
    words = r"hulls of meshes touch.*links '(ring_)?thing' \(body.stl, 0.0333 m\); give"
    wall = Environment([Surface.sphere(3.0, restitution=1.0, friction=0.0)])
    with pytest.warns(SimulationWarning, match=words):
        assert len(wall.contact_points(robot)) == len(FLOOR.contact_points(robot))
    world = mbdyn_ros.World()
    world.add("ring", mbdyn_ros.load(BODY.format(COLLISION.format(shape=shape, origin=""))))
    world.add("ball", Sphere(0.05), mass=1.0, xyz=(0.05, 0, 0.2))
    with pytest.warns(SimulationWarning, match=words):
        stepper = world.stepper(1e-3)
    stepper.advance(500)
    assert stepper.robot.frame_pose(stepper.q, "ball")[2, 3] == pytest.approx(0.1, abs=1e-6)


def test_a_mesh_of_convex_pieces_touches_with_these(tmp_path: Path) -> None:
    """A bench of three boxes: a ball rolls through under it, and lies on it."""
    boxes = [([0.1, 0.4, 0.4], [-0.45, 0, 0.2]), ([0.1, 0.4, 0.4], [0.45, 0, 0.2]),
             ([1.0, 0.4, 0.1], [0, 0, 0.45])]  # fmt: skip
    parts = [trimesh.creation.box(size) for size, _ in boxes]
    for part, (_, middle) in zip(parts, boxes, strict=True):
        part.apply_translation(np.array(middle))
    shape = mesh_file(tmp_path, trimesh.util.concatenate(parts))
    world = mbdyn_ros.World([Surface.plane(restitution=0.0, friction=0.8)])
    world.add("bench", mbdyn_ros.load(BODY.format(COLLISION.format(shape=shape, origin=""))))
    world.add("under", Sphere(0.1), mass=1.0, xyz=(0.2, -1.0, 0.1))
    world.add("upon", Sphere(0.1), mass=1.0, xyz=(0.1, 0.0, 0.65))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stepper = world.stepper(1e-3)
    v = np.zeros(world.robot.nv)
    under = world.members["under"].v
    v[under[:6]] = 0, 2.0, 0, -20.0, 0, 0
    stepper.set_state(stepper.q, v)
    stepper.advance(1000)
    ends = [stepper.robot.frame_pose(stepper.q, name)[:3, 3] for name in ("under", "upon")]
    np.testing.assert_allclose(ends, [[0.2, 1.0, 0.1], [0.1, 0.0, 0.6]], atol=1e-3)


def test_a_mesh_without_a_body(tmp_path: Path) -> None:
    sheet = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    with pytest.raises(InputError, match=r"body.stl is not a body: .*; repair the mesh, or give"):
        FLOOR.contact_points(thing(mesh_file(tmp_path, sheet)))
