"""What mechanisms can do and how they move: limits, motions, comparisons, sweeps, pictures."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from night import at_night

import mbdyn_ros
from mbdyn_ros import InputError
from mbdyn_ros.__main__ import main
from mbdyn_ros.mechanisms import (
    MECHANISMS,
    Analysis,
    FourBar,
    Link,
    Parallelogram,
    QuickReturn,
    ScotchYoke,
    SliderCrank,
    compare,
    constant_speed,
    cycloid,
    dead_centers,
    reach,
    trapezoid,
)
from mbdyn_ros.mechanisms.crank_motion import from_table
from mbdyn_ros.mechanisms.forward import StoppedMotionError, law_from_table, move
from mbdyn_ros.mechanisms.sweep import sweep
from mbdyn_ros.mechanisms.view.plots import plot_forward

Array = np.ndarray


def four_bar(ground: float, crank: float, coupler: float, rocker: float) -> FourBar:
    return FourBar(ground=ground, crank=Link(crank), coupler=Link(coupler), rocker=Link(rocker))


# -- what can turn -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lengths", "grashof_class"),
    [
        ((0.32, 0.10, 0.30, 0.25), "crank-rocker"),
        ((0.10, 0.30, 0.25, 0.32), "double-crank"),
        ((0.30, 0.32, 0.25, 0.10), "rocker-crank"),
        ((0.30, 0.25, 0.10, 0.32), "double-rocker"),
        ((0.40, 0.20, 0.22, 0.25), "triple-rocker"),
        ((0.30, 0.10, 0.30, 0.10), "change-point"),
    ],
)
def test_every_grashof_class_turns_as_it_should(
    lengths: tuple[float, ...], grashof_class: str
) -> None:
    mechanism = four_bar(*lengths)
    assert mechanism.grashof_class == grashof_class
    g, a, b, c = lengths
    lower, upper = reach(mechanism)
    full = grashof_class in ("crank-rocker", "double-crank", "change-point")
    assert (lower == -np.inf) == full
    if not full:
        # coupler and rocker in line: |D| = b + c or |b - c|
        cosines = [(g**2 + a**2 - d**2) / (2 * g * a) for d in (b + c, b - c)]
        angles = [math.acos(one) for one in cosines if abs(one) < 1]
        for limit in (lower, upper):
            assert min(abs(abs(limit) - one) for one in angles) < 1e-7
        inside, outside = 1e-9, 1e-6
        assert mechanism.margin(np.array([upper - inside])) >= 0
        assert mechanism.margin(np.array([upper + outside])) < 0
        with pytest.raises(InputError, match=f"{math.degrees(upper):.6g} deg"):
            mechanism.inverse_dynamics([upper + 1e-3], [1.0], [0.0])


@pytest.mark.usefixtures("interpreted")
def test_dead_centers_and_time_ratios() -> None:
    mechanism = FourBar()
    g, a, b, c = mechanism.lengths.values()
    # crank and coupler in line, stretched and folded: the pin at b + a and b - a from the crank
    angles = [math.acos((g**2 + d**2 - c**2) / (2 * g * d)) for d in (b + a, b - a)]
    expected = np.sort([angles[0], angles[1] - math.pi])
    assert dead_centers(mechanism) == pytest.approx(expected, abs=1e-12)
    # quick return: the lever stands still where the crank is square to it
    quick = QuickReturn(ground=0.25, crank=Link(0.1))
    swing = math.acos(0.1 / 0.25)
    still = [-math.pi / 2 - swing, -math.pi / 2 + swing]
    assert dead_centers(quick) == pytest.approx(still, abs=1e-12)
    # slider-crank: dead centres at crank and coupler in line, with an offset
    slider = SliderCrank(offset=0.04)
    still = [math.asin(0.04 / 0.4), math.asin(0.04 / 0.2) - math.pi]
    assert dead_centers(slider) == pytest.approx(np.sort(still), abs=1e-12)
    assert dead_centers(ScotchYoke()) == pytest.approx([-math.pi, 0.0, math.pi], abs=1e-9) or (
        dead_centers(ScotchYoke()) == pytest.approx([0.0], abs=1e-9)
    )


def test_transmission_and_mechanical_advantage() -> None:
    mechanism = FourBar()
    analysis = Analysis(mechanism, constant_speed(10.0))
    pose = analysis.pose
    between = np.angle(pose.directions["coupler"] / pose.directions["rocker"])
    assert analysis.transmission_angles[:, 0] == pytest.approx(np.abs(between), abs=1e-9)
    speeds = analysis.joints[1]
    assert analysis.output_rate * 10 == pytest.approx(speeds[:, 2], rel=1e-12)
    finite = np.isfinite(analysis.mechanical_advantage)
    product = analysis.mechanical_advantage[finite] * analysis.output_rate[finite]
    assert product == pytest.approx(1.0)
    with pytest.raises(InputError, match="depends on the others"):
        reach(MECHANISMS["five_bar"]())
    with pytest.raises(InputError, match="two inputs"):
        _ = Analysis(MECHANISMS["five_bar"](), constant_speed(1.0).shared(2)).output_rate
    with pytest.raises(InputError, match="there is no part 'cupler'; there are ground, crank"):
        analysis.curve("cupler", (0.0, 0.0))
    # Roberts and Chebyshev: a lambda linkage draws a nearly straight line
    lamda = four_bar(0.2, 0.1, 0.25, 0.25)
    lower = np.linspace(-np.pi / 2, np.pi / 2, 91)[:, None]
    way = lamda.pose(lower + np.pi).point("coupler", (0.5, 0.0))
    assert np.ptp(way.imag) < 0.01 * np.ptp(way.real)


@pytest.mark.usefixtures("interpreted")
def test_a_parallelogram_goes_through_its_change_points() -> None:
    mechanism = Parallelogram()
    analysis = Analysis(mechanism, constant_speed(10.0))
    assert np.isfinite(analysis.torque).all()
    pose = analysis.pose
    assert np.ptp(np.angle(pose.directions["coupler"])) == 0
    # the coupler is carried: all its points go in circles like the crank's pin
    torque = 9.81 * (0.35 / 2 + 0.6 + 0.35 / 2) * 0.15 * np.cos(analysis.motion.q)
    assert analysis.torque == pytest.approx(torque, abs=1e-12)
    forces = analysis.reactions["coupler_pin"]
    assert np.isnan(forces[[0, 180, 360]]).all() and np.isfinite(forces[10:170]).all()
    assert mechanism.replaced(crank_length=0.2).rocker.length == 0.2
    with pytest.raises(InputError, match="crank and rocker equal, not 0.2 and 0.1 m"):
        Parallelogram(crank=Link(0.2), rocker=Link(0.1))


# -- motions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "motion",
    [constant_speed(-3.0), trapezoid(3.0, 5.0), trapezoid(-9.0, 2.0), cycloid(2.0, 0.3, -4.0)],
)
def test_motions_are_the_integrals_of_their_accelerations(motion: Any) -> None:
    for rate, value in ((motion.v, motion.q), (motion.a, motion.v)):
        steps = np.diff(motion.time)[:, None] * (rate[1:] + rate[:-1]) / 2
        assert value - value[0] == pytest.approx(
            np.vstack([[[0.0]], np.cumsum(steps, axis=0)]), abs=2e-2
        )
    assert abs(motion.q[-1, 0] - motion.q[0, 0]) == pytest.approx(
        4.0 if motion.time[-1] == 2.0 else 2 * np.pi
    )


def test_a_motion_from_a_table(tmp_path: Path) -> None:
    path, t = tmp_path / "crank.csv", np.linspace(0, 1, 201)
    rows = zip(t.tolist(), np.sin(t).tolist(), strict=True)
    path.write_text("time,position/crank\n" + "".join(f"{a!r},{b!r}\n" for a, b in rows))
    motion = from_table(path, ("crank",))
    assert motion.v[:, 0] == pytest.approx(np.cos(t), abs=1e-6)
    assert motion.a[:, 0] == pytest.approx(-np.sin(t), abs=1e-3)
    path.write_text("time,position/crnk\n0,1\n1,2\n")
    with pytest.raises(InputError, match="no column position/crank; there are position/crnk"):
        from_table(path, ("crank",))
    path.write_text("time,position/crank\n0,1\n0,2\n")
    with pytest.raises(InputError, match="time must be finite and rise"):
        from_table(path, ("crank",))


@pytest.mark.long
def test_heavier_couplers_need_more_torque() -> None:
    analyses = compare(FourBar(), constant_speed(10.0), "coupler_mass", [0.5, 1, 2])
    peaks = [np.abs(one.torque).max() for one in analyses.values()]
    assert list(analyses) == [0.5, 1.0, 2.0] and peaks == sorted(peaks)
    # the torque is linear in the masses, inertias going with them
    half, one, two = (analysis.torque for analysis in analyses.values())
    assert two - one == pytest.approx(2 * (one - half), abs=1e-12)


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", ["four_bar", "quick_return", "stephenson", "five_bar"])
def test_forward_motion_is_that_of_the_robot(name: str) -> None:
    mechanism = MECHANISMS[name]()
    count = len(mechanism.inputs)
    torque = np.array([0.4, -0.2])[:count]
    times = np.linspace(0, 0.4, 9)
    start, rest = np.full(count, 0.3), np.zeros(count)
    robot = mechanism.robot()
    expected = mbdyn_ros.simulate(robot, start, rest, 0.4, torque, times=times)
    for method, rtol in (("RK45", 1e-10), ("DOP853", 1e-11)):
        motion = move(
            mechanism, start, rest, 0.4, torque, method, rtol=rtol, atol=1e-13, times=times
        )
        assert motion.q == pytest.approx(expected.q, abs=1e-7)
        assert motion.v == pytest.approx(expected.v, abs=1e-6)
        assert motion.a == pytest.approx(expected.a, rel=1e-5, abs=1e-4)


@pytest.mark.usefixtures("interpreted")
def test_a_torque_law_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "torque.csv"
    path.write_text("time,effort/crank\n0,0\n0.1,1\n0.2,0\n")
    law, longest = law_from_table(path, ("crank",))
    assert longest == pytest.approx(0.1) and law(0.05, *[np.zeros(1)] * 2) == [0.5]
    found = document(["four_bar", "--fd", "--duration", "0.3", "--torque", str(path)])
    expected = move(FourBar(), [0.0], [0.0], 0.3, law, max_step=longest)
    begun = document(["four_bar", "--fd", "--speed", "3", "--duration", "0.1"])
    assert begun["series"]["velocity"]["crank_joint"][0] == 3.0
    assert found["position"]["crank_joint"] == pytest.approx(expected.q[-1, 0], abs=1e-9)
    with pytest.raises(InputError, match="no column effort/second_crank"):
        law_from_table(path, ("crank", "second_crank"))


@pytest.mark.usefixtures("interpreted")
def test_simulations_too_go_by_either_formula() -> None:
    robot = FourBar().robot()
    steps = {}
    for method in ("DOP853", "RK45"):
        trajectory = mbdyn_ros.simulate(robot, [0.0], [0.0], 0.5, rtol=1e-8, method=method)
        assert trajectory.relative_imbalance < 1e-7
        steps[method] = trajectory.steps
    assert steps["RK45"] > 2 * steps["DOP853"]
    with pytest.raises(InputError, match="no method 'Euler'; there are DOP853, RK45"):
        mbdyn_ros.simulate(robot, [0.0], [0.0], 0.5, method="Euler")


@pytest.mark.usefixtures("interpreted")
def test_forward_motion_from_rest_keeps_its_energy_and_takes_a_torque_law() -> None:
    mechanism = FourBar()
    fall = move(mechanism, [0.0], [0.0], 2.0, method="DOP853", rtol=1e-11, atol=1e-13)
    energy = sum(mechanism.energy(fall.q, fall.v))
    assert np.ptp(energy) < 1e-9
    seen: list[float] = []

    def brake(t: float, q: Array, v: Array) -> Array:
        seen.append(t)
        return -0.5 * v

    slowed = move(mechanism, [0.0], [0.0], 2.0, brake)
    assert sum(mechanism.energy(slowed.q, slowed.v))[-1] < energy[0] and seen
    assert slowed.torque == pytest.approx(-0.5 * slowed.v)
    assert move(mechanism, [0.0], [0.0], 2.0, max_step=1e-2).steps >= 200


@pytest.mark.usefixtures("interpreted")
def test_a_toggle_stops_forward_motion_with_its_angle() -> None:
    mechanism = four_bar(0.35, 0.3, 0.1, 0.2)
    with pytest.raises(StoppedMotionError, match="cannot turn beyond -54.3147 deg") as stopped:
        move(mechanism, mechanism.home, [0.0], 5.0)
    motion = stopped.value.motion
    assert len(motion) > 10 and math.degrees(motion.q[-1, 0]) == pytest.approx(-54.3, abs=0.1)
    with pytest.warns(mbdyn_ros.SimulationWarning, match="dead centre"):
        beyond = mbdyn_ros.simulate(mechanism.robot(), mechanism.home, [0.0], 0.4, rtol=1e-8)
    assert beyond.time[-1] == 0.4 and beyond.relative_imbalance < 1e-6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"method": "Euler"}, "there is no method 'Euler'; there are DOP853, RK45"),
        ({"duration": -1}, "duration is -1; give a number above zero"),
        ({"rtol": math.nan}, "rtol is nan"),
        ({"times": [0.0, 2.0]}, "times run from 0 to 2 s; the simulation from 0 to 1 s"),
        ({"q0": [0.0, 1.0]}, r"q0 has shape \(2,\); give \(N, 1\)"),
        ({"torque": [math.inf]}, "torque holds NaN or infinity"),
    ],
)
def test_what_no_forward_motion_is(arguments: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"q0": [0.0], "v0": [0.0], "duration": 1.0, **arguments}
    with pytest.raises(InputError, match=words):
        move(FourBar(), **given)


# -- sweeps --------------------------------------------------------------------------------------


def test_a_sweep_is_its_designs_one_by_one() -> None:
    motion = constant_speed(10.0, points=25)
    axes = {"coupler_length": np.linspace(0.1, 0.4, 7), "crank_mass": np.array([0.5, 2.0])}
    result = sweep(FourBar(), axes, motion)
    peaks = result.values["peak_torque"]
    assert peaks.shape == (7, 2) and 0 < result.lost < 14
    for i, length in enumerate(axes["coupler_length"]):
        for k, mass in enumerate(axes["crank_mass"]):
            try:
                one = FourBar().replaced(coupler_length=length, crank_mass=mass)
                analysis = Analysis(one, motion)
                expected = np.abs(analysis.torque).max()
            except InputError:
                assert np.isnan(peaks[i, k])
                continue
            assert peaks[i, k] == pytest.approx(expected, rel=1e-12)
            angles = np.degrees(analysis.transmission_angles)
            worst = np.minimum(angles, 180 - angles).min()
            assert result.values["transmission"][i, k] == pytest.approx(worst, abs=1e-9)
    settings, value = result.best()
    assert value == np.nanmin(peaks) and list(settings) == list(axes)
    words, _, further = result.best_in_words().partition("; ")
    assert words.startswith(f"{value:.4g} N m at coupler_length = ") and words.endswith(" kg")
    ends = [name for name, axis in axes.items() if settings[name] in (axis[0], axis[-1])]
    assert further == (f"{' and '.join(ends)} may go further" if ends else "")
    assert " deg at " in result.best_in_words("transmission")
    with pytest.raises(InputError, match="coupler_mass is 0 kg"):
        sweep(FourBar(), {"coupler_mass": [1.0, 0.0]}, motion)
    with pytest.raises(InputError, match="no design of the sweep can go through"):
        sweep(FourBar(), {"ground": [2.0, 3.0]}, motion).best()


def test_a_toggle_between_two_points_is_seen() -> None:
    """Designs at Grashof's limit: which close at each point of a turn, but not on all the way."""
    motion = constant_speed(10.0, start=0.03, points=72)
    axes = {
        "coupler_length": np.linspace(0.15, 0.5, 36),
        "rocker_length": np.array([0.22 - 1e-9, 0.22 + 1e-9, 0.3]),
    }
    result = sweep(FourBar(ground=0.32, crank=Link(0.1, 0.35)), axes, motion)
    coupler, rocker = np.meshgrid(*axes.values(), indexing="ij")
    turns = (np.abs(coupler - rocker) < 0.22) & (coupler + rocker > 0.42)
    assert (result.closed == turns).all() and 0 < result.lost < turns.size
    short = FourBar(ground=0.32, crank=Link(0.1), coupler=Link(0.2), rocker=Link(0.22 - 1e-9))
    assert np.isfinite(short.inverse_dynamics(motion.q, [10.0], [0.0])).all()
    with pytest.raises(InputError, match="which goes from -179.991 to 179.991 deg"):
        Analysis(short, motion)
    with pytest.raises(StoppedMotionError, match="the crank cannot turn beyond 179.991 deg"):
        move(short, [3.0], [50.0], 1.0)


