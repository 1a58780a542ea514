"""The pages about the papers: every figure of ours on them is computed here."""

from __future__ import annotations

import csv
import re
import shlex
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from corpus import urdf_file
from interpreting import compiling

import mbdyn_ros
from benchmarks.mechanism import validated
from benchmarks.parallel_serial import chain
from benchmarks.tree_impact import DURATION, RADIUS, START, load, measure
from benchmarks.tree_operations import both_ways, counted, operations, tree
from mbdyn_ros.equations.formulation import Study
from mbdyn_ros.export.operation_count import literature_tables
from mbdyn_ros.mechanisms import Analysis, FourBar, compare, constant_speed
from mbdyn_ros.mechanisms.denoc_equations import denoc_equations
from mbdyn_ros.piezo import PiezoMotion, PulseController, Rotor, circle, follow
from mbdyn_ros.program.program import Program, declared

ROOT = Path(__file__).parents[2]
PAPERS, PIEZO, COUNTS, IMPACTS, MECHANISMS = (
    (ROOT / "docs" / f"{name}.md").read_text()
    for name in ("papers", "piezo", "operation_counts", "impacts", "mechanisms")
)

ROBOTS = {
    "piezo robot, 6 joints": ("piezo_robot.yaml", False),
    "UR5": ("ur5_robot.urdf", False),
    "Panda": ("panda.urdf", False),
    "Solo12, floating": ("solo12.urdf", True),
    "G1, floating, 29 joints": ("g1_29dof_rev_1_0.urdf", True),
}
"""Robots of the first table of counts, and whether they float."""


def row(page: str, start: str) -> list[str]:
    """The cells of the line of a table that begins so."""
    (line,) = (line for line in page.splitlines() if line.startswith(f"| {start}"))
    return [cell.strip(" *") for cell in line.strip("|").split("|")]


@pytest.fixture(scope="module")
def piezo() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(ROOT / "urdf" / "piezo_robot.yaml")


@pytest.mark.usefixtures("interpreted")
def test_four_bar() -> None:
    motion = constant_speed(10.0)
    peaks = [
        np.abs(one.torque).max()
        for one in compare(FourBar(), motion, "coupler_mass", [0.5, 1, 2]).values()
    ]
    assert row(PAPERS, "figure 5")[-1] == f"{', '.join(f'{one:.5f}' for one in peaks)} N m"
    fast = Analysis(FourBar(), constant_speed(20.0))
    whole, weightless = (np.abs(one).max() for one in (fast.torque, fast.torque_without_gravity))
    assert row(PAPERS, "figure 4:")[-1] == f"peaks {whole:.3f} and {weightless:.3f} N m at 20 rad/s"


def first_number(cell: str) -> float:
    """The first number of a cell."""
    found = re.search(r"\d+(?:\.\d+)?(?:e-?\d+)?", cell)
    assert found is not None, cell
    return float(found[0])


@pytest.mark.long
@pytest.mark.usefixtures("interpreted")
def test_figure_6_beside_two_other_programs() -> None:
    """Rounding differs from machine to machine; what integrators leave does not."""
    found = validated()
    assert row(PAPERS, "figure 6")[-1].startswith("rounding")
    for cell in (row(PAPERS, "figure 6")[-1], row(MECHANISMS, "torque without gravity")[-1]):
        assert found.torque_gap < 3 * first_number(cell) < 1e-13
    pinocchio, rough, soft = found.speed_gaps.values()
    assert pinocchio < 3 * first_number(row(MECHANISMS, "joint speeds, 4.7 turns")[-1]) < 1e-7
    for gap, start in ((rough, "the same, ours by RK45"), (soft, "the same, MuJoCo")):
        assert gap == pytest.approx(first_number(row(MECHANISMS, start)[-1]), rel=0.1)
    assert f"{found.turns:.1f} turns" in MECHANISMS


