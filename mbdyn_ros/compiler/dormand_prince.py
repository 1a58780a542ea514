"""C of the step of Dormand and Prince, order 8 (DOP853), around equations of motion.

The formula, its error estimate, the choice of the step and the interpolant of order 7 are those
of Hairer, Norsett and Wanner (Solving Ordinary Differential Equations I, II.5 and II.10); the
numbers are read from SciPy, whose solver of the same name takes the same steps.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..array import Array

STEP = """
enum {{ NY = {ny}, STAGES = {stages}, ALL_STAGES = {all_stages}, POWERS = {powers} }};

static const double by_stages[ALL_STAGES][ALL_STAGES] = {{{a}}};
static const double by_order_8[STAGES] = {{{b}}};
static const double error_3[STAGES + 1] = {{{e3}}}, error_5[STAGES + 1] = {{{e5}}};
static const double by_powers[POWERS - 3][ALL_STAGES] = {{{d}}};

static void rate_at(const double* y, const double* effort, const double* home, double* out) {{
  const double* arg[] = {{y, y + {nq}, effort, home}};
  double* res[] = {{out}};
  program(arg, res, NULL, NULL, 0);
}}

/* x + h sum of w[j] K[j] */
static void along(const double* x, double h, const double* w, int n, const double (*K)[NY],
                  double* out) {{
  double sum[NY] = {{0}};
  for (int j = 0; j < n; ++j) {{
    if (w[j] == 0.) continue;
    for (int i = 0; i < NY; ++i) sum[i] += w[j] * K[j][i];
  }}
  for (int i = 0; i < NY; ++i) out[i] = x[i] + h * sum[i];
}}

static void run_stages(int first, int last, const double* y, double h, const double* effort,
                       const double* home, double (*K)[NY]) {{
  double x[NY];
  for (int s = first; s < last; ++s) {{
    along(y, h, by_stages[s], s, (const double (*)[NY])K, x);
    rate_at(x, effort, home, K[s]);
  }}
}}

/* The error of a step in units of what is allowed. */
static double error_norm(const double* y, const double* next, double h, double rtol, double atol,
                         const double (*K)[NY]) {{
  static const double zero[NY];
  double third[NY], fifth[NY], sum_3 = 0., sum_5 = 0.;
  along(zero, 1., error_3, STAGES + 1, K, third);
  along(zero, 1., error_5, STAGES + 1, K, fifth);
  for (int i = 0; i < NY; ++i) {{
    const double scale = atol + rtol * fmax(fabs(y[i]), fabs(next[i]));
    sum_3 += third[i] / scale * (third[i] / scale);
    sum_5 += fifth[i] / scale * (fifth[i] / scale);
  }}
  if (sum_3 == 0. && sum_5 == 0.) return 0.;
  return h * sum_5 / sqrt((sum_5 + 0.01 * sum_3) * NY);
}}

/* One accepted step from y at t[0] with the rate f there, to `next` at t[1], with f there.
   limits: the end of time, the longest step, rtol, atol. length: of the next step to try.
   1, or 0 where no step is long enough to count. */
CASADI_SYMBOL_EXPORT int dop853(double* t, const double* limits, double* length, const double* y,
                                double* f, double* next, double (*K)[NY], const double* effort,
                                const double* home) {{
  const double shortest = 10. * (nextafter(t[0], HUGE_VAL) - t[0]);
  const double rtol = limits[2], atol = limits[3];
  double h = fmin(limits[1], fmax(shortest, *length));
  int rejected = 0;
  memcpy(K[0], f, sizeof K[0]);
  for (;;) {{
    if (!(h >= shortest)) return 0;
    t[1] = fmin(t[0] + h, limits[0]);
    h = t[1] - t[0];
    run_stages(1, STAGES, y, h, effort, home, K);
    along(y, h, by_order_8, STAGES, (const double (*)[NY])K, next);
    rate_at(next, effort, home, K[STAGES]);
    const double error = error_norm(y, next, h, rtol, atol, (const double (*)[NY])K);
    const double factor = {safety} * pow(error, -1. / 8.);
    if (error < 1.) {{
      *length = h * fmin(rejected ? 1. : {most}, factor);
      memcpy(f, K[STAGES], sizeof K[0]);
      return 1;
    }}
    h *= factor > {least} ? factor : {least};  /* also where it is no number */
    rejected = 1;
  }}
}}

/* The interpolant of the last step: weights of x, x (1 - x), x^2 (1 - x) ... in x = 0..1. */
CASADI_SYMBOL_EXPORT void dop853_between(const double* t, const double* y, const double* next,
                                         double (*K)[NY], const double* effort,
                                         const double* home, double (*F)[NY]) {{
  static const double zero[NY];
  const double h = t[1] - t[0];
  run_stages(STAGES + 1, ALL_STAGES, y, h, effort, home, K);
  for (int i = 0; i < NY; ++i) {{
    F[0][i] = next[i] - y[i];
    F[1][i] = h * K[0][i] - F[0][i];
    F[2][i] = 2. * F[0][i] - h * (K[STAGES][i] + K[0][i]);
  }}
  for (int p = 3; p < POWERS; ++p) {{
    along(zero, h, by_powers[p - 3], ALL_STAGES, (const double (*)[NY])K, F[p]);
  }}
}}
"""

SAFETY, LEAST, MOST = 0.9, 0.2, 10.0
"""Factor on the step that the error would allow; least and greatest change of a step."""


def dormand_prince(ny: int, nq: int) -> str:
    """The C of `dop853` and `dop853_between`, to stand behind the C of the rates of y.

    ny : numbers in y, which begins with positions q and velocities v. nq : those in q.
    """
    from scipy.integrate import DOP853  # slow to import, and not needed where the cache serves

    stages, extra = DOP853.n_stages, len(DOP853.A_EXTRA)
    whole = stages + 1 + extra
    before = [*DOP853.A, DOP853.B, *DOP853.A_EXTRA]
    return STEP.format(
        ny=ny,
        nq=nq,
        stages=stages,
        all_stages=whole,
        powers=3 + len(DOP853.D),
        a=", ".join(f"{{{_numbers(row)}}}" for row in before),
        b=_numbers(DOP853.B),
        e3=_numbers(DOP853.E3),
        e5=_numbers(DOP853.E5),
        d=", ".join(f"{{{_numbers(row)}}}" for row in DOP853.D),
        safety=SAFETY,
        least=LEAST,
        most=MOST,
    )


def _numbers(row: Iterable[float] | Array) -> str:
    return ", ".join(repr(float(x)) for x in row)
