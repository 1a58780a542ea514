"""What a mechanism's page computes and draws, without a browser."""

from __future__ import annotations

import contextlib
import math
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros.mechanisms import MECHANISMS, FiveBar, FourBar, Link, Mechanism, SliderCrank
from mbdyn_ros.mechanisms.denoc_equations import denoc_equations
from mbdyn_ros.mechanisms.denoc_text import written
from mbdyn_ros.mechanisms.view.equations_panel import HTML
from mbdyn_ros.mechanisms.view.forces import PlaneMotion, Polygon
from mbdyn_ros.mechanisms.view.free_body import FreeBody
from mbdyn_ros.mechanisms.view.kept_runs import KeptRun
from mbdyn_ros.mechanisms.view.mechanism_page import charts_of
from mbdyn_ros.mechanisms.view.pin_drag import nearest_instant, pin_places, reshaped
from mbdyn_ros.mechanisms.view.run import (
    CYCLOID,
    FREE,
    GIVEN,
    MOTOR,
    QUANTITIES,
    TRAPEZOID,
    CrankDrive,
    DesignRun,
)
from mbdyn_ros.mechanisms.view.shown_mechanism import (
    FACES,
    _rings,
    _traced,
    block_outline,
    bounds,
    rounded_outline,
    solid,
)
from mbdyn_ros.view.scene.camera import FRONT, Camera

DRIVE = CrankDrive((10.0,), (0.0,))


def drive(kind: type[Mechanism]) -> CrankDrive:
    return CrankDrive((10.0,) * len(kind.inputs), (0.0,) * len(kind.inputs))


@pytest.mark.sparse
@pytest.mark.parametrize("kind", MECHANISMS.values(), ids=MECHANISMS)
def test_every_mechanism_runs(kind: type[Mechanism], interpreted: None) -> None:
    run = DesignRun(kind(), drive(kind))
    if kind.name == "peaucellier":
        assert run.swings == pytest.approx((-2 * math.pi / 3, 2 * math.pi / 3))
    else:
        assert run.swings is None and run.x[-1] == pytest.approx(360)
    lines = run.torque_lines()
    assert len(lines) == 2 * len(kind.inputs)
    for quantity in QUANTITIES[:6]:
        turning, sliding = run.joint_lines(quantity)
        assert len(turning) + len(sliding) == len(run.mechanism.joint_names)
    forces, none = run.joint_lines("forces in joints")
    assert none == [] and all((line.y[1:170] >= 0).all() for line in forces)


def test_the_torque_is_the_robots(interpreted: None) -> None:
    """Against the URDF+ that is downloaded."""
    run = DesignRun(SliderCrank(offset=0.02), DRIVE)
    robot = mbdyn_ros.load(run.mechanism.urdf())
    q = run.motion.q[::45]
    there = robot.inverse_dynamics(q, run.motion.v[::45], run.motion.a[::45])
    assert np.abs(there - run.torque[::45]).max() < 1e-9


def test_a_crank_between_toggles_swings(interpreted: None) -> None:
    run = DesignRun(FourBar(crank=Link(0.3), ground=0.4), DRIVE)
    assert run.swings is not None and run.across == "time (s)"
    low, high = run.swings
    q, v = run.motion.q[:, 0], run.motion.v[:, 0]
    assert low < q.min() and q.max() < high
    assert np.abs(v).max() == pytest.approx(10.0, rel=1e-3)
    slope = np.gradient(q, run.motion.time, edge_order=2)
    assert np.abs(slope - v).max() < 0.01
    assert np.isfinite(run.torque).all()


@pytest.mark.parametrize("law", [TRAPEZOID, CYCLOID])
@pytest.mark.parametrize("name", ["four_bar", "five_bar"])
def test_laws_from_rest_to_rest(name: str, law: str, interpreted: None) -> None:
    kind = MECHANISMS[name]
    run = DesignRun(kind(), replace(drive(kind), law=law, duration=0.8))
    motion = run.motion
    assert run.across == "time (s)" and not run.stopped
    assert motion.v[0] == pytest.approx(0) and motion.v[-1] == pytest.approx(0, abs=1e-9)
    assert motion.q[-1] - motion.q[0] == pytest.approx(2 * np.pi)
    if law == CYCLOID:
        assert motion.time[-1] == pytest.approx(0.8)


def test_a_law_stays_between_toggles(interpreted: None) -> None:
    run = DesignRun(FourBar(crank=Link(0.3), ground=0.4), replace(DRIVE, law=CYCLOID))
    assert run.swings is not None
    assert run.swings[0] < run.motion.q.min() < run.motion.q.max() < run.swings[1]


