/* Impulses of several problems at once by Newton's method alone; `done` says where that was enough. */
static realv impulses_of_conesv(const struct conesv* c, double settled, realv* f, bitsv* done) {
  const size_t m = c->rows;
  realv *step = c->room + m * m + 9 * m + c->size * c->size + 6 * c->size, size = allv(0.);
  for (size_t i = 0; i < m; ++i) size = greatestv(size, magnitudev(c->free[i]));
  steps_ofv(c, step);
  const realv enough = settled * size;
  realv least = newton_on_conesv(c, step, f, enough, SOFT);
  const bitsv moves = isv(size > 0.);
  for (size_t i = 0; i < m; ++i) f[i] = selectv(moves, f[i], allv(0.));
  project_on_conesv(c, f);
  *done = isv(least <= enough) | ~moves;
  return selectv(moves, least, allv(0.));
}
