/* Rows of contacts that are held, and how their velocities answer to impulses. The
   contacts of motions in a vector may differ. */
#pragma once
#include "mass_factor.hpp"
#include "workspace.hpp"


/* Two unit vectors along a wall, for any normal (Duff et al. 2017). */
template <class Real>
static void tangents(const Real* n, Real* one, Real* two) {
  const Real sign = with_sign(all<Real>(1.), n[2]), a = -1. / (sign + n[2]), b = n[0] * n[1] * a;
  const Real across = n[0] * n[0] * a, along = n[1] * n[1] * a;
  one[0] = 1. + sign * across, one[1] = sign * b, one[2] = -sign * n[0];
  two[0] = b, two[1] = sign + along, two[2] = -n[1];
}

/* Add to a row the velocity of a body along d at a place that is `arm` from its origin. */
template <class Real>
static void add_along(const struct walls* w, const int32_t* reach, size_t count,
                         const Real* speeds, const Real* arm, const Real* d, Real* row) {
  const size_t n = w->nv;
  Real way[6] = {d[0], d[1], d[2]};
  for (int r = 0; r < 3; ++r) {
    const int one = (r + 1) % 3, two = (r + 2) % 3;
    way[3 + r] = arm[one] * d[two];
    way[3 + r] -= arm[two] * d[one];
  }
  for (size_t k = 0; k < count; ++k) {
    const Real* speed = speeds + reach[k];
    Real sum = row[reach[k]];
    for (int r = 0; r < 6; ++r) sum += way[r] * speed[(size_t)r * n];
    row[reach[k]] = sum;
  }
}

/* Begin a row that is zero beyond the reach of a contact or of a rubbing joint. */
template <class Real>
static Real* begin_row(const struct walls* w, Work<Real>* x, size_t m, size_t k) {
  x->whose[m] = k;
  x->reach[m] = w->reach + w->reach_start[k];
  x->reaches[m] = (size_t)(w->reach_start[k + 1] - w->reach_start[k]);
  clear(w->nv, x->S + m * w->nv);
  return x->S + m * w->nv;
}

/* The rows of a contact: along its normal and, with friction, two tangents. */
template <class Real>
static size_t rows_of_contact(const struct walls* w, Work<Real>* x, size_t i, size_t m) {
  const size_t n = w->nv, k = x->active[i], start = m;
  const Real* body = x->column + x->body[k];
  x->first[i] = m;
  x->tangent[i] = NO_ROW;
  x->mu[i] = w->friction[k];
  if (w->normal[k] < 0) {
    copy(n, body, begin_row(w, x, m++, k));
  } else {
    const Real* normal = x->column + w->normal[k];
    const Real* other = x->partner[k] < 0 ? nullptr : x->column + x->partner[k];
    Real arm[3], along[3][3];
    for (int r = 0; r < 3; ++r) {
      along[0][r] = normal[r];
      if (x->partner[k] != -1) {
        arm[r] = normal[3 + r] - body[4 * r + 3];
      } else {
        const double* point = w->point + 4 * k;
        arm[r] = body[4 * r] * point[0];
        arm[r] += body[4 * r + 1] * point[1];
        arm[r] += body[4 * r + 2] * point[2];
        arm[r] -= point[3] * normal[r];
      }
    }
    const int rows = w->friction[k] > 0. ? 3 : 1;
    if (rows > 1) {
      x->tangent[i] = m + 1;
      tangents(normal, along[1], along[2]);
    }
    for (int d = 0; d < rows; ++d, ++m) {
      Real* row = begin_row(w, x, m, k);
      add_along(w, x->reach[m], x->reaches[m], body + 12, arm, along[d], row);
      if (!other) continue;
      Real back[3], against[3];
      for (int r = 0; r < 3; ++r) {
        back[r] = normal[3 + r] - other[4 * r + 3], against[r] = -along[d][r];
      }
      add_along(w, x->reach[m], x->reaches[m], other + 12, back, against, row);
    }
  }
  for (size_t j = start * n; j < m * n; ++j) {
    x->S[j] = select(x->on[i], x->S[j], all<Real>(0.));
  }
  return m;
}

/* The factor of M at q; where there is one. */
template <class Real>
static Bits<Real> factor_mass(const struct walls* w, const Motion<Real>* s, Work<Real>* x, double damped) {
  const Real step = all<Real>(damped);
  evaluate(w, s, programs_of<Real>(w)->mass, s->q, &step, x->mass);
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
                               int rubs) {
  size_t m = 0;
  if (w->rows) evaluate(w, s, programs_of<Real>(w)->rows, s->q, nullptr, x->column);
  if constexpr (is_single<Real>) place_slots(w, s, s->v, x->column, nullptr);
  for (size_t i = 0; i < x->count; ++i) m = rows_of_contact(w, x, i, m);
  x->contact_rows = m;
  for (size_t i = 0; rubs && i < w->rubbing; ++i, ++m) {
    Real* row = begin_row(w, x, m, w->contacts + i);
    copy(w->nv, x->column + w->rubs + i * w->nv, row);
  }
  return m;
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
      if (rows == 3 && columns == 3) {
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
