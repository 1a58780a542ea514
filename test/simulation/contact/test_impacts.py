"""Impacts and contacts against the paper's run, closed forms and conservation laws."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from math import log, pi, sqrt
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreting import compiling
from robot_text import body_text, slide_text

pytest.importorskip("pinocchio")
from random_robots import RandomRobot, explore, robots  # noqa: E402

import mbdyn_ros  # noqa: E402
from mbdyn_ros import Environment, InputError, SimulationError, Surface  # noqa: E402
from mbdyn_ros.simulation.contact.impulses import Blocks, angle_between, impact_impulses  # noqa: E402

pytestmark = pytest.mark.usefixtures("interpreted_module")
ROOT = Path(__file__).parents[3]
START = -(1 + sqrt(3)) / 2
TREE_START = np.array(
    [START, START, pi / 6, pi / 6, -2 * pi / 3, pi / 6, pi / 6, -2 * pi / 3, pi / 3, 0,
     2 * pi / 3, -pi / 3]
)  # fmt: skip
PAPER = [  # time s, points O, angle of attack deg, velocity jump m/s, impulse per point N s
    (0.385191984, (1, 5), 33.121, 6.3295, 5.264426),
    (0.569731449, (2, 4), 25.412, 8.6194, 31.435721),
    (1.010620427, (8, 11), 36.615, 8.6501, 4.129074),
    (1.082274684, (3,), 0.0, 12.4670, 57.368350),
    (1.387334046, (1, 5), 33.704, 30.2792, 15.906487),
]
G = 9.81

BALL = body_text("ball", moments=(0.1, 0.15, 0.2))
CORNERS = [("ball", (0.3 * x, 0.2 * y, 0.1 * z)) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
LYING = [0, 0, 0.1, 0, 0, 0, 1]


def tree_run(rtol: float, times: np.ndarray | None = None) -> mbdyn_ros.Trajectory:
    robot = mbdyn_ros.load(ROOT / "urdf" / "tree_robot.urdf")
    walls = mbdyn_ros.read_environment(ROOT / "config" / "tree_robot_walls.yaml")
    return mbdyn_ros.simulate(
        robot, TREE_START, np.zeros(12), 1.5, rtol=rtol, atol=rtol / 10, environment=walls,
        times=times,
    )  # fmt: skip


@pytest.fixture(scope="module")
def paper() -> mbdyn_ros.Trajectory:
    return tree_run(1e-11)


@pytest.fixture(scope="module")
def box() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(BALL, floating_base=True)


def cart(axis: str = "0 0 1") -> mbdyn_ros.Robot:
    return mbdyn_ros.load(slide_text(2, -1, 0.5, axis))


def test_the_papers_impacts(paper: mbdyn_ros.Trajectory) -> None:
    assert len(paper.impacts) == len(PAPER)
    for impact, (time, points, angle, jump, impulse) in zip(paper.impacts, PAPER, strict=True):
        assert tuple(k + 1 for k in impact.points) == points
        assert impact.time == pytest.approx(time, abs=5.1e-10)
        assert np.degrees(impact.angle_of_attack) == pytest.approx(angle, abs=5.1e-4)
        gained = impact.normal_velocity_after - impact.normal_velocity_before
        assert gained == pytest.approx(jump, abs=5.1e-5)
        assert impact.impulses == pytest.approx(impulse, abs=5.1e-7)
        assert abs(impact.energy_after - impact.energy_before) < 1e-11
        assert impact.forces == pytest.approx(impact.impulses[:, None] * impact.normals)
    energy = paper.energy.sum(axis=1)
    assert energy[0] == pytest.approx(18.657872, abs=5.1e-7)
    assert np.ptp(energy) < 1e-9


@pytest.mark.long
def test_tighter_tolerances_change_nothing(paper: mbdyn_ros.Trajectory) -> None:
    """Ten digits; mirror symmetry and no penetration at dense samples."""
    times = np.linspace(0, 1.5, 3001)
    finer = tree_run(1e-12, times)
    for one, other in zip(paper.impacts, finer.impacts, strict=True):
        assert one.time == pytest.approx(other.time, rel=1e-10)
        assert one.impulses == pytest.approx(other.impulses, rel=1e-10)
        assert one.normal_velocity_after == pytest.approx(other.normal_velocity_after, rel=1e-10)
        if other.angle_of_attack[0] > 1e-9:
            assert one.angle_of_attack == pytest.approx(other.angle_of_attack, rel=1e-10)
    assert np.ptp(finer.energy.sum(axis=1)) < 1e-9
    walls = mbdyn_ros.read_environment(ROOT / "config" / "tree_robot_walls.yaml")
    robot = mbdyn_ros.load(ROOT / "urdf" / "tree_robot.urdf")
    places = np.stack(
        [
            (robot.frame_pose(finer.q, link) @ np.array([*xyz, 1.0]))[:, [0, 2]]
            for link, xyz in walls.contact_points(robot)
        ],
        axis=1,
    )
    assert (np.linalg.norm(places, axis=-1) - 2.5).max() < 1e-9
    for left, right in ((1, 5), (2, 4), (3, 3), (6, 6), (9, 9), (7, 10), (8, 11)):
        mirrored = places[:, left - 1] - places[:, right - 1] * [-1, 1]
        assert np.abs(mirrored).max() < 1e-9


def test_bounces_until_rest() -> None:
    """A Zeno sequence: t_k = t_0 (1 + 2 e + 2 e^2 + ...), then rest on the floor."""
    e, height = 0.5, 1.0
    floor = Environment([Surface.plane(restitution=e, friction=0.0)])
    trajectory = mbdyn_ros.simulate(cart(), [height], [0.0], 3.0, environment=floor)
    first = sqrt(2 * height / G)
    at = first + 2 * first * np.cumsum(e ** np.arange(1, len(trajectory.impacts)))
    np.testing.assert_allclose([one.time for one in trajectory.impacts], [first, *at], atol=1e-10)
    assert [one.mode for one in trajectory.transitions] == ["rests"]
    assert abs(trajectory.transitions[0].time - 3 * first) < 1e-5
    assert trajectory.q[-1, 0] == pytest.approx(0, abs=1e-12) and trajectory.v[-1, 0] == 0
    assert np.abs(trajectory.imbalance).max() < 1e-11
    assert trajectory.work[-1, 1] == pytest.approx(2 * G * height, rel=1e-9)  # all is lost


def test_rest_ends_when_pulled() -> None:
    def lift(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([40.0 * t])

    floor = Environment([Surface.plane(restitution=0, friction=0.0)])
    trajectory = mbdyn_ros.simulate(cart(), [0.0], [0.0], 1.0, effort=lift, environment=floor)
    off = trajectory.transitions[-1]
    assert off.mode == "separates" and off.time == pytest.approx(2 * G / 40, abs=1e-9)
    s = 1 - off.time
    assert trajectory.q[-1, 0] == pytest.approx(40 * s**3 / 12, abs=1e-9)


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_slides_until_it_sticks(box: mbdyn_ros.Robot, turn: float) -> None:
    """A box on four redundant corners: v^2 / (2 mu g), whatever its direction."""
    floor = Environment([Surface.plane(restitution=0, friction=0.5)], points=CORNERS)
    v = [2 * np.cos(turn), 2 * np.sin(turn), 0, 0, 0, 0]
    trajectory = mbdyn_ros.simulate(box, LYING, v, 1.0, environment=floor)
    assert np.linalg.norm(trajectory.q[-1, :2]) == pytest.approx(2 / (0.5 * G), abs=1e-7)
    last = [one for one in trajectory.transitions if one.mode == "sticks"]
    assert len(last) == 4 and last[0].time == pytest.approx(2 / (0.5 * G), abs=1e-7)
    assert trajectory.work[-1, 1] == pytest.approx(4.0, rel=1e-7)
    assert np.abs(trajectory.imbalance).max() < 1e-9
    pushed = np.array([sum(one.force for one in held) for held in trajectory.contacts])
    slow = -0.5 * 2 * G * np.array([np.cos(turn), np.sin(turn), 0])
    assert pushed[1] == pytest.approx([*slow[:2], 2 * G], abs=1e-7)
    assert pushed[-1] == pytest.approx([0, 0, 2 * G], abs=1e-7)
    at_rest = trajectory.contacts[-1]
    assert {one.link for one in at_rest} == {"ball"} and all(one.sticks for one in at_rest)
    assert [one.place[2] for one in at_rest] == pytest.approx([0] * 4, abs=1e-12)


def test_a_stop_that_is_pressed_has_its_force() -> None:
    trajectory = mbdyn_ros.simulate(cart(), [0.2], [0], 1.5, environment=Environment([]))
    assert trajectory.contacts[0] == ()
    (held,) = trajectory.contacts[-1]
    assert (held.point, held.surface, held.link) == (-1, "lower limit of joint 'slide'", None)
    assert held.force == pytest.approx([2 * G, 0, 0], abs=1e-9)


def test_a_dropped_box_comes_to_rest(box: mbdyn_ros.Robot) -> None:
    floor = Environment([Surface.plane(restitution=0.3, friction=0.5)], points=CORNERS)
    start = [0, 0, 0.6, np.sin(0.15), 0, 0, np.cos(0.15)]
    trajectory = mbdyn_ros.simulate(
        box, start, [0.1, 0, 0, 0, 0, 0], 2.0, environment=floor, rtol=1e-8, atol=1e-9
    )
    assert trajectory.q[-1, 2] == pytest.approx(0.1, abs=1e-8)
    assert np.abs(trajectory.v[-1]).max() < 1e-8
    assert trajectory.work[-1, 1] == pytest.approx(2 * G * 0.5 + 0.01, rel=1e-5)
    for impact in trajectory.impacts:
        assert (impact.impulses >= 0).all() and impact.loss > -1e-12


@pytest.mark.long
def test_a_box_comes_to_rest_in_a_rough_bowl(box: mbdyn_ros.Robot) -> None:
    """Four corners stick: 12 rows for 6 freedoms, whose forces can be shared in many ways."""
    bowl = Environment([Surface.sphere(1.0, restitution=0.3, friction=0.2)], points=CORNERS)
    v = np.random.default_rng(3).normal(size=24)[18:]
    trajectory = mbdyn_ros.simulate(
        box, [0.3, 0.1, 0, 0, 0, 0, 1], v, 3.0, environment=bowl, rtol=1e-8, atol=1e-9
    )
    assert np.abs(trajectory.v[-1]).max() < 1e-8
    assert np.abs(trajectory.imbalance).max() < 1e-6


def test_a_corner_is_three_faces(box: mbdyn_ros.Robot) -> None:
    """A point thrown into the corner of a box comes straight back."""
    room = Environment(
        [Surface.box((2, 2, 2), name="room", restitution=1.0, friction=0.0)],
        points=[("ball", (0, 0, 0))],
    )
    weightless = mbdyn_ros.load(BALL, floating_base=True, gravity=(0, 0, 0))
    trajectory = mbdyn_ros.simulate(
        weightless, [0, 0, 0, 0, 0, 0, 1], [1, 1, 1, 0, 0, 0], 1.5, environment=room
    )
    (impact,) = trajectory.impacts
    assert sorted(impact.surfaces) == ["room[0]", "room[2]", "room[4]"]
    np.testing.assert_allclose(impact.impulses, 4.0, rtol=1e-12)
    np.testing.assert_allclose(trajectory.v[-1, :3], -1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("surface", "at"),
    [
        (
            Surface(
                lambda x: ca.sqrt(x[0] ** 2 + 1e-12) - 1e-3,
                name="sheet",
                restitution=1.0,
                friction=0.0,
            ),
            1e-3,
        ),
        (Surface.sphere(0.01, inside=False, restitution=1.0, friction=0.0), 0.01),
        (Surface.elliptic_cylinder((0.02, 0.5), inside=False, restitution=1.0, friction=0.0), 0.02),
    ],
)
def test_thin_walls_are_not_jumped_over(surface: Surface, at: float) -> None:
    """One step would take it through, at 20 m/s."""
    robot = cart("1 0 0")
    trajectory = mbdyn_ros.simulate(robot, [-10.0], [20.0], 1.0, environment=Environment([surface]))
    (impact,) = trajectory.impacts
    assert impact.time == pytest.approx((10 - at) / 20, abs=1e-9)
    assert trajectory.v[-1, 0] == pytest.approx(-20)


def test_stops_of_joints() -> None:
    stops = Environment([], joint_limits=True, limit_restitution=0.5)
    trajectory = mbdyn_ros.simulate(cart("1 0 0"), [0.0], [1.0], 4.0, environment=stops)
    first, second = trajectory.impacts
    assert first.points == (-1,) and first.surfaces == ("upper limit of joint 'slide'",)
    assert [first.time, second.time] == pytest.approx([0.5, 0.5 + 1.5 / 0.5])
    assert trajectory.v[-1, 0] == pytest.approx(0.25)
    none = Environment([], joint_limits=False)
    free = mbdyn_ros.simulate(cart("1 0 0"), [0.0], [1.0], 1.0, environment=none)
    assert free.impacts == ()


def test_a_closed_loop_hits_a_wall() -> None:
    """The slider of a crank, a dependent joint: it comes back as fast, the energy balances."""
    robot = mbdyn_ros.load(ROOT / "urdf" / "slider_crank.urdf", gravity=(0, 0, 0))
    slider = robot.model.joint("slider_joint").child
    way = robot.frame_pose(np.linspace(0, 2 * pi, 100)[:, None], slider)[:, :3, 3]
    along = way[np.argmax(np.linalg.norm(way - way[0], axis=1))] - way[0]
    along /= np.linalg.norm(along)
    wall = Surface.plane(
        way[0] + 0.3 * np.ptp(way @ along) * along, -along, restitution=1.0, friction=0.0
    )
    environment = Environment([wall], points=[(slider, (0, 0, 0))])
    trajectory = mbdyn_ros.simulate(robot, [0.0], [20.0], 1.0, environment=environment)
    assert len(trajectory.impacts) >= 2
    assert np.abs(trajectory.imbalance).max() < 1e-9
    place = robot.joint_names.index("slider_joint")
    for impact in trajectory.impacts:
        _, before, _ = robot.joint_state(impact.q, impact.v_before)
        _, after, _ = robot.joint_state(impact.q, impact.v_after)
        assert after[place] == pytest.approx(-before[place], rel=1e-9)
        assert abs(before[place]) == pytest.approx(abs(impact.normal_velocity_before[0]))


SHAPES: list[Callable[..., Surface]] = [
    lambda x, n, **k: Surface.plane(x, n, **k),
    lambda x, n, **k: Surface.sphere(3.0, x + 3 * n, **k),
    lambda x, n, **k: Surface.sphere(0.5, x - 0.5 * n, inside=False, **k),
    lambda x, n, **k: Surface(lambda p: ca.exp(ca.dot(ca.SX(n), p - ca.SX(x))) - 1, **k),
]


def point_jacobian(
    robot: mbdyn_ros.Robot, q: np.ndarray, link: str, xyz: tuple[float, float, float]
) -> np.ndarray:
    """Velocity (3, nv) of a point of a link in the world."""
    J = robot.jacobian(q, link)
    x, y, z = robot.frame_pose(q, link)[:3, :3] @ xyz
    return J[:3] - np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) @ J[3:]


@explore(3)
@given(
    robots(joints=5, massless=False),
    st.booleans(),
    st.integers(0, 99),
    st.sampled_from(range(len(SHAPES))),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from([0.0, 0.4, 2.0]),
)
def test_random_impacts(
    source: RandomRobot, floating: bool, seed: int, shape: int, e: float, mu: float
) -> None:
    """Momentum balance, Newton's law, Coulomb's cone, no energy gained."""
    robot = mbdyn_ros.load(source.urdf(), floating_base=floating)
    random = np.random.default_rng(seed)
    q, v = random.normal(size=robot.nq), random.normal(size=robot.nv)
    for start in robot.system.coordinates.quaternions:
        q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    points = Environment([]).contact_points(robot)
    if not points:
        return
    link, xyz = points[int(random.integers(len(points)))]
    x = (robot.frame_pose(q, link) @ [*xyz, 1.0])[:3]
    at_point = point_jacobian(robot, q, link, xyz)
    n = -(at_point @ v)
    if np.linalg.norm(n) < 1e-3:
        return
    n /= np.linalg.norm(n)
    wall = SHAPES[shape](x, n, restitution=e, friction=mu)
    environment = Environment([wall], points=[(link, xyz)])
    trajectory = mbdyn_ros.simulate(robot, q, v, 0.0, environment=environment)
    impact = trajectory.impacts[0]
    np.testing.assert_allclose(impact.normals[0], n, atol=1e-9)
    change = robot.mass_matrix(q) @ (impact.v_after - impact.v_before)
    np.testing.assert_allclose(
        change, at_point.T @ impact.forces[0], atol=1e-9 * (1 + np.abs(change).max())
    )
    used = impact.restitution[0]
    assert used <= e and (mu > 0 or used == e)
    after, before = impact.normal_velocity_after[0], impact.normal_velocity_before[0]
    assert after == pytest.approx(-used * before, abs=1e-9 * abs(before))
    assert impact.impulses[0] >= 0
    size = np.linalg.norm(impact.tangential_impulses[0])
    assert size <= mu * impact.impulses[0] * (1 + 1e-9)
    assert impact.energy_after - impact.energy_before < 1e-9 * (1 + impact.impulses[0])
    assert impact.energy_before - impact.energy_after == pytest.approx(impact.loss, abs=1e-8)


@explore(8)
@given(
    st.integers(1, 4),
    st.integers(1, 9),
    st.integers(0, 9999),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([0.0, 0.6, 3.0]),
)
def test_several_contacts_at_once(
    count: int, freedoms: int, seed: int, e: float, rough: float
) -> None:
    """The laws of many contacts, redundant ones and jams too: judged by the laws themselves."""
    random = np.random.default_rng(seed)
    size, mu = (3 if rough else 1), random.uniform(0, rough, count)
    W, v = random.normal(size=(size * count, freedoms)), random.normal(size=freedoms)
    normal = np.arange(count) * size
    W[normal] *= -np.sign(W[normal] @ v)[:, None]  # all approach
    tangent = normal + 1 if rough else np.full(count, -1)
    matrix, before = W @ W.T, W @ v
    f, used = impact_impulses(matrix, before, np.full(count, e), Blocks(normal, tangent, mu))
    after, scale = before + matrix @ f, np.abs(before).max()
    assert (f[normal] >= 0).all() and (used <= e).all()
    if not rough:
        assert (used == e).all()
    xi = after[normal] + used * before[normal]
    assert (xi >= -1e-6 * scale).all()
    assert np.abs(f[normal] * xi).max() < 1e-6 * scale * (1 + f.max())
    assert f @ (before + after) <= 1e-9 * (1 + np.abs(f).max()) * scale  # twice the energy
    if 0 < used[0] < e:  # no more than is needed
        assert f @ (before + after) == pytest.approx(0, abs=1e-5 * (1 + np.abs(f).max()) * scale)
    for k in normal.tolist() if rough else []:
        rub, slip = f[k + 1 : k + 3], after[k + 1 : k + 3]
        bound = mu[k // 3] * f[k]
        assert np.linalg.norm(rub) <= bound * (1 + 1e-9) + 1e-9
        speed = np.linalg.norm(slip)
        if speed > 1e-5 * scale:
            np.testing.assert_allclose(rub, -bound * slip / speed, atol=1e-5 * (1 + bound))


def test_a_jam_takes_the_bounce() -> None:
    """A slider on a rail that leads into a floor at a small slope: it jams if mu > tan(slope).

    Along the rail the floor pushes by sin(slope), friction takes up to mu cos(slope) of it.
    """
    slope = 0.6
    robot = cart(f"{np.cos(slope)} 0 {-np.sin(slope)}")
    for mu, rest in ((0.6, 0.5), (0.8, 0.0)):
        floor = Surface.plane(restitution=0.5, friction=mu)
        flying = mbdyn_ros.simulate(robot, [-0.01], [3.0], 0.02, environment=Environment([floor]))
        (impact,) = flying.impacts
        assert impact.restitution[0] == pytest.approx(rest)
        assert impact.v_after[0] == pytest.approx(-rest * impact.v_before[0], abs=1e-12)


@pytest.mark.long
@explore(3)
@given(
    robots(joints=4, massless=False),
    st.booleans(),
    st.integers(0, 99),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from([0.0, 0.4, 2.0]),
)
def test_random_impacts_of_several_points(
    source: RandomRobot, floating: bool, seed: int, e: float, mu: float
) -> None:
    """Momentum balance, complementarity with Newton's law, no energy gained."""
    robot = mbdyn_ros.load(source.urdf(), floating_base=floating)
    random = np.random.default_rng(seed)
    q, v = random.normal(size=robot.nq), random.normal(size=robot.nv)
    for start in robot.system.coordinates.quaternions:
        q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    points = Environment([]).contact_points(robot)
    matrices = [point_jacobian(robot, q, link, xyz) for link, xyz in points]
    places = np.array([(robot.frame_pose(q, link) @ [*xyz, 1.0])[:3] for link, xyz in points])
    walls: list[Surface] = []
    for k in random.permutation(len(points)).tolist():
        n = -(matrices[k] @ v)
        radius = 0.5 * min([1.0, *np.delete(np.linalg.norm(places - places[k], axis=1), k)])
        if np.linalg.norm(n) < 1e-3 or radius < 1e-3 or len(walls) == 3:
            continue
        n = n / np.linalg.norm(n) + 0.3 * random.normal(size=3)  # mostly against the motion
        n /= np.linalg.norm(n)
        about = {"restitution": e, "friction": mu, "name": f"{k}"}
        if ((np.delete(places, k, axis=0) - places[k]) @ n > 1e-6).all():
            walls.append(Surface.plane(places[k], n, **about))
        else:
            walls.append(Surface.sphere(radius, places[k] - radius * n, inside=False, **about))
    if not walls:
        return
    environment = Environment(walls, points=points)
    trajectory = mbdyn_ros.simulate(robot, q, v, 0.0, environment=environment)
    speed = v
    for impact in trajectory.impacts:
        np.testing.assert_allclose(impact.v_before, speed, atol=1e-9)
        speed = impact.v_after
        change = robot.mass_matrix(q) @ (impact.v_after - impact.v_before)
        pushes = sum(
            matrices[k].T @ force for k, force in zip(impact.points, impact.forces, strict=True)
        )
        np.testing.assert_allclose(change, pushes, atol=1e-8 * (1 + np.abs(change).max()))
        assert (impact.impulses >= 0).all() and (impact.restitution <= e).all()
        xi = impact.normal_velocity_after + impact.restitution * impact.normal_velocity_before
        for k, row in enumerate(impact.points):
            moved = impact.normals[k] @ matrices[row] @ impact.v_after
            assert impact.normal_velocity_after[k] == pytest.approx(moved, abs=1e-8)
        size = 1e-6 * (1 + np.abs(impact.normal_velocity_before).max())
        assert (xi >= -size).all()
        assert np.abs(xi[impact.impulses > 1e-6 * impact.impulses.max()]).max(initial=0) <= size
        size = 1 + abs(impact.energy_before)
        assert impact.energy_after - impact.energy_before < 1e-8 * size


