"""Pages in a real browser."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Tab, browser, running, served

import mbdyn_ros
from mbdyn_ros.mechanisms import MECHANISMS, FourBar, Mechanism
from mbdyn_ros.mechanisms.layout import GROUND
from mbdyn_ros.mechanisms.sketch import Sketch

viser = pytest.importorskip("viser")

from mbdyn_ros.mechanisms.view.design_sliders import SHAPED  # noqa: E402
from mbdyn_ros.mechanisms.view.drawing_board import DrawingBoard  # noqa: E402
from mbdyn_ros.mechanisms.view.mechanism_page import MechanismPage  # noqa: E402
from mbdyn_ros.mechanisms.view.run import FREE  # noqa: E402
from mbdyn_ros.view.page.charts import Curve, PageChart  # noqa: E402
from mbdyn_ros.view.page.motion import recorded  # noqa: E402
from mbdyn_ros.view.page.page import Address, Page  # noqa: E402
from mbdyn_ros.view.page.robot_page import RobotPage  # noqa: E402
from mbdyn_ros.view.scene.visuals import read_visuals  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BOOM = ROOT / "urdf" / "boom.urdf"
ANY_PORT = Address(port=0)
FORCES = "forces in joints"
LIBRARY = "mbdyn_ros/mechanisms/library"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as one:
        yield one


def test_a_robot_moves_with_its_slider(chromium: Any) -> None:
    """Its loop closes; what it cannot reach is explained; it plays."""
    robot = mbdyn_ros.load(BOOM)
    page = Page("boom", ANY_PORT)
    shown = RobotPage(page, robot, read_visuals(BOOM), BOOM.parent)
    with running(shown):
        one = Tab(chromium, page.url)
        one.until(lambda: "boom_joint" in one.text(), "dependent joints are listed")
        one.until(lambda: len(set(one.scene())) > 1, "a picture")
        before, curve = one.scene(), one.curve(1)
        one.drag("rod_joint", 0.85)
        one.until(lambda: one.scene() != before, "the boom moves")
        angle = robot.joint_state(shown.sliders.q)[0][0]
        one.until(lambda: f"{angle:.4f} rad" in one.text(), "the loop is closed")
        one.drag("Period", 0.9)
        one.until(lambda: one.curve(0) != curve, "the chart follows")
        before = one.scene()
        one.tab.get_by_role("button", name="Play", exact=True).click()
        one.until(lambda: one.scene() != before, "it plays")
        one.tab.get_by_role("button", name="Pause", exact=True).click()
        assert one.errors == []
        one.tab.close()


def test_a_mechanism_follows_its_sliders(chromium: Any) -> None:
    """Chart and linkage change, runs are overlaid, what cannot close is explained."""
    page = Page("four_bar", ANY_PORT)
    shown = MechanismPage(page, FourBar())
    with running(shown):
        one = Tab(chromium, page.url)
        one.until(lambda: len(set(one.scene())) > 1, "a picture")
        before, curve = one.scene(), one.curve()
        one.tab.get_by_role("button", name="Keep this run", exact=True).click()
        one.until(lambda: "as given" in one.text(), "the run is kept")
        one.field("name").fill("the second")
        one.tab.get_by_role("button", name="Keep this run", exact=True).click()
        one.until(lambda: "coupler, the second" in one.text(), "its name is in every chart")
        one.until(lambda: one.curve(line=3) == curve, "the present comes after the runs kept")
        one.drag("rocker", 0.5)
        one.until(lambda: one.scene() != before, "the linkage changes")
        one.until(lambda: one.curve(line=3) != curve, "the chart changes")
        assert one.curve() == curve, "the run kept stays"
        one.drag("instant", 0.4)
        one.until(lambda: shown._now > 90, "the present moves")
        assert one.lacks() == []
        one.field("diagram").click()
        one.tab.get_by_role("option", name="free body of the coupler").click()
        one.until(lambda: one.typeset() == 4, "its equations are typeset")
        one.until(lambda: "coupler_pin" in one.text(), "what acts on it")
        one.drag("ground", 0.95)
        one.until(lambda: "cannot close" in one.text(), "the impossible is explained")
        one.tab.get_by_role("button", name="Reset", exact=True).click()
        one.until(lambda: "cannot close" not in one.text(), "all is well again")
        assert one.errors == []
        one.tab.close()


@pytest.mark.long
def test_every_browser_has_a_design_of_its_own(chromium: Any) -> None:
    """What one drags, plays and keeps, another does not see; it stays when the first has gone."""
    page, shown = Page("four_bar", ANY_PORT), list[MechanismPage]()

    def fill(own: Page) -> Callable[[float, bool], None]:
        shown.append(MechanismPage(own, FourBar()))
        return shown[-1].draw

    with served(page, lambda: page.run_each(fill)):
        tabs = [Tab(chromium, page.url) for _ in range(2)]
        for one in tabs:
            one.until(lambda one=one: len(set(one.scene())) > 1, "a picture")  # type: ignore[misc]
        first, second = tabs
        before, curve = second.scene(), second.curve()
        first.drag("rocker", 0.5)
        first.until(lambda: first.curve() != curve, "its own chart changes")
        first.tab.get_by_role("button", name="Keep this run", exact=True).click()
        first.until(lambda: "rocker_length" in first.text(), "its own run is kept")
        first.tab.get_by_role("button", name="Play", exact=True).click()
        first.until(lambda: shown[0]._row > 0, "its own crank turns")
        assert [one.page.playing for one in shown] == [True, False]
        assert second.curve() == curve and second.scene() == before
        assert "rocker_length" not in second.text() and shown[1]._row == 0
        first.tab.close()
        second.drag("coupler", 0.5)
        second.until(lambda: second.curve() != curve, "the other chart changes")
        assert first.errors == second.errors == []
        second.tab.close()


@pytest.mark.long
def test_kinds_drawings_and_torques_are_chosen_on_the_page(chromium: Any) -> None:
    """What cannot be read is refused in words that name the file as the browser knows it."""
    page = Page("four_bar", ANY_PORT)

    def fill(own: Page) -> Callable[[float, bool], None]:
        return MechanismPage(own, FourBar()).draw

    def upload(one: Tab, place: int, name: str, text: str) -> None:
        one.tab.locator("input[type=file]").nth(place).set_input_files(
            [{"name": name, "mimeType": "text/plain", "buffer": text.encode()}]
        )

    with served(page, lambda: page.run_each(fill)):
        one = Tab(chromium, page.url)
        one.tab.get_by_text("Files", exact=True).click()
        upload(one, 1, "wrong.csv", "time,position/wheel\n0,0\n1,1\n")
        one.until(lambda: "wrong.csv: no column position/crank" in one.text(), "a refusal")
        assert "mbdyn_ros-" not in one.text()
        upload(one, 2, "law.csv", "time,effort/crank\n0,0.1\n2,0.3\n")
        one.until(lambda: one.ends() == [2, 2], "a free motion of 2 s", 20)
        one.until(lambda: one.curve()[0] == pytest.approx(0.1), "by the torque of the file")
        assert one.curve()[-1] == pytest.approx(0.3, abs=1e-3)
        upload(one, 0, "mine.yaml", (ROOT / LIBRARY / "whitworth.yaml").read_text())
        one.until(lambda: "ram mass" in one.text(), "a drawing of one's own", 60)
        one.until(lambda: one.ends()[:1] == [360], "its charts", 20)
        one.tab.get_by_text("Files", exact=True).click()
        one.field("mechanism").click()
        one.tab.get_by_role("option", name="slider_crank").click()
        one.until(lambda: "slider mass" in one.text(), "another kind", 60)
        one.tab.get_by_text("Files", exact=True).click()
        one.tab.get_by_role("button", name="Drag the points of this one").click()
        one.until(lambda: "Run it" in one.text(), "a board", 20)
        one.tab.get_by_role("button", name="Run it", exact=True).click()
        one.until(lambda: "slider mass" in one.text(), "as it was drawn", 60)
        assert one.errors == []
        one.tab.close()


def test_a_linkage_is_drawn_and_dragged_with_the_mouse(chromium: Any) -> None:
    """From nothing by clicks, and from a mechanism whose pin moves along with the mouse."""
    page, shown = Page("four_bar", ANY_PORT), list[Any]()

    def run(mechanism: Mechanism) -> None:
        shown.append(mechanism)

    def fill(own: Page) -> Callable[[float, bool], None]:
        first = FourBar()
        sketch = Sketch.of(first, first.pose([[0.5]]), 0)
        shown.append(DrawingBoard(own, sketch, run, lambda: None))
        return shown[-1].draw

    with served(page, lambda: page.run_each(fill)):
        one = Tab(chromium, page.url, width=1100, shows="text=Run it")
        tab = one.tab
        board = shown[0]
        sketch, camera = board.sketch, board.page.host.camera

        def click(at: complex) -> None:
            tab.mouse.click(*one.pixel(camera, at))
            tab.wait_for_timeout(300)  # two soon after each other are a double click

        def press(label: str) -> None:
            tab.get_by_role("button", name=label, exact=True).click()

        start, end = sketch.points["B"], sketch.points["B"] + 0.02 - 0.01j
        one.until(lambda: "point_B" in board._drawn, "its points are drawn")
        tab.wait_for_timeout(2000)
        tab.mouse.move(*one.pixel(camera, start))
        tab.mouse.down()
        for share in (0.3, 0.6, 1.0, 1.0):
            tab.mouse.move(*one.pixel(camera, start + share * (end - start)))
            tab.wait_for_timeout(200)
        tab.mouse.up()
        one.until(lambda: abs(sketch.points["B"] - end) < 4e-3, "the pin moves along", 20)
        click(0.2 + 0.1j)
        one.until(lambda: "E" in sketch.points, "a new point", 20)
        assert abs(sketch.points["E"] - (0.2 + 0.1j)) < 4e-3
        click(sketch.points["E"])
        one.until(lambda: board._chosen == ["E"], "it is chosen", 20)
        press("Delete")
        one.until(lambda: "E" not in sketch.points, "it is taken away", 20)
        press("Run it")
        one.until(lambda: len(shown) == 2, "it runs", 60)
        lengths = shown[1].settings
        assert lengths["crank_length"] == pytest.approx(abs(sketch.points["B"]))
        assert lengths["rocker_length"] == pytest.approx(0.25)
        one.tab.close()


def test_a_pin_of_the_running_linkage_is_dragged(chromium: Any) -> None:
    """Its lengths and the instant follow the mouse, and so do sliders and charts."""
    page, shown = Page("four_bar", ANY_PORT), list[MechanismPage]()

    def fill(own: Page) -> Callable[[float, bool], None]:
        shown.append(MechanismPage(own, FourBar()))
        return shown[-1].draw

    with served(page, lambda: page.run_each(fill)):
        one = Tab(chromium, page.url)
        one.until(lambda: bool(shown) and len(set(one.scene())) > 1, "a picture")
        here, camera, curve = shown[0], shown[0].page.host.camera, one.curve()
        start, end = 0.1 + 0j, 0.12 + 0.02j  # of the crank's pin
        one.tab.wait_for_timeout(2000)
        one.tab.mouse.move(*one.pixel(camera, start))
        one.tab.mouse.down()
        for share in (0.3, 0.6, 1.0, 1.0):
            one.tab.mouse.move(*one.pixel(camera, start + share * (end - start)))
            one.tab.wait_for_timeout(200)
        one.tab.mouse.up()
        one.until(lambda: abs(here.sliders["crank_length"] - abs(end)) < 4e-3, "the crank", 20)
        one.until(lambda: abs(np.radians(here._now) - np.angle(end)) < 0.04, "its angle", 20)
        assert here.sliders["ground"] == pytest.approx(0.32)
        one.until(lambda: one.curve() != curve, "the chart follows", 20)
        one.tab.close()


@pytest.mark.long
def test_a_mechanism_plays_and_is_saved(chromium: Any) -> None:
    """Other motions, forces and equations in words, and files of all kinds."""
    page = Page("four_bar", ANY_PORT)
    with running(MechanismPage(page, FourBar())):
        one = Tab(chromium, page.url)
        one.until(lambda: len(set(one.scene())) > 1, "a picture")
        for law, end in (("free, by torque", 2), ("constant speed", 360)):
            one.field("motion").click()
            one.tab.get_by_role("option", name=law).click()
            one.until(lambda end=end: one.ends() == [end, end], f"all of x in charts of {law}")  # type: ignore[misc]
        before = one.scene()
        one.tab.get_by_role("button", name="Play", exact=True).click()
        one.until(lambda: one.scene() != before, "it plays")
        one.tab.get_by_role("button", name="Pause", exact=True).click()
        one.tab.get_by_text("Forces", exact=True).click()
        one.tab.get_by_text("show", exact=True).last.scroll_into_view_if_needed()
        one.tab.get_by_role("checkbox").last.click()
        one.until(lambda: "the coupler pushes the rocker with" in one.text(), "forces are shown")
        one.tab.get_by_text("Equations", exact=True).click()
        one.tab.get_by_role("button", name="Show", exact=True).click()
        one.until(lambda: "by DeNOC, cut at coupler_pin" in one.text(), "equations")
        assert one.typeset() > 60
        one.tab.get_by_role("button", name="Close", exact=True).click()
        for name, start in (
            ("CSV", b"time,position/"), ("URDF+", b"<?xml"), ("PNG", b"\x89PNG"),
            ("LaTeX", b"\\documentclass"),
        ):  # fmt: skip
            with one.tab.expect_download() as download:
                one.tab.get_by_role("button", name=name, exact=True).click()
            assert Path(download.value.path()).read_bytes().startswith(start), name
        assert one.errors == []
        one.tab.close()


def arrows(shown: MechanismPage) -> list[np.ndarray]:
    """Both ends (2, 3) of the arrow of every force that is drawn, in the plane."""
    nodes = [
        shown.page.server.scene.get_handle_by_name(f"{shown.page.scene.path(GROUND)}/{item.name}")
        for item in shown._forces.items(0)
    ]
    assert all(isinstance(node, viser.ArrowsHandle) and node.visible for node in nodes)
    return [node.points[0] for node in nodes]  # type: ignore[union-attr]


def test_arrows_of_ordinary_forces_are_seen_beside_peaks(interpreted: None) -> None:
    """Jansen's peak of 924 N is thirty times what its joints mostly bear."""
    page = Page("jansen", ANY_PORT)
    try:
        shown = MechanismPage(page, MECHANISMS["jansen"]())
        shown._pushing.value = True
        lengths = []
        for instant in np.linspace(0.0, 100.0, 51):
            shown._instant.value = float(instant)
            shown.draw(0.0, True)
            lengths.append(max(np.linalg.norm(np.diff(one, axis=0)) for one in arrows(shown)))
        reactions = shown.run_shown.analysis.reactions.values()
        largest = np.max([np.hypot(*one[:, :2].T) for one in reactions], axis=0)
        full = 2 * np.median(largest)
        assert max(lengths) / np.median(lengths) == pytest.approx(2, rel=0.05)
        assert f"no longer than that of {full:.3g} N" in shown._sentences.content
    finally:
        page.close()


