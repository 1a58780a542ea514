"""Robots that meet walls in steps: a block to throw, an arm that lifts and lands."""

from __future__ import annotations

import numpy as np
from robot_text import body_text, joint, link, robot_text

CORNER = -(1 + 3**0.5) / 2
START = np.array([CORNER, CORNER, *np.pi * np.array([1, 1, -4, 1, 1, -4, 2, 0, 4, -2]) / 6])

BLOCK = body_text("block", 3, (0.05, 0.06, 0.08))
CORNERS = [("block", (x, y, z)) for x in (0.3, -0.3) for y in (0.2, -0.2) for z in (0.1, -0.1)]

ARM = robot_text(
    link("cart", 2), link("foot"),
    joint("lift", "base", "cart", "0 0 1", kind="prismatic"),
    joint("leg", "cart", "foot", "0 0 1", "0 0 -1", kind="prismatic",
          more='<dynamics friction="{dry}"/>'),
    base="base",
)  # fmt: skip
