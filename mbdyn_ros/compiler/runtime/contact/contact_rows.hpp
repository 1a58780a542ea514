/* Rows of contacts that are held, and how their velocities answer to impulses. The
   contacts of motions in a vector may differ. */
#pragma once
#include "contact_jacobian.hpp"
#include "mass_factor.hpp"
#include "wall_laws.hpp"


/* The coordinates from the first to the last of a row's reach; it has no numbers beyond. */
struct Span {
  size_t from, to;
};

template <class Real>
static inline Span span_of(const Work<Real>* x, size_t m) {
  const size_t count = x->reaches[m];
  if (!count) return {0, 0};
  return {(size_t)x->reach[m][0], (size_t)x->reach[m][count - 1] + 1};
}

/* Let a row be of a contact or of a rubbing joint; its numbers are those before. */
template <class Real>
static Real* place_row(const struct walls* w, Work<Real>* x, size_t m, size_t k) {
  const size_t first_slot = w->contacts - w->slots;
  x->whose[m] = k;
  if (k < first_slot || k >= w->contacts) {
    x->reach[m] = w->reach + w->reach_start[k];
    x->reaches[m] = (size_t)(w->reach_start[k + 1] - w->reach_start[k]);
  } else {
    const size_t block = (k - first_slot) / MOST_POINTS;
    x->reach[m] = x->pair_reach + block * w->nv;
    x->reaches[m] = x->pair_reaches[block];
  }
  return x->S + m * w->nv;
}

/* Begin rows of a contact, one after the other, or one of a rubbing joint. */
template <class Real>
static Real* begin_rows(const struct walls* w, Work<Real>* x, size_t m, size_t k, size_t rows) {
  for (size_t r = 0; r < rows; ++r) place_row(w, x, m + r, k);
  Real* row = x->S + m * w->nv;
  const Span span = span_of(x, m);
  for (size_t r = 0; r < rows; ++r) {
    Real* own = row + r * w->nv;
    each_piece<Real>(span.to - span.from, [=](auto piece, size_t j) {
      put(own + span.from + j, decltype(piece){});
    });
  }
  return row;
}

template <class Real>
static Real* begin_row(const struct walls* w, Work<Real>* x, size_t m, size_t k) {
  return begin_rows(w, x, m, k, 1);
}

/* The numbers of a row to another one. */
template <class Real>
static inline void copy_row(const Work<Real>* x, size_t m, const Real* row, Real* other) {
  const Span span = span_of(x, m);
  copy(span.to - span.from, row + span.from, other + span.from);
}

/* The rows of a contact: along its normal, with friction two tangents, and what resists turning. */
template <class Real>
static size_t rows_of_contact(const struct walls* w, Work<Real>* x, size_t i, size_t m) {
  const size_t n = w->nv, k = x->active[i], start = m;
  const Real* body = x->column + x->body[k];
  x->first[i] = m;
  x->tangent[i] = NO_ROW;
  if (is_single<Real> && w->laws) x->carry[m] = 0.;
  x->mu[i] = x->friction[k];
  if (w->normal[k] < 0) {
    Real* row = begin_row(w, x, m, k);
    copy_row(x, m++, body, row);
  } else {
    const Real* normal = x->column + w->normal[k];
    const Real* other = x->partner[k] < 0 ? nullptr : x->column + x->partner[k];
    const Real* place = x->partner[k] == -1 ? nullptr : normal + 3;
    Real own[3], along[3][3] = {{normal[0], normal[1], normal[2]}};
    if (!place) touching_place(body, w->point + 4 * k, normal, own), place = own;
    const int rows = x->friction[k] > 0. ? 3 : 1;
    if (rows > 1) {
      x->tangent[i] = m + 1;
      tangents(normal, along[1], along[2]);
    }
    Real* row = begin_rows(w, x, m, k, (size_t)rows);
    rows > 1 ? add_contact_rows<3>(w->mobility, x->column, body, other, place, along, n, row)
             : add_contact_rows<1>(w->mobility, x->column, body, other, place, along, n, row);
    m += (size_t)rows;
    if constexpr (is_single<Real>) {
      if (w->laws) {
        const struct law* law = law_of(w, k);
        tangents(normal, along[1], along[2]);
        x->carry[start] = 0.;
        for (int d = 1; d < rows; ++d) x->carry[start + d] = dot(3, along[d], law->velocity);
        m = turning_rows(w, x, i, m, body, other, along, begin_row<double>);
      }
    }
  }
  for (size_t row = start; !is_single<Real> && row < m; ++row) {
    const Span span = span_of(x, row);
    Real* S = x->S + row * n;
    for (size_t j = span.from; j < span.to; ++j) S[j] = select(x->on[i], S[j], all<Real>(0.));
  }
  return m;
}

