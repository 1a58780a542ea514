"""From a program to C: into the compiler's language, through a list of passes, and out.

`MBDYN_DUMP=roll,c` prints on stderr the code after these passes, and the C; `casadi` prints the
code before the first, `all` prints all of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import casadi as ca

from ..errors import InputError
from ..program.program import Closing, Program
from ..program.stages import Staged
from .block import Kind, Lane, Operand, Piece, RolledLoop, StraightBlock, Table
from .from_casadi import function_code, staged_code
from .gcc import required_toolchain
from .ir import (
    Code,
    Combine,
    Constant,
    Factor,
    InvalidCode,
    Map,
    Product,
    Rows,
    Solve,
    Step,
    Sum,
    verify,
)
from .options import STANDARD, Options
from .passes.angles import angles
from .passes.depth_first import depth_first
from .passes.direct import direct
from .passes.fuse import fuse
from .passes.overlap import overlap
from .passes.place import place
from .passes.preset import preset
from .passes.reciprocals import reciprocals
from .passes.roll import roll
from .passes.split import split
from .passes.unroll import unroll
from .printers.code import code_text
from .printers.operations import OPERATIONS, operands_of_call

Pass = Callable[[Code, Options], Code]

PASSES: tuple[Pass, ...] = (
    fuse,  # maps over equally many columns are one loop
    direct,  # products go where they belong
    unroll,  # small eliminations are written line by line
    preset,  # results known beforehand are copied from a table
    reciprocals,  # one division for all by the same number
    angles,  # sines and cosines in pairs, the early ones together
    roll,  # what a long block does again and again becomes loops
    overlap,  # a pass begins before the one before has ended
    depth_first,  # what is not loops: few values wait
    split,  # long blocks into several functions
    place,  # which hand values on in memory
)
"""In the order in which they run."""


def program_text(program: Program, name: str, lane: Lane, options: Options = STANDARD) -> str:
    """The C function `name(arg, res)` of a program."""
    if isinstance(program.equations, Staged) and not _is_short(program, options):
        return text(staged_code(program.equations, program.symbols, lane), name, options)
    return function_text(program.function, name, lane, options)


def _is_short(program: Program, options: Options) -> bool:
    """Whether a staged program is faster written out; nothing long is written out to see."""
    most = options.written_out
    return program.length <= 5 * most and program.function.n_instructions() <= most


def function_text(function: ca.Function, name: str, lane: Lane, options: Options = STANDARD) -> str:
    """The C function `name(arg, res)` of a function of scalars (SX), without calls."""
    return text(function_code(function, lane), name, options)


def text(code: Code, name: str, options: Options) -> str:
    """The C of code after all passes; where one leaves wrong code, the message names it.

    Raises
    ------
    InvalidCode
        A pass has left code that cannot be right.
    """
    wanted = _wanted()
    options = replace(options, lanes=options.lanes or required_toolchain().lanes)
    stages: dict[str, Code] = {}

    def left_by(stage: str, code: Code) -> Code:
        stages[stage] = code
        if stage in wanted:
            print(f"---- {name} after {stage}\n{listing(code)}", file=sys.stderr)
        return code

    code = left_by("casadi", code)
    for one in PASSES:
        code = left_by(one.__name__, one(code, options))
    try:
        verify(code, PASSES[-1].__name__)
    except InvalidCode:
        for stage, made in stages.items():  # the first that is wrong
            verify(made, stage)
    result = code_text(code, name, options.lanes)
    if "c" in wanted:
        print(f"---- {name} in C\n{result}", file=sys.stderr)
    return result


def _wanted() -> frozenset[str]:
    """Names of the passes that `MBDYN_DUMP` asks for."""
    known = {"casadi", *(one.__name__ for one in PASSES), "c"}
    named = {word.strip() for word in os.environ.get("MBDYN_DUMP", "").split(",")} - {""}
    if unknown := named - known - {"all"}:
        raise InputError(
            f"MBDYN_DUMP names {', '.join(sorted(unknown))}; there are all, casadi, "
            f"{', '.join(one.__name__ for one in PASSES)} and c"
        )
    return frozenset(known if "all" in named else named)


def listing(code: Code) -> str:
    """The steps one after the other, every line of every block."""
    inputs = ", ".join(map(_described, code.inputs))
    head = f"code of {code.lane.name.lower()} numbers: {inputs} -> {_described(code.result)}"
    return "\n".join([head, *(line for step in code.steps for line in _step(step))])


def _described(table: Table) -> str:
    return f"{table.name} ({table.rows}, {' + '.join(map(str, table.widths))})"


def _step(step: Step) -> Iterator[str]:
    if isinstance(step, Constant):
        yield f"{_described(step.table)} = constant"
    elif isinstance(step, StraightBlock):
        yield from _block(step)
    elif isinstance(step, Map):
        yield f"for b in {step.columns} columns"
        for block in step.blocks:
            yield from (f"  {line}" for line in _block(block))
    elif isinstance(step, Sum):
        way = "backward" if step.backward else "forward"
        yield f"{_described(step.table)} = sum of {step.source.name} {way}"
    elif isinstance(step, Product):
        for matrix, terms in step.matrices:
            products = (
                f"{_rows(term.left)}^T {_rows(term.right)} in {int(term.where.sum())} places"
                for term in terms
            )
            yield f"{_described(step.table)} matrix {matrix} = {' + '.join(products)}"
    elif isinstance(step, Factor):
        yield f"{_described(step.table)} = factors of {step.matrix.name} {_way(step)}"
    elif isinstance(step, Solve):
        yield f"solve {step.table.name} by {step.factors.name} {_way(step)}"
    elif isinstance(step, Combine):
        count = step.weights.nnz()
        yield f"{step.result.name} = combinations of {step.table.name} by {count} weights"
    else:
        yield f"{step.result.name} = {step.table.name}"


def _rows(rows: Rows) -> str:
    return f"{rows.table.name}[{rows.start}:{rows.stop}]"


def _way(step: Factor | Solve) -> str:
    return "line by line" if step.unrolled else "in loops"


def _block(block: StraightBlock) -> Iterator[str]:
    arrays = (", ".join(array.name for array in side) for side in (block.reads, block.writes))
    yield f"block {' -> '.join(arrays)}"
    for array, known in zip(block.writes, block.preset, strict=False):
        yield from (f"  {array.name}[{element}] = {value!r}" for element, value in known.items())
    yield from _lines(block, block.first)
    for angle in block.early:
        names = ", ".join(f"a{k}" for k in block.turns[angle])
        yield f"  {names} = early sine and cosine of a{angle}"
    if block.pieces:
        for b, piece in enumerate(block.pieces):
            yield from _piece(block, b, piece)
        return
    order, start = block.order, 0
    for loop in block.loops:
        yield from _lines(block, block.computed[start : loop.start])
        yield from _loop(block, loop)
        start = loop.end
    yield from _lines(block, block.computed[start:] if block.loops else order)


def _piece(block: StraightBlock, b: int, piece: Piece) -> Iterator[str]:
    memory = block.memory
    reads = ", ".join(
        f"a{k}" if memory is None or k not in memory.places else f"a{k} = w[{memory.places[k]}]"
        for k in sorted(piece.reads)
    )
    yield f"  piece {b} reads {reads or 'nothing'}"
    yield from _lines(block, piece.lines)
    if piece.loop is not None:
        yield from _loop(block, piece.loop)
    if memory is not None:
        yield from (f"  w[{memory.places[k]}] = a{k}" for k in memory.stores[b])


def _loop(block: StraightBlock, loop: RolledLoop) -> Iterator[str]:
    yield f"  for i in {loop.count} passes of {loop.period} lines"
    for slot, operands in enumerate(loop.operands):
        k = block.computed[loop.start + slot]
        given = [_operand(block, loop, operand) for operand in operands]
        if block.lines[k].code == ca.OP_OUTPUT:
            yield f"    {given[1]} = {given[0]}"
        else:
            yield f"    a{k} = {OPERATIONS[block.lines[k].code][Lane.C99].format(*given)}"


def _operand(block: StraightBlock, loop: RolledLoop, operand: Operand) -> str:
    """By its kind; [i-1] is a value of the pass before."""
    at = f"{operand.first} + {operand.step} i"
    if operand.kind == Kind.CONSTANT:
        return "constant[i]"
    if operand.kind == Kind.INPUT:
        return f"array {operand.which}[{at}]"
    if operand.kind == Kind.TURN:
        return f"{'sine' if operand.which == ca.OP_SIN else 'cosine'}[{at}]"
    if operand.kind == Kind.FIXED:
        return f"a{operand.first}"
    passes = loop.delay(operand)
    if passes is None:
        return f"a{block.computed[operand.first]}" if not operand.step else f"value[{at}]"
    made = f"a{block.computed[loop.start + loop.slot(operand.first)]}"
    return f"{made}[i-{passes}]" if passes else made


def _lines(block: StraightBlock, numbers: Iterable[int]) -> Iterator[str]:
    for k in numbers:
        line = block.lines[k]
        array, element = line.place
        operands = [
            repr(block.lines[i].value) if block.lines[i].code == ca.OP_CONST else f"a{i}"
            for i in line.reads
        ] + operands_of_call(line)
        if line.code == ca.OP_INPUT:
            yield f"  a{k} = {block.reads[array].name}[{element}]"
        elif line.code == ca.OP_OUTPUT:
            yield f"  {block.writes[array].name}[{element}] = {operands[0]}"
        else:
            yield f"  a{k} = {OPERATIONS[line.code][Lane.C99].format(*operands)}"


HEADERS = """#pragma GCC optimize ("no-tree-dse", "no-dse", "no-predictive-commoning")
#include "program.h"
"""
"""Lines before the equations: vectors, and their elementary functions. Nothing is stored twice, and
no loop reads what the pass before has read: to look for it is a tenth of GCC's time."""

