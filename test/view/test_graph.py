"""The picture of a robot's graph."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from corpus import readable_urdf_files, urdf_file
from lxml import etree
from robot_text import EMPTY

import mbdyn_ros
from mbdyn_ros.view.graph import ROLES, graph_svg, layout, save_graph

pytestmark = pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning")
ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def manipulator() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(ROOT / "urdf" / "manipulator.urdf")


def test_names_every_part(manipulator: mbdyn_ros.Robot) -> None:
    svg = graph_svg(manipulator)
    texts = {one.text for one in etree.fromstring(svg.encode()).iter(f"{SVG}text")}
    model = manipulator.model
    assert texts >= {link.name for link in model.links}
    assert texts >= {joint.name for joint in model.joints}
    assert texts >= {"lift_pin (revolute)", "tilt_pin (revolute)", "cluster lift_pin", "230 kg"}
    assert "independent joint" not in texts, "the legend names what is there"


def test_colours_say_what_moves_by_itself(manipulator: mbdyn_ros.Robot) -> None:
    svg = graph_svg(manipulator)
    widths = re.findall(r"stroke: (#\w{6}); stroke-width: ([\d.]+)", svg)
    drawn = {role: widths.count((color, f"{width:g}")) for role, (color, width) in ROLES.items()}
    assert drawn["actuated"] == 4 + 1 and drawn["independent"] == 0  # and one in the legend
    assert drawn["fixed"] == 1 + 1
    assert svg.count("stroke-dasharray") == 2 + 1


def test_same_robot_same_file(manipulator: mbdyn_ros.Robot) -> None:
    assert graph_svg(manipulator) == graph_svg(manipulator)


def test_files(manipulator: mbdyn_ros.Robot, tmp_path: Path) -> None:
    save_graph(manipulator, tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == graph_svg(manipulator)
    save_graph(manipulator, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(mbdyn_ros.InputError, match="a.pdf"):
        save_graph(manipulator, tmp_path / "a.pdf")
    with pytest.raises(mbdyn_ros.InputError, match="cannot be written"):
        save_graph(manipulator, tmp_path / "no" / "a.svg")


@pytest.mark.sparse
@pytest.mark.parametrize("path", readable_urdf_files(), ids=lambda path: path.stem)
def test_nothing_overlaps(path: Path) -> None:
    """Boxes keep clear of each other, and children stand to the right of their parents."""
    model = mbdyn_ros.model.read_urdf(path)
    boxes = layout(model)
    assert set(boxes) == {link.name for link in model.links}
    rows: dict[float, list[tuple[float, float]]] = {}
    for box in boxes.values():
        rows.setdefault(round(box.y, 6), []).append((box.x, box.right))
    for spans in rows.values():
        spans.sort()
        assert all(one[1] < two[0] for one, two in zip(spans, spans[1:], strict=False))
    for joint in model.joints:
        assert boxes[joint.parent].right < boxes[joint.child].turn < boxes[joint.child].x


def test_humanoid_and_stone() -> None:
    svg = graph_svg(mbdyn_ros.load(urdf_file("talos_full_v2.urdf"), floating_base=True))
    assert svg.count("<text") > 100
    assert "stone" in graph_svg(mbdyn_ros.load(EMPTY))


def test_the_picture_in_the_documents_is_of_today(manipulator: mbdyn_ros.Robot) -> None:
    saved = (ROOT / "docs" / "manipulator_graph.svg").read_text()
    words = re.findall(r">([^<>\n]+)</text>", saved)
    assert words == re.findall(r">([^<>\n]+)</text>", graph_svg(manipulator))
