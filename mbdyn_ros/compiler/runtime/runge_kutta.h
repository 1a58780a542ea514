/* Explicit Runge-Kutta methods by their Butcher tableau, of states x (n) and slopes k (stages, n):

     slope k_i at x + h sum_j<i a_ij k_j,   then x + h / d sum_i b_i k_i

   The tableau: a (stages, stages), the weights b, and what divides them, d
   (`integration/methods.py`). Slopes follow each other at a `stride`, so that a part of a state may
   be by itself. Sums are in the order of the stages. C99 for numbers `Real`, in C++ a template; it
   needs <math.h> and <stddef.h>. */
#ifdef __cplusplus
#define OF_REALS template <class Real>
#else
#define OF_REALS
#endif

/* The state at which stage i has its slope. */
OF_REALS static inline void stage_state(size_t n, size_t stride, double h, size_t stages,
                                        const double *tableau, size_t i, const Real *__restrict x,
                                        const Real *__restrict slopes, Real *__restrict state) {
  const double *share = tableau + stages * i;
  size_t j, k;
  for (k = 0; k < n; ++k) state[k] = x[k];
  for (j = 0; j < i; ++j) {
    const double factor = h * share[j];
    if (!(fabs(factor) > 0.0)) continue;
    for (k = 0; k < n; ++k) state[k] += factor * slopes[stride * j + k];
  }
}

/* Take the step, when all slopes are known. */
OF_REALS static inline void add_stages(size_t n, size_t stride, double h, size_t stages,
                                       const double *tableau, const Real *__restrict slopes,
                                       Real *__restrict x) {
  const double *weight = tableau + stages * stages;
  size_t i, k;
  for (i = 0; i < stages; ++i) {
    const double factor = h / weight[stages] * weight[i];
    for (k = 0; k < n; ++k) x[k] += factor * slopes[stride * i + k];
  }
}
