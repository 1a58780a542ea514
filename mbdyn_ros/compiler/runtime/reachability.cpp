/* Reachability analysis along a path (Pham, Pham, A New Approach to Time-Optimal Path Parameterization
   Based on Reachability Analysis, IEEE Trans. Robotics 34 (2018) 645-659); a library of its own,
   compiled once.

   A path q(s) is passed with x = (ds/dt)^2, which between the points of a grid goes straight by
   u = d2s/dt2: x[i + 1] = x[i] + 2 step u. Every limit is either a row

       low <= a u + b x + c + d sqrt(x) <= high

   (a power has it times sqrt(x)), whose roots give way to their tangents at an answer that is near,
   or a cone |p u + r x + t| <= size of three components, and holds at both ends of an interval with
   the u of that interval. Rest must be possible everywhere: x = 0, u = 0 keeps all of them. So the
   speeds from which the end can be reached are 0 <= x <= K (equation 19), and the set of u at an x is
   an interval, whose ends are lines and curves over x, the upper ones concave, the lower ones convex. */
#include <math.h>
#include <stddef.h>

struct limits {
  size_t points, rows, cones;
  const double *s;             /* (points) where they are on the path */
  const double *row;           /* (points, 4, rows) a, b, c, d */
  const double *low, *high;    /* (rows) */
  const bool *power;           /* (rows) */
  const double *most;          /* (points) x that is allowed by speeds */
  const double *cone;          /* (points, cones, 3, 3) p, r, t */
  const double *size;          /* (cones) */
  const double *near;          /* (points) x for tangents; NULL: powers and d are left out */
  double first, last;          /* x at the start and at the end */
  double *room;                /* (points - 1, 3, 2 rows + 1) lines of intervals */
  double *K, *x, *u;                  /* (points), (points), (points - 1): results */
};

namespace {

constexpr int MOST_NEWTON_STEPS = 100;
constexpr double GAP_ROUNDING = 1e-12, SMALLEST = 1e-200;
constexpr double LONGEST_STEP = 1e-3, FAR = 1e-4; /* parts of x */
constexpr double ROOM_AT_REST = 0.8;              /* part of a limit that tangents take at rest */

/* A bound of u at some x, and its slope there. */
struct Bound {
  double u, slope;
};

/* |p u + r x + t| <= size as u^2 A + 2 u (B0 + B1 x) + (C0 + 2 C1 x + C2 x^2) <= 0. */
struct Cone {
  double A, B0, B1, C0, C1, C2;

  Cone(const double *p, double size, double after)
      : A(0), B0(0), B1(0), C0(-size * size), C1(0), C2(0) {
    const double *r = p + 3, *t = p + 6;
    for (int k = 0; k < 3; k++) {
      double whole = p[k] + after * r[k];
      A += whole * whole;
      B0 += whole * t[k];
      B1 += whole * r[k];
      C0 += t[k] * t[k];
      C1 += t[k] * r[k];
      C2 += r[k] * r[k];
    }
  }

  /* The largest x at which there is a u: a root of the discriminant (or of the rest, where A is 0). */
  double most() const {
    double two = C2, one = C1, none = C0;
    if (A > 0) two = A * C2 - B1 * B1, one = A * C1 - B0 * B1, none = A * C0 - B0 * B0;
    if (two <= GAP_ROUNDING * (A > 0 ? A * C2 : 1e-300)) return one > 0 ? -none / (2 * one) : INFINITY;
    return (-one + sqrt(fmax(one * one - two * none, 0))) / two * (1 - GAP_ROUNDING);
  }

  /* The interval of u at an x. */
  void at(double x, Bound *low, Bound *high) const {
    double B = B0 + B1 * x, C = C0 + 2 * C1 * x + C2 * x * x;
    double root = sqrt(fmax(B * B - A * C, 1e-300)), slope = (B * B1 - A * (C1 + C2 * x)) / root;
    *low = {(-B - root) / A, (-B1 - slope) / A};
    *high = {(-B + root) / A, (-B1 + slope) / A};
  }
};

/* The root at which tangents of a row are laid: the one asked for, or where these would leave too
   little at rest, the largest that leaves room. */
double tangent(double root, bool power, double low, double high, double c, double d) {
  if (power) {
    double most = ROOM_AT_REST * 1.5 * high;
    return fmin(root, 2 * most / fmax(c + sqrt(c * c + 2 * d * most), SMALLEST));
  }
  double most = d > 0 ? (high - c) / d : d < 0 ? (low - c) / d : INFINITY;
  return fmin(root, ROOM_AT_REST * 2 * most);
}

/* Rows at a point as low <= a u + b x <= high: by tangents of their roots next to x = root^2, or
   without what has roots (root 0): sqrt(x) = (root + x / root) / 2, and
   1 / sqrt(x) = (3 - x / root^2) / (2 root). */
void rows_at(const limits &given, size_t i, double root, double *low, double *high, double *b) {
  const double *c = given.row + (4 * i + 2) * given.rows, *d = c + given.rows;
  for (size_t j = 0; j < given.rows; j++) {
    low[j] = given.low[j] - c[j];
    high[j] = given.high[j] - c[j];
    b[j] = c[j - given.rows];
  }
  if (root == 0) {
    for (size_t j = 0; j < given.rows; j++)
      if (given.power[j]) high[j] = INFINITY;
    return;
  }
  for (size_t j = 0; j < given.rows; j++) {
    double near = tangent(root, given.power[j], given.low[j], given.high[j], c[j], d[j]);
    if (given.power[j]) {
      b[j] += given.high[j] / (2 * near * near * near);
      high[j] = 1.5 * given.high[j] / near - c[j];
    }
    b[j] += d[j] / (2 * near);
    low[j] -= d[j] * near / 2;
    high[j] -= d[j] * near / 2;
  }
}

/* What u may be in the interval from point i on, by x there: lines over x, that stay in `room`. */
class Interval {
 public:
  Interval(const limits &given, size_t i)
      : given(given), i(i), size(2 * given.rows + 1), after(2 * (given.s[i + 1] - given.s[i])),
        lower(given.room + 3 * size * i), upper(lower + size), slope(upper + size) {}

