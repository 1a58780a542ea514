"""`mbdyn`, also `python -m mbdyn_ros`: its verbs, and what errors and warnings look like."""

from __future__ import annotations

import warnings
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from .cli.bench import bench
from .cli.codegen import codegen
from .cli.forward import fd
from .cli.inspect import inspect
from .cli.inverse import id_
from .cli.ops import ops
from .cli.simulate import simulate
from .cli.view import view
from .errors import CompilerWarning, MbdynError, ModelWarning, SimulationWarning
from .mechanisms.cli import mechanism
from .piezo.cli import piezo


class Mbdyn(click.Group):
    """A group whose verbs end with one clear line on stderr: no traceback, exit status 1."""

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
            except MbdynError as error:
                raise click.ClickException(" ".join(str(error).split("\n"))) from error


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"Warning: {message}", err=True)


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

    The robot is a URDF, or a table of Denavit and Hartenberg in a file that ends in .yaml.
    Joints are named as there; numbers are SI (m, rad, s, kg, N, N m). A robot named - is
    read from standard input, so xacro can feed it. Every verb takes --json: then standard output
    is one JSON document and nothing else.

    \b
    Examples:
      mbdyn inspect ur5.urdf
      mbdyn id ur5.urdf --position elbow_joint=1.2,shoulder_lift_joint=-0.8
      mbdyn simulate ur5.urdf --duration 5 --output run.csv --plot run.png
      mbdyn codegen ur5.urdf -o ur5_c
      xacro ur.urdf.xacro name:=ur ur_type:=ur5e | mbdyn id -

    \b
    Exit status:
      0  done
      1  the robot, a file or a number is wrong: one line on standard error says which
      2  the command line itself is wrong
    """


for _verb in (inspect, id_, fd, piezo, simulate, view, bench, codegen, mechanism, ops):
    main.add_command(_verb)

if __name__ == "__main__":
    main(prog_name="mbdyn")
