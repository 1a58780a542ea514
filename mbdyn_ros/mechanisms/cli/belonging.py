"""The options of `mbdyn mechanism` that mean something only with others."""

from __future__ import annotations

from collections.abc import Mapping

import click

FILES = ("--plot", "--gif", "--output", "--curve")
"""Options that show a prescribed motion without a task, too."""

PRESCRIBED = (
    "--id", "--equations", "--worksheet", "--compare", "--sweep", "--pareto", "--balance", *FILES
)  # fmt: skip
"""Options that ask for a prescribed motion."""

FREE = ("--fd",)
TEXTS = ("--equations", "--worksheet")

USED_BY = {
    "motion": (*PRESCRIBED, "--page", "--motion"),
    "speed": (*PRESCRIBED, "--page", "--fd", "--motion"),
    "acceleration": (*PRESCRIBED, "--motion"),
    "start": (*PRESCRIBED, "--fd", "--motion"),
    "turn": (*PRESCRIBED, "--motion"),
    "duration": (*PRESCRIBED, "--fd", "--motion"),
    "friction": ("--id", *FILES),
    "curve": ("--id", *FILES),
    **dict.fromkeys(("torque", "restitution", "method", "rtol", "atol", "max_step"), FREE),
    **dict.fromkeys(("cut", "instant"), TEXTS),
    **dict.fromkeys(("quantity", "dask"), ("--sweep",)),
    **dict.fromkeys(("goals", "seed"), ("--pareto",)),
    **dict.fromkeys(("radius", "moment"), ("--balance",)),
    "part": ("--fit",),
    **dict.fromkeys(("port", "host", "browse"), ("--page",)),
}
"""By the name of an option, the options with which it means something."""

LAWS = {
    "speed": ("constant", "trapezoid"),
    "acceleration": ("trapezoid",),
    "duration": ("cycloid",),
    "start": ("constant", "trapezoid", "cycloid"),
    "turn": ("constant", "trapezoid", "cycloid"),
}
"""By the name of an option of prescribed motions, the laws of --motion that use it."""


def require_law(motion: str, options: Mapping[str, str]) -> None:
    """Refuse an option of a prescribed motion that this law, or file, does not use.

    Raises
    ------
    UsageError
        The words name the option and the laws.
    """
    for name, laws in LAWS.items():
        if name in options and motion not in laws:
            raise click.UsageError(
                f"{options[name]} goes with --motion {' or '.join(laws)}, not with {motion}"
            )
