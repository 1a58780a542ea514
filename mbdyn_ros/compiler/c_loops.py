"""C99 that walks to the positions of loops without closed form: `continuation.reach` in C.

It needs <math.h> alone. Around it stands, once in the programs and once in exported C, what
remembers where loops were last.
"""

from __future__ import annotations

from ..program.closing import Closing
from ..program.continuation import (
    CLOSED,
    GENTLE,
    ITERATIONS,
    LARGEST_CORRECTION,
    LARGEST_MOVE,
    SMALLEST_STEP,
    STEEP,
)
from .printers.c99 import c99_body
from .printers.operations import number


def c_loops(closing: Closing) -> str:
    """The C of `reach` and of the table `loop_table`; places in q of the loops' joints."""
    counts, text = closing.counts, ""
    for k, loop in enumerate(closing.equations()):
        outputs = ["residual", "by_z", "by_y", "gap", "aligned"]
        text += FUNCTIONS.format(
            k=k,
            rows=c99_body(loop.rows, ["y", "z"], outputs),
            change=c99_body(loop.change, ["y", "z", "dy", "dz"], ["change"]),
        )
    return text + REACH.format(
        count=len(counts),
        ny=max(1, *(ny for ny, _ in counts)),
        nz=max(nz for _, nz in counts),
        places=", ".join(map(str, closing.places)) or "0",
        table=", ".join(
            f"{{{ny}, {nz}, rows_{k}, change_{k}}}" for k, (ny, nz) in enumerate(counts)
        ),
        iterations=ITERATIONS,
        closed=number(CLOSED),
        largest_move=number(LARGEST_MOVE),
        largest_correction=number(LARGEST_CORRECTION),
        gentle=number(GENTLE),
        steep=number(STEEP),
        smallest_step=number(SMALLEST_STEP),
    )


FUNCTIONS = """
static void rows_{k}(const double *y, const double *z, double *residual, double *by_z,
                   double *by_y, double *gap, double *aligned) {{
{rows}}}

static void change_{k}(const double *y, const double *z, const double *dy, const double *dz,
                     double *change) {{
{change}}}
"""

