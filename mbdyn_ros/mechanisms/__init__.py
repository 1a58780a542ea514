"""Planar mechanisms by their lengths and masses, at once: no compilation when a number changes."""

from .analysis import Analysis, compare
from .balance import Balance, Counterweight, balance
from .crank_motion import CrankMotion, constant_speed, cycloid, trapezoid
from .dead_centers import dead_centers
from .drawing import Drawing
from .drawing_file import drawing_of, read_drawing
from .drawn import mechanism_kind
from .five_bar import FiveBar
from .four_bar import FourBar, Parallelogram
from .joint_friction import Friction
from .link import Block, Link, Plate, Wheel
from .mechanism import Mechanism
from .pareto import Front, pareto_front
from .registry import MECHANISMS, configured
from .six_bar import Stephenson, Watt
from .slider_crank import QuickReturn, ScotchYoke, SliderCrank
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
