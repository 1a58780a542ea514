/* Impulses of contacts: Newton's method (`cones.hpp`) and, where it does not settle, safe ways, at the end
   of this file. The safest one: with the normal velocities shifted by mu times those along the wall (De
   Saxce and Feng 1998), the laws are those of a convex problem, which the method of multipliers solves
   in the space of velocities. The shifts follow, round by round at first, and together with the
   velocities where that leads on. */
#pragma once
#include "proximal_point.hpp"

enum { CONVEX_STEPS = 60, TRIES = 30, ROUNDS = 60, PATIENCE = 16 };

#define MOST_EAGER 54e3    /* times as much as at first that impulses answer to velocities */
#define MORE 10.           /* and once more by this; */
#define CALMER 30.         /* how much less from one try of Newton's method to the next, */
#define CALM 0.5           /* and at last */
#define PENALTY 1e4        /* of the method of multipliers at first, of a contact's own mass */
#define HARDER 10.         /* how much it grows where rounds lead on slowly, and how far */
#define HARDEST 1e6
#define NEARLY 0.3         /* shares of the velocities by which laws are missed: where shifts may */
#define CLOSE 1e-3         /* follow together, and where rounds may be slow */
#define FARTHEST 100.      /* rounds that are leapt over where impulses go on evenly */
#define WORSE 30.          /* how many times worse than the best is what is given up */
#define FLAT 1e-30         /* squares of slopes that are as good as zero, and that may be, where */
#define NEARLY_FLAT 1e-20  /* nothing flatter is found */

/* The nearest impulse in a cone, in place, and how it changes with what is given (3, 3). */
static void into_cone(double mu, double* z, double* change) {
  const double r = hypot(z[1], z[2]), more = 1. / (1. + mu * mu);
  memset(change, 0, 9 * sizeof *change);
  if (r <= mu * z[0]) {
    change[0] = change[4] = change[8] = 1.;
  } else if (mu * r <= -z[0]) {
    z[0] = z[1] = z[2] = 0.;
  } else {
    const double n = (z[0] + mu * r) * more, x = z[1] / r, y = z[2] / r, across = mu * n / r;
    change[0] = more;
    change[1] = change[3] = mu * x * more;
    change[2] = change[6] = mu * y * more;
    change[4] = mu * mu * more * x * x + across * y * y;
    change[8] = mu * mu * more * y * y + across * x * x;
    change[5] = change[7] = (mu * mu * more - across) * x * y;
    z[0] = n, z[1] = mu * n * x, z[2] = mu * n * y;
  }
}

/* The impulses f that the velocities y (size) call for, from those in `about`: what the method of
   multipliers minimizes has the slope y - X^T f; its second derivatives go to `bend` if wanted.
   Without `shift` the shifts follow y. Gives the square of the slope. */