@pytest.mark.usefixtures("interpreted")
def test_the_bordered_matrix_is_not_definite() -> None:
    found = denoc_equations(FourBar(), [1.0], cut=["coupler_joint"])
    I, J = (found.matrices[name].values for name in "IJ")  # noqa: E741
    A = np.block([[I, J.T], [J, np.zeros((len(J), len(J)))]])
    assert (np.linalg.eigvalsh(A) < 0).sum() == len(J) == 2


@pytest.mark.long
def test_piezo_robot(piezo: mbdyn_ros.Robot) -> None:
    form = piezo.closed_form()
    share = form.zeros / len(form.elements)
    expected = f"{len(form.elements)} elements, {form.zeros} zero ({100 * share:.1f} %)"
    assert row(PAPERS, "(1), (2), (7)")[-1] == expected
    zeros = [one.matrix for one in form.elements if not one.polynomial.coefficients]
    assert f"{zeros.count('g')} of g and {zeros.count('C')} of C vanish" in PAPERS
    tables = literature_tables(piezo.system.tree, piezo.operation_counts())
    starts = ("table 2,", "table 3, products")
    for start, (title, lines) in zip(starts, tables.items(), strict=True):
        theirs = [one for one in lines if one[0] != "mbdyn_ros"]
        ours = {one[1]: one for one in lines if one[0] == "mbdyn_ros"}
        recursion = ours["Newton-Euler" if "Inverse" in title else "composite bodies"]
        closed = ours["Lagrange-Euler, closed form"]
        cells = row(PAPERS, start)
        if start == "table 2,":
            assert cells[2] == ", ".join(str(one[2]) for one in theirs)
            assert cells[3] == f"{recursion[2]} (recursion), {closed[2]} (closed form)"
            ratio = f"{closed[2] / recursion[2]:.1f} times its products"
            assert ratio in PAPERS.replace("\n", " ")
        else:
            assert cells[2] == ", ".join(f"{one[2]}/{one[3]}" for one in theirs)
            assert cells[3] == (
                f"{recursion[2]}/{recursion[3]} (recursion), {closed[2]}/{closed[3]} (closed form)"
            )


@pytest.mark.long
def test_tree_robot_counts() -> None:
    robot = mbdyn_ros.load(ROOT / "urdf" / "tree_robot.urdf")
    ((_, lines),) = literature_tables(robot.system.tree, robot.operation_counts()).items()
    theirs = [one[2] for one in lines if one[0] != "mbdyn_ros"]
    ours = {one[1]: one for one in lines if one[0] == "mbdyn_ros"}
    gibbs, bodies, both = (
        ours[way]
        for way in ("Gibbs-Appell", "articulated bodies", "composite bodies and Newton-Euler")
    )
    cells = row(PAPERS, "table 1:")
    formulas = ", ".join(map(str, theirs))
    assert cells[2] == f"{formulas}: their formulas, over branches of 4, 5, 4, 5 links"
    assert cells[3] == f"{gibbs[2]} (theirs, folded), {both[2]} and {bodies[2]} (solved too)"


@pytest.mark.long
def test_figures_12_and_13() -> None:
    """A branch more costs the same (`test_operation_count`), so twice as many cost twice."""
    columns = {0: counted(4, 4), 1: counted(8, 4)}
    text = (ROOT / "docs" / "tree_operations.csv").read_text()
    _, *table = csv.reader(text.splitlines())
    assert [line[0] for line in table] == list(columns[0])
    for k, (start, *cells) in enumerate(table):
        for place, found in columns.items():
            products, sums = list(found.values())[k]
            assert cells[place] == f"{products:.0f}, {sums:.0f}"
        products, sums = list(columns[0].values())[k]
        if start == "by articulated bodies":  # except for products that vanish by chance
            there = [float(one) for one in cells[2].split(",")]
            assert there == pytest.approx((2 * products, 2 * sums), rel=0.01)
            continue
        assert cells[2] == f"{2 * products:.0f}, {2 * sums:.0f}"
    study = Study(tree(16, 4).system)
    composite, articulated = (
        [*(list(one.values())[k][0] for one in columns.values()), operations(study, longest)[0]]
        for k, longest in zip((-2, -1), both_ways(study), strict=True)
    )
    assert row(PAPERS, "figures 12, 13")[-1] == (
        "accelerations of 4 branches of 4, 8, 16 links: composite bodies "
        f"{', '.join(f'{one:.0f}' for one in composite)}; articulated bodies "
        f"{', '.join(f'{one:.0f}' for one in articulated)}"
    )
    steps = np.diff(articulated) / (16, 32)
    assert steps[0] == pytest.approx(steps[1], rel=0.02), "linear"
    assert composite[2] - composite[1] > 3 * (composite[1] - composite[0]) * 1.2, "it is not"


