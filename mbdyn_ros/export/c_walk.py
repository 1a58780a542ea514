"""The part of a robot's C99 library that closes loops without closed form.

Where loops were last is the caller's memory. Either answers depend on q and home alone, or they
follow a motion from the last one (`runtime/following.h`).
"""

from __future__ import annotations

from ..compiler.c_loops import c_loops, newton_text, places
from ..compiler.printers.operations import number
from ..program.program import Closing


def declared_loops(closing: Closing, prefix: str, follows: bool) -> str:
    """C of the memory of loops, for the header."""
    most_y, most_z = (max(1, *counts) for counts in zip(*closing.counts, strict=True))
    return (FOLLOWED if follows else LAST).format(
        prefix=prefix,
        ny=max(1, closing.ny) if not follows else most_y,
        nz=closing.nz if not follows else most_z,
        square=most_z * most_z,
        by_y=most_z * most_y,
        count=len(closing.counts),
    )


def walk(closing: Closing, prefix: str, follows: bool) -> str:
    """The C that fills z, the dependent positions of all loops, at q; the caller has its memory."""
    ny, home = closing.ny, closing.home
    followed = f"#define followed {prefix}_followed\n\n" if follows else ""
    text = c_loops(closing, followed + newton_text(follows))
    start, closed = (FOLLOWED_FROM_HOME, TRACKED) if follows else (WALKED_FROM_HOME, WALKED)
    return text + (HOME + CLOSE_ALL).format(
        prefix=prefix,
        start=start.format(count=len(closing.counts)),
        closed=closed.format(count=len(closing.counts)),
        ny=ny,
        room=max(1, ny),
        places=places(closing),
        home_y=", ".join(map(number, home[:ny])) or "0.0",
        home_z=", ".join(map(number, home[ny:])),
    )


def opening(closing: Closing, output: str, size: int, follows: bool) -> str:
    """The C with which a function begins: z, or no answer where a loop stays open."""
    code = "2" if follows else "1"
    return OPEN.format(nz=closing.nz, output=output, size=size, code=code)


LAST = """/* Where the loops were closed last: the way to the next positions starts there.
   Each thread needs one of its own, set by {prefix}_home before anything else. */
typedef struct {{
  double y[{ny}], z[{nz}];
}} {prefix}_loops;

void {prefix}_home({prefix}_loops *loops);
"""

FOLLOWED = """/* Where a loop was closed last, and the factors that lead on from there. */
struct {prefix}_followed {{
  double y[{ny}], z[{nz}], factors[{square}], by_y[{by_y}], logarithm;
  int pivot[{nz}], sign;
}};

/* Where all loops were closed last: they follow a motion from there, on that branch.
   Each thread needs one of its own, set by {prefix}_home before anything else. With `farthest`
   above 0 (it is 0 at home), positions that are farther (rad or m) from the last stay open, and
   the time of a call is bounded. */
typedef struct {{
  double farthest;
  struct {prefix}_followed last[{count}];
}} {prefix}_loops;

void {prefix}_home({prefix}_loops *loops);
"""

HOME = """
static const double home_y[] = {{{home_y}}};
static const double home_z[] = {{{home_z}}};
"""

CLOSE_ALL = """
void {prefix}_home({prefix}_loops *loops) {{
{start}}}

/* Dependent positions of all loops at q; 0 where they stay open. */
static int close_all({prefix}_loops *loops, const double *q, double *z) {{
  static const int place[] = {{{places}}};
  double y[{room}];
  int i;
  for (i = 0; i < {ny}; ++i) y[i] = q[place[i]];
  return {closed};
}}
"""

WALKED_FROM_HOME = """  size_t i;
  for (i = 0; i < sizeof loops->y / sizeof loops->y[0]; ++i) loops->y[i] = home_y[i];
  for (i = 0; i < sizeof loops->z / sizeof loops->z[0]; ++i) loops->z[i] = home_z[i];
"""

FOLLOWED_FROM_HOME = """  loops->farthest = 0.0;
  start_at_home(loop_table, {count}, home_y, home_z, loops->last);
"""

WALKED = "close_loops(loop_table, {count}, y, home_y, home_z, loops->y, loops->z, z)"

TRACKED = "follow_loops(loop_table, {count}, y, home_y, home_z, loops->last, loops->farthest, z)"

OPEN = """  double z[{nz}];
  if (!close_all(loops, q, z)) {{
    int i;
    for (i = 0; i < {size}; ++i) {output}[i] = (double)NAN;
    return {code};
  }}
"""
