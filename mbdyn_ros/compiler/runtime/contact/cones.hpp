/* Impulses f of contacts, stops and dry friction of joints as one problem, w = A f + b. Each constraint
   is a set in which its impulse lies, and a projection on that set:

     contact with friction   |f_t| <= mu f_n;  f_t = -mu f_n w_t / |w_t| where w_t is not 0   (Coulomb)
     contact, stop           0 <= f_n, 0 <= w_n, f_n w_n = 0                                  (Signorini)
     dry friction            |f_j| <= b_j;     f_j = -b_j sign(w_j) where w_j is not 0

   Newton's method on the projections (Alart and Curnier 1991), with a line search, from the last
   impulses finds them at once where contacts stay as they are. Where it does not, as where they are
   redundant, its steps are bounded (Levenberg 1944), and `proximal_point.hpp` and `cone_solver.hpp`
   have safer ways. */
#pragma once
#include "dense.hpp"
#include "tree_velocities.hpp"

enum { NEWTON_STEPS = 12, BOUNDED_STEPS = 24 };

#define PATIENT 2. /* steps on which little is gained, after which that is left at it */
enum { MANY_ROWS = 24 }; /* for which it is solved by fewer velocities */

#define NO_ROW ((size_t)-1)
#define LEAST_SHARE 0.05 /* of a Newton step that has to help */
#define HEAVY 1e3          /* velocities that impulses would make, of those that there are */
#define IDLE 1e-12    /* share of the largest of its own velocities that is none, of a contact */
#define SLIDING 1e-6  /* share of the bound of friction that is left where a contact sticks */
/* Share of the diagonal that Newton's matrix has more: at first, and where that is not enough. */
#define SOFT 1e-10
#define SOFTER 1e-8
#define BLIND 1e-16 /* share of an impulse that its error may hide, by rounding */
/* The same where no share of a step helps: at first, factors where that does not help either and where
   a whole step leaves more than this share, and at most. */
#define FIRST_BOUND 1e-2
#define TIGHTER 30.
#define LOOSER 0.1
#define LITTLE 0.25
#define TIGHTEST 1.
#define EVEN 1e-7 /* so much more at first where redundant contacts are to share their load evenly */

/* How many numbers of room m rows need. */
static inline size_t room_of_cones(size_t m, size_t size) {
  return m * m + 17 * m + size * size + 8 * size;
}

/* k contacts, the rows where their normals stand and the first of two tangents (NO_ROW: none), and
   their friction; then the last rows, each within +-bound. matrix = A = X X^T, X (rows, size); X is
   nullptr where A is not symmetric, as where contacts slide in given directions, and where it is not
   known: then `root` has memory for it, in which A is factored once X is needed. `room`: see
   `room_of_cones`. soft: (rows) what more a row's own impulse changes its velocity, or nullptr. Discs
   are what resists turning: the row of the normal, the first of one or two rows,
   and the friction (m); problems with discs know no safe way. islands: how many problems this one falls
   apart into, and which of them each row is of; with fewer than two nobody asks. solved: (islands)
   which are left as they are, or nullptr. trees: where all rows are on chains;
   else nullptr. */
template <class Real>
struct Cones {
  size_t rows, contacts, bounded, size;
  const size_t *normal, *tangent;
  const double* friction;
  const Real *bound, *matrix, *free, *X;
  Real *room, *root;
  size_t discs;
  const size_t *disc_normal, *disc, *disc_rows;
  const double* disc_friction;
  const Real* soft;
  size_t islands;
  const size_t* island;
  const char* solved;
  const Trees<Real>* trees;
};

template <class Real>
static void steps_of(const Cones<Real>* c, Real* step) {
  const size_t m = c->rows;
  const auto at = [c, m](size_t i) {
    return c->soft ? c->matrix[i * m + i] + c->soft[i] : c->matrix[i * m + i];
  };
  for (size_t i = 0; i < m; ++i) {
    const Real own = at(i);
    step[i] = select(is(own > 0.), 1. / own, all<Real>(1.));
  }
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    if (t == NO_ROW) continue;
    const Real size = at(t) + at(t + 1);
    step[t] = select(is(size > 1e-12 * at(n)), 1. / size, step[n]);
    step[t + 1] = step[t];
  }
  for (size_t k = 0; k < c->discs; ++k) {
    if (c->disc_rows[k] < 2) continue;
    const size_t t = c->disc[k];
    const Real size = at(t) + at(t + 1);
    step[t] = step[t + 1] = select(is(size > 0.), 1. / size, all<Real>(1.));
  }
}