def refused(surface: Surface, q: float = 1.0, v: float = 0.0, **options: object) -> Exception:
    with pytest.raises((InputError, SimulationError)) as caught:
        mbdyn_ros.simulate(cart(), [q], [v], 1.0, environment=Environment([surface], **options))
    return caught.value


def test_bad_starts_and_walls_are_refused() -> None:
    inside = refused(Surface.plane(name="floor"), q=-0.2)
    for word in ("'block'", "'floor'", "starts inside", "0.2 m", "t = 0 s"):
        assert word in str(inside)
    flat = refused(Surface(lambda x: x[2] ** 3, name="flat"))
    assert "gradient" in str(flat) and "'flat'" in str(flat)
    kink = refused(Surface(lambda x: ca.fmax(x[2], x[2] + 0.5 * x[0]), name="kink"))
    assert "not differentiable" in str(kink) and "t = 0.45" in str(kink)
    assert len(kink.trajectory) > 1  # type: ignore[attr-defined]
    assert "'hand'" in str(refused(Surface.plane(), points=[("hand", (0, 0, 0))]))
    assert "cannot move" in str(refused(Surface.plane(), points=[("world", (0, 0, 0))]))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Surface.plane(restitution=1.1), "restitution is 1.1"),
        (lambda: Surface.plane(restitution=-0.1), "restitution is -0.1"),
        (lambda: Surface.plane(restitution=float("nan")), "restitution is nan"),
        (lambda: Surface.plane(friction=-1), "friction is -1"),
        (lambda: Surface.plane(normal=(0, 0, 0)), "no direction"),
        (lambda: Surface.sphere(0.0), "radius is 0"),
        (lambda: Surface.box((1, -1, 1)), "size is -1"),
        (lambda: Surface(lambda x: 3.0), "does not depend"),
        (lambda: Surface(lambda x: x["height"]), "raises"),
        (lambda: Surface(lambda x: []), "returns nothing"),
        (lambda: Environment([1]), "list of Surface"),
        (lambda: Environment([Surface.plane(), Surface.plane()]), "two surfaces"),
        (lambda: Environment([], points=[("a",)]), "points must be"),
        (lambda: Environment([], tie_window=1.0), "tie_window is 1.0"),
    ],
)
def test_bad_environments_are_refused(make: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("surfaces: [{name: a, type: plain}]", 'no type "plain" (did you mean "plane"?)'),
        ("surfaces: [{name: a, type: sphere}]", "has no radius"),
        ("surfaces: [{name: a, type: plane, radius: 2}]", 'has no "radius"'),
        ("surfaces: [{name: a, type: plane, restitution: 2, friction: 0}]", "restitution is 2.0"),
        ("surfaces: [{name: a, type: plane, normal: [0, 1]}]", "2 values"),
        ("surfaces: [{type: plane}]", "no name"),
        ("surfaces: []", "no surfaces"),
        ("walls: []", 'no "walls"'),
        ("joint_limits: maybe", "true or false"),
        ("surfaces: [{name: a, type: plane}, {name: a, type: plane}]", "two surfaces"),
        ("surfaces: [{name: a, type: plane}]\npoints: [{xyz: [0, 0, 0]}]", "names no link"),
    ],
)
def test_bad_files_are_refused(text: str, words: str) -> None:
    with pytest.raises(mbdyn_ros.ModelError, match="1|2") as caught:
        mbdyn_ros.read_environment(text + "\n")
    assert words in str(caught.value) and "<text>" in str(caught.value)


