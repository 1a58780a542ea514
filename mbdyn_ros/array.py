"""Arrays of numbers."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Float64 numbers; docstrings say the shape."""

FLOAT64 = np.dtype(np.float64)


def memory(array: Array) -> Any:
    """The memory of a contiguous array, as one row of numbers."""
    return memoryview(array.reshape(-1))  # type: ignore[arg-type]


class NoNumbers(ValueError):
    """A refusal of what is text, complex, None, masked in part, ragged, or cannot be converted."""


def as_numbers(value: object) -> Array:
    """Given numbers as float64; the array itself if it has that type.

    Raises
    ------
    NoNumbers
        It is none: of much of that NumPy would make numbers.
    """
    if type(value) is np.ndarray and value.dtype is FLOAT64:
        return value
    if isinstance(value, Mapping):
        raise NoNumbers(f"not a {type(value).__name__}: give them in order, without names")
    if (place := _masked(value)) is not None:
        raise NoNumbers(f"the element {list(place)} is masked")
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufO":
            raise NoNumbers(f"not {'text' if array.dtype.kind in 'SU' else array.dtype}")
        if array.dtype.kind == "O" and any(one is None for one in array.flat):
            raise NoNumbers("not None")
        return array.astype(FLOAT64, copy=False)
    except (NoNumbers, MemoryError):
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise NoNumbers(str(error)) from error
    except Exception as error:  # of an __array__ or a __float__ of somebody's own
        raise NoNumbers(f"{type(value).__name__} raised {error!r}") from error


def as_number(value: object) -> float:
    """One given number.

    Raises
    ------
    NoNumbers
        It is none, or there are several.
    """
    array = as_numbers(value)
    if array.size != 1:
        raise NoNumbers(f"not {array.size} of them")
    return float(array.item())


def all_finite(numbers: Array) -> bool:
    """Whether all of a few numbers (n,) are finite; for many, NumPy's own way is faster.

    If their sum is finite, they are. It may overflow where they do not.
    """
    return math.isfinite(sum(numbers.tolist())) or bool(np.isfinite(numbers).all())


def places(numbers: Sequence[int]) -> slice | NDArray[np.intp]:
    """Places in an array; a slice, which takes less time, where they begin at 0 and have no gap."""
    rows = np.array(numbers, dtype=np.intp)
    return slice(0, len(rows)) if (rows == np.arange(len(rows))).all() else rows


def shared_places(
    labels: Sequence[str], others: Sequence[str]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places in two lists of the labels that both have."""
    shared = [label for label in labels if label in others]
    return (
        np.array([labels.index(label) for label in shared], dtype=np.intp),
        np.array([others.index(label) for label in shared], dtype=np.intp),
    )


def _masked(value: object) -> tuple[int, ...] | None:
    """Where the first masked element is, in arrays and in lists of them; None without one."""
    if isinstance(value, np.ma.MaskedArray):
        places = np.argwhere(np.ma.getmaskarray(value))
        return tuple(places[0].tolist()) if len(places) else None
    if isinstance(value, (list, tuple)):
        for k, one in enumerate(value):
            if isinstance(one, (np.ma.MaskedArray, list, tuple)):
                place = _masked(one)
                if place is not None:
                    return (k, *place)
    return None
