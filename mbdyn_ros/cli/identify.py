"""mbdyn identify: a robot that a machine's recordings agree with, and a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

from ..errors import InputError
from .options import RobotOptions, robot_argument, robot_options
from .printing import number, print_json, print_table
from .sensors import sensor_options

if TYPE_CHECKING:
    from ..identification import Identification, Payload, Verdict
    from ..recording.measured import Sensors

JUDGED = "rms", "nrmse", "explained", "correlation"
"""Numbers of a joint's residuals."""


@click.command()
@robot_argument
@click.argument("recordings", metavar="FILE...", nargs=-1, required=True)
@click.option("--test", multiple=True, metavar="FILE",
              help="A recording held out for the verdict.  [repeatable; default: the last 30 % of "
              "each FILE]")  # fmt: skip
@click.option("--cutoff", type=float, default=0.0,
              help="Hz of the zero-phase filter.  [default: as the motion asks for]")  # fmt: skip
@click.option("--payload", metavar="LINK=FILE",
              help="A recording in which a link carries something: find its mass, centre and "
              "inertia.  The other recordings are without it.")  # fmt: skip
@click.option("--output", metavar="FILE",
              help="Write the robot: .urdf (URDF+), .xml or .sdf; .yaml: "
              "what acts on its joints alone, for --mechanism with the file it has.")
@click.option("--parameters", metavar="FILE.yaml",
              help="Write parameters of the nodes: joint_dynamics, gravity, variable.")
@click.option("--report", metavar="FILE.html", help="Write a page with plots.")
@sensor_options
@robot_options
def identify(
    source: str, recordings: tuple[str, ...], test: tuple[str, ...], cutoff: float,
    payload: str | None, output: str | None, parameters: str | None, report: str | None,
    sensors: Sensors, options: RobotOptions, as_json: bool,
) -> None:  # fmt: skip
    """Inertias and drives of a machine from its recordings, and whether to trust them.

    FILE is CSV, JSON, NumPy's .npz, an MCAP file or a bag with positions and efforts of the joints
    (position=FILE,effort=FILE for separate files). Columns are position/<joint>, effort/<joint>,
    ... or names like q1, tau_1, joint1_pos; the interpretation is reported. Friction, offsets,
    rotors, springs and shared shafts are included if they improve the prediction of unseen rows.
    The inertias are physically consistent.

    \b
    Examples:
      mbdyn excite boom --output run.csv
      mbdyn identify boom run.csv --output identified.urdf
      mbdyn identify boom run.csv --test run.csv --report report.html --json
      mbdyn identify boom run.csv --output boom.yaml --parameters nodes.yaml
    """
    from ..extras import require
    from ..identification import identify_machine, identify_payload
    from ..recording.measured import read_recording
    from ..recording.write import check_target
    from ..robot.saving import WRITERS

    require("identify")
    written = None if output is None else check_target(output, (*WRITERS, ".yaml"))
    of_nodes = None if parameters is None else check_target(parameters, (".yaml",))
    page = None if report is None else check_target(report, (".html",))
    if page is not None:
        require("page")
    robot = options.read(source)
    given = [read_recording(robot, one, sensors) for one in recordings]
    found = identify_machine(
        robot, given, [read_recording(robot, one, sensors) for one in test], cutoff
    )
    carried = None
    if payload is not None:
        link, equals, file = payload.partition("=")
        if not equals:
            raise InputError(f"--payload: {payload!r} is not LINK=FILE")
        loaded = read_recording(robot, file, sensors)
        carried = identify_payload(robot, link, [loaded], given, cutoff)
    omitted: tuple[str, ...] = ()
    if of_nodes is not None:
        _write_yaml(found.node_parameters(), of_nodes)
    if written is not None and written.suffix.lower() == ".yaml":
        _write_yaml(found.side_car(), written)
        omitted = ("inertias", "lean of the base")
    elif written is not None:
        machine = found.robot if carried is None else carried.robot
        omitted = WRITERS[written.suffix.lower()](machine, written).omitted
    if page is not None:
        from ..view.identification import write_report

        write_report(found, page)
    if as_json:
        document = _document(found, output, omitted)
        if carried is not None:
            document["payload"] = _carried(carried)
        print_json(document)
        return
    _print(found)
    if carried is not None:
        at = ", ".join(f"{x:.3f} ({spread:.2g})" for x, spread in
                       zip(carried.com, carried.com_deviation, strict=True))  # fmt: skip
        click.echo(f"payload of {carried.link}: {carried.mass:.4g} kg (deviation "
                   f"{carried.mass_deviation:.2g}) at {at} m; {carried.before:.1%} of the efforts "
                   f"are left without it, {carried.after:.1%} with it"
                   + ("; at the scale of the gains found" if found.gains else ""))  # fmt: skip
        if carried.undetermined:
            click.echo(f"not determined of it: {', '.join(carried.undetermined)}")
    if written is not None:
        click.echo(f"wrote {written}: {found.robot!r}")
    if of_nodes is not None:
        click.echo(f"wrote {of_nodes}: give it to a node by --ros-args --params-file {of_nodes}")
    if written is not None:
        for text in omitted:
            click.echo(f"Warning: not written: {text}", err=True)


