"""A machine that is known is found again from a recording with noise, friction, delay and lean."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

import mbdyn_ros
from benchmarks.identified_follows import errors, without_offsets
from benchmarks.identified_loops import LOOPS, RATE, SECONDS, friction
from benchmarks.identified_loops import recorded as recorded_loops
from mbdyn_ros.__main__ import main
from mbdyn_ros.array import Array
from mbdyn_ros.errors import InputError
from mbdyn_ros.identification import (
    Identification,
    excitation,
    identify_machine,
    identify_payload,
)
from mbdyn_ros.identification.consistent import consistent, pseudo_inertia
from mbdyn_ros.identification.linear_form import LinearForm
from mbdyn_ros.identification.soundness import other_zeros
from mbdyn_ros.model.inertia import standard_parameters
from mbdyn_ros.model.model import Inertia
from mbdyn_ros.recording.conditioning import conditioned
from mbdyn_ros.recording.measured import Recording

pytestmark = pytest.mark.usefixtures("interpreted_module")
pytest.importorskip("clarabel")

LEAN, DELAY, STEP = np.array([0.03, -0.02]), 0.012, 0.004
VISCOUS, DRY = np.array([2.0, 1.5, 0.8]), np.array([3.0, 2.0, 1.0])
CARRIED = np.array([0.05, -0.1, 0.2])
"""Place (m) of a payload in its link."""

SHARED = 0.7
"""Dry friction (N m) of a shaft that turns with the sum of the last two joints."""


def arm_text() -> str:
    """Three joints, of which none is parallel to another."""
    text, at = '<robot name="arm"><link name="l0"/>', "0 0 0.3"
    for k, (axis, mass) in enumerate((("0 0 1", 4), ("0 1 0", 3), ("1 0 0", 1.5)), 1):
        text += f"""
        <joint name="j{k}" type="continuous"><origin xyz="{at}"/><axis xyz="{axis}"/>
          <parent link="l{k - 1}"/><child link="l{k}"/></joint>
        <link name="l{k}"><inertial><origin xyz="0.1 0.05 {0.1 * k}"/><mass value="{mass}"/>
          <inertia ixx="0.05" iyy="0.04" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
        at = "0.3 0 0"
    return text + "</robot>"


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> mbdyn_ros.Robot:
    path = tmp_path_factory.mktemp("arm") / "arm.urdf"
    path.write_text(arm_text())
    return mbdyn_ros.load(path)


def motion(seed: int, seconds: float = 16.0) -> tuple[Array, Array, Array, Array]:
    random, time = np.random.default_rng(seed), np.arange(0, seconds, STEP)
    q, v, a = np.zeros((3, len(time), 3))
    for k in range(1, 6):
        rate, phase = 2 * np.pi * k / 8, random.uniform(0, 6, 3)
        size = random.normal(size=3) / k
        q += size * np.sin(rate * time[:, None] + phase)
        v += size * rate * np.cos(rate * time[:, None] + phase)
        a -= size * rate**2 * np.sin(rate * time[:, None] + phase)
    return time, q, v, a


def leaning_arm() -> mbdyn_ros.Robot:
    gravity = np.array([0, 0, -9.81]) + np.cross([*LEAN, 0], [0, 0, -9.81])
    return mbdyn_ros.load(arm_text(), gravity=gravity.tolist())


def recorded(
    seed: int, delay: float = DELAY, noise: float = 0.05, payload: float = 0.0
) -> Recording:
    """The arm on a base that leans, with friction that its description lacks."""
    time, q, v, a = motion(seed)
    robot = leaning_arm()
    if payload:
        robot.set_payload("l3", payload, CARRIED)
    effort = robot.inverse_dynamics(q, v, a) + VISCOUS * v + DRY * np.sign(v)
    effort[:, 1:] += SHARED * np.sign(v[:, 1:].sum(axis=1))[:, None]
    late = np.column_stack([np.interp(time - delay, time, one) for one in effort.T])
    random = np.random.default_rng(seed + 100)
    rounded = np.round(q / 1e-4) * 1e-4
    return Recording(time, rounded, v, late + noise * random.normal(size=late.shape))


