"""The scene of pages: what is declared is drawn, and changed in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mbdyn_ros.model.model import Pose
from mbdyn_ros.model.shapes import Box, Capsule, Sphere
from mbdyn_ros.motion.poses import rotation_of
from mbdyn_ros.simulation import CurvedRod, Environment, Surface
from mbdyn_ros.simulation.world import World

viser = pytest.importorskip("viser")

from mbdyn_ros.view.page.page import Address, Page  # noqa: E402
from mbdyn_ros.view.scene.camera import ABOVE, FILLED, framed  # noqa: E402
from mbdyn_ros.view.scene.scene import WORLD, Arrows, Item, Lines, Scene  # noqa: E402
from mbdyn_ros.view.scene.shown_robot import ShownRobot  # noqa: E402
from mbdyn_ros.view.scene.shown_walls import wall_items  # noqa: E402

RED = (1.0, 0.0, 0.0, 1.0)


@pytest.fixture
def page() -> Iterator[Page]:
    one = Page("scene", Address(port=0))
    yield one
    one.close()


def node(page: Page, body: str, name: str) -> Any:
    return page.server.scene.get_handle_by_name(f"{page.scene.path(body)}/{name}")


def test_what_is_drawn_again_is_changed_in_place(page: Page) -> None:
    scene: Scene = page.scene
    scene.hang("arm")
    scene.hang("hand", "arm", Pose(translation=np.array([1.0, 0.0, 0.0])))
    scene.draw([Item("ball", "hand", Sphere(0.1), RED)])
    ball = node(page, "hand", "ball")
    assert page.server.scene.get_handle_by_name(scene.path("hand")).position[0] == 1
    at = Pose(translation=np.array([0.0, 0.0, 2.0]))
    scene.draw([Item("ball", "hand", Sphere(0.3), (0.0, 1.0, 0.0, 0.5), at)])
    assert node(page, "hand", "ball") is ball
    assert (ball.radius, ball.color, ball.opacity) == (0.3, (0, 255, 0), 0.5)
    assert ball.position.tolist() == [0, 0, 2]
    scene.draw([Item("ball", "hand", Box((1.0, 2.0, 3.0)), RED)])
    assert node(page, "hand", "ball").dimensions == (1.0, 2.0, 3.0)
    scene.remove("hand", "ball")
    assert node(page, "hand", "ball") is None


def test_walls_and_what_touches_them_are_drawn(page: Page) -> None:
    """A plane behind its wall, a tube of its width, a curved rod from end to end on its link."""
    rod = CurvedRod("arm", (0, 0, 0), (0.5, 0, 0.1), (1, 0, 0), radius=0.02)
    walls = Surface.plane(), Surface.cylinder(radius=2.5, axis=(0, 1, 0))
    given = Environment(walls, points=[rod, ("arm", (0.1, 0, 0), 0.05), ("arm", (0, 0, 0))])
    page.scene.hang("arm")
    page.scene.draw(item for _, item in wall_items(given))
    floor, tube = node(page, WORLD, "wall_0"), node(page, WORLD, "wall_1")
    assert floor.position[2] + 0.5 * floor.scale[2] * floor.dimensions[2] == pytest.approx(0)
    assert 2 * tube.radius * tube.scale[0] == pytest.approx(5.0)
    lines = [
        (item.name, item.shape)
        for _, item in wall_items(given)
        if isinstance(item.shape, Lines) and item.group == "curved_rods"
    ]
    places = np.concatenate([shape.points for _, shape in lines]).reshape(-1, 3)
    assert places[[0, -1]] == pytest.approx(np.array([[0, 0, 0], [1, 0, 0]]), abs=1e-12)
    assert node(page, "arm", lines[0][0]).thickness == pytest.approx(0.04)
    balls = [item.name for _, item in wall_items(given) if item.group == "balls"]
    assert [node(page, "arm", name).radius for name in balls] == [0.05]


def test_a_group_is_hidden_before_its_items_come(page: Page) -> None:
    scene: Scene = page.scene
    scene.show("masses", False)
    items = [Item("a", WORLD, Sphere(1.0), RED, group="masses"), Item("b", WORLD, Sphere(1.0), RED)]
    scene.draw(items)
    assert [node(page, WORLD, name).visible for name in "ab"] == [False, True]
    scene.show("masses", True)
    assert node(page, WORLD, "a").visible
    scene.show("masses", False)
    scene.draw(items)
    assert not node(page, WORLD, "a").visible


def test_short_arrows_are_thin(page: Page) -> None:
    """A head as long as its arrow would hide which way it points; none is drawn of no force."""
    for length in (1.0, 0.01, 0.0):
        points = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, length]]])
        page.scene.draw([Item("push", WORLD, Arrows(points, 0.02), RED)])
        arrow = node(page, WORLD, "push")
        assert arrow.shaft_radius == pytest.approx(min(0.02, length / 12))
        assert arrow.head_length == pytest.approx(5 * arrow.shaft_radius)


def test_another_subject_comes_after_clearing(page: Page) -> None:
    scene: Scene = page.scene
    for link in ("a b", "a/b"):
        scene.hang(link)
        scene.draw([Item("ball", link, Sphere(0.1), RED)])
    before = [scene.path(link) for link in ("a b", "a/b")]
    assert len(set(before)) == 2, "names that differ in what viewers cannot write"
    scene.clear()
    assert all(page.server.scene.get_handle_by_name(one) is None for one in before)
    scene.hang("a b")
    scene.draw([Item("ball", "a b", Sphere(0.2), RED)])
    assert node(page, "a b", "ball").radius == 0.2


@pytest.mark.parametrize("aspect", [0.4, 1.0, 2.5])
def test_a_subject_fills_its_picture(aspect: float) -> None:
    corners = np.random.default_rng(3).normal(size=(40, 3)) * [3.0, 0.5, 1.0] + [9.0, 2.0, -4.0]
    eye, (w, *xyz) = framed(corners, ABOVE, aspect)
    axes = rotation_of(np.array([*xyz, w]))
    right, down, forwards = ((corners - eye) @ axes).T
    upright = np.tan(np.radians(ABOVE.fov) / 2)
    across, along = right / forwards / upright / aspect, down / forwards / upright
    assert (forwards > 0).all()
    assert max(np.abs(across).max(), np.abs(along).max()) == pytest.approx(FILLED)
    for one in (across, along):
        assert abs(one.max() + one.min()) < 0.35, "it is in the middle"
    eye, _ = framed(np.zeros((1, 3)), ABOVE, aspect)
    assert np.linalg.norm(eye) > 1e-3, "a point is seen from a distance"


def test_a_capsule_ends_in_balls(page: Page) -> None:
    """They are where it touches."""
    world = World()
    world.add("pin", Capsule(0.1, 0.4), mass=1.0, xyz=(0, 0, 0.3))
    model, position = world.robot.model, np.array([0, 0, 0.3, 0, 0, 0, 1.0])
    ShownRobot(page.scene, model, (), None, position)
    heights = [node(page, "pin", f"collision_0_{end}").position[2].item() for end in (-1, 1)]
    assert heights == [-0.2, 0.2] and node(page, "pin", "collision_0_1").radius == 0.1
