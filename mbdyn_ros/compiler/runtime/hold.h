/* Contacts that are held over a step: their impulses act evenly over it, so that no wall is entered
   and Coulomb's law holds at its end. Dry friction of joints is part of the same problem. */

enum { MOST_PASSES = 3, MOST_LIFTS = 4 };

/* Two unit vectors along a wall, for any normal (Duff et al. 2017). */
static void tangents(const double* n, double* one, double* two) {
  const double sign = copysign(1., n[2]), a = -1. / (sign + n[2]), b = n[0] * n[1] * a;
  one[0] = 1. + sign * n[0] * n[0] * a, one[1] = sign * b, one[2] = -sign * n[0];
  two[0] = b, two[1] = sign + n[1] * n[1] * a, two[2] = -n[1];
}

/* The velocity of a body along d at a place that is `arm` from its origin, as a row. */
static void row_along(size_t n, const double* speeds, const double* arm, const double* d,
                      double* row) {
  const double turn[] = {arm[1] * d[2] - arm[2] * d[1], arm[2] * d[0] - arm[0] * d[2],
                         arm[0] * d[1] - arm[1] * d[0]};
  for (size_t j = 0; j < n; ++j) {
    row[j] = d[0] * speeds[j] + d[1] * speeds[n + j] + d[2] * speeds[2 * n + j] +
             turn[0] * speeds[3 * n + j] + turn[1] * speeds[4 * n + j] + turn[2] * speeds[5 * n + j];
  }
}

/* Take from a row of two links the velocity of the other one, along d. */
static void against(const struct walls* w, const struct work* x, size_t k, const double* d,
                    double* row) {
  if (w->partner[k] < 0) return;
  const double *body = x->column + w->partner[k], *place = x->column + w->normal[k] + 3;
  const double arm[] = {place[0] - body[3], place[1] - body[7], place[2] - body[11]};
  double of_other[w->nv + 1];
  row_along(w->nv, body + 12, arm, d, of_other);
  add(w->nv, -1., of_other, row);
}

/* Rows and answers of the held contacts, and of dry friction if `rubs`, at q; whether M can be
   factored. */
static int assemble(const struct walls* w, struct walled* s, struct work* x, double damped,
                    int rubs) {
  const size_t n = w->nv;
  size_t m = 0;
  evaluate(w, s, w->mass, s->q, &damped, x->mass);
  if (!cholesky(n, x->mass)) return 0;
  if (w->rows) evaluate(w, s, w->rows, s->q, NULL, x->column);
  meet(w, s, x->column, NULL);
  for (size_t i = 0; i < x->count; ++i) {
    const size_t k = x->held[i];
    const double* body = x->column + w->body[k];
    x->first[i] = m;
    x->tangent[i] = NO_ROW;
    x->mu[i] = w->friction[k];
    if (w->normal[k] < 0) {
      memcpy(x->S + m++ * n, body, n * sizeof *body);
      continue;
    }
    const double* normal = x->column + w->normal[k];
    const double* speeds = body + 12;
    double arm[3];
    if (w->partner[k] < 0) {
      const double* point = w->point + 4 * k;
      for (int r = 0; r < 3; ++r) arm[r] = dot(3, body + 4 * r, point) - point[3] * normal[r];
    } else {
      for (int r = 0; r < 3; ++r) arm[r] = normal[3 + r] - body[4 * r + 3];
    }
    const size_t start = m;
    row_along(n, speeds, arm, normal, x->S + m++ * n);
    against(w, x, k, normal, x->S + start * n);
    if (!(w->friction[k] > 0.)) continue;
    double along[2][3];
    tangents(normal, along[0], along[1]);
    x->tangent[i] = m;
    row_along(n, speeds, arm, along[0], x->S + m++ * n);
    row_along(n, speeds, arm, along[1], x->S + m++ * n);
    against(w, x, k, along[0], x->S + (start + 1) * n);
    against(w, x, k, along[1], x->S + (start + 2) * n);
  }
  x->held_rows = m;
  if (rubs) {
    memcpy(x->S + m * n, x->column + w->rubs, w->rubbing * n * sizeof *x->S);
    m += w->rubbing;
  }
  memcpy(x->X, x->S, m * n * sizeof *x->X);
  for (size_t i = 0; i < m; ++i) forward(n, x->mass, x->X + i * n);
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      x->A[i * m + j] = x->A[j * m + i] = dot(n, x->X + i * n, x->X + j * n);
    }
  }
  return 1;
}