/* The matrix D + P A of Newton's method, A without `soft`: D and P have blocks of one law each,

     normal, dry friction   D = rest,                 P = step own
     tangents               D = | rest_1  cross |     P = step | own_1  both |
                                | cross  rest_2 |,             | both  own_2 |,

   cross = -both without `soft`, and D has -lean in the column of their normal. */
template <class Real>
struct Slopes {
  Real *own, *both, *lean, *rest;  /* (rows) */
};

template <class Real>
static inline Real cross_of(const Cones<Real>* c, const Slopes<Real>& s, const Real* step, size_t t) {
  return c->soft ? (step[t] * c->soft[t] - 1.) * s.both[t] : -s.both[t];
}

/* Their place in the room, after what Newton's method keeps there. */
template <class Real>
static Slopes<Real> slopes_of(const Cones<Real>* c) {
  const size_t m = c->rows, n = c->size;
  Real* at = c->room + m * m + 4 * m + n * n + n;
  return {at, at + m, at + 2 * m, at + 3 * m};
}

/* f - projection(f - step w) of one or two rows from t on within a disc of mu times the impulse along n,
   and its slopes if wanted. */
template <class Real>
static inline void disc_residual(const Real* f, const Real* trial, size_t n, size_t t, double mu,
                                 bool two_rows, Real* error, const Slopes<Same<Real>>* slopes) {
  const Real p = trial[t], r = two_rows ? trial[t + 1] : all<Real>(0.);
  const Real bound = mu * select(is(f[n] > 0.), f[n], all<Real>(0.));
  Real square = p * p;
  square += r * r;
  const Real length = root(square);
  const Bits<Real> sticks = is(length <= bound), slides = ~sticks & is(bound > 0.);
  const Real x = select(slides, p / length, all<Real>(0.));
  const Real y = select(slides, r / length, all<Real>(0.));
  error[t] = f[t] - select(sticks, p, bound * x);
  if (two_rows) error[t + 1] = f[t + 1] - select(sticks, r, bound * y);
  if (!slopes) return;
  /* the projection's derivative: across the way where it slides */
  const Real share = select(slides, bound / length, all<Real>(0.));
  const Real one = select(sticks, all<Real>(1.), share * y * y);
  slopes->own[t] = one, slopes->rest[t] = 1. - one, slopes->lean[t] = mu * x;
  slopes->both[t] = -share * x * y;
  if (!two_rows) return;
  const Real two = select(sticks, all<Real>(1.), share * x * x);
  slopes->own[t + 1] = two, slopes->rest[t + 1] = 1. - two, slopes->lean[t + 1] = mu * y;
}

/* The same of a row by itself, which `moves` with its velocity, or is at its bound. */
template <class Real>
static inline void row_slopes(const Slopes<Real>* slopes, size_t i, Bits<Real> moves) {
  slopes->own[i] = select(moves, all<Real>(1.), all<Real>(0.));
  slopes->rest[i] = select(moves, all<Real>(0.), all<Real>(1.));
  slopes->lean[i] = all<Real>(0.);
}

/* Whether velocities are few against rows, so that problems are for these. */
static inline bool are_fewer(size_t size, size_t rows) {
  return rows >= MANY_ROWS && 2 * rows > 3 * size;
}

/* Whether Newton's method is for velocities, of which there are fewer than rows. Then of A only what a
   contact's impulses change of its own velocities is asked for. */
template <class Real>
static inline bool has_fewer_velocities(const Cones<Real>* c) {
  return c->X && !c->discs && (c->trees || are_fewer(c->size, c->rows));
}