@pytest.mark.sparse
@pytest.mark.parametrize("name", ROBOTS)
def test_counts_of_robots(name: str) -> None:
    file, floating = ROBOTS[name]
    path = ROOT / "urdf" / file if file.startswith("piezo") else urdf_file(file)
    robot = mbdyn_ros.load(path, floating_base=floating)
    lines = COUNTS.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"| {name} |"))
    checked = 0
    for line in lines[start:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] not in ("", name) or len(cells) < 4:
            break
        counts = Program(declared(cells[1].replace(" ", "_")), robot.system).operations
        assert cells[2:4] == [str(counts["multiplications"]), str(counts["additions"])], cells
        checked += 1
    assert checked >= 2


@pytest.mark.long
def test_circle_of_the_piezo_robot(piezo: mbdyn_ros.Robot) -> None:
    home = np.array([0, 0.3, 0.8, -0.5, 0.6, 0])
    rotor = Rotor(0.002, 0.005, 1000.0)
    motion = PiezoMotion(piezo, rotor, "gripper", step=0.25)
    motion.set_state(home)
    path = circle(piezo, "gripper", home, 0.008, 6.0)
    run = follow(PulseController(piezo, rotor, "gripper"), motion, path, 6.5)
    assert len(run.time) == 6500
    gap = 1e3 * run.gap
    rms = np.sqrt(np.mean(gap**2))
    cells = row(PAPERS, "the robot moves")
    assert cells[-1] == f"{rms:.3f} mm from its circle (rms), {gap.max():.2f} mm at most, at 1 kHz"
    assert row(PIEZO, "circle of 8 mm in 6 s")[1] == f"{rms:.3f}, {gap.max():.2f} mm"
    assert row(PIEZO, "at the end")[1] == f"{gap[-1]:.4f} mm"
    assert row(PIEZO, "mean torque over")[1] == f"{100 * run.torque_error(1e-4):.2f} %"


def test_the_microprocessors_cycles() -> None:
    """The page of piezo robots has them, which `test_microcontroller` counts where QEMU is."""
    lines = (ROOT / "docs" / "microcontroller.csv").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("`pulse_control`"))
    cycles = int(line.split(",")[4])
    assert f"a cycle in about {round(cycles, -4)} cycles of a Cortex-M4" in PAPERS


@pytest.mark.long
def test_a_loop_more_costs_the_same() -> None:
    """O(n), of chains of four-bars."""
    counts = []
    for loops in (4, 5, 6):
        urdf, home = chain(loops)
        system = mbdyn_ros.load(urdf, home=home).system
        programs = (
            Program(declared(one), system) for one in ("inverse_dynamics", "forward_dynamics")
        )
        both = [one.operations for one in programs]
        counts.append([one[k] for one in both for k in ("multiplications", "additions")])
    first, second = np.diff(counts, axis=0)
    np.testing.assert_array_equal(first, second)
    inverse, more, forward, and_more = first
    assert row(PAPERS, "O(n)")[-1].startswith(
        f"a loop more: {inverse} products and {more} sums (inverse), "
        f"{forward} and {and_more} (forward dynamics), from four on"
    )


