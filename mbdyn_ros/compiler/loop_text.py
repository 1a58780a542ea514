"""C of repeats: loops, and the array w in which they keep values of every pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import casadi as ca

from .line_text import LineText, number
from .lines import Script
from .repeats import CONSTANT, FIXED, INPUT, TURN, Operand, Repeat


class Kept:
    """Where w holds the sines and cosines of the first angles, and values of all passes of loops.

    places : of all these lines. sine, cosine : of the first angle. size : of this part of w.
    """

    def __init__(self, script: Script, repeats: Sequence[Repeat], elsewhere: Iterable[int], n: str):
        """Find room for what is read `elsewhere`, by line, or by another loop pass by pass.

        The last values of those that wait in variables need none: the loop hands them on.
        """
        order = script.computed
        room = len(script.angles) + (8 if n == "1" and script.angles else 0)  # for whole vectors
        self.sine, self.cosine, self.size = 0, room, 2 * room
        self.places: dict[int, int] = {}
        for place, angle in enumerate(script.angles):
            for k in script.pairs[angle]:
                sine = script.lines[k].code == ca.OP_SIN
                self.places[k] = (self.sine if sine else self.cosine) + place
        self._repeats = repeats
        slots: dict[Repeat, set[int]] = {repeat: set() for repeat in repeats}
        places = {k: place for place, k in enumerate(order)}
        for place in (places[k] for k in elsewhere if k in places):
            if (repeat := self._around(place)) and not repeat.holds(place):
                slots[repeat].add(repeat.slot(place))
        for operand in (operand for repeat in repeats for operand in repeat.far):
            if repeat := self._around(operand.first):
                slots[repeat].add(repeat.slot(operand.first))
        self._columns: dict[Repeat, dict[int, int]] = {}
        self._starts: dict[Repeat, int] = {}
        for repeat, chosen in slots.items():
            self._starts[repeat] = self.size
            self._columns[repeat] = {slot: column for column, slot in enumerate(sorted(chosen))}
            self.size += repeat.count * len(chosen)
            for slot in chosen:
                for place in range(repeat.start + slot, repeat.end, repeat.period):
                    self.places[order[place]] = self._place(repeat, place)

    def _around(self, place: int) -> Repeat | None:
        """The repeat that a place of the order belongs to."""
        return next((one for one in self._repeats if one.start <= place < one.end), None)

    def _place(self, repeat: Repeat, place: int) -> int:
        columns = self._columns[repeat]
        passed = (place - repeat.start) // repeat.period
        return self._starts[repeat] + passed * len(columns) + columns[repeat.slot(place)]

    def element(self, place: int, step: int) -> str | None:
        """The element of w for a place that grows by a step with every pass; None if not kept."""
        repeat = self._around(place)
        if repeat is None or repeat.slot(place) not in self._columns[repeat]:
            return None
        stride = step // repeat.period * len(self._columns[repeat])
        return f"w[{self._place(repeat, place)} + {stride} * i]"


class LoopText:
    """The C of one repeat.

    makes : its lines, of all passes. reads : lines it needs from before.
    """

    def __init__(self, repeat: Repeat, script: Script, n: str) -> None:
        self._repeat, self._script, self._n = repeat, script, n
        self._order = order = script.computed
        self.makes = order[repeat.start : repeat.end]
        self.reads = {order[operand.first] for operand in repeat.uniform}
        read = [operand for operands in repeat.operands for operand in operands]
        self.reads |= {operand.first for operand in read if operand.kind == FIXED}
        self.reads |= {order[place] for places in self._waiting.values() for place in places}
        self._columns: dict[tuple[float, ...], int] = {}

    @property
    def _waiting(self) -> dict[int, list[int]]:
        """By place in the pass, the places of the values that wait for the first pass."""
        repeat = self._repeat
        return {
            slot: [repeat.start + slot - passes * repeat.period for passes in range(1, delay + 1)]
            for slot, delay in sorted(repeat.delays.items())
        }

    def name(self, k: int) -> str:
        """The variable that holds line k, of a last pass, after the loop."""
        repeat = self._repeat
        place = self._order.index(k, repeat.start)
        return f"k{repeat.slot(place)}_{repeat.count - (place - repeat.start) // repeat.period}"

    def statements(self, table: str, kept: Kept) -> list[str]:
        """The loop, between statements that make what it reads and that store what it leaves."""
        repeat, n, order = self._repeat, self._n, self._order
        writer = LineText(self._script, n)
        result, shifted = [], []
        for slot, places in self._waiting.items():
            names = [f"k{slot}_{passes}" for passes in range(1, len(places) + 1)]
            for name, place in zip(names, places, strict=True):
                result.append(f"real{n} {name} = a{order[place]};")
            newer = [*names[-2::-1], f"a{order[repeat.start + slot]}"]
            shifted += [f"  {a} = {b};" for a, b in zip(reversed(names), newer, strict=True)]
        result.append(f"for (int i = 0; i < {repeat.count}; ++i) {{")
        result.append(f"  const double* t = {table}[i];")
        for slot, described in enumerate(repeat.operands):
            k = order[repeat.start + slot]
            operands = [
                self._operand(slot, o, kept) for o in range(len(self._script.lines[k].reads))
            ]
            output = f"res{_element(described[-1])}" if described else ""
            result.append("  " + writer.assigned(k, operands, output))
            if element := kept.element(repeat.start + slot, repeat.period):
                result.append(f"  {element} = a{k};")
        return [*result, *shifted, "}"]

    def table(self, name: str) -> str:
        """The constants of all passes, those that differ; after `statements`."""
        rows = zip(*self._columns, strict=True) if self._columns else [(0.0,)] * self._repeat.count
        listed = ",\n".join("  {" + ", ".join(map(number, row)) + "}" for row in rows)
        size = f"[{self._repeat.count}][{max(1, len(self._columns))}]"
        return f"static const double {name}{size} = {{\n{listed}}};\n"

    def _operand(self, slot: int, o: int, kept: Kept) -> str:
        repeat, order = self._repeat, self._order
        operand = repeat.operands[slot][o]
        if operand.kind == CONSTANT:
            return self._constant(slot, o)
        if operand.kind == INPUT:
            return f"arg{_element(operand)}"
        if operand.kind == TURN:
            start = kept.sine if operand.which == ca.OP_SIN else kept.cosine
            return f"w[{start + operand.first} + {operand.step} * i]"
        if operand.kind == FIXED:
            return f"a{operand.first}"
        passes = repeat.delay(operand)
        if passes:
            return f"k{repeat.slot(operand.first)}_{passes}"
        if passes == 0 or not operand.step:
            return f"a{order[operand.first]}"
        element = kept.element(operand.first, operand.step)
        assert element is not None
        return element

    def _constant(self, slot: int, o: int) -> str:
        repeat, lines = self._repeat, self._script.lines
        passes = self._order[repeat.start + slot : repeat.end : repeat.period]
        values = tuple(lines[lines[k].reads[o]].value for k in passes)
        if len(set(values)) == 1:
            return number(values[0])
        return f"t[{self._columns.setdefault(values, len(self._columns))}]"


def _element(operand: Operand) -> str:
    return f"[{operand.which}][{operand.first} + {operand.step} * i]"