/* v + M^-1 S^T f, of the first m rows. */
static void respond(const struct walls* w, const struct work* x, size_t m, const double* f,
                    double* answer, double* v) {
  memset(answer, 0, w->nv * sizeof *answer);
  for (size_t i = 0; i < m; ++i) add(w->nv, f[i], x->X + i * w->nv, answer);
  backward(w->nv, x->mass, answer);
  add(w->nv, 1., answer, v);
}

/* Add to a way what closes the contacts in `closed` that would stand apart by `gap`, by the least
   motion; A has m rows. */
static void close_gaps(const struct walls* w, struct work* x, size_t m, size_t count, double* way) {
  double most = 0., answer[w->nv + 1];
  if (!count) return;
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      x->closing[i * count + j] = x->A[x->first[x->closed[i]] * m + x->first[x->closed[j]]];
    }
    most = fmax(most, x->closing[i * count + i]);
  }
  for (size_t i = 0; i < count; ++i) x->closing[i * count + i] += 1e-12 * most;
  if (!cholesky(count, x->closing)) return;
  forward(count, x->closing, x->gap);
  backward(count, x->closing, x->gap);
  memset(answer, 0, w->nv * sizeof *answer);
  for (size_t i = 0; i < count; ++i) {
    add(w->nv, -x->gap[i], x->X + x->first[x->closed[i]] * w->nv, answer);
  }
  backward(w->nv, x->mass, answer);
  add(w->nv, 1., answer, way);
}

/* Lift what is inside walls out of them, by the least motions. */
static void lift(const struct walls* w, struct walled* s, struct work* x) {
  const size_t m = w->contacts;
  for (int k = 0; k < MOST_LIFTS; ++k) {
    double way[w->nv + 1];
    size_t count = 0;
    measure(w, s, x->now);
    x->fresh = 1;
    for (size_t i = 0; i < m; ++i) {
      if (!(x->now[i] < -w->closed * x->now[2 * m + i]) || count >= most_held(w)) continue;
      x->held[count] = i;
      x->closed[count] = count;
      x->gap[count++] = x->now[i] / x->now[2 * m + i];
    }
    if (!count) return;
    x->count = count;
    if (!assemble(w, s, x, 0., 0)) return;
    memset(way, 0, sizeof way);
    close_gaps(w, x, x->held_rows, count, way);
    move(w, s, x, 1., way);
    unit_quaternions(w, s->q);
    x->fresh = 0;
  }
}

