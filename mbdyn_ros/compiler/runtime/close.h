/* Loops without closed form, at a vector of states. */

/* The positions of loops for a vector of states q; all bits set where they are closed. The memory
   is of one state after the other, or NULL. */
#ifdef SIZE_Z
static bitsv close_lanes(const struct program* program, const realv* q, const double* home,
                            double* memory, realv* z) {
  const size_t nq = size_of(program->input);
  bitsv closed;
  for (size_t l = 0; l < LANES; ++l) {
    double closed_z[SIZE_Z], one[LARGEST_IN];
    memset(closed_z, 0, sizeof closed_z);
    for (size_t i = 0; i < nq; ++i) one[i] = q[i][l];
    double* const own = memory ? memory + l * program->memory : NULL;
    closed[l] = -program->close(one, home, own, closed_z);
    for (size_t i = 0; i < program->z; ++i) z[i][l] = closed_z[i];
  }
  return closed;
}
#endif
