/* Reachability analysis along a path (Pham, Pham, A New Approach to Time-Optimal Path Parameterization
   Based on Reachability Analysis, IEEE Trans. Robotics 34 (2018) 645-659); a library of its own,
   compiled once.

   A path q(s) is passed with x = (ds/dt)^2, which between the points of a grid goes straight by
   u = d2s/dt2: x[i + 1] = x[i] + 2 step u. Every limit is either a row

       low <= a u + b x <= high

   or a cone |p u + r x + c| <= size of three components, and holds at both ends of an interval with
   the u of that interval. Rest must be possible everywhere: x = 0, u = 0 keeps all of them. So the
   speeds from which the end can be reached are 0 <= x <= K (equation 19), and the set of u at an x is
   an interval, whose ends are lines and curves over x, the upper ones concave, the lower ones convex. */
#include <math.h>
#include <stddef.h>

struct limits {
  size_t points, rows, cones;
  const double *s;                    /* (points) where they are on the path */
  const double *a, *b, *low, *high;   /* (points, rows) */
  const double *p, *r, *c;            /* (points, cones, 3) */
  const double *size;                 /* (cones) */
  const double *most;                 /* (points) x that is allowed by itself */
  double first, last;                 /* x at the start and at the end */
  double *room;                       /* (4, 2 rows + 1) lines of one interval */
  double *K, *x, *u;                  /* (points), (points), (points - 1): results */
};

namespace {

constexpr int MOST_NEWTON_STEPS = 100;
constexpr double ROUNDING = 1e-12, SMALLEST = 1e-200;
constexpr double LONGEST_STEP = 1e-3, FAR = 1e-4; /* parts of x */

/* A bound of u at some x, and its slope there. */
struct Bound {
  double u, slope;
};

/* |(p u + r x + c)| <= size as u^2 A + 2 u (B0 + B1 x) + (C0 + 2 C1 x + C2 x^2) <= 0. */
struct Cone {
  double A, B0, B1, C0, C1, C2;

  Cone(const double *p, const double *r, const double *c, double size, double after)
      : A(0), B0(0), B1(0), C0(-size * size), C1(0), C2(0) {
    for (int k = 0; k < 3; k++) {
      double whole = p[k] + after * r[k];
      A += whole * whole;
      B0 += whole * c[k];
      B1 += whole * r[k];
      C0 += c[k] * c[k];
      C1 += c[k] * r[k];
      C2 += r[k] * r[k];
    }
  }

  /* The largest x at which there is a u: a root of the discriminant (or of the rest, where A is 0). */
  double most() const {
    double two = C2, one = C1, none = C0;
    if (A > 0) two = A * C2 - B1 * B1, one = A * C1 - B0 * B1, none = A * C0 - B0 * B0;
    if (two <= ROUNDING * (A > 0 ? A * C2 : 1e-300)) return one > 0 ? -none / (2 * one) : INFINITY;
    return (-one + sqrt(fmax(one * one - two * none, 0))) / two * (1 - ROUNDING);
  }

  /* The interval of u at an x. */
  void at(double x, Bound *low, Bound *high) const {
    double B = B0 + B1 * x, C = C0 + 2 * C1 * x + C2 * x * x;
    double root = sqrt(fmax(B * B - A * C, 1e-300)), slope = (B * B1 - A * (C1 + C2 * x)) / root;
    *low = {(-B - root) / A, (-B1 - slope) / A};
    *high = {(-B + root) / A, (-B1 + slope) / A};
  }
};

/* What u may be in the interval from point i on, by x there. */
class Interval {
 public:
  double most; /* x */

  Interval(const limits &given, size_t i)
      : most(given.most[i]), given(given), i(i), after(2 * (given.s[i + 1] - given.s[i])) {
    for (size_t end = 0; end < 2; end++) {
      size_t row = (i + end) * given.rows;
      for (size_t j = row; j < row + given.rows; j++) add(end ? after * given.b[j] : 0.0, j);
      for (size_t j = 0; j < given.cones; j++) most = fmin(most, cone(end, j).most());
    }
  }

  /* x at the next point between 0 and K. */
  void reach(double K) {
    push(0.0, -1 / after, K / after, -1 / after);
  }

  /* The tightest bounds at an x. */
  void at(double x, Bound *low, Bound *high) const {
    *low = {-INFINITY, 0};
    *high = {INFINITY, 0};
    size_t size = 2 * given.rows + 1, l = 0, h = 0;
    const double *line = given.room;
    for (size_t j = 0; j < count; j++) {
      double below = line[j] + line[size + j] * x, above = line[2 * size + j] + line[3 * size + j] * x;
      if (below > low->u) low->u = below, l = j;
      if (above < high->u) high->u = above, h = j;
    }
    low->slope = line[size + l];
    high->slope = line[3 * size + h];
    for (size_t k = 0; k < 2 * given.cones; k++) {
      Cone one = cone(k % 2, k / 2);
      if (one.A == 0) continue;
      Bound below, above;
      one.at(x, &below, &above);
      if (below.u > low->u) *low = below;
      if (above.u < high->u) *high = above;
    }
  }

  /* The largest x with a u. From far above, rounding is large beside it: then once more from near. */
  double largest() const {
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
  size_t i, count = 0;
  double after;

  /* Newton's method on the gap of the bounds, concave over x, from where it is negative. */
  double from_above(double x) const {
    for (int k = 0; k < MOST_NEWTON_STEPS && x > 0; k++) {
      Bound low, high;
      at(x, &low, &high);
      double gap = high.u - low.u, slope = high.slope - low.slope;
      if (gap >= -ROUNDING * (fabs(high.u) + fabs(low.u))) return x;
      if (slope >= 0) return -1;
      x = fmax(x - gap / slope * (1 + ROUNDING), LONGEST_STEP * x);
      if (x < 1e-300) return 0;
    }
    return x;
  }

  Cone cone(size_t end, size_t j) const {
    size_t k = (i + end) * given.cones + j;
    return Cone(given.p + 3 * k, given.r + 3 * k, given.c + 3 * k, given.size[j], end ? after : 0.0);
  }

  /* A row at the point j / rows, where x has grown by `extra` / b u. */
  void add(double extra, size_t j) {
    double a = given.a[j] + extra, b = given.b[j], low = given.low[j], high = given.high[j];
    if (fabs(a) < SMALLEST) {
      if (b != 0) most = fmin(most, (b > 0 ? high : low) / b);
      return;
    }
    double share = 1 / a;
    push((a > 0 ? low : high) * share, -b * share, (a > 0 ? high : low) * share, -b * share);
  }

  void push(double low, double low_slope, double high, double high_slope) {
    size_t size = 2 * given.rows + 1;
    double *line = given.room + count++;
    line[0] = low, line[size] = low_slope, line[2 * size] = high, line[3 * size] = high_slope;
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
    interval.reach(given->K[i + 1]);
    given->K[i] = interval.largest();
    if (given->K[i] < 0) return (ptrdiff_t)i;
  }
  given->x[0] = fmin(given->first, given->K[0]);
  for (size_t i = 0; i < last; i++) {
    Interval interval(*given, i);
    Bound low, high;
    interval.reach(given->K[i + 1]);
    interval.at(given->x[i], &low, &high);
    double next = given->x[i] + 2 * (given->s[i + 1] - given->s[i]) * high.u;
    given->x[i + 1] = fmax(fmin(next, given->K[i + 1]), 0.0);
    given->u[i] = (given->x[i + 1] - given->x[i]) / (2 * (given->s[i + 1] - given->s[i]));
  }
  return -1;
}