/* y = X^T f */
template <class Real>
static void velocities_of(const Cones<Real>* c, const Real* f, Real* y) {
  clear(c->size, y);
  add_rows(c->rows, c->size, f, c->X, y);
}

/* f - projection(f - step w), zero where the laws hold; its slopes too if wanted. Gives the
   sum of squares, each by its weight, and the largest velocity by which a law is missed. */
template <class Real>
static Real residual(const Cones<Real>* c, const Real* step, const Real* f, Real* error,
                     const Slopes<Same<Real>>* slopes, Real* gap) {
  const size_t m = c->rows, last = m - c->bounded;
  const Real* a = c->matrix;
  Real* __restrict trial = c->room + m * m + 10 * m + c->size * c->size + 6 * c->size;
  copy(m, c->free, trial);
  if (has_fewer_velocities(c)) {
    Real* y = slopes_of(c).rest + m;  /* (size) */
    velocities_of(c, f, y);
    for (size_t i = 0; i < m; ++i) trial[i] += dot(c->size, c->X + i * c->size, y);
  } else if (c->X || c->root) {
    add_rows(m, m, f, a, trial);
  } else {
    for (size_t i = 0; i < m; ++i) trial[i] += dot(m, a + i * m, f);
  }
  for (size_t i = 0; c->soft && i < m; ++i) trial[i] += c->soft[i] * f[i];
  each_piece<Real>(m, [=](auto piece, size_t i) {
    using Piece = decltype(piece);
    put(trial + i, at<Piece>(f + i) - at<Piece>(step + i) * at<Piece>(trial + i));
  });
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    const Bits<Real> pushes = is(trial[n] > 0.);
    error[n] = f[n] - select(pushes, trial[n], all<Real>(0.));
    if (slopes) row_slopes(slopes, n, pushes);
    if (t == NO_ROW) continue;
    disc_residual(f, trial, n, t, c->friction[k], true, error, slopes);
  }
  for (size_t k = 0; k < c->discs; ++k) {
    disc_residual(f, trial, c->disc_normal[k], c->disc[k], c->disc_friction[k],
                  c->disc_rows[k] > 1, error, slopes);
  }
  for (size_t i = last; i < m; ++i) {
    const Real bound = c->bound[i - last];
    error[i] = f[i] - least(greatest(trial[i], -bound), bound);
    if (slopes) row_slopes(slopes, i, is(magnitude(trial[i]) < bound));
  }
  for (size_t i = 0; slopes && c->soft && i < m; ++i) {
    slopes->rest[i] += slopes->own[i] * step[i] * c->soft[i];
  }
  Real* velocity = trial;
  *gap = greatest_of<Real>(m, [=](auto piece, size_t i) {
    using Piece = decltype(piece);
    const Piece own = at<Piece>(error + i), size = at<Piece>(step + i);
    put(velocity + i, own / size);
    return (magnitude(own) + BLIND * magnitude(at<Piece>(f + i))) / size;
  });
  return dot(m, error, velocity);
}

/* Do `alone` with every row by itself, then `disc` with the first of one or two rows in a disc, how
   many these are, and the row of their normal. */
template <class Real, class Alone, class Disc>
static inline void each_law(const Cones<Real>* c, const Alone& alone, const Disc& disc) {
  for (size_t k = 0; k < c->contacts; ++k) {
    alone(c->normal[k]);
    if (c->tangent[k] != NO_ROW) disc(c->tangent[k], 2, c->normal[k]);
  }
  for (size_t k = 0; k < c->discs; ++k) disc(c->disc[k], c->disc_rows[k], c->disc_normal[k]);
  for (size_t i = c->rows - c->bounded; i < c->rows; ++i) alone(i);
}

/* Solve a x = x in place, of which x is known in rows that are those of 1, as of contacts that are open
   and of what is at its bound: these are left out, or would be. */