QUICK = '#pragma GCC optimize ("O1", "expensive-optimizations")\n'
"""Line before all of C whose robot has loops without closed form. Its first program takes four
libraries: GCC makes them in two thirds of the time, and calls at a new q take about a seventh
longer. The second word is for fused multiply-add."""

STRAIGHT = (
    '#pragma GCC optimize ("O1", "expensive-optimizations", "strict-aliasing", "schedule-insns2", '
    '"store-merging", "peephole2", "tree-slp-vectorize", "vect-cost-model=dynamic")\n'
)
"""Line before long C without loops. What else -O3 does looks for loops, branches and common
expressions, of which there are none left: a fifth to a half of GCC's time, for the same numbers."""

LOOPS = (
    '#pragma GCC optimize ("no-tree-vrp", "no-tree-pre", "no-gcse", "no-rerun-cse-after-loop", '
    '"no-cse-follow-jumps", "no-tree-slsr", "no-code-hoisting", "no-tree-tail-merge", '
    '"no-thread-jumps", "no-crossjumping")\n'
)
"""Line before C with loops, whose lines have no common expressions either: a sixth of GCC's time,
and programs are as fast, or faster."""

LONG, LONG_SUM, FEW_SUMS = 3700, 900, 2
"""Operations of C without loops from which that line is for the same speed too, the same of C with
two results at most, as energies are, and how many these are; shorter programs would be 4 to 13 %
slower."""