def test_number_of_bounces_follows_from_the_tie_window() -> None:
    """Each bounce is e times as long as the last, until what is left is under the window."""
    counts = []
    for window in (1e-3, 1e-6):
        floor = Environment([Surface.plane(restitution=0.5, friction=0.0)], tie_window=window)
        counts.append(len(mbdyn_ros.simulate(cart(), [1.0], [0.0], 3.0, environment=floor).impacts))
    assert counts[1] - counts[0] == pytest.approx(log(1e3) / log(2), abs=1)


def test_events_are_reported_and_not_kept() -> None:
    """Those of the trajectory, in order, at their instants."""
    events: list[mbdyn_ros.Impact | mbdyn_ros.Transition] = []
    floor = Environment([Surface.plane(restitution=0.5, friction=0.0)])
    kept = mbdyn_ros.simulate(cart(), [1.0], [0.0], 3.0, environment=floor)
    lean = mbdyn_ros.simulate(cart(), [1.0], [0.0], 3.0, environment=floor, on_event=events.append)
    assert [one.time for one in events] == [one.time for one in (*kept.impacts, *kept.transitions)]
    assert events[-1] == kept.transitions[-1] and len(events) > 10
    assert lean.impacts == lean.transitions == ()


PACKAGE = str(Path(mbdyn_ros.__file__).parent / "*")


