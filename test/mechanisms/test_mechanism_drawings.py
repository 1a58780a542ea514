"""Mechanisms from drawings: closed forms, loops by SciPy, Willis, energy, and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import fsolve

from mbdyn_ros import MbdynError
from mbdyn_ros.__main__ import main
from mbdyn_ros.mechanisms import (
    MECHANISMS,
    Analysis,
    Mechanism,
    QuickReturn,
    SliderCrank,
    Stephenson,
    constant_speed,
    drawing_of,
    mechanism_kind,
    reach,
    read_drawing,
)
from mbdyn_ros.mechanisms.branch_table import BranchTable
from mbdyn_ros.mechanisms.denoc_equations import denoc_equations
from mbdyn_ros.mechanisms.forward import move
from mbdyn_ros.mechanisms.registry import LIBRARY, kind_of
from mbdyn_ros.mechanisms.sweep import sweep

pytestmark = pytest.mark.usefixtures("interpreted")
Array = np.ndarray
DRAWN = sorted(path.stem for path in LIBRARY.glob("*.yaml"))
TURNING = [name for name in DRAWN if name != "peaucellier"]


@pytest.mark.parametrize("name", TURNING)
def test_it_goes_round(name: str) -> None:
    assert reach(MECHANISMS[name]()) == (-np.inf, np.inf)


def by_scipy(mechanism: Mechanism, q: Array) -> Array:
    """Joint positions (N, joints) by loop closure alone, from angle to angle."""
    layout, first = mechanism.layout(), mechanism.pose(q[:1])
    inputs = [layout.order[name] for name in mechanism.inputs]
    free = [k for k in range(len(layout.parts)) if k not in inputs]

    def gaps(x: Array, angle: Array) -> Array:
        joints = np.zeros(len(layout.parts))
        joints[inputs], joints[free] = angle, x
        origin, turn = {"ground": 0j}, {"ground": 1 + 0j}
        for part, value in zip(layout.parts, joints, strict=True):
            carrier = turn[part.parent]
            origin[part.name] = origin[part.parent] + carrier * complex(*part.at)
            if part.slides:
                turn[part.name] = carrier * (1j if part.across else 1)
                origin[part.name] += value * turn[part.name]
            else:
                turn[part.name] = carrier * np.exp(1j * value)
        ends = [
            [origin[one] + turn[one] * complex(*at) for one, at in
             ((pin.first, pin.at_first), (pin.second, pin.at_second))]
            for pin in layout.pins
        ]  # fmt: skip
        return np.array([[(b - a).real, (b - a).imag] for a, b in ends]).ravel()

    rows = [first.joint_positions()[0]]
    for angle in q[1:]:
        row = rows[-1].copy()
        row[inputs], row[free] = angle, fsolve(gaps, row[free], (angle,), xtol=1e-13)
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("name", ["stephenson_2", "jansen", "klann", "shaper"])
def test_positions_are_those_of_loop_closure(name: str) -> None:
    mechanism = MECHANISMS[name]()
    q = np.linspace(0, 2 * np.pi, 61)[:, None]
    assert mechanism.joint_state(q)[0] == pytest.approx(by_scipy(mechanism, q), abs=1e-10)


def test_peaucellier_draws_a_straight_line() -> None:
    mechanism = MECHANISMS["peaucellier"]()
    assert np.degrees(reach(mechanism)) == pytest.approx([-120, 120])  # there the arms are in line
    pose = mechanism.pose(np.radians(np.linspace(-119, 119, 239))[:, None])
    x, y = (getattr(pose.point("upper_far", (0.4, 0.0)), axis) for axis in ("real", "imag"))
    assert np.abs(x - 0.45).max() < 1e-12  # (0.5^2 - 0.4^2) / (2 * 0.1)
    assert np.ptp(y) > 1.4


def test_known_mechanisms_drawn_again_are_the_same() -> None:
    sixbar = Stephenson()
    pose = sixbar.pose([[0.4]])
    at = {f"{part.name}{k}": complex(one[0]) for part in sixbar.layout().parts
          for k, one in enumerate(pose.outline(part.name))}  # fmt: skip
    drawing = drawing_of(
        points={"O": (0, 0), "D": (0.3, 0), "E": (0.45, 0),
                **{name: (at[key].real, at[key].imag) for name, key in
                   (("A", "crank1"), ("B", "coupler1"), ("C", "coupler2"),
                    ("F", "second_coupler1"))}},
        ground=["O", "D", "E"],
        links={"crank": {"points": ["O", "A"], "mass": 0.4},
               "coupler": {"points": ["A", "B", "C"], "mass": 0.8},
               "rocker": {"points": ["D", "B"], "mass": 0.6},
               "second_coupler": {"points": ["C", "F"], "mass": 0.5},
               "second_rocker": {"points": ["E", "F"], "mass": 0.5}},
        inputs=["crank"],
    )  # fmt: skip
    q = np.linspace(0, 6, 7)[:, None]
    twin = mechanism_kind(drawing)()
    expected = sixbar.inverse_dynamics(q, [3.0], [7.0])
    assert twin.inverse_dynamics(q, [3.0], [7.0]) == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_points_that_coincide_as_drawn_may_be_moved_apart() -> None:
    """Two pivots of the ground at one place: their distance is not 0 for all designs."""

    def kind(pivot: float) -> type[Mechanism]:
        points = {"O": (0, 0), "A": (0.1, 0), "B": (0.28, 0.24), "P": (0.35, 0.3), "D": (0.32, 0),
                  "C": (0.5, 0.3), "E": (pivot, 0)}  # fmt: skip
        links = {"crank": "OA", "coupler": "AB", "rocker": "DBP", "link": "PC", "lever": "EC"}
        named = {name: {"points": list(ends)} for name, ends in links.items()}
        return mechanism_kind(drawing_of(points, ["O", "D", "E"], named, ["crank"]))

    apart = kind(0.34)()
    moved = kind(0.32)().replaced(E_x=0.34, lever_length=float(apart.settings["lever_length"]))
    q = np.linspace(0, 6, 7)[:, None]
    for one, other in zip(moved.joint_state(q, [1.0], [0.0]), apart.joint_state(q, [1.0], [0.0]),
                          strict=True):  # fmt: skip
        assert one == pytest.approx(other, abs=1e-12)


def test_slides_of_drawings_are_those_of_known_mechanisms() -> None:
    q = np.linspace(0, 6, 7)[:, None]
    slider = read_drawing("""
        points: {O: [0, 0], A: [0.1, 0], B: [0.39, 0.05]}
        ground: [O]
        links:
          crank: {points: [O, A], mass: 0.4}
          coupler: {points: [A, B], mass: 0.6}
          slider: {points: [B], slides_on: ground, mass: 0.8}
        inputs: [crank]
        settings: {coupler_length: 0.3}
        """)
    shaper = MECHANISMS["shaper"]().replaced(ram_mass=1e-9, rod_mass=1e-9, rod_inertia=0)
    lever = shaper.settings["lever_length"]
    known = QuickReturn().replaced(lever_length=lever)
    for drawn, twin in (
        (mechanism_kind(slider)(), SliderCrank(offset=0.05)),
        (shaper, known),
    ):
        torque = drawn.inverse_dynamics(q, [3.0], [7.0])
        assert torque == pytest.approx(twin.inverse_dynamics(q, [3.0], [7.0]), rel=1e-6, abs=1e-7)


def test_willis() -> None:
    gear = MECHANISMS["planetary_gear"]()
    _, speed, _ = gear.joint_state([[0.3]], [[10.0]])
    assert speed is not None
    sun, arm, planet = speed[0]
    assert arm == pytest.approx(10 / (1 + 60 / 24))
    assert (planet + arm - arm) / (sun - arm) == pytest.approx(-24 / 18)  # seen from the arm
    turned = gear.joint_state([[50.0]])[0][0]  # wheels count their turns
    assert turned == pytest.approx([50.0, 50 / 3.5, -(50 - 50 / 3.5) * 24 / 18])
    pair = MECHANISMS["gear_pair"]().replaced(gravity=0.0)
    torque = pair.inverse_dynamics([[0.0]], [0.0], [8.0])
    assert torque == pytest.approx(np.array([[8 * (6.25e-4 + 0.01 / 4)]]))
    tooth = Analysis(pair, constant_speed(1.0)).reactions["pinion_gear_mesh"]
    assert np.abs(tooth).max() < 1e-12
    found = denoc_equations(gear, [0.3], [10.0], [2.0])
    expected = gear.inverse_dynamics([[0.3]], [10.0], [2.0])[0, 0]
    assert found.tau[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.sparse
@pytest.mark.parametrize("name", ["stephenson_2", "geared_five_bar"])
def test_free_motion_keeps_its_energy(name: str) -> None:
    mechanism = MECHANISMS[name]()
    motion = move(mechanism, [0.1], [8.0], 0.2, method="DOP853", rtol=1e-10, atol=1e-11)
    energy = np.sum(mechanism.energy(motion.q, motion.v), axis=0)
    assert np.ptp(energy) < 1e-8 * energy.max()
    assert np.ptp(motion.q) > 0.5


def test_a_sweep_follows_the_branch_that_one_design_follows() -> None:
    base, lengths = MECHANISMS["stephenson_2"](), np.array([0.36, 0.4, 0.44])
    motion = constant_speed(5.0, points=13)
    result = sweep(base, {"coupler_length": lengths}, motion)
    for k, length in enumerate(lengths):
        one = base.replaced(coupler_length=length)
        torque = one.inverse_dynamics(motion.q, motion.v, motion.a)
        assert result.values["peak_torque"][k] == pytest.approx(np.abs(torque).max(), rel=1e-9)


def test_a_file_serves_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text((LIBRARY / "watt_1.yaml").read_text())
    result = CliRunner().invoke(main, ["mechanism", str(path), "--json"])
    assert result.exit_code == 0, result.output
    assert '"third_coupler"' in result.output
    assert kind_of("watt_2") is MECHANISMS["watt"]


FOUR = {"O": (0, 0), "D": (0.32, 0), "A": (0.1, 0), "B": (0.28, 0.24)}
BARS = {"crank": {"points": ["O", "A"]}, "coupler": {"points": ["A", "B"]},
        "rocker": {"points": ["D", "B"]}}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ground": ["O", "X"]}, "ground: there is no point 'X'"),
        ({"inputs": []}, "nothing drives it"),
        ({"inputs": ["coupler"]}, "the input coupler must turn about a point of the ground"),
        ({"links": dict(list(BARS.items())[:2])}, "mobility is 2 and it has 1 input"),
        ({"links": {**BARS, "brace": {"points": ["A", "D"]}}}, "hold it 1 times too often"),
        ({"links": {**BARS, "rocker": {"points": ["B"]}}}, "rocker has 1 points; give it 2"),
        ({"links": {"coupler": {"points": ["A", "B"]}, **BARS}}, "coupler hangs on nothing"),
        ({"gears": [{"driver": "crank", "driven": "rocker"}]}, "crank has no teeth"),
        ({"gears": [{"driver": "crank", "driven": "rocker", "ratio": 0}]}, "the ratio is 0"),
        (
            {"gears": [{"driver": "crank", "driven": "ground", "ratio": 1, "teeth": 0}]},
            "ground has 0 teeth",
        ),
        ({"settings": {"copler_mass": 2}}, 'did you mean "coupler_mass"'),
    ],
)
def test_what_no_drawing_is(changes: dict[str, object], words: str) -> None:
    given = {"points": FOUR, "ground": ["O", "D"], "links": BARS, "inputs": ["crank"]} | changes
    with pytest.raises(MbdynError, match=words):
        mechanism_kind(drawing_of(**given))()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("points: {O: [0, 0]}", ":1: it has no ground; give them"),
        ("points: {O: [0]}\nground: [O]\nlinks: {}\ninputs: []", "point O has 1 numbers"),
        ("points: {}\nground: []\nlinks: {bar: {points: [O], mas: 1}}\ninputs: []", '"mas".*mass'),
    ],
)
def test_what_no_file_is(text: str, words: str) -> None:
    with pytest.raises(MbdynError, match=words):
        read_drawing(text + "\n")


@pytest.mark.long
def test_the_tables_of_designs_are_those_of_each() -> None:
    """Near the drawing, far from it, and where the branch ends on the way to the design."""
    kind = MECHANISMS["stephenson_2"]
    lengths = np.array([0.081, 0.1, 0.25])
    together = BranchTable.of(kind, kind().designs(crank_length=lengths).vector()).nodes
    assert np.isfinite(together).all(axis=(0, 2)).tolist() == [True, True, False]
    for k, length in enumerate(lengths):
        alone = BranchTable.of(kind, kind().designs(crank_length=length).vector()[None]).nodes
        assert together[:, k] == pytest.approx(alone[:, 0], abs=1e-11, nan_ok=True)


def test_one_angle_may_come_alone_or_in_a_row() -> None:
    """The table keeps what it found for both apart."""
    mechanism = MECHANISMS["stephenson_2"]()
    (row,) = mechanism.margin(np.full((1, 1), 0.123))
    assert float(mechanism.margin(np.full(1, 0.123))) == row