def test_free_motion_keeps_its_energy_and_has_the_torque_given(interpreted: None) -> None:
    free = CrankDrive((3.0,), (0.4,), FREE, duration=0.5, torques=(0.0,))
    run = DesignRun(FourBar(), free)
    *_, total = run.joint_lines("energy")[0]
    assert total.y == pytest.approx(total.y[0], rel=1e-5)
    assert run.motion.q[0, 0] == 0.4 and run.motion.v[0, 0] == 3.0
    pushed = DesignRun(FourBar(), replace(free, torques=(0.3,)))
    assert pushed.torque[:, 0] == pytest.approx(0.3, abs=1e-6)
    (line,) = pushed.torque_lines()
    assert (line.y == 0.3).all()


def test_a_motors_torque_falls_with_speed(interpreted: None) -> None:
    """In both senses; a law from a file is followed too."""
    for stall in (0.4, -0.4):
        free = CrankDrive((0.0,), (0.4,), FREE, duration=3.0, torques=(stall,),
                          torque_law=MOTOR, no_load_speed=8.0)  # fmt: skip
        run = DesignRun(FourBar().replaced(gravity=0.0), free)
        v = run.motion.v[:, 0]
        assert run.torque[:, 0] == pytest.approx(stall - 0.4 * v / 8.0, abs=1e-6)
        assert np.sign(stall) * v[-1] > 4.0
    given = replace(free, torque_law=GIVEN, given_torque=(lambda t, q, v: [0.1 * t], 0.5))
    run = DesignRun(FourBar(), given)
    assert run.torque[:, 0] == pytest.approx(0.1 * run.motion.time, abs=1e-6)


def test_free_motion_that_a_toggle_ends_says_so(interpreted: None) -> None:
    mechanism = FourBar(ground=0.35, crank=Link(0.3), coupler=Link(0.1), rocker=Link(0.2))
    start = (float(mechanism.home[0]),)
    run = DesignRun(mechanism, CrankDrive((0.0,), start, FREE, duration=5.0, torques=(0.0,)))
    assert "cannot turn beyond" in run.stopped and len(run.motion) > 2


@pytest.mark.parametrize("name", ["four_bar", "quick_return", "scotch_yoke", "stephenson"])
def test_points_move_as_they_are_seen(name: str, interpreted: None) -> None:
    """Velocities and accelerations of points, against differences of their places."""
    kind = MECHANISMS[name]
    analysis = DesignRun(kind(), replace(drive(kind), law=CYCLOID, duration=1.0)).analysis
    moves, step = PlaneMotion(analysis), analysis.motion.time[1]
    for part in analysis.mechanism.layout().parts:
        at = (0.07, -0.03)
        places = analysis.pose.point(part.name, at)
        velocity = moves.velocity(part.name, at)
        slope = (places[2:] - places[:-2]) / (2 * step)
        assert np.abs(slope - velocity[1:-1]).max() < 1e-3 * np.abs(velocity).max()
        slope = (velocity[2:] - velocity[:-2]) / (2 * step)
        acceleration = moves.acceleration(part.name, at)
        assert np.abs(slope - acceleration[1:-1]).max() < 1e-2 * np.abs(acceleration).max()


def test_angles_in_the_plane(interpreted: None) -> None:
    analysis = DesignRun(FourBar(), DRIVE).analysis
    angles, rates, _ = analysis.in_plane
    assert np.exp(1j * angles[:, 1]) == pytest.approx(analysis.pose.directions["coupler"])
    assert np.gradient(angles[:, 1], analysis.motion.time)[5:-5] == pytest.approx(
        rates[5:-5, 1], rel=1e-2, abs=1e-2
    )


def test_the_polygon_of_velocities_closes(interpreted: None) -> None:
    run = DesignRun(FourBar(), DRIVE)
    crank, coupler, rocker = Polygon(run).lines("velocity polygon", 40)
    assert crank.x is not None and coupler.x is not None and rocker.x is not None
    assert (crank.x[0], crank.y[0]) == (0, 0) and (rocker.x[0], rocker.y[0]) == (0, 0)
    assert np.hypot(crank.x[1], crank.y[1]) == pytest.approx(1.0)
    assert (coupler.x[0], coupler.y[0]) == pytest.approx((crank.x[1], crank.y[1]))
    assert (coupler.x[1], coupler.y[1]) == pytest.approx((rocker.x[1], rocker.y[1]))