/* Hold the contacts in a step of length h that has come to q with v, from the state in x. */
static void hold(const struct walls* w, struct walled* s, struct work* x, double h) {
  const size_t n = w->nv, contacts = w->contacts;
  const double damped = w->damped ? h : 0.;
  double *free_q = x->slopes, *moved = x->way;
  size_t m = 0;
  memcpy(free_q, s->q, w->nq * sizeof *free_q);
  memcpy(x->fast, s->v, n * sizeof *s->v);
  memset(moved, 0, n * sizeof *moved);
  for (int pass = 0; pass < MOST_PASSES; ++pass) {
    if (!assemble(w, s, x, damped, 1)) break;
    m = x->held_rows + w->rubbing;
    double answer[n + 1], further[n + 1];
    for (size_t i = 0; i < m; ++i) x->b[i] = dot(n, x->S + i * n, x->fast);
    for (size_t i = 0; i < w->rubbing; ++i) x->bound[i] = h * x->column[w->bounds + (int64_t)i];
    if (!pass) {
      for (size_t i = 0; i < x->count; ++i) {
        const double* force = s->force + 3 * x->held[i];
        x->f[x->first[i]] = h * force[0];
        if (x->tangent[i] == NO_ROW) continue;
        x->f[x->tangent[i]] = h * force[1];
        x->f[x->tangent[i] + 1] = h * force[2];
      }
      for (size_t i = 0; i < w->rubbing; ++i) {
        x->f[x->held_rows + i] = h * s->force[3 * contacts + i];
      }
    }
    const struct cones cones = {m, x->count, w->rubbing, n, x->first, x->tangent,
                                x->mu, x->bound, x->A, x->b, x->X, x->cones};
    s->residual = fmax(s->residual, impulses_of_cones(&cones, w->settled, x->f));
    memcpy(s->v, x->fast, n * sizeof *s->v);
    respond(w, x, m, x->f, answer, s->v);

    /* the way: half the change of velocity, and what closes contacts that push or are inside */
    for (size_t j = 0; j < n; ++j) further[j] = 0.5 * h * (s->v[j] - x->fast[j]) - moved[j];
    double largest = 0.;
    for (size_t i = 0; i < x->count; ++i) largest = fmax(largest, x->f[x->first[i]]);
    size_t count = 0;
    measure(w, s, x->now);
    for (size_t i = 0; i < x->count; ++i) {
      const size_t k = x->held[i];
      const double* row = x->S + x->first[i] * n;
      const double gap = x->now[k] / x->now[2 * contacts + k] + dot(n, row, further);
      if (!(gap < 0. || x->f[x->first[i]] > 1e-12 * largest)) continue;
      x->closed[count] = i;
      x->gap[count++] = gap;
    }
    close_gaps(w, x, m, count, further);
    add(n, 1., further, moved);
    memcpy(s->q, free_q, w->nq * sizeof *s->q);
    move(w, s, x, 1., moved);
    unit_quaternions(w, s->q);
    measure(w, s, x->now);
    int settled = 1;
    for (size_t i = 0; i < count; ++i) {
      const size_t k = x->held[x->closed[i]];
      const double* one = x->now + k;
      const double slope = one[2 * contacts];
      if (!(fabs(one[contacts]) <= w->slow * slope)) settled = 0;
    }
    if (settled) break;
  }
  x->fresh = 1;

  /* joints that their dry friction holds stand still exactly */
  for (size_t i = 0; i < w->rubbing; ++i) {
    const size_t row = x->held_rows + i;
    const double bound = x->bound[i], speed = dot(n, x->S + row * n, s->v);
    s->force[3 * contacts + i] = x->f[row] / h;
    s->lost -= 0.5 * x->f[row] * (dot(n, x->S + row * n, x->v) + speed);
    if (!(fabs(x->f[row]) < bound) || !(fabs(speed) < w->slow)) continue;
    if (w->still_v[i] < 0) continue;
    s->v[w->still_v[i]] = 0.;
    if (w->still_q[i] >= 0 && x->v[w->still_v[i]] == 0.) {
      s->q[w->still_q[i]] = x->q[w->still_q[i]];
      x->fresh = 0;
    }
  }
  memset(s->force, 0, 3 * contacts * sizeof *s->force);
  for (size_t k = 0; k < contacts; ++k) s->mode[k] = s->mode[k] > 0. ? -1. : 0.;
  for (size_t i = 0; i < x->count; ++i) {
    const size_t k = x->held[i], rows = x->tangent[i] == NO_ROW ? 1 : 3;
    double after[3];
    for (size_t r = 0; r < rows; ++r) {
      const double* row = x->S + (x->first[i] + r) * n;
      const double f = x->f[x->first[i] + r];
      after[r] = dot(n, row, s->v);
      const double before = s->mode[k] < 0. ? s->slip[3 * k + r] : dot(n, row, x->v);
      s->force[3 * k + r] = f / h;
      s->lost -= 0.5 * f * (before + after[r]);
      s->slip[3 * k + r] = after[r];
    }
    /* by the speed: forces of what sticks may lie on their cones too, where they are redundant */
    const int sticks = rows == 3 && s->force[3 * k] > 0. && hypot(after[1], after[2]) <= w->slow;
    s->mode[k] = sticks ? 1. : 2.;
  }
  for (size_t k = 0; k < contacts; ++k) s->mode[k] = fmax(s->mode[k], 0.);
}
