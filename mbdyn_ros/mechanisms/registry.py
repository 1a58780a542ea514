"""All kinds of mechanisms by their names, and settings given as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import InputError, unknown
from ..number import name_values
from .drawing import LIBRARY, read_drawing
from .drawn import mechanism_kind
from .linkages import (
    FiveBar,
    FourBar,
    Parallelogram,
    QuickReturn,
    ScotchYoke,
    SliderCrank,
    Stephenson,
    Watt,
)
from .mechanism import Mechanism


class _Kinds(Mapping[str, type[Mechanism]]):
    """Kinds by name; drawings become kinds when first asked for."""

    def __init__(self, *classes: type[Mechanism]) -> None:
        self._classes = {one.name: one for one in classes}
        self._files = {path.stem: path for path in sorted(LIBRARY.glob("*.yaml"))}

    def __getitem__(self, name: str) -> type[Mechanism]:
        if name in self._classes:
            return self._classes[name]
        return mechanism_kind(read_drawing(self._files[name]))

    def __iter__(self) -> Iterator[str]:
        return iter((*self._classes, *self._files))

    def __len__(self) -> int:
        return len(self._classes) + len(self._files)


MECHANISMS: Mapping[str, type[Mechanism]] = _Kinds(
    FourBar, Parallelogram, SliderCrank, QuickReturn, ScotchYoke, FiveBar, Watt, Stephenson
)
"""Every kind of mechanism by its name: classes, then the drawings of the library."""

ALIASES = {"watt_2": "watt", "stephenson_3": "stephenson"}
"""Further names."""

DRAWING_ENDS = (".yaml", ".yml")
"""Ends of the names of files that hold drawings."""


def kind_of(name: str) -> type[Mechanism]:
    """The kind of that name, or of the drawing in a YAML file, or `InputError`."""
    if name.endswith(DRAWING_ENDS):
        return mechanism_kind(read_drawing(name))
    name = ALIASES.get(name, name)
    if name not in MECHANISMS:
        raise InputError(unknown("mechanism", name, MECHANISMS))
    return MECHANISMS[name]


def configured(name: str, settings: str = "") -> Mechanism:
    """A mechanism by its name, with settings as text.

    Examples
    --------
    >>> configured("four_bar", "coupler_mass=2, crank_length=0.08").settings["coupler_mass"]
    2.0

    Raises
    ------
    InputError
        No such mechanism or setting, no number, or a setting twice.
    """
    return kind_of(name)().replaced(**name_values(settings, name))
