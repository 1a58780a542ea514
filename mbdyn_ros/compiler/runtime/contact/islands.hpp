/* Problems of contacts that fall apart, as where many things lie on one floor: islands of rows whose
   impulses change no velocity of another island. Each is solved by itself, as fast as it settles, with
   matrices of its own size. */
#pragma once
#include "cone_solver.hpp"

/* How many numbers of room the solver of an island of at most m rows needs, */
static inline size_t room_of_island(size_t m, size_t size) {
  return room_of_single(m, size < MANY_ROWS ? (size_t)MANY_ROWS : size);
}

/* and all of them together. */
static inline size_t room_of_islands(size_t m, size_t size) {
  return room_of_island(m, size) + 2 * m * m + m * size + size + 13 * m;
}

/* One island of a problem, with its rows one behind the other, and room for it. */
class Island {
 public:
  Island(const Cones<double>* whole, double* room) : c(whole) {
    const size_t m = c->rows;
    const auto take = [&room](size_t count) { return room += count, room - count; };
    A = take(m * m), root = take(m * m), X = take(m * c->size);
    b = take(m), f = take(m), bound = take(m), mu = take(m), disc_mu = take(m);
    const auto places = [&](size_t count) { return reinterpret_cast<size_t*>(take(count)); };
    row = places(m), local = places(m), normal = places(m), tangent = places(m);
    disc_normal = places(m), disc = places(m), disc_rows = places(m), column = places(c->size);
  }

  /* Impulses of the island of this number, from and to those of the whole problem. */
  double solve(size_t number, double enough, double size, const Exactness& exactness,
               double* impulses) {
    const Cones<double> part = gather(number);
    for (size_t i = 0; i < part.rows; ++i) f[i] = impulses[row[i]];
    const double missed = impulses_of_island(&part, enough, size, f, exactness);
    for (size_t i = 0; i < part.rows; ++i) impulses[row[i]] = f[i];
    return missed;
  }

 private:
  Cones<double> gather(size_t number) {
    const size_t *of = c->island, end = c->rows - c->bounded;
    size_t m = 0, contacts = 0, bounded = 0, discs = 0;
    for (size_t i = 0; i < c->rows; ++i) {
      if (of[i] == number) local[i] = m, row[m++] = i;
    }
    for (size_t k = 0; k < c->contacts; ++k) {
      if (of[c->normal[k]] != number) continue;
      normal[contacts] = local[c->normal[k]], mu[contacts] = c->friction[k];
      tangent[contacts++] = c->tangent[k] == NO_ROW ? NO_ROW : local[c->tangent[k]];
    }
    for (size_t d = 0; d < c->discs; ++d) {
      if (of[c->disc[d]] != number) continue;
      disc_normal[discs] = local[c->disc_normal[d]], disc[discs] = local[c->disc[d]];
      disc_rows[discs] = c->disc_rows[d], disc_mu[discs++] = c->disc_friction[d];
    }
    for (size_t i = end; i < c->rows; ++i) {
      if (of[i] == number) bound[bounded++] = c->bound[i - end];
    }
    for (size_t i = 0; i < m; ++i) {
      const double* whole = c->matrix + row[i] * c->rows;
      for (size_t j = 0; j < m; ++j) A[i * m + j] = whole[row[j]];
      b[i] = c->free[row[i]];
    }
    const bool known = c->X && m >= MANY_ROWS;
    const size_t columns = known ? gather_columns(m) : m;
    return {m, contacts, bounded, columns, normal, tangent, mu, bound, A, b, known ? X : nullptr,
            c->room, !known && (c->X || c->root) ? root : nullptr, discs, disc_normal, disc,
            disc_rows, disc_mu, nullptr, 0, nullptr, nullptr, nullptr};
  }

  /* X of the coordinates that move the island; gives how many. */
  size_t gather_columns(size_t m) {
    size_t count = 0;
    for (size_t j = 0; j < c->size; ++j) {
      bool moves = false;
      for (size_t i = 0; i < m && !moves; ++i) moves = c->X[row[i] * c->size + j] != 0.;
      if (moves) column[count++] = j;
    }
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < count; ++j) X[i * count + j] = c->X[row[i] * c->size + column[j]];
    }
    return count;
  }

  const Cones<double>* c;
  double *A, *root, *X, *b, *f, *bound, *mu, *disc_mu;
  size_t *row, *local, *normal, *tangent, *disc_normal, *disc, *disc_rows, *column;
};

/* Impulses, from a guess in f; gives the largest velocity by which they miss a law, at most
   `settled` times that of b unless nothing better was found. */
static double impulses_of_cones(const Cones<double>* c, double settled, double* f, bits1* done,
                                const Exactness& exactness = WHOLE) {
  const double size = greatest_size(c->rows, c->free);
  double missed = 0.;
  if (!(size > 0.)) {
    memset(f, 0, c->rows * sizeof *f);
    *done = is(true);
    return 0.;
  }
  const double enough = settled * size;
  if (c->islands < 2) {
    missed = impulses_of_island(c, enough, size, f, exactness);
  } else {
    Island island(c, c->room + room_of_island(c->rows, c->size));
    for (size_t k = 0; k < c->islands; ++k) {
      if (c->solved && c->solved[k]) continue;
      missed = fmax(missed, island.solve(k, enough, size, exactness, f));
    }
  }
  take_least(c, f);
  *done = is(missed <= enough);
  return missed;
}
