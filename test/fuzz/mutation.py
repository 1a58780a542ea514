"""Descriptions and numbers that are almost right."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import yaml
from lxml import etree

NUMBERS = (
    "nan", "inf", "-inf", "1e400", "1e308", "-1e308", "1e-320", "1e99", "-1e99", "0", "-0", "-1",
    "1.5707963", "3.1416", "90", "1e-9", "", " ", "1_0", "0x1p3", "${x}", "true", "\u0661",
)  # fmt: skip
"""Words where a number is expected."""

NAMES = ("", " ", "base", "world", "../x", "a\nb", "é", "\u202e", "x" * 400, "m", "all", "*/",
         "`id`", "<b>", "%s", "{0}", "\\", "floating_base")  # fmt: skip
"""Words where a name is expected."""


def torn(text: str, dice: random.Random) -> str:
    """The text with pieces cut out, doubled or moved."""
    for _ in range(dice.randint(1, 3)):
        start = dice.randrange(len(text) + 1)
        piece = text[start : start + dice.randrange(40)]
        to = dice.randrange(len(text) + 1)
        text = dice.choice((text.replace(piece, "", 1), text[:to] + piece + text[to:]))
    return text


def mutated_xml(text: str, dice: random.Random) -> str:
    """The XML with some elements or attributes exchanged, doubled, dropped, moved or renamed."""
    root = etree.fromstring(text.encode())
    for _ in range(dice.choice((1, 1, 1, 2, 3, 5))):
        elements = [one for one in root.iter() if isinstance(one.tag, str)]
        one, other = dice.choice(elements), dice.choice(elements)
        _ELEMENT_CHANGES[dice.randrange(len(_ELEMENT_CHANGES))](one, other, dice)
    return etree.tostring(root, encoding="unicode")


def _change_value(one: Any, other: Any, dice: random.Random) -> None:
    if one.attrib:
        name = dice.choice(list(one.attrib))
        one.attrib[name] = _printable(mutated_word(one.attrib[name], dice))


def _exchange_values(one: Any, other: Any, dice: random.Random) -> None:
    shared = sorted(set(one.attrib) & set(other.attrib))
    if shared:
        name = dice.choice(shared)
        one.attrib[name], other.attrib[name] = other.attrib[name], one.attrib[name]


def _drop_value(one: Any, other: Any, dice: random.Random) -> None:
    if one.attrib:
        del one.attrib[dice.choice(list(one.attrib))]


def _drop_element(one: Any, other: Any, dice: random.Random) -> None:
    if one.getparent() is not None:
        one.getparent().remove(one)


def _copy_element(one: Any, other: Any, dice: random.Random) -> None:
    if one.getparent() is not None and len(one) < 20:
        other.append(etree.fromstring(etree.tostring(one)))


def _rename_element(one: Any, other: Any, dice: random.Random) -> None:
    one.tag = other.tag


_ELEMENT_CHANGES = (
    _change_value, _change_value, _change_value, _exchange_values, _exchange_values, _drop_value,
    _drop_element, _copy_element, _rename_element,
)  # fmt: skip


def mutated_yaml(text: str, dice: random.Random) -> str:
    """The YAML with some values exchanged, dropped or replaced."""
    document = yaml.safe_load(text)
    for _ in range(dice.choice((1, 1, 2, 4))):
        places = list(_places(document))
        if not places:
            break
        holder, key = dice.choice(places)
        kind = dice.randrange(5)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            other, there = dice.choice(places)
            holder[key] = other[there]
        elif kind == 2:
            holder[key] = dice.choice((None, [], {}, True, "", [1, 2], {"a": 1}))
        else:
            holder[key] = mutated_word(str(holder[key]), dice)
            if dice.random() < 0.5:
                holder[key] = _as_number(holder[key])
    return yaml.safe_dump(document, allow_unicode=True)


def _places(node: Any, depth: int = 0) -> Any:
    keys = list(node) if isinstance(node, dict) else range(len(node))
    for key in keys:
        yield node, key
        if isinstance(node[key], (dict, list)) and depth < 6:
            yield from _places(node[key], depth + 1)


def _as_number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def mutated_word(word: str, dice: random.Random) -> str:
    """A number or name that is near, or far from, this one."""
    kind = dice.randrange(6)
    numbers = word.split()
    try:
        values = [float(one) for one in numbers]
    except ValueError:
        values = []
    if kind < 3 and values:
        k = dice.randrange(len(values))
        scale = dice.choice((-1.0, 0.0, 1e-9, 1e9, 1 + 1e-7, 1 + 1e-3, 1e3, dice.gauss(0, 3)))
        values[k] *= scale
        return " ".join(map(repr, values))
    if kind == 3 and values:
        numbers[dice.randrange(len(numbers))] = dice.choice(NUMBERS)
        return " ".join(numbers)
    return dice.choice(NUMBERS + NAMES if kind == 4 else NAMES + (word[:-1], word + "_"))


def _printable(text: str) -> str:
    """The text without what XML cannot hold."""
    return "".join(c for c in text if c in "\t\n" or " " <= c)


def wrong_array(size: int, dice: random.Random) -> Any:
    """Something where `size` finite numbers are expected; often right."""
    numbers = [dice.gauss(0, 1) for _ in range(size)]
    if dice.random() < 0.3:
        return np.array(numbers)
    if numbers and dice.random() < 0.5:
        numbers[dice.randrange(size)] = dice.choice(
            (float("nan"), float("inf"), 1e308, -1e160, 1e9, 1e-300)
        )
        return numbers
    return dice.choice((
        numbers, numbers[:-1], [*numbers, 0.0], [numbers, numbers], None, "text", 3, {}, [[]],
        [None] * size, ["1"] * size, [True] * size, [1j] * size, np.array(numbers, dtype=object),
        np.zeros((0, size)), np.ma.masked_array(numbers), np.array(numbers)[::-1], object(),
        np.zeros((2, 2, size)), [10**400] * size, np.array(numbers, dtype=np.float32),
    ))  # fmt: skip