@pytest.mark.parametrize("name", ["gear_pair", "planetary_gear", "geared_five_bar"])
def test_forces_of_teeth_have_arrows_and_words(name: str, interpreted: None) -> None:
    """They act where the wheels touch; what the arrows show is what the sentences say."""
    page = Page(name, ANY_PORT)
    try:
        shown = MechanismPage(page, MECHANISMS[name]())
        shown._pushing.value, shown._quantity.value, shown._instant.value = True, FORCES, 20.0
        shown.draw(0.0, True)
        analysis = shown.run_shown.analysis
        meshes = analysis.mechanism.layout().meshes
        assert meshes and len(shown._turning._lines) == len(analysis.reactions)
        for k, mesh in enumerate(meshes, len(analysis.reactions) - len(meshes)):
            force = analysis.reactions[mesh.name][shown._row, :2]
            start, end = arrows(shown)[k][:, :2]
            place = analysis.pose.pitch_point(mesh)[shown._row]
            assert start == pytest.approx([place.real, place.imag], abs=1e-6)
            way, push = complex(*(end - start)), complex(*force)
            assert (way * push.conjugate()).imag == pytest.approx(0, abs=1e-5 * abs(push))
            assert (way * push.conjugate()).real >= 0
            words = f"the {mesh.driver} pushes the {mesh.driven} with {np.hypot(*force):.3g} N"
            assert words in shown._sentences.content
    finally:
        page.close()