@pytest.fixture(scope="module")
def found(arm: mbdyn_ros.Robot) -> Identification:
    return identify_machine(arm, [recorded(1), recorded(2)], [recorded(3)])


def test_parameters_are_inside_their_deviations(found: Identification) -> None:
    score = (found.found - found.described) / found.deviation
    assert not found.open and np.abs(score).max() < 4
    assert np.sqrt(np.mean(score**2)) < 2
    for joint, viscous, dry in zip(("j1", "j2", "j3"), VISCOUS, DRY, strict=True):
        assert found.drives[joint]["viscous"][0] == pytest.approx(viscous, abs=0.05)
        assert found.drives[joint]["Coulomb"][0] == pytest.approx(dry, rel=0.03)


@pytest.mark.long
def test_an_undetermined_offset_is_held_at_zero() -> None:
    """The weights of a boom on one cylinder make the same effort; its friction is determined."""
    boom = LOOPS["boom"]()
    motion = excitation(boom, SECONDS, RATE)
    viscous, dry = friction(boom, motion)
    recording = recorded_loops(boom, motion, (viscous, dry), 2, 0)
    drive = identify_machine(boom, [recording]).drives["rod_joint"]
    offset, spread = drive["offset"]
    assert np.isnan(spread) and abs(offset) < 0.01 * drive["Coulomb"][0]
    assert drive["Coulomb"][0] == pytest.approx(dry[0], rel=0.03)


def test_what_few_rows_determine_is_not_lost_in_the_misfit_of_all() -> None:
    """Curvatures from 1e2 to 1e10: a tolerance of 1e-8 of the cost would leave errors of 10 %."""
    body = standard_parameters(Inertia(4.0, np.array([0.1, 0.0, 0.2]), 0.1 * np.eye(3)))
    truth = np.append(body, [2.0, 0.5])
    hessian = np.diag(np.geomspace(1e10, 1e2, len(truth)))
    found = consistent(hessian, hessian @ truth, np.append(body, [0, 0]), [slice(0, 10)],
                       np.array([False] * 10 + [True] * 2))  # fmt: skip
    np.testing.assert_allclose(found, truth, atol=1e-5)


@pytest.mark.long
def test_efforts_and_what_positions_make_of_them_pass_one_filter() -> None:
    """Loops make efforts above the cut-off, which else were a misfit of 4e-4."""
    robot = mbdyn_ros.example("four_bar")
    designed = excitation(robot, 10.0, 100.0, 1)
    q, v, a = (np.tile(one[:-1], (2, 1)) for one in (designed.q, designed.v, designed.a))
    effort = robot.inverse_dynamics(q, v, a, friction=False)
    one = identify_machine(robot, [Recording(np.arange(len(q)) / 100.0, q, v, effort)])
    assert one.fit.relative < 3e-5
    np.testing.assert_allclose(one.found, one.described, atol=1e-4 * abs(one.described).max())


def test_positions_that_close_no_loop_are_refused() -> None:
    boom = LOOPS["boom"]()
    wave = np.sin(0.01 * np.arange(600))[:, None]
    recording = Recording(0.01 * np.arange(600), 3 + wave, wave, 100 * wave, [])
    with pytest.raises(InputError, match=r"do not close its loops in .* \(rod_joint is .*--zero"):
        identify_machine(boom, [recording])


@pytest.mark.long
def test_lean_delay_and_a_shared_shaft_are_found(found: Identification) -> None:
    np.testing.assert_allclose(found.lean, LEAN, atol=1e-3)
    assert found.delay == pytest.approx(DELAY, abs=1e-3)
    shared = "shared shaft of j2 and j3"
    assert set(found.brings) == {"inertias, friction and offsets", "lean", shared}
    assert found.drives[shared]["Coulomb"][0] == pytest.approx(SHARED, rel=0.1)