template <class Real>
static Bits<Real> solve_open_rows(const Cones<Real>* c, const Slopes<Real>& s, Real* a, Real* x) {
  const size_t m = c->rows, n = c->size;
  const auto known = [&s](size_t i) { return is(s.own[i] == 0.) & is(s.lean[i] == 0.); };
  if constexpr (is_single<Real>) {
    size_t* row = reinterpret_cast<size_t*>(c->room + m * m + 11 * m + n * n + 6 * n);
    size_t count = 0, end = m;
    for (size_t i = 0; i < m; ++i) row[known(i) ? --end : count++] = i;
    if (count == m) return eliminate(m, a, x);
    double* y = c->room + m * m + m;
    for (size_t k = 0; k < count; ++k) {
      const double* whole = a + row[k] * m;
      y[k] = x[row[k]];
      for (size_t i = m; i-- > count;) y[k] -= whole[row[i]] * x[row[i]];
      for (size_t j = 0; j < count; ++j) a[k * count + j] = whole[row[j]];
    }
    const bits1 regular = eliminate(count, a, y);
    for (size_t k = 0; k < count; ++k) x[row[k]] = y[k];
    return regular;
  } else {
    for (size_t i = 0; i < m; ++i) {
      const Bits<Real> here = known(i);
      for (size_t k = 0; any(here) && k < m; ++k) {
        if (k == i) continue;
        Real* one = a + k * m + i;
        x[k] -= select(here, *one * x[i], all<Real>(0.));
        *one = select(here, all<Real>(0.), *one);
      }
    }
    return eliminate(m, a, x);
  }
}

/* Solve (D + P A) x = x in place by the rows; where that is possible. */
template <class Real>
static Bits<Real> solve_by_rows(const Cones<Real>* c, const Slopes<Real>& s, const Real* step,
                                Real* x) {
  const size_t m = c->rows;
  const Real* a = c->matrix;
  Real* slope = c->room;
  const auto alone = [&](size_t i) {
    const Real share = s.own[i] * step[i];
    Real* row = slope + i * m;
    each_piece<Real>(m, [=](auto piece, size_t j) {
      put(row + j, share * at<decltype(piece)>(a + i * m + j));
    });
    row[i] += s.rest[i];
  };
  each_law(c, alone, [&](size_t t, size_t rows, size_t n) {
    if (rows == 1) {
      alone(t);
      slope[t * m + n] -= s.lean[t];
      return;
    }
    const Real *row = a + t * m, *other = row + m, one = s.own[t], two = s.own[t + 1];
    const Real both = s.both[t], cross = cross_of(c, s, step, t);
    Real *first = slope + t * m, *second = first + m;
    const Real size = step[t];
    each_piece<Real>(m, [=](auto piece, size_t j) {
      using Piece = decltype(piece);
      const Piece u = size * at<Piece>(row + j), v = size * at<Piece>(other + j);
      put(first + j, one * u + both * v), put(second + j, two * v + both * u);
    });
    first[t] += s.rest[t], second[t + 1] += s.rest[t + 1];
    first[t + 1] += cross, second[t] += cross;
    first[n] -= s.lean[t], second[n] -= s.lean[t + 1];
  });
  return solve_open_rows(c, s, slope, x);
}

/* 1 + X^T Q (n, n) of matrices (m, n), by tiles that fit into registers; sums are in the order of rows,
   from the first on in which X has numbers. begins: room for n numbers. */