@pytest.mark.long
def test_memory_does_not_grow() -> None:
    """Ours; a test runner in other threads has its own."""
    memory, count = [], 0

    def progress(time: float) -> None:
        nonlocal count
        count += 1
        if count % 800 == 0:
            gc.collect()
            ours = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, PACKAGE)])
            memory.append(sum(trace.size for trace in ours.traces))

    floor = Environment([Surface.plane(restitution=1.0, friction=0.0)])
    robot = cart()
    tracemalloc.start()
    try:
        with compiling():
            trajectory = mbdyn_ros.simulate(
                robot, [0.01], [0.0], 8.0, times=[0.0, 8.0], max_step=2e-3, environment=floor,
                progress=progress, on_event=lambda event: None,
            )  # fmt: skip
    finally:
        tracemalloc.stop()
    assert trajectory.steps >= 4_000 and len(memory) >= 5
    assert memory[-1] - memory[1] < 10_000  # what keeps every step takes 0.8 MB
    assert np.abs(trajectory.imbalance).max() < 1e-9


@pytest.mark.sparse
@pytest.mark.parametrize(("mu", "jams"), [(1.3, False), (1.4, True)])
def test_painleves_rod_goes_on_in_steps(mu: float, jams: bool) -> None:
    """A rod that slides, leaning 30 degrees: its tip jams if 1 + 3 s^2 < 3 mu s c, mu > 1.347."""
    rod = body_text("rod", 1, (1 / 12, 1 / 12, 0.001))
    robot = mbdyn_ros.load(rod, floating_base=True)
    floor = Surface.plane(restitution=0, friction=mu, name="floor")
    walls = Environment([floor], points=[("rod", (0, 0, -0.5))])
    s, c = np.sin(pi / 6), np.cos(pi / 6)
    q = [0, 0, 0.5 * c, 0, np.sin(pi / 12), 0, np.cos(pi / 12)]
    v = [-3 * c, 0, -3 * s, 0, 0, 0]  # 3 m/s to the left, in its own axes
    if jams:
        with compiling():
            trajectory = mbdyn_ros.simulate(robot, q, v, 0.01, environment=walls)
        (stretch,) = trajectory.stretches
        assert (stretch.start, stretch.end) == (0.0, 0.01) and trajectory.time[-1] == 0.01
        assert "friction jams" in stretch.why and "'rod' on surface 'floor'" in stretch.why
        assert (np.diff(trajectory.energy.sum(axis=1)) <= 1e-12).all()
        with pytest.raises(SimulationError, match=r"friction jams .*'rod' on surface 'floor'"):
            mbdyn_ros.simulate(
                mbdyn_ros.load(rod, floating_base=True), q, v, 0.01, environment=walls
            )  # interpreted
    else:
        trajectory = mbdyn_ros.simulate(robot, q, v, 0.01, environment=walls)
        assert trajectory.transitions[0].mode == "slides" and trajectory.time[-1] == 0.01