/* Keep M as trees of rows need it. */
template <class Real>
static void pack_mass(const struct walls* w, Work<Real>* x) {
  size_t size = 0;
  for (size_t j = 0; j < w->nv; ++j) {
    const int32_t *path = w->path + w->path_start[j], *end = w->path + w->path_start[j + 1];
    x->begin[j] = size;
    for (const int32_t* k = path; k < end; ++k) x->packed[size++] = x->mass[j * w->nv + (size_t)*k];
    while (size != whole_vectors<Real>(size)) x->packed[size++] = all<Real>(0.);
  }
  for (size_t j = 0; j < w->nv; ++j) x->packed[size + j] = x->mass[j * w->nv + j];
  x->trees = {w->nv, size, w->path_start, w->path, x->begin, x->packed, x->chain_rows,
              whole_vectors<Real>(w->nv), x->tip, x->zeros, x->trees.room, x->trees.are_bushy};
}

/* The factor of M at q; where there is one. */
template <class Real>
static Bits<Real> factor_mass(const struct walls* w, const Motion<Real>* s, Work<Real>* x,
                              const Real* q, double damped) {
  if (w->constant_mass && x->mass_known) return is(all<Real>(0.) == 0.);
  const Real step = all<Real>(damped);
  evaluate(w, s, programs_of<Real>(w)->mass, q, &step, x->mass);
  if (x->trees.are_bushy) pack_mass(w, x);
  const Bits<Real> positive = factor(w, x->mass);
  x->mass_known = !any(~positive);
  return positive;
}

/* What impulses f of contacts take (J) by way of velocities v that are given: what those would have
   lost, and keep. */
template <class Real>
static Real taken_by_given(const struct walls* w, const Work<Real>* x, const Real* f, const Real* v) {
  Real sum = all<Real>(0.);
  for (size_t i = 0; i < w->givens; ++i) {
    const size_t at = (size_t)w->given[i];
    for (size_t row = 0; row < x->contact_rows; ++row) sum += f[row] * x->S[row * w->nv + at] * v[at];
  }
  return sum;
}

/* How many rows the contact (or joint) has whose first one is this. */
template <class Real>
static inline size_t rows_from(const Work<Real>* x, size_t row) {
  return row + 2 < x->contact_rows && x->whose[row] == x->whose[row + 2] ? 3 : 1;
}

/* The same where this is its last one. */
template <class Real>
static inline size_t rows_to(const Work<Real>* x, size_t row) {
  return row > 1 && row < x->contact_rows && x->whose[row] == x->whose[row - 2] ? 3 : 1;
}

/* The first coordinate of the tree of bodies that a coordinate moves in. */
static inline size_t tree_of(const struct walls* w, size_t j) {
  return w->path_start[j] < w->path_start[j + 1] ? (size_t)w->path[w->path_start[j]] : j;
}

/* Whether there are several trees, which nothing but contacts connects. */
static bool has_trees(const struct walls* w) {
  for (size_t j = 1; j < w->nv; ++j) {
    if (tree_of(w, j) != 0) return true;
  }
  return false;
}

/* Number the islands of m rows: the trees that contacts connect. Few rows are left as one, and rows
   that nothing moves are with the first. */
template <class Real>
static void number_islands(const struct walls* w, Work<Real>* x, size_t m) {
  const size_t n = w->nv;
  size_t *parent = x->tree, *number = parent + n;
  x->islands = 1;
  memset(x->island, 0, m * sizeof *x->island);
  if (!is_single<Real> || m < MANY_ROWS || !has_trees(w)) return;
  for (size_t j = 0; j < n; ++j) parent[j] = j, number[j] = NO_ROW;
  const auto root = [&](size_t row, size_t k) {
    size_t j = tree_of(w, (size_t)x->reach[row][k]);
    while (parent[j] != j) j = parent[j];
    return j;
  };
  for (size_t i = 0; i < m; i += rows_from(x, i)) {
    for (size_t k = 1; k < x->reaches[i]; ++k) {
      const int32_t *reach = x->reach[i] + k, *last = reach - 1;
      if (tree_of(w, (size_t)*reach) != tree_of(w, (size_t)*last)) parent[root(i, k)] = root(i, 0);
    }
  }
  x->islands = 0;
  for (size_t i = 0; i < m; i += rows_from(x, i)) {
    if (!x->reaches[i]) continue;
    size_t& own = number[root(i, 0)];
    if (own == NO_ROW) own = x->islands++;
    for (size_t r = 0; r < rows_from(x, i); ++r) x->island[i + r] = own;
  }
  size_t* last = parent;
  for (size_t k = 0; k < n; ++k) last[k] = NO_ROW;
  for (size_t i = 0; i < m; ++i) {
    x->before[i] = last[x->island[i]];
    last[x->island[i]] = i;
  }
}