@pytest.mark.parametrize(("kind", "short"), [("watt", 0.1), ("stephenson", 0.2)])
def test_a_toggle_of_the_second_dyad_between_two_points_is_seen(
    kind: str, short: float
) -> None:
    """Against its margin at many points, at lengths close to the limit."""
    turn, many = constant_speed(10.0, points=73), np.linspace(0, 2 * np.pi, 72 * 500 + 1)[:, None]

    def least(length: float) -> float:
        one = MECHANISMS[kind]().replaced(second_coupler_length=length)
        return float(one.margin(many).min())

    long = 0.3
    assert least(short) < 0 < least(long)
    while long - short > 2e-9:
        middle = (short + long) / 2
        short, long = (short, middle) if least(middle) >= 0 else (middle, long)
    Analysis(MECHANISMS[kind]().replaced(second_coupler_length=long + 2e-8), turn)
    one = MECHANISMS[kind]().replaced(second_coupler_length=short - 2e-8)
    with pytest.raises(InputError, match="a toggle stops the crank, which goes from"):
        Analysis(one, turn)


def test_two_cranks_stop_at_their_toggle() -> None:
    short = MECHANISMS["five_bar"]().replaced(coupler_length=0.15, second_coupler_length=0.15)
    lower, upper = reach(short, which="crank")
    for angle, closes in ((lower + 1e-6, True), (lower - 1e-6, False), (upper + 1e-6, False)):
        assert (short.margin(np.array([angle, 0.0])) >= 0) == closes
    motion = constant_speed(10.0, turn=4.0).shared(2)
    way = type(motion)(motion.time, motion.q * [1.0, 0.0], motion.v * [1.0, 0.0], motion.a)
    words = f"crank and second_crank at {math.degrees(upper):.6g} and 0 deg: a toggle stops them"
    with pytest.raises(InputError, match=words):
        Analysis(short, way)
    with pytest.raises(StoppedMotionError, match="comes to a toggle at t = .* and second_crank at"):
        move(short, [1.0, 0.0], [0.0, 0.0], 3.0)


