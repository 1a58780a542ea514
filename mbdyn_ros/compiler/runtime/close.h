/* Loops without closed form, at a vector of states. */

/* The positions of loops for a vector of states q; all bits set where they are closed. The memory
   is of one state after the other, or NULL. */
#ifdef SIZE_Z
static bitsv close_together(const struct program* program, const realv* q, const double* home,
                            double* memory, realv* z) {
  const size_t nq = size_of(program->input);
  bitsv closed;
  for (size_t l = 0; l < LANES; ++l) {
    double alone[SIZE_Z], one[LARGEST_IN];
    memset(alone, 0, sizeof alone);
    for (size_t i = 0; i < nq; ++i) one[i] = q[i][l];
    double* const own = memory ? memory + l * program->memory : NULL;
    closed[l] = -program->close(one, home, own, alone);
    for (size_t i = 0; i < program->z; ++i) z[i][l] = alone[i];
  }
  return closed;
}
#endif
