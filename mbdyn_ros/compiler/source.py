"""C source of a program: the equations, and what is put around them."""

from __future__ import annotations

from ..program.closing import Closing
from ..program.program import UNIT_TOLERANCE, Program
from ..program.stages import Staged
from .c_loops import c_loops
from .call import calls_text
from .dormand_prince import dormand_prince
from .elementary import elementary_functions
from .ir import Lane
from .options import STANDARD, Options
from .pipeline import program_text
from .printers.operations import each_functions

HEADERS = """#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef casadi_int
#define casadi_int long long int
#endif
#define CASADI_SYMBOL_EXPORT __attribute__((visibility("default")))
"""

WRAPPER = """
/* What CasADi asks of a function of its own kind. */
{linkage} casadi_int {name}_n_in(void) {{ return {n_in}; }}
{linkage} casadi_int {name}_n_out(void) {{ return {n_out}; }}
{linkage} const char* {name}_name_in(casadi_int i) {{
  static const char* const names[] = {{{names_in}}};
  return names[i];
}}
{linkage} const char* {name}_name_out(casadi_int i) {{
  static const char* const names[] = {{{names_out}}};
  return names[i];
}}
{linkage} const casadi_int* {name}_sparsity_in(casadi_int i) {{
  static const casadi_int shape[][3] = {{{shapes_in}}};
  return shape[i];
}}
{linkage} const casadi_int* {name}_sparsity_out(casadi_int i) {{
  static const casadi_int shape[][3] = {{{shapes_out}}};
  return shape[i];
}}
{linkage} int {name}_work(casadi_int* sz_arg, casadi_int* sz_res, casadi_int* sz_iw,
                          casadi_int* sz_w) {{
  *sz_arg = {n_in}; *sz_res = {n_out}; *sz_iw = 0; *sz_w = 0;
  return 0;
}}
{linkage} int {name}(const double** arg, double** res, casadi_int* iw, double* w, int mem) {{
  (void)iw; (void)w; (void)mem;
  {name}_line(arg, res);
  return 0;
}}
"""

CHECKED = """
/* Whether any of n numbers is NaN or infinite: all bits of the exponent are set. */
static int not_finite(const double* x, size_t n) {{
  uint64_t bad = 0;
  for (size_t i = 0; i < n; ++i) {{
    uint64_t bits;
    memcpy(&bits, x + i, sizeof bits);
    bad |= (uint64_t)((bits & 0x7ff0000000000000u) == 0x7ff0000000000000u);
  }}
  return bad != 0;
}}

/* The program, and whether all numbers are finite and quaternions unit. */
static int checked(const double** arg, double* result) {{
  static const size_t size[] = {{{sizes_in}}};
  static const size_t quaternion[] = {{{quaternions}0}};
  double* res[] = {{result}};
  int bad = program(arg, res, NULL, NULL, 0) || not_finite(result, {size_out});
  for (size_t i = 0; i < {n_in}; ++i) bad |= not_finite(arg[i], size[i]);
  for (size_t i = 0; i < {n_quaternions}; ++i) {{
    const double* x = arg[0] + quaternion[i];
    bad |= fabs(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] - 1) > {tolerance};
  }}
  return !bad;
}}

/* The program over a few states; a step of 0 uses the same input for all. */
CASADI_SYMBOL_EXPORT int batch_of_few(size_t n, const double* const* start, const size_t* step,
                                      double* result) {{
  const double* arg[{n_in}]; double* res[1];
  for (size_t k = 0; k < n; ++k) {{
    for (size_t i = 0; i < {n_in}; ++i) arg[i] = start[i] + k * step[i];
    res[0] = result + k * {size_out};
    if (program(arg, res, NULL, NULL, 0)) return 1;
  }}
  return 0;
}}
"""

WALK = """
/* Dependent positions of all loops at q; 0 where they stay open. The answer depends on q and home
   alone: a loop of one independent joint, to which one way leads, may start from where this thread
   last was. */
static int close_all(const double* q, const double* home, double* z) {{
  static _Thread_local double last[{ny} + {nz}], last_home[{ny} + {nz}];
  double y[{ny} + 1];
  int iy = 0, iz = 0;
  if (memcmp(last_home, home, sizeof last_home)) {{
    memcpy(last, home, sizeof last);
    memcpy(last_home, home, sizeof last_home);
  }}
  for (int i = 0; i < {ny}; ++i) {{
    y[i] = q[loop_place[i]];
    if (!isfinite(y[i])) return 0;
  }}
  for (int k = 0; k < {count}; ++k) {{
    const struct loop* loop = loop_table + k;
    double *last_y = last + iy, *last_z = last + {ny} + iz;
    if (!memcmp(y + iy, last_y, loop->ny * sizeof *y)) {{
      memcpy(z + iz, last_z, loop->nz * sizeof *z);
    }} else if (!(loop->ny == 1 && follow(loop, last_y, last_z, y + iy, z + iz)) &&
               !reach(loop, home + iy, home + {ny} + iz, y + iy, z + iz)) {{
      return 0;
    }}
    memcpy(last_y, y + iy, loop->ny * sizeof *y);
    memcpy(last_z, z + iz, loop->nz * sizeof *z);
    iy += loop->ny;
    iz += loop->nz;
  }}
  return 1;
}}
"""

