"""mbdyn mechanism: planar linkages by their lengths and masses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ...cli.belonging import given, require_belonging
from ...cli.options import WRITTEN_AS
from ...cli.printing import print_json, print_table
from ...cli.serving import announce, page_options, serving
from ...errors import InputError
from ...number import name_values, to_floats
from .options import USED_BY, USED_BY_LAWS, task_options

if TYPE_CHECKING:
    from .. import CrankMotion, Mechanism


@click.command()
@click.argument("name")
@task_options
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
    from ..crank_motion import LAWS
    from ..view.run import CONSTANT, FREE
    from .prescribed import prescribed

    if options["forward"]:
        return FREE
    motion = options["motion"]
    if motion in LAWS:
        return CONSTANT if motion == "constant" else str(motion)
    return prescribed(made, options)


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
        given = to_floats(lengths) or []
        if len(given) != len(names):
            raise InputError(
                f"--lengths {lengths}: give {len(names)} numbers, m: {', '.join(names)}"
            )
        values = dict(zip(names, given, strict=True))
    values |= name_values(",".join(texts), "--set")
    return made.replaced(**values) if values else made