SCHEDULED = {Lane.SINGLE: 3500, Lane.VECTOR: 2000}
"""Operations of the longest straight lines that GCC shall order before it gives out registers: 10
to 30 % faster for numbers, 5 to 10 % for vectors; longer programs gain nothing, or lose, as those
with loops do."""

BATCH = """
#define SIZE_IN {total}
#define LARGEST_IN {largest}
#define SIZE_OUT {result}
#define INPUTS(each) {each}
{walked}{kept}{twice}#include "batch.h"
"""

ROLLOUT = """
enum {{ NE = {efforts}, PARAMETERS = {kept} }};
#define METHODS(each) {methods}
#include "rollout.h"
"""
"""Sizes, and of every method of integration name, stages and tableau."""

CORE = {Lane.SINGLE: ".scalar = core, ", Lane.VECTOR: ".batched = core, "}
"""Entries in `struct program` of the equations of one state, and of a vector of them."""

TWICE_UP_TO = 1000
"""Operations up to which the equations are in their loop over states though others call them too:
5 to 20 % faster, for half of the compiler's time again."""

DESCRIPTION = """
static const struct array inputs[] = {{{inputs}{{0}}}};
static const size_t quaternions[] = {{{quaternions}0}};
EXPORTED struct program program = {{
  .input = inputs, .inputs = {n_in}, .rows = {rows}, .columns = {columns},
  .total = {total}, .size = {size},
  .quaternion = quaternions, .quaternions = {n_quaternions},
  .z = {nz}, .terms = {terms}, .home = {home}, .parameters = {parameters},
  {core}.operations = {operations},
}};
"""

