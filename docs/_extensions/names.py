"""The API page: a block `{names} OWNER ...` lists public names of packages and parts of `Robot`.

A block `{in-full}` then shows each of these names in full, classes with their members.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

TOP = "mbdyn_ros"
NAMES = re.compile(r"^```\{names\} ([^\n]*)\n```$", re.MULTILINE)
IN_FULL = "```{in-full}\n```"
SECTION = re.compile(r"^## ([^\n]*)\n(.*?)(?=^## |^```\{in-full)", re.MULTILINE | re.DOTALL)
LISTED = re.compile(r"^   ~([\w.]+)$", re.MULTILINE)


def filled(text: str) -> str:
    """A page's Markdown with its blocks replaced by directives for each name."""
    text = NAMES.sub(lambda found: _summary(found[1].split()), text)
    return text.replace(IN_FULL, "\n".join(_sections(text))) if IN_FULL in text else text


def _summary(owners: list[str]) -> str:
    names = [f"   ~{name}" for owner in owners for name in _public(owner)]
    lines = ["```{eval-rst}", ".. autosummary::", "   :nosignatures:", "", *names, "```"]
    return "\n".join(lines)


def _public(owner: str) -> Iterator[str]:
    """Full names of what a package offers beyond the top, or of a part of `Robot`."""
    module, _, last = owner.rpartition(".")
    if last[0].isupper():
        part = getattr(import_module(module), last)
        yield from (f"{TOP}.Robot.{name}" for name in vars(part) if not name.startswith("_"))
        return
    package, top = import_module(owner), import_module(TOP)
    for name in getattr(package, "__all__", None) or _classes(package):
        held = getattr(package, name)
        elsewhere = owner != TOP and getattr(top, name, None) is held
        is_said = isinstance(held, type) and issubclass(held, Exception)
        if callable(held) and (owner.endswith(".errors") or not (elsewhere or is_said)):
            yield f"{owner}.{name}"


def _classes(module: ModuleType) -> list[str]:
    return [
        name for name, held in vars(module).items()
        if isinstance(held, type) and held.__module__ == module.__name__
    ]  # fmt: skip


def _sections(text: str) -> Iterator[str]:
    for title, body in SECTION.findall(text):
        yield f"## {title} in full\n\n```{{eval-rst}}"
        for name in LISTED.findall(body):
            module, _, last = name.rpartition(".")
            if module.rpartition(".")[2][0].islower():
                is_class = isinstance(getattr(import_module(module), last), type)
                yield f".. auto{'class' if is_class else 'function'}:: {name}"
                yield "   :members:\n" * is_class
        yield "```\n"
