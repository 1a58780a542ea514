/* Rows of contacts that are held, and how their velocities answer to impulses. The
   contacts of motions in a vector may differ. */
#pragma once
#include "contact_jacobian.hpp"
#include "mass_factor.hpp"
#include "wall_laws.hpp"


/* Begin a row that is zero beyond the reach of a contact or of a rubbing joint. */
template <class Real>
static Real* begin_row(const struct walls* w, Work<Real>* x, size_t m, size_t k) {
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
  clear(w->nv, x->S + m * w->nv);
  return x->S + m * w->nv;
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
    copy(n, body, begin_row(w, x, m++, k));
  } else {
    const Real* normal = x->column + w->normal[k];
    const Real* other = x->partner[k] < 0 ? nullptr : x->column + x->partner[k];
    const Real* place = x->partner[k] == -1 ? nullptr : normal + 3;
    Real arm[3], along[3][3] = {{normal[0], normal[1], normal[2]}};
    lever(body, place, w->point + 4 * k, normal, arm);
    const int rows = x->friction[k] > 0. ? 3 : 1;
    if (rows > 1) {
      x->tangent[i] = m + 1;
      tangents(normal, along[1], along[2]);
    }
    for (int d = 0; d < rows; ++d, ++m) {
      Real* row = begin_row(w, x, m, k);
      add_contact_row(n, x->reach[m], x->reaches[m], body, other, place, arm, along[d], row);
    }
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
  for (size_t j = start * n; j < m * n; ++j) {
    x->S[j] = select(x->on[i], x->S[j], all<Real>(0.));
  }
  return m;
}

/* The factor of M at q; where there is one. */
template <class Real>
static Bits<Real> factor_mass(const struct walls* w, const Motion<Real>* s, Work<Real>* x,
                              const Real* q, double damped) {
  const Real step = all<Real>(damped);
  evaluate(w, s, programs_of<Real>(w)->mass, q, &step, x->mass);
  return factor(w, x->mass);
}

/* How many rows the contact (or joint) has whose first one is this. */
template <class Real>
static inline size_t rows_from(const Work<Real>* x, size_t row) {
  return row + 2 < x->contact_rows && x->whose[row] == x->whose[row + 2] ? 3 : 1;
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
    copy(w->nv, x->column + w->rubs + i * w->nv, row);
  }
  return m;
}

/* Whether no coordinate moves both rows, judged by the first and last ones of each. */
template <class Real>
static inline bool are_apart(const Work<Real>* x, size_t i, size_t j) {
  const size_t here = x->reaches[i], there = x->reaches[j];
  if (!here || !there) return true;
  return x->reach[i][here - 1] < x->reach[j][0] || x->reach[j][there - 1] < x->reach[i][0];
}

/* X = L^-T S^T and the Delassus matrix A = X^T X = S M^-1 S^T of m rows. */
template <class Real>
static void delassus_matrix(const struct walls* w, Work<Real>* x, size_t m) {
  const size_t n = w->nv;
  copy(m * n, x->S, x->X);
  for (size_t i = 0; i < m; i += rows_from(x, i)) {
    const size_t rows = rows_from(x, i), here = x->reaches[i];
    Real* one = x->X + i * n;
    if (rows == 3) {
      solve_up(w, x->mass, x->reach[i], here, 3, one);
    } else {
      solve_up(w, x->mass, x->reach[i], here, 1, one);
    }
    for (size_t j = 0; j <= i; j += rows_from(x, j)) {
      const size_t columns = rows_from(x, j), least = x->reaches[j] < here ? j : i;
      const int32_t* place = x->reach[least];
      const Real* other = x->X + j * n;
      Real* out = x->A + i * m + j;
      if (are_apart(x, i, j)) {
        for (size_t r = 0; r < rows; ++r) clear(columns, out + r * m);
      } else if (rows == 3 && columns == 3) {
        products_at(n, place, x->reaches[least], 3, one, 3, other, out, m);
      } else {
        products_at(n, place, x->reaches[least], rows, one, columns, other, out, m);
      }
    }
  }
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = i + 1; j < m; ++j) x->A[i * m + j] = x->A[j * m + i];
  }
}