SELDOM static double penalize(const Cones<double>* c, const double* step, double penalty,
                       const double* about, const double* shift, const double* y, double* f,
                       double* slope, double* bend) {
  const size_t n = c->size, last = c->rows - c->bounded;
  double change[9], *normal = c->room + room_of_cones(c->rows, n) - 2 * n;
  memcpy(slope, y, n * sizeof *slope);
  if (bend) {
    memset(bend, 0, n * n * sizeof *bend);
    for (size_t i = 0; i < n; ++i) bend[i * n + i] = 1.;
  }
  for (size_t k = 0; k < c->contacts + c->bounded; ++k) {
    const size_t i = k < c->contacts ? c->normal[k] : last + k - c->contacts;
    const size_t rows = k < c->contacts && c->tangent[k] != NO_ROW ? 3 : 1;
    const double weight = penalty * step[i], *X = c->X + i * n, *first = X;
    double* z = f + i;
    for (size_t r = 0; r < rows; ++r) {
      z[r] = c->free[i + r] + dot(n, X + r * n, y) + (shift ? shift[i + r] : 0.);
    }
    if (rows == 3 && !shift) {
      const double mu = c->friction[k], speed = hypot(z[1], z[2]);
      z[0] += mu * speed;
      if (bend && speed > 0.) {
        memcpy(normal, X, n * sizeof *normal);
        for (size_t r = 1; r < 3; ++r) add_to(n, mu * z[r] / speed, X + r * n, normal);
        first = normal;
      }
    }
    for (size_t r = 0; r < rows; ++r) z[r] = about[i + r] - weight * z[r];
    if (rows == 3) {
      into_cone(c->friction[k], z, change);
    } else {
      const double high = k < c->contacts ? HUGE_VAL : c->bound[k - c->contacts];
      const double low = k < c->contacts ? 0. : -high;
      change[0] = low < z[0] && z[0] < high;
      z[0] = fmin(fmax(z[0], low), high);
    }
    for (size_t r = 0; r < rows; ++r) add_to(n, -z[r], X + r * n, slope);
    if (!bend) continue;
    for (size_t r = 0; r < rows; ++r) {
      for (size_t o = 0; o < rows; ++o) {
        const double much = weight * change[r * rows + o], *other = o ? X + o * n : first;
        if (much == 0.) continue;
        for (size_t j = 0; j < n; ++j) {
          add_to(shift ? j + 1 : n, much * X[r * n + j], other, bend + j * n);
        }
      }
    }
  }
  return dot(n, slope, slope);
}

/* What share of a way down from y to go, so that `trial` is flatter. With given shifts a least is
   sought, and slopes along the way show how far it is: values round too much. Else the whole slope
   has to fall. 0 where no share helps. */
SELDOM static double step_down(const Cones<double>* c, const double* step, double penalty,
                        const double* about, const double* shift, const double* y,
                        const double* way, double falls, double steep, double* trial, double* f,
                        double* slope) {
  const size_t n = c->size;
  double low = 0., high = 1., down = falls, up = 0., share = 1.;
  for (int i = 0; i < TRIES; ++i) {
    for (size_t j = 0; j < n; ++j) trial[j] = y[j] - share * way[j];
    const double now = penalize(c, step, penalty, about, shift, trial, f, slope, nullptr);
    if (!shift) {
      if (now < (1. - 1e-3 * share) * steep) return share;
      share /= 2.;
      continue;
    }
    const double left = dot(n, slope, way);
    if (fabs(left) <= 0.1 * falls || (!i && left > 0.)) return share;
    if (left > 0.) {
      low = share, down = left;
    } else {
      high = share, up = -left;
    }
    if (low > 0. && high - low < 0.05 * high) break;
    share = low + (high - low) * (i % 2 ? 0.5 : fmin(fmax(down / (down + up), 0.05), 0.95));
  }
  for (size_t j = 0; j < n; ++j) trial[j] = y[j] - low * way[j];
  return low;
}

/* Go to where the slope vanishes, by Newton's method from y; gives whether it does. */
SELDOM static int settle(const Cones<double>* c, const double* step, double penalty,
                         const double* about, const double* shift, double* y, double* f) {
  const size_t n = c->size;
  double *bend = c->room, *slope = bend + n * n, *way = slope + n, *trial = way + n;
  double *after = trial + n, flat = 0., steep = 0.;
  for (int k = 0; k < CONVEX_STEPS; ++k) {
    const double before = steep;
    steep = penalize(c, step, penalty, about, shift, y, f, slope, bend);
    const double size = 1. + dot(n, y, y);
    flat = NEARLY_FLAT * size;
    if (steep <= FLAT * size || (k && steep <= flat && steep > 0.5 * before)) return 1;
    memcpy(way, slope, n * sizeof *way);
    if (shift) {
      if (!cholesky(n, bend)) return 0;
      forward(n, bend, way);
      backward(n, bend, way);
    } else if (!eliminate(n, bend, way)) {
      return 0;
    }
    const double falls = dot(n, way, slope);
    if (step_down(c, step, penalty, about, shift, y, way, falls, steep, trial, f, after) > 0.) {
      memcpy(y, trial, n * sizeof *y);
    } else {
      break;
    }
  }
  return penalize(c, step, penalty, about, shift, y, f, slope, nullptr) <= flat;
}