def test_links_and_joints_have_names_in_the_picture(interpreted: None) -> None:
    """Those of joints at one place stand around it; all can be hidden."""
    page = Page("jansen", ANY_PORT)
    try:
        shown = MechanismPage(page, MECHANISMS["jansen"]())
        shown.draw(0.0, True)
        labels = [
            node for node in page.server.scene._handle_from_node_name.values()
            if isinstance(node, viser.LabelHandle)
        ]  # fmt: skip
        layout = shown.run_shown.mechanism.layout()
        joints = [one.joint for one in layout.parts] + [one.name for one in layout.pins]
        assert sorted(one.text for one in labels) == sorted([*layout.order, *joints])
        at = {one.text: one.anchor for one in labels}
        assert at["upper_rod_joint"] != at["lower_rod_joint"], "both on the crank's end"
        assert all(one.visible for one in labels)
        shown._names.value = False
        shown.draw(0.0, True)
        assert not any(one.visible for one in labels)
    finally:
        page.close()


def test_a_page_begins_with_the_torque_of_the_command(interpreted: None) -> None:
    """A law from a file; or constant, beyond the range of its slider."""
    page = Page("four_bar", ANY_PORT)
    try:
        push = np.array([0.5])
        shown = MechanismPage(page, FourBar(), 10.0, FREE, (lambda t, q, v: push, 0.01))
        driving, still = shown.sliders.driving, np.zeros(1)
        assert driving.drive.law == FREE
        assert driving.drive.torque()[0](0.1, still, still) is push
        driving.take_torque(np.array([12.0]), np.inf)
        assert driving.drive.torques == (12.0,)
    finally:
        page.close()


