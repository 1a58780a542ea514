"""The scene of pages: what is declared is drawn, and changed in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mbdyn_ros.model.model import Pose
from mbdyn_ros.model.shapes import Box, Sphere
from mbdyn_ros.motion.poses import rotation_of
from mbdyn_ros.simulation import Surface

viser = pytest.importorskip("viser")

from mbdyn_ros.view.page.page import Address, Page  # noqa: E402
from mbdyn_ros.view.scene.camera import ABOVE, FILLED, framed  # noqa: E402
from mbdyn_ros.view.scene.scene import WORLD, Arrows, Item, Scene  # noqa: E402
from mbdyn_ros.view.scene.walls import wall_items  # noqa: E402

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


def test_walls_stand_around_their_subject(page: Page) -> None:
    """Those that have a shape; one without end lies under the middle of the subject."""
    low, high = np.array([1.0, 2.0, 0.0]), np.array([1.4, 2.4, 0.2])
    walls = [
        Surface.plane(point=(0, 0, -0.3), name="floor"),
        Surface.elliptic_cylinder((2.0, 1.0), name="tube"),
        Surface.sphere(4.0, center=(0, 0, 1), name="dome"),
        Surface.box((3, 4, 5), name="room"),
        Surface(lambda x: x[2], name="formula"),
    ]
    items = wall_items(walls, low, high)
    assert [one.name for one in items] == ["floor", "tube", "dome", "room"]
    floor, tube, dome, room = items
    assert floor.pose.translation[:2] == pytest.approx([1.2, 2.2])
    assert floor.pose.translation[2] + 0.5 * floor.shape.size[2] == pytest.approx(-0.3)
    assert (tube.shape.radius, tube.scale) == (2.0, (1.0, 0.5, 1.0))
    assert dome.shape == Sphere(4.0) and room.shape == Box((3.0, 4.0, 5.0))
    page.scene.draw(items)
    assert node(page, WORLD, "floor").opacity == 0.25
