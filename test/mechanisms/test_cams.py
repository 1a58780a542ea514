"""Disk cams: laws, profiles, jams and torques against textbooks, envelopes and Lagrange."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from random_designs import CAMS, random_design

from mbdyn_ros import InputError, MbdynError
from mbdyn_ros.__main__ import main
from mbdyn_ros.mechanisms import (
    MECHANISMS,
    Analysis,
    CrankMotion,
    Friction,
    Mechanism,
    SliderCrank,
    constant_speed,
    mechanism_kind,
    read_drawing,
)
from mbdyn_ros.mechanisms.cam_law import RISES, LawSegment, MotionLaw
from mbdyn_ros.mechanisms.denoc_equations import denoc_equations
from mbdyn_ros.mechanisms.denoc_text import worksheet
from mbdyn_ros.mechanisms.disk_cam import DiskCam
from mbdyn_ros.mechanisms.forward import move
from mbdyn_ros.mechanisms.registry import LIBRARY
from mbdyn_ros.mechanisms.summary import summarize
from mbdyn_ros.mechanisms.sweep import sweep

pytestmark = pytest.mark.usefixtures("interpreted")
Array = np.ndarray
TURN = 2 * np.pi

PEAKS = {
    "cycloidal": (2.0, 6.283), "modified_sine": (1.760, 5.528), "polynomial_345": (1.875, 5.774),
    "polynomial_4567": (2.188, 7.513), "harmonic": (1.571, 4.935), "constant_velocity": (1.0, 0.0),
}  # fmt: skip
"""Largest velocity and acceleration of a rise by 1 over 1, as handbooks of cams list them."""


def cam_of(mechanism: Mechanism) -> DiskCam:
    (cam,) = mechanism.layout().cams
    return cam


@pytest.mark.parametrize("name", RISES)
def test_laws_have_their_derivatives_and_the_peaks_of_the_handbook(name: str) -> None:
    x, step = np.linspace(0.003, 0.997, 401), 1e-5
    here, after, before = (RISES[name](one) for one in (x, x + step, x - step))
    for k in range(3):
        slope = (after[k] - before[k]) / (2 * step)
        near = np.abs(x[:, None] - [1 / 8, 7 / 8]).min(axis=1) > step  # pieces of modified sine
        assert slope[near] == pytest.approx(here[k + 1][near], rel=1e-7, abs=1e-5)
    assert [RISES[name](np.array([0.0, 1.0]))[0].tolist()] == [pytest.approx([0, 1], abs=1e-15)]
    assert [here[1].max(), here[2].max()] == pytest.approx(PEAKS[name], abs=6e-3)


def law_of(*segments: tuple[float, float | None, str]) -> MotionLaw:
    return MotionLaw(tuple(LawSegment(np.radians(over), *rest) for over, *rest in segments))


def test_jumps_of_the_acceleration_are_where_harmonic_rises_meet_dwells() -> None:
    law = law_of((90, 0.01, "harmonic"), (90, None, "cycloidal"), (180, 0, "cycloidal"))
    size = np.pi**2 / 2 * 0.01 / (np.pi / 2) ** 2
    assert law.jumps == [
        (0.0, pytest.approx(size)), (pytest.approx(np.pi / 2), pytest.approx(size))
    ]  # fmt: skip
    # a harmonic rise and return of the same length go on without a jump: an eccentric
    assert law_of((180, 0.01, "harmonic"), (180, 0, "harmonic")).jumps == []


@pytest.mark.parametrize(
    ("segments", "words"),
    [
        ([(90, 0.01, "cycloidal"), (180, 0, "cycloidal")], "last 270 deg together; give 360"),
        ([(180, 0.01, "cycloidal"), (180, 0.005, "harmonic")], "ends its turn at 0.005"),
        ([(180, 0.01, "cycloid"), (180, 0, "harmonic")], 'segment 1 .*did you mean "cycloidal"'),
        ([(180, 0.01, "harmonic"), (0, None, "harmonic"), (180, 0, "harmonic")], "2 .* lasts 0"),
        ([(180, -0.01, "harmonic"), (180, 0, "harmonic")], "from -0.01 to 0; begin at the lowest"),
        ([(90, 0.01, "cycloidal"), (90, None, "cycloidal"), (90, 0, "constant_velocity"),
          (90, None, "cycloidal")], r"velocity jumps by -0.006366 a rad at 180 deg"),
    ],
)  # fmt: skip
def test_laws_that_cannot_be_are_refused(segments: list[tuple], words: str) -> None:
    with pytest.raises(InputError, match=words):
        law_of(*segments)


@pytest.mark.parametrize("name", CAMS)
def test_profiles_are_the_envelope_of_the_follower_in_all_its_places(name: str) -> None:
    """No place of the roller or face cuts the profile, and every point of it is touched by one."""
    mechanism = random_design(MECHANISMS[name], np.random.default_rng(3))
    cam = cam_of(mechanism)
    q = np.linspace(0, TURN, 3601)
    pose = mechanism.pose(q[:, None])
    at = (0.0, 0.0) if cam.arm is None else (cam.arm, 0.0)
    seen = (pose.point("follower", at) - complex(*cam.axle)) * np.exp(-1j * q)
    facing = cam.side * pose.directions["follower"] * np.exp(-1j * q)
    points = cam.profile(np.linspace(0, TURN, 97))
    if cam.flat:
        gaps = ((seen - points[:, None]) * facing.conj()).real
    else:
        gaps = np.abs(points[:, None] - seen) - cam.roller_radius
    assert np.abs(gaps.min(axis=1)).max() < 4e-7  # 0.1 deg apart, squared


@pytest.mark.parametrize("name", CAMS)
def test_pressure_angles_are_those_of_the_textbook(name: str) -> None:
    mechanism = random_design(MECHANISMS[name], np.random.default_rng(7))
    cam, q = cam_of(mechanism), np.linspace(0.05, 6.2, 60)
    found = cam.pressure_angle(q)
    z, rate, _ = cam.motion(q)
    prime = cam.base_radius + cam.roller_radius
    s = cam.side * (z - cam.motion(np.zeros(1))[0])
    if cam.flat:
        expected = np.zeros(60)
    elif cam.arm is None:
        e = mechanism.settings["follower_offset"]
        expected = np.arctan((rate - e) / (s + np.sqrt(prime**2 - e**2)))
    else:  # tan phi = (l (1 - beta') - d cos beta) / (d sin beta), beta from the centre line
        apart = abs(complex(*cam.foot) - complex(*cam.axle))
        start = np.arccos((apart**2 + cam.arm**2 - prime**2) / (2 * apart * cam.arm))
        beta, turning = start + s, cam.side * rate
        across = cam.arm * (1 - cam.side * turning) - apart * np.cos(beta)
        expected = -cam.side * np.arctan(across / (apart * np.sin(beta)))
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_curvature_of_a_pitch_curve_is_that_of_the_circle_through_three_points() -> None:
    for name in ("disk_cam", "oscillating_cam"):
        cam = replace(cam_of(MECHANISMS[name]()), roller_radius=0.0, base_radius=0.03)
        q = np.linspace(0.1, 6.2, 50)
        a, b, c = (cam.profile(q + step) for step in (-1e-3, 0.0, 1e-3))
        area = ((b - a).conj() * (c - a)).imag / 2
        expected = np.abs(a - b) * np.abs(b - c) * np.abs(c - a) / (-4 * area)
        assert 1 / cam.curvature_radius(q) == pytest.approx(1 / expected, abs=1e-2)
    flat = cam_of(MECHANISMS["flat_cam"]())
    a, b, c = (flat.profile(q + step) for step in (-1e-3, 0.0, 1e-3))
    area = ((b - a).conj() * (c - a)).imag / 2
    expected = np.abs(a - b) * np.abs(b - c) * np.abs(c - a) / (-4 * area)
    assert flat.curvature_radius(q) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("disk_cam", {"cam_base_radius": 0.01, "cam_lift": 0.03},
         r"follower jams: the pressure angle is 36.41 deg with the cam at 51 deg, above the limit "
         r"of 30 deg; take a larger base circle \((.*) m is enough\), another offset or a longer"),
        ("oscillating_cam", {"cam_pressure_limit": 20.0},
         "26.03 deg .* above the limit of 20 deg; take another pivot or a longer rise"),
        ("oscillating_cam", {"cam_base_radius": 0.005, "cam_roller_radius": 0.08},
         r"the roller undercuts the cam: the radius of curvature of the pitch curve is 0.07706 m "
         r"with the cam at 217.5 deg, not above the roller's 0.08 m; take a larger base circle "
         r"\((.*) m is enough\) or a smaller roller"),
        ("flat_cam", {"cam_base_radius": 0.003},
         r"the flat face undercuts the cam: the radius of curvature of the profile is -.* m with "
         r"the cam at .* deg, and it must be convex; take a larger base circle \((.*) m is"),
        ("disk_cam", {"follower_offset": 0.06}, "passes the cam's axle at 0.06 m, beyond its base"),
        ("oscillating_cam", {"cam_swing": 2.9}, "cannot follow from 0.055 m on by 2.9 rad"),
        ("disk_cam", {"cam_stiffness": 0.0}, "cam_preload needs a spring"),
        ("oscillating_cam", {"cam_torsion_rate": 0.0},
         "cam_preload_moment needs a spring; give cam_torsion_rate"),
        ("oscillating_cam", {"cam_torsion_rate": -1.0}, "cam_torsion_rate is -1 N m/rad; it"),
        ("disk_cam", {"cam_lift": 0.0}, "cam_lift is 0 m; give a length above zero"),
    ],
)  # fmt: skip
def test_cams_that_jam_or_undercut_are_refused_with_a_remedy(
    name: str, settings: dict[str, float], words: str
) -> None:
    mechanism = MECHANISMS[name]()
    with pytest.raises(InputError, match=words) as refused:
        mechanism.replaced(**settings)
    remedy = re.search(r"\(([\d.]+) m is enough\)", str(refused.value))
    if "enough" in words:
        assert remedy is not None
        mechanism.replaced(**settings | {"cam_base_radius": float(remedy[1])})


def test_the_limits_are_where_the_profile_begins_to_cusp() -> None:
    mechanism = MECHANISMS["flat_cam"]()
    q = np.linspace(0, TURN, 20001)
    s, _, bend, _ = cam_of(mechanism).law(q)
    least = -(s + bend).min()  # base_radius + s + s'' > 0
    mechanism.replaced(cam_base_radius=least + 1e-6)
    with pytest.raises(InputError, match="undercuts"):
        mechanism.replaced(cam_base_radius=least - 1e-6)


def lagrange(mechanism: Mechanism) -> Callable[[float, float, float], float]:
    """Torque of the first rise at q, v and a, by Lagrange's equation of the one freedom."""
    sympy = pytest.importorskip("sympy")  # slow to import
    cam, t = cam_of(mechanism), sympy.Symbol("t")
    angle, settings = sympy.Function("q")(t), mechanism.settings
    segment = cam.law.segments[0]
    x = angle / segment.over
    rise = {
        "cycloidal": x - sympy.sin(2 * sympy.pi * x) / (2 * sympy.pi),
        "polynomial_4567": 35 * x**4 - 84 * x**5 + 70 * x**6 - 20 * x**7,
        "modified_sine": (2 + sympy.pi * x - sympy.Rational(9, 4)
                          * sympy.sin((sympy.pi + 4 * sympy.pi * x) / 3)) / (4 + sympy.pi),
    }[segment.by]  # fmt: skip
    s = cam.lift * rise
    mass, gravity = settings["follower_mass"], settings["gravity"]
    spring = cam.preload * s + cam.stiffness * s**2 / 2
    kinetic = settings["cam_inertia"] * angle.diff(t) ** 2 / 2
    if cam.arm is None:
        kinetic += mass * s.diff(t) ** 2 / 2
        height = s
    else:
        along, across = settings["follower_center_along"], settings["follower_center_across"]
        beta = float(cam.motion(np.zeros(1))[0][0]) + cam.side * s
        about = settings["follower_inertia"] + mass * (along**2 + across**2)
        kinetic += about * s.diff(t) ** 2 / 2
        height = along * sympy.sin(beta) + across * sympy.cos(beta)
    function = kinetic - mass * gravity * height - spring
    torque = function.diff(angle.diff(t)).diff(t) - function.diff(angle)
    names = sympy.symbols("q v a")
    for term, name in zip((angle.diff(t, 2), angle.diff(t), angle), names[::-1], strict=True):
        torque = torque.subs(term, name)
    return sympy.lambdify(names, torque, "math")