TERMS = """
EXPORTED void find_terms(const double* const* arg, double* const* res) { terms(arg, res); }
"""


def terms_source(closing: Closing) -> str:
    """C of the library of what a robot's loops are to all of its programs: `find_terms`."""
    function = closing.terms()
    return QUICK + HEADERS + function_text(function, "terms", Lane.SINGLE) + TERMS


def preamble(longest: int, lane: Lane) -> str:
    """C that precedes programs of that number of operations in straight lines."""
    order = '#pragma GCC optimize ("schedule-insns", "sched-pressure")\n'
    early = order if longest <= SCHEDULED[lane] else ""
    return early + HEADERS


def c_source(program: Program, lane: Lane = Lane.SINGLE, options: Options = STANDARD) -> str:
    """The C of a program's library, for one state at a time or for a vector of them."""
    quaternions = program.subject.quaternions
    inputs = program.called_with
    rows, columns = program.shape
    closing = program.subject.closing
    core = CORE[lane]
    source = program_text(program, "core", lane, options)
    if closing.nz and lane is Lane.SINGLE:
        source = QUICK + HEADERS + source
    else:
        length, in_loops = program.length, "for (" in source
        is_long = length >= (LONG_SUM if rows * columns <= FEW_SUMS else LONG)
        if lane is Lane.VECTOR or not (in_loops or is_long):
            source = preamble(length, lane) + source
        else:
            source = (LOOPS if in_loops else STRAIGHT) + HEADERS + source
    if lane is Lane.VECTOR:
        source += batch_text(program)
        core = (core if program.declaration.stepped else "") + ".batch = run_batch, "
        if program.declaration.integrated:
            source += rollout_text(program)
            core += ".rollout = run_rollout, "
    return source + DESCRIPTION.format(
        # an array of wrenches has a row for each body
        inputs="".join(
            f'{{"{name}", {one.shape[1]}, {one.shape[0]}}}, ' for name, one in inputs.items()
        ),
        n_in=len(inputs),
        rows=rows,
        columns=columns,
        total=sum(one.numel() for one in inputs.values()),
        size=rows * columns,
        quaternions="".join(f"{start}, " for start in quaternions),
        n_quaternions=len(quaternions),
        nz=closing.nz,
        terms=program.terms,
        home=closing.ny + closing.nz,
        parameters=program.kept,
        core=core,
        operations=program.length,
    )


def batch_text(program: Program) -> str:
    """The C of a program's loop over many states; see runtime/batch.h."""
    sizes = [symbol.numel() for symbol in program.called_with.values()]
    places = [sum(sizes[:i]) for i in range(len(sizes))]
    rows, columns = program.shape
    twice = program.declaration.stepped and program.length <= TWICE_UP_TO
    return BATCH.format(
        total=max(1, sum(sizes)),
        largest=max(1, program.kept, *sizes),
        result=max(1, rows * columns),
        each=" ".join(
            f"each({i}, {size}, {place})"
            for i, (size, place) in enumerate(zip(sizes, places, strict=True))
        ),
        walked=f"#define SIZE_Z {program.sizes['z']}\n" if "z" in program.sizes else "",
        kept=f"#define SIZE_P {program.kept}\n" if program.kept else "",
        twice="#define TWICE\n" if twice else "",
    )


def rollout_text(program: Program) -> str:
    """The C of motions by the rate of q; see runtime/rollout.h."""
    methods = program.declaration.integrated
    numbers = [", ".join(map(str, (one.stages, *one.tableau))) for one in methods]
    return ROLLOUT.format(
        efforts=program.subject.shape("effort")[0],
        kept=program.kept,
        methods=" ".join(
            f"each({one.name}, {text})" for one, text in zip(methods, numbers, strict=True)
        ),
    )