@pytest.mark.parametrize(
    "name", ["four_bar", "quick_return", "planetary_gear", "disk_cam", "oscillating_cam"]
)
def test_a_link_cut_free_obeys_newton_and_euler(name: str, interpreted: None) -> None:
    """All that acts on it is in the diagram; its neighbours are pushed back."""
    kind = MECHANISMS[name]
    analysis = DesignRun(kind(), drive(kind)).analysis
    bodies = {part: FreeBody(analysis, part) for part in analysis.mechanism.layout().order}
    pushes: dict[str, list[complex]] = {}
    for body in bodies.values():
        for row in (0, 40, 200):
            moved, wrench = body.sums(row)
            assert wrench == pytest.approx(moved, abs=1e-10 * (10 + np.abs(moved).max()))
        for one in body.actions:
            pushes.setdefault(one.name, []).append(complex(one.force[40]))
    shared = [both for key, both in pushes.items() if key != "weight" and len(both) == 2]
    assert shared and all(one == -other for one, other in shared)
    drawn, arrows = body.lines(40)
    assert drawn and len(arrows) == sum(abs(one.force[40]) > 0 for one in body.actions)
    html = body.equations(40)
    assert html.count("<math") == 4 and all(one.name in html for one in body.actions)


def test_the_image_of_a_plate_is_closed_and_like_it(interpreted: None) -> None:
    kind = MECHANISMS["klann"]
    run = DesignRun(kind(), drive(kind))
    leg = Polygon(run).lines("velocity polygon", 40)[3]
    assert leg.x is not None and leg.name == "leg"
    image = np.array(leg.x) + 1j * np.array(leg.y)
    assert len(image) == 4 and image[0] == image[3]
    plate = [complex(*one) for one in run.mechanism.layout().parts[3].piece.pins]
    turned = (image[2] - image[0]) / (image[1] - image[0])
    assert turned == pytest.approx((plate[2] - plate[0]) / (plate[1] - plate[0]))


def test_a_kept_run_stands_in_every_plot_by_its_name(interpreted: None) -> None:
    kept = KeptRun("heavy", DesignRun(FourBar().replaced(coupler_mass=2.0), DRIVE), 0)
    run = DesignRun(FourBar(), DRIVE)
    for quantity in QUANTITIES:
        alone, beside = (list(charts_of(run, quantity, one)) for one in ((), (kept,)))
        for (title, lines), (_, both) in zip(alone, beside, strict=True):
            old = [one for one in both if "heavy" in one.name]
            assert len(old) == (len(lines) > 0 and (len(lines) if title[0] != "d" else 1))
            assert [one.name for one in both[len(old) :]] == [one.name for one in lines]
            assert all(one.dash == "dash" and one.x is not None for one in old)
    image = kept.polygon("velocity polygon", 0.25)
    assert [one.name for one in image] == ["crank, heavy", "coupler, heavy", "rocker, heavy"]
    assert image[0].y == pytest.approx(Polygon(run).lines("velocity polygon", 90)[0].y)


@pytest.mark.parametrize("name", ["four_bar", "parallelogram", "quick_return", "geared_five_bar"])
def test_a_pin_goes_where_it_is_dragged(name: str, interpreted: None) -> None:
    """By lengths that its sliders have; a four-bar's other pins stay where they are."""
    kind = MECHANISMS[name]
    run, row = DesignRun(kind(), drive(kind)), 40
    start = pin_places(run.mechanism, run.motion.q[row][None])
    lengths = [one for one in run.mechanism.settings if re.search("ground|D_.|_length", one)]
    for pin, (at,) in start.items():
        place = at + 0.01 - 0.005j
        found, q = reshaped(run, row, lengths, pin, place)
        changed = run.mechanism.replaced(**found)
        now = {one: where[0] for one, where in pin_places(changed, q[None]).items()}
        if np.abs(at) > 1e-9 and name != "quick_return":  # the crank's own pivot stays
            assert abs(now[pin] - place) < (0.006 if abs(at.imag) < 1e-9 else 1e-4)
        if name == "four_bar" and pin != "rocker_joint":
            assert max(abs(now[one] - start[one][0]) for one in now if one != pin) < 1e-6
        shown = nearest_instant(DesignRun(changed, drive(kind)), q)
        assert abs(shown - row) < 8


def test_a_pin_dragged_out_of_reach_is_refused(interpreted: None) -> None:
    run = DesignRun(FourBar(), DRIVE)
    with pytest.raises(mbdyn_ros.InputError, match="cannot be assembled with coupler_pin there"):
        reshaped(run, 40, ["crank_length"], "coupler_pin", 2.0 + 2.0j)


@pytest.mark.long
def test_a_free_motion_that_takes_too_long_says_so(interpreted: None) -> None:
    """Its beginning is shown: a torque far beyond what the mechanism is for."""
    run = DesignRun(FourBar(), CrankDrive((0.0,), (0.0,), FREE, duration=2.0, torques=(400.0,)))
    said = "5000 steps by t = 0.14.* s, where the crank turns at [5-9]... rad/s"
    assert re.search(said, run.stopped)
    assert 2 < len(run.motion) < 100


