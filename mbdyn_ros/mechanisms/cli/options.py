"""The options of `mbdyn mechanism`, and with which others each of them means something."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from ...cli.options import STEPS_AS
from ...integration.methods import ADAPTIVE, described
from ..crank_motion import LAWS
from ..pareto import GOALS
from ..sweep import QUANTITIES

F = TypeVar("F", bound=Callable[..., Any])

EVERY_LINK, LOCAL = "all", "local"
"""--balance without links, and --dask without an address: workers on this machine."""

USED_BY_LAWS = {
    name: tuple(f"--motion {law}" for law, (_, numbers) in LAWS.items()
                if name in (*numbers, "start", "turn"))
    for name in ("speed", "acceleration", "duration", "start", "turn")
}  # fmt: skip
"""By the name of an option of prescribed motions, the laws that use it."""

FILES = ("--plot", "--gif", "--output", "--curve")
"""Options that show a prescribed motion without a task, too."""

TEXTS, DRIVEN, FREE = ("--equations", "--worksheet"), ("--id", *FILES), ("--fd",)
PRESCRIBED = ("--id", *TEXTS, "--compare", "--sweep", "--pareto", "--balance", *FILES)
"""Options that ask for a prescribed motion."""

USED_BY: dict[str, Sequence[str]] = {}
"""By the name of an option, the options with which it means something."""


def _option(flags: str, help: str, used_by: Sequence[str] = (), **how: Any) -> Callable[[F], F]:
    """An option with its flags, and its name where that is another; its default is shown."""
    names = flags.split()
    USED_BY[names[-1].lstrip("-").replace("-", "_")] = used_by
    return click.option(*names, help=help, **{"show_default": "default" in how, **how})


OPTIONS = (
    _option("--lengths", "Lengths, m, in the order that `mbdyn mechanism list` shows.",
            metavar="VALUE,..."),
    _option("--set settings", "Any setting: lengths, masses, centres of mass, inertias, gravity, "
            "branch.", metavar="NAME=VALUE,...", multiple=True),
    _option("--motion", "Motion of the crank; a CSV or JSON file has columns time and "
            "position/crank.", (*PRESCRIBED, "--page", "--motion"), default="constant",
            metavar="constant|trapezoid|cycloid|FILE"),
    _option("--speed", "Of the crank, rad/s; of --fd at its start.",
            (*PRESCRIBED, "--page", "--fd", "--motion"), type=float, show_default="10, 0"),
    _option("--acceleration", "Of a trapezoid, rad/s^2.", (*PRESCRIBED, "--motion"),
            type=float, default=100.0),
    _option("--start", "Crank angle, rad.", (*PRESCRIBED, "--fd", "--motion"),
            type=float, default=0.0),
    _option("--turn", "Angle, rad.  [default: 2 pi]", (*PRESCRIBED, "--motion"),
            type=float, default=2 * math.pi, show_default=False),
    _option("--duration", "Seconds: of a cycloid, and of --fd.  [default: 1, 5]",
            (*PRESCRIBED, "--fd", "--motion"), type=float),
    _option("--id inverse", "Driving torque, reactions, shaking force.", is_flag=True),
    _option("--friction", "Of --id, of all joints or one: dry friction, radius of pins (m), "
            "damping.", DRIVEN, metavar="[JOINT=]COEFFICIENT,RADIUS[,DAMPING]", multiple=True),
    _option("--fd forward", "Motion from --start under gravity and --torque.", is_flag=True),
    _option("--torque", "Driving torque of --fd, N m: constant, one for each crank; or a CSV or "
            "JSON file with columns time and effort/crank.", FREE, default="0",
            metavar="VALUE,...|FILE"),
    _option("--restitution", "Of --fd: the follower of a cam may leave it, and lands with this "
            "coefficient, 0 to 1.", FREE, type=float),
    _option("--method", "Of integration, for --fd. " + described(ADAPTIVE), FREE,
            type=click.Choice(list(ADAPTIVE)), default="RK45"),
    _option("--rtol", "Relative tolerance.", FREE, type=float, default=1e-8),
    _option("--atol", "Absolute tolerance.", FREE, type=float, default=1e-10),
    _option("--max-step", "Longest step of --fd, s.", FREE, type=float, default=math.inf,
            show_default=False),
    _option("--equations", "DeNOC's matrices, numbers and formulas, at --instant; with --fd of "
            "the free motion.", type=STEPS_AS, is_flag=False, flag_value="text"),
    _option("--worksheet", "Questions that lead by hand through the position of --equations, and "
            "their answers.", type=STEPS_AS, is_flag=False, flag_value="markdown"),
    _option("--cut", "Joints at which --equations cuts the loops.  [default: the closing pins]",
            TEXTS, metavar="JOINT,...", multiple=True),
    _option("--instant", "Of --equations and --worksheet: seconds since the motion began.", TEXTS,
            type=float, default=0.0),
    _option("--compare", "Driving torque for several values.", metavar="SETTING=VALUE,..."),
    _option("--sweep swept", "All combinations of such values, in one batch; give it several "
            "times.", metavar="SETTING=FROM:TO:COUNT", multiple=True),
    _option("--quantity", "What --sweep plots and ranks.", ("--sweep",),
            type=click.Choice(list(QUANTITIES)), default="peak_torque"),
    _option("--dask", "Spread --sweep over a Dask cluster; without an address, over this machine.",
            ("--sweep",), metavar="[ADDRESS]", is_flag=False, flag_value=LOCAL),
    _option("--pareto", "Look for the designs within bounds that are best in both --goals.",
            metavar="SETTING=FROM:TO", multiple=True),
    _option("--goals", "Of --pareto; " + ", ".join(GOALS) + ".", ("--pareto",),
            default="peak_torque,shaking_force", metavar="A,B"),
    _option("--seed", "Of --pareto.", ("--pareto",), type=int, default=0),
    _option("--balance", "Counterweights on these links, or where needed, against the shaking "
            "force.", metavar="[LINK,...]", is_flag=False, flag_value=EVERY_LINK),
    _option("--radius", "Of counterweights, m.  [default: half the length of each link]",
            ("--balance",), type=float, metavar="M"),
    _option("--moment", "Of --balance: length, m, for which the shaking moment counts along with "
            "the force.", ("--balance",), type=float, metavar="M"),
    _option("--fit", "Lengths whose coupler curve comes nearest to the path in a CSV file (x, y).",
            metavar="FILE"),
    _option("--poses", "Four-bar whose coupler takes 3 or 4 poses (x, y, angle).", metavar="FILE"),
    _option("--function", "Four-bar that has 3 or 4 pairs of angles (crank, rocker).",
            metavar="FILE"),
    _option("--part", "Part that carries the point of --fit.  [default: the coupler]", ("--fit",)),
    _option("--curve", "Also draw and write the path of a point of a part, m along and across it.",
            DRIVEN, metavar="PART=ALONG,ACROSS"),
    _option("--plot", "Plot as .png, .svg or .pdf.", metavar="FILE"),
    _option("--gif", "Animate the motion as .gif.", DRIVEN, metavar="FILE"),
    _option("--output", "Write the numbers as .csv or .json, the equations as .txt, .md or .tex.",
            metavar="FILE"),
    _option("--urdf", "Write the mechanism as URDF+.", metavar="FILE"),
    _option("--page", "Show it in the browser, with sliders, until Ctrl-C; with --fd in free "
            "motion.", is_flag=True),
)  # fmt: skip
"""In the order of the help."""

USED_BY |= dict.fromkeys(("port", "host", "browse"), ("--page",))


def task_options(function: F) -> F:
    """All `OPTIONS`."""
    for decorate in reversed(OPTIONS):
        function = decorate(function)
    return function