template <class Real>
static void one_and_products(size_t m, size_t n, const Real* X, const Real* Q, size_t* begins,
                             Real* sum) {
  constexpr size_t HIGH = 8, WIDE = is_single<Real> ? LANES : 1;
  const auto empty = [&](size_t i, size_t from) {
    for (size_t j = from; j < n && j < from + HIGH; ++j) {
      if (any(is(X[i * n + j] != 0.))) return false;
    }
    return true;
  };
  for (size_t j = 0; j < n; j += HIGH) {
    size_t& begin = begins[j / HIGH] = 0;
    while (begin < m && empty(begin, j)) ++begin;
  }
  for (size_t j = 0; j < n; j += HIGH) {
    const size_t rows = n - j < HIGH ? n - j : HIGH;
    for (size_t k = 0; k < n; k += WIDE) {
      const size_t columns = n - k < WIDE ? n - k : WIDE;
      const size_t one = begins[j / HIGH], other = begins[k / HIGH];
      const size_t whole = m + 1 - (j + HIGH + n - 1) / n;
      realv tile[HIGH] = {}, done[HIGH], own;
      size_t i = one > other ? one : other;
      for (; i < whole; ++i) {  /* beyond a row come the next ones */
        const Real *__restrict high = X + i * n + j, *__restrict wide = Q + i * n + k;
        memcpy(&own, wide, sizeof own);
        for (size_t r = 0; r < HIGH; ++r) tile[r] += high[r] * own;
      }
      for (size_t r = 0; r < HIGH; ++r) done[r] = tile[r];
      for (; i < m; ++i) {
        memcpy(&own, Q + i * n + k, sizeof own);
        for (size_t r = 0; r < rows; ++r) done[r] += X[i * n + j + r] * own;
      }
      for (size_t r = 0; r < rows; ++r) {
        memcpy(sum + (j + r) * n + k, done + r, columns * sizeof(Real));
      }
    }
  }
  for (size_t j = 0; j < n; ++j) sum[j * n + j] += 1.;
}

/* The same where A = X X^T, by the velocities z = X^T x, of which there are fewer: with G = D^-1 x and
   Q = D^-1 P X,

     (1 + X^T Q) z = X^T G,   x = G - Q z.                                         (Woodbury 1950) */
template <class Real>
static Bits<Real> solve_by_velocities(const Cones<Real>* c, const Slopes<Real>& s, const Real* step,
                                      Real* x) {
  const size_t m = c->rows, n = c->size;
  Real *Q = c->room, *bend = Q + m * m + 4 * m, *z = bend + n * n;
  const auto alone = [&](size_t i) {
    const Real share = 1. / s.rest[i], much = s.own[i] * step[i] * share;
    const Real* X = c->X + i * n;
    Real* row = Q + i * n;
    each_piece<Real>(n, [=](auto piece, size_t j) {
      put(row + j, much * at<decltype(piece)>(X + j));
    });
    x[i] *= share;
  };
  each_law(c, alone, [&](size_t t, size_t, size_t normal) {
    const Real both = s.both[t], one = s.own[t], two = s.own[t + 1];
    const Real cross = cross_of(c, s, step, t);
    const Real scale = 1. / (s.rest[t] * s.rest[t + 1] - cross * cross);
    const Real rest[] = {s.rest[t], s.rest[t + 1]}, lean[] = {s.lean[t], s.lean[t + 1]}, size = step[t];
    const auto undo = [=](auto u, auto v, auto* first, auto* second) {  /* by the block of D */
      put(first, (rest[1] * u - cross * v) * scale), put(second, (rest[0] * v - cross * u) * scale);
    };
    const Real *X = c->X + t * n, *own = Q + normal * n;
    Real* first = Q + t * n;
    each_piece<Real>(n, [=](auto piece, size_t j) {
      using Piece = decltype(piece);
      const Piece u = size * at<Piece>(X + j), v = size * at<Piece>(X + n + j), w = at<Piece>(own + j);
      undo(one * u + both * v + lean[0] * w, both * u + two * v + lean[1] * w, first + j, first + n + j);
    });
    x[t] += s.lean[t] * x[normal], x[t + 1] += s.lean[t + 1] * x[normal];
    undo(x[t], x[t + 1], x + t, x + t + 1);
  });
  one_and_products(m, n, c->X, Q, reinterpret_cast<size_t*>(z), bend);
  velocities_of(c, x, z);
  const Bits<Real> regular = eliminate(n, bend, z);
  for (size_t i = 0; i < m; ++i) x[i] -= dot(n, Q + i * n, z);
  return regular;
}