/* Let shifts go a share of the way to what the velocities give. */
SELDOM static void follow_with(const Cones<double>* c, const double* y, double share,
                               double* shift) {
  const size_t n = c->size;
  for (size_t i = 0; i < c->contacts; ++i) {
    const size_t t = c->tangent[i];
    if (t == NO_ROW) continue;
    const double one = c->free[t] + dot(n, c->X + t * n, y);
    const double two = c->free[t + 1] + dot(n, c->X + (t + 1) * n, y);
    double* own = shift + c->normal[i];
    *own += share * (c->friction[i] * hypot(one, two) - *own);
  }
}

/* Impulses from those in f, safely, with penalties up to `hardest`; gives the least velocity by
   which a law is missed. Where contacts are redundant, rounds lead on slowly: impulses go on evenly
   from one to the next, until one comes to its bound. So rounds are leapt over there. */
SELDOM static double approach(const Cones<double>* c, const double* step, double* f, double size,
                       double enough, double hardest, double* best) {
  const size_t m = c->rows, n = c->size;
  double *about = c->room + m * m + n * n + 4 * n, *shift = about + m, *now = shift + m;
  double *error = now + m, *y = error + m, *ahead = y + n, *own = c->room + room_of_cones(m, n) - 2 * n - 5 * m, *last = own + m;
  double least = HUGE_VAL, before = HUGE_VAL, penalty = PENALTY, leap = 0.;
  int idle = 0, together = 0;
  memset(shift, 0, m * sizeof *shift);
  memcpy(about, f, m * sizeof *about);
  memcpy(last, f, m * sizeof *last);
  velocities_of(c, f, y);
  for (int k = 0; k < ROUNDS && idle < PATIENCE; ++k) {
    double gap = HUGE_VAL, other = HUGE_VAL;
    memcpy(ahead, y, n * sizeof *y);
    together = together && settle(c, step, penalty, about, nullptr, ahead, own);
    if (!together) {
      settle(c, step, penalty, about, shift, y, now);
      residual(c, step, now, error, nullptr, &gap);
      memcpy(ahead, y, n * sizeof *y);
      together = gap < NEARLY * size && settle(c, step, penalty, about, nullptr, ahead, own);
    }
    if (together) residual(c, step, own, error, nullptr, &other);
    together = other < gap;
    if (together) {
      gap = other;
      memcpy(y, ahead, n * sizeof *y);
      memcpy(now, own, m * sizeof *now);
    }
    const int slow = gap > 0.5 * before && gap < CLOSE * size, worse = gap > before;
    idle = gap < 0.9 * least ? 0 : idle + 1;
    if (gap < least) {
      least = gap;
      memcpy(best, now, m * sizeof *now);
    }
    if (!(gap > enough)) break;
    if (gap > WORSE * least) {
      memcpy(now, best, m * sizeof *now);
      velocities_of(c, now, y);
      if (!(leap > 0.)) penalty = hardest = fmax(PENALTY, penalty / HARDER);
      leap = 0., together = 0;
    } else {
      leap = slow && gap < 1.5 * before ? fmin(2. * leap + 1., FARTHEST) : 0.;
      if (slow) penalty = fmin(HARDER * penalty, hardest);
    }
    before = gap;
    for (size_t i = 0; i < m; ++i) about[i] = now[i] + leap * (now[i] - last[i]);
    memcpy(last, now, m * sizeof *now);
    follow_with(c, y, worse ? 0.5 : 1., shift);
  }
  return least;
}

/* Impulses of contacts one after the other, each by a projection with the velocity that the others
   leave it (Jean 1999): slow, but no contact has to be of the same kind from sweep to sweep. */
enum { SWEEPS = 50 };

