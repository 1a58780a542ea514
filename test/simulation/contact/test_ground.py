"""Ground from heights and from formulas: what it is, and what is refused."""

from __future__ import annotations

import re
from contextlib import nullcontext

import numpy as np
import pytest
from night import is_night
from robot_text import body_text

import mbdyn_ros
from mbdyn_ros import (
    Environment,
    InputError,
    ModelError,
    SimulationError,
    Stepper,
    read_environment,
)
from mbdyn_ros.simulation.contact.contacts import Contacts
from mbdyn_ros.simulation.contact.events import refuse_unsound
from mbdyn_ros.simulation.contact.height_field import height_field

BALL = body_text("ball")


def wall(text: str, restitution: float = 1.0) -> mbdyn_ros.Surface:
    return read_environment(
        f"surfaces:\n  - {{name: ground, restitution: {restitution}, friction: 0, {text}}}"
    ).surfaces[0]


def test_heights_are_met_and_curves_are_smooth() -> None:
    random = np.random.default_rng(0)
    heights = random.normal(size=(6, 5))
    ground = height_field(heights, 0.5, (1.0, 2.0, 3.0), restitution=1.0, friction=0.0)
    for i, j in np.ndindex(6, 5):
        place = [1 + 0.5 * i, 2 + 0.5 * j, 3 + heights[i, j]]
        assert ground.value(place)[0] == pytest.approx(0, abs=1e-12)
    (level,) = ground.levels
    for x, y in random.uniform(0, 2, (10, 2)) + [1.2, 2.0]:
        sides = [
            [ground.value([x + h, y, 0])[0], ground.value([x, y + h, 0])[0]] for h in (-1e-5, 1e-5)
        ]
        slope = np.array([*np.subtract(*sides[::-1]) / 2e-5, 1.0])
        size, normal, _ = (np.array(one).squeeze() for one in level([x, y, 0]))
        np.testing.assert_allclose(size * normal, slope, atol=1e-8)


@pytest.mark.usefixtures("interpreted")
def test_a_ramp_of_heights_is_a_plane() -> None:
    """A ball slides down it as down a plane, to the last digits."""
    rows = "[" + ", ".join(str([0.3 * k] * 4) for k in range(9)) + "]"
    grounds = [
        wall(f"type: height_field, heights: {rows}, spacing: 1, corner: [-4, -1.5, -1.2]", 0),
        mbdyn_ros.Surface.plane(normal=(-0.3, 0, 1), restitution=0.0, friction=0.0),
        wall("type: expression, g: z - 0.3*x", 0),
    ]
    robot = mbdyn_ros.load(BALL, floating_base=True)
    ends = []
    for ground in grounds:
        walls = Environment([ground], points=[("ball", (0, 0, 0), 0.1)])
        start = [0, 0, 0.1 * np.hypot(1, 0.3), 0, 0, 0, 1]
        ends.append(mbdyn_ros.simulate(robot, start, np.zeros(6), 0.5, environment=walls).q[-1])
    np.testing.assert_allclose(ends, [ends[0]] * 3, atol=1e-9)
    assert ends[0][0] == pytest.approx(-0.5 * 9.81 * 0.3 / 1.09 * 0.25, abs=1e-9)


def test_formulas() -> None:
    x, y, z = place = 0.3, -0.4, 0.7
    cases = {
        "z - 0.1*sin(3*x)": z - 0.1 * np.sin(3 * x),
        "-(x + y)**2/2 + +z": -((x + y) ** 2) / 2 + z,
        "'max(z, hypot(x, y) - 0.2)'": max(z, np.hypot(x, y) - 0.2),
        "'atan2(y, x) + pi*exp(z)*sqrt(abs(y))'": np.arctan2(y, x)
        + np.pi * np.exp(z) * np.sqrt(abs(y)),
    }
    for text, value in cases.items():
        assert wall(f"type: expression, g: {text}").value(place) == pytest.approx([value])
    wedge = wall("type: expression, g: [z - x, z + x]")
    np.testing.assert_allclose(wedge.value(place), [0.4, 1.0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("__import__('os').system('true')", "is not a number, x"),
        ("x.real", "is not a number, x"),
        ("z - w", "there is no 'w'"),
        ("z - sine(x)", "there is no function 'sine' (did you mean \"sin\"?)"),
        ("z -", "is not a formula: invalid syntax"),
        ("sin(x, y)", "sin takes 1 values, not 2"),
        ("(lambda: x)()", "is not a number, x"),
        ("[x for x in y]", "is not a number, x"),
        ("x if y else z", "is not a number, x"),
        ("True * z", "'True' is not a number, x"),
        ("1/0", "does not depend on the point"),
        ("9**9**9**9**9", "does not depend on the point"),
        ("(" * 300 + "z" + ")" * 300, "is not a formula"),
        ("+".join(["z"] * 900), ""),
        ("z" * 3000, "3000 characters"),
        ("", "its g is empty; write a formula such as z - 0.1*x"),
        ("2", "it is 2, and must be positive in free space and zero on the wall"),
    ],
)
def test_what_is_no_formula(text: str, words: str) -> None:
    """By file and line; and nothing of it is run."""
    document = f"surfaces:\n  - name: ground\n    type: expression\n    g: {text!r}\n"
    if text.startswith("__"):
        document = document.replace("'os'", "os").replace("'true'", "true")
    if not words:
        assert len(read_environment(document).surfaces) == 1
        return
    with pytest.raises(ModelError, match=rf"^<text>:\d: surface .ground.*{re.escape(words)}"):
        read_environment(document)


