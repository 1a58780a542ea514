"""C99 around the walk to the positions of loops without closed form (runtime/newton.h).

Around the walk stands, once in the programs and once in exported C, what remembers where loops
were last.
"""

from __future__ import annotations

from ..program.continuation import (
    CLOSED,
    CONTRACTION,
    EXACT,
    GENTLE,
    ITERATIONS,
    LARGEST_CORRECTION,
    LARGEST_MOVE,
    LONGEST_STRIDE,
    MOST_STEPS,
    NOISE,
    SMALL,
    SMALLEST_STEP,
    STEEP,
)
from ..program.program import Closing
from .gcc import RUNTIME
from .pipeline import HEADERS, QUICK
from .printers.c99 import c99_body
from .printers.operations import number


def walk_source(closing: Closing) -> str:
    """C of the library that closes the loops of a robot for all of its programs: `close_all` and
    `memory_size`, the `close` and `memory` of runtime/program.h."""
    walk = c_loops(closing, '#include "lu.h"\n#include "newton.h"\n#include "close_loops.h"\n')
    sizes = {"ny": closing.ny, "nz": closing.nz, "kept": closing.kept, "count": len(closing.counts)}
    declared, last, closed = (text.format(**sizes) for text in (CLOSE, LAST, CLOSED_FROM_LAST))
    follow = FOLLOW_ALL.format(**sizes)
    return QUICK + HEADERS + walk + FOLLOWING + follow + close_all(closing, declared, closed, last)


def newton_text(follows: bool, parameters: int) -> str:
    """The C99 of the walk itself, for exported C.

    follows : whether what comes after it follows a motion, or `close_loops`. parameters : how many
        change the loops.
    """
    names = ["lu.h", "newton.h", "following.h" if follows else "close_loops.h"]
    *before, behind = map(runtime_text, [*names[:2], *["reshape.h"] * bool(parameters), names[2]])
    limits = LIMITS_OF_STEPS if follows else ""
    count = f"\n#define PARAMETERS {parameters}\n\n" if parameters else ""
    return count + "\n".join(before) + "\n" + limits + behind


def runtime_text(name: str) -> str:
    """The C99 of a header of the runtime."""
    return (RUNTIME / name).read_text(encoding="ascii")


def close_all(closing: Closing, declared: str, closed: str, last: str = "") -> str:
    """C of the function that closes all loops at q, here and in exported C.

    declared : its comment and its declaration. last : lines that declare what it remembers.
    closed : its last lines, with the loops' independent positions in y.
    """
    return CLOSE_ALL.format(
        declared=declared,
        places=", ".join(map(str, closing.places)) or "0",
        last=last,
        room=max(1, closing.ny),
        ny=closing.ny,
        closed=closed,
    )


def c_loops(closing: Closing, newton: str) -> str:
    """The C of the table `loop_table` of all loops, with the walk's C in it."""
    counts = closing.counts
    text = CONSTANTS.format(
        ny=max(1, *(ny for ny, _ in counts)),
        nz=max(nz for _, nz in counts),
        iterations=ITERATIONS,
        closed=number(CLOSED),
        exact=number(EXACT),
        noise=number(NOISE),
        largest_move=number(LARGEST_MOVE),
        most_steps=number(MOST_STEPS),
        largest_correction=number(LARGEST_CORRECTION),
        gentle=number(GENTLE),
        steep=number(STEEP),
        smallest_step=number(SMALLEST_STEP),
    )
    text += newton
    for k, loop in enumerate(closing.equations()):
        outputs = ["residual", "by_z", "by_y", "gap", "aligned"]
        text += FUNCTIONS.format(
            k=k,
            rows=c99_body(loop.rows, ["y", "z", "p"], outputs),
            change=c99_body(loop.change, ["y", "z", "dy", "dz", "p"], ["change"]),
        )
    rows = [f"{{{ny}, {nz}, rows_{k}, change_{k}}}" for k, (ny, nz) in enumerate(counts)]
    return text + f"\nstatic const struct loop loop_table[] = {{{', '.join(rows)}}};\n"


CONSTANTS = """
#define MOST_Y {ny}
#define MOST_Z {nz}
#define ITERATIONS {iterations}
#define CLOSED {closed}
#define EXACT {exact}
#define NOISE {noise}
#define LARGEST_MOVE {largest_move}
#define MOST_STEPS {most_steps}
#define LARGEST_CORRECTION {largest_correction}
#define GENTLE {gentle}
#define STEEP {steep}
#define SMALLEST_STEP {smallest_step}

"""

FUNCTIONS = """
static void rows_{k}(const double *y, const double *z, const double *p, double *residual,
                   double *by_z, double *by_y, double *gap, double *aligned) {{
  (void)p;
{rows}}}

static void change_{k}(const double *y, const double *z, const double *dy, const double *dz,
                     const double *p, double *change) {{
  (void)p;
{change}}}
"""

LIMITS_OF_STEPS = f"""
#define LONGEST_STRIDE {number(LONGEST_STRIDE)}
#define SMALL {number(SMALL)}
#define CONTRACTION {number(CONTRACTION)}

"""

FOLLOWING = f'{LIMITS_OF_STEPS}#include "following.h"\n'

CLOSE_ALL = """
{declared} {{
  static const int place[] = {{{places}}};
{last}  double y[{room}];
  int i;
  for (i = 0; i < {ny}; ++i) y[i] = q[place[i]];
{closed}}}
"""

FOLLOW_ALL = """
/* What following remembers counts for one home, with its parameters, alone. Positions farther than
   `farthest` from the last are no motion and stay open; 0: they are walked to. */
struct memory {{
  double farthest, home[{ny} + {nz} + {kept}];
  struct followed last[{count}];
}};

static int follow_all(const double* y, const double* home, struct memory* memory, double* z) {{
  if (memcmp(memory->home, home, sizeof memory->home)) {{
    memcpy(memory->home, home, sizeof memory->home);
    start_at_home(loop_table, {count}, home, home + {ny}, memory->last);
  }}
  return follow_loops(loop_table, {count}, y, home, home + {ny}, home + {ny} + {nz}, memory->last,
                      memory->farthest, z);
}}

EXPORTED const size_t memory_size = (sizeof(struct memory) + 7) / 8;
"""

CLOSE = """\
/* Dependent positions of all loops at q. What this thread remembers counts for one home alone. */
EXPORTED int close_all(const double* q, const double* home, double* memory, double* z)"""

LAST = """\
  static _Thread_local double last[{ny} + {nz}], last_home[{ny} + {nz} + {kept}];
"""

CLOSED_FROM_LAST = """\
  if (memory) return follow_all(y, home, (struct memory*)memory, z);
  if (memcmp(last_home, home, sizeof last_home)) {{
    memcpy(last, home, sizeof last);
    memcpy(last_home, home, sizeof last_home);
  }}
  return close_loops(loop_table, {count}, y, home, home + {ny}, home + {ny} + {nz}, last,
                     last + {ny}, z);
"""
