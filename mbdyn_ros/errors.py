"""The errors and warnings of the library: each says what is wrong, where, and what to do."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from types import TracebackType

LONGEST_MESSAGE = 2_000
"""Characters of a message: it may quote a name or a number that is a book."""

MOST_LISTED = 20
"""Parts that a message lists before it counts the others."""

LONGEST_VALUE = 200
"""Characters of a value that a message shows."""


class MbdynError(Exception):
    """Base class of all errors that this library raises."""

    def __str__(self) -> str:
        """The message; one that is too long to be read without its middle."""
        return shortened(super().__str__())


class ModelError(MbdynError, ValueError):
    """A robot description that cannot be read or that no robot can have."""


class InputError(MbdynError, ValueError):
    """An argument of a call that does not fit the robot: wrong length, unknown name, NaN."""


class MissingPackageError(MbdynError, ImportError):
    """A request that needs a package which is not installed."""


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what keeps a file from being written into an `InputError` that names it."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


class SingularMassMatrixError(MbdynError, RuntimeError):
    """Forward dynamics of a robot with a direction of motion that moves no mass."""


class DeadPointError(MbdynError, RuntimeError):
    """Inverse dynamics at a position where an actuator of a loop rests while the loop moves."""


class SimulationError(MbdynError, RuntimeError):
    """A simulation that cannot continue; its message gives the time and the state."""


def no_stepping(what: str) -> SimulationError:
    """The error of what takes compiled steps where no compiler is."""
    return SimulationError(
        f"{what} in compiled steps, and no C compiler was found ($CC, cc, gcc or clang), or no "
        "C++ compiler ($CXX, c++, g++ or clang++), or MBDYN_INTERPRET is set: install both (Debian "
        "and Ubuntu: g++), or use simulate"
    )


class ContactError(SimulationError):
    """Contacts whose motion does not go on event by event; in equal steps it does."""


class ModelWarning(UserWarning):
    """A robot description that is used as written although something in it looks wrong."""


class SimulationWarning(UserWarning):
    """A simulation that continued, but not quite as requested; the message gives the time."""


class CompilerWarning(UserWarning):
    """No usable C compiler was found; programs run in the slower CasADi interpreter."""


def warn(text: str, category: type[Warning]) -> None:
    """Warn whoever called the library: the line that is shown is the nearest one outside of it."""
    ours = __name__.partition(".")[0], contextlib.__name__  # which calls what `brief` surrounds
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ours:
        frame, level = frame.f_back, level + 1
    warnings.warn(shortened(text), category, stacklevel=level)


class Brief(contextlib.ContextDecorator):
    """A context whose refusals are shown where they were called for.

    Shortens the traceback of an `MbdynError` so that it ends at the caller of the decorated
    function: how it was found out is of no use to whoever gave the argument. Other exceptions,
    which are faults of ours, keep all of theirs.
    """

    def __enter__(self) -> None:
        """Nothing."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Cut the traceback of a refusal."""
        if isinstance(error, MbdynError) and trace is not None:
            trace.tb_next = None  # Python 3.10 shows this frame; later ones begin with the caller's
            error.__traceback__ = None


brief = Brief()


def shortened(text: str) -> str:
    """A message, shortened in the middle if it is too long to be read."""
    if len(text) <= LONGEST_MESSAGE:
        return text
    half = LONGEST_MESSAGE // 2
    return f"{text[:half]} ... ({len(text)} characters) ... {text[-half:]}"


def listed(parts: Iterable[str]) -> str:
    """The parts, with commas; of many, the first of them and how many more there are."""
    every = list(parts)
    more = f" and {len(every) - MOST_LISTED} more" if len(every) > MOST_LISTED else ""
    return ", ".join(every[:MOST_LISTED]) + more


def shown(value: object) -> str:
    """A given value for a message: short, and safe against a failing `repr`."""
    try:
        text = repr(value)
    except Exception:  # of somebody's own
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """Words about a name that is not among those known.

    Examples
    --------
    >>> print(unknown("joint", "elbo", ["elbow", "wrist"]))
    there is no joint 'elbo' (did you mean "elbow"?); there are elbow, wrist
    """
    names = list(known)
    near = suggestion(name, names)
    return f"there is no {what} {shown(name)}{near}; there are {', '.join(names)}"


def suggestion(name: object, known: Iterable[str]) -> str:
    """' (did you mean "x"?)', or nothing."""
    from difflib import get_close_matches  # late: programs start sooner without it

    text = name.lower() if isinstance(name, str) else ""
    names = {one.lower(): one for one in known}
    # A name that the text only adds a word to ("ground_length": ground) is nearer than others, and
    # so is the only one that begins with the text ("elbow": elbow_joint).
    begins = [one for one in names if text.startswith(f"{one}_")]
    longer = [one for one in names if text and one.startswith(f"{text}_")]
    near = begins[-1:] or longer * (len(longer) == 1) or get_close_matches(text, names, n=1)
    if not near:  # "elbw": elbow_joint
        heads = {one.rpartition("_")[0]: one for one in reversed(names)}
        near = [heads[one] for one in get_close_matches(text, heads, n=1)]
    return f' (did you mean "{names[near[0]]}"?)' if near else ""
