"""The answer to a wrong command line: the nearest right word, and an example that runs."""

from __future__ import annotations

import re

import click

from ..errors import suggestion
from ..model.read.number import in_si

OPTION = re.compile(r"--[a-z][\w-]*")
"""The name of an option."""

ROBOT = re.compile(
    r"there is no (robot|mechanism) |home names |.*: there is no (joint|link)\b"
    r"|.*: no such file(; there is a robot| \(nor XML)"
)
"""The beginning of what refuses a robot, a mechanism, a joint or a link, but no option."""

def examples(command: click.Command) -> list[str]:
    """The lines of a shell in the examples of a verb's help."""
    text = (command.help or "").partition("Examples:")[2].partition("\n\n")[0]
    return [line.strip() for line in text.splitlines() if line.strip()]


def example(command: click.Command, words: str) -> str:
    """A line that runs by itself, if possible with the option that `words` name; else nothing.

    Where the verb reads a file, the example that writes it comes first.
    """
    lines = [line for line in examples(command) if line.startswith("mbdyn ")]
    named = [f"{one} " for one in OPTION.findall(words)]

    def rank(line: str) -> tuple[bool, bool]:
        """Whether it lacks the option, and whether it reads a file."""
        read = re.sub(r"(--output|--plot|--gif|-o) \S+", "", line)
        return not any(one in f"{line} " for one in named), bool(re.search(r"\.\w{3,4}\b", read))

    own = [line for line in lines if line.startswith(f"mbdyn {command.name} ")] or lines
    best = min(own, key=rank, default="")
    first = lines[: rank(best)[1] and own[0] != lines[0]]
    return " && ".join(re.split(r"    #| \| jq | && ", line)[0].strip() for line in [*first, best])


def for_example(command: click.Command, words: str) -> str:
    """An example of the option, robot or mechanism that `words` refuse; else nothing."""
    option = OPTION.match(words)
    shown = example(command, words) if option or ROBOT.match(words) else ""
    return f". For example: {shown}" if shown and (not option or option[0] in shown) else ""


def nearest(option: str, command: click.Command) -> str:
    """' (did you mean "--x"?)', by the letters after the dashes; or nothing."""
    known = [one for param in command.params for one in param.opts if one.startswith("--")]
    near = suggestion(option.lstrip("-"), [one[2:] for one in known])
    return near.replace('"', '"--', 1)


def answered(error: click.UsageError, command: click.Command) -> click.UsageError:
    """The error with the nearest option or number, and with an example that runs."""
    words = error.format_message()
    if isinstance(error, click.NoSuchOption):
        words = f"No such option {error.option_name!r}{nearest(error.option_name, command)}."
    given = re.search(r"'([^']*)' is not a valid (float|integer)", words)
    if given:
        words = words.rstrip(".") + in_si(given[1]) + "."
    shown = example(command, words)
    return click.UsageError(f"{words}\nFor example: {shown}" if shown else words, error.ctx)