@pytest.mark.sparse
@pytest.mark.parametrize("name", CAMS)
def test_torques_are_those_of_lagrange(name: str) -> None:
    random = np.random.default_rng(12)
    mechanism = random_design(MECHANISMS[name], random)
    torque = lagrange(mechanism)
    for angle in (0.6, 1.1, 1.7):
        v, a = random.normal() * 20, random.normal() * 200
        found = mechanism.inverse_dynamics([[angle]], [v], [a])[0, 0]
        assert found == pytest.approx(torque(angle, v, a), rel=1e-11)
        assert mechanism.forward_dynamics([[angle]], [v], [found])[0, 0] == pytest.approx(a)


@pytest.mark.parametrize("name", CAMS)
def test_power_is_the_rate_of_the_energy(name: str) -> None:
    mechanism = random_design(MECHANISMS[name], np.random.default_rng(2))
    time = np.linspace(0.0, 0.4, 4001)[:, None]
    q, v, a = 3 + 8 * time + 30 * time**2, 8 + 60 * time, np.full_like(time, 60.0)
    analysis = Analysis(mechanism, CrankMotion(time[:, 0], q, v, a))
    rate = np.gradient(sum(mechanism.energy(q, v)), time[:, 0])
    power = (analysis.torque * v)[:, 0]
    assert np.abs(power - rate)[2:-2].max() < 2e-3 * np.abs(power).max()