def test_two_cranks_that_part_are_explained(interpreted: None) -> None:
    with pytest.raises(mbdyn_ros.InputError, match="cannot be assembled with the crank and"):
        DesignRun(FiveBar(coupler=Link(0.1), second_coupler=Link(0.12)),
            CrankDrive((10.0, -10.0), (0.0, math.pi)))  # fmt: skip


def test_csv_holds_what_the_charts_show(interpreted: None) -> None:
    run = DesignRun(FourBar(), DRIVE)
    header, *rows = run.csv().splitlines()
    assert header.startswith("time,position/crank_joint") and "effort/crank_joint" in header
    assert len(rows) == 361
    assert float(rows[90].rpartition(",")[2]) == pytest.approx(run.torque[90, 0])


@pytest.mark.parametrize(
    "outline",
    [
        rounded_outline([(0, 0), (0.3, 0)], 0.02),
        rounded_outline([(0, 0), (0.3, 0), (0.1, 0.2)], 0.02),
        block_outline(0.1, 0.06),
    ],
)
def test_solids_are_closed_and_face_outwards(outline: np.ndarray) -> None:
    trimesh = pytest.importorskip("trimesh")
    mesh = trimesh.Trimesh(solid(outline, -0.01, 0.02), FACES)
    assert mesh.is_watertight and mesh.is_winding_consistent
    x, y = outline.T
    area = 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
    assert mesh.volume == pytest.approx(0.03 * area)


@pytest.mark.parametrize(("name", "straight"), [("peaucellier", True), ("five_bar", False)])
def test_the_path_is_that_of_the_outputs_end(name: str, straight: bool, interpreted: None) -> None:
    kind = MECHANISMS[name]
    run = DesignRun(kind(), drive(kind))
    path = _traced(run.mechanism, run.analysis.pose)
    assert path == pytest.approx(run.analysis.pose.outline(kind.output)[1])
    assert (np.ptp(path.real) < 1e-12) == straight and np.ptp(path.imag) > 0.1


def test_the_ring_is_drawn_where_the_planet_touches_it(interpreted: None) -> None:
    kind = MECHANISMS["planetary_gear"]
    pose = DesignRun(kind(), drive(kind)).analysis.pose
    (ring,) = _rings(pose)
    assert np.abs(ring) == pytest.approx(0.12)
    assert np.abs(pose.origins["planet"]) + 0.036 == pytest.approx(0.12)
    assert np.array(bounds(pose)) == pytest.approx(
        np.array([[-0.12, 0.0, -0.12], [0.12, 0.0, 0.12]])
    )
    assert _rings(DesignRun(FourBar(), DRIVE).analysis.pose) == []


def test_the_camera_goes_along_with_lengths() -> None:
    """Where a design leaves the picture; how the camera is turned stays."""
    eye = SimpleNamespace(position=np.array([1.0, -3.0, 1.0]), look_at=np.array([0.0, 0.0, 0.5]))
    client = SimpleNamespace(camera=eye)
    server: Any = SimpleNamespace(
        get_clients=lambda: {0: client}, initial_camera=SimpleNamespace(),
        scene=SimpleNamespace(add_light_directional=Mock(), add_grid=Mock()),
        on_client_connect=Mock(), atomic=contextlib.nullcontext,
    )  # fmt: skip
    start = FourBar()
    camera = Camera(server, *bounds(DesignRun(start, DRIVE).analysis.pose), FRONT)
    way = eye.position - eye.look_at
    for change in ({"rocker_mass": 3.0}, {"ground": 0.33}):
        camera.follow(*bounds(DesignRun(start.replaced(**change), DRIVE).analysis.pose))
    assert eye.position.tolist() == [1.0, -3.0, 1.0], "it is all in the picture"
    pose = DesignRun(start.replaced(ground=0.6, coupler_length=0.6), DRIVE).analysis.pose
    low, high = bounds(pose)
    camera.follow(low, high)
    assert eye.look_at == pytest.approx((low + high) / 2)
    now = eye.position - eye.look_at
    assert now / np.linalg.norm(now) == pytest.approx(way / np.linalg.norm(way))
    assert np.linalg.norm(now) > 1.4 * np.linalg.norm(way)


@pytest.mark.parametrize("name", ["four_bar", "disk_cam"])
def test_equations_are_typeset_for_a_browser(name: str, interpreted: None) -> None:
    """As the LaTeX is, formula by formula; no mark of LaTeX is left."""
    kind = MECHANISMS[name]
    equations = denoc_equations(kind(), [0.7], [10.0], [0.0])
    html, latex = (written(equations, form) for form in (HTML, "latex"))
    assert html.count('display="block"') == latex.count(r"\begin{align*}") > 0
    assert "\\" not in html and "$" not in html and "&=" not in html
    assert html.count("<table>") == html.count("</table>") == latex.count(r"\begin{tabular}")