/* The same by velocities of trees, see tree_velocities.hpp. */
template <class Real>
static Bits<Real> solve_by_trees(const Cones<Real>* c, const Slopes<Real>& s, const Real* step, Real* x) {
  const Trees<Real>& t = *c->trees;
  const size_t n = t.n;
  const Packed<Real> N = {t.room, t.room + t.size, t.room + 2 * t.size};
  Real *y = N.diagonal + n, *room = y + n, *W = c->room;
  copy(t.size, t.mass, N.row), copy(t.size, t.mass, N.column), copy(n, t.mass + t.size, N.diagonal);
  clear(n, y);
  const auto alone = [&](size_t i) {
    const Real share = 1. / s.rest[i];
    W[3 * i] = s.own[i] * step[i] * share;
    x[i] *= share;
  };
  const auto add_alone = [&](size_t i) {
    alone(i);
    const Real own[1][1] = {{W[3 * i]}};
    add_rows_on_chain<1>(t, N, i, own, room);
    push_on_chain<1>(t, i, x, y);
  };
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t i = c->normal[k], j = c->tangent[k];
    if (j == NO_ROW) {
      add_alone(i);
      continue;
    }
    alone(i);
    const Real both = s.both[j], one = s.own[j], two = s.own[j + 1], cross = cross_of(c, s, step, j);
    const Real scale = 1. / (s.rest[j] * s.rest[j + 1] - cross * cross), size = step[j];
    const auto undo = [&](Real u, Real v, Real* first, Real* second) {  /* by the block of D */
      *first = (s.rest[j + 1] * u - cross * v) * scale, *second = (s.rest[j] * v - cross * u) * scale;
    };
    Real own[3][3] = {{W[3 * i], all<Real>(0.), all<Real>(0.)}};
    undo(s.lean[j] * own[0][0], s.lean[j + 1] * own[0][0], &own[1][0], &own[2][0]);
    undo(size * one, size * both, &own[1][1], &own[2][1]);
    undo(size * both, size * two, &own[1][2], &own[2][2]);
    x[j] += s.lean[j] * x[i], x[j + 1] += s.lean[j + 1] * x[i];
    undo(x[j], x[j + 1], x + j, x + j + 1);
    copy(9, own[0], W + 3 * i);
    push_on_chain<3>(t, i, x, y);
    if (any(is(own[0][0] != 0.) | is(one != 0.) | is(two != 0.))) add_rows_on_chain<3>(t, N, i, own, room);
  }
  for (size_t i = c->rows - c->bounded; i < c->rows; ++i) add_alone(i);
  const Bits<Real> regular = solve_on_chains(t, N, y);
  const auto take_alone = [&](size_t i) {
    Real moves;
    along_chain<1>(t, i, y, &moves);
    x[i] -= W[3 * i] * moves;
  };
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t i = c->normal[k];
    if (c->tangent[k] == NO_ROW) {
      take_alone(i);
      continue;
    }
    Real moves[3];
    along_chain<3>(t, i, y, moves);
    for (size_t r = i; r < i + 3; ++r) {
      Real sum = W[3 * r] * moves[0];
      sum += W[3 * r + 1] * moves[1], sum += W[3 * r + 2] * moves[2];
      x[r] -= sum;
    }
  }
  for (size_t i = c->rows - c->bounded; i < c->rows; ++i) take_alone(i);
  return regular;
}

/* Newton's method from f, which stays the best of the way; gives the velocity it misses laws by.
   Single numbers try shorter steps where a whole one does not help, which is to leave less than before
   one of the last two; vectors leave it at that. Where no share helps, as where contacts are redundant,
   and laws are missed by more than `bounds`, steps are bounded by more on the diagonal, from then on in
   the measure in which laws are missed; where they are missed by less, it leaves off where little is
   gained. On trees a step that does not help is taken with pivots. */