  /* Lay the lines, with x at the next point between 0 and K; gives the largest x apart from them. */
  double lay(double K) {
    double most = given.most[i];
    for (size_t end = 0; end < 2; end++) {
      size_t first = end * given.rows;
      rows_at(given, i + end, given.near ? sqrt(given.near[i + end]) : 0.0, lower + first,
              upper + first, slope + first);
      most = fmin(most, solve_for_u(given.row + 4 * (i + end) * given.rows, end ? after : 0.0, first));
      for (size_t j = 0; j < given.cones; j++) most = fmin(most, cone(end, j).most());
    }
    lower[size - 1] = 0;
    upper[size - 1] = K / after;
    slope[size - 1] = -1 / after;
    return most;
  }

  /* The tightest bounds at an x. */
  void at(double x, Bound *low, Bound *high) const {
    *low = {-INFINITY, 0};
    *high = {INFINITY, 0};
    for (size_t j = 0; j < size; j++) {
      double change = slope[j] * x, below = lower[j] + change, above = upper[j] + change;
      if (below > low->u) *low = {below, slope[j]};
      if (above < high->u) *high = {above, slope[j]};
    }
    for (size_t k = 0; k < 2 * given.cones; k++) {
      Cone one = cone(k % 2, k / 2);
      if (one.A == 0) continue;
      Bound below, above;
      one.at(x, &below, &above);
      if (below.u > low->u) *low = below;
      if (above.u < high->u) *high = above;
    }
  }

  /* The largest x with a u, up to `most`. From far above, rounding is large compared with it: then once more
     from near. */
  double largest(double most) const {
    double x = from_above(most);
    while (x > 0 && x < FAR * most) {
      double near = from_above(2 * x);
      if (near < 2 * x) return near;
      x = near;
    }
    return x;
  }

 private:
  const limits &given;
  size_t i, size;
  double after, *lower, *upper, *slope;

  /* Rows from `first` on as bounds of u, which changes x by `grown` u; gives the largest x by those
     without u. */
  double solve_for_u(const double *a, double grown, size_t first) {
    double *__restrict low = lower + first, *__restrict high = upper + first,
           *__restrict b = slope + first, most = INFINITY;
    bool some_level = false;
    for (size_t j = 0; j < given.rows; j++) some_level |= fabs(a[j] + grown * b[j]) < SMALLEST;
    for (size_t j = 0; some_level && j < given.rows; j++)
      if (fabs(a[j] + grown * b[j]) < SMALLEST && b[j] != 0)
        most = fmin(most, (b[j] > 0 ? high[j] : low[j]) / b[j]);
    for (size_t j = 0; j < given.rows; j++) {
      double whole = a[j] + grown * b[j], share = 1 / whole, below = low[j], above = high[j];
      bool level = fabs(whole) < SMALLEST, up = whole > 0;
      low[j] = level ? -INFINITY : (up ? below : above) * share;
      high[j] = level ? INFINITY : (up ? above : below) * share;
      b[j] = level ? 0 : -b[j] * share;
    }
    return most;
  }

  /* Newton's method on the gap of the bounds, concave over x, from where it is negative. */
  double from_above(double x) const {
    for (int k = 0; k < MOST_NEWTON_STEPS && x > 0; k++) {
      Bound low, high;
      at(x, &low, &high);
      double gap = high.u - low.u, slope = high.slope - low.slope;
      if (gap >= -GAP_ROUNDING * (fabs(high.u) + fabs(low.u))) return x;
      if (slope >= 0) return -1;
      x = fmax(x - gap / slope * (1 + GAP_ROUNDING), LONGEST_STEP * x);
      if (x < 1e-300) return 0;
    }
    return x;
  }

  Cone cone(size_t end, size_t j) const {
    size_t k = (i + end) * given.cones + j;
    return Cone(given.cone + 9 * k, given.size[j], end ? after : 0.0);
  }
};

}  // namespace

/* The largest x at every point: first those from which the end can be reached (K, backwards), then
   forwards as fast as these allow. Gives the point at which nothing is left, or -1. */
extern "C" __attribute__((visibility("default"))) ptrdiff_t pass_limits(const limits *given) {
  size_t last = given->points - 1;
  given->K[last] = fmin(given->last, given->most[last]);
  for (size_t i = last; i-- > 0;) {
    Interval interval(*given, i);
    given->K[i] = interval.largest(interval.lay(given->K[i + 1]));
    if (given->K[i] < 0) return (ptrdiff_t)i;
  }
  given->x[0] = fmin(given->first, given->K[0]);
  for (size_t i = 0; i < last; i++) {
    Interval interval(*given, i);
    Bound low, high;
    interval.at(given->x[i], &low, &high);
    double next = given->x[i] + 2 * (given->s[i + 1] - given->s[i]) * high.u;
    given->x[i + 1] = fmax(fmin(next, given->K[i + 1]), 0.0);
    given->u[i] = (given->x[i + 1] - given->x[i]) / (2 * (given->s[i + 1] - given->s[i]));
  }
  return -1;
}
