"""Linkages without mobility: a braced frame, whose joints stay where they were put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...model.clusters import Cluster
from ..algebra.spatial import SX, Position


@dataclass(frozen=True)
class Standstill:
    """The positions (rad or m) of joints that cannot move, by body: a closed form of nothing."""

    places: tuple[tuple[int, float], ...]

    @staticmethod
    def at(bodies: Iterable[int], positions: Iterable[float]) -> Standstill:
        """All joints of a linkage at their positions at home."""
        return Standstill(tuple(zip(bodies, map(float, positions), strict=True)))

    @property
    def given_bodies(self) -> tuple[int, ...]:
        """It follows from no other joint."""
        return ()

    def positions(self) -> dict[int, Position]:
        """Where the joints are, by body."""
        return dict(self.values())

    def values(self) -> dict[int, SX]:
        """The positions (1, 1) by body."""
        return {body: SX(position) for body, position in self.places}


def locked_text(cluster: Cluster, joints: str, count: int, tilt: str) -> str:
    """Words about constraints that leave their joints no mobility.

    tilt : `Rank.tilt_text`.
    """
    locks = "lock their" if len(cluster.closures) + len(cluster.gears) > 1 else "locks its"
    return (
        f"{locks} joints ({joints}): {count} independent constraints on {count} joints leave no "
        f"mobility{tilt}"
    )


def locked_advice(cluster: Cluster) -> str:
    """Advice where constraints leave no mobility."""
    if not cluster.closures:
        return "leave out one of them: they contradict each other but where all stand still"
    if not cluster.gears:
        return (
            "check the type and axis: a planar loop is closed by a revolute joint whose axis is "
            "parallel to the others, not by a fixed one"
        )
    gears = ", ".join(gear.name for gear in cluster.gears)
    return (
        f"leave out the <mimic> tags, or the loop: both its loops and its couplings or <mimic> "
        f"({gears}) tie the same joints, and many descriptions mimic what the loop does for "
        "simulators without loops"
    )