REACH = """
/* A loop of ny independent positions y and nz dependent ones z.
   rows: the residual of the rows that determine z, their derivatives by z and y (column by column),
   the largest residual of all rows, and the least of the signs that tell a turned frame.
   change: that of by_z along dy and dz. */
struct loop {{
  int ny, nz;
  void (*rows)(const double *y, const double *z, double *residual, double *by_z, double *by_y,
               double *gap, double *aligned);
  void (*change)(const double *y, const double *z, const double *dy, const double *dz,
                 double *change);
}};

static const struct loop loop_table[] = {{{table}}};

/* Places in q of the loops' independent positions. */
static const int loop_place[] = {{{places}}};

/* A closed configuration: z, the factors of by_z with their pivots and the sign of its
   determinant; over the whole way, the change of z and that of the determinant's logarithm. */
struct closed_place {{
  double z[{nz}], factors[{nz} * {nz}], tangent[{nz}], rate;
  int pivot[{nz}], sign;
}};

/* LU factors, with row pivoting, of an n x n matrix in place; the sign of its determinant. */
static int factorize(double *a, int *pivot, int n) {{
  int sign = 1, i, j, k, p;
  for (k = 0; k < n; ++k) {{
    p = k;
    for (i = k + 1; i < n; ++i) {{
      if (fabs(a[i + n * k]) > fabs(a[p + n * k])) p = i;
    }}
    pivot[k] = p;
    if (p != k) {{
      sign = -sign;
      for (j = k; j < n; ++j) {{
        const double swap = a[k + n * j];
        a[k + n * j] = a[p + n * j];
        a[p + n * j] = swap;
      }}
    }}
    if (!(fabs(a[k + n * k]) > 0.0)) return 0;
    if (a[k + n * k] < 0.0) sign = -sign;
    for (i = k + 1; i < n; ++i) {{
      a[i + n * k] /= a[k + n * k];
      for (j = k + 1; j < n; ++j) a[i + n * j] -= a[i + n * k] * a[k + n * j];
    }}
  }}
  return sign;
}}

static void solve_factors(const double *factors, const int *pivot, double *x, int n) {{
  int i, k;
  for (k = 0; k < n; ++k) {{
    const double swap = x[k];
    x[k] = x[pivot[k]];
    x[pivot[k]] = swap;
    for (i = k + 1; i < n; ++i) x[i] -= factors[i + n * k] * x[k];
  }}
  for (k = n - 1; k >= 0; --k) {{
    x[k] /= factors[k + n * k];
    for (i = 0; i < k; ++i) x[i] -= factors[i + n * k] * x[k];
  }}
}}

/* Largest magnitude; infinite where one is not a number. */
static double largest_of(const double *x, int n) {{
  double result = 0.0;
  int i;
  for (i = 0; i < n; ++i) {{
    if (!(fabs(x[i]) < HUGE_VAL)) return HUGE_VAL;
    result = fmax(result, fabs(x[i]));
  }}
  return result;
}}

/* Close a loop at y by Newton's method, from the guess in at->z; 0 where that fails nearby. */
static int close_loop(const struct loop *loop, const double *y, const double *whole,
                      struct closed_place *at) {{
  double step[{nz}], guess[{nz}], by_y[{nz} * {ny}], change[{nz} * {nz}];
  double gap = 0.0, aligned = 0.0, moved, last = HUGE_VAL;
  const int ny = loop->ny, nz = loop->nz;
  int i, j, k;
  for (i = 0; i < nz; ++i) guess[i] = at->z[i];
  for (k = 0; k < {iterations}; ++k) {{
    loop->rows(y, at->z, step, at->factors, by_y, &gap, &aligned);
    at->sign = factorize(at->factors, at->pivot, nz);
    if (!at->sign) return 0;
    solve_factors(at->factors, at->pivot, step, nz);
    moved = largest_of(step, nz);
    if (!(moved <= last / 2.0 && moved < HUGE_VAL) && !(moved <= {closed})) return 0;
    last = fmax(moved, {closed});
    for (i = 0; i < nz; ++i) {{
      at->z[i] -= step[i];
      if (!(fabs(at->z[i] - guess[i]) <= {largest_correction})) return 0;
    }}
    if (moved <= {closed} && gap <= {closed} && aligned > 0.0) {{
      for (i = 0; i < nz; ++i) {{
        at->tangent[i] = 0.0;
        for (j = 0; j < ny; ++j) at->tangent[i] -= by_y[i + nz * j] * whole[j];
      }}
      solve_factors(at->factors, at->pivot, at->tangent, nz);
      loop->change(y, at->z, whole, at->tangent, change);
      at->rate = 0.0;
      for (j = 0; j < nz; ++j) {{
        solve_factors(at->factors, at->pivot, change + nz * j, nz);
        at->rate += change[j + nz * j];
      }}
      return 1;
    }}
  }}
  return 0;
}}

/* From the closed (y0, z0) straight to y; z is the answer, and may be z0. */
static int follow(const struct loop *loop, const double *y0, const double *z0, const double *y,
                  double *z) {{
  double way = 0.0, size, step, ahead, largest, at[{ny}], whole[{ny}];
  struct closed_place here, next;
  const int ny = loop->ny, nz = loop->nz;
  int i;
  for (i = 0; i < ny; ++i) whole[i] = y[i] - y0[i];
  for (i = 0; i < nz; ++i) here.z[i] = z0[i];
  size = largest = {largest_move} / fmax(largest_of(whole, ny), {largest_move});
  if (!(largest > 0.0) || !close_loop(loop, y0, whole, &here)) return 0;
  while (way < 1.0) {{
    step = fmin({largest_move} / largest_of(here.tangent, nz), {gentle} / fabs(here.rate));
    step = fmin(step, size);
    if (!(step >= {smallest_step} * largest) || !(fabs(here.rate) < HUGE_VAL)) return 0;
    step = fmin(step, 1.0 - way);
    ahead = fmin(way + step, 1.0);
    for (i = 0; i < ny; ++i) at[i] = ahead < 1.0 ? y0[i] + ahead * whole[i] : y[i];
    for (i = 0; i < nz; ++i) next.z[i] = here.z[i] + step * here.tangent[i];
    if (close_loop(loop, at, whole, &next) && next.sign == here.sign &&
        fabs(next.rate) * step <= {steep}) {{
      here = next;
      way = ahead;
      size = fmin(2.0 * size, largest);
    }} else {{
      size = step / 2.0;
    }}
  }}
  for (i = 0; i < nz; ++i) z[i] = here.z[i];
  return 1;
}}

/* The same, one independent joint after the other. */
static int detour(const struct loop *loop, const double *y0, const double *z0, const double *y,
                  double *z, int backwards) {{
  double from[{ny}], to[{ny}];
  const int ny = loop->ny;
  int i, k;
  for (i = 0; i < ny; ++i) from[i] = to[i] = y0[i];
  for (i = 0; i < loop->nz; ++i) z[i] = z0[i];
  for (i = 0; i < ny; ++i) {{
    k = backwards ? ny - 1 - i : i;
    to[k] = y[k];
    if (!follow(loop, from, z, to, z)) return 0;
    from[k] = y[k];
  }}
  return 1;
}}

/* By the first way that leads there; the answer depends on y0, z0 and y alone. */
static int reach(const struct loop *loop, const double *y0, const double *z0, const double *y,
                 double *z) {{
  if (follow(loop, y0, z0, y, z)) return 1;
  return loop->ny > 1 && (detour(loop, y0, z0, y, z, 0) || detour(loop, y0, z0, y, z, 1));
}}
"""