def test_a_slider_crank_moves_as_the_cam_does_up_to_accelerations() -> None:
    """The equivalent linkage: its crank's pin is where the pitch curve has its centre of curvature,
    its coupler the radius."""
    mechanism = MECHANISMS["disk_cam"]().replaced(gravity=0.0, cam_stiffness=0.0, cam_preload=0.0)
    cam, (v, a) = cam_of(mechanism), (9.0, 70.0)
    for angle in (0.9, 1.4, 3.5, 4.4):
        q = np.array([angle])
        radius = float(cam.curvature_radius(q)[0])
        assert radius > 0
        pitch = replace(cam, roller_radius=0.0, base_radius=cam.base_radius + cam.roller_radius)
        inner = replace(pitch, roller_radius=radius, base_radius=pitch.base_radius - radius)
        pin = complex(inner.profile(q)[0] * np.exp(1j * angle)) * -1j  # the slide along x
        roller = complex(pitch.profile(q)[0] * np.exp(1j * angle)) * -1j
        linkage = SliderCrank(offset=roller.imag).replaced(
            gravity=0.0, crank_length=abs(pin), coupler_length=abs(roller - pin),
            crank_mass=1e-12, crank_inertia=1e-12, coupler_mass=1e-12, coupler_inertia=1e-12,
            slider_mass=mechanism.settings["follower_mass"],
        )  # fmt: skip
        crank = [[np.angle(pin)]]
        state = linkage.joint_state(crank, [v], [a])
        ours = mechanism.joint_state([[angle]], [v], [a])
        for k in range(3):
            assert ours[k][0, 1] == pytest.approx(state[k][0, 2], rel=1e-9)
        torque = mechanism.inverse_dynamics([[angle]], [v], [a])[0, 0]
        torque -= mechanism.settings["cam_inertia"] * a
        assert torque == pytest.approx(
            linkage.inverse_dynamics(crank, [v], [a])[0, 0], rel=1e-7, abs=2e-10
        )