WALKED = """
/* The program: the loops closed, then the equations; NaN where the loops cannot be closed. Its last
   input is home, see `Closing.home`. */
CASADI_SYMBOL_EXPORT casadi_int program_n_in(void) {{ return {n_in}; }}
CASADI_SYMBOL_EXPORT casadi_int program_n_out(void) {{ return 1; }}
CASADI_SYMBOL_EXPORT const char* program_name_in(casadi_int i) {{
  return i == {n_in} - 1 ? "home" : core_name_in(i ? i + 1 : 0);
}}
CASADI_SYMBOL_EXPORT const char* program_name_out(casadi_int i) {{ return core_name_out(i); }}
CASADI_SYMBOL_EXPORT const casadi_int* program_sparsity_in(casadi_int i) {{
  static const casadi_int home[] = {{{n_home}, 1, 1}};
  return i == {n_in} - 1 ? home : core_sparsity_in(i ? i + 1 : 0);
}}
CASADI_SYMBOL_EXPORT const casadi_int* program_sparsity_out(casadi_int i) {{
  return core_sparsity_out(i);
}}
CASADI_SYMBOL_EXPORT int program_work(casadi_int* sz_arg, casadi_int* sz_res, casadi_int* sz_iw,
                                      casadi_int* sz_w) {{
  return core_work(sz_arg, sz_res, sz_iw, sz_w);
}}
CASADI_SYMBOL_EXPORT int program(const double** arg, double** res, casadi_int* iw, double* w,
                                 int mem) {{
  const double* whole[{n_core}];
  double z[{nz_all}];
  if (!close_all(arg[0], arg[{n_in} - 1], z)) {{
    for (int i = 0; i < {size_out}; ++i) res[0][i] = NAN;
    return 0;
  }}
  whole[0] = arg[0];
  whole[1] = z;
  for (int i = 1; i < {n_in} - 1; ++i) whole[i + 1] = arg[i];
  return core(whole, res, iw, w, mem);
}}
"""

SCHEDULED = {Lane.SINGLE: 5000, Lane.VECTOR: 2000}
"""Operations of the longest straight lines that GCC shall order before it gives out registers: 10
to 30 % faster for numbers, 5 to 10 % for vectors; longer programs gain nothing, or lose."""


def preamble(longest: int, lane: Lane) -> str:
    """C that stands before programs of so many operations in straight lines."""
    order = '#pragma GCC optimize ("schedule-insns", "sched-pressure")\n'
    early = order if longest <= SCHEDULED[lane] else ""
    return early + HEADERS + elementary_functions() + each_functions()


def c_function(program: Program, name: str, exported: bool, options: Options) -> str:
    """The C of a program, called as CasADi calls its own functions."""

    symbols, (rows, columns) = program.symbols, program.shape
    wrapper = WRAPPER.format(
        name=name,
        linkage="CASADI_SYMBOL_EXPORT" if exported else "static",
        n_in=len(symbols),
        n_out=1,
        names_in=", ".join(f'"{name}"' for name in symbols),
        names_out='"result"',
        shapes_in=", ".join(
            f"{{{symbol.shape[0]}, {symbol.shape[1]}, 1}}" for symbol in symbols.values()
        ),
        shapes_out=f"{{{columns}, {rows}, 1}}",  # row by row
    )
    return program_text(program, f"{name}_line", Lane.SINGLE, options) + wrapper


def c_source(program: Program, options: Options = STANDARD) -> str:
    """The C of a program, its calls, its loop over a few states, and integrators' steps."""
    closing, quaternions = program.subject.closing, program.subject.quaternions
    name = "core" if closing.nz else "program"
    longest = 0 if isinstance(program.equations, Staged) else program.length
    text = preamble(longest, Lane.SINGLE)
    text += c_function(program, name, not closing.nz, options)
    inputs = [name for name in program.symbols if name != "z"]
    sizes_in = [program.sizes[name] for name in inputs]
    calls = calls_text(program.declaration, sizes_in)
    if closing.nz:
        inputs.append("home")
        sizes_in.append(len(closing.home))
    rows, columns = program.shape
    sizes = {"n_in": len(inputs), "size_out": rows * columns}
    if closing.nz:
        text += walk_source(closing)
        n_core, n_home = len(program.symbols), sizes_in[-1]
        text += WALKED.format(**sizes, n_core=n_core, nz_all=closing.nz, n_home=n_home)
    text += CHECKED.format(
        **sizes,
        sizes_in=", ".join(str(size) for size in sizes_in),
        quaternions="".join(f"{start}, " for start in quaternions),
        n_quaternions=len(quaternions),
        tolerance=UNIT_TOLERANCE,
    )
    text += calls
    if program.declaration.integrated:
        text += dormand_prince(rows * columns, program.sizes["q"])
    return text


def walk_source(closing: Closing) -> str:
    """The C of `close_all`, which finds the positions of loops without closed form."""
    return c_loops(closing) + WALK.format(
        count=len(closing.counts), ny=closing.ny, nz=closing.nz
    )