def test_every_control_of_a_design_has_a_name_of_its_own(interpreted: None) -> None:
    page = Page("jansen", ANY_PORT)
    try:
        panel = MechanismPage(page, MECHANISMS["jansen"]()).sliders
        labels = [one.label for one in panel._sliders.values() if one.visible]
        assert len(labels) > 30 and len(set(labels)) == len(labels)
    finally:
        page.close()


def test_centres_and_inertias_follow_the_shape_until_they_are_moved(interpreted: None) -> None:
    page = Page("four_bar", ANY_PORT)
    try:
        shown = MechanismPage(page, FourBar())
        panel = shown.sliders
        sliders = panel._sliders

        def drawn(**values: float) -> Mechanism:
            for name, value in values.items():
                sliders[name].value = value
            shown.draw(0.0, True)
            return shown.run_shown.mechanism

        mechanism = drawn(coupler_length=0.34, coupler_mass=2.0)
        assert sliders["coupler_inertia"].value == pytest.approx(2.0 * 0.34**2 / 12, rel=1e-12)
        assert sliders["coupler_center_along"].value == pytest.approx(0.17)
        assert panel.settings == {"coupler_length": 0.34, "coupler_mass": 2.0}
        mechanism = drawn(coupler_mass=3.0, coupler_length=0.4)
        heavy = sliders["coupler_inertia"]
        assert heavy.value == pytest.approx(0.04) and heavy.min == 0.0 and heavy.max > 0.04
        shown_there = {name: one.value for name, one in sliders.items() if name.endswith(SHAPED)}
        assert shown_there == {name: mechanism.settings[name] for name in shown_there}
        mechanism = drawn(coupler_inertia=0.03)
        assert mechanism.settings["coupler_inertia"] == 0.03
        mechanism = drawn(coupler_mass=2.5)
        assert heavy.value == mechanism.settings["coupler_inertia"] == 0.03, "it was moved"
        assert sliders["coupler_center_along"].value == 0.2
        panel.reset()
        assert drawn() == FourBar() and panel.settings == {}
        drawn(coupler_mass=1.2)
        assert heavy.value == pytest.approx(1.2 * 0.3**2 / 12), "it follows again"
    finally:
        page.close()