def test_a_free_cam_keeps_its_energy_and_lets_its_follower_go() -> None:
    mechanism = MECHANISMS["disk_cam"]().replaced(cam_inertia=0.01)
    motion = move(mechanism, [0.3], [40.0], 0.5, rtol=1e-10, atol=1e-12)
    assert motion.q[-1, 0] > 2 * TURN
    energy = sum(mechanism.energy(motion.q, motion.v))
    assert np.ptp(energy) < 1e-6 * np.ptp(mechanism.energy(motion.q, motion.v)[1])
    # N cos(phi) = m (s'' w^2 + g) + F + k s, and the follower lifts off where it is negative
    for speed, off in ((60.0, False), (300.0, True)):
        analysis = Analysis(mechanism, constant_speed(speed))
        cam, q = cam_of(mechanism), analysis.motion.q[:, 0]
        s, _, bend, _ = cam.law(q)
        push = 0.4 * (bend * speed**2 + 9.81) + 40 + 2000 * s
        found = analysis.contact_forces["cam_follower_contact"]
        assert found == pytest.approx(push / np.cos(cam.pressure_angle(q)), abs=1e-9)
        assert bool((found < 0).any()) is off


def test_friction_of_the_slide_grows_with_the_pressure_angle_until_it_locks() -> None:
    steep = MECHANISMS["disk_cam"]().replaced(cam_base_radius=0.012, cam_pressure_limit=60.0)
    motion = constant_speed(5.0)
    free, rubbing = (Analysis(steep, motion, one) for one in (None, Friction(0.2)))
    rise = free.torque[:, 0] > 0.01
    assert (rubbing.torque[rise] > free.torque[rise]).all()
    with pytest.raises(InputError, match="lock"):
        _ = Analysis(steep, motion, Friction(3.0)).torque


