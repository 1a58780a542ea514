"""mbdyn mechanism: planar linkages by their lengths and masses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from ...cli.belonging import given, require_belonging
from ...cli.options import STEPS_AS, WRITTEN_AS
from ...cli.printing import print_json, print_table
from ...cli.serving import announce, page_options, serving
from ...errors import InputError
from ...integration.methods import ADAPTIVE, described
from ...number import name_values, to_float
from ..pareto import GOALS
from .belonging import USED_BY, USED_BY_LAWS
from .designing import EVERY_LINK
from .tasks import LOCAL

if TYPE_CHECKING:
    from .. import CrankMotion, Mechanism


@click.command()
@click.argument("name")
@click.option(
    "--lengths",
    metavar="VALUE,...",
    help="Lengths, m, in the order that `mbdyn mechanism list` shows.",
)
@click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE,...",
    multiple=True,
    help="Any setting: lengths, masses, centres of mass, inertias, gravity, branch.",
)
@click.option(
    "--motion",
    default="constant",
    show_default=True,
    metavar="constant|trapezoid|cycloid|FILE",
    help="Motion of the crank; a CSV or JSON file has columns time and position/crank.",
)
@click.option(
    "--speed", type=float, show_default="10, 0", help="Of the crank, rad/s; of --fd at its start."
)
@click.option(
    "--acceleration", type=float, default=100.0, show_default=True, help="Of a trapezoid, rad/s^2."
)
@click.option("--start", type=float, default=0.0, show_default=True, help="Crank angle, rad.")
@click.option("--turn", type=float, default=2 * math.pi, help="Angle, rad.  [default: 2 pi]")
@click.option("--duration", type=float, help="Seconds: of a cycloid, and of --fd.  [default: 1, 5]")
@click.option("--id", "inverse", is_flag=True, help="Driving torque, reactions, shaking force.")
@click.option(
    "--friction",
    metavar="[JOINT=]COEFFICIENT,RADIUS[,DAMPING]",
    multiple=True,
    help="Of --id, of all joints or one: dry friction, radius of pins (m), damping.",
)
@click.option(
    "--fd", "forward", is_flag=True, help="Motion from --start under gravity and --torque."
)
@click.option(
    "--torque",
    default="0",
    show_default=True,
    metavar="VALUE,...|FILE",
    help="Driving torque of --fd, N m: constant, one for each crank; or a CSV or JSON file with "
    "columns time and effort/crank.",
)
@click.option(
    "--restitution",
    type=float,
    help="Of --fd: the follower of a cam may leave it, and lands with this coefficient, 0 to 1.",
)
@click.option(
    "--method",
    type=click.Choice(list(ADAPTIVE)),
    default="RK45",
    show_default=True,
    help="Of integration, for --fd. " + described(ADAPTIVE),
)
@click.option("--rtol", type=float, default=1e-8, show_default=True, help="Relative tolerance.")
@click.option("--atol", type=float, default=1e-10, show_default=True, help="Absolute tolerance.")
@click.option("--max-step", type=float, default=math.inf, help="Longest step of --fd, s.")
@click.option(
    "--equations",
    type=STEPS_AS,
    is_flag=False,
    flag_value="text",
    help="DeNOC's matrices, numbers and formulas, at --instant; with --fd of the free motion.",
)
@click.option(
    "--worksheet",
    type=STEPS_AS,
    is_flag=False,
    flag_value="markdown",
    help="Questions that lead by hand through the position of --equations, and their answers.",
)
@click.option(
    "--cut",
    metavar="JOINT,...",
    multiple=True,
    help="Joints at which --equations cuts the loops.  [default: the closing pins]",
)
@click.option(
    "--instant",
    type=float,
    default=0.0,
    show_default=True,
    help="Of --equations and --worksheet: seconds since the motion began.",
)
@click.option("--compare", metavar="SETTING=VALUE,...", help="Driving torque for several values.")
@click.option(
    "--sweep",
    "swept",
    metavar="SETTING=FROM:TO:COUNT",
    multiple=True,
    help="All combinations of such values, in one batch; give it several times.",
)
@click.option(
    "--quantity",
    type=click.Choice(["peak_torque", "rms_torque", "transmission"]),
    default="peak_torque",
    show_default=True,
    help="What --sweep plots and ranks.",
)
@click.option(
    "--dask",
    metavar="[ADDRESS]",
    is_flag=False,
    flag_value=LOCAL,
    help="Spread --sweep over a Dask cluster; without an address, over this machine.",
)
@click.option(
    "--pareto",
    metavar="SETTING=FROM:TO",
    multiple=True,
    help="Look for the designs within bounds that are best in both --goals.",
)
@click.option(
    "--goals",
    default="peak_torque,shaking_force",
    show_default=True,
    metavar="A,B",
    help="Of --pareto; " + ", ".join(GOALS) + ".",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of --pareto.")
@click.option(
    "--balance",
    metavar="[LINK,...]",
    is_flag=False,
    flag_value=EVERY_LINK,
    help="Counterweights on these links, or where needed, against the shaking force.",
)
@click.option(
    "--radius",
    type=float,
    metavar="M",
    help="Of counterweights, m.  [default: half the length of each link]",
)
@click.option(
    "--moment",
    type=float,
    metavar="M",
    help="Of --balance: length, m, for which the shaking moment counts along with the force.",
)
@click.option(
    "--fit",
    metavar="FILE",
    help="Lengths whose coupler curve comes nearest to the path in a CSV file (x, y).",
)
@click.option(
    "--poses", metavar="FILE", help="Four-bar whose coupler takes 3 or 4 poses (x, y, angle)."
)
@click.option(
    "--function", metavar="FILE", help="Four-bar that has 3 or 4 pairs of angles (crank, rocker)."
)
@click.option("--part", help="Part that carries the point of --fit.  [default: the coupler]")
@click.option(
    "--curve",
    metavar="PART=ALONG,ACROSS",
    help="Also draw and write the path of a point of a part, m along and across it.",
)
@click.option("--plot", metavar="FILE", help="Plot as .png, .svg or .pdf.")
@click.option("--gif", metavar="FILE", help="Animate the motion as .gif.")
@click.option(
    "--output",
    metavar="FILE",
    help="Write the numbers as .csv or .json, the equations as .txt, .md or .tex.",
)
@click.option("--urdf", metavar="FILE", help="Write the mechanism as URDF+.")
@click.option(
    "--page",
    is_flag=True,
    help="Show it in the browser, with sliders, until Ctrl-C; with --fd in free motion.",
)
@page_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def mechanism(name: str, as_json: bool, **options: Any) -> None:
    """Analyse a planar linkage; NAME is one of those that `mbdyn mechanism list` shows, or a
    drawing in YAML.

    Without a task: what turns fully, toggles, dead centres,
    transmission angle. Angles count counter-clockwise from x, gravity pulls along -y.

    \b
    Examples:
      mbdyn mechanism list
      mbdyn mechanism four_bar --lengths 0.32,0.1,0.3,0.25
      mbdyn mechanism four_bar --page --speed 20
      mbdyn mechanism four_bar --id --speed 20 --plot drive.png --gif drive.gif
      mbdyn mechanism four_bar --equations --cut coupler_joint --instant 0.1
      mbdyn mechanism four_bar --worksheet --output worksheet.md
      mbdyn mechanism four_bar --compare coupler_mass=0.5,1,2 --plot masses.png
      mbdyn mechanism four_bar --balance --speed 20 --plot balance.png --urdf balanced.urdf
      mbdyn mechanism four_bar --id --motion cycloid --friction 0.1,0.01 --curve coupler=0.15,0.1
      mbdyn mechanism four_bar --pareto coupler_length=0.2:0.45 --pareto rocker_length=0.15:0.4
      printf '%s\\n' x,y 0.1,0.2 0.2,0.3 0.3,0.25 0.2,0.15 > path.csv
      mbdyn mechanism four_bar --fit path.csv --plot fit.png
      printf '%s\\n' x,y,angle 0,0,0 0.1,0.05,0.3 0.2,0.02,0.5 > poses.csv
      mbdyn mechanism four_bar --poses poses.csv --plot poses.png
      mbdyn mechanism slider_crank --set offset=0.05 --fd --duration 5 --method DOP853 --json
      mbdyn mechanism four_bar --sweep coupler_length=0.2:0.4:300 --sweep rocker_length=0.15:0.4:300
    """  # fmt: skip
    from ...model.write.elements import write_text
    from ...recording.write import TABLES, check_target
    from ...view.figure import PLOTS, check_picture
    from ..registry import kind_of
    from .designing import balance_links, find_front, fit_path, fit_positions
    from .show_summary import show_summary
    from .tasks import compare_settings, forward, inverse, show_equations, sweep_designs

    typed = given(click.get_current_context())
    if name == "list":
        if typed.keys() - {"as_json"}:
            raise click.UsageError(
                f"{', '.join(typed.values())}: `mbdyn mechanism list` takes --json alone"
            )
        _list(as_json)
        return
    kind = kind_of(name)
    on_paper = options["equations"] or options["worksheet"]
    tables = tuple(WRITTEN_AS) if on_paper else TABLES
    for option, ends, check in (
        ("plot", PLOTS, check_picture), ("gif", (".gif",), check_picture),
        ("output", tables, check_target), ("urdf", (".urdf", ".xml"), check_target),
    ):  # fmt: skip
        if options[option] is not None:
            check(options[option], ends)
    tasks = {
        "inverse": inverse, "forward": forward, "equations": show_equations,
        "worksheet": show_equations, "compare": compare_settings, "swept": sweep_designs,
        "pareto": find_front, "balance": balance_links, "fit": fit_path, "poses": fit_positions,
        "function": fit_positions,
    }  # fmt: skip
    asked = [
        what for what in (*tasks, "page")
        if options[what] and not (what == "forward" and (options["page"] or on_paper))
    ]  # fmt: skip
    if len(asked) > 1:
        raise click.UsageError(
            f"{' and '.join(typed[one] for one in asked)} are tasks; give one of them at a time"
        )
    named = [typed[one] for one in dict.fromkeys((*asked, "forward")) if one in typed]
    require_belonging(USED_BY, typed, named)
    if not options["forward"] and not options["page"]:
        require_belonging(USED_BY_LAWS, typed, [f"--motion {options['motion']}"])
    made = _configured(kind, options["lengths"], options["settings"])
    if options["page"]:
        _show(made, options, as_json)
        return
    document = {"mechanism": name, "settings": {k: float(v) for k, v in made.settings.items()}}
    if asked:
        document |= tasks[asked[0]](made, options, as_json)
    else:
        document |= show_summary(made, options, as_json)
    files = [options[one] for one in ("plot", "gif", "output", "urdf") if options[one]]
    if options["urdf"] is not None:
        write_text(options["urdf"], options.get("result", made).urdf())
    document["files"] = files
    if as_json:
        print_json(document)
    else:
        for file in files:
            click.echo(f"wrote {file}")


def _show(made: Mechanism, options: dict[str, Any], as_json: bool) -> None:
    """Serve its page."""
    for option in ("plot", "gif", "output", "urdf"):
        if options[option] is not None:
            raise click.UsageError(f"--page writes no --{option}; the page has buttons for that")
    from ...view.page.page import Address, Page, require_page

    require_page()
    from ..view.mechanism_page import MechanismPage
    from ..view.run import DesignRun, first_drive
    from .prescribed import speed_of
    from .tasks import torque_of

    start = speed_of(options), _page_motion(made, options)
    torque = torque_of(made, options["torque"]) if options["forward"] else None
    DesignRun(made, first_drive(made, *start))  # refused before any browser comes
    page = Page(made.name, Address(options["host"], options["port"]))
    with serving(page, options["browse"]):
        announce(page.url, made.name, as_json)
        page.run_each(lambda own: MechanismPage(own, made, *start, torque).draw)


def _page_motion(made: Mechanism, options: dict[str, Any]) -> str | CrankMotion:
    """The law of motion that the page shows first, or the motion of a file."""
    from ..view.run import CONSTANT, CYCLOID, FREE, TRAPEZOID
    from .prescribed import prescribed

    if options["forward"]:
        return FREE
    laws = {"constant": CONSTANT, "trapezoid": TRAPEZOID, "cycloid": CYCLOID}
    return laws.get(options["motion"]) or prescribed(made, options)


def _list(as_json: bool) -> None:
    from .. import MECHANISMS
    from ..design import length_names

    kinds = [(name, kind, kind()) for name, kind in MECHANISMS.items()]
    if as_json:
        print_json({
            name: {
                "title": kind.title,
                "inputs": list(kind.inputs),
                "output": kind.output,
                "lengths": length_names(made.settings),
                "settings": {key: float(value) for key, value in made.settings.items()},
            }
            for name, kind, made in kinds
        })  # fmt: skip
        return
    rows = [
        (name, kind.title, ", ".join(length_names(made.settings))) for name, kind, made in kinds
    ]
    print_table("Mechanisms", ("name", "", "lengths"), rows, text_columns=3)


def _configured(kind: type[Mechanism], lengths: str | None, texts: tuple[str, ...]) -> Mechanism:
    """The mechanism with the lengths and settings of the command line."""
    from ..design import length_names

    made = kind()
    values: dict[str, float] = {}
    if lengths is not None:
        names = length_names(made.settings)
        given = [to_float(one) for one in lengths.split(",")]
        if None in given or len(given) != len(names):
            raise InputError(
                f"--lengths {lengths}: give {len(names)} numbers, m: {', '.join(names)}"
            )
        values = {name: one for name, one in zip(names, given, strict=True) if one is not None}
    values |= name_values(",".join(texts), "--set")
    return made.replaced(**values) if values else made
