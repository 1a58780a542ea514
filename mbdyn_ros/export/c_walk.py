"""C99 that closes loops without closed form for exported programs, its memory the caller's."""

from __future__ import annotations

from dataclasses import dataclass

from ..compiler.c_loops import c_loops, newton_text, places
from ..compiler.printers.operations import number
from ..program.closing import Closing


@dataclass(frozen=True)
class CWalk:
    """The C of the walk, and how many independent and dependent joints the loops have."""

    text: str
    ny: int
    nz: int


def c_walk(closing: Closing, prefix: str) -> CWalk:
    """The C that fills z, the dependent positions of all loops, at q; `prefix` names its memory."""
    ny, home = closing.ny, closing.home
    text = c_loops(closing, newton_text()) + WALK.format(
        prefix=prefix,
        count=len(closing.counts),
        ny=ny,
        room=max(1, ny),
        places=places(closing),
        home_y=", ".join(map(number, home[:ny])) or "0.0",
        home_z=", ".join(map(number, home[ny:])),
    )
    return CWalk(text, max(1, ny), closing.nz)


WALK = """
static const double home_y[] = {{{home_y}}};
static const double home_z[] = {{{home_z}}};

void {prefix}_home({prefix}_loops *loops) {{
  size_t i;
  for (i = 0; i < sizeof loops->y / sizeof loops->y[0]; ++i) loops->y[i] = home_y[i];
  for (i = 0; i < sizeof loops->z / sizeof loops->z[0]; ++i) loops->z[i] = home_z[i];
}}

/* Dependent positions of all loops at q; 0 where they stay open. */
static int close_all({prefix}_loops *loops, const double *q, double *z) {{
  static const int place[] = {{{places}}};
  double y[{room}];
  int i;
  for (i = 0; i < {ny}; ++i) y[i] = q[place[i]];
  return close_loops(loop_table, {count}, y, home_y, home_z, loops->y, loops->z, z);
}}
"""