def test_a_chart_is_drawn_to_the_last_number() -> None:
    """Gaps stay gaps, kept lines have their own x, and a small unit leaves digits."""
    page = Page("charts", ANY_PORT)
    try:
        chart, x = PageChart(page.server.gui, "force (N)", "time (s)"), np.arange(5.0)
        torn = Curve("torn", np.array([0.0, 1.0, np.nan, 2.0, 4.0]) * 1e-3, "#000000", "dash")
        kept = Curve("kept", np.array([3e-3, 1e-3]), "#ff0000", x=np.array([6.0, 1.5]))
        chart.show(x, [torn, kept, Curve("gone", np.full(5, np.nan), "#0000ff")], now=3.0)
        over, before, after, other, gone, mark = chart._handle.data
        assert over.tolist() == [0, 1, 1.5, 2, 3, 3, 3, 4, 6]
        unknown = pytest.approx(np.nan, nan_ok=True)
        assert before.tolist() == [0.0, 1.0, *[unknown] * 7]
        assert after.tolist() == [*[unknown] * 4, 2.0, 2.0, 2.0, 4.0, unknown]
        slope = np.interp(over, [1.5, 6.0], [1.0, 3.0], np.nan)
        assert other == pytest.approx(slope, nan_ok=True) and np.isnan(gone).all()
        assert mark.tolist() == [*[unknown] * 4, 0.0, 1.0, *[unknown] * 3]
        assert chart._handle.axes[1]["label"] == "force (mN)"
        low, high = chart._handle.scales["y"]["range"]
        assert low < 0 and high > 4  # uPlot finds none where a line begins without a number
        labels = [(one.get("label"), one.get("class")) for one in chart._handle.series]
        assert labels == [
            ("time (s)", None), ("torn", "dash"), ("torn", "unlisted"), ("kept", "solid"),
            ("gone", "solid"), (None, "unlisted"),
        ]  # fmt: skip
    finally:
        page.close()


