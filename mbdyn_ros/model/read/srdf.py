"""The pairs of links that an SRDF takes out of collision checks."""

from __future__ import annotations

import os

from .xml_source import XmlSource


def read_disabled_pairs(source: str | os.PathLike[str]) -> tuple[tuple[str, str], ...]:
    """The links of every `<disable_collisions link1="..." link2="..."/>`.

    Raises
    ------
    ModelError
        No SRDF, or an element without both links; file and line are named.

    Examples
    --------
    >>> read_disabled_pairs('''<robot name="r"><disable_collisions link1="hand" link2="arm"
    ...   reason="Never"/></robot>''')
    (('hand', 'arm'),)
    """
    document = XmlSource(source)
    if document.root.tag != "robot":
        raise document.error(document.root, "this is no SRDF: its outermost element is <robot>")
    pairs = []
    for element in document.root.iterchildren("disable_collisions"):
        names = [element.get(key) for key in ("link1", "link2")]
        if not all(names):
            raise document.error(element, "has no link1 or no link2; give both")
        pairs.append((str(names[0]), str(names[1])))
    return tuple(pairs)