/* The contact Jacobian S at q: rows of the active contacts, and of dry friction if `rubs`; gives how
   many there are. */
template <class Real>
static size_t contact_jacobian(const struct walls* w, const Motion<Real>* s, Work<Real>* x,
                               const Real* q, int rubs) {
  size_t m = 0;
  x->discs = 0;
  if (w->rows) evaluate(w, s, programs_of<Real>(w)->rows, q, nullptr, x->column);
  if constexpr (is_single<Real>) place_slots(w, s, s->v, x->column, nullptr);
  for (size_t i = 0; i < x->count; ++i) m = rows_of_contact(w, x, i, m);
  x->contact_rows = m;
  for (size_t i = 0; rubs && i < w->rubbing; ++i, ++m) {
    Real* row = begin_row(w, x, m, w->contacts + i);
    copy_row(x, m, x->column + w->rubs + i * w->nv, row);
  }
  return m;
}

/* A of the rows from i on, of one contact, with themselves and all before, a tile at a time. */
template <class Real, size_t ROWS>
static inline void products_of_contact(size_t n, Work<Real>* x, size_t m, size_t i) {
  constexpr size_t TILE = tile<Real>;
  const size_t here = x->reaches[i], end = i + ROWS, step = m + TILE;
  const int32_t* place = x->reach[i];
  const Real* X = x->X + i * n;
  for (size_t j = 0; j < end; j += TILE) {
    const size_t columns = end - j < TILE ? end - j : TILE;
    Real sum[ROWS][TILE] = {};
    for (size_t k = 0; k < here; ++k) {
      const Real *one = X + place[k], *other = x->XT + (size_t)place[k] * step + j;
      for (size_t r = 0; r < ROWS; ++r) {
        for (size_t c = 0; c < TILE; ++c) sum[r][c] += one[r * n] * other[c];
      }
    }
    for (size_t r = 0; r < ROWS; ++r) {
      for (size_t c = 0; c < columns; ++c) {
        x->A[(i + r) * m + j + c] = x->A[(j + c) * m + i + r] = sum[r][c];
      }
    }
  }
}

/* The same with those of one contact, from row j on. */
template <class Real, size_t ROWS, size_t OTHERS>
INLINED static inline void products_of_pair(size_t n, Work<Real>* x, size_t m, size_t i, size_t j) {
  Real sum[ROWS][OTHERS] = {};
  for (size_t k = 0; k < x->reaches[i]; ++k) {
    const Real *one = x->X + i * n + x->reach[i][k], *other = x->X + j * n + x->reach[i][k];
    for (size_t r = 0; r < ROWS; ++r) {
      for (size_t c = 0; c < OTHERS; ++c) sum[r][c] += one[r * n] * other[c * n];
    }
  }
  for (size_t r = 0; r < ROWS; ++r) {
    for (size_t c = 0; c < OTHERS; ++c) x->A[(i + r) * m + j + c] = x->A[(j + c) * m + i + r] = sum[r][c];
  }
}

/* The same with all those of its island. */
template <class Real, size_t ROWS>
static inline void products_in_island(size_t n, Work<Real>* x, size_t m, size_t i) {
  products_of_pair<Real, ROWS, ROWS>(n, x, m, i, i);
  for (size_t j = x->before[i]; j != NO_ROW; j = x->before[j]) {
    const size_t first = j - (rows_to(x, j) - 1);
    first + 2 == j ? products_of_pair<Real, ROWS, 3>(n, x, m, i, first)
                   : products_of_pair<Real, ROWS, 1>(n, x, m, i, first);
    j = first;
  }
}

/* Let X, and A between islands, be zero for m rows: cleared is where they were written to for the last
   ones, and what no rows have taken yet. */
template <class Real>
static void begin_islands(size_t n, Work<Real>* x, size_t m) {
  const auto zero = [](Real* matrix, size_t end, size_t* done) {
    if (*done < end) clear(end - *done, matrix + *done), *done = end;
  };
  for (size_t i = 0; i < x->wrote; ++i) {
    clear(x->to[i] - x->from[i], x->X + i * n + x->from[i]);
    for (size_t j = i; j != NO_ROW; j = x->wrote_before[j]) {
      x->A[i * x->wrote + j] = x->A[j * x->wrote + i] = all<Real>(0.);
    }
  }
  zero(x->X, m * n, &x->zero_X), zero(x->A, m * m, &x->zero_A);
  for (size_t i = 0; i < m; ++i) {
    const Span span = span_of(x, i);
    x->from[i] = span.from, x->to[i] = span.to;
  }
  copy(m, x->before, x->wrote_before);
  x->wrote = m;
}

