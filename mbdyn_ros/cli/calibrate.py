"""mbdyn calibrate: lengths, offsets and angles of a robot from measured poses and joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, listed
from ..number import once, to_floats
from .options import RobotOptions, robot_argument, robot_options
from .printing import number, print_json, print_table

if TYPE_CHECKING:
    from ..array import Array
    from ..identification import Calibration


@click.command()
@robot_argument
@click.argument("poses", metavar="POSES")
@click.option("--variable", multiple=True, metavar="NAME,...",
              help="The unknowns: JOINT/x, y, z, roll, pitch, yaw or /origin, and of loop frames "
              "LOOP/successor/x ...  [default: all on the way to what was measured]")  # fmt: skip
@click.option("--measurement", nargs=6, type=float, metavar="X Y Z R P Y",
              help="Frame of what was measured in the world.  [default: unknown]")  # fmt: skip
@click.option("--target", multiple=True, metavar="NAME=X,Y,Z[,R,P,Y]",
              help="A measured point or frame in its link.  [default: unknown]")  # fmt: skip
@click.option("--test", metavar="FILE", help="Poses that were held out, for residuals alone.")
@click.option("--output", metavar="FILE", help="Write the robot: .urdf (URDF+), .xml or .sdf.")
@robot_options
def calibrate(
    source: str,
    poses: str,
    variable: tuple[str, ...],
    measurement: tuple[float, ...] | None,
    target: tuple[str, ...],
    test: str | None,
    output: str | None,
    options: RobotOptions,
    as_json: bool,
) -> None:
    """Lengths, offsets and angles of a robot from measured poses and joints.

    POSES is CSV or JSON. Each row has the sensor readings of the joints, position/JOINT, and the
    measurement: pose/LINK/x, y, z, optionally with qx, qy, qz, qw or roll, pitch, yaw (several
    points of a link are LINK:NAME), or position/JOINT of dependent joints in loops. Numbers that
    cannot be distinguished are listed and stay as described; outliers are listed and omitted.

    \b
    Examples:
      mbdyn simulate boom --duration 0.1 --output run.csv
      mbdyn convert boom run.csv --to joints --output poses.csv
      mbdyn calibrate boom poses.csv --variable rod_pin/successor/x,rod_pin/successor/z
      mbdyn calibrate boom poses.csv --output calibrated.urdf --json
    """
    from ..identification import calibrate as calibration
    from ..model.edit.parts import placed_at
    from ..recording.write import check_target
    from ..robot.saving import WRITERS

    written = None if output is None else check_target(output, tuple(WRITERS))
    names = [one.strip() for text in variable for one in text.split(",") if one.strip()]
    frame = None
    if measurement is not None:
        frame = placed_at("--measurement", measurement[:3], measurement[3:]).matrix()
    robot = options.read(source)
    found = calibration(robot, poses, names or None, frame, _targets(target), test)
    omitted: tuple[str, ...] = ()
    if written is not None:
        omitted = WRITERS[written.suffix.lower()](found.robot, written).omitted
    if as_json:
        print_json(_document(found, output, omitted))
        return
    _print(found)
    if written is not None:
        click.echo(f"wrote {written}: {found.robot!r}")
        for text in omitted:
            click.echo(f"Warning: not written: {text}", err=True)


def _targets(texts: tuple[str, ...]) -> dict[str, Array]:
    from ..model.edit.parts import placed_at
    pairs = []
    for text in texts:
        name, _, numbers = text.rpartition("=")
        given = to_floats(numbers) or []
        if not name or len(given) not in (3, 6):
            raise InputError(f"--target: {text!r} is not NAME=X,Y,Z or NAME=X,Y,Z,R,P,Y")
        pose = placed_at("--target", given[:3], given[3:] or (0.0, 0.0, 0.0)).matrix()
        pairs.append((name.strip(), pose))
    return once("--target", pairs)


def _document(found: Calibration, output: str | None, omitted: tuple[str, ...]) -> dict[str, Any]:
    numbers = zip(
        found.names, found.units, *(x.tolist() for x in (found.described, found.found)),
        found.deviation.tolist(), strict=True,
    )  # fmt: skip
    return {
        "robot": found.robot.model.name,
        "numbers": {
            name: {"unit": unit, "described": before, "found": after}
            | ({} if name in found.held else {"deviation": deviation})
            for name, unit, before, after, deviation in numbers
        },
        "held": {name: list(others) for name, others in found.held.items()},
        "noise": found.noise,
        "residuals": {
            name: {kind: rows.tolist() for kind, rows in part.items()}
            for name, part in _residuals(found).items()
        },
        "outliers": list(found.outliers),
        "measurement": None if found.measurement is None else found.measurement.tolist(),
        "targets": {name: pose.tolist() for name, pose in found.targets.items()},
        "output": output,
        "omitted": list(omitted),
    }


def _residuals(found: Calibration) -> dict[str, dict[str, Array]]:
    parts = {
        "before": found.before, "after": found.after,
        "test_before": found.test_before, "test_after": found.test_after,
    }  # fmt: skip
    return {name: part for name, part in parts.items() if part}


def _print(found: Calibration) -> None:
    import numpy as np

    rows = zip(found.names, found.described, found.found, found.deviation, found.units, strict=True)
    print_table(
        f"{found.robot.model.name}: {len(found.names) - len(found.held)} of {len(found.names)} "
        "numbers found",
        ("number", "described", "found", "change", "deviation", "unit"),
        [
            (name, number(old), number(new), number(new - old), f"{deviation:.2g}", unit)
            for name, old, new, deviation, unit in rows
            if name not in found.held
        ],
    )  # fmt: skip
    for name, others in found.held.items():
        why = f"cannot be distinguished from {listed(others)}" if others else "changes no residual"
        click.echo(f"{name} {why}; it stays as described")
    print_table(
        "residuals", ("residual", "rms before", "rms after", "largest after", "in row", "rows"),
        [
            (
                f"{kind}{' held out' * (before is found.test_before)}",
                *(number(float(np.sqrt(np.mean(x[kind] ** 2)))) for x in (before, after)),
                number(float(after[kind].max())), str(int(after[kind].argmax()) + 1),
                str(len(after[kind])),
            )
            for before, after in
            ((found.before, found.after), (found.test_before, found.test_after))
            for kind in after
        ],
    )  # fmt: skip
    if found.outliers:
        click.echo(f"left out, as they do not fit: rows {listed(map(str, found.outliers))}")
