/* A vector of motions among walls: as `struct walled`, number by number. Programs are those for
   vectors of states; no loops are closed in these. */
struct walled_lanes {
  realv *q, *v, *effort, *force, *slip, *mode;
  realv lost, residual;
  const realv* parameters;
};

static void evaluatev(const struct walls* w, const struct walled_lanes* s,
                      const struct program* program, const realv* one, const realv* two,
                      realv* result) {
  const realv* arg[] = {one, two, NULL};
  (void)w;
  arg[program->inputs] = s->parameters;
  program->together(arg, (realv* const[]){result});
}

static void acceleratev(const struct walls* w, const struct walled_lanes* s, const realv* q,
                        const realv* v, double damped, realv* result) {
  const struct program* program = w->vectors->acceleration;
  const realv step = allv(damped), *arg[] = {q, v, s->effort, &step, NULL};
  arg[program->inputs] = s->parameters;
  program->together(arg, (realv* const[]){result});
}

/* Rates of q at (q, v), which need no loop closed: always from the program for vectors, for another
   one may round otherwise. */
static void rate_ofv(const struct walls* w, const struct walled_lanes* s, const realv* q,
                     const realv* v, realv* result) {
  const realv* arg[] = {q, v, NULL, NULL};
  if (w->rate->z) arg[1] = NULL, arg[2] = v;
  arg[w->rate->inputs + (w->rate->z > 0)] = s->parameters;
  w->rate->together(arg, (realv* const[]){result});
}

static void rate_of1(const struct walls* w, const struct walled* s, const double* q,
                     const double* v, double* result) {
  const struct program* program = w->rate;
  const double* home = w->home + program->home;
  realv in_q[w->nq + 1], in_v[w->nv + 1], out[w->nq + 1], known[program->parameters + 1];
  if (!program->quaternions) {
    memcpy(result, v, w->nv * sizeof *v);
    return;
  }
  if (!program->together) {
    evaluate1(w, s, program, q, v, result);
    return;
  }
  const struct walled_lanes lanes = {.parameters = known};
  for (size_t i = 0; i < w->nq; ++i) in_q[i] = allv(q[i]);
  for (size_t i = 0; i < w->nv; ++i) in_v[i] = allv(v[i]);
  for (size_t i = 0; i < program->parameters; ++i) known[i] = allv(home[i]);
  rate_ofv(w, &lanes, in_q, in_v, out);
  for (size_t i = 0; i < w->nq; ++i) result[i] = out[i][0];
}
