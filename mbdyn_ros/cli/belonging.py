"""Options that mean something only with others: refused where none of these is given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import click
from click.core import ParameterSource


def given(context: click.Context) -> dict[str, str]:
    """The options of a command line by their names, as they are written."""
    named = {one.name: one.opts[-1] for one in context.command.params if one.name}
    typed = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    return {
        name: option
        for name, option in named.items()
        if option.startswith("-") and context.get_parameter_source(name) in typed
    }


def require_belonging(
    used_by: Mapping[str, Sequence[str]], options: Mapping[str, str], tasks: Collection[str] = ()
) -> None:
    """Refuse an option that nothing uses.

    Parameters
    ----------
    used_by : by the name of an option, the options with which it means something.
    options : as `given` has them.
    tasks : those of them that are tasks, such as "--id"; where there are any, they alone count.

    Raises
    ------
    UsageError
        The words name the option and those with which it goes.
    """
    doing = set(tasks or options.values())
    for name, option in options.items():
        users = used_by.get(name)
        if users and not doing.intersection(users):
            what = f", not with {' and '.join(tasks)}" if tasks else ""
            raise click.UsageError(f"{option} goes with {', '.join(users)}{what}")
