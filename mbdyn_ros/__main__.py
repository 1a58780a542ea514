"""`mbdyn`, also `python -m mbdyn_ros`: its verbs, and what errors and warnings look like."""

from __future__ import annotations

if __name__ == "__main__":  # as the command does: Ctrl-C is heard before the imports below
    from mbdyn_ros.executables import mbdyn

    mbdyn()

import warnings
from collections import Counter
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click
from click.core import augment_usage_errors

from .cli.interrupts import INTERRUPTED, raise_when_interrupted
from .cli.streams import standard_streams
from .errors import CompilerWarning, MbdynError, ModelWarning, SimulationWarning
from .names import in_text

VERBS = (
    ("bench", ".cli.bench:bench", "Time the calls, and Pinocchio's where it is installed."),
    ("calibrate", ".cli.calibrate:calibrate",
     "Lengths, offsets and angles of a robot from measured poses and joints."),
    ("codegen", ".cli.codegen:codegen",
     "Write the equations as C99 that needs no library, or as formulas."),
    ("completion", ".cli.completion:completion",
     "Print what lets a shell complete verbs, options and robots by the Tab key."),
    ("convert", ".cli.convert:convert",
     "Convert a trajectory to other joints: booms and jibs to their cylinders, and back."),
    ("doctor", ".cli.doctor:doctor",
     "Report what works on this machine, what is missing, and how to get it."),
    ("edit", ".cli.edit:edit",
     "Change a robot and write it as a file; without a change, convert it."),
    ("examples", ".cli.examples:examples",
     "List the robots in the box; every verb takes their names for a file."),
    ("excite", ".cli.excite:excite",
     "A motion within the robot's limits that excites its inertias, for `mbdyn identify`."),
    ("fd", ".cli.dynamics:fd", "Forward dynamics: the accelerations that efforts cause."),
    ("id", ".cli.dynamics:id_", "Inverse dynamics: the efforts that cause a motion."),
    ("identify", ".cli.identify:identify",
     "Inertias and drives of a machine from its recordings, and whether to trust them."),
    ("ik", ".cli.ik:ik", "Inverse kinematics: joints that bring a link to a pose."),
    ("inspect", ".cli.inspect:inspect", "Show what was understood of a robot."),
    ("mechanism", ".mechanisms.cli:mechanism",
     "Analyse a planar linkage; NAME is one of those that `mbdyn mechanism list` shows, or a "
     "drawing in YAML."),
    ("observe", ".cli.observe:observe",
     "External efforts, contacts and payload from a recording: what the machine feels."),
    ("ops", ".cli.ops:ops",
     "Count the operations of every program and formulation, next to published counts."),
    ("piezo", ".piezo.cli:piezo",
     "Move a piezo robot round a circle by an unbalanced rotor, and judge the motion."),
    ("simulate", ".cli.simulate:simulate", "Simulate the motion of a robot."),
    ("time", ".cli.timing:time",
     "The fastest motion along a path, with the exact dynamics of the robot."),
    ("view", ".cli.view:view", "Show a robot in the browser, loops included, until Ctrl-C."),
)  # fmt: skip
"""Every verb: its name, where its command is, and the first sentence of its help."""


class Verb(click.Command):
    """A verb that has not been asked for: its name and first sentence, and where the rest is."""

    def __init__(self, name: str, place: str, sentence: str) -> None:
        super().__init__(name, help=sentence)
        self.place = place

    def load(self) -> click.Command:
        """The command itself, imported."""
        module, _, name = self.place.partition(":")
        command: click.Command = getattr(import_module(module, __package__), name)
        return command


class Mbdyn(click.Group):
    """A group whose verbs are imported when they run.

    They end with one clear line on stderr: no traceback, exit status 1.
    """

    def main(self, *arguments: Any, **settings: Any) -> Any:
        """Run `mbdyn`, whatever its standard streams are."""
        with standard_streams():
            return super().main(*arguments, **settings)

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Keep what was typed, for the answer to what is wrong in it."""
        context.obj = tuple(arguments)
        return super().parse_args(context, arguments)

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that the arguments begin with, imported."""
        name, verb, rest = super().resolve_command(context, arguments)
        if isinstance(verb, Verb):
            verb = verb.load()
            if not context.resilient_parsing:
                _refuse_repeated(click.Context(verb, context, name), rest)
        raise_when_interrupted()
        return name, verb, rest

    def invoke(self, context: click.Context) -> Any:
        """Run a verb."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", ModelWarning)
            warnings.simplefilter("always", CompilerWarning)
            warnings.simplefilter("always", SimulationWarning)
            warnings.showwarning = _show_warning
            try:
                return super().invoke(context)
            except click.UsageError as error:
                from .cli.refused import answered  # late: a right command line needs none of it

                command = self._command(error.ctx or context, error)
                raise answered(error, command, context.obj) from error
            except MbdynError as error:
                from .cli.refused import corrected

                words = in_text(" ".join(str(error).split("\n")))
                raise click.ClickException(
                    corrected(self._command(context), words, context.obj)
                ) from error
            except (KeyboardInterrupt, click.Abort):
                click.echo("Aborted!", err=True)
                raise click.exceptions.Exit(INTERRUPTED) from None

    def _command(
        self, context: click.Context, error: click.UsageError | None = None
    ) -> click.Command:
        """The verb that runs, or the nearest to a wrong one; else `mbdyn` itself."""
        if context.command is not self:
            return context.command
        near = getattr(error, "possibilities", None) or [context.invoked_subcommand or ""]
        verb = self.commands.get(near[0], self)
        return verb.load() if isinstance(verb, Verb) else verb


def _refuse_repeated(context: click.Context, arguments: list[str]) -> None:
    """Refuse an option given twice: click keeps the last one without a word."""
    with augment_usage_errors(context):
        _, _, order = context.command.make_parser(context).parse_args(list(arguments))
    options = Counter(one for one in order if isinstance(one, click.Option))
    for option, count in options.items():
        plain_flag = option.is_flag and not option.secondary_opts
        if count > 1 and not (option.multiple or option.count or plain_flag):
            raise click.UsageError(
                f"{option.opts[-1]} is given {count} times; give it once", context
            )


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"Warning: {in_text(message)}", err=True)


def _version() -> str:
    try:
        return version("mbdyn_ros")
    except PackageNotFoundError:
        return "not installed"


@click.group(
    cls=Mbdyn,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(_version(), prog_name="mbdyn")
def main() -> None:
    """Exact multibody dynamics of a robot, straight from its description.

    ROBOT is a file (URDF, URDF+, xacro, SDF, MJCF, or a table of Denavit and Hartenberg parameters
    in YAML), the name of a robot in the box (`mbdyn examples` lists them), or - for standard
    input. Numbers are SI (m, rad, s, kg, N, N m). Every verb but completion takes --json: standard
    output is then one JSON document and nothing else.

    \b
    Examples:
      mbdyn inspect ur5
      mbdyn id ur5 --position elbow_joint=1.2,shoulder_lift_joint=-0.8
      mbdyn simulate ur5 --duration 5 --output run.csv --plot run.png
      mbdyn codegen ur5 -o ur5_c
      mbdyn edit ur5 --lock elbow_joint=0.3 -o reduced.urdf
      cat robot.urdf | mbdyn id -                # reads standard input

    \b
    Exit status:
      0  done
      1  the robot, a file or a number is wrong: one line on standard error says which
      2  the command line itself is wrong
      130  interrupted by Ctrl-C
    """


for _verb in VERBS:
    main.add_command(Verb(*_verb))
