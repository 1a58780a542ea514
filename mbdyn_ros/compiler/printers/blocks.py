"""C of blocks: a function `name(arg, res)`, or several that hand values on in an array."""

from __future__ import annotations

import casadi as ca

from ..block import StraightBlock
from .lines import LinePrinter, Places, indented
from .loops import LoopPrinter


def block_text(block: StraightBlock, name: str, places: Places | None = None) -> str:
    """The C functions; `places` of the numbers in arrays that are not plain."""
    writer, real = LinePrinter(block, places), block.lane.real
    head = f"const {real}* const* arg, {real}* const* res"
    if block.pieces:
        return _pieces(block, name, head, writer)
    body = writer.statements(block.first)
    if block.early:
        body.append(f"{real} sine[{writer.room}], cosine[{writer.room}];")
        body += writer.angles("sine", "cosine")
    for place, angle in enumerate(block.early):
        for k in block.turns[angle]:
            which = "sine" if block.lines[k].code == ca.OP_SIN else "cosine"
            body.append(f"const {real} a{k} = {which}[{place}];")
    body += writer.statements(block.order)
    return f"static void {name}({head}) {{\n{indented(body)}}}\n"


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
    whole = f"static void {name}({head}) {{\n  {real} w[{max(1, memory.size)}];\n{calls}}}\n"
    return "".join([*functions, whole])