template <class Real>
static Real newton_on_cones(const Cones<Real>* c, const Real* step, Real* f, Real enough,
                               double softness, double bounds = HUGE_VAL) {
  const size_t m = c->rows;
  const bool by_velocities = has_fewer_velocities(c);
  bool by_trees = c->trees, pivoted = !c->trees;
  if (by_velocities || by_trees) softness = fmax(softness, EVEN);  /* they round the more the less it is */
  const Slopes<Real> slopes = slopes_of(c);
  Real *error = c->room + m * m, *trial = error + m, *way = trial + m;
  Real *now = way + m, gap, least = all<Real>(HUGE_VAL);
  Bits<Real> open = is(least > 0.);
  copy(m, f, now);
  Real size = residual(c, step, now, error, &slopes, &gap), before = size;
  Real slow = all<Real>(0.);
  double bound = 0.;  /* what the diagonal has more, for each m/s */
  for (int k = 0; k < (is_single<Real> && bounds < HUGE_VAL ? BOUNDED_STEPS : NEWTON_STEPS); ++k) {
    const Bits<Real> better = open & is(gap < least);
    slow = select(is(gap > 0.5 * least), slow + 1., all<Real>(0.));  /* it creeps */
    if (bounds < HUGE_VAL) open &= ~(is(slow >= PATIENT) & (is(gap <= bounds) | is(least <= bounds)));
    least = select(better, gap, least);
    take(better, m, now, f);
    open &= is(gap > enough);
    if (!any(open)) break;
    copy(m, error, way);
    Real soft = all<Real>(softness);
    if constexpr (is_single<Real>) soft = fmax(soft, fmin(bound * gap, TIGHTEST));
    add_to(m, soft, slopes.own, slopes.rest);
    open &= by_trees        ? solve_by_trees(c, slopes, step, way)
            : by_velocities ? solve_by_velocities(c, slopes, step, way)
                            : solve_by_rows(c, slopes, step, way);
    const Real most = greatest(size, before);
    double share = 1.;
    for (;; share /= 2.) {
      each_piece<Real>(m, [=](auto piece, size_t i) {
        using Piece = decltype(piece);
        put(trial + i, at<Piece>(now + i) - share * at<Piece>(way + i));
      });
      const Real left = residual(c, step, trial, error, &slopes, &gap);
      const Bits<Real> helps = open & is(left < (1. - 2e-4 * share) * most);
      if (Number<Real>::lanes > 1 || any(helps) || !any(open) || share / 2. < LEAST_SHARE) {
        open = helps;
        before = select(open, size, before), size = select(open, left, size);
        break;
      }
    }
    if constexpr (is_single<Real>) {
      if (!open && !pivoted) {  /* pivots may help */
        residual(c, step, now, error, &slopes, &gap);
        by_trees = false, pivoted = true, open = is(true);
        continue;
      }
      by_trees = c->trees;
      if (open && share == 1. && size > LITTLE * before) bound *= LOOSER;
      if (!open && least > bounds && soft < TIGHTEST) {
        residual(c, step, now, error, &slopes, &gap);
        bound = fmax(TIGHTER * soft, FIRST_BOUND) / gap;
        open = is(true);
        continue;
      }
    }
    if (!any(open)) break;
    take(open, m, trial, now);
  }
  return least;
}

/* Where impulses are so much larger than the velocities ask for that they mostly press against
   each other. */
template <class Real>
static Bits<Real> are_heavy(const Cones<Real>* c, const Real* f) {
  Real most = all<Real>(0.);
  for (size_t i = 0; i < c->rows; ++i) most = greatest(most, magnitude(f[i]) * c->matrix[i * c->rows + i]);
  return is(most > HEAVY * greatest_size(c->rows, c->free));
}

/* Impulses that are allowed, whatever the velocities: none pulls, all within their cones. */
template <class Real>
static void project_on_cones(const Cones<Real>* c, Real* f) {
  for (size_t k = 0; k < c->contacts; ++k) {
    const size_t n = c->normal[k], t = c->tangent[k];
    f[n] = greatest(f[n], all<Real>(0.));
    if (t == NO_ROW) continue;
    Real square = f[t] * f[t];
    square += f[t + 1] * f[t + 1];
    const Real length = root(square), bound = c->friction[k] * f[n];
    const Real share = select(is(length > bound), bound / length, all<Real>(1.));
    f[t] *= share, f[t + 1] *= share;
  }
  for (size_t k = 0; k < c->discs; ++k) {
    const size_t t = c->disc[k], rows = c->disc_rows[k];
    Real square = f[t] * f[t];
    if (rows > 1) square += f[t + 1] * f[t + 1];
    const Real length = root(square), bound = c->disc_friction[k] * f[c->disc_normal[k]];
    const Real share = select(is(length > bound), bound / length, all<Real>(1.));
    for (size_t r = 0; r < rows; ++r) f[t + r] *= share;
  }
  for (size_t i = 0; i < c->bounded; ++i) {
    Real* one = f + c->rows - c->bounded + i;
    *one = least(greatest(*one, -c->bound[i]), c->bound[i]);
  }
}

