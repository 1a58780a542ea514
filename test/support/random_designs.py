"""Random designs and states of mechanisms."""

from __future__ import annotations

import numpy as np

from mbdyn_ros import InputError
from mbdyn_ros.mechanisms import MECHANISMS, Mechanism

Array = np.ndarray

CAMS = "disk_cam", "flat_cam", "oscillating_cam"
"""Mechanisms with a cam."""

WITH_URDF = [name for name in MECHANISMS if name not in CAMS]
"""Mechanisms that a URDF can say."""


def random_design(kind: type[Mechanism], random: np.random.Generator) -> Mechanism:
    """A mechanism of a kind with all numbers moved from its default."""
    base = kind()
    while True:
        settings = {}
        for name, value in base.settings.items():
            if name.endswith("branch"):
                settings[name] = int(random.choice([-1, 1]))
            elif name.endswith(("center_along", "center_across")):
                settings[name] = value + random.uniform(-0.03, 0.03)
            elif name != "gravity":
                settings[name] = value * random.uniform(0.75, 1.3)
        if kind.name == "parallelogram":
            settings["rocker_length"] = settings["crank_length"]
            settings["coupler_length"] = settings["ground"]
        try:
            return base.replaced(**settings)
        except InputError:
            continue


def states(mechanism: Mechanism, random: np.random.Generator, count: int = 4) -> tuple[Array, ...]:
    """Random motions where the mechanism is well away from a toggle."""
    n = len(mechanism.inputs)
    q = random.uniform(-np.pi, np.pi, (200, n))
    q = np.vstack([q[mechanism.margin(q) > 0.02], [mechanism.home] * count])[:count]
    return q, random.normal(size=(count, n)) * 5, random.normal(size=(count, n)) * 30
