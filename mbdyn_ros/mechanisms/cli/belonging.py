"""The options of `mbdyn mechanism` that mean something only with others."""

from __future__ import annotations

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
    **dict.fromkeys(("curve", "gif"), ("--id", *FILES)),
    **dict.fromkeys(("torque", "restitution", "method", "rtol", "atol", "max_step"), FREE),
    **dict.fromkeys(("cut", "instant"), TEXTS),
    **dict.fromkeys(("quantity", "dask"), ("--sweep",)),
    **dict.fromkeys(("goals", "seed"), ("--pareto",)),
    **dict.fromkeys(("radius", "moment"), ("--balance",)),
    "part": ("--fit",),
    **dict.fromkeys(("port", "host", "browse"), ("--page",)),
}
"""By the name of an option, the options with which it means something."""

LAWS = ("constant", "trapezoid", "cycloid")
"""Laws of --motion; what else it names is a file."""

USED_BY_LAWS = {
    name: tuple(f"--motion {law}" for law in laws)
    for name, laws in {
        "speed": ("constant", "trapezoid"), "acceleration": ("trapezoid",),
        "duration": ("cycloid",), "start": LAWS, "turn": LAWS,
    }.items()
}  # fmt: skip
"""By the name of an option of prescribed motions, the laws that use it."""
