"""C source of a program's library: its equations, and its description of itself."""

from __future__ import annotations

from ..program.program import Closing, Program
from ..program.stages import Staged
from .options import STANDARD, Options
from .pipeline import function_text, program_text
from .table import Lane

HEADERS = '#include "program.h"\n'
"""Lines before the equations: vectors, and their elementary functions."""

QUICK = '#pragma GCC optimize ("O1", "expensive-optimizations")\n'
"""Line before all of C whose robot has loops without closed form. Its first program takes four
libraries: GCC makes them in two thirds of the time, and calls at a new q take about a seventh
longer. The second word is for fused multiply-add."""

STRAIGHT = (
    '#pragma GCC optimize ("O1", "expensive-optimizations", "strict-aliasing", "schedule-insns2", '
    '"store-merging", "peephole2", "tree-slp-vectorize", "vect-cost-model=dynamic")\n'
)
"""Line before C without loops. What else -O3 does looks for loops, branches and common expressions,
of which there are none left: a quarter to a half of GCC's time, for the same speed and numbers."""

SCHEDULED = {Lane.SINGLE: 5000, Lane.VECTOR: 2000}
"""Operations of the longest straight lines that GCC shall order before it gives out registers: 10
to 30 % faster for numbers, 5 to 10 % for vectors; longer programs gain nothing, or lose."""

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
    in_stages = lane is Lane.SINGLE and isinstance(program.equations, Staged)
    quick = closing.nz > 0 and lane is Lane.SINGLE
    text = program_text(program, "core", lane, options)
    straight = STRAIGHT if lane is Lane.SINGLE and "for (" not in text else ""
    early = straight + preamble(0 if in_stages else program.length, lane)
    text = (QUICK + HEADERS if quick else early) + text
    core = CORE[lane]
    if lane is Lane.VECTOR:
        text += batch_text(program)
        core = (core if program.declaration.stepped else "") + ".batch = run_batch, "
        if program.declaration.integrated:
            text += rollout_text(program)
            core += ".rollout = run_rollout, "
    return text + DESCRIPTION.format(
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
