"""C of elementary functions on one number or on several at once, in vector types.

The vector types are those of GCC and Clang; the processor decides how many numbers a vector has.
One text serves both, so a program has the same sines whether it runs alone or in a batch.

- Sine and cosine together, error below 0.9 ulp: the angle is reduced by the nearest multiple of
  pi/2 (Cody, Waite, *Software Manual for the Elementary Functions*, 1980), pi/2 in three parts;
  polynomials interpolate at Chebyshev nodes on [-pi/4, pi/4]. Angles above 1e5 rad go to the
  C library, one by one.
- Arc tangent of two numbers, error below 2 ulp: one division, reduction by pi/4, a polynomial
  on [-tan(pi/8), tan(pi/8)].
"""

from __future__ import annotations

from string import Template

TYPES = """
#if defined(__AVX512DQ__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif

typedef double real1;
typedef int64_t bits1;
typedef double realv __attribute__((vector_size(8 * LANES)));
typedef int64_t bitsv __attribute__((vector_size(8 * LANES)));

static inline bits1 bits_of1(double x) { bits1 y; memcpy(&y, &x, sizeof y); return y; }
static inline double real_of1(bits1 x) { double y; memcpy(&y, &x, sizeof y); return y; }
static inline realv vector_of(double x) { return (realv){0} + x; }

#define bits_ofv(x) ((bitsv)(x))
#define real_ofv(x) ((realv)(x))
#define all1(x) (x)
#define allv(x) vector_of(x)
#define is1(relation) (-(bits1)(relation))
#define isv(relation) ((bitsv)(relation))
#define lane1(x, k) (*(x))
#define lanev(x, k) ((*(x))[k])
#define LANES1 1
#define LANESv LANES
#define WIDTH1 LANES
#define WIDTHv 1

static inline int any1(bits1 x) { return x != 0; }
static inline int anyv(bitsv x) {
  int64_t y[LANES], all = 0;
  memcpy(y, &x, sizeof y);
  for (int k = 0; k < LANES; ++k) all |= y[k];
  return all != 0;
}
"""