def test_a_sweep_leaves_out_what_would_be_refused() -> None:
    mechanism, motion = MECHANISMS["disk_cam"](), constant_speed(10.0, points=73)
    radii, rollers = np.linspace(0.004, 0.05, 8), np.array([0.002, 0.02, 0.06])
    found = sweep(mechanism, {"cam_base_radius": radii, "cam_roller_radius": rollers}, motion)
    for i, j in np.ndindex(found.closed.shape):
        settings = {"cam_base_radius": radii[i], "cam_roller_radius": rollers[j]}
        try:
            one = Analysis(mechanism.replaced(**settings), motion)
        except InputError:
            assert not found.closed[i, j]
        else:
            assert found.values["peak_torque"][i, j] == pytest.approx(np.abs(one.torque).max())
            angle = 90 - np.abs(np.degrees(cam_of(one.mechanism).pressure_angle(motion.q))).max()
            assert found.values["transmission"][i, j] == pytest.approx(angle, abs=1e-6)
    assert 0 < found.lost < found.closed.size
    offsets = np.array([-0.06, 0.0, 0.01, 0.06])  # beyond base circle and roller at both ends
    margins = mechanism.designs(follower_offset=offsets).margin(np.zeros((4, 1)))
    assert (margins >= 0).tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("inputs: [cam]", "inputs: [follower]"), "cam is neither an input nor turned by one"),
        (("roller: 0.01", "roller: 0.01\n    flat: true"), "flat face and a roller"),
        (("driven: follower", "driven: cam"), "cam must slide on the ground, or turn"),
        (("over: 120, to: 0.02", "over: 110, to: 0.02"), ":13: .*350 deg together; give 360"),
        (("{over: 60}", "{to: 0.02}"), "a segment has no over"),
        (("roller: 0.01", "rollers: 0.01"), "a cam has no \"rollers\""),
        (("cams:", "cams:\n  - {driver: cam, driven: follower, law: [{over: 90, to: 1}, "
          "{over: 270, to: 0}]}"), "cam has another cam or follower"),
    ],
)  # fmt: skip
def test_drawings_of_cams_that_cannot_be_are_refused(change: tuple[str, str], words: str) -> None:
    text = (LIBRARY / "disk_cam.yaml").read_text()
    assert change[0] in text
    with pytest.raises(MbdynError, match=words):
        mechanism_kind(read_drawing(text.replace(*change, 1)))


ARMS = "C: [0.1, 0.03], R: [0.01, 0.055]"


@pytest.mark.parametrize(
    ("name", "before", "after", "mirrored"),
    [
        ("disk_cam", "F: [0.005, 0.055]", "F: [-0.005, -0.055]", False),
        ("disk_cam", "F: [0.005, 0.055]}", "F: [0.055, -0.005]}  # along: x", False),
        ("flat_cam", "F: [0, 0.045]}", "F: [-0.045, 0]}  # along: x", False),
        ("oscillating_cam", ARMS, "C: [-0.1, -0.03], R: [-0.01, -0.055]", False),
        ("oscillating_cam", ARMS, "C: [0.03, -0.1], R: [0.055, -0.01]", False),
        ("oscillating_cam", ARMS, "C: [-0.1, 0.03], R: [-0.01, 0.055]", True),
    ],
)
def test_the_place_of_a_cam_in_the_plane_does_not_matter(
    name: str, before: str, after: str, mirrored: bool
) -> None:
    """Turned on its axle, with the slide along x as well; mirrored, it goes back from 300 deg."""
    text = (LIBRARY / f"{name}.yaml").read_text()
    text = text.replace("modified_sine", "cycloidal").replace("polynomial_4567", "cycloidal")
    turned = text.replace(before, after)
    if "along: x" in after:
        turned = turned.replace("along: y", "along: x")
    q = np.linspace(0.1, 6.2, 40)[:, None]
    one, other = (mechanism_kind(read_drawing(each))().replaced(gravity=0.0)
                  for each in (text, turned))  # fmt: skip
    there = np.radians(300) - q if mirrored else q
    torques = one.inverse_dynamics(q, [20.0], [0.0]), other.inverse_dynamics(there, [20.0], [0.0])
    assert np.abs(torques[0]).max() > 0.5
    assert torques[1] == pytest.approx(-torques[0] if mirrored else torques[0], abs=1e-12)
    forces = [
        Analysis(each, CrankMotion(q[:, 0], at, np.full_like(q, 20.0), 0 * q)).contact_forces
        for each, at in ((one, q), (other, there))
    ]
    found, same = (each["cam_follower_contact"] for each in forces)
    assert (found > 0).all() and same == pytest.approx(found, rel=1e-12)