@pytest.mark.parametrize(
    ("peak", "unit", "shown"),
    [(2.5e5, "kN", 250.0), (40.0, "N", 40.0), (0.04, "mN", 40.0), (4e-5, "µN", 40.0)],
)
def test_a_chart_writes_enough_digits(peak: float, unit: str, shown: float) -> None:
    page = Page("charts", ANY_PORT)
    try:
        chart, x = PageChart(page.server.gui, "force (N)", "time (s)"), np.arange(2.0)
        chart.show(x, [Curve("pin", np.array([peak / 3, -peak]), "#000000")])
        assert chart._handle.axes[1]["label"] == f"force ({unit})"
        assert chart._handle.data[1].min() == pytest.approx(-shown)
        assert "y" not in chart._handle.scales  # found by uPlot: new ones make a chart anew
    finally:
        page.close()


def test_axes_follow_the_motion_and_a_chart_of_zeros_is_one_unit_high() -> None:
    """uPlot keeps an x axis that has no range, and makes 100 of a peak of 0."""
    page = Page("charts", ANY_PORT)
    try:
        chart = PageChart(page.server.gui, "driving torque (N m)", "angle (deg)")
        x = np.arange(3.0)
        for end in (360.0, 2.0, 360.0):
            chart.show(end / 2 * x, [Curve("crank", x, "#000000")])
            assert chart._handle.scales["x"] == {"time": False, "range": (0.0, end)}
        chart.show(x, [Curve("crank", np.full(3, 1e-12), "#000000")])
        assert chart._handle.scales["y"] == {"range": (-1.0, 1.0)}
        assert chart._handle.axes[1]["label"] == "driving torque (N m)"
        chart.show(x[:1], [Curve("crank", x[:1] + 1.0, "#000000")])
        assert chart._handle.scales["x"] == {"time": False} and "y" not in chart._handle.scales
    finally:
        page.close()


@pytest.mark.long
def test_a_recording_plays_beside_joints_searched_for(chromium: Any) -> None:
    """As wide as a telephone: the sheet of controls takes the whole width, numbers are whole."""
    robot = mbdyn_ros.example("ur5")
    time = np.linspace(0.0, 1.0, 21)
    q = np.zeros((21, 6))
    q[:, 2] = 0.3 + time
    v, a = np.gradient(q, time, axis=0), np.zeros((21, 6))
    page = Page("ur5", ANY_PORT)
    shown = RobotPage(page, robot, (), None, recording=recorded(robot, time, q, v, a))
    with running(shown):
        one = Tab(chromium, page.url, width=390)
        one.until(lambda: "0.3000 rad" in one.text() and "17.2" in one.text(), "rad and degrees")
        one.drag("Instant", 0.5)
        one.until(lambda: shown._instant.value > 40, "half of it")
        share = shown._instant.value / 100
        elbow = f"{0.3 + share:.4f} rad", f"{np.degrees(0.3 + share):.1f}"
        one.until(lambda: all(words in one.text() for words in elbow), "the elbow is there")
        sheet = one.tab.locator(".mantine-Paper-root").filter(has_text="At this pose").first
        assert sheet.bounding_box()["width"] == 390
        one.field("Search").fill("wrist 2")
        one.until(lambda: "elbow_joint" not in one.text(), "what is not searched for is away")
        assert "wrist_2_joint" in one.text()
        one.field("Frames").click()
        one.field("Forces").click()
        one.until(lambda: "the largest is" in one.text(), "forces")
        wrenches = robot.joint_wrenches(*shown.recording.at(share))
        most = max(float(np.linalg.norm(one[:3])) for one in wrenches.values())
        one.until(lambda: f"the largest is {most:.4g} N" in one.text(), "of the motion's instant")
        assert one.errors == []
        one.tab.close()


