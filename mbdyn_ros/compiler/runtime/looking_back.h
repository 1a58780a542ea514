/* Steps that are taken again, and what is found when one is looked back at. Included where `go`
   takes a step. */

enum { HALVINGS = 30 };

#define JUMP 0.1  /* share of a turn of the normal velocity within a step that is a jump */

/* What a step is taken again from; contacts are kept when they first change. */
struct before {
  double *slip, *mode, *force, lost;
  int kept, idle;
};

static void keep_contacts(const struct walls* w, const struct walled* s, struct before* old) {
  const size_t m = w->contacts;
  if (old->kept) return;
  memcpy(old->slip, s->slip, 3 * m * sizeof *s->slip);
  memcpy(old->mode, s->mode, m * sizeof *s->mode);
  memcpy(old->force, s->force, 3 * m * sizeof *s->force);
  old->kept = 1;
}

static void take_again(const struct walls* w, struct walled* s, struct work1* x,
                       struct before* old, double length) {
  const size_t m = w->contacts;
  keep_contacts(w, s, old);
  s->lost = old->lost;
  x->idle = old->idle;
  memcpy(s->slip, old->slip, 3 * m * sizeof *s->slip);
  memcpy(s->mode, old->mode, m * sizeof *s->mode);
  memcpy(s->force, old->force, (3 * m + w->rubbing) * sizeof *s->force);
  if (length > 0.) {
    go(w, s, x, length);
    return;
  }
  memcpy(s->q, x->q, w->nq * sizeof *s->q);
  memcpy(s->v, x->v, w->nv * sizeof *s->v);
  measure1(w, s, s->q, s->v, x->now);
}

/* Whether a contact that has come and goes again meets its wall at an instant in between, from which
   it goes as fast as it came: so the wall has no inside, as that of |z| has none, and nothing holds
   what passes it. Takes the step again to instants that halve it. */
static int has_no_inside(const struct walls* w, struct walled* s, struct work1* x,
                         struct before* old, double length, size_t k) {
  const size_t m = w->contacts;
  double left = 0., right = length;
  double comes = -x->start[m + k] / x->start[2 * m + k], goes = x->now[m + k] / x->now[2 * m + k];
  const double jump = JUMP * (comes + goes);
  int above = 1;
  for (int i = 0; i < HALVINGS && above && comes + goes > jump; ++i) {
    const double middle = 0.5 * (left + right);
    take_again(w, s, x, old, middle);
    const double speed = x->now[m + k] / x->now[2 * m + k];
    above = x->now[k] >= -w->graze * x->now[2 * m + k];
    if (speed < 0.) {
      left = middle, comes = -speed;
    } else {
      right = middle, goes = isnan(speed) ? goes : speed;
    }
  }
  const double gap = x->now[k] / x->now[2 * m + k];
  const int found = above && comes + goes > jump && !(gap > 2. * (right - left) * (comes + goes));
  take_again(w, s, x, old, length);
  return found;
}

static void look_back(const struct walls* w, struct walled* s, const struct work1* x,
                      double length) {
  const size_t m = w->contacts;
  for (size_t k = 0; k < m; ++k) {
    const double *then = x->start + k, *now = x->now + k;
    if (!may_have_passed(length, then[0], then[m], now[0], now[m], now[2 * m])) continue;
    if (is_held(x, k) || s->unsound == k + 1) continue;
    ++s->unseen, s->passed = k, s->passed_at = s->time + length;
  }
}
