"""Linkages drawn by hand: sketches of mechanisms, and their links in any order."""

from __future__ import annotations

import numpy as np
import pytest

import mbdyn_ros
from mbdyn_ros.mechanisms import MECHANISMS, Analysis, constant_speed
from mbdyn_ros.mechanisms.drawn import mechanism_kind
from mbdyn_ros.mechanisms.sketch import Sketch

MOTION = constant_speed(10.0, points=25)


@pytest.mark.parametrize("name", ["four_bar", "quick_return", "scotch_yoke", "stephenson_2"])
def test_a_sketch_of_a_mechanism_moves_as_it_does(name: str, interpreted: None) -> None:
    mechanism = MECHANISMS[name]()
    analysis = Analysis(mechanism, MOTION)
    drawn = mechanism_kind(Sketch.of(mechanism, analysis.pose, 5).drawing("drawn"))()
    assert Analysis(drawn, MOTION).torque == pytest.approx(analysis.torque, abs=1e-9)


def test_links_may_be_drawn_in_any_order(interpreted: None) -> None:
    """A block too; what is taken away takes its links along."""
    sketch = Sketch()
    for at in (0j, 0.1 + 0j, 0.4 + 0j, 0.2 + 0.2j):
        sketch.add_point(at)
    sketch.ground.append("A")
    sketch.add_link("C", slides=True)
    sketch.add_link("CB")
    sketch.add_link("BA")
    sketch.add_link("DC")
    sketch.remove(["D"])
    drawing = sketch.drawing("drawn")
    assert drawing.inputs == ("link_3",) and drawing.link["link_3"].points == ("A", "B")
    same = MECHANISMS["slider_crank"]().replaced(crank_length=0.1, coupler_length=0.3, offset=0.0)
    made = Analysis(mechanism_kind(drawing)(), MOTION).pose.origins["link_1"]
    assert made == pytest.approx(Analysis(same, MOTION).pose.origins["slider"])
    assert np.ptp(made.real) == pytest.approx(0.2, abs=1e-3)


def test_what_makes_no_mechanism_is_refused(interpreted: None) -> None:
    sketch = Sketch()
    with pytest.raises(mbdyn_ros.InputError, match="it has no links"):
        sketch.drawing("drawn")
    names = [sketch.add_point(at) for at in (0j, 0.1 + 0j)]
    sketch.add_link(names)
    with pytest.raises(mbdyn_ros.InputError, match="the ground has no points"):
        mechanism_kind(sketch.drawing("drawn"))
    gears = MECHANISMS["gear_pair"]()
    with pytest.raises(mbdyn_ros.InputError, match="gears and cams are drawn in a file"):
        Sketch.of(gears, gears.pose([[0.0]]), 0)
