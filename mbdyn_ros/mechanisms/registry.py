"""All kinds of mechanisms by their names, and settings given as text."""

from __future__ import annotations

from ..errors import InputError, suggestion
from .five_bar import FiveBar
from .four_bar import FourBar, Parallelogram
from .mechanism import Mechanism
from .six_bar import Stephenson, Watt
from .slider_crank import QuickReturn, ScotchYoke, SliderCrank

MECHANISMS: dict[str, type[Mechanism]] = {
    one.name: one
    for one in (
        FourBar,
        Parallelogram,
        SliderCrank,
        QuickReturn,
        ScotchYoke,
        FiveBar,
        Watt,
        Stephenson,
    )
}
"""Every kind of mechanism by its name."""


def kind_of(name: str) -> type[Mechanism]:
    """The kind of that name, or `InputError`."""
    if name not in MECHANISMS:
        raise InputError(
            f"there is no mechanism {name!r}{suggestion(name, MECHANISMS)}; there are "
            f"{', '.join(MECHANISMS)}"
        )
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
        No such mechanism or setting, or no number.
    """
    kind, values = kind_of(name), {}
    for part in filter(None, (one.strip() for one in settings.split(","))):
        setting, equals, text = (one.strip() for one in part.partition("="))
        try:
            values[setting] = float(text)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError(f"{name}: {part!r} is no setting; give setting=number,...")
    return kind().replaced(**values)