/* A of m rows, of all contacts with each other. */
template <class Real>
static void complete_delassus(size_t n, Work<Real>* x, size_t m) {
  const size_t step = m + tile<Real>;
  x->whole = true;
  clear(n * step, x->XT);
  for (size_t i = 0; i < m; i += rows_from(x, i)) {
    const size_t rows = rows_from(x, i);
    for (size_t k = 0; k < x->reaches[i]; ++k) {
      const size_t j = (size_t)x->reach[i][k];
      for (size_t r = 0; r < rows; ++r) x->XT[j * step + i + r] = x->X[(i + r) * n + j];
    }
    rows == 3 ? products_of_contact<Real, 3>(n, x, m, i) : products_of_contact<Real, 1>(n, x, m, i);
  }
}

/* Whether rows are solved along chains of trees, if that is of use at all: where they are many, or many
   are of dry friction already. */
static inline bool are_many(const struct walls* w, size_t rows) {
  return 2 * rows >= w->nv && (rows >= MANY_ROWS || 2 * w->rubbing >= w->nv);
}

/* Where they would be in a motion by itself, though not in a vector. */
template <class Real>
static Bits<Real> are_many_alone(const struct walls* w, const Work<Real>* x) {
  Real rows = all<Real>((double)w->rubbing);
  for (size_t i = 0; i < x->count; ++i) {
    rows += select(x->on[i], all<Real>(x->tangent[i] == NO_ROW ? 1. : 3.), all<Real>(0.));
  }
  const bool chains = x->trees.are_bushy && !are_many(w, w->rubbing);
  return is(rows >= (chains ? fmax(MANY_ROWS, 0.5 * (double)w->nv) : HUGE_VAL));
}

/* See whether m rows are on chains of trees, and these short enough to gain by. Motions in a vector, where
   rows of one are those of all, ask only for what no contact changes. */
template <class Real>
static bool see_chains(const struct walls* w, Work<Real>* x, size_t m) {
  const size_t wide = x->trees.wide;
  if (x->discs || x->islands > 1 || w->laws || !x->trees.are_bushy) return false;
  if (!are_many(w, is_single<Real> ? m : w->rubbing)) return false;
  for (size_t i = 0; i < m; ++i) {
    const size_t count = x->reaches[i];
    if (!count || x->trees.depth((size_t)x->reach[i][count - 1]) + 1 != count) return false;
  }
  for (size_t i = 0; i < m; ++i) {
    const size_t count = x->reaches[i], end = whole_vectors<Real>(count);
    Real* row = x->chain_rows + i * wide;
    for (size_t k = 0; k < count; ++k) row[k] = x->S[i * w->nv + (size_t)x->reach[i][k]];
    for (size_t k = count; k < end; ++k) row[k] = all<Real>(0.);
    x->tip[i] = (size_t)x->reach[i][count - 1], x->zeros[i] = 0;
    while (i >= x->contact_rows && x->zeros[i] + 1 < count && !any(is(row[x->zeros[i]] != 0.))) ++x->zeros[i];
  }
  return true;
}

/* Islands of m rows, X = L^-T S^T and the Delassus matrix A = X^T X = S M^-1 S^T; of rows that have fewer
   velocities only the blocks of contacts on its diagonal. */
template <class Real>
static void delassus_matrix(const struct walls* w, Work<Real>* x, size_t m) {
  const size_t n = w->nv;
  number_islands(w, x, m);
  const bool apart = x->islands > 1;
  x->on_chains = see_chains(w, x, m);
  x->whole = w->laws || apart || !(are_fewer(n, m) || x->on_chains);
  if (apart) {
    begin_islands(n, x, m);
  } else {
    clear(m * n, x->X);
    x->wrote = x->zero_X = x->zero_A = 0;
  }
  for (size_t i = 0; i < m; i += rows_from(x, i)) {
    const size_t rows = rows_from(x, i), here = x->reaches[i];
    Real* X = x->X + i * n;
    for (size_t k = 0; k < here; ++k) {
      const size_t j = (size_t)x->reach[i][k];
      for (size_t r = 0; r < rows; ++r) X[r * n + j] = x->S[(i + r) * n + j];
    }
    rows == 3 ? solve_up(w, x->mass, x->reach[i], here, 3, X)
              : solve_up(w, x->mass, x->reach[i], here, 1, X);
    if (apart) {
      rows == 3 ? products_in_island<Real, 3>(n, x, m, i) : products_in_island<Real, 1>(n, x, m, i);
    } else if (!x->whole) {
      rows == 3 ? products_of_pair<Real, 3, 3>(n, x, m, i, i)
                : products_of_pair<Real, 1, 1>(n, x, m, i, i);
    }
  }
  if (!apart && x->whole) complete_delassus(n, x, m);
}
