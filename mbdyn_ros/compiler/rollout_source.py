"""C that integrates many motions, several at once in vectors, on several threads."""

from __future__ import annotations

import casadi as ca

from ..integration.methods import FIXED, RungeKutta
from ..program.program import Program
from .ir import Lane
from .options import STANDARD, Options
from .pipeline import function_text
from .rows import ROWS
from .source import preamble, walk_source
from .thread_pool import SHARER

ROLLOUT = """
enum {{ NQ = {nq}, NV = {nv}, NE = {ne} }};

typedef struct {{
  const double *q, *v, *effort, *home;
  size_t step_q, step_v, step_effort, steps;
  double dt, *q_out, *v_out;
  int stages, whole;
  const double* tableau;
}} rollout_job;

enum {{ MOST_STAGES = {most_stages} }};

static void accelerate(const realv* q, const realv* v, const realv* effort, const double* home,
                       realv* a) {{
  const realv* arg[] = {{{arg}}};
  realv* const res[] = {{a}};
  (void)home;
{walk}  forward(arg, res);
{open}}}

static void rate(const realv* q, const realv* v, realv* out) {{
  const realv* arg[] = {{q, v}};
  realv* const res[] = {{out}};
  rate_of_q(arg, res);
}}

/* x + span * y */
static void ahead(int n, const realv* x, double span, const realv* y, realv* out) {{
  for (int i = 0; i < n; ++i) out[i] = x[i] + span * y[i];
}}

static void normalize(realv* q) {{
  static const int start[] = {{{quaternions}0}};
  for (int k = 0; k < {n_quaternions}; ++k) {{
    realv* p = q + start[k];
    const realv length = rootv(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    for (int i = 0; i < 4; ++i) p[i] = p[i] / length;
  }}
}}

/* x + h / divisor * (the slopes, each with its weight); neighbours of equal weight first. The
   divisor stands behind the weights; sum is memory. */
static inline void add_slopes(int n, int stages, const double* weights, double h,
                              const realv* slopes, realv* sum, realv* x) {{
  const double span = h / weights[stages];
  for (int i = 0; i < n; ++i) sum[i] = allv(0.);
  for (int first = 0, last; first < stages; first = last) {{
    const double weight = weights[first];
    for (last = first + 1; last < stages && weights[last] == weight; ++last) continue;
    for (int i = 0; i < n; ++i) {{
      realv run = slopes[first * (n + 1) + i];
      for (int s = first + 1; s < last; ++s) run += slopes[s * (n + 1) + i];
      sum[i] += weight * run;
    }}
  }}
  for (int i = 0; i < n; ++i) x[i] += span * sum[i];
}}

/* One step. No stages: the velocity first, then the position with it. Else an explicit
   Runge-Kutta method: the shares of the slopes on each stage, row by row, then their weights. */
static void advance(const rollout_job* job, const realv* effort, realv* q, realv* v) {{
  const double h = job->dt;
  const int stages = job->stages;
  realv x[NQ + 1], y[NV + 1], by_q[MOST_STAGES][NQ + 1], by_v[MOST_STAGES][NV + 1];
  if (!stages) {{
    accelerate(q, v, effort, job->home, by_v[0]);
    ahead(NV, v, h, by_v[0], v);
    rate(q, v, by_q[0]);
    ahead(NQ, q, h, by_q[0], q);
  }}
  for (int s = 0; s < stages; ++s) {{
    const double* share = job->tableau + s * stages;
    const realv *from_q = q, *from_v = v;
    for (int j = 0; j < s; ++j) {{
      if (share[j] == 0.) continue;
      ahead(NQ, from_q, h * share[j], by_q[j], x);
      ahead(NV, from_v, h * share[j], by_v[j], y);
      from_q = x;
      from_v = y;
    }}
    rate(from_q, from_v, by_q[s]);
    accelerate(from_q, from_v, effort, job->home, by_v[s]);
  }}
  if (stages) {{
    const double* weights = job->tableau + stages * stages;
    add_slopes(NQ, stages, weights, h, by_q[0], x, q);
    add_slopes(NV, stages, weights, h, by_v[0], y, v);
  }}
  normalize(q);
}}

static void run_rollout(const void* pointer, size_t first, size_t last) {{
  const rollout_job* job = pointer;
  for (size_t k = first; k < last; k += LANES) {{
    const size_t count = last - k < LANES ? last - k : LANES;
    const size_t kept = job->whole ? job->steps : 1;
    const double* row[LANES];
    realv q[NQ + 1], v[NV + 1], effort[NE + 1];
    size_t lane[LANES];
    for (size_t l = 0; l < LANES; ++l) lane[l] = k + (l < count ? l : count - 1);
    for (size_t l = 0; l < LANES; ++l) row[l] = job->q + lane[l] * job->step_q;
    read_rows(row, NQ, q);
    for (size_t l = 0; l < LANES; ++l) row[l] = job->v + lane[l] * job->step_v;
    read_rows(row, NV, v);
    normalize(q);
    for (size_t t = 0; t < job->steps; ++t) {{
      for (size_t l = 0; l < LANES; ++l) {{
        row[l] = job->effort + lane[l] * job->step_effort + t * NE;
      }}
      read_rows(row, NE, effort);
      advance(job, effort, q, v);
      if (!job->whole && t + 1 < job->steps) continue;
      const size_t place = job->whole ? t : 0;
      write_rows(q, NQ, count, job->q_out + (k * kept + place) * NQ, kept * NQ);
      write_rows(v, NV, count, job->v_out + (k * kept + place) * NV, kept * NV);
    }}
  }}
}}

/* n motions of `steps` steps. A step_ of 0 uses the same start or efforts for all. The method:
   see `advance`. */
CASADI_SYMBOL_EXPORT void rollout(size_t n, size_t steps, const double* q, size_t step_q,
                                  const double* v, size_t step_v, const double* effort,
                                  size_t step_effort, const double* home, double dt, int stages,
                                  const double* tableau, int whole, double* q_out, double* v_out,
                                  sharer* share_out, int threads) {{
  const rollout_job job = {{.q = q, .v = v, .effort = effort, .home = home, .step_q = step_q,
                           .step_v = step_v, .step_effort = step_effort, .steps = steps,
                           .dt = dt, .q_out = q_out, .v_out = v_out, .stages = stages,
                           .whole = whole, .tableau = tableau}};
  share_out(n, LANES, threads, run_rollout, &job);
}}
CASADI_SYMBOL_EXPORT const size_t operations = {operations};
"""