def test_verdict(found: Identification) -> None:
    verdict = found.verdict
    assert verdict.relative < 0.01 < 0.1 < verdict.described
    assert (verdict.nrmse < 0.01).all() and (verdict.explained > 0.99).all()
    assert "good for feed-forward and contact detection" in found.words()[0]
    assert found.not_in_files() == [f"not in robot files: offsets, {'shared shaft of j2 and j3'}"]


@pytest.mark.long
def test_noise_of_positions_is_taken_off(arm: mbdyn_ros.Robot) -> None:
    """Small motions, of which noise makes much: parameters are neither drawn to 0 nor too sure."""
    time, q, v, a = motion(4)
    random, scores, noise = np.random.default_rng(7), [], 3e-4
    q, v, a = 0.05 * q, 0.05 * v, 0.05 * a
    effort = arm.inverse_dynamics(q, v, a)
    for _ in range(4):
        measured = q + noise * random.normal(size=q.shape)
        loud = effort + 1e-3 * random.normal(size=effort.shape)
        recording = Recording(time, measured, v, loud)
        one = identify_machine(arm, [recording])
        scores.append((one.found - one.described) / one.deviation)
        assert conditioned(arm, recording).noise == pytest.approx(noise, rel=0.15)
    assert np.nanmean(np.square(scores)) < 1.5**2 and np.nanmax(np.abs(scores)) < 4


def test_bodies_that_can_be_are_written(found: Identification, tmp_path: Path) -> None:
    """And the written robot has the efforts that were predicted, except for what it cannot hold."""
    for one in found.robot.model.links:
        if one.inertia is not None:
            assert np.linalg.eigvalsh(pseudo_inertia(standard_parameters(one.inertia))).min() > 0
    path = tmp_path / "identified.urdf"
    found.robot.save_urdf(path)
    again = mbdyn_ros.load(path, gravity=found.robot.gravity.tolist())
    _, q, v, a = motion(5)
    shared = found.drives["shared shaft of j2 and j3"]["Coulomb"][0]
    efforts = again.inverse_dynamics(q, v, a)
    efforts[:, 1:] += shared * np.sign(v[:, 1:].sum(axis=1))[:, None]
    true = leaning_arm().inverse_dynamics(q, v, a)
    true += VISCOUS * v + DRY * np.sign(v)
    true[:, 1:] += SHARED * np.sign(v[:, 1:].sum(axis=1))[:, None]
    assert np.linalg.norm(efforts - true) < 0.01 * np.linalg.norm(true)


@pytest.mark.long
def test_a_written_robot_follows_the_recording(
    arm: mbdyn_ros.Robot, found: Identification, tmp_path: Path
) -> None:
    """Driven by the recorded efforts; the file lacks the friction of the shaft that is shared."""
    found.robot.save_urdf(path := tmp_path / "identified.urdf")
    written = mbdyn_ros.load(path, gravity=found.robot.gravity.tolist())
    run = recorded(3)
    identified = errors(written, without_offsets(found, run), DELAY, 3.0)
    assert (identified < 0.06).all() and (errors(arm, run, DELAY, 3.0) > 3 * identified).all()


@pytest.mark.long
def test_a_payload_from_a_motion_with_it_and_one_without(arm: mbdyn_ros.Robot) -> None:
    found = identify_payload(arm, "l3", [recorded(4, payload=2.0)], [recorded(1), recorded(2)])
    assert found.mass == pytest.approx(2.0, abs=4 * found.mass_deviation + 0.01)
    assert found.mass_deviation < 0.05
    np.testing.assert_allclose(found.com, CARRIED, atol=0.01)
    assert (found.com_deviation < 0.01).all()
    assert found.after < 0.02 < 0.2 < found.before
    assert found.robot.total_mass - found.mass == pytest.approx(arm.total_mass, rel=0.3)
    with pytest.raises(InputError, match="give a mass of"):
        identify_payload(arm, "l3", [recorded(4)], [recorded(1), recorded(2)])