def test_a_follower_drives_a_linkage() -> None:
    """A valve train: the arm that the cam moves is the crank of a slider-crank."""
    drawing = read_drawing("""
        points: {O: [0, 0], C: [0.1, 0.03], R: [0.01, 0.055], T: [0.19, 0.03], S: [0.19, -0.05]}
        ground: [O, C]
        links:
          cam: {points: [O], inertia: 1.0e-3}
          follower: {points: [C, R, T], mass: 0.3}
          rod: {points: [T, S], mass: 0.05}
          valve: {points: [S], slides_on: ground, along: y, mass: 0.1}
        cams:
          - {driver: cam, driven: follower, roller: 0.01, stiffness: 20, preload: 8,
             law: [{over: 100, to: 0.2}, {over: 100, to: 0}, {over: 160}]}
        inputs: [cam]
        """)
    mechanism = mechanism_kind(drawing)()
    time = np.linspace(0.0, 0.2, 4001)[:, None]
    q, v, a = 20 * time + 10 * time**2, 20 + 20 * time, np.full_like(time, 20.0)
    analysis = Analysis(mechanism, CrankMotion(time[:, 0], q, v, a))
    rate = np.gradient(sum(mechanism.energy(q, v)), time[:, 0])
    power = (analysis.torque * v)[:, 0]
    assert np.abs(power - rate)[2:-2].max() < 2e-3 * np.abs(power).max()
    assert (analysis.contact_forces["cam_follower_contact"] > 0).all()


def test_the_command_line_says_what_a_cam_does(tmp_path) -> None:
    found = summarize(MECHANISMS["disk_cam"]())["cams"]["cam_follower_contact"]
    assert np.degrees(found["pressure_angle_rise"]["value"]) == pytest.approx(12.365, abs=1e-3)
    picture, table = str(tmp_path / "cam.png"), str(tmp_path / "cam.csv")
    options = ["mechanism", "flat_cam", "--plot", picture, "--output", table, "--json"]
    answer = CliRunner().invoke(main, options)
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.output)["cams"]["cam_follower_contact"]["face"][0] < 0
    assert "contact/cam_follower_contact" in open(table).readline()
    answer = CliRunner().invoke(main, ["mechanism", "disk_cam", "--id", "--speed", "300"])
    assert "the follower lifts off with the cam at 62 deg" in answer.output
    path = tmp_path / "path.csv"
    path.write_text("x,y\n0,0\n0.01,0\n0.01,0.01\n")
    for option, words in (
        ("--urdf=x.urdf", "a URDF"), ("--cut=follower_joint", "or a cam press on follower_joint"),
        (f"--fit={path}", "to and fro"),
    ):  # fmt: skip
        more = ["--equations"] if option.startswith("--cut") else []
        answer = CliRunner().invoke(main, ["mechanism", "disk_cam", option, *more])
        assert answer.exit_code and words in answer.output