def test_a_trajectory_has_the_states_on_either_side_of_an_impact() -> None:
    """A mass falls 1 m onto its stop: v = -sqrt(2 g), and 0 from there on."""
    slide = mbdyn_ros.load(slide_text(1, lower=-1, upper=5))
    trajectory = mbdyn_ros.simulate(slide, [0.0], [0.0], 1.0)
    assert trajectory.v.min() == pytest.approx(-np.sqrt(2 * 9.81), rel=1e-12)
    assert (np.diff(trajectory.time) > 0).all()
    (impact,) = trajectory.impacts
    after = int(np.searchsorted(trajectory.time, impact.time))
    assert trajectory.time[after] == impact.time and trajectory.v[after, 0] == 0.0
    assert trajectory.time[after - 1] == np.nextafter(impact.time, 0.0)
    np.testing.assert_allclose(trajectory.v[after - 1], impact.v_before, rtol=1e-12)
    assert trajectory.a[after - 1, 0] == pytest.approx(-9.81)
    assert np.abs(trajectory.imbalance).max() < 1e-12
    assert len(repr(trajectory)) < 250 and "1 impact," in repr(trajectory)
    walls = Environment([Surface.plane(restitution=0.5, friction=0.0)])
    bouncing = mbdyn_ros.simulate(slide, [0.5], [0.0], 0.9, environment=walls)
    for one in bouncing.impacts:
        at = int(np.searchsorted(bouncing.time, one.time))
        assert bouncing.v[at - 1, 0] == pytest.approx(one.v_before[0], abs=1e-12)
        assert bouncing.v[at, 0] == pytest.approx(one.v_after[0], abs=1e-9)


def test_a_point_at_rest_has_no_angle_of_attack() -> None:
    up = np.array([0.0, 0.0, 1.0])
    assert angle_between(np.array([0.5, 0.0, -0.5]), up) == pytest.approx(np.pi / 4)
    assert np.isnan(angle_between(np.array([1e-15, 0.0, -6e-15]), up))
