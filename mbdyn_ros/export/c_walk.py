"""C99 that closes loops without closed form for exported programs, its memory the caller's."""

from __future__ import annotations

from dataclasses import dataclass

from ..compiler.c_loops import c_loops
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
    text = c_loops(closing) + WALK.format(
        prefix=prefix,
        count=len(closing.counts),
        room=max(1, ny),
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

/* Dependent positions of all loops; 0 where they stay open. A loop of one independent joint, to
   which one way leads, may start from where it was; others start from home. */
static int close_all({prefix}_loops *loops, const double *q, double *z) {{
  double y[{room}];
  int i, k, iy = 0, iz = 0;
  for (k = 0; k < {count}; ++k) {{
    const struct loop *loop = &loop_table[k];
    for (i = 0; i < loop->ny; ++i) y[iy + i] = q[loop_place[iy + i]];
    if (not_finite(y + iy, (size_t)loop->ny)) return 0;
    if (!(loop->ny == 1 && follow(loop, loops->y + iy, loops->z + iz, y + iy, z + iz)) &&
        !reach(loop, home_y + iy, home_z + iz, y + iy, z + iz)) {{
      return 0;
    }}
    for (i = 0; i < loop->ny; ++i) loops->y[iy + i] = y[iy + i];
    for (i = 0; i < loop->nz; ++i) loops->z[iz + i] = z[iz + i];
    iy += loop->ny;
    iz += loop->nz;
  }}
  return 1;
}}
"""