/* Impulses f (3) along a normal and two tangents whose velocities are B f, of a B that has no inverse:
   the least that make the same velocities, as near as they are within the cone. */
static inline void take_least(const double (*B)[3], double mu, double* f) {
  const double size = B[0][0] + B[1][1] + B[2][2];
  double adjugate[3][3], longest = 0., least[3] = {f[0], f[1], f[2]};
  const double* idle = adjugate[0];
  int most = 0;
  for (int r = 0; r < 3; ++r) {
    crossed(B[(r + 1) % 3], B[(r + 2) % 3], adjugate[r]);
    const double length = dot(3, adjugate[r], adjugate[r]);
    if (length > longest) longest = length, idle = adjugate[r];
    if (B[r][r] > B[most][most]) most = r;
  }
  if (sqrt(longest) > IDLE * size * size) {  /* one way moves nothing */
    add_to(3, -dot(3, idle, f) / longest, idle, least);
  } else {  /* all but one do not */
    const double *row = B[most], square = dot(3, row, row);
    for (int r = 0; r < 3; ++r) least[r] = square > 0. ? dot(3, row, f) / square * row[r] : 0.;
  }
  const double change[] = {least[0] - f[0], least[1] - f[1], least[2] - f[2]}, bound = mu * f[0];
  /* |f_t + s change_t| = mu (f_n + s change_n) */
  const double a = change[1] * change[1] + change[2] * change[2] - mu * mu * change[0] * change[0];
  const double b = f[1] * change[1] + f[2] * change[2] - mu * bound * change[0];
  const double c = f[1] * f[1] + f[2] * f[2] - bound * bound;
  if (!(c < -SLIDING * bound * bound)) return;  /* it slides, or is about to */
  double share = 1.;
  if (least[0] < 0. || a + 2. * b + c > 0.) share = -c / (b + sqrt(fmax(b * b - a * c, 0.)));
  add_to(3, fmin(share, 1.), change, f);
}

/* Contacts that stick take no more than holds them: where joints leave them fewer than three velocities,
   impulses along what cannot move change nothing, and rounding alone would decide how large they are. */
template <class Real>
static void take_least(const Cones<Real>* c, Real* f) {
  const size_t m = c->rows;
  for (size_t k = 0; !c->soft && !c->discs && k < c->contacts; ++k) {
    if (c->tangent[k] == NO_ROW) continue;
    const size_t rows[] = {c->normal[k], c->tangent[k], c->tangent[k] + 1};
    Real B[3][3], minors = all<Real>(0.), determinant = minors, size = minors;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) B[i][j] = c->matrix[rows[i] * m + rows[j]];
    }
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, l = (i + 2) % 3;
      size += B[i][i];
      minors += B[j][j] * B[l][l] - B[j][l] * B[l][j];
      determinant += B[0][i] * (B[1][j] * B[2][l] - B[1][l] * B[2][j]);
    }
    const Bits<Real> idle = is(determinant <= IDLE * size * greatest(minors, IDLE * size * size));
    if (!any(idle)) continue;
    Real own[] = {f[rows[0]], f[rows[1]], f[rows[2]]};
    for (size_t l = 0; l < Number<Real>::lanes; ++l) {
      double matrix[3][3], one[3];
      for (int i = 0; i < 3; ++i) {
        one[i] = lane(own[i], l);
        for (int j = 0; j < 3; ++j) matrix[i][j] = lane(B[i][j], l);
      }
      take_least(matrix, c->friction[k], one);
      for (int i = 0; i < 3; ++i) lane(own[i], l) = one[i];
    }
    for (int i = 0; i < 3; ++i) f[rows[i]] = select(idle, own[i], f[rows[i]]);
  }
}
