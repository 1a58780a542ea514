"""mbdyn observe: external efforts, contacts and payload from a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .options import RobotOptions, robot_argument, robot_options
from .printing import number, print_json, print_table
from .sensors import sensor_options

if TYPE_CHECKING:
    from ..control import ExternalWrench, Observer, PayloadEstimator, Thresholds
    from ..control.observer import Friction, Push
    from ..model.model import Array
    from ..recording.measured import Recording, Sensors
    from ..robot import Robot

SPANNED_STEPS = 3.0
"""Steps of a recording that the time constant spans at least."""

DRAWN_FORCES = 600
"""Rows of which forces are drawn."""


@click.command()
@robot_argument
@click.argument("recording", metavar="FILE")
@click.option("--learn", metavar="FILE",
              help="A recording of a similar motion without contact, which sets friction and "
              "thresholds.  [default: FILE itself, where pushes are rare]")  # fmt: skip
@click.option("--link", help="Link whose force is estimated.  [default: the last that moves]")
@click.option("--point", nargs=3, type=float, default=(0.0, 0.0, 0.0), metavar="X Y Z",
              help="Point of the link, in its axes, where it acts, m.")  # fmt: skip
@click.option("--payload", metavar="LINK", help="Estimate the payload of this link, too.")
@click.option("--time-constant", type=float, default=0.02, show_default=True,
              help="Mean delay of the observer, s.")  # fmt: skip
@click.option("--variant", type=click.Choice(["first", "second"]), default="second",
              show_default=True, help="Order of the observer.")  # fmt: skip
@click.option("--plot", metavar="FILE", help="Plot efforts, force and contacts (.png, .svg, .pdf).")
@click.option("--output", metavar="FILE", help="Write external efforts as .csv or .json.")
@sensor_options
@robot_options
def observe(
    source: str, recording: str, learn: str | None, link: str | None,
    point: tuple[float, float, float], payload: str | None, time_constant: float, variant: str,
    plot: str | None, output: str | None, sensors: Sensors, options: RobotOptions, as_json: bool,
) -> None:  # fmt: skip
    """External efforts, contacts and payload from a recording: what the machine feels.

    FILE is CSV, JSON or a bag with time, positions and efforts of the joints, and optionally
    velocities. Columns are position/<joint>, effort/<joint>, ... or names like q1, dq1, tau_1,
    joint1_pos; the interpretation is reported. Friction missing in the description is fitted to the
    motion without contact.

    \b
    Examples:
      mbdyn simulate boom --duration 2 --rate 500 --hold 1e5,5e3 --output run.csv
      mbdyn observe boom run.csv --plot external.png
      mbdyn observe boom run.csv --learn run.csv --link boom --json
    """
    from ..control import Observer, PayloadEstimator
    from ..recording.measured import read_recording
    from ..recording.write import TABLES, check_target
    from ..view.figure import check_picture

    if plot is not None:
        check_picture(plot)
    if output is not None:
        check_target(output, TABLES)
    robot = options.read(source)
    link = _checked_link(robot, link)
    measured = read_recording(robot, recording, sensors)
    free = None if learn is None else read_recording(robot, learn, sensors)
    if measured.unknown_gains:
        raise InputError("--gain: mbdyn identify finds unknown gains; give their values here")
    steps = [one.step for one in (measured, free) if one is not None]
    shortest = SPANNED_STEPS * max(steps)
    if time_constant < shortest:
        measured.remarks.append(f"the time constant is {shortest:.3g} s, {SPANNED_STEPS:g} steps")
    times = max(time_constant, shortest)

    def made() -> Observer:
        return Observer(robot, times, variant, max(steps))

    result = _Result(robot, measured, free, made, link, point, learn is not None)
    estimator = None
    if payload is not None:
        estimator = PayloadEstimator(made(), payload)
        result.estimate(estimator)
    if plot is not None:
        result.plot(plot)
    if output is not None:
        result.write(output)
    if as_json:
        print_json(result.document(estimator))
    else:
        result.show(estimator)


def _checked_link(robot: Robot, link: str | None) -> str:
    """The link whose force is estimated: one that moves, by default the last of these."""
    from ..arguments import require_link
    from ..prepare.tree import WORLD

    frames = robot.system.tree.frames
    last = next((one for one in reversed(frames) if frames[one][0] != WORLD), list(frames)[-1])
    known = require_link(robot.system.tree, link or last, robot.model.source)
    if frames[known][0] == WORLD:
        raise InputError(f"--link: {known!r} is fixed to the world; name a link that moves")
    return known


class _Result:
    """All that is found in a recording."""

    def __init__(
        self, robot: Robot, measured: Recording, free: Recording | None, made: Any, link: str,
        point: tuple[float, float, float], learned: bool,
    ) -> None:  # fmt: skip
        from ..control import Thresholds
        from ..control.observer import Friction, pushes, robust_thresholds

        self.robot, self.measured, self.link, self.point = robot, measured, link, point
        self.remarks = list(measured.remarks)
        self.observer: Observer = made()
        raw, rows = self._observed(self.observer, measured)
        of_free, rows_free = (raw, rows) if free is None else self._observed(made(), free)
        self.friction: Friction = Friction.fit(rows_free, of_free)
        rest = of_free - self.friction.efforts(rows_free)
        self.external: Array = raw - self.friction.efforts(rows)
        labels = robot.velocity_labels
        self.thresholds: Thresholds = (
            Thresholds.learn(labels, rest) if learned else robust_thresholds(labels, rest)
        )
        # Nodes and controllers take no friction off.
        self.running = Thresholds.learn(labels, of_free) if learned else None
        if not learned:
            self.remarks.append(
                "friction and thresholds are learned from this recording itself: pushes that last "
                "longer than half of it are not seen; --learn takes a free motion instead"
            )
        if self.observer.restarts:
            self.remarks.append(f"there are {self.observer.restarts} gaps of more than 0.1 s; the "
                                "observer restarts after each")  # fmt: skip
        self.remarks += _doubts(labels, raw, self.external, measured.effort, robot)
        self.pushes: list[Push] = pushes(
            robot, self.thresholds, measured.time, measured.q, self.external
        )
        robot.compile("frame_pose", link=link)
        robot.compile("jacobian", link=link)
        self.wrenches = [self._wrench(one.strongest) for one in self.pushes]

    @staticmethod
    def _observed(observer: Observer, one: Recording) -> tuple[Array, Array]:
        from ..control.observer import external_efforts, friction_rows

        found = external_efforts(observer, one.time, one.q, one.v, one.effort)
        return found, friction_rows(observer, one.time, one.v)

    def _wrench(self, k: int) -> ExternalWrench:
        """The force at the link at a row."""
        from ..control import wrench_at

        outside = self.external[k] - self.thresholds.center
        return wrench_at(self.robot, self.measured.q[k], outside, self.link, self.point, False)

    def estimate(self, estimator: PayloadEstimator) -> None:
        """Follow the motion once more with an estimator of the payload."""
        one, observer = self.measured, estimator.observer
        for k, t in enumerate(one.time.tolist()):
            observer.q[:], observer.v[:], observer.effort[:] = one.q[k], one.v[k], one.effort[k]
            observer.cycle(t)
            estimator.update(t, self.external[k])

    def plot(self, path: str) -> None:
        """Plot the external efforts."""
        import numpy as np

        from ..units import effort_unit
        from ..view.plots import save_external_plot

        labels, time = self.robot.velocity_labels, self.measured.time
        rows = range(0, len(time), max(len(time) // DRAWN_FORCES, 1))
        save_external_plot(
            path, self.robot.model.name, time, labels,
            [effort_unit(self.robot.model, one) for one in labels],
            self.external - self.thresholds.center, self.thresholds.joint, self.link,
            time[rows], np.array([self._wrench(k).force for k in rows]),
            [(time[one.first], time[one.last]) for one in self.pushes],
        )  # fmt: skip

    def write(self, path: str) -> None:
        """Write the external efforts."""
        from ..recording.write import write_table

        columns = dict(zip(self.robot.velocity_labels, self.external.T, strict=True))
        write_table({"time": {"": self.measured.time}, "external_effort": columns}, path)

    def document(self, estimator: PayloadEstimator | None) -> dict[str, object]:
        """It as plain data."""
        labels, time = self.robot.velocity_labels, self.measured.time
        terms = zip(labels, self.friction.terms.tolist(), strict=True)
        document: dict[str, object] = {
            "robot": self.robot.model.name,
            "rows": len(time),
            "duration": float(time[-1] - time[0]),
            "step": self.measured.step,
            "time_constant": float(self.observer.filter.time_constant.max()),
            "remarks": self.remarks,
            "thresholds": dict(zip(labels, self.thresholds.joint.tolist(), strict=True)),
            "friction": {
                label: dict(zip(("constant", "dry", "damping"), row, strict=True))
                for label, row in terms
            },
            "contacts": [
                {
                    "time": one.contact.time, "began": one.contact.began,
                    "ended": float(time[one.last]), "joint": one.contact.joint,
                    "links": list(one.contact.links), "link": wrench.link,
                    "force": wrench.force.tolist(), "size": float((wrench.force**2).sum() ** 0.5),
                    "external": dict(
                        zip(labels, self.external[one.strongest].tolist(), strict=True)
                    ),
                    "undetermined": wrench.remark,
                }
                for one, wrench in zip(self.pushes, self.wrenches, strict=True)
            ],
        }  # fmt: skip
        if self.running is not None:
            document["parameters"] = self._parameters(self.running)
        if estimator is not None:
            found = estimator.payload()
            document["payload"] = {
                "link": found.link, "mass": found.mass, "com": found.com.tolist(),
                "mass_deviation": float(found.deviations[0]), "remark": found.remark,
            }  # fmt: skip
        return document

    @staticmethod
    def _parameters(thresholds: Thresholds) -> dict[str, object]:
        """The parameters of nodes and controllers that see contacts."""
        return {
            "thresholds": thresholds.joint.round(4).tolist(),
            "centers": thresholds.center.round(4).tolist(),
            "threshold_in_all": round(thresholds.whole, 4),
        }

    def show(self, estimator: PayloadEstimator | None) -> None:
        """Print it."""
        for remark in self.remarks:
            click.echo(f"note: {remark}")
        labels = self.robot.velocity_labels
        rows = [
            (label, *map(number, (self.thresholds.joint[k], *self.friction.terms[k])))
            for k, label in enumerate(labels)
        ]
        header = "joint", "threshold", "constant", "dry friction", "damping"
        print_table(f"{self.robot.model.name}: what free motion leaves (N m, N)", header, rows)
        if self.running is not None:
            click.echo("for effort_observer, computed_torque and the plugins of ros2_control:")
            for key, value in self._parameters(self.running).items():
                click.echo(f"  {key}: {value}")
        found = [
            (
                f"{one.contact.time:.3f}", f"{self.measured.time[one.last]:.3f}",
                one.contact.joint, one.contact.links[0] if one.contact.links else "several",
                number(float((wrench.force**2).sum() ** 0.5)),
                ", ".join(f"{x:.1f}" for x in wrench.force),
            )
            for one, wrench in zip(self.pushes, self.wrenches, strict=True)
        ]  # fmt: skip
        if not found:
            click.echo("no contact")
        else:
            head = "seen, s", "ended, s", "joint", "on or beyond", "force, N", "x, y, z"
            print_table(f"contacts, as forces at {self.link}", head, found, 0)
            for remark in dict.fromkeys(one.remark for one in self.wrenches if one.remark):
                click.echo(f"note: {remark}")
        if estimator is not None:
            payload = estimator.payload()
            click.echo(
                f"payload of {payload.link}: {payload.mass:.4g} kg (deviation "
                f"{payload.deviations[0]:.2g}) at {', '.join(f'{x:.3f}' for x in payload.com)} m"
            )
            if payload.remark:
                click.echo(f"note: {payload.remark}")


def _doubts(
    labels: tuple[str, ...], raw: Array, external: Array, effort: Array, robot: Robot
) -> list[str]:
    """Joints whose efforts the model explains badly, in words."""
    import numpy as np

    doubtful = []
    for k, label in enumerate(labels):
        if label not in robot.effort_labels:
            continue
        given = effort[:, robot.effort_labels.index(label)]
        spread = np.median(np.abs(given - np.median(given)))
        left = np.median(np.abs(external[:, k] - np.median(external[:, k])))
        if left > 0.5 * spread > 0:
            doubtful.append(label)
    if not doubtful:
        return []
    return [
        f"of the efforts of {', '.join(doubtful)} the model explains less than half: check their "
        "sign and unit, whether gravity is taken off them, and the payload"
    ]