def test_a_chart_is_there_while_it_has_lines() -> None:
    page = Page("charts", ANY_PORT)
    try:
        chart, x = PageChart(page.server.gui, "effort (N m)", "time (s)"), np.linspace(0.0, 1.0, 5)
        assert not chart._handle.visible
        chart.mark(0.5)
        assert not chart._handle.visible
        chart.show(x, [Curve("elbow", x, "#000000")], 0.5)
        assert chart._handle.visible
        chart.show(x, [])
        assert not chart._handle.visible
    finally:
        page.close()


def test_charts_are_docked_before_they_are_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the browser moves them while Plotly draws, which fails now and then."""
    page = Page("charts", ANY_PORT)
    calls: list[str] = []

    class Panel:
        def __getattr__(self, name: str) -> Any:
            calls.append(name)
            return lambda *_: contextlib.nullcontext()

    try:
        monkeypatch.setattr(page.server.gui, "add_panel", Panel)
        with page.charts("Efforts"):
            calls.append("filled")
        assert calls == ["dock_left", "set_width", "add_tab", "filled"]
    finally:
        page.close()


def test_what_a_loop_does_not_reach_is_explained(interpreted: None) -> None:
    """The picture stays, and so do the words until the slider is back."""
    text = BOOM.read_text().replace('lower="-0.22" upper="0.24"', 'lower="-1" upper="1"')
    assert text != BOOM.read_text()
    page = Page("boom", ANY_PORT)
    try:
        shown = RobotPage(page, mbdyn_ros.load(text), read_visuals(text), None)
        shown.draw(0.0, True)
        assert "The loops let rod_joint move from" in page.words.content
        place = page.server.scene.get_handle_by_name(page.scene.path("boom"))
        assert place is not None
        before = place.wxyz.copy()
        shown.sliders._sliders["rod_joint"].value = 0.9
        shown.draw(0.0, True)
        assert "Cannot be reached" in page.words.content
        assert "loop 'rod_pin' cannot be closed" in page.words.content
        assert (place.wxyz == before).all()
        shown.sliders.reset()
        shown.draw(0.0, True)
        assert "Cannot be reached" not in page.words.content
    finally:
        page.close()


def test_lengths_have_sliders(interpreted: None) -> None:
    """Efforts and scene follow a pin; a loop that cannot be closed leaves all as it was."""
    page = Page("boom", ANY_PORT)
    try:
        robot = mbdyn_ros.load(BOOM, variable=["barrel_joint/x"])
        shown = RobotPage(page, robot, (), None)
        shown.draw(0.0, True)
        lengths = shown._lengths
        assert lengths is not None
        place = page.server.scene.get_handle_by_name(page.scene.path("barrel"))
        assert place is not None
        x, first = float(lengths.taken[0]), shown._numbers.content
        assert place.position[0] == pytest.approx(x)
        slider = lengths._sliders["barrel_joint/x"]
        slider.value = 1.1 * x
        shown.draw(0.0, True)
        assert robot.parameter_values() == pytest.approx([1.1 * x])
        assert place.position[0] == pytest.approx(1.1 * x)
        assert shown._numbers.content != first
        slider.value = 50.0
        shown.draw(0.0, True)
        assert "Cannot be reached" in page.words.content
        assert robot.parameter_values() == pytest.approx([1.1 * x])
        lengths.reset()
        shown.draw(0.0, True)
        assert shown._numbers.content == first
    finally:
        page.close()
