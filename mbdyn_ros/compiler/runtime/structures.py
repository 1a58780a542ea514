"""The structures that Python shares with C, read from the text of the header that declares them."""

from __future__ import annotations

import ctypes
import functools
import re
from typing import Any

from ..gcc import RUNTIME

TYPES: dict[str, Any] = {
    "size_t": ctypes.c_size_t,
    "double": ctypes.c_double,
    "int": ctypes.c_int,
    "int64_t": ctypes.c_int64,
}
"""ctypes of what a field may be, besides pointers and arrays of these."""


@functools.cache
def structure(header: str, name: str) -> type[ctypes.Structure]:
    """`struct name` of a header of the runtime, with the fields, order and types that C has."""
    text = re.sub(r"/\*.*?\*/", "", (RUNTIME / header).read_text(encoding="ascii"), flags=re.S)
    (body,) = re.findall(rf"^struct {name} \{{(.*?)^\}};", text, flags=re.S | re.M)
    fields = [field for line in body.split(";") if line.strip() for field in _fields(line)]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


def _fields(line: str) -> list[tuple[str, Any]]:
    """The fields of one declaration, such as `const double *q, *v` or `double radius, pose[12]`."""
    if function := re.search(r"\(\*(\w+)\)", line):
        return [(function[1], ctypes.c_void_p)]
    kind, names = re.fullmatch(r"\s*(?:const\s+)?(?:struct\s+)?(\w+)(.*)", line, re.S).groups()  # type: ignore[union-attr]
    fields: list[tuple[str, Any]] = []
    for name in names.split(","):
        field, count = re.search(r"(\w+)(?:\[(\d+)\])?\s*$", name).groups()  # type: ignore[union-attr]
        if "*" in name:
            fields.append((field, ctypes.c_char_p if kind == "char" else ctypes.c_void_p))
        else:
            fields.append((field, TYPES[kind] * int(count) if count else TYPES[kind]))
    return fields
