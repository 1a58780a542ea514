"""C of blocks: a function `name(arg, res)`, or several that hand values on in an array.

Loops over passes are printed here too.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from ..block import Kind, Lane, Memory, Operand, RolledLoop, StraightBlock
from .lines import LinePrinter, Places, indented
from .operations import number


def block_text(block: StraightBlock, name: str, places: Places | None = None) -> str:
    """The C functions; `places` of the numbers in arrays that are not plain."""
    writer, real = LinePrinter(block, places), block.lane.real
    head = f"const {real}* const* arg, {real}* const* res"
    if block.pieces:
        return _pieces(block, name, head, writer)
    body = [*_preset_copies(block, name), *writer.statements(block.first)]
    if block.early:
        body.append(f"{real} sine[{writer.room}], cosine[{writer.room}];")
        body += writer.angles("sine", "cosine")
    for place, angle in enumerate(block.early):
        for k in block.turns[angle]:
            which = "sine" if block.lines[k].code == ca.OP_SIN else "cosine"
            body.append(f"const {real} a{k} = {which}[{place}];")
    body += writer.statements(block.order)
    return f"{_preset_tables(block, name)}static void {name}({head}) {{\n{indented(body)}}}\n"


def _presets(block: StraightBlock, name: str) -> list[tuple[int, str, int, Mapping[int, float]]]:
    """Place in `res` of each array with numbers that are known beforehand, the name of the table
    of these, its size, and the numbers."""
    arrays = enumerate(zip(block.writes, block.preset, strict=False))
    return [(i, f"{name}_preset{i}", one.table.size, known) for i, (one, known) in arrays if known]


def _preset_tables(block: StraightBlock, name: str) -> str:
    """These tables, zeros between the numbers."""
    result = ""
    for _, table, size, known in _presets(block, name):
        listed = ",\n".join(number(known.get(element, 0.0)) for element in range(size))
        result += f"static const double {table}[{size}] = {{\n{listed}}};\n"
    return result


def _preset_copies(block: StraightBlock, name: str) -> list[str]:
    """Statements that put these numbers into the arrays."""
    result = []
    for i, table, size, _ in _presets(block, name):
        if block.lane is Lane.VECTOR:
            result.append(f"for (int i = 0; i < {size}; ++i) res[{i}][i] = allv({table}[i]);")
        else:
            result.append(f"memcpy(res[{i}], {table}, sizeof {table});")
    return result


def _pieces(block: StraightBlock, name: str, head: str, writer: LinePrinter) -> str:
    """A function for every piece; inputs are read again in each."""
    lines, memory, real = block.lines, block.memory, block.lane.real
    assert memory is not None
    home = {k: b for b, piece in enumerate(block.pieces) for k in piece.makes}
    functions = []
    for b, piece in enumerate(block.pieces):
        body = writer.statements(k for k in sorted(piece.reads) if lines[k].code == ca.OP_INPUT)
        for k in sorted(piece.reads):
            if home.get(k, b) < b:
                body.append(f"const {real} a{k} = w[{memory.places[k]}];")
        table, names = "", {k: f"a{k}" for k in memory.stores[b]}
        if piece.loop is None:
            body += writer.statements(piece.lines)
        else:
            loop = LoopPrinter(piece.loop, block, memory)
            body += loop.statements(f"{name}_{b}_table")
            table = loop.table(f"{name}_{b}_table")
            names = {k: loop.name(k) for k in names}
        if not b:
            body += writer.angles(f"w + {memory.sine}", f"w + {memory.cosine}")
        body += [f"w[{memory.places[k]}] = {variable};" for k, variable in names.items()]
        functions.append(
            f"{table}static __attribute__((noinline))\n"
            f"void {name}_{b}({head}, {real}* w) {{\n{indented(body)}}}\n"
        )
    calls = "".join(f"  {name}_{b}(arg, res, w);\n" for b in range(len(block.pieces)))
    before = indented([f"{real} w[{max(1, memory.size)}];", *_preset_copies(block, name)])
    whole = f"static void {name}({head}) {{\n{before}{calls}}}\n"
    return "".join([*functions, _preset_tables(block, name), whole])


class LoopPrinter:
    """The C of one loop of a block, whose memory is placed."""

    def __init__(self, loop: RolledLoop, block: StraightBlock, memory: Memory) -> None:
        self._loop, self._block, self._memory = loop, block, memory
        self._order = block.computed
        self._columns: dict[tuple[float, ...], int] = {}

    def name(self, k: int) -> str:
        """The variable that holds line k, of a last pass, after the loop."""
        loop = self._loop
        place = self._order.index(k, loop.start)
        return f"k{loop.slot(place)}_{loop.count - (place - loop.start) // loop.period}"

    def statements(self, table: str) -> list[str]:
        """The loop, between statements that make what it reads and that store what it leaves."""
        loop, order, lane = self._loop, self._order, self._block.lane
        writer = LinePrinter(self._block)
        result, shifted = [], []
        for slot, places in loop.waiting.items():
            names = [f"k{slot}_{passes}" for passes in range(1, len(places) + 1)]
            for name, place in zip(names, places, strict=True):
                result.append(f"{lane.real} {name} = a{order[place]};")
            newer = [*names[-2::-1], f"a{order[loop.start + slot]}"]
            shifted += [f"  {a} = {b};" for a, b in zip(reversed(names), newer, strict=True)]
        result.append(f"for (int i = 0; i < {loop.count}; ++i) {{")
        result.append(f"  const double* t = {table}[i];")
        for slot, described in enumerate(loop.operands):
            k = order[loop.start + slot]
            operands = [self._operand(slot, o) for o in range(len(self._block.lines[k].reads))]
            output = f"res{_element(described[-1])}" if described else ""
            result.append("  " + writer.assigned(k, operands, output))
            if element := self._memory.element(loop.start + slot, loop.period):
                result.append(f"  {_in_memory(element)} = a{k};")
        return [*result, *shifted, "}"]

    def table(self, name: str) -> str:
        """The constants of all passes, those that differ; after `statements`."""
        rows = zip(*self._columns, strict=True) if self._columns else [(0.0,)] * self._loop.count
        listed = ",\n".join("  {" + ", ".join(map(number, row)) + "}" for row in rows)
        size = f"[{self._loop.count}][{max(1, len(self._columns))}]"
        return f"static const double {name}{size} = {{\n{listed}}};\n"

    def _operand(self, slot: int, o: int) -> str:
        loop, order, memory = self._loop, self._order, self._memory
        operand = loop.operands[slot][o]
        if operand.kind == Kind.CONSTANT:
            return self._constant(slot, o)
        if operand.kind == Kind.INPUT:
            return f"arg{_element(operand)}"
        if operand.kind == Kind.TURN:
            start = memory.sine if operand.which == ca.OP_SIN else memory.cosine
            return _in_memory((start + operand.first, operand.step))
        if operand.kind == Kind.FIXED:
            return f"a{operand.first}"
        passes = loop.delay(operand)
        if passes:
            return f"k{loop.slot(operand.first)}_{passes}"
        if passes == 0 or not operand.step:
            return f"a{order[operand.first]}"
        element = memory.element(operand.first, operand.step)
        assert element is not None
        return _in_memory(element)

    def _constant(self, slot: int, o: int) -> str:
        loop, lines = self._loop, self._block.lines
        passes = self._order[loop.start + slot : loop.end : loop.period]
        values = tuple(lines[lines[k].reads[o]].value for k in passes)
        if len(set(values)) == 1:
            return number(values[0])
        return f"t[{self._columns.setdefault(values, len(self._columns))}]"


def _element(operand: Operand) -> str:
    return f"[{operand.which}][{operand.first} + {operand.step} * i]"


def _in_memory(element: tuple[int, int]) -> str:
    first, step = element
    return f"w[{first} + {step} * i]"
