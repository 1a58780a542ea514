"""The answer to a wrong command line: the nearest right word, and an example that runs."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import click

from ..errors import suggestion
from ..number import in_si

OPTION = re.compile(r"--?[a-z][\w-]*")
"""The name of an option."""

QUOTED = re.compile(r"""(["'])((?:(?!\1).)+)\1""")
"""A word that a message quotes."""

LISTED = re.compile(
    r"(?:\bthere are|\bis not one of|\bthe (?:links|joints|origins) are|\bchoose of) (.+)"
)
"""The words of which one is right."""

MISSING = re.compile("[Nn]o such file")
"""Why a file cannot be read."""

UNFIT = re.compile(f"{MISSING.pattern}|the name must end in")
"""Why a file is refused before anything in it is read."""

WRITTEN = re.compile(r"(?:--output|--plot|--gif|--report|--screenshot|--urdf|-o|>) (\S+)")
"""A file that a line of a shell writes."""


def examples(command: click.Command) -> list[str]:
    """The lines of a shell in the examples of a verb's help."""
    text = (command.help or "").partition("Examples:")[2].partition("\n\n")[0]
    return [line.strip() for line in text.splitlines() if line.strip()]


def first_command(line: str) -> str:
    """The first command of a line of a shell, without its comment."""
    return re.split(r"    #| \| jq | && ", line)[0].strip()


def files_of(line: str) -> tuple[set[str], set[str]]:
    """The files that a line of a shell reads, and those that it writes."""
    words = first_command(line)
    wrote = WRITTEN.findall(words)
    read = re.findall(r"(?<=[ =])[\w-]+\.(?:csv|yaml|urdf)\b", WRITTEN.sub("", words))
    return (set() if words.startswith(("echo", "printf")) else set(read)), set(wrote)


def prepared(line: str, lines: Sequence[str]) -> list[str] | None:
    """The lines that write the files that a line reads, then itself; None where none writes one."""
    before: list[str] = []
    for file in sorted(files_of(line)[0]):
        writers = [one for one in lines if file in files_of(one)[1] and one != line]
        made = prepared(writers[0], lines) if writers else None
        if made is None:
            return None
        before += [one for one in made if one not in before]
    return [*before, line]


def example(command: click.Command, options: Sequence[str]) -> str:
    """A line that runs by itself, with as many of the options as possible, the first above all.

    Where the verb reads a file, the examples that write it come first.
    """
    lines = [one for one in examples(command) if one.startswith(("mbdyn ", "echo ", "printf "))]
    own = [line for line in lines if line.startswith(f"mbdyn {command.name} ")]
    ready = [made for line in own or lines if (made := prepared(line, lines))]

    def rank(made: list[str]) -> tuple[bool, int, int]:
        """Whether the first option is lacking, how many lines it takes, how many options lack."""
        lacks = [f" {one} " not in f"{made[-1]} " for one in options]
        return any(lacks[:1]), len(made), sum(lacks)

    best = min(ready, key=rank, default=[])
    return " && ".join(map(first_command, best))


def refused_word(words: str, typed: Sequence[str]) -> tuple[str, int] | None:
    """The word of a command line that `words` refuse, and its place there; None for another cause.

    A file counts where it is missing or its name unfit, not for what is written in it.

    >>> refused_word("arm: there is no link 'tol'", ["id", "arm", "--wrench", "tol=1,2"])
    ('tol', 3)
    """
    quoted = QUOTED.search(words)
    if quoted:
        whole = re.compile(rf"(?<![\w-]){re.escape(quoted[2])}(?![\w-])")
        for place, one in enumerate(typed):
            if quoted[2] == one or whole.search(one):
                return quoted[2], place
    for place, one in enumerate(typed):
        path = one.partition("=")[2] if one.startswith("--") and "=" in one else one
        if path and words.startswith(f"{path}: ") and UNFIT.search(words):
            return path, place
    option = OPTION.match(words)
    return (option[0], len(typed)) if option else None


def given_options(typed: Sequence[str], place: int) -> list[str]:
    """The options of a command line, with that which the word at a place belongs to first."""
    names = [(k, found[0]) for k, one in enumerate(typed) if (found := OPTION.match(one))]
    names.sort(key=lambda one: (one[0] > place, abs(place - one[0])))
    return [name for _, name in names]


def with_nearest(words: str, word: str) -> str:
    """The message with the nearest of the words that it lists, or of the files of the folder."""
    if re.search("[Dd]id you mean|there is a robot", words):
        return words
    if MISSING.search(words):
        path = Path(word)
        files = os.listdir(path.parent) if path.parent.is_dir() else []
        return words + suggestion(path.name, files)
    listed = LISTED.search(words)
    known = [one.strip("'\" ") for one in listed[1].rstrip(".").split(",")] if listed else []
    quoted = [one[0] for one in QUOTED.finditer(words) if one[2] == word]
    return words.replace(quoted[0], quoted[0] + suggestion(word, known), 1) if quoted else words


def corrected(command: click.Command, words: str, typed: Sequence[str]) -> str:
    """The refusal of a word of the command line, with the nearest right one and an example.

    The refusal of anything else stays as it is.
    """
    found = refused_word(words, typed)
    if found is None:
        quoted = QUOTED.search(words)
        own = [one for one in command.params if quoted and one.default == quoted[2]]
        if not own:
            return words
        words = f"{words}; it is what {own[0].opts[-1]} is by default: give another"
        found = own[0].opts[-1], len(typed)
    word, place = found
    first = [word] if OPTION.fullmatch(word) else []
    shown = example(command, [*first, *given_options(typed, place)])
    return with_nearest(words, word) + (f". For example: {shown}" if shown else "")


def nearest(option: str, command: click.Command) -> str:
    """' (did you mean "--x"?)', by the letters after the dashes; or nothing."""
    known = [one for param in command.params for one in param.opts if one.startswith("--")]
    near = suggestion(option.lstrip("-"), [one[2:] for one in known])
    return near.replace('"', '"--', 1)


def answered(
    error: click.UsageError, command: click.Command, typed: Sequence[str]
) -> click.UsageError:
    """The error with the nearest option, word or number, and with an example that runs."""
    words = error.format_message()
    if isinstance(error, click.NoSuchOption):
        near = nearest(error.option_name, command)
        words = f"No such option {error.option_name!r}{near}."
        named = re.findall('"(.*?)"', near)
    else:
        named = OPTION.findall(" ".join(re.findall(r"(?<!\S)'?(--?[a-z][\w-]*)", words)))
    given = re.search(r"'([^']*)' is not a valid (float|integer)", words)
    if given:
        words = words.rstrip(".") + in_si(given[1]) + "."
    wrong = re.search(r"'([^']*)' is not one of ", words)
    if wrong:
        words = with_nearest(words, wrong[1])
    shown = example(command, [*named, *given_options(typed, len(typed))])
    return click.UsageError(f"{words}\nFor example: {shown}" if shown else words, error.ctx)