@pytest.mark.long
def test_a_sweep_on_dask() -> None:
    distributed = pytest.importorskip("distributed")
    motion = constant_speed(10.0, points=6)
    axes = {"coupler_length": np.linspace(0.25, 0.4, 7), "crank_mass": np.linspace(1, 2, 3)}
    expected, done = sweep(FourBar(), axes, motion), list[int]()
    with distributed.Client(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as client:
        result = sweep(FourBar(), axes, motion, done.append, client)
    assert sum(done) == 21
    for name, values in expected.values.items():
        assert np.array_equal(result.values[name], values, equal_nan=True)


@pytest.mark.long
def test_a_sweep_on_dask_survives_a_lost_worker() -> None:
    distributed = pytest.importorskip("distributed")
    motion = constant_speed(10.0, points=6)
    axes = {"coupler_length": np.linspace(0.25, 0.4, 1000), "crank_mass": np.linspace(1, 2, 140)}
    expected = sweep(FourBar(), axes, motion)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        done: list[int] = []

        def progress(count: int) -> None:
            if not done:  # on the way: the first part is done, others are not
                victim = next(iter(cluster.workers.values()))
                victim.process.process.kill()
            done.append(count)

        result = sweep(FourBar(), axes, motion, progress, client)
    assert sum(done) == 140_000 and len(done) > 4
    for name, values in expected.values.items():
        assert np.array_equal(result.values[name], values, equal_nan=True)


# -- the command line ----------------------------------------------------------------------------


def run(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["mechanism", *words])
    assert result.exit_code == code, result.output
    return result


def document(words: Sequence[str]) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(run(*words, "--json").stdout)
    return parsed


def test_command_line_lists_and_summarizes() -> None:
    assert list(document(["list"])) == list(MECHANISMS)
    assert "ground, crank_length, coupler_length, rocker_length" in run("list").output
    found = document(["four_bar", "--lengths", "0.32,0.1,0.3,0.25"])
    assert found["grashof_class"] == "crank-rocker" and found["range"] is None
    assert found["dead_centers"] == pytest.approx(dead_centers(FourBar()).tolist())
    assert "turns fully" in run("slider_crank").output


@pytest.mark.long
def test_command_line_analyses(tmp_path: Path) -> None:
    files = {kind: str(tmp_path / f"a.{kind}") for kind in ("png", "gif", "csv", "urdf")}
    words = ["four_bar", "--id", "--plot", files["png"], "--gif", files["gif"]]
    words += ["--curve", "coupler=0.15,0.1", "--output", files["csv"], "--urdf", files["urdf"]]
    found = document(words)
    analysis = Analysis(FourBar(), constant_speed(10.0))
    assert found["peak_torque"] == pytest.approx([np.abs(analysis.torque).max()])
    assert found["series"]["effort"]["crank"] == pytest.approx(analysis.torque[:, 0].tolist())
    curve = analysis.curve("coupler", (0.15, 0.1))
    assert found["series"]["curve"] == {"x": curve[:, 0].tolist(), "y": curve[:, 1].tolist()}
    assert all(Path(one).stat().st_size > 1000 for one in files.values())
    assert Path(files["gif"]).read_bytes().startswith(b"GIF89a")
    with open(files["csv"], encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert float(rows[7]["reaction/coupler_pin/fx"]) == analysis.reactions["coupler_pin"][7, 0]
    assert mbdyn_ros.load(files["urdf"]).nv == 1

    found = document(["four_bar", "--compare", "coupler_mass=0.5,1,2", "--plot", files["png"]])
    assert [row["value"] for row in found["comparison"]] == [0.5, 1, 2]
    found = document(["four_bar", "--fd", "--duration", "0.3", "--plot", files["png"]])
    series = found["series"]
    assert series["acceleration"]["rocker_joint"] and abs(found["energy_change"]) < 1e-6
    joint, absolute = series["position"], series["plane"]
    angle = np.add(joint["crank_joint"], joint["coupler_joint"])
    assert absolute["coupler"] == pytest.approx(angle)
    assert {"plane_rate", "plane_acceleration", "effort"} <= set(series)
    whole = np.add(series["energy"]["kinetic"], series["energy"]["potential"])
    assert whole[-1] - whole[0] == pytest.approx(found["energy_change"])
    motion = move(FourBar(), [0.0], [0.0], 0.3)
    titles = [axes.get_ylabel() for axes in plot_forward(FourBar(), motion).axes]
    assert titles == [
        "absolute position (rad)", "joint position (rad)", "absolute velocity (rad/s)",
        "joint velocity (rad/s)", "absolute acceleration (rad/s²)", "joint acceleration (rad/s²)",
        "energy (J)", "driving torque (N m)",
    ]  # fmt: skip
    sweeping = ["--sweep", "coupler_mass=1:2:5", "--sweep", "ground=0.1:0.3:4"]
    found = document(["four_bar", *sweeping, "--plot", files["png"]])
    assert found["designs"] == 20 and found["best"]["settings"]["coupler_mass"] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("four_ba", 'no mechanism \'four_ba\' (did you mean "four_bar"?)'),
        ("four_bar --lengths 1,2", "give 4 numbers, m: ground, crank_length"),
        ("four_bar --lengths 1,0.1,0.1,0.1", "the ground (1 m) is longer than the other three"),
        ("four_bar --set coupler_mass=-1", "coupler_mass is -1 kg; give a mass above zero"),
        ("four_bar --lengths 0.35,0.3,0.1,0.2 --id", "goes from -54.3147 to -15.3589 deg"),
        ("four_bar --id --curve coupler", "give PART=ALONG,ACROSS"),
        ("four_bar --id --curve cupler=1,2", "there is no part 'cupler'"),
        ("four_bar --compare coupler_mass", "give SETTING=VALUE,VALUE"),
        ("four_bar --sweep crank_mass=1:2", "give SETTING=FROM:TO:COUNT"),
        ("four_bar --id --motion nothing.csv", "nothing.csv: cannot be read"),
        ("four_bar --fd --torque 1,2", "give 1 numbers, N m, or a file"),
        ("four_bar --id --speed 0", "speed is 0 rad/s"),
        ("four_bar --id --turn 0", "turn is 0 rad"),
        ("four_bar --sweep crank_mass=1:2:9999 --sweep ground=1:2:9999", "99,980,001 designs"),
        *at_night(
            ("four_bar --sweep crank_mass=1:2:3 --dask tcp://127.0.0.1:9", "no Dask scheduler")
        ),
    ],
)
def test_command_line_refuses_in_words(words: str, message: str) -> None:
    if "--dask" in words:
        pytest.importorskip("distributed")
    result = CliRunner().invoke(main, ["mechanism", *words.split()])
    assert result.exit_code == 1
    assert message in result.output.replace("\n", " ") and "Traceback" not in result.output


def test_an_analysis_prints_in_a_line() -> None:
    motion = constant_speed(10.0)
    assert repr(motion) == "CrankMotion(361 points from 0 to 0.628319 s)"
    assert len(repr(Analysis(FourBar(), motion))) < 400
