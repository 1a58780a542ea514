"""C of a CasADi function of scalars: straight lines, one operation each, for any number type.

The same text serves a single state (`double`) and several at once (vector types). Sines and
cosines of angles that depend on inputs alone are computed together at the start. A long program
is cut into functions of some hundred operations, which hand values on in an array: compilers need
time that grows faster than a function's length. What leads to a result stands close before it, so
that few values wait for their use and most stay in registers or in the first cache. Where a long
program does the same again and again, as along a chain, it is a loop that does it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import casadi as ca

from .line_text import LineText, Places
from .lines import TURNS, Script, depth_first, function_lines, reciprocals
from .loop_text import Kept, LoopText
from .overlap import overlapped
from .repeats import Repeat, find_repeats

BLOCK = 500
"""Operations of one C function of a program that is cut."""

WHOLE = {"1": 5000, "v": 10000}
"""Operations of the longest program that is not cut. What vectors hand on through memory fills
the first cache sooner; compilers take minutes over programs ten times as long."""


class StraightLine:
    """The C of one function.

    Parameters
    ----------
    function : of scalars (SX), without calls.
    name : of the C function.
    n : "1" for a C function of doubles, "v" for one of vectors.
    places : of the numbers in arrays where they do not stand one after the other.
    """

    def __init__(
        self, function: ca.Function, name: str, n: str, places: Places | None = None
    ) -> None:
        self._name, self._n, self._places = name, n, places or {}
        lines = reciprocals(function_lines(function))
        script = Script(lines)
        self._long = len(script.rest) > WHOLE[n]
        self._repeats: list[Repeat] = []
        if self._long and not self._places:  # in the order of the recursion, where passes are alike
            self._repeats = find_repeats(script, script.computed)
            order = overlapped(script, self._repeats)
            if order != script.computed:
                script.computed = order
                self._repeats = find_repeats(script, order)
        if 2 * sum(one.end - one.start for one in self._repeats) <= len(script.computed):
            script, self._repeats = Script(depth_first(lines)), []
        self._script = script

    def text(self) -> str:
        """The C functions."""
        n, name, script = self._n, self._name, self._script
        head = f"const real{n}* const* arg, real{n}* const* res"
        writer = LineText(script, n, self._places)
        if self._long:
            return self._cut(head, writer)
        body = writer.statements(script.first)
        if script.angles:
            body.append(f"real{n} sine[{writer.room}], cosine[{writer.room}];")
            body += writer.angles("sine", "cosine")
        for place, angle in enumerate(script.angles):
            for k in script.pairs[angle]:
                which = "sine" if script.lines[k].code == ca.OP_SIN else "cosine"
                body.append(f"const real{n} a{k} = {which}[{place}];")
        body += writer.statements(script.rest)
        return f"static void {name}({head}) {{\n{indented(body)}}}\n"

    def _cut(self, head: str, writer: LineText) -> str:
        """Several functions that hand values on in an array w; inputs are read again.

        What `Kept` does not hold there takes places that are free again when it has been read for
        the last time.
        """
        n, name, lines = self._n, self._name, self._script.lines
        blocks = self._blocks()
        home = {k: b for b, block in enumerate(blocks) for k in block.makes}
        foreign = [
            sorted(i for i in block.reads if home.get(i, b) < b) for b, block in enumerate(blocks)
        ]
        kept = Kept(self._script, self._repeats, (i for reads in foreign for i in reads), n)
        last = {i: b for b, reads in enumerate(foreign) for i in reads if i not in kept.places}
        handed: dict[int, list[int]] = {}
        for i in sorted(last):
            handed.setdefault(home[i], []).append(i)
        places: dict[int, int] = {}
        free: list[int] = []
        functions, size = [], kept.size
        for b, block in enumerate(blocks):
            body = writer.statements(k for k in sorted(block.reads) if lines[k].code == ca.OP_INPUT)
            for i in foreign[b]:
                place = kept.places[i] if i in kept.places else places[i]
                body.append(f"const real{n} a{i} = w[{place}];")
            table = ""
            if block.loop is not None:
                body += block.loop.statements(f"{name}_{b}_table", kept)
                table = block.loop.table(f"{name}_{b}_table")
            else:
                body += writer.statements(block.lines)
            if not b:
                body += writer.angles(f"w + {kept.sine}", f"w + {kept.cosine}")
            free += [places[i] for i in foreign[b] if last.get(i) == b]
            for i in handed.get(b, ()):
                if not free:
                    free.append(size)
                    size += 1
                places[i] = free.pop()
                value = block.loop.name(i) if block.loop is not None else f"a{i}"
                body.append(f"w[{places[i]}] = {value};")
            functions.append(
                f"{table}static __attribute__((noinline))\n"
                f"void {name}_{b}({head}, real{n}* w) {{\n{indented(body)}}}\n"
            )
        calls = "".join(f"  {name}_{b}(arg, res, w);\n" for b in range(len(blocks)))
        whole = f"static void {name}({head}) {{\n  real{n} w[{max(1, size)}];\n{calls}}}\n"
        return "".join([*functions, whole])

    def _blocks(self) -> list[_Block]:
        """What leads to the first angles, then parts of the rest and loops."""
        script, n = self._script, self._n
        lines, order = script.lines, script.computed
        turns = [k for angle in script.angles for k in script.pairs[angle]]
        inputs = {k for k in script.first if lines[k].code == ca.OP_INPUT}
        first = [k for k in script.first if k not in inputs]
        blocks = [_Block(first, {*first, *turns}, inputs, None)]
        place = 0
        for repeat in [*self._repeats, None]:
            end = len(order) if repeat is None else repeat.start
            for start in range(place, end, BLOCK):
                part = order[start : min(start + BLOCK, end)]
                makes = {k for k in part if lines[k].code not in TURNS}
                late = (lines[k].reads[0] for k in part if lines[k].code in TURNS)
                makes.update(k for angle in late for k in script.pairs[angle])
                reads = {i for k in part for i in lines[k].reads if lines[i].code != ca.OP_CONST}
                blocks.append(_Block(part, makes, reads, None))
            if repeat is not None:
                loop = LoopText(repeat, script, n)
                blocks.append(_Block([], set(loop.makes), loop.reads, loop))
                place = repeat.end
        return blocks


@dataclass
class _Block:
    """A part of a long program: the lines, or a loop; which values it makes, and which it reads."""

    lines: list[int]
    makes: set[int]
    reads: set[int]
    loop: LoopText | None


def indented(statements: Iterable[str]) -> str:
    """Statements as the lines of a function's body."""
    return "".join(f"  {statement}\n" for statement in statements)
