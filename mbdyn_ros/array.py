"""Arrays of numbers."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Float64 numbers; docstrings say the shape."""

FLOAT64 = np.dtype(np.float64)


def as_numbers(value: object) -> Array:
    """Numbers that somebody gives, as float64; the array itself where it is that.

    Raises
    ------
    TypeError, ValueError, OverflowError
        It is text, complex, None or masked in part, or ragged: NumPy would make numbers of it.
    """
    if isinstance(value, np.ma.MaskedArray):
        places = np.argwhere(np.ma.getmaskarray(value))
        if len(places):
            raise TypeError(f"the element {places[0].tolist()} is masked")
    array = np.asarray(value)
    if array.dtype.kind not in "biufO":
        raise TypeError(f"not {array.dtype}")
    if array.dtype.kind == "O" and any(one is None for one in array.flat):
        raise TypeError("not None")
    return array.astype(FLOAT64, copy=False)