@pytest.mark.long
def test_a_gain_that_is_unknown(arm: mbdyn_ros.Robot) -> None:
    """Of a motor whose currents count backwards; the other joints' efforts determine its gain."""
    given = [recorded(k, noise=0.02) for k in (1, 2)]
    for one in given:
        one.effort = one.effort * [1, -0.1, 1]
        one.unknown_gains = ("j2",)
    found = identify_machine(arm, given)
    gain, spread = found.gains["j2"]
    assert gain == pytest.approx(-10, abs=min(4 * spread, 0.5))
    assert found.verdict.relative < 0.02 and "gains of drives: j2 -" in " ".join(found.words())
    assert found.drives["j2"]["Coulomb"][0] == pytest.approx(DRY[1], rel=0.06)


def with_effort(effort: Array) -> Recording:
    time, q, v, _ = motion(1)
    return Recording(time, q, v, effort)


def test_gains_that_are_all_unknown_keep_the_scale_of_the_masses(arm: mbdyn_ros.Robot) -> None:
    currents = recorded(1, noise=0.02)
    currents.effort /= [3.0, 4.0, 2.0]
    currents.unknown_gains = arm.effort_labels
    found = identify_machine(arm, [currents])
    gains, spread = np.array([found.gains[one] for one in arm.effort_labels]).T
    scale, certain = gains / [3, 4, 2], np.isfinite(spread)
    assert certain.sum() == 2 and np.ptp(scale[certain]) < 0.01 and 0.8 < scale.mean() < 1.2
    assert np.ptp(scale) < 0.02  # of a guess, which rounding changes where it decides on parts
    assert found.verdict.relative < 0.02


def test_what_is_wrong_is_said_by_joint(arm: mbdyn_ros.Robot) -> None:
    one = recorded(1)
    for sign in ([1, -1, 1], [-1, -1, -1]):
        with pytest.raises(InputError, match=r"wrong sign: .*j2 \(its efforts are -.*j2=-1"):
            identify_machine(arm, [with_effort(one.effort * sign)])
    still = Recording(one.time, one.q * [1, 1, 0], one.v, one.effort)
    with pytest.raises(InputError, match="hardly move j3 .0 rad, at least 0.02"):
        identify_machine(arm, [still])
    with pytest.raises(InputError, match="without gaps has 56 samples, .* record longer"):
        identify_machine(arm, [Recording(*(x[:45] for x in (one.time, one.q, one.v, one.effort)))])
    remarks = identify_machine(arm, [with_effort(np.clip(one.effort, -9, 9))]).remarks
    assert any("efforts of j2 stay at 9 in" in text for text in remarks)
    held = np.repeat(one.effort[::50], 50, axis=0)
    remarks = identify_machine(arm, [with_effort(held)]).remarks
    assert any("efforts of j1 change in 2.0% of the samples only" in text for text in remarks)


def test_other_zeros_of_joints_are_proposed(arm: mbdyn_ros.Robot) -> None:
    turned, straight = recorded(1), recorded(1)
    turned.q = turned.q + [0, np.pi / 2, 0]
    forms = [LinearForm(arm, [conditioned(arm, one)]) for one in (turned, straight)]
    assert ". With other zeros, --zero j2=-1.5708, the" in other_zeros(arm, forms[0])
    assert not other_zeros(arm, forms[1])


def test_efforts_without_friction_look_computed(
    arm: mbdyn_ros.Robot, found: Identification
) -> None:
    _, q, v, a = motion(1)
    noise = 0.02 * np.random.default_rng(3).normal(size=q.shape)
    computed = identify_machine(arm, [with_effort(leaning_arm().inverse_dynamics(q, v, a) + noise)])
    assert "look computed by a model" in " ".join(computed.words())
    assert "look computed" not in " ".join(found.words())


