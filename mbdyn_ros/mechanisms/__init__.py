"""Planar mechanisms by their lengths and masses, at once: no compilation when a number changes."""

from .four_bar import FourBar, Parallelogram
from .link import Block, Link, Plate
from .mechanism import Mechanism

MECHANISMS: dict[str, type[Mechanism]] = {one.name: one for one in (FourBar, Parallelogram)}
"""Every kind of mechanism by its name."""

__all__ = ["MECHANISMS", "Block", "FourBar", "Link", "Mechanism", "Parallelogram", "Plate"]