SELDOM static void sweep(const Cones<double>* c, const double* step, double* f) {
  const size_t m = c->rows, size = c->size, last = m - c->bounded;
  const bool by_velocities = has_fewer_velocities(c);
  double* y = c->room + room_of_cones(m, size) - size;
  if (by_velocities) velocities_of(c, f, y);
  const auto freely = [&](size_t i) {  /* where its velocity leads */
    const double own = by_velocities ? dot(size, c->X + i * size, y) : dot(m, c->matrix + i * m, f);
    return f[i] - step[i] * (own + c->free[i]);
  };
  const auto let = [&](size_t i, double impulse) {
    if (by_velocities) add_to(size, impulse - f[i], c->X + i * size, y);
    f[i] = impulse;
  };
  const auto let_in_disc = [&](size_t t, size_t rows, double bound) {
    double z[2] = {};
    for (size_t r = 0; r < rows; ++r) z[r] = freely(t + r);
    const double length = sqrt(z[0] * z[0] + z[1] * z[1]);
    const double share = length > bound ? bound / length : 1.;
    for (size_t r = 0; r < rows; ++r) let(t + r, share * z[r]);
  };
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    let(n, fmax(0., freely(n)));
    if (t != NO_ROW) let_in_disc(t, 2, c->friction[k] * f[n]);
  }
  for (size_t k = 0; k < c->discs; ++k) {
    let_in_disc(c->disc[k], c->disc_rows[k], c->disc_friction[k] * f[c->disc_normal[k]]);
  }
  for (size_t i = last; i < m; ++i) {
    const double bound = c->bound[i - last];
    let(i, fmin(fmax(freely(i), -bound), bound));
  }
}

/* Sweeps from the impulses in f, and Newton's method from where they lead, this often at most; the
   best go to `best` if they miss laws by less than `least`. Gives by how much they do. */
SELDOM static double by_sweeps(const Cones<double>* c, const double* step, double* f, double enough,
                        double least, int times, double* best) {
  double* trial = c->room + room_of_cones(c->rows, c->size) - 2 * c->size - 3 * c->rows;
  for (int k = 0; k < times && least > enough; ++k) {
    for (int i = 0; i < SWEEPS; ++i) sweep(c, step, f);
    memcpy(trial, f, c->rows * sizeof *f);
    const double gap = newton_on_cones(c, step, trial, enough, SOFTER);
    if (gap < least) least = gap, memcpy(best, trial, c->rows * sizeof *best);
  }
  return least;
}

/* Newton's method on from f with projections in which impulses answer far more to velocities, then less
   and less, and once more from still further: what creeps, by velocities that are tiny compared with its
   impulses, goes or stays at once. The best go to `f` if they miss laws by less than `least`, which it
   gives. */
SELDOM static double by_calming(const Cones<double>* c, const double* step, double* f, double enough,
                         double bounds, double least) {
  const size_t m = c->rows;
  double* trial = c->room + room_of_cones(m, c->size) - 2 * c->size - 5 * m;
  double *own = trial + m, *error = own + m;
  memcpy(trial, f, m * sizeof *f);
  for (double most = MOST_EAGER; most <= MORE * MOST_EAGER; most *= MORE) {
    for (double eager = most; eager >= CALM && least > bounds; eager /= CALMER) {
      double gap;
      for (size_t i = 0; i < m; ++i) own[i] = eager * step[i];
      newton_on_cones(c, own, trial, enough, SOFT, bounds);
      residual(c, step, trial, error, nullptr, &gap);
      if (gap < least) least = gap, memcpy(f, trial, m * sizeof *f);
    }
  }
  return least;
}

/* Impulses of single problems: Newton's method, and where it does not settle the safe ways. */
enum { FEW = 4, MANY = 12 };

/* How well problems are solved. Newton's method begins with a `softness` (SOFT, EVEN). Safe ways follow
   where it leaves laws missed by a velocity above `begin`, until they are missed by `end` at most, or
   by so many `times` what was asked for if that is less; the proximal point goes on for `rounds`. */
struct Exactness {
  double softness, begin, end, times;
  int rounds;
};