def test_another_robot_is_not_to_be_used(arm: mbdyn_ros.Robot) -> None:
    noise = np.random.default_rng(0).normal(size=(len(motion(1)[0]), 3))
    found = identify_machine(arm, [with_effort(noise)])
    assert found.verdict.relative > 0.5 and "do not use it" in found.words()[0]


def test_cylinders_of_a_loop() -> None:
    """Friction of a boom's cylinder within 3 %, of efforts with noise."""
    robot, random = mbdyn_ros.example("boom"), np.random.default_rng(0)
    time = np.arange(0, 30, 0.01)
    q = (0.14 * np.sin(1.1 * time) + 0.06 * np.sin(2.7 * time + 1))[:, None]
    v = (0.14 * 1.1 * np.cos(1.1 * time) + 0.06 * 2.7 * np.cos(2.7 * time + 1))[:, None]
    a = (-0.14 * 1.21 * np.sin(1.1 * time) - 0.06 * 7.29 * np.sin(2.7 * time + 1))[:, None]
    effort = robot.inverse_dynamics(q, v, a, friction=False) + 4000 * v + 350 * np.sign(v)
    effort += 30 * random.normal(size=effort.shape)
    run = Recording(time, q, v, effort)
    found = identify_machine(robot, [run])
    assert found.drives["rod_joint"]["Coulomb"][0] == pytest.approx(350, rel=0.03)
    assert found.drives["rod_joint"]["viscous"][0] == pytest.approx(4000, rel=0.03)
    assert found.verdict.relative < 0.01
    identified = errors(found.robot, without_offsets(found, run), 0.0, 6.0)
    assert identified < 5e-4 and errors(robot, run, 0.0, 6.0) > 5 * identified
    assert "of 8 base parameters" in " ".join(found.words())  # not all are determined


def test_command_line(arm: mbdyn_ros.Robot, tmp_path: Path) -> None:
    one, path, page = recorded(1), tmp_path / "run.npz", tmp_path / "report.html"
    np.savez(path, times=one.time, positions=one.q, torques=one.effort * [1, 0.5, 1])
    arguments = ["identify", str(arm.model.source), str(path), "--gain", "j2=2"]
    result = CliRunner().invoke(main, [*arguments, "--output", str(tmp_path / "found.urdf"),
                                       "--report", str(page), "--json", "--parameters",
                                       str(tmp_path / "nodes.yaml")])  # fmt: skip
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["verdict"]["relative_error"] < 0.02
    assert document["drives"]["j2"]["Coulomb"]["value"] == pytest.approx(DRY[1], rel=0.05)
    assert mbdyn_ros.load(tmp_path / "found.urdf").joint_names == arm.joint_names
    text = page.read_text()
    assert "good for feed-forward" in text and text.count("Plotly.newPlot('f") == 3
    nodes = yaml.safe_load((tmp_path / "nodes.yaml").read_text())["/**"]["ros__parameters"]
    dry = yaml.safe_load(nodes["joint_dynamics"])["j2"]["friction"]
    assert dry == pytest.approx(DRY[1], rel=0.05)
    loaded, other = tmp_path / "loaded.npz", recorded(4, payload=2.0)
    np.savez(loaded, times=other.time, positions=other.q, torques=other.effort * [1, 0.5, 1])
    beside = tmp_path / "found.yaml"
    more = ["--payload", f"l3={loaded}", "--output", str(beside)]
    shown = CliRunner().invoke(main, [*arguments, *more]).stdout
    again = mbdyn_ros.load(arm.model.source, mechanism=beside)
    assert again.model.joint("j2").friction == pytest.approx(dry, rel=1e-6)
    assert re.search(r"payload of l3: (1\.9|2\.0)\d* kg", shown)
    assert re.search(r"the base leans by (1\.9|2\.1|2\.0)", shown) and "held out" in shown