WALK = """  realv z[{nz}];
  bitsv closed;
  for (size_t l = 0; l < LANES; ++l) {{
    double alone[{nz}] = {{0}}, y[NQ];
    for (int i = 0; i < NQ; ++i) y[i] = q[i][l];
    closed[l] = -close_all(y, home, alone);
    for (int i = 0; i < {nz}; ++i) z[i][l] = alone[i];
  }}
  arg[1] = z;
"""

OPEN = """  for (int i = 0; i < NV; ++i) a[i] = selectv(closed, a[i], allv(NAN));
"""


def rollout_source(program: Program, rate_of_q: Program, options: Options = STANDARD) -> str:
    """The C of the integration of `program`, accelerations at (q, v, effort).

    rate_of_q : rates of q at (q, v).
    """
    closing, quaternions = program.subject.closing, program.subject.quaternions
    forward, sizes = program.function, program.sizes
    symbols = [rate_of_q.symbols[name] for name in ("q", "v")]
    rate = ca.Function("rate_of_q", symbols, [ca.densify(rate_of_q.result)])
    text = preamble(forward.n_instructions(), Lane.VECTOR)
    arg, walk, opened = ["q", "v", "effort"], "", ""
    if closing.nz:
        arg.insert(1, "NULL")
        text += walk_source(closing)
        walk, opened = WALK.format(nz=closing.nz), OPEN
    text += function_text(forward, "forward", Lane.VECTOR, options)
    text += function_text(rate, "rate_of_q", Lane.VECTOR, options) + ROWS + SHARER
    tableaus = [one for one in FIXED.values() if isinstance(one, RungeKutta)]
    return text + ROLLOUT.format(
        most_stages=max(len(one.weights) for one in tableaus),
        nq=sizes["q"],
        nv=sizes["v"],
        ne=sizes["effort"],
        arg=", ".join(arg),
        walk=walk,
        open=opened,
        quaternions="".join(f"{start}, " for start in quaternions),
        n_quaternions=len(quaternions),
        operations=forward.n_instructions(),
    )
