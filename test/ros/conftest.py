"""What the tests of nodes share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """Processes of nodes that part from one which has imported all: to import takes a second."""
    pytest.importorskip("rclpy")
    from ros_rig import Forks

    one = Forks(tmp_path_factory.mktemp("forks"))
    yield one
    one.close()
