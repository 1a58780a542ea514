"""Planar mechanisms by their lengths and masses, at once: no compilation when a number changes."""

from .analysis import Analysis, compare
from .balance import Balance, Counterweight, balance
from .crank_motion import CrankMotion, constant_speed, cycloid, trapezoid
from .drawing import Drawing, drawing_of, read_drawing
from .drawn import mechanism_kind
from .link import Block, Link, Plate, Wheel
from .linkages import (
    FiveBar,
    FourBar,
    Parallelogram,
    QuickReturn,
    ScotchYoke,
    SliderCrank,
    Stephenson,
    Watt,
)
from .mechanism import Mechanism
from .pareto import Front, pareto_front
from .reactions import Friction
from .registry import MECHANISMS, configured
from .summary import dead_centers
from .toggles import reach

__all__ = [
    "MECHANISMS",
    "Analysis",
    "Balance",
    "Block",
    "Counterweight",
    "CrankMotion",
    "Drawing",
    "FiveBar",
    "FourBar",
    "Friction",
    "Front",
    "Link",
    "Mechanism",
    "Parallelogram",
    "Plate",
    "QuickReturn",
    "ScotchYoke",
    "SliderCrank",
    "Stephenson",
    "Watt",
    "Wheel",
    "balance",
    "compare",
    "configured",
    "constant_speed",
    "cycloid",
    "dead_centers",
    "drawing_of",
    "mechanism_kind",
    "pareto_front",
    "reach",
    "read_drawing",
    "trapezoid",
]