@pytest.fixture(scope="module")
def impacts() -> mbdyn_ros.Trajectory:
    robot, walls = load()
    return mbdyn_ros.simulate(
        robot, START, np.zeros(12), DURATION, rtol=1e-11, atol=1e-12, environment=walls
    )


def test_impacts_of_the_tree_robot(impacts: mbdyn_ros.Trajectory) -> None:
    names = ("table 3, 1st", "2nd", "3rd", "4th", "5th")
    for name, one in zip(names, impacts.impacts, strict=True):
        jump = one.normal_velocity_after[0] - one.normal_velocity_before[0]
        angle = np.degrees(one.angle_of_attack[0])
        cells = row(PAPERS, name)
        assert cells[-1] == f"{one.time:.6f}, {angle:.4f}, {jump:.4f}, {one.impulses[0]:.4f}"
    assert f"| {impacts.energy[0].sum():.6f} J, constant" in PAPERS


def test_the_first_lines_of_the_page_give_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    code = IMPACTS.partition("```python\n")[2].partition("```")[0]
    exec(code, {})
    printed = capsys.readouterr().out.splitlines()
    table = [line for line in IMPACTS.splitlines() if re.match(r"\| \d\.\d{9} \|", line)]
    assert len(printed) == len(table) == 5
    for line, wanted in zip(printed, table, strict=True):
        instant, points, impulses = re.fullmatch(r"(\S+) \((.*)\) \[(.*)\]", line).groups()  # type: ignore[union-attr]
        cells = [cell.strip() for cell in wanted.strip("|").split("|")]
        assert float(instant) == pytest.approx(float(cells[0]), abs=2e-8)
        names = [f"O{int(one) + 1}" for one in points.split(",") if one.strip()]
        assert ", ".join(names) == cells[1]
        assert [float(one) for one in impulses.split()] == pytest.approx(
            [float(cells[4])] * len(names), rel=1e-6
        )


