"""Positions of mechanisms by dyads with symbols: columns of numbers, angles, gears."""

from __future__ import annotations

import numpy as np
import pytest
from random_designs import random_design, states

from mbdyn_ros import InputError
from mbdyn_ros.mechanisms import MECHANISMS, FourBar, drawing_of, mechanism_kind, reach

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.mark.parametrize("name", ["four_bar", "quick_return", "watt", "jansen", "geared_five_bar"])
def test_many_designs_are_placed_as_each_of_them(name: str) -> None:
    """And their pins hold them together."""
    random, base = np.random.default_rng(2), MECHANISMS[name]()
    many = [random_design(type(base), random) for _ in range(3)]
    settings = {key: np.array([float(one.settings[key]) for one in many]) for key in base.settings}
    q = states(base, random, 5)[0]
    whole = base.designs(**settings).solved(q[:, None])
    for k, one in enumerate(many):
        pose = one.solved(q)
        for part in one.layout().parts:
            found = np.broadcast_to(whole.point(part.name, (0.1, 0.2)), (len(q), len(many)))[:, k]
            assert found == pytest.approx(pose.point(part.name, (0.1, 0.2)), abs=1e-12, nan_ok=True)
        for pin in one.layout().pins:
            gap = pose.point(pin.first, pin.at_first) - pose.point(pin.second, pin.at_second)
            assert np.nanmax(np.abs(gap)) < 1e-12


def test_the_sides_of_branches_are_the_pins() -> None:
    """1: to the left of the line from the crank's pin to the rocker's pivot."""
    for branch in (1, -1):
        one = FourBar().replaced(branch=branch)
        pose = one.solved(np.array([[0.7]]))
        start, pivot = pose.origins["coupler"], pose.origins["rocker"]
        pin = pose.point("coupler", one.coupler.end)
        assert np.sign(((pin - start) / (pivot - start)).imag) == branch


@pytest.mark.parametrize(
    "bars", ["OA AB DB", "DB OA AB", "OA AB BD", "DB BA OA", "OA DB BA"], ids=str.split
)
def test_a_branch_is_as_drawn_wherever_links_hang(bars: str) -> None:
    """One four-bar, its links hung on each other in all ways."""
    points = {"O": (0, 0), "A": (0.1, 0.02), "B": (0.28, -0.24), "D": (0.32, 0)}
    links = {pair: {"points": list(pair)} for pair in bars.split()}
    q = np.array([[np.arctan2(0.02, 0.1)]])
    one = mechanism_kind(drawing_of(points, ["O", "D"], links, ["OA"]))()
    other = one.replaced(branch=-one.branch)
    for pair in links:
        ends = [one.pose(q).outline(pair)[k] for k in (0, 1)]
        assert ends == [pytest.approx(complex(*points[name])) for name in pair]
    corners = [one.pose(q).outline("OA")[1], complex(*points["D"])]
    sides = []
    for chain in (one, other):
        pin = chain.pose(q).outline(next(pair for pair in links if "B" in pair))
        sides.append(((pin[[pair for pair in links if "B" in pair][0].index("B")] - corners[0])
                      / (corners[1] - corners[0])).imag)  # fmt: skip
    assert sides[0] == pytest.approx(-sides[1]) and sides[0] < 0


def test_gears_may_let_it_turn_in_one_direction_alone() -> None:
    """A ratio that is not a whole number: a turn further it is another mechanism."""
    gears = MECHANISMS["geared_five_bar"]()
    near = {"D_x": 0.164, "crank_length": 0.0994, "second_crank_length": 0.0696, "branch": -1}
    settings = {**near, "second_crank_ratio": -1.8049, "second_crank_phase": 1.2499,
                "coupler_length": 0.5106, "second_coupler_length": 0.4331}  # fmt: skip
    one = gears.replaced(**settings)
    lower, upper = reach(one)
    assert np.isfinite([lower, upper]).all() and upper - lower >= 2 * np.pi
    inside = np.linspace(lower, upper, 500)[1:-1, None]
    assert (one.margin(inside) >= 0).all()


def test_a_belt_turns_a_wheel_on_a_link_that_pins_place() -> None:
    """By the crank's angle, however the link turns; as its robot has it, whose loop gears tie."""
    points = {"O": (0, 0), "A": (0.1, 0.02), "B": (0.28, 0.24), "D": (0.32, 0)}
    links = {"crank": {"points": ["O", "A"]}, "coupler": {"points": ["A", "B"]},
             "rocker": {"points": ["D", "B"]},
             "pulley": {"points": ["B"], "teeth": 20, "inertia": 1e-3}}  # fmt: skip
    belt = {"driver": "crank", "driven": "pulley", "ratio": 1.5}
    one = mechanism_kind(drawing_of(points, ["O", "D"], links, ["crank"], gears=[belt]))()
    q = np.linspace(-1.5, 1.5, 7)[:, None]
    turned = np.exp(1j * (1.5 * q[:, 0] + one.settings["pulley_phase"]))
    assert one.pose(q).directions["pulley"] == pytest.approx(turned)
    v, a = np.random.default_rng(3).normal(size=(2, 7, 1))
    wanted = one.robot().inverse_dynamics(q, v, a)
    assert one.inverse_dynamics(q, v, a) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_wheels_that_nothing_determines_are_refused() -> None:
    points = {"O": (0, 0), "D": (0.3, 0)}
    links = {"one": {"points": ["O"], "teeth": 20}, "other": {"points": ["D"], "teeth": 30}}
    pair = {"driver": "one", "driven": "other"}
    for gears, inputs, words in (
        ([pair, pair], ["one"], "its gears determine inputs, or each other twice; leave one out"),
        ([pair], ["one", "other"], "its gears determine inputs"),
        ([], ["one"], "its mobility is 2 and it has 1 inputs"),
    ):
        with pytest.raises(InputError, match=words):
            mechanism_kind(drawing_of(points, ["O", "D"], links, inputs, gears=gears))
