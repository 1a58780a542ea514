/* A path q(s) as states of a robot, and what acts along it as rows of limits.

   With x = (ds/dt)^2 and u = d2s/dt2 joints move by v = q' sqrt(x) and a = q' u + q'' x, so that
   inverse dynamics at rest, at (0, q') and at (q', q'') gives c, a and b of efforts a u + b x + c. */
#include <math.h>
#include <stddef.h>

#include <algorithm>

struct path {
  size_t points, joints, pieces, order;
  const double *s;             /* (points) */
  const double *ends;          /* (pieces + 1) */
  const double *coefficients;  /* (order, pieces, joints) of falling powers, from each piece's start */
  double *state;               /* (3, 3, points, joints) q, q, q; 0, 0, q'; 0, q', q'': results */
};

/* Positions and their derivatives by s, as three states at each. */
extern "C" __attribute__((visibility("default"))) void path_states(const path *given) {
  size_t n = given->joints, size = given->points * n, piece = 0;
  double *q = given->state, *v = q + 3 * size, *a = v + 3 * size;
  for (size_t i = 0; i < given->points; i++) {
    double s = given->s[i];
    if (s < given->ends[piece] || s >= given->ends[piece + 1]) {
      size_t above = std::upper_bound(given->ends, given->ends + given->pieces + 1, s) - given->ends;
      piece = std::min(std::max(above, size_t{1}), given->pieces) - 1;
    }
    double since = s - given->ends[piece];
    for (size_t j = 0; j < n; j++) {
      double value = 0, rate = 0, half_curve = 0;
      for (size_t k = 0; k < given->order; k++) {
        half_curve = half_curve * since + rate;
        rate = rate * since + value;
        value = value * since + given->coefficients[(k * given->pieces + piece) * n + j];
      }
      size_t place = i * n + j;
      q[place] = q[size + place] = q[2 * size + place] = value;
      v[place] = v[size + place] = a[place] = 0;
      v[2 * size + place] = a[size + place] = rate;
      a[2 * size + place] = 2 * half_curve;
    }
  }
}

/* One summand of a row: an effort, or, where `motor` is negative, the acceleration of `joint`.
   Efforts count by the velocity of `joint`, as powers, unless that is negative. */
struct summand {
  int row, motor, joint;
};

struct row_limits {
  size_t points, joints, motors, rows, summands, speeds;
  const double *position, *rate, *curve; /* (points, joints) of all joints, and derivatives by s */
  const double *effort;                  /* (3, points, motors) */
  const double *friction;                /* (2, points, motors) at q' and 2 q'; NULL where there is none */
  const summand *sum;                    /* (summands) */
  const double *low, *high;              /* (rows) with some leeway inside */
  const double *least, *greatest;        /* (joints) positions */
  const double *slowness;                /* (2, joints) of 1 / velocity, least and greatest */
  double *row;                           /* (points, 4, rows) a, b, c, d of sqrt(x), 0 at first: results */
  double *speed;                         /* (points, speeds) of sqrt(x) by limit; of joints: results */
  double *most;                          /* (points) x by all speeds: result */
};

enum { HELD_AND_WITHIN = 0, NOT_HELD = 1, NOT_WITHIN = 2 };

/* Rows of limits; whether rest keeps them all, and positions theirs. */
extern "C" __attribute__((visibility("default"))) int path_rows(const row_limits *given) {
  int found = HELD_AND_WITHIN;
  size_t n = given->joints, size = given->points * given->motors;
  for (size_t i = 0; i < given->points; i++) {
    const double *rate = given->rate + i * n, *curve = given->curve + i * n;
    double *a = given->row + 4 * i * given->rows, *b = a + given->rows;
    double *c = b + given->rows, *d = c + given->rows;
    for (size_t k = 0; k < given->summands; k++) {
      const summand &one = given->sum[k];
      if (one.motor < 0) {
        a[one.row] += rate[one.joint];
        b[one.row] += curve[one.joint];
        continue;
      }
      size_t motor = i * given->motors + one.motor;
      double share = one.joint < 0 ? 1 : rate[one.joint], rest = given->effort[motor];
      a[one.row] += share * (given->effort[size + motor] - rest);
      b[one.row] += share * (given->effort[2 * size + motor] - rest);
      if (given->friction) {
        double once = given->friction[motor], twice = given->friction[size + motor];
        d[one.row] += share * (twice - once);
        rest += 2 * once - twice;
      }
      c[one.row] += share * rest;
    }
    for (size_t j = 0; j < given->rows; j++)
      if (!(c[j] > given->low[j] && c[j] < given->high[j])) found |= NOT_HELD;
    for (size_t j = 0; j < n; j++) {
      double position = given->position[i * n + j];
      if (!(position >= given->least[j] && position <= given->greatest[j])) found |= NOT_WITHIN;
      given->speed[i * given->speeds + j] =
          std::max(rate[j] * given->slowness[j], rate[j] * given->slowness[n + j]);
    }
    double fastest = 0;
    for (size_t j = 0; j < given->speeds; j++)
      fastest = std::max(fastest, given->speed[i * given->speeds + j]);
    given->most[i] = 1 / (fastest * fastest);
  }
  return found;
}
