"""C99 that closes loops without closed form; `continuation.follow`, its memory the caller's."""

from __future__ import annotations

from dataclasses import dataclass

from ..dynamics.continuation import CLOSED, ITERATIONS, LARGEST_MOVE, SMALLEST_STEP
from ..dynamics.linkage import newton_step
from ..dynamics.system import System
from .statements import number, statements
from .walker import home_positions


@dataclass(frozen=True)
class CWalk:
    """The C of the walk, and how many independent and dependent joints the loops have."""

    text: str
    ny: int
    nz: int


def c_walk(system: System, prefix: str) -> CWalk:
    """The C that fills z, the dependent positions of all loops, at q; `prefix` names its memory."""
    ys, zs = home_positions(system)
    places = [list(system.coordinates.q).index(row) for row, _ in ys]
    counts = [(len(one.independent), len(one.dependent)) for one in system.walked]
    steps = []
    for k, linkage in enumerate(system.walked):
        body = statements(newton_step(system.tree, linkage), ["y", "z"], ["dz", "gap", "aligned"])
        steps.append(STEP.format(k=k, body=body))
    text = "\n".join(steps) + WALK.format(
        prefix=prefix,
        count=len(counts),
        ny=max(1, *(ny for ny, _ in counts)),
        nz=max(nz for _, nz in counts),
        nys=", ".join(str(ny) for ny, _ in counts),
        nzs=", ".join(str(nz) for _, nz in counts),
        places=", ".join(map(str, places)) or "0",
        room=max(1, len(ys)),
        home_y=", ".join(number(value) for _, value in ys) or "0.0",
        home_z=", ".join(number(value) for _, value in zs),
        steps=", ".join(f"step_{k}" for k in range(len(counts))),
        iterations=ITERATIONS,
        closed=number(CLOSED),
        largest_move=number(LARGEST_MOVE),
        smallest_step=number(SMALLEST_STEP),
    )
    return CWalk(text, max(1, len(ys)), len(zs))


STEP = """/* One step of Newton's method for the dependent positions z of a loop. */
static void step_{k}(const double *y, const double *z, double *dz, double *gap, double *aligned) {{
{body}}}
"""

WALK = """
typedef void (*step_function)(const double *y, const double *z, double *dz, double *gap,
                              double *aligned);

static const double home_y[] = {{{home_y}}};
static const double home_z[] = {{{home_z}}};

/* Newton's method for the dependent positions z at the independent y, starting nearby. */
static int close_loop(step_function step, const double *y, double *z, int nz) {{
  double dz[{nz}], start[{nz}], gap, aligned, moved, last = DBL_MAX;
  int i, k;
  for (i = 0; i < nz; ++i) start[i] = z[i];
  for (k = 0; k < {iterations}; ++k) {{
    step(y, z, dz, &gap, &aligned);
    moved = 0.0;
    for (i = 0; i < nz; ++i) {{
      if (!(fabs(dz[i]) <= moved)) moved = fabs(dz[i]);
    }}
    if (!(moved <= last / 2.0) && !(moved <= {closed})) return 0;
    last = moved > {closed} ? moved : {closed};
    for (i = 0; i < nz; ++i) {{
      z[i] += dz[i];
      if (fabs(z[i] - start[i]) > {largest_move}) return 0;
    }}
    if (moved <= {closed} && gap <= {closed} && aligned > 0.0) return 1;
  }}
  return 0;
}}

/* From the closed (y0, z0) along a straight line to y; z is the answer. */
static int walk(step_function step, const double *y0, const double *z0, const double *y, double *z,
                int ny, int nz) {{
  double way = 0.0, size, ahead, largest, farthest = {largest_move}, at[{ny}], next[{nz}];
  int i;
  for (i = 0; i < ny; ++i) farthest = fmax(farthest, fabs(y[i] - y0[i]));
  size = largest = {largest_move} / farthest;
  for (i = 0; i < nz; ++i) z[i] = z0[i];
  while (way < 1.0) {{
    ahead = fmin(way + size, 1.0);
    for (i = 0; i < ny; ++i) at[i] = ahead < 1.0 ? y0[i] + ahead * (y[i] - y0[i]) : y[i];
    for (i = 0; i < nz; ++i) next[i] = z[i];
    if (close_loop(step, at, next, nz)) {{
      for (i = 0; i < nz; ++i) z[i] = next[i];
      way = ahead;
      size = fmin(2.0 * size, largest);
    }} else {{
      size = (ahead - way) / 2.0;
      if (!(size >= {smallest_step} * largest)) return 0;
    }}
  }}
  return 1;
}}

void {prefix}_home({prefix}_loops *loops) {{
  size_t i;
  for (i = 0; i < sizeof loops->y / sizeof loops->y[0]; ++i) loops->y[i] = home_y[i];
  for (i = 0; i < sizeof loops->z / sizeof loops->z[0]; ++i) loops->z[i] = home_z[i];
}}

/* Dependent positions of all loops, from where they were or from home; 0 where they stay open. */
static int close_all({prefix}_loops *loops, const double *q, double *z) {{
  static const int place[] = {{{places}}}, ny[] = {{{nys}}}, nz[] = {{{nzs}}};
  static const step_function step[] = {{{steps}}};
  double y[{room}];
  int i, k, iy = 0, iz = 0;
  for (k = 0; k < {count}; ++k) {{
    /* with one independent joint any way leads to the same; else what was asked before must
       not decide the branch */
    const int first = ny[k] > 1;
    const double *from_y[2], *from_z[2];
    from_y[0] = loops->y + iy;
    from_z[0] = loops->z + iz;
    from_y[1] = home_y + iy;
    from_z[1] = home_z + iz;
    for (i = 0; i < ny[k]; ++i) y[iy + i] = q[place[iy + i]];
    if (not_finite(y + iy, (size_t)ny[k])) return 0;
    if (!walk(step[k], from_y[first], from_z[first], y + iy, z + iz, ny[k], nz[k]) &&
        !walk(step[k], from_y[!first], from_z[!first], y + iy, z + iz, ny[k], nz[k])) {{
      return 0;
    }}
    for (i = 0; i < ny[k]; ++i) loops->y[iy + i] = y[iy + i];
    for (i = 0; i < nz[k]; ++i) loops->z[iz + i] = z[iz + i];
    iy += ny[k];
    iz += nz[k];
  }}
  return 1;
}}
"""