def test_rods_written_down_apart_give_the_table(impacts: mbdyn_ros.Trajectory) -> None:
    """By Lagrange's method in absolute angles, (45) and (46) without any of our programs."""
    from scipy.integrate import solve_ivp  # slow to import

    count, q = 10, START[2:]
    parents = (0, 1, 2, 3, 2, 5, 6, 5, 5, 9)  # of rod k, 0 is the first point
    centers, ends, angles = np.zeros((count, count)), np.zeros((count + 1, count)), np.zeros(count)
    for k, parent in enumerate(parents):
        if parent:
            ends[k + 1], angles[k] = ends[parent], angles[parent - 1]
        centers[k] = ends[k + 1]
        centers[k, k], ends[k + 1, k] = 0.5, 1.0
        angles[k] += q[k]
    one, none = np.ones, np.zeros

    def jacobians(levers: np.ndarray, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = len(levers)
        return (np.hstack([one((n, 1)), none((n, 1)), -levers * np.sin(angles)]),
                np.hstack([none((n, 1)), one((n, 1)), levers * np.cos(angles)]))  # fmt: skip

    def inertia(angles: np.ndarray) -> np.ndarray:
        x, z = jacobians(centers, angles)
        return x.T @ x + z.T @ z + np.diag([0, 0, *[1 / 12 + 2.94e-5] * count])

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        angles, speeds = state[2:12], state[14:]
        x, z = jacobians(centers, angles)
        right = x.T @ centers @ (np.cos(angles) * speeds**2)
        right += z.T @ (centers @ (np.sin(angles) * speeds**2) - 9.81)
        return np.concatenate([state[12:], np.linalg.solve(inertia(angles), right)])

    def places(state: np.ndarray) -> np.ndarray:
        return state[:2, None] + np.array([ends @ np.cos(state[2:12]), ends @ np.sin(state[2:12])])

    def reach(_: float, state: np.ndarray) -> float:
        return float(RADIUS - np.linalg.norm(places(state), axis=0)[free].max())

    reach.terminal, reach.direction = True, -1  # type: ignore[attr-defined]
    time, state = 0.0, np.concatenate([START[:2], angles, none(12)])
    for impact in impacts.impacts:
        free = np.linalg.norm(places(state), axis=0) < RADIUS - 1e-6  # not those that just hit
        found = solve_ivp(rate, (time, DURATION), state, "DOP853", events=reach, rtol=1e-10,
                          atol=1e-12)  # fmt: skip
        time, state = found.t[-1], found.y[:, -1]
        assert time == pytest.approx(impact.time, abs=1e-8)
        at = places(state)[:, impact.points]
        normals = -at / RADIUS
        x, z = (rows[list(impact.points)] for rows in jacobians(ends, state[2:12]))
        G = normals[0][:, None] * x + normals[1][:, None] * z
        spread, speeds = np.linalg.solve(inertia(state[2:12]), G.T), G @ state[12:]
        impulses = np.linalg.solve(G @ spread, -2 * speeds)
        assert impulses == pytest.approx(impact.impulses, rel=1e-6)
        assert -2 * speeds == pytest.approx(
            impact.normal_velocity_after - impact.normal_velocity_before, rel=1e-6
        )
        state[12:] += spread @ impulses


def test_whole_jumps(impacts: mbdyn_ros.Trajectory) -> None:
    """Of the points' velocities; the paper's are the normal components."""
    robot, walls = load()
    points, found = walls.contact_points(robot), []
    for one in impacts.impacts:
        link, place = points[one.points[0]]
        change = robot.jacobian(one.q, link) @ (one.v_after - one.v_before)
        arm = robot.frame_pose(one.q, link)[:3, :3] @ place
        found.append(np.linalg.norm(change[:3] + np.cross(change[3:], arm)))
    text = f"{', '.join(f'{one:.4f}' for one in found[:-1])} and {found[-1]:.4f} m/s"
    assert text in PAPERS.replace("\n", " ")


@pytest.mark.usefixtures("interpreted_by_day")
def test_errors_and_time_of_the_papers_run() -> None:
    """Of the table below the run; times are of another machine."""
    found = measure(rounds=1, samples=1501)
    drift = row(IMPACTS, "energy drift in flight")[-1]
    assert found["drift_in_flight"] < 1.5 * first_number(drift)
    assert drift.startswith(row(PAPERS, "energy |")[-1].rpartition(" ")[2])
    assert found["jump_at_impacts"] < first_number(row(IMPACTS, "energy change at")[-1])
    assert found["asymmetry"] < 2 * first_number(row(IMPACTS, "mirror symmetry")[-1])
    assert found["penetration"] < 1e-12 and row(IMPACTS, "deepest penetration")[-1] == "none"
    steps = first_number(row(IMPACTS, "the 1.5 s, rtol 1e-11")[-1])
    assert found["steps"] == pytest.approx(steps, abs=2)
    assert "of the order of 10 ms" in row(PAPERS, "CPU")[-1]


def test_the_defaults_of_ode45_do_not_explain_the_papers_digits() -> None:
    robot, walls = load()
    loose = mbdyn_ros.simulate(
        robot, START, np.zeros(12), DURATION, method="RK45", rtol=1e-3, atol=1e-6,
        environment=walls,
    )  # fmt: skip
    _, second, third, fourth, last = loose.impacts
    angles = [np.degrees(one.angle_of_attack[0]) for one in (second, third)]
    speed = fourth.normal_velocity_after[0] - fourth.normal_velocity_before[0]
    assert [*angles, speed] == pytest.approx([25.409, 36.622, 12.463], abs=1e-3)
    words = ("second to fourth impact, where the paper has 25.38, 36.87 and 12.48",
             "25.41 deg, 36.62 deg and 12.46 m/s")  # fmt: skip
    assert all(one in PAPERS.replace("\n", " ") for one in words)
    theirs = [float(row(PAPERS, one)[2].split(",")[k]) for one, k in
              (("2nd", 1), ("3rd", 1), ("4th", 2))]  # fmt: skip
    assert (np.abs(np.subtract([*angles, speed], theirs)) > 0.015).all()
    assert "cause" in PAPERS and "not known" in PAPERS
    jump = last.normal_velocity_after - last.normal_velocity_before
    assert np.degrees(last.angle_of_attack) == pytest.approx(34.0, abs=0.1)
    assert jump == pytest.approx(30.2, abs=0.05) and last.impulses == pytest.approx(15.9, abs=0.1)
    assert "rtol=1e-3`, `atol=1e-6`" in PAPERS and "34.0 deg, 30.2 m/s and 15.9 N s" in PAPERS


def test_commands_of_the_page_exist() -> None:
    """Verbs, options and files that it names."""
    from click.testing import CliRunner

    from mbdyn_ros.__main__ import main

    for command in set(re.findall(r"`(mbdyn [^`]+)`", PAPERS)):
        words = command.split()
        help_text = CliRunner().invoke(main, [words[1], "--help"]).output
        for option in (word for word in words if word.startswith("--")):
            assert option in help_text, command
        for file in (word for word in words if word.startswith("urdf/")):
            assert (ROOT / file).is_file(), command
    for path in set(re.findall(r"`((?:test|mbdyn_ros|benchmarks)/[\w/.]+)`", PAPERS)):
        assert (ROOT / path).exists(), path


LASTING = {"--page", "mine.yaml"}
"""What serves until Ctrl-C, and a drawing of the reader's own."""

COMMANDS = sorted(set(re.findall(r"`(mbdyn [^`]+)`", PAPERS)))


@pytest.mark.long
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("command", [one for one in COMMANDS if not LASTING & set(one.split())])
def test_commands_of_the_page_run(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from mbdyn_ros.__main__ import main

    monkeypatch.chdir(tmp_path)
    for folder in ("urdf", "config"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    words = shlex.split(command)[1:]
    if words[0] == "piezo" and "--codegen" not in words and "--equations" not in words:
        words += ["--duration", "0.02"]
    with compiling() if "simulate" in words else nullcontext():
        result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output


def test_masses_of_the_machines() -> None:
    """Of the rows of figures that show the robots."""
    masses = {name: mbdyn_ros.example(name).total_mass for name in
              ("boom", "manipulator", "tree_robot", "piezo_robot")}  # fmt: skip
    assert f"of the boom {masses['boom']:g} kg move" in PAPERS
    assert f"of the manipulator {masses['manipulator']:g} kg" in PAPERS
    assert row(PAPERS, "figures 1, 4, table 2")[-1].endswith(f"{masses['tree_robot']:g} kg")
    assert f"{masses['piezo_robot']:.4f} kg" in row(PAPERS, "figure 1, table 1")[-1]


@pytest.mark.long
def test_counts_of_denoc_and_of_the_dictionary(piezo: mbdyn_ros.Robot) -> None:
    counts = piezo.operation_counts()

    def both(name: str) -> str:
        return f"{counts[name]['multiplications']}/{counts[name]['additions']}"

    products = [counts[name]["multiplications"] for name in
                ("inverse_dynamics by recursive DeNOC",
                 "forward_dynamics by recursive DeNOC, U D U^T")]  # fmt: skip
    assert f"{products[0]} and {products[1]} products, n = 6" in PAPERS
    ways = [f"{{}} by Lagrange-Euler, {one}" for one in ("dictionary of monomials", "closed form")]
    first, second = (
        [both(way.format(what)) for what in ("inverse_dynamics", "mass_matrix")] for way in ways
    )
    assert row(PAPERS, "section 4")[-1] == (
        f"{first[0]} (inverse dynamics) and {first[1]} (mass matrix), by Horner's scheme "
        f"{second[0]} and {second[1]}"
    )
