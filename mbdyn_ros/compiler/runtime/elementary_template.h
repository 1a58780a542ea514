/* Elementary functions of one number, or of a vector of them: included once for each, with SUFFIX 1
   or v. One text serves both, so a program has the same sines whether it runs alone or in a batch.

   Sine and cosine together, error below 0.9 ulp: the angle is reduced by the nearest multiple of
   pi/2 (Cody, Waite, Software Manual for the Elementary Functions, 1980), pi/2 in three parts;
   polynomials interpolate at Chebyshev nodes on [-pi/4, pi/4]. Angles above 1e5 rad go to the C
   library, one by one.

   Arc tangent of two numbers, error below 2 ulp: one division, reduction by pi/4, a polynomial on
   [-tan(pi/8), tan(pi/8)]. */
/* Names for one number (SUFFIX 1) or a vector of them (v): F(name) ends in the suffix. */
#define PASTED(name, suffix) name##suffix
#define SUFFIXED(name, suffix) PASTED(name, suffix)
#define F(name) SUFFIXED(name, SUFFIX)
#define REAL F(real)
#define BITS F(bits)
#define COUNT F(lanes)
#define LANE F(lane)
#define ALL F(all)
#define IS F(is)

/* where ? x : y, number by number */
static inline REAL F(select)(BITS where, REAL x, REAL y) {
  return F(real_of)((F(bits_of)(x) & where) | (F(bits_of)(y) & ~where));
}
static inline REAL F(magnitude)(REAL x) { return F(real_of)(F(bits_of)(x) & INT64_MAX); }
static inline REAL F(with_sign)(REAL x, REAL sign) {
  return F(real_of)((F(bits_of)(x) & INT64_MAX) | (F(bits_of)(sign) & INT64_MIN));
}
/* 1 where true */
static inline REAL F(truth)(BITS where) { return F(select)(where, ALL(1.), ALL(0.)); }
static inline REAL F(sign)(REAL x) {
  return F(select)(IS(x > 0), ALL(1.), F(select)(IS(x < 0), ALL(-1.), x));
}
static inline REAL F(least)(REAL x, REAL y) {
  return F(select)(IS(x < y) | IS(y != y), x, y);
}
static inline REAL F(greatest)(REAL x, REAL y) {
  return F(select)(IS(x > y) | IS(y != y), x, y);
}

/* Sine and cosine, and where they are wrong since the angle is too large. */
static inline BITS F(near_sine_cosine)(REAL x, REAL* sine, REAL* cosine) {
  const REAL shifted = x * 0x1.45f306dc9c883p-1 + 0x1.8p52;
  const REAL k = shifted - 0x1.8p52;
  const BITS quadrant = F(bits_of)(shifted);
  /* Three parts of pi/2. The products with the second are exact, with the first too where they
     are fused with the sum. The reduced angle is r + rest. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  const double first = 0x1.921fb54442d18p+0, second = 0x1.1a62633140000p-54;
  const double third = 0x1.701b839a25205p-92;
#else
  const double first = 0x1.921fb54400000p+0, second = 0x1.0b4611a600000p-34;
  const double third = 0x1.3198a2e037073p-69;
#endif
  const REAL near = x - k * first;
  const REAL r = near - k * second;
  const REAL rest = ((near - r) - k * second) - k * third;
  const REAL z = r * r;
  REAL s = z * 0x1.5d92342a70389p-33 - 0x1.ae5e6389a874fp-26;
  s = s * z + 0x1.71de35745e67fp-19;
  s = s * z - 0x1.a01a019c0ddafp-13;
  s = s * z + 0x1.111111110f85dp-7;
  s = s * z - 0x1.5555555555549p-3;
  s = r + ((z * r) * s + rest);
  REAL c = z * -0x1.907cd8ff5ede7p-37 + 0x1.1eeb67d026ec6p-29;
  c = c * z - 0x1.27e4fa16cc2d1p-22;
  c = c * z + 0x1.a01a019f4ddfdp-16;
  c = c * z - 0x1.6c16c16c16963p-10;
  c = c * z + 0x1.5555555555555p-5;
  const REAL half = z * 0.5, whole = 1. - half;
  c = whole + ((1. - whole - half) + ((z * z) * c - r * rest));
  const BITS odd = -(quadrant & 1);
  const BITS minus_sine = (BITS)((F(word))(quadrant & 2) << 62);
  const BITS minus_cosine = (BITS)((F(word))((quadrant + 1) & 2) << 62);
  *sine = F(real_of)(F(bits_of)(F(select)(odd, c, s)) ^ minus_sine);
  *cosine = F(real_of)(F(bits_of)(F(select)(odd, s, c)) ^ minus_cosine);
  return ~IS(F(magnitude)(x) < 1e5);
}

static __attribute__((noinline))
void F(far_sine_cosine)(REAL x, REAL* sine, REAL* cosine) {
  for (int i = 0; i < COUNT; ++i) {
    if (fabs(LANE(&x, i)) < 1e5) continue;
    LANE(sine, i) = sin(LANE(&x, i));
    LANE(cosine, i) = cos(LANE(&x, i));
  }
}

static void F(sine_cosine)(REAL x, REAL* sine, REAL* cosine) {
  const BITS far = F(near_sine_cosine)(x, sine, cosine);
  if (__builtin_expect(F(any)(far), 0)) F(far_sine_cosine)(x, sine, cosine);
}

static REAL F(arctangent2)(REAL y, REAL x) {
  const REAL ax = F(magnitude)(x), ay = F(magnitude)(y);
  const BITS steep = IS(ay > ax);
  const REAL less = F(select)(steep, ax, ay), more = F(select)(steep, ay, ax);
  const BITS far = IS(less > more * 0x1.a827999fcef32p-2);
  const REAL t = F(select)(far, less - more, less) / F(select)(far, less + more, more);
  const REAL z = t * t;
  REAL p = z * 0x1.0a997ba33c1dbp-6 - 0x1.1b1992aa413c9p-5;
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
  REAL angle = F(select)(far, 0x1.921fb54442d18p-1 + (t + (p + 0x1.1a62633145c07p-55)), t + p);
  angle = F(select)(steep, 0x1.921fb54442d18p+0 - (angle - 0x1.1a62633145c07p-54), angle);
  angle = F(select)(IS(F(bits_of)(x) < 0), 0x1.921fb54442d18p+1 - (angle - 0x1.1a62633145c07p-53),
                   angle);
  angle = F(with_sign)(angle, y);
  if (__builtin_expect(F(any)(~(IS(more > 1e-290) & IS(more < 1e300))), 0)) {
    for (int i = 0; i < COUNT; ++i) {
      if (LANE(&more, i) > 1e-290 && LANE(&more, i) < 1e300) continue;
      LANE(&angle, i) = atan2(LANE(&y, i), LANE(&x, i));
    }
  }
  return angle;
}

#undef PASTED
#undef SUFFIXED
#undef F
#undef REAL
#undef BITS
#undef COUNT
#undef LANE
#undef ALL
#undef IS
#undef SUFFIX