FUNCTIONS = Template("""
/* where ? x : y, number by number */
static inline real$n select$n(bits$n where, real$n x, real$n y) {
  return real_of$n((bits_of$n(x) & where) | (bits_of$n(y) & ~where));
}
static inline real$n magnitude$n(real$n x) { return real_of$n(bits_of$n(x) & INT64_MAX); }
static inline real$n with_sign$n(real$n x, real$n sign) {
  return real_of$n((bits_of$n(x) & INT64_MAX) | (bits_of$n(sign) & INT64_MIN));
}
/* 1 where true */
static inline real$n truth$n(bits$n where) { return select$n(where, all$n(1.), all$n(0.)); }
static inline real$n sign$n(real$n x) {
  return select$n(is$n(x > 0), all$n(1.), select$n(is$n(x < 0), all$n(-1.), x));
}
static inline real$n least$n(real$n x, real$n y) {
  return select$n(is$n(x < y) | is$n(y != y), x, y);
}
static inline real$n greatest$n(real$n x, real$n y) {
  return select$n(is$n(x > y) | is$n(y != y), x, y);
}
#define EACH$n(name, function) \\
  static inline real$n name##$n(real$n x) { \\
    for (int k = 0; k < LANES$n; ++k) lane$n(&x, k) = function(lane$n(&x, k)); \\
    return x; \\
  }
#define EACH_PAIR$n(name, function) \\
  static inline real$n name##$n(real$n x, real$n y) { \\
    for (int k = 0; k < LANES$n; ++k) lane$n(&x, k) = function(lane$n(&x, k), lane$n(&y, k)); \\
    return x; \\
  }
EACH$n(root, sqrt)

/* Sine and cosine, and where they are wrong since the angle is too large. */
static inline bits$n near_sine_cosine$n(real$n x, real$n* sine, real$n* cosine) {
  const real$n shifted = x * 0x1.45f306dc9c883p-1 + 0x1.8p52;
  const real$n k = shifted - 0x1.8p52;
  const bits$n quadrant = bits_of$n(shifted);
  /* Three parts of pi/2. The products with the second are exact, with the first too where they
     are fused with the sum. The reduced angle is r + rest. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  const double first = 0x1.921fb54442d18p+0, second = 0x1.1a62633140000p-54;
  const double third = 0x1.701b839a25205p-92;
#else
  const double first = 0x1.921fb54400000p+0, second = 0x1.0b4611a600000p-34;
  const double third = 0x1.3198a2e037073p-69;
#endif
  const real$n near = x - k * first;
  const real$n r = near - k * second;
  const real$n rest = ((near - r) - k * second) - k * third;
  const real$n z = r * r;
  real$n s = z * 0x1.5d92342a70389p-33 - 0x1.ae5e6389a874fp-26;
  s = s * z + 0x1.71de35745e67fp-19;
  s = s * z - 0x1.a01a019c0ddafp-13;
  s = s * z + 0x1.111111110f85dp-7;
  s = s * z - 0x1.5555555555549p-3;
  s = r + ((z * r) * s + rest);
  real$n c = z * -0x1.907cd8ff5ede7p-37 + 0x1.1eeb67d026ec6p-29;
  c = c * z - 0x1.27e4fa16cc2d1p-22;
  c = c * z + 0x1.a01a019f4ddfdp-16;
  c = c * z - 0x1.6c16c16c16963p-10;
  c = c * z + 0x1.5555555555555p-5;
  const real$n half = z * 0.5, whole = 1. - half;
  c = whole + ((1. - whole - half) + ((z * z) * c - r * rest));
  const bits$n odd = -(quadrant & 1);
  const bits$n minus_sine = (quadrant & 2) << 62, minus_cosine = ((quadrant + 1) & 2) << 62;
  *sine = real_of$n(bits_of$n(select$n(odd, c, s)) ^ minus_sine);
  *cosine = real_of$n(bits_of$n(select$n(odd, s, c)) ^ minus_cosine);
  return ~is$n(magnitude$n(x) < 1e5);
}

static __attribute__((noinline))
void far_sine_cosine$n(real$n x, real$n* sine, real$n* cosine) {
  for (int i = 0; i < LANES$n; ++i) {
    if (fabs(lane$n(&x, i)) < 1e5) continue;
    lane$n(sine, i) = sin(lane$n(&x, i));
    lane$n(cosine, i) = cos(lane$n(&x, i));
  }
}

static void sine_cosine$n(real$n x, real$n* sine, real$n* cosine) {
  const bits$n far = near_sine_cosine$n(x, sine, cosine);
  if (__builtin_expect(any$n(far), 0)) far_sine_cosine$n(x, sine, cosine);
}

static real$n arctangent2$n(real$n y, real$n x) {
  const real$n ax = magnitude$n(x), ay = magnitude$n(y);
  const bits$n steep = is$n(ay > ax);
  const real$n less = select$n(steep, ax, ay), more = select$n(steep, ay, ax);
  const bits$n far = is$n(less > more * 0x1.a827999fcef32p-2);
  const real$n t = select$n(far, less - more, less) / select$n(far, less + more, more);
  const real$n z = t * t;
  real$n p = z * 0x1.0a997ba33c1dbp-6 - 0x1.1b1992aa413c9p-5;
  p = p * z + 0x1.74d3a7b43351ap-5;
  p = p * z - 0x1.ac7858539e493p-5;
  p = p * z + 0x1.e199c62156609p-5;
  p = p * z - 0x1.110e84aa36d9dp-4;
  p = p * z + 0x1.3b1392a9c2d8bp-4;
  p = p * z - 0x1.745d165c497f3p-4;
  p = p * z + 0x1.c71c71c2fc236p-4;
  p = p * z - 0x1.249249248d739p-3;
  p = p * z + 0x1.9999999999952p-3;
  p = p * z - 0x1.5555555555555p-2;
  p = (z * t) * p;
  /* the angle is t + p + turn, each step at most one rounding of the result */
  real$n angle = select$n(far, 0x1.921fb54442d18p-1 + (t + (p + 0x1.1a62633145c07p-55)), t + p);
  angle = select$n(steep, 0x1.921fb54442d18p+0 - (angle - 0x1.1a62633145c07p-54), angle);
  angle = select$n(is$n(bits_of$n(x) < 0), 0x1.921fb54442d18p+1 - (angle - 0x1.1a62633145c07p-53),
                   angle);
  angle = with_sign$n(angle, y);
  if (__builtin_expect(any$n(~(is$n(more > 1e-290) & is$n(more < 1e300))), 0)) {
    for (int i = 0; i < LANES$n; ++i) {
      if (lane$n(&more, i) > 1e-290 && lane$n(&more, i) < 1e300) continue;
      lane$n(&angle, i) = atan2(lane$n(&y, i), lane$n(&x, i));
    }
  }
  return angle;
}

/* Sines and cosines of n angles. */
static inline void sines_cosines$n(int n, const real$n* x, real$n* sine, real$n* cosine) {
  $many
}
""")

ONE_BY_ONE = """bitsv far = {0};
  for (int i = 0; i < n; ++i) far |= near_sine_cosinev(x[i], sine + i, cosine + i);
  if (__builtin_expect(!anyv(far), 1)) return;
  for (int i = 0; i < n; ++i) far_sine_cosinev(x[i], sine + i, cosine + i);"""

SEVERAL_AT_ONCE = """for (int i = 0; i < n; i += LANES) {
    realv angle, s, c;
    memcpy(&angle, x + i, sizeof angle);
    sine_cosinev(angle, &s, &c);
    memcpy(sine + i, &s, sizeof s);
    memcpy(cosine + i, &c, sizeof c);
  }"""


def elementary_functions() -> str:
    """The C text; functions end in 1 for one number and in v for a vector.

    The arrays of `sines_cosines1` have room for whole vectors.
    """
    vector = FUNCTIONS.substitute(n="v", many=ONE_BY_ONE)
    return TYPES + vector + FUNCTIONS.substitute(n="1", many=SEVERAL_AT_ONCE)
