"""C source of a program: what CasADi generates, and what this library puts around it."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

CHECKED = """
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* The program with one result more: 0 where all numbers are finite and quaternions are unit. */
CASADI_SYMBOL_EXPORT casadi_int checked_n_in(void) {{ return {n_in}; }}
CASADI_SYMBOL_EXPORT casadi_int checked_n_out(void) {{ return 2; }}
CASADI_SYMBOL_EXPORT const char* checked_name_in(casadi_int i) {{ return program_name_in(i); }}
CASADI_SYMBOL_EXPORT const char* checked_name_out(casadi_int i) {{ return i ? "bad" : "result"; }}
CASADI_SYMBOL_EXPORT const casadi_int* checked_sparsity_in(casadi_int i) {{
  return program_sparsity_in(i);
}}
CASADI_SYMBOL_EXPORT const casadi_int* checked_sparsity_out(casadi_int i) {{
  static const casadi_int scalar[] = {{1, 1, 1}};
  return i ? scalar : program_sparsity_out(0);
}}
CASADI_SYMBOL_EXPORT int checked_work(casadi_int* sz_arg, casadi_int* sz_res, casadi_int* sz_iw,
                                      casadi_int* sz_w) {{
  *sz_arg = {sz_arg}; *sz_res = {sz_res}; *sz_iw = {sz_iw}; *sz_w = {sz_w};
  return 0;
}}
CASADI_SYMBOL_EXPORT int checked(const double** arg, double** res, casadi_int* iw, double* w,
                                 int mem) {{
  static const size_t size[] = {{{sizes_in}}};
  static const size_t quaternion[] = {{{quaternions}0}};
  int bad = program(arg, res, iw, w, mem) || not_finite(res[0], {size_out});
  for (size_t i = 0; i < {n_in}; ++i) bad |= not_finite(arg[i], size[i]);
  for (size_t i = 0; i < {n_quaternions}; ++i) {{
    const double* x = arg[0] + quaternion[i];
    bad |= fabs(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] - 1) > {tolerance};
  }}
  res[1][0] = bad;
  return 0;
}}

/* The program over n states; a step of 0 uses the same input for all. */
CASADI_SYMBOL_EXPORT int batch(size_t n, const double* const* start, const size_t* step,
                               double* result) {{
  const double* arg[{sz_arg}]; double* res[{sz_res}];
  casadi_int iw[{sz_iw}]; double w[{sz_w}];
  for (size_t k = 0; k < n; ++k) {{
    for (size_t i = 0; i < {n_in}; ++i) arg[i] = start[i] + k * step[i];
    res[0] = result + k * {size_out};
    if (program(arg, res, iw, w, 0)) return 1;
  }}
  return 0;
}}
"""

UNIT_TOLERANCE = 1e-6
"""Largest deviation from 1 of a quaternion's squared length that a checked call accepts."""


def c_source(program: ca.Function, quaternions: Sequence[int]) -> str:
    """The C of `program`, of its checked call and of its loop over many states.

    Parameters
    ----------
    program : function named "program" with one output.
    quaternions : where in its first input unit quaternions begin.
    """
    generator = ca.CodeGenerator("program.c", {"with_header": False})
    generator.add(program)
    source: str = generator.dump()
    return source + CHECKED.format(
        n_in=program.n_in(),
        sz_arg=max(1, program.sz_arg()),
        sz_res=2 + program.sz_res(),
        sz_iw=max(1, program.sz_iw()),
        sz_w=max(1, program.sz_w()),
        sizes_in=", ".join(str(program.nnz_in(i)) for i in range(program.n_in())),
        size_out=program.nnz_out(0),
        quaternions="".join(f"{start}, " for start in quaternions),
        n_quaternions=len(quaternions),
        tolerance=UNIT_TOLERANCE,
    )
