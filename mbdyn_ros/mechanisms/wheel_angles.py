"""Angles of wheels and what they carry: linear in the angles of the inputs (Willis' equation)."""

from __future__ import annotations

from typing import Any

from .layout import GROUND, MechanismLayout

Row = dict[str, Any]


def wheel_angles(layout: MechanismLayout, inputs: dict[str, Any]) -> dict[str, Any]:
    """Angle in the plane, rad, of every part that meshes determine.

    inputs : directions of the inputs, with their angles.
    """
    if not layout.meshes:
        return {}
    rows: list[tuple[Row, Any]] = []
    for mesh in layout.meshes:
        row: Row = {}
        right: Any = mesh.phase
        for name, factor in mesh.factors:
            if name in inputs:
                right = right - factor * inputs[name].angle
            elif name != GROUND:
                row[name] = row[name] + factor if name in row else factor
        rows.append((row, right))
    solved: list[tuple[str, Row, Any]] = []
    while rows:
        row, right = rows.pop(0)
        if not row:
            continue
        name = next(iter(row))
        pivot = row.pop(name)
        row = {other: -factor / pivot for other, factor in row.items()}
        right = right / pivot
        rows = [_without(one, name, row, right) for one in rows]
        solved.append((name, row, right))
    found: dict[str, Any] = {}
    for name, row, right in reversed(solved):
        if set(row) <= set(found):
            found[name] = right + sum(factor * found[other] for other, factor in row.items())
    return found


def _without(one: tuple[Row, Any], name: str, row: Row, right: Any) -> tuple[Row, Any]:
    """An equation with `name` = row + right put in."""
    old, rest = one
    if name not in old:
        return one
    share = old[name]
    new = {other: factor for other, factor in old.items() if other != name}
    for other, factor in row.items():
        more = share * factor
        new[other] = new[other] + more if other in new else more
    return new, rest - share * right