@pytest.mark.parametrize("name", ["disk_cam", "flat_cam", "oscillating_cam"])
def test_its_equations_give_torque_and_force_of_contact(name: str) -> None:
    """By DeNOC with s' in J: tau is that of the recursions, lambda over the cosine of the pressure
    angle and the arm the force of contact; (22) gives the accelerations back."""
    mechanism = MECHANISMS[name]()
    cam = mechanism.cams[0]
    for angle in (0.9, 2.6, 4.0):
        q, v, a = np.array([[angle]]), np.array([[12.0]]), np.array([[30.0]])
        found = denoc_equations(mechanism, q, v, a)
        analysis = Analysis(mechanism, CrankMotion(np.zeros(1), q, v, a))
        assert found.tau[0] == pytest.approx(analysis.torque[0, 0], rel=1e-10)
        (force,) = analysis.contact_forces[cam.name]
        arm = 1.0 if cam.arm is None else cam.arm
        along = force * arm * np.cos(float(cam.pressure_angle(angle)))
        assert abs(found.multipliers[0]) == pytest.approx(along, rel=1e-9)
        A, x, B = found.bordered
        np.testing.assert_allclose(np.linalg.solve(A, B), x, rtol=1e-9, atol=1e-9)
        assert found.matrices["J"].values[0, 0] == pytest.approx(-cam.motion(q[0])[1][0])
    sheet = worksheet(found, "text")
    assert f"cut at {cam.name}" in sheet and "s'_cam" in sheet


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["disk_cam", "flat_cam", "oscillating_cam"])
@pytest.mark.parametrize("train", ["one pair", "idler"])
def test_a_geared_cam_is_the_cam_on_its_own_shaft(name: str, train: str) -> None:
    """Torque times the ratio, plus that of the wheels; forces of contact; DeNOC; both ways."""
    text = (LIBRARY / f"{name}.yaml").read_text()
    shaft = "crank: {points: [W], mass: 0.5, inertia: 5.0e-4, teeth: 20}"
    gears, ratio, inertia = "[{driver: crank, driven: cam}]", -0.5, 5e-4
    if train == "idler":
        shaft += "\n  idler: {points: [V], mass: 0.2, inertia: 1.0e-4, teeth: 10}"
        gears = "[{driver: crank, driven: idler}, {driver: idler, driven: cam}]"
        ratio, inertia = 0.5, 5e-4 + 4e-4
    geared = text.replace("points: {", "points: {W: [-0.2, 0], V: [-0.1, 0], ")
    geared = geared.replace("ground: [", "ground: [W, V, " if train == "idler" else "ground: [W, ")
    geared = geared.replace("links:\n", f"links:\n  {shaft}\n")
    geared = geared.replace("cam: {points: [O],", "cam: {points: [O], teeth: 40,")
    geared = geared.replace("cams:\n", f"gears: {gears}\ncams:\n")
    kind = mechanism_kind(read_drawing(geared.replace("inputs: [cam]", "inputs: [crank]")))
    made, alone = kind(), MECHANISMS[name]()
    q = np.linspace(0.1, 12.0, 9)[:, None]
    v, a = 14.0 + 0 * q, np.linspace(-60.0, 80.0, 9)[:, None]
    torque = made.inverse_dynamics(q, v, a)
    own = alone.inverse_dynamics(ratio * q, ratio * v, ratio * a)
    assert torque == pytest.approx(ratio * own + inertia * a, rel=1e-12, abs=1e-12)
    assert np.abs(own).max() > 0.1
    assert made.forward_dynamics(q, v, torque) == pytest.approx(a, abs=1e-9)
    motion = CrankMotion(np.arange(9.0), q, v, a)
    shaft_motion = CrankMotion(np.arange(9.0), ratio * q, ratio * v, ratio * a)
    there, here = Analysis(alone, shaft_motion), Analysis(made, motion)
    for one, force in there.contact_forces.items():
        assert here.contact_forces[one] == pytest.approx(force, rel=1e-10, abs=1e-10)
    found = denoc_equations(made, q[4], v[4], a[4])
    assert found.tau[0] == pytest.approx(torque[4, 0], rel=1e-9)
    both = made.designs(crank_teeth=np.array([20.0, 30.0])).inverse_dynamics(q[:2], v[:2], a[:2])
    other = made.replaced(crank_teeth=30.0).inverse_dynamics(q[1:2], v[1:2], a[1:2])
    assert both == pytest.approx(np.concatenate([torque[:1], other]), rel=1e-12, abs=1e-12)


def test_a_cam_that_nothing_turns_is_refused() -> None:
    text = (LIBRARY / "disk_cam.yaml").read_text()
    text = text.replace("points: {", "points: {W: [-0.2, 0], ").replace("ground: [", "ground: [W, ")
    text = text.replace("links:\n", "links:\n  crank: {points: [W], mass: 0.5, teeth: 20}\n")
    with pytest.raises(InputError, match="cam is neither an input nor turned by one through gears"):
        mechanism_kind(read_drawing(text.replace("inputs: [cam]", "inputs: [crank]")))