def _write_yaml(document: dict[str, Any], path: Path) -> None:
    from ..model.write.elements import write_text

    write_text(path, yaml.safe_dump(document, sort_keys=False, width=100))


def _document(
    found: Identification, output: str | None, omitted: tuple[str, ...]
) -> dict[str, Any]:
    deviation = [None if one != one else one for one in found.deviation.tolist()]
    base = zip(
        found.names, found.described.tolist(), found.found.tolist(), deviation, strict=True
    )
    return {
        "robot": found.robot.model.name,
        "verdict": _numbers(found.verdict),
        "fit": _numbers(found.fit),
        "words": list(found.words()),
        "brings": found.brings,
        "base_parameters": {
            name: {"described": old, "found": new, "deviation": spread}
            for name, old, new, spread in base
        },
        "open": list(found.open),
        "drives": {
            shaft: {
                term: {"value": value, "deviation": None if spread != spread else spread}
                for term, (value, spread) in terms.items()
            }
            for shaft, terms in found.drives.items()
        },
        "gains": {
            joint: {"value": gain, "deviation": None if spread != spread else spread}
            for joint, (gain, spread) in found.gains.items()
        },
        "lean": found.lean.tolist(),
        "gravity": found.robot.gravity.tolist(),
        "delay": found.delay,
        "cutoff": found.cutoff,
        "remarks": list(found.remarks),
        "output": output,
        "omitted": [*found.not_in_files(), *omitted],
    }


def _carried(payload: Payload) -> dict[str, Any]:
    deviations = payload.com_deviation.tolist()
    return {
        "link": payload.link, "mass": payload.mass, "mass_deviation": payload.mass_deviation,
        "com": payload.com.tolist(),
        "com_deviation": [None if one != one else one for one in deviations],
        "inertia": payload.inertia.tolist(), "undetermined": list(payload.undetermined),
        "relative_error_without": payload.before, "relative_error_with": payload.after,
    }  # fmt: skip


def _numbers(verdict: Verdict) -> dict[str, Any]:
    joints = zip(
        verdict.joints, verdict.rms.tolist(), verdict.nrmse.tolist(), verdict.explained.tolist(),
        verdict.correlation.tolist(), strict=True,
    )  # fmt: skip
    return {
        "rows": verdict.rows,
        "relative_error": verdict.relative,
        "relative_error_at_all_rows": verdict.at_all_rows,
        "relative_error_unfiltered": verdict.raw,
        "relative_error_of_the_description": verdict.described,
        "joints": {
            joint: {
                key: None if one != one else one for key, one in zip(JUDGED, own, strict=True)
            }
            for joint, *own in joints
        },
    }


def _print(found: Identification) -> None:
    for remark in found.remarks:
        click.echo(f"note: {remark}")
    verdict = found.verdict
    rows = zip(
        verdict.joints, map(number, verdict.rms), verdict.nrmse, verdict.explained,
        verdict.correlation, strict=True,
    )  # fmt: skip
    print_table(
        f"{found.robot.model.name}: efforts of {verdict.rows} rows held out",
        ("joint", "rms (N m, N)", "of its range", "explained", "correlation"),
        [(joint, rms, f"{nrmse:.2%}", f"{explained:.1%}", f"{correlation:.2f}")
         if nrmse == nrmse else (joint, *4 * ("not moved",))
         for joint, rms, nrmse, explained, correlation in rows],
    )  # fmt: skip
    print_table(
        "relative error of rows not seen, part by part", ("with", "error"),
        [("the description alone, held out", f"{verdict.described:.2%}"),
         *((part, f"{error:.2%}") for part, error in found.brings.items()),
         ("all, held out", f"{verdict.relative:.2%}")],
    )  # fmt: skip
    print_table(
        "drives (N m, N; rad, m)", ("shaft", "term", "found", "deviation"),
        [(shaft, term, number(value), "undetermined" if spread != spread else f"{spread:.2g}")
         for shaft, terms in found.drives.items() for term, (value, spread) in terms.items()],
    )  # fmt: skip
    for text in (*found.words(), *found.not_in_files()):
        click.echo(text)