static constexpr Exactness WHOLE = {SOFT, 0., 1e-9, 10., PROXIMAL_ROUNDS};

/* How many numbers of room single problems need: the last for a root of A. */
static inline size_t room_of_single(size_t m, size_t size) {
  return room_of_cones(m, size) + room_of_rounds(m) + m * m;
}

/* The safe ways, from where Newton's method has come to, which misses laws by `least`. */
SELDOM static double impulses_safely(const Cones<double>* c, double enough, double size, double* f,
                                     const Exactness& exactness, double first, double near,
                                     double least, double* best, double* step) {
  const size_t m = c->rows;
  double* way = c->room + room_of_cones(m, c->size) - 2 * c->size - 2 * m;
  double* rounds = c->room + room_of_cones(m, c->size);
  if (least > near) least = by_calming(c, step, f, enough, near, least);
  for (int k = 0; k < 2 && least > (k ? near : first); ++k) {  /* sweeps are for few rows */
    project_on_cones(c, f);
    memcpy(way, f, m * sizeof *f);
    least = (m < MANY_ROWS) == (k == 0)
                ? by_sweeps(c, step, way, first, least, FEW, f)
                : proximal_point(c, step, way, enough, near, exactness.rounds, least, rounds, f);
  }
  Cones<double> rooted = *c;
  if (least > near && c->root) rooted.X = root_of(m, c->matrix, c->root);
  if (least > near && c->X && c->size > 2 * m) {  /* few rows of many coordinates */
    rooted.X = root_of(m, c->matrix, rounds + room_of_rounds(m)), rooted.size = m;
  }
  for (double hardest = HARDEST; rooted.X && least > near && hardest > PENALTY; hardest /= 3.) {
    project_on_cones(c, f);
    double gap = approach(&rooted, step, f, size, near, hardest, best);
    if (gap > near) gap = fmin(gap, newton_on_cones(c, step, best, enough, SOFTER));
    if (gap < least) least = gap, memcpy(f, best, m * sizeof *f);
  }
  return least > near ? by_sweeps(c, step, way, enough, least, MANY, f) : least;
}

/* Impulses, from a guess in f; gives the largest velocity by which they miss a law, at most `enough`
   unless nothing better was found. size: of the velocities. */
static double impulses_of_island(const Cones<double>* c, double enough, double size, double* f,
                                 const Exactness& exactness) {
  const size_t m = c->rows;
  double *best = c->room + m * m + 8 * m + c->size * c->size + 6 * c->size, *step = best + m;
  steps_of(c, step);
  const double first = fmax(enough, exactness.begin);
  const double near = fmax(enough, fmin(exactness.end, exactness.times * enough));
  double least = HUGE_VAL;
  if (exactness.softness > SOFT) least = newton_on_cones(c, step, f, 0., exactness.softness);
  if (least > enough) least = newton_on_cones(c, step, f, enough, SOFT, first);
  if (least > fmin(first, near)) {
    least = impulses_safely(c, enough, size, f, exactness, first, near, least, best, step);
  }
  project_on_cones(c, f);
  return least;
}

/* Impulses of several problems at once by Newton's method alone; `done` says where that was enough. */
static realv impulses_of_cones(const Cones<realv>* c, double settled, realv* f, bitsv* done,
                               const Exactness& exactness) {
  const size_t m = c->rows;
  realv* step = c->room + m * m + 9 * m + c->size * c->size + 6 * c->size;
  const realv size = greatest_size(m, c->free);
  steps_of(c, step);
  const realv enough = settled * size;
  realv least = newton_on_cones(c, step, f, enough, exactness.softness, exactness.begin);
  const bitsv moves = is(size > 0.);
  for (size_t i = 0; i < m; ++i) f[i] = select(moves, f[i], all<realv>(0.));
  project_on_cones(c, f);
  take_least(c, f);
  *done = is(least <= enough) | ~moves;
  return select(moves, least, all<realv>(0.));
}
