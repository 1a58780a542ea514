"""Poses as MuJoCo writes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...joints.quaternion import rotation_rows
from ...model import Pose
from ..placed_joint import tidy


def pose_of(position: Any, quaternion: Any) -> Pose:
    """The pose of a position (3,) and a quaternion (w, x, y, z) of any length."""
    w, x, y, z = np.asarray(quaternion) / np.linalg.norm(quaternion)
    return Pose(tidy(np.array(rotation_rows(x, y, z, w))), np.array(position))