@pytest.mark.usefixtures("interpreted")
def test_where_ground_has_no_value_is_reported() -> None:
    """At the start and on the way: what has no value would never be touched."""
    robot = mbdyn_ros.load(BALL, floating_base=True)
    half = wall("type: expression, g: sqrt(z - 0.2)")
    place, words = r"'ground', at \(0, 0, %s\) m: ", "g has no value"
    for radius in (0.0, 0.01) if is_night() else (0.0,):
        walls = Environment([half], points=[("ball", (0, 0, 0), radius)])
        with pytest.raises(SimulationError, match=r"t = 0 s: .*" + place % "0" + words):
            mbdyn_ros.simulate(robot, [0.0] * 6 + [1.0], np.zeros(6), 0.5, environment=walls)
    walls, start = Environment([half], points=[("ball", (0, 0, 0))]), [0, 0, 0.5, 0, 0, 0, 1]
    with pytest.raises(SimulationError, match=r"t = 0\.\d+ s: .*" + place % ".*" + words):
        mbdyn_ros.simulate(robot, start, np.zeros(6), 0.5, environment=walls)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("radius", [0.0, 0.05])
def test_only_what_has_no_inside_is_refused_for_that(radius: float) -> None:
    """Steps that take a point's turn for that of such a wall are asked again on numbers."""
    robot, still = mbdyn_ros.load(BALL, floating_base=True), np.zeros(6)
    q = np.array([0.1, 0.2, 0.2 + radius + 5e-7, 0, 0, 0, 1])
    for formula, top, refused in (
        ("z - 0.2", 0.2, False),
        ("2*(z - 0.2) + (z - 0.2)**2", 0.2, False),
        ("abs(z - 0.19) - 0.01", 0.2, False),
        ("abs(z - 0.2)", 0.2, True),
        ("(z - 0.2)**2", 0.2, True),
    ):
        walls = Environment(
            [wall(f"type: expression, g: {formula}")], [("ball", (0, 0, 0), radius)]
        )
        contacts = Contacts(robot, walls, only_watch=True)
        q[2] = top + radius + 5e-7
        with pytest.raises(SimulationError, match="no inside") if refused else nullcontext():
            refuse_unsound(contacts, 0, q, still)


@pytest.mark.sparse(of=6)
@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("sqrt(z - 0.2)", "g has no value"),
        ("abs(z - 0.2)", "the wall has no inside"),
        ("(z - 0.2)**2", "the wall has no inside"),
        ("z - 0.2 + sqrt(x**2 + y**2)", "the gradient of the surface vanishes or is not finite"),
    ],
)
def test_what_holds_nothing_is_never_passed_in_silence(formula: str, words: str) -> None:
    """Walls without a value, an inside or a normal stop whatever falls through them, in words."""
    robot = mbdyn_ros.load(BALL, floating_base=True)
    walls = Environment([wall(f"type: expression, g: {formula}")], points=[("ball", (0, 0, 0))])
    starts, still = np.tile([0, 0, 0.5, 0, 0, 0, 1], (9, 1)), np.zeros(6)
    starts[:, 2] += np.linspace(0.5, 0, 9)  # the last one falls through first
    reported = rf"t = 0\.\d+ s.* link 'ball' on surface 'ground'.*{words}"
    with pytest.raises(SimulationError, match=reported):
        mbdyn_ros.simulate(robot, starts[-1], still, 0.5, environment=walls)
    with pytest.raises(SimulationError, match=rf"^motion 8: .*{reported}"):
        robot.rollout(starts, still, np.zeros((250, 6)), 1e-3, environment=walls)
    stepper = Stepper(robot, 1e-3, walls)
    for start, step in zip(starts, np.geomspace(1e-4, 5e-3, 9), strict=True):
        stepper.step, stepper.time = step, 0.0
        stepper.set_state(start, still)
        with pytest.raises(SimulationError, match=reported):
            stepper.advance(int(0.5 / step))
        assert stepper.time == pytest.approx(np.sqrt(2 * (start[2] - 0.2) / 9.81), abs=step)


def test_a_thin_sheet_holds_and_a_turn_beside_it_is_none() -> None:
    """What has an inside is met from both sides; what turns back as near as can be goes on."""
    robot = mbdyn_ros.load(BALL, floating_base=True)
    sheet = wall("type: expression, g: abs(z) - 0.001")
    stepper = Stepper(robot, 1e-3, Environment([sheet], points=[("ball", (0, 0, 0))]))
    stepper.set_state([0, 0, 0.2, 0, 0, 0, 1], np.zeros(6))
    stepper.advance(1000)
    assert stepper.q[2] > 0 and len(stepper.take_impacts()) == 2
    for gap in np.geomspace(1e-8, 1e-4, 9):
        stepper.set_state([0, 0, -0.051 - gap, 0, 0, 0, 1], [0, 0, np.sqrt(0.1 * 9.81), 0, 0, 0])
        stepper.advance(250)
        assert stepper.q[2] < -0.1 and not stepper.impacts and not stepper.unseen


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[0.0]], 1), "at least 4 by 4"),
        (([[0.0] * 4] * 3 + [[0.0] * 3], 1), "equally many finite numbers"),
        ((np.full((4, 4), np.nan), 1), "finite numbers"),
        ((np.zeros((256, 260)), 1), "66560 are too many"),
        ((np.zeros((4, 4)), 0), "spacing is 0"),
        ((np.zeros((4, 4)), -1), "spacing is -1"),
    ],
)
def test_what_is_no_ground(arguments: tuple[object, float], words: str) -> None:
    with pytest.raises(InputError, match=f"ground.*{words}"):
        height_field(*arguments)  # type: ignore[arg-type]
